"""Design matrix: one interface to dense, CSR and CSC input, by columns for the kernels; validates input.

One copy is kept. Dense data is stored by columns (Fortran order), sparse data as CSC; every product a solver needs runs
well on either, because W is used and updated by rows, and a zero row of W costs nothing. Only methods that look at one
sample at a time need a second copy, by rows (:attr:`Design.samples`). With an intercept the features are held about
their means: see :mod:`sparsescope.inputs.frame`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..pauses import even_parts, parts_of, pause
from . import slim
from .columns import (
    PART,
    DenseColumns,
    SparseColumns,
    chosen_matmul,
    chosen_rmatmul,
    columns_matmul,
    columns_rmatmul,
    listed_matmul,
    streamed,
)
from .design_forms import DesignForms
from .design_sums import DesignSums
from .frame import Frame, find_frame, framed, unframed
from .matrix_checks import as_array, as_float, refuse_not_finite
from .mirrored import halved, mirrored
from .sparse import check_sparse
from .turned import by_columns, plain, turned_dense

# A product of dense X with a W that has zero rows copies the columns that count, unless they are more than this share;
# copies of this size stay in the cache until they are multiplied.
MOST_GATHERED = 0.75
GATHER_BYTES = 2_000_000
# A dense product pauses after so many products of numbers: one to three milliseconds. The parts are always the same.
DENSE_PART = 40_000_000


class Design(DesignForms, DesignSums):
    """Design matrix of n samples by d features: one interface to dense, CSR and CSC input; validates input.

    Parameters
    ----------
    X
        array (n, d), scipy sparse matrix or array (n, d), or data frame. Floating point data keeps its precision
        (float32, float64); everything else becomes float64.
    centre, standardize
        hold X in the frame of :mod:`sparsescope.inputs.frame`: features about their means (for problems with an
        intercept), and divided by their standard deviations. ``frame`` describes it (``None``: as given), and
        :meth:`plain` undoes it. Dense data that is copied anyway is changed in place.
    weights
        weights of the samples, (n,), in these means and deviations; ``None``: equal.

    Raises
    ------
    TypeError
        if X is not a matrix of numbers.
    ValueError
        if X is not two-dimensional, is empty, is not a valid sparse matrix, or has entries that are not finite (the
        message names the entry).
    """

    def __init__(
        self, X: Any, *, centre: bool = False, standardize: bool = False, weights: np.ndarray | None = None
    ) -> None:
        self.feature_names: list[str] | None = None
        if hasattr(X, "columns") and hasattr(X, "to_numpy"):
            self.feature_names = [str(c) for c in X.columns]
            X = X.to_numpy()
        if np.ma.is_masked(X):
            raise ValueError(f"X has {np.ma.count_masked(X)} masked entries; fill or impute them first")
        self.is_sparse = bool(sp.issparse(X))
        if self.is_sparse:
            matrix = by_columns(check_sparse(X, "X")) if X.ndim == 2 else X
            pause()
            matrix = as_float(matrix)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            values = matrix.data
        else:
            given = as_array(X)
            values = matrix = turned_dense(as_float(given))
        if 0 in matrix.shape:
            raise ValueError(f"X is empty: shape {matrix.shape}; at least one sample and one feature are needed")
        if matrix.ndim != 2:
            raise ValueError(f"X has {matrix.ndim} dimension(s); a matrix of shape (n samples, d features) is needed")
        self.n, self.d = (int(s) for s in matrix.shape)
        if not np.isfinite(values).all():
            refuse_not_finite(matrix)
        pause()
        self.frame: Frame | None = find_frame(matrix, centre, standardize, weights) if centre or standardize else None
        if self.frame is not None:
            own = not self.is_sparse and not np.may_share_memory(matrix, given)
            matrix = framed(matrix, self.frame, own)
            values = matrix.data if self.is_sparse else matrix
        if not values.flags.writeable:  # kernels are compiled for plain arrays; a read-only one is another type
            matrix = matrix.copy()
            values = matrix.data if self.is_sparse else matrix
        self.dtype = np.dtype(values.dtype)
        self.matrix = matrix
        self.nnz = int(matrix.nnz) if self.is_sparse else self.n * self.d
        if self.is_sparse:
            index = np.int32 if max(self.nnz, self.n, self.d) < 2**31 - 1 else np.int64
            self.columns: Any = SparseColumns(  # type: ignore[call-arg]
                matrix.data, plain(matrix.indices, index), plain(matrix.indptr, index)
            )
        else:
            self.columns = DenseColumns(matrix.T)  # type: ignore[call-arg]

    def plain(self) -> Design:
        """Return X as it was given, up to rounding; this design itself if it has no frame.

        Returns
        -------
        Design
            the design.
        """
        return self if self.frame is None else self._with(unframed(self.matrix, self.frame))

    def framed(self, centre: bool, standardize: bool = False, weights: np.ndarray | None = None) -> Design:
        """Return X in another frame, with a copy of the data; this design itself if that is its frame.

        Parameters
        ----------
        centre, standardize, weights
            as for the class.

        Returns
        -------
        Design
            the design.
        """
        found = self.plain()
        made = (
            found._with(found.matrix, centre=centre, standardize=standardize, weights=weights)
            if centre or standardize
            else found
        )
        return made if made.frame is not None else found

    def _with(self, matrix: Any, **frame: Any) -> Design:
        made = Design(matrix, **frame)
        made.feature_names = self.feature_names
        return made

    def rescaled(self, factor: float) -> Design:
        """Return a copy with all entries times a factor; its frame undoes it for weights.

        Parameters
        ----------
        factor
            the factor.

        Returns
        -------
        Design
            the design.
        """
        made = self._with(self.matrix * self.dtype.type(factor))
        frame = self.frame or Frame(None, None)
        scale = np.ones(self.d) if frame.scale is None else frame.scale
        made.frame = Frame(frame.centre, scale * factor)
        return made

    def inward(self, coef: np.ndarray) -> np.ndarray:
        """Transform coefficients of X to those of the stored matrix.

        Parameters
        ----------
        coef
            coefficients (d, m), or with an intercept (d + 1, m).

        Returns
        -------
        np.ndarray
            the transformed coefficients.
        """
        return coef if self.frame is None else self.frame.inward(coef)

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
            for first, last in self._parts(rows, out.shape[1]):
                if rows is None:
                    columns_matmul(self.columns, W, first, last, out)
                else:
                    listed_matmul(self.columns, rows[first:last], W, out)
                pause()
        else:
            used = np.flatnonzero(W.any(axis=1)) if rows is None else rows
            if used.size < MOST_GATHERED * self.d:
                self._gathered_matmul(used, W[used], out)
            else:
                multiply = slim.times if slim.suits(self.matrix, out.shape[1]) else np.matmul
                for first, last in even_parts(self.n, self.d * out.shape[1], DENSE_PART):
                    multiply(self.matrix[first:last], W, out=out[first:last])
                    pause()
        if coef.shape[0] > self.d:
            out += coef[self.d]
        return out

    def _gathered_matmul(self, used: np.ndarray, W: np.ndarray, out: np.ndarray) -> None:
        """out = the named columns of a dense X times W: copied and multiplied a few samples at a time, in the cache."""
        some = max(256, GATHER_BYTES // (max(used.size, 1) * self.dtype.itemsize))
        for start in range(0, self.n, some):
            stop = min(start + some, self.n)
            np.matmul(self.matrix.T[used, start:stop].T, W, out=out[start:stop])
            pause()

    def _parts(self, rows: np.ndarray | None, m: int) -> Iterator[tuple[int, int]]:
        """Return the columns, or places among the listed ones, between which a sparse product pauses."""
        if self.nnz * m <= PART:
            return iter([(0, self.d if rows is None else rows.size)])
        lengths = np.diff(self.matrix.indptr)
        return parts_of(m * (lengths if rows is None else lengths[rows]).astype(np.int64), PART)

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
        rows = buffer if buffer is not None else np.empty((streamed(self, U.shape[1]), U.shape[1]), U.dtype)
        for start in range(0, self.d, rows.shape[0]):
            stop = min(start + rows.shape[0], self.d)
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
        parts = self._parts(None, m) if self.is_sparse else even_parts(self.d, self.n * m, DENSE_PART)
        for start, stop in parts:
            if self.is_sparse:
                columns_rmatmul(self.columns, U, start, stop, out[start:stop])
            elif U.dtype == self.dtype and slim.suits(self.matrix[:, start:stop], m):
                slim.pulled(self.matrix[:, start:stop], U, out[start:stop])
            else:
                np.matmul(self.matrix.T[start:stop], U, out=out[start:stop])
            pause()
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
            for start, stop in self._parts(rows[:last], out.shape[1]):
                chosen_matmul(self.columns, rows[start:stop], V[start:stop], out)
                pause()
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
            for start, stop in self._parts(rows[:last], out.shape[1]):
                chosen_rmatmul(self.columns, rows[start:stop], U, out[start:stop])
                pause()
        else:
            np.matmul(self.matrix[:, rows[:last]].T, U, out=out[:last])
        if last < rows.size:
            out[last] = U.sum(axis=0)
        return out

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz} non-zeros" if self.is_sparse else "dense"
        return f"Design({self.n} samples × {self.d} features, {kind}, {self.dtype})"
