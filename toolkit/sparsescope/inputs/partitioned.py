"""PartitionedDesign: X in blocks of rows, which lie in memory, in mapped files or on a cluster.

A solver of full gradients asks a design for products with X and its transpose, and for sums of squares by class. All of
these are sums over blocks of rows, or lie below each other. So such a solver runs on blocks as it runs on one matrix;
the scores (n, m) and the weights (d, m) are arrays of this process.

**A pass is what costs.** XᵀU reads everything. The last two products are kept, so asking again for the gradient at the
same point, as a certificate does after a step, reads nothing. XW reads the columns of the non-zero rows of W only.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import row_blocks
from .design import Design
from .engines import Arguments, Engine, Here
from .frame import Frame
from .given_blocks import agreed, block_of, is_frame, is_future, parts_of
from .row_blocks import Facts

KEPT = 2  # products XᵀU that are remembered: of the gradient, and of the dual point made of it


class PartitionedDesign(Design):
    """X in blocks of rows.

    Parameters
    ----------
    blocks
        arrays (n_k, d), scipy sparse matrices, functions without arguments that return one, blocks of
        :mod:`sparsescope.inputs.mapped_blocks`, objects of ``dask.delayed`` or futures of a cluster. Or one dask
        array or data frame with known columns, whose chunks of rows are the blocks.
    client
        a client of dask.distributed: the blocks are held by its workers, and so is the work on them. ``None``: they
        are read in this process.
    threads
        blocks that are worked on at the same time in this process.
    feature_names
        d names or ``None``.
    known
        sizes of the blocks, if the caller has them; ``None``: every block is read once for them.

    Attributes
    ----------
    entries_read
        stored entries of X that were read so far, over all blocks.

    Raises
    ------
    ValueError, TypeError
        for blocks that do not fit together; the message names the block.

    Examples
    --------
    >>> X, y = ss.datasets.load("iris")
    >>> design = ss.PartitionedDesign([X[:50], X[50:]])
    >>> design.n, design.d, design.parts
    (112, 4, 2)
    >>> problem = ss.Problem(design, y, lam_ratio=0.1)
    >>> ss.solve(problem, "sparsa").converged
    True
    """

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
    def plain(self) -> PartitionedDesign:
        """Return X as it was given: with no frame, or natural units undone.

        Returns
        -------
        PartitionedDesign
            the design.
        """
        if self.frame is None:
            return self
        made = copy.copy(self)
        made.frame, made.factor, made.magnitude, made._remembered = None, 1.0, self.magnitude / self.factor, []
        return made

    def framed(self, centre: bool, standardize: bool = False, weights: np.ndarray | None = None) -> PartitionedDesign:
        """Return X itself: features of data in blocks are not moved, with or without an intercept.

        Parameters
        ----------
        centre, standardize, weights
            as for :class:`sparsescope.Design`.

        Returns
        -------
        PartitionedDesign
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

    def rescaled(self, factor: float) -> PartitionedDesign:
        """Return X times a factor; the factor is applied to products, the data are read as they are.

        Parameters
        ----------
        factor
            the factor.

        Returns
        -------
        PartitionedDesign
            the design.
        """
        made = copy.copy(self)
        scale = np.ones(self.d) if self.frame is None or self.frame.scale is None else self.frame.scale
        made.frame, made.factor = Frame(None, scale * factor), self.factor * factor
        made.magnitude, made._remembered = self.magnitude * factor, []
        for name in ("squared_norms", "column_entries"):
            made.__dict__.pop(name, None)
        return made

    # -------------------------------------------------------------------------------------------------------- products
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

    def _entries_of(self, rows: np.ndarray) -> int:
        return int(self.column_entries[rows].sum())

    def _scaled(self, array: np.ndarray, power: int = 1) -> np.ndarray:
        if self.factor != 1.0:
            array *= array.dtype.type(self.factor**power)
        return array

    def matmul(self, coef: np.ndarray, out: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Compute out = X coef[:d] (+ coef[d]); only columns of non-zero rows of coef are read.

        Parameters
        ----------
        coef
            coefficients (d, m) or (d + 1, m).
        out
            array (n, m) to write to.
        rows
            the non-zero rows below d, if the caller knows them.

        Returns
        -------
        np.ndarray
            ``out``.
        """
        used = np.flatnonzero(coef[: self.d].any(axis=1)) if rows is None else np.asarray(rows, dtype=np.intp)
        self._scores_of(used, np.ascontiguousarray(coef[used]), out)
        if coef.shape[0] > self.d:
            out += coef[self.d]
        return out

    def _scores_of(self, used: np.ndarray, V: np.ndarray, out: np.ndarray) -> None:
        if not used.size:
            out[:] = 0.0
            return
        parts = self._each(row_blocks.scores, lambda k: (used, V), self._entries_of(used))
        for k, part in enumerate(parts):
            out[self._rows(k)] = part
        self._scaled(out)

    def matmul_rows(self, rows: np.ndarray, V: np.ndarray, out: np.ndarray) -> np.ndarray:
        last = rows.size - int(rows.size > 0 and rows[-1] == self.d)
        self._scores_of(rows[:last], np.ascontiguousarray(V[:last]), out)
        if last < rows.size:
            out += V[last]
        return out

    def products(self, *duals: np.ndarray) -> list[np.ndarray]:
        """Compute XᵀU for several U in one pass; those that are remembered are not computed again.

        Parameters
        ----------
        *duals
            arrays (n, m) of one precision.

        Returns
        -------
        list[np.ndarray]
            arrays (d, m), not to be changed.
        """
        known = [self._known(U) for U in duals]
        missing = [U for U, G in zip(duals, known, strict=True) if G is None]
        if missing:
            together = missing[0] if len(missing) == 1 else np.hstack(missing)
            found = self._scaled(
                self._total(row_blocks.transposed, lambda k: (np.ascontiguousarray(together[self._rows(k)]),))
            )
            pieces = [np.ascontiguousarray(part) for part in np.split(found, len(missing), axis=1)]
            self._remembered = [
                *((U.copy(), G) for U, G in zip(missing, pieces, strict=True)), *self._remembered
            ][:KEPT]  # fmt: skip
            fresh = iter(pieces)
            known = [next(fresh) if G is None else G for G in known]
        return [G for G in known if G is not None]

    def _known(self, U: np.ndarray) -> np.ndarray | None:
        return next(
            (G for V, G in self._remembered if V.dtype == U.dtype and V.shape == U.shape and np.array_equal(V, U)), None
        )

    def rmatmul_blocks(self, U: np.ndarray, buffer: np.ndarray | None = None) -> Iterator[tuple[int, int, np.ndarray]]:
        """Compute XᵀU in one pass over the blocks.

        Parameters
        ----------
        U
            array (n, m).
        buffer
            not needed here.

        Yields
        ------
        tuple[int, int, np.ndarray]
            0, d and the product.
        """
        yield 0, self.d, self.products(U)[0].copy()

    def rmatmul(self, U: np.ndarray, out: np.ndarray) -> np.ndarray:
        out[: self.d] = self.products(U)[0]
        if out.shape[0] > self.d:
            out[self.d] = U.sum(axis=0)
        return out

    def rmatmul_rows(self, rows: np.ndarray, U: np.ndarray, out: np.ndarray) -> np.ndarray:
        last = rows.size - int(rows.size > 0 and rows[-1] == self.d)
        some = rows[:last]
        if last:
            out[:last] = self._scaled(
                self._total(
                    row_blocks.transposed_rows,
                    lambda k: (np.ascontiguousarray(U[self._rows(k)]), some),
                    self._entries_of(some),
                )
            )
        if last < rows.size:
            out[last] = U.sum(axis=0)
        return out

    # ------------------------------------------------------------------------------------------------- sums and columns
    def take(self, rows: np.ndarray) -> Any:
        """Gather some columns into one matrix in this process.

        Parameters
        ----------
        rows
            numbers of the features, (s,).

        Returns
        -------
        Any
            X[:, rows], (n, s): CSC, or dense by columns.
        """
        rows = np.asarray(rows, dtype=np.intp)
        found = row_blocks.stacked(list(self._each(row_blocks.taken, lambda k: (rows,), self._entries_of(rows))))
        return found if self.factor == 1.0 else found * self.dtype.type(self.factor)

    def narrowed(self, rows: np.ndarray) -> PartitionedDesign:
        """Return the design of some columns, which stay in their blocks.

        Parameters
        ----------
        rows
            numbers of the features, (s,).

        Returns
        -------
        PartitionedDesign
            X[:, rows], in as many blocks.
        """
        made, rows = copy.copy(self), np.asarray(rows, dtype=np.intp)
        made._engine = self._engine.derived(row_blocks.taken, lambda k: (rows,))
        made.d, made.nnz, made.entries_read, made._remembered = rows.size, self._entries_of(rows), 0, []
        made.feature_names = None if self.feature_names is None else [self.feature_names[j] for j in rows]
        made.frame = None
        for name in ("squared_norms", "column_entries", "column_counts", "most_in_a_row"):
            made.__dict__.pop(name, None)
        return made

    def gram(self, rows: np.ndarray) -> np.ndarray:
        """Compute the Gram matrix of some columns.

        Parameters
        ----------
        rows
            numbers of the features, (s,).

        Returns
        -------
        np.ndarray
            X[:, rows]ᵀX[:, rows], (s, s), float64.
        """
        rows = np.asarray(rows, dtype=np.intp)
        return self._scaled(self._total(row_blocks.gram, lambda k: (rows,), self._entries_of(rows)), 2)

    @cached_property
    def column_entries(self) -> np.ndarray:
        """Stored entries of every column, (d,) int64."""
        return self._total(row_blocks.entries, lambda k: (), 0)

    @cached_property
    def column_counts(self) -> np.ndarray:
        """Non-zero entries of every column, (d,) int64."""
        return self._total(row_blocks.counts, lambda k: ())

    @cached_property
    def most_in_a_row(self) -> int:
        """The largest number of non-zero entries of a sample."""
        return int(max(self._each(row_blocks.most_in_a_row)))

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """Σ_i x_ij² of every column, (d,), float64."""
        return self.target_sums(np.ones((self.n, 1)))[:, 0]

    def target_sums(self, weights: Any) -> np.ndarray:
        """Compute Σ_i x_ij² D_ic in one pass.

        Parameters
        ----------
        weights
            D (n, k), dense or sparse.

        Returns
        -------
        np.ndarray
            the sums (d, k), float64.
        """
        by_rows = sp.csr_array(weights) if sp.issparse(weights) else weights
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
        return f"PartitionedDesign({self.n} samples × {self.d} features in {self.parts} blocks, {kind}, {self.dtype})"
