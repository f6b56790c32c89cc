"""Sums and counts over the entries of a design matrix, each computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..pauses import parts_of
from .is_sparse import is_sparse

ENTRIES = 200_000  # of sparse X that are squared at a time


class DesignSums:
    """Sums and counts of :class:`sparsescope.inputs.design.Design`, which holds the entries."""

    matrix: Any
    is_sparse: bool

    @cached_property
    def magnitude(self) -> float:
        """Largest absolute value of an entry of X."""
        values = self.matrix.data if self.is_sparse else self.matrix
        return max(float(values.max()), -float(values.min())) if values.size else 0.0

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """Σ_i x_ij² of every column, shape (d,), float64."""
        if self.is_sparse:
            # Some columns at a time: the squares of all would be a copy of X.
            (n, d), starts = self.matrix.shape, self.matrix.indptr
            found = np.empty(d)
            for first, last in parts_of(np.diff(starts), ENTRIES):
                at = slice(starts[first], starts[last])
                data, indptr = self.matrix.data[at].astype(np.float64), starts[first : last + 1] - starts[first]
                squares = scipy.sparse.csc_array(
                    (data * data, self.matrix.indices[at], indptr), shape=(n, last - first)
                )
                found[first:last] = squares.sum(axis=0)
            return found
        return np.einsum("ij,ij->j", self.matrix, self.matrix, dtype=np.float64)

    def target_sums(self, weights: Any) -> np.ndarray:
        """Compute Σ_i x_ij² D_ic.

        Parameters
        ----------
        weights
            D (n, k), dense or sparse.

        Returns
        -------
        np.ndarray
            the sums (d, k), float64.
        """
        if self.is_sparse:
            squares = scipy.sparse.csc_array(
                (self.matrix.data.astype(np.float64) ** 2, self.matrix.indices, self.matrix.indptr),
                shape=self.matrix.shape,
            )
            sums = squares.T @ weights
            return np.asarray(sums.todense() if is_sparse(sums) else sums)
        return np.asarray((weights.T @ (self.matrix.astype(np.float64) ** 2)).T)

    @cached_property
    def column_counts(self) -> np.ndarray:
        """Non-zero entries of every column, shape (d,), the same for dense and sparse storage."""
        if self.is_sparse:
            if self.matrix.data.all():
                return np.diff(self.matrix.indptr)
            return np.asarray((self.matrix != 0).sum(axis=0)).ravel()
        return np.count_nonzero(self.matrix, axis=0)

    @cached_property
    def most_in_a_row(self) -> int:
        """ω: the largest number of non-zero entries of a sample."""
        if self.is_sparse:
            used = self.matrix.indices[self.matrix.data != 0]
            return int(np.bincount(used, minlength=1).max()) if used.size else 0
        return int(np.count_nonzero(self.matrix, axis=1).max())
