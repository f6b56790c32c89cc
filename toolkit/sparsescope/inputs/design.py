"""Design matrix: one interface to dense, CSR and CSC input, by columns for the kernels; validates input.

One copy is kept. Dense data is stored by columns (Fortran order), sparse data as CSC; every product a solver needs runs
well on either, because W is used and updated by rows, and a zero row of W costs nothing. Only methods that look at one
sample at a time need a second copy, by rows (:attr:`Design.samples`). With an intercept the features are held about
their means: see :mod:`sparsescope.inputs.frame`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pauses import pause
from .columns import DenseColumns, SparseColumns
from .design_forms import DesignForms
from .design_products import DesignProducts
from .design_sums import DesignSums
from .frame import Frame, find_frame, framed, unframed
from .is_sparse import is_sparse
from .matrix_checks import as_array, as_float, refuse_not_finite
from .sparse import check_sparse
from .turned import by_columns, plain, turned_dense


class Design(DesignForms, DesignProducts, DesignSums):
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
        if hasattr(X, "mask") and np.ma.is_masked(X):  # numpy.ma is not loaded for other arrays
            raise ValueError(f"X has {np.ma.count_masked(X)} masked entries; fill or impute them first")
        self.is_sparse = is_sparse(X)
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

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz} non-zeros" if self.is_sparse else "dense"
        return f"Design({self.n} samples × {self.d} features, {kind}, {self.dtype})"
