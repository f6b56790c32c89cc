"""Facts, frames and sums of X in blocks of rows: all that needs no product with weights.

Every reading of the data is counted here.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy

from . import row_blocks
from .design import Design
from .engines import Arguments, Engine, Here
from .frame import Frame
from .given_blocks import agreed, block_of, is_frame, is_future, parts_of
from .is_sparse import is_sparse
from .row_blocks import Facts


class PartitionedData(Design):
    """X in blocks of rows, as :class:`sparsescope.PartitionedDesign` is made."""

    def __init__(
        self,
        blocks: Any,
        *,
        client: Any = None,
        threads: int = 1,
        feature_names: Sequence[str] | None = None,
        known: Sequence[Facts] | None = None,
    ) -> None:
        if int(threads) != threads or threads < 1:
            raise ValueError(f"threads is {threads!r}; a whole number of at least 1 is needed")
        self.feature_names = None if feature_names is None else [str(name) for name in feature_names]
        self._engine = self._started(blocks, client, int(threads))
        found = list(known) if known is not None else list(self._engine.each(row_blocks.facts, lambda k: ()))
        first = agreed(found)
        self.sizes = np.array([fact.n for fact in found], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.n, self.d, self.nnz = int(self.starts[-1]), first.d, sum(fact.nnz for fact in found)
        self.dtype, self.is_sparse = np.dtype(first.dtype), first.is_sparse
        self.magnitude = max(fact.magnitude for fact in found)
        self.frame: Frame | None = None
        self.factor = 1.0
        self.entries_read = 0
        self._remembered: list[tuple[np.ndarray, np.ndarray]] = []

    def _started(self, blocks: Any, client: Any, threads: int) -> Engine:
        parts = parts_of(blocks)
        if not parts:
            raise ValueError("X has no blocks; at least one block of rows is needed")
        names = next((list(map(str, part.columns)) for part in parts if is_frame(part)), None)
        self.feature_names = self.feature_names or names
        if client is None:
            client = next((part.client for part in parts if is_future(part)), None)
        if client is not None:
            from .cluster_blocks import OnCluster  # needs dask.distributed, which is there if a client is

            return OnCluster(client, parts)
        return Here([block_of(part) for part in parts], threads)

    # ----------------------------------------------------------------------------------------------------------- facts
    @property
    def parts(self) -> int:
        """Number of blocks."""
        return self._engine.count

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.n, self.d

    @property
    def passes(self) -> float:
        """Readings of the data so far, in units of all stored entries."""
        return self.entries_read / max(self.nnz, 1)

    @property
    def pass_bytes(self) -> int:
        """Bytes of one reading of all entries: values, and the row numbers of sparse ones."""
        return self.nnz * (self.dtype.itemsize + (4 if self.is_sparse else 0))

    @property
    def nbytes(self) -> int:
        """Bytes of the entries, wherever they are."""
        return self.pass_bytes

    @property
    def matrix(self) -> Any:
        """Not there: X is in blocks."""
        raise ValueError(
            f"X lies in {self.parts} blocks of rows and is never put together; this needs it as one matrix. Take fewer "
            "rows in one matrix, or PartitionedDesign.take(columns) for some of its columns"
        )

    @matrix.setter
    def matrix(self, value: Any) -> None:
        raise AttributeError("X is in blocks")

    @property
    def columns(self) -> Any:
        """Not there: X is in blocks."""
        return self.matrix

    @columns.setter
    def columns(self, value: Any) -> None:
        raise AttributeError("X is in blocks")

    @cached_property
    def samples(self) -> Any:
        """Not there: X is in blocks."""
        return self.matrix

    @cached_property
    def sparse_samples(self) -> Any:
        """Not there: X is in blocks."""
        return self.matrix

    @cached_property
    def double_samples(self) -> Any:
        """Not there: X is in blocks."""
        return self.matrix

    @cached_property
    def is_full(self) -> Any:
        """Not there: X is in blocks."""
        return self.matrix

    def fingerprint(self) -> np.ndarray:
        """Return a digest of all entries, in one pass.

        Returns
        -------
        np.ndarray
            32 bytes.
        """
        digest = hashlib.sha256(repr((self.shape, self.dtype.str, self.factor)).encode())
        for found in self._each(row_blocks.fingerprint):
            digest.update(found)
        return np.frombuffer(digest.digest(), dtype=np.uint8)

    # ---------------------------------------------------------------------------------------------------------- frames
    def plain(self) -> Self:
        """Return X as it was given: with no frame, or natural units undone.

        Returns
        -------
        Self
            the design.
        """
        if self.frame is None:
            return self
        made = copy.copy(self)
        made.frame, made.factor, made.magnitude, made._remembered = None, 1.0, self.magnitude / self.factor, []
        return made

    def framed(self, centre: bool, standardize: bool = False, weights: np.ndarray | None = None) -> Self:
        """Return X itself: features of data in blocks are not moved, with or without an intercept.

        Parameters
        ----------
        centre, standardize, weights
            as for :class:`sparsescope.Design`.

        Returns
        -------
        Self
            this design.

        Raises
        ------
        ValueError
            for ``standardize``.
        """
        if standardize:
            raise ValueError(
                "standardize=True changes the values of X, and X lies in blocks; scale the columns before the blocks "
                "are made, or leave it out"
            )
        return self.plain()

    def rescaled(self, factor: float) -> Self:
        """Return X times a factor; the factor is applied to products, the data are read as they are.

        Parameters
        ----------
        factor
            the factor.

        Returns
        -------
        Self
            the design.
        """
        made = copy.copy(self)
        scale = np.ones(self.d) if self.frame is None or self.frame.scale is None else self.frame.scale
        made.frame, made.factor = Frame(None, scale * factor), self.factor * factor
        made.magnitude, made._remembered = self.magnitude * factor, []
        for name in ("squared_norms", "column_entries"):
            made.__dict__.pop(name, None)
        return made

    # -------------------------------------------------------------------------------------------------------- readings
    def _rows(self, k: int) -> slice:
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    def _each(
        self, operation: Callable[..., Any], arguments: Arguments = lambda k: (), read: int = -1
    ) -> Iterator[Any]:
        self.entries_read += self.nnz if read < 0 else read
        return self._engine.each(operation, arguments)

    def _total(self, operation: Callable[..., Any], arguments: Arguments, read: int = -1) -> np.ndarray:
        self.entries_read += self.nnz if read < 0 else read
        return self._engine.total(operation, arguments)

    def _scaled(self, array: np.ndarray, power: int = 1) -> np.ndarray:
        if self.factor != 1.0:
            array *= array.dtype.type(self.factor**power)
        return array

    # ------------------------------------------------------------------------------------------------------------ sums
    @cached_property
    def column_entries(self) -> np.ndarray:
        """Stored entries of every column, (d,) int64."""
        return self._total(row_blocks.entries, lambda k: (), 0)

    @cached_property
    def column_counts(self) -> np.ndarray:
        return self._total(row_blocks.counts, lambda k: ())

    @cached_property
    def most_in_a_row(self) -> int:
        return int(max(self._each(row_blocks.most_in_a_row)))

    @cached_property
    def squared_norms(self) -> np.ndarray:
        return self.target_sums(np.ones((self.n, 1)))[:, 0]

    def target_sums(self, weights: Any) -> np.ndarray:
        by_rows = scipy.sparse.csr_array(weights) if is_sparse(weights) else weights
        return self._scaled(self._total(row_blocks.squares, lambda k: (by_rows[self._rows(k)],)), 2)

    def class_sums(self, y: np.ndarray, m: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Compute s_jc = Σ_{i: y_i = c} ω_i x_ij² in one pass.

        Parameters
        ----------
        y
            classes (n,).
        m
            number of classes.
        weights
            ω (n,); ``None`` counts every sample once.

        Returns
        -------
        np.ndarray
            the sums (d, m), float64.
        """

        def of(k: int) -> tuple[Any, ...]:
            here = self._rows(k)
            return y[here], m, None if weights is None else weights[here]

        return self._scaled(self._total(row_blocks.class_squares, of), 2)

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz} non-zeros" if self.is_sparse else "dense"
        return (
            f"{type(self).__name__}({self.n} samples × {self.d} features in {self.parts} blocks, {kind}, {self.dtype})"
        )
