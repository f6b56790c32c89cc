"""The forms of a design matrix that methods ask for: by columns, by rows, and a column of ones.

Each is made when it is first asked for, and kept.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .columns import DenseColumns, SparseColumns
from .turned import by_samples, plain


class DesignForms:
    """Forms of :class:`sparsescope.inputs.design.Design`, which holds the entries: dense in either order, or CSC."""

    held: Any
    is_sparse: bool
    dtype: np.dtype
    n: int
    d: int
    nnz: int

    @cached_property
    def matrix(self) -> Any:
        """X by columns: CSC, or dense in Fortran order.

        Dense data that is held by rows is copied when this is first asked for, and the copy is kept; :attr:`nbytes`
        counts it from then on.
        """
        return self.held if self.is_sparse else np.asfortranarray(self.held)

    @cached_property
    def columns(self) -> Any:
        """The columns of :attr:`matrix` for the kernels."""
        if not self.is_sparse:
            return DenseColumns(self.matrix.T)  # type: ignore[call-arg]
        index = np.int32 if max(self.nnz, self.n, self.d) < 2**31 - 1 else np.int64
        return SparseColumns(  # type: ignore[call-arg]
            self.held.data, plain(self.held.indices, index), plain(self.held.indptr, index)
        )

    @cached_property
    def samples(self) -> Any:
        """X by rows, for methods that look at one sample at a time: the columns of the transpose of X.

        A second copy of X, made when it is first asked for and kept; :attr:`nbytes` counts it from then on.
        """
        if self.is_sparse:
            return SparseColumns(*by_samples(self.matrix, self.columns))  # type: ignore[call-arg]
        return DenseColumns(np.ascontiguousarray(self.held))  # type: ignore[call-arg]

    @cached_property
    def sparse_samples(self) -> Any:
        """Samples by rows, sparse and in double precision whatever the storage of X.

        Kernels that work with sparse weights are compiled for this type alone. It is the same as :attr:`samples` where
        that fits, else a copy.
        """
        if self.is_sparse and self.dtype == np.float64:
            return self.samples
        by_rows = sp.csr_array(self.held, dtype=np.float64)
        index = np.int32 if max(self.nnz, self.n, self.d) < 2**31 - 1 else np.int64
        return SparseColumns(  # type: ignore[call-arg]
            by_rows.data, plain(by_rows.indices, index), plain(by_rows.indptr, index)
        )

    @cached_property
    def ones(self) -> Any:
        """Column of ones of the intercept, of the type of ``columns``, so that kernels are compiled only once."""
        ones = np.ones((1, self.n), dtype=self.dtype)
        if not self.is_sparse:
            return DenseColumns(ones)  # type: ignore[call-arg]
        index = self.columns.indices.dtype
        return SparseColumns(ones[0], np.arange(self.n, dtype=index), np.array([0, self.n], index))  # type: ignore[call-arg]

    @property
    def nbytes(self) -> int:
        """Bytes held by the data: as given, and by columns or by rows as well once these were asked for."""
        copies = [self.__dict__[name] for name in ("columns", "samples", "sparse_samples") if name in self.__dict__]
        first = [self.held.data, self.held.indices, self.held.indptr] if self.is_sparse else [self.held]
        arrays = [*first, *(array for copy in copies for array in copy)]
        return int(sum({array.__array_interface__["data"][0]: array.nbytes for array in arrays}.values()))
