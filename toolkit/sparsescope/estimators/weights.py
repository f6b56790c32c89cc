"""Weights as a fitted model keeps them: the rows that are not zero, which are all that a prediction touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

FEW = 0.3  # share of dense columns up to which copying them is cheaper than multiplying all
SPARSE = ("data", "indices", "indptr")  # the arrays of a CSR matrix


@dataclass(frozen=True)
class Weights:
    """W (d, m) by its non-zero rows, and b.

    support : numbers of the rows, sorted, (s,) · values : the rows (s, m), an array or CSR · bias : b (m,) · d : rows
    of W
    """

    support: np.ndarray
    values: Any
    bias: np.ndarray
    d: int

    @classmethod
    def of(cls, W: Any, b: np.ndarray | None) -> Weights:
        """Keep the non-zero rows of W, dense or sparse; without ``b`` the intercept is zero."""
        d, m = W.shape
        if sp.issparse(W):
            W = sp.csr_array(W)
            support = np.flatnonzero(np.diff(W.indptr))
            values: Any = sp.csr_array(W[support])
        else:
            support = np.flatnonzero(W.any(axis=1))
            values = np.ascontiguousarray(W[support])
        bias = np.zeros(m, dtype=W.dtype) if b is None else np.array(b, dtype=W.dtype)
        return cls(support, values, bias, int(d))

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, to be saved."""
        found = {"support": self.support, "bias": self.bias, "d": np.array(self.d)}
        if self.sparse:
            return found | {f"values_{name}": getattr(self.values, name) for name in SPARSE}
        return found | {"values": self.values}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Weights:
        """Take what :meth:`arrays` gave, from a file that somebody else may have made.

        Raises
        ------
        ValueError, KeyError
            if the arrays do not fit together.
        """
        support, bias, d = arrays["support"], arrays["bias"], int(arrays["d"])
        if bias.ndim != 1 or bias.dtype.kind != "f" or support.ndim != 1 or support.dtype.kind not in "iu":
            raise ValueError("the weights have no support or no intercept")
        shape = (support.size, bias.size)
        if "values" in arrays:
            values: Any = np.ascontiguousarray(arrays["values"])
        else:
            data, indices, indptr = (arrays[f"values_{name}"] for name in SPARSE)
            values = sp.csr_array((data, indices, indptr), shape=shape)
            values.check_format(full_check=True)
        numbers = values.data if sp.issparse(values) else values
        if values.shape != shape or numbers.dtype.kind != "f" or not np.isfinite(numbers).all():
            raise ValueError(f"weights of shape {values.shape}; finite numbers of shape {shape} are needed")
        if support.size and not (support[0] >= 0 and support[-1] < d and (np.diff(support) > 0).all()):
            raise ValueError(f"the support is not within the {d} features, in order")
        return cls(support, values, bias, d)

    @property
    def m(self) -> int:
        """Number of scores of a sample."""
        return int(self.bias.size)

    @property
    def sparse(self) -> bool:
        """True if the values are a sparse matrix."""
        return bool(sp.issparse(self.values))

    def full(self) -> Any:
        """W (d, m): an array, or CSR where the values are sparse."""
        if self.sparse:
            entries = sp.coo_array(self.values)
            places = (self.support[entries.coords[0]], entries.coords[1])
            return sp.csr_array((entries.data, places), shape=(self.d, self.m))
        W = np.zeros((self.d, self.m), dtype=self.values.dtype)
        W[self.support] = self.values
        return W

    def difference(self) -> Weights:
        """The weights of a single score, that of the second class minus that of the first."""
        values = self.values[:, [1]] - self.values[:, [0]]
        return Weights(self.support, values, self.bias[1:] - self.bias[:1], self.d)

    def scores(self, X: Any) -> np.ndarray:
        """Z = XW + b of samples X (k, d), dense or sparse: (k, m). Columns of X whose row of W is zero are not read."""
        if not self.support.size:
            Z: Any = np.zeros((X.shape[0], self.m), dtype=np.result_type(X.dtype, self.bias.dtype))
        elif self.support.size <= FEW * self.d:
            Z = X[:, self.support] @ self.values
        else:
            Z = X @ (sp.csr_array(self.full()) if self.sparse else self.full())
        Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
        Z += self.bias
        return Z
