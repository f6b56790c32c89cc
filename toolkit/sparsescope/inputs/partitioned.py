"""PartitionedDesign: X in blocks of rows, which lie in memory, in mapped files or on a cluster.

A solver of full gradients asks a design for products with X and its transpose, and for sums of squares by class. All of
these are sums over blocks of rows, or lie below each other. So such a solver runs on blocks as it runs on one matrix;
the scores (n, m) and the weights (d, m) are arrays of this process.

**A pass is what costs.** XᵀU reads everything. The last two products are kept, so asking again for the gradient at the
same point, as a certificate does after a step, reads nothing. XW reads the columns of the non-zero rows of W only.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import row_blocks
from .partitioned_data import PartitionedData

KEPT = 2  # products XᵀU that are remembered: of the gradient, and of the dual point made of it


class PartitionedDesign(PartitionedData):
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

    def _entries_of(self, rows: np.ndarray) -> int:
        return int(self.column_entries[rows].sum())

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
