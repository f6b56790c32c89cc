"""Other forms of a design matrix that methods ask for: by rows, and a column of ones."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from .columns import DenseColumns, SparseColumns
from .turned import by_samples, plain

BY_ROWS = ("samples", "sparse_samples", "double_samples")
# Share of non-zero entries from which on dense X is full: dual coordinate descent takes .4 to .6 of the seconds with
# dense samples where all entries are non-zero, .5 where half of them are and .8 where a fifth is.
FULL = 0.15


class DesignForms:
    """Forms of :class:`sparsescope.inputs.design.Design`, which holds the entries by columns."""

    matrix: Any
    columns: Any
    is_sparse: bool
    dtype: np.dtype
    n: int
    d: int
    nnz: int

    @property
    def nbytes(self) -> int:
        """Bytes held by the data: by columns, and by rows as well once these were asked for."""
        held = [self.columns, *(self.__dict__[name] for name in BY_ROWS if name in self.__dict__)]
        return int(sum({id(array): array.nbytes for copy in held for array in copy}.values()))

    @cached_property
    def samples(self) -> Any:
        """X by rows, for methods that look at one sample at a time: the columns of the transpose of X.

        A second copy of X, made when it is first asked for and kept; :attr:`nbytes` counts it from then on.
        """
        if self.is_sparse:
            return SparseColumns(*by_samples(self.matrix, self.columns))  # type: ignore[call-arg]
        return DenseColumns(np.ascontiguousarray(self.matrix))  # type: ignore[call-arg]

    @cached_property
    def sparse_samples(self) -> Any:
        """Samples by rows, sparse and in double precision whatever the storage of X.

        Kernels that work with sparse weights are compiled for this type alone. It is the same as :attr:`samples` where
        that fits, else a copy.
        """
        if self.is_sparse and self.dtype == np.float64:
            return self.samples
        by_rows = scipy.sparse.csr_array(self.matrix, dtype=np.float64)
        index = np.int32 if max(self.nnz, self.n, self.d) < 2**31 - 1 else np.int64
        return SparseColumns(  # type: ignore[call-arg]
            by_rows.data, plain(by_rows.indices, index), plain(by_rows.indptr, index)
        )

    @cached_property
    def is_full(self) -> bool:
        """True if X is dense and at least a share FULL of its entries are not zero."""
        return not self.is_sparse and bool(np.count_nonzero(self.matrix) >= FULL * self.n * self.d)

    @cached_property
    def double_samples(self) -> Any:
        """Samples of dense X by rows, as a dense array in double precision."""
        return DenseColumns(np.ascontiguousarray(self.matrix, dtype=np.float64))  # type: ignore[call-arg]

    @cached_property
    def ones(self) -> Any:
        """Column of ones of the intercept, of the type of ``columns``, so that kernels are compiled only once."""
        ones = np.ones((1, self.n), dtype=self.dtype)
        if not self.is_sparse:
            return DenseColumns(ones)  # type: ignore[call-arg]
        index = self.columns.indices.dtype
        return SparseColumns(ones[0], np.arange(self.n, dtype=index), np.array([0, self.n], index))  # type: ignore[call-arg]
