"""Products with a design matrix, by columns, with places to stop and on as many threads as the caller may use."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..pauses import even_parts, parts_of, pause
from ..threads import WORTH, accumulated, count, even_rounds, in_rounds, size_of_part
from . import slim
from .columns import PART, chosen_matmul, chosen_rmatmul, columns_matmul, columns_rmatmul, listed_matmul, streamed
from .mirrored import halved, mirrored

# A product of dense X with a W that has zero rows copies the columns that count, unless they are more than this share;
# copies of this size stay in the cache until they are multiplied.
MOST_GATHERED = 0.75
GATHER_BYTES = 2_000_000
# A dense product pauses after so many products of numbers: one to three milliseconds. The parts are always the same.
DENSE_PART = 40_000_000
COPIED = 1_000_000  # entries that are copied between two pauses
DENSE_COST = 0.1  # of a product of numbers in one of dense arrays, beside one in sparse X


class DesignProducts:
    """Products of :class:`sparsescope.inputs.design.Design`, which holds the entries."""

    matrix: Any
    columns: Any
    is_sparse: bool
    n: int
    d: int
    nnz: int
    dtype: np.dtype

    def matmul(self, coef: np.ndarray, out: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Compute out = X coef[:d] (+ coef[d] if coef has one more row: the intercept); zero rows of coef cost nothing.

        Parameters
        ----------
        coef
            coefficients (d, m) or (d + 1, m).
        out
            array (n, m) to write to.
        rows
            the non-zero rows below d, if the caller knows them (else they are searched for).

        Returns
        -------
        np.ndarray
            ``out``.
        """
        W = coef[: self.d]
        if mirrored(coef):
            return halved(coef, out, lambda one, column: self.matmul(one, column, rows))
        if self.is_sparse:
            out[:] = 0.0

            def add(target: np.ndarray, first: int, last: int) -> None:
                if rows is None:
                    columns_matmul(self.columns, W, first, last, target)
                else:
                    listed_matmul(self.columns, rows[first:last], W, target)

            accumulated(self._parts(rows, out.shape[1]), out, add)
        else:
            used = np.flatnonzero(W.any(axis=1)) if rows is None else rows
            if used.size < MOST_GATHERED * self.d:
                self._gathered_matmul(used, W[used], out)
            else:
                multiply = slim.times if slim.suits(self.matrix, out.shape[1]) else np.matmul
                in_rounds(
                    even_rounds(self.n, DENSE_COST * self.d * out.shape[1], DENSE_COST * DENSE_PART),
                    lambda _, first, last: multiply(self.matrix[first:last], W, out=out[first:last]),
                )
        if coef.shape[0] > self.d:
            out += coef[self.d]
        return out

    def _gathered_matmul(self, used: np.ndarray, W: np.ndarray, out: np.ndarray) -> None:
        """out = the named columns of a dense X times W: copied and multiplied a few samples at a time, in the cache."""
        some = max(256, GATHER_BYTES // (max(used.size, 1) * self.dtype.itemsize))
        in_rounds(
            even_parts(self.n, 1.0, some),
            lambda _, start, stop: np.matmul(self.matrix.T[used, start:stop].T, W, out=out[start:stop]),
        )

    def _parts(self, rows: np.ndarray | None, m: int) -> Iterable[tuple[int, int]]:
        """Return the columns, or places among the listed ones, between which a sparse product pauses."""
        if self.nnz * m <= (PART if count() == 1 else WORTH):
            return ((0, self.d if rows is None else rows.size),)
        starts = self.matrix.indptr
        costs = m * (np.diff(starts) if rows is None else starts[rows + 1] - starts[rows]).astype(np.int64)
        return parts_of(costs, size_of_part(float(costs.sum()), PART))

    def shares(self, m: int) -> list[tuple[int, int]]:
        """Cut the features into a share for each thread, for products with m columns.

        Parameters
        ----------
        m
            number of columns.

        Returns
        -------
        list[tuple[int, int]]
            first and stop of each share; a single one for dense X, whose product is cut by itself.
        """
        if not self.is_sparse or self.nnz * m <= WORTH:
            return [(0, self.d)]
        entries = np.linspace(0.0, self.nnz, count() + 1)[1:-1]
        cuts = [0, *np.searchsorted(self.matrix.indptr, entries).tolist(), self.d]
        return list(itertools.pairwise(cuts))

    def rmatmul_blocks(self, U: np.ndarray, buffer: np.ndarray | None = None) -> Iterator[tuple[int, int, np.ndarray]]:
        """Compute XᵀU in pieces, without an array (d, m).

        Parameters
        ----------
        U
            array (n, m).
        buffer
            array to write to; ``None``: a new one.

        Yields
        ------
        tuple[int, int, np.ndarray]
            start, stop and the rows start…stop; they are valid until the next piece.
        """
        if not self.is_sparse:
            made = np.empty((self.d, U.shape[1]), np.result_type(self.dtype, U.dtype))
            yield 0, self.d, self.rmatmul(U, made)
            return
        yield from self.rmatmul_between(U, 0, self.d, buffer)

    def rmatmul_between(
        self, U: np.ndarray, first: int, last: int, buffer: np.ndarray | None = None
    ) -> Iterator[tuple[int, int, np.ndarray]]:
        """Compute the rows first…last of XᵀU in pieces, for sparse X: what one of several threads does.

        Parameters
        ----------
        U
            array (n, m).
        first, last
            the rows.
        buffer
            array to write to; ``None``: a new one.

        Yields
        ------
        tuple[int, int, np.ndarray]
            as for :meth:`rmatmul_blocks`.
        """
        rows = buffer if buffer is not None else np.empty((streamed(self, U.shape[1]), U.shape[1]), U.dtype)
        for start in range(first, last, rows.shape[0]):
            stop = min(start + rows.shape[0], last)
            columns_rmatmul(self.columns, U, start, stop, rows)
            pause()
            yield start, stop, rows[: stop - start]

    def rmatmul(self, U: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Compute out[:d] = XᵀU, and out[d] = the column sums of U if out has one more row.

        Parameters
        ----------
        U
            array (n, m).
        out
            array (d, m) or (d + 1, m) to write to.

        Returns
        -------
        np.ndarray
            ``out``.
        """
        m = U.shape[1]
        if mirrored(U):
            return halved(U, out, self.rmatmul)

        def pull(_: int, start: int, stop: int) -> None:
            if self.is_sparse:
                columns_rmatmul(self.columns, U, start, stop, out[start:stop])
            elif U.dtype == self.dtype and slim.suits(self.matrix[:, start:stop], m):
                slim.pulled(self.matrix[:, start:stop], U, out[start:stop])
            else:
                np.matmul(self.matrix.T[start:stop], U, out=out[start:stop])

        in_rounds(
            self._parts(None, m)
            if self.is_sparse
            else even_rounds(self.d, DENSE_COST * self.n * m, DENSE_COST * DENSE_PART),
            pull,
        )
        if out.shape[0] > self.d:
            out[self.d] = U.sum(axis=0)
        return out

    def matmul_rows(self, rows: np.ndarray, V: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Compute out = X[:, rows] V; a last index d is the intercept's.

        Parameters
        ----------
        rows
            numbers of the features, (s,).
        V
            array (s, m).
        out
            array (n, m) to write to.

        Returns
        -------
        np.ndarray
            ``out``.
        """
        last = rows.size - int(rows.size > 0 and rows[-1] == self.d)
        if self.is_sparse:
            out[:] = 0.0
            accumulated(
                self._parts(rows[:last], out.shape[1]),
                out,
                lambda target, start, stop: chosen_matmul(self.columns, rows[start:stop], V[start:stop], target),
            )
        else:
            np.matmul(self.matrix[:, rows[:last]], V[:last], out=out)
        if last < rows.size:
            out += V[last]
        return out

    def rmatmul_rows(self, rows: np.ndarray, U: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Compute out = X[:, rows]ᵀU; a last index d is the intercept's.

        Parameters
        ----------
        rows
            numbers of the features, (s,).
        U
            array (n, m).
        out
            array (s, m) to write to.

        Returns
        -------
        np.ndarray
            ``out``.
        """
        last = rows.size - int(rows.size > 0 and rows[-1] == self.d)
        if self.is_sparse:
            in_rounds(
                self._parts(rows[:last], out.shape[1]),
                lambda _, start, stop: chosen_rmatmul(self.columns, rows[start:stop], U, out[start:stop]),
            )
        else:
            np.matmul(self.matrix[:, rows[:last]].T, U, out=out[:last])
        if last < rows.size:
            out[last] = U.sum(axis=0)
        return out


class SingleProducts(DesignProducts):
    """Products with the entries of a dense design in single precision, which take less time.

    Parameters
    ----------
    design
        the design, dense.

    Raises
    ------
    ValueError
        if the design is sparse: there most of the time goes into places of entries, not into entries.
    """

    def __init__(self, design: DesignProducts) -> None:
        if design.is_sparse:
            raise ValueError("SingleProducts are for a dense design, and this one is sparse")
        self.is_sparse, self.n, self.d, self.nnz = False, design.n, design.d, design.nnz
        self.dtype = np.dtype(np.float32)
        self.matrix = np.empty((self.n, self.d), dtype=self.dtype, order="F")
        for first, last in even_parts(self.d, float(self.n), COPIED):
            self.matrix[:, first:last] = design.matrix[:, first:last]
            pause()
