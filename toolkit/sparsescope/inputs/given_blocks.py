"""Data in blocks as users give them: lists of matrices, dask collections, futures; and whether the blocks agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .is_sparse import is_sparse
from .row_blocks import Block, Facts, HeldBlock, LazyBlock


def in_blocks(X: Any) -> bool:
    """Return whether X is a dask collection, or a list or tuple of blocks of rows.

    Parameters
    ----------
    X
        whatever was given as data.

    Returns
    -------
    bool
        True for what :class:`sparsescope.PartitionedDesign` takes.
    """
    if hasattr(X, "__dask_graph__"):
        return True
    if not isinstance(X, list | tuple) or not X:
        return False
    return all(
        isinstance(part, Block)
        or is_sparse(part)
        or _remote(part)
        or (isinstance(part, np.ndarray) and part.ndim == 2)
        or is_frame(part)
        for part in X
    )


def joined_labels(y: Any) -> Any:
    """The labels of data in blocks: one sequence, also if a block or a dask array has them.

    Parameters
    ----------
    y
        labels, a list of arrays of labels, or a dask array.

    Returns
    -------
    Any
        labels in this process.
    """
    if hasattr(y, "__dask_graph__"):
        y = y.compute()
    if isinstance(y, list | tuple) and y and all(isinstance(part, np.ndarray) and part.ndim > 0 for part in y):
        return np.concatenate(y)
    return y


def is_frame(part: Any) -> bool:
    """Return whether a part is a data frame in this process."""
    return not _remote(part) and hasattr(part, "columns") and hasattr(part, "to_numpy")


def _remote(part: Any) -> bool:
    return hasattr(part, "__dask_graph__") or is_future(part)


def is_future(part: Any) -> bool:
    """Return whether a part is a future of a cluster."""
    # A delayed object has whatever attribute it is asked for.
    return not hasattr(part, "__dask_graph__") and hasattr(part, "key") and hasattr(part, "client")


def parts_of(blocks: Any) -> list[Any]:
    """The blocks one by one; those of a dask collection as delayed objects."""
    if not hasattr(blocks, "__dask_graph__"):
        return list(blocks)
    if hasattr(blocks, "rechunk"):  # a dask array: one chunk of columns
        if blocks.ndim != 2:
            raise ValueError(f"X has {blocks.ndim} dimension(s); a matrix of shape (n samples, d features) is needed")
        blocks = blocks.rechunk({1: -1})
    if not hasattr(blocks, "to_delayed"):
        return [blocks]  # one delayed matrix
    return list(np.ravel(blocks.to_delayed()))


def block_of(part: Any) -> Block:
    """A block of this process."""
    if isinstance(part, Block):
        return part
    if hasattr(part, "__dask_graph__"):
        return LazyBlock(lambda: part.compute(scheduler="synchronous"))
    return LazyBlock(part) if callable(part) else HeldBlock(part)


def agreed(found: list[Facts]) -> Facts:
    """The facts that all blocks have in common; ``ValueError`` names the first that differs."""
    first = found[0]
    for k, fact in enumerate(found):
        for name, mine, theirs in (
            ("features", fact.d, first.d),
            ("values of type", np.dtype(fact.dtype).name, np.dtype(first.dtype).name),
            ("storage", "sparse" if fact.is_sparse else "dense", "sparse" if first.is_sparse else "dense"),
        ):
            if mine != theirs:
                raise ValueError(f"block {k} of X has {name} {mine}, block 0 {theirs}; all blocks must agree")
    return first
