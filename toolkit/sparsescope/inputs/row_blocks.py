"""Blocks of rows of X, in memory, in mapped files or made when they are needed; and the operations on one block.

Whatever a solver needs from data in blocks is an operation on each block and a sum over them. The operations are plain
functions of a :class:`Design`, so that they can be called here, in threads, or in the workers of a cluster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from .class_sums import class_sums
from .design import Design
from .is_sparse import is_sparse


class Facts(NamedTuple):
    """Sizes of a block, and its largest absolute value."""

    n: int
    d: int
    nnz: int
    dtype: str
    is_sparse: bool
    magnitude: float


class Block:
    """Rows of X, wherever they are. Subclasses are for memory, for files, and for blocks that are made when needed."""

    def design(self) -> Design:
        """Return the rows.

        Returns
        -------
        Design
            the design of the block.

        Raises
        ------
        TypeError
            if the class does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define design")

    def prefetch(self) -> None:
        """Announce that the block is the next one."""

    def release(self) -> None:
        """Give back memory that can be filled again."""


class HeldBlock(Block):
    """A block in memory.

    Parameters
    ----------
    X
        rows of X, dense or sparse, or a :class:`Design`.
    """

    def __init__(self, X: Any) -> None:
        self._held = X if isinstance(X, Design) else Design(X)

    def design(self) -> Design:
        return self._held


class LazyBlock(Block):
    """A block that is made whenever it is needed, and dropped after use.

    Parameters
    ----------
    make
        function without arguments that returns the rows.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Design | None = None

    def design(self) -> Design:
        if self._made is None:
            self._made = Design(self._make())
        return self._made

    def release(self) -> None:
        self._made = None


# ---------------------------------------------------------------------------------------------------------- operations
def facts(design: Design) -> Facts:
    """Sizes and the largest absolute value."""
    return Facts(design.n, design.d, design.nnz, design.dtype.str, design.is_sparse, design.magnitude)


def scores(design: Design, rows: np.ndarray, V: np.ndarray) -> np.ndarray:
    """X[:, rows] V, in the precision of V (s, m)."""
    design, out = in_precision(design, V.dtype), np.empty((design.n, V.shape[1]), V.dtype)
    return design.matmul(V, out) if rows.size == design.d else design.matmul_rows(rows, V, out)


def transposed(design: Design, U: np.ndarray) -> np.ndarray:
    """XᵀU, in the precision of U (n, m)."""
    return in_precision(design, U.dtype).rmatmul(U, np.empty((design.d, U.shape[1]), U.dtype))


def transposed_rows(design: Design, U: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """X[:, rows]ᵀU, in the precision of U (n, m)."""
    return in_precision(design, U.dtype).rmatmul_rows(rows, U, np.empty((rows.size, U.shape[1]), U.dtype))


def squares(design: Design, weights: Any) -> np.ndarray:
    """Σ_i x_ij² D_ic, float64."""
    return design.target_sums(weights)


def class_squares(design: Design, y: np.ndarray, m: int, weights: np.ndarray | None) -> np.ndarray:
    """Σ_{i: y_i = c} ω_i x_ij², float64."""
    return class_sums(design, y, m, weights)


def entries(design: Design) -> np.ndarray:
    """Stored entries of every column; nothing but the index pointers of sparse data is read."""
    if design.is_sparse:
        return np.diff(design.matrix.indptr).astype(np.int64)
    return np.full(design.d, design.n, dtype=np.int64)


def counts(design: Design) -> np.ndarray:
    """Non-zero entries of every column."""
    return np.asarray(design.column_counts, dtype=np.int64)


def most_in_a_row(design: Design) -> int:
    """The largest number of non-zero entries of a row."""
    return design.most_in_a_row


def taken(design: Design, rows: np.ndarray) -> Any:
    """X[:, rows], CSC or by columns."""
    return design.matrix[:, rows]


def gram(design: Design, rows: np.ndarray) -> np.ndarray:
    """X[:, rows]ᵀX[:, rows], float64."""
    part = design.matrix[:, rows].astype(np.float64)
    found = part.T @ part
    return np.asarray(found.toarray() if is_sparse(found) else found)


def fingerprint(design: Design) -> bytes:
    """A digest of the entries."""
    matrix, digest = design.matrix, hashlib.sha256()
    for array in [matrix.data, matrix.indices, matrix.indptr] if design.is_sparse else [matrix.T]:
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def in_precision(design: Design, dtype: Any) -> Design:
    """The design itself, or a copy of it where its values have another precision."""
    return design if design.dtype == dtype else Design(design.matrix.astype(dtype))


def on_block(operation: Callable[..., Any], block: Block, arguments: tuple[Any, ...]) -> Any:
    """Do an operation on a block, and give back the block's memory."""
    try:
        return operation(block.design(), *arguments)
    finally:
        block.release()


def stacked(parts: list[Any]) -> Any:
    """The parts below each other: dense, or CSC without a detour through coordinates, which takes three times as much
    memory."""
    if not is_sparse(parts[0]):
        return np.asfortranarray(np.vstack(parts))
    columns = parts[0].shape[1]
    sizes = np.array([np.diff(part.indptr) for part in parts], dtype=np.int64).reshape(len(parts), columns)
    indptr = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    starts = indptr[:-1] + np.cumsum(sizes, axis=0) - sizes  # of each part in each column
    index = np.int32 if max(indptr[-1], sum(part.shape[0] for part in parts)) < 2**31 - 1 else np.int64
    data, indices = np.empty(indptr[-1], parts[0].dtype), np.empty(indptr[-1], index)
    above = 0
    for part, start, size in zip(parts, starts, sizes, strict=True):
        at = np.arange(part.nnz) + np.repeat(start - part.indptr[:-1], size)
        data[at], indices[at] = part.data, part.indices + index(above)
        above += part.shape[0]
    return scipy.sparse.csc_array((data, indices, indptr.astype(index)), shape=(above, columns))
