"""Snapshot: W after one event of a run, by its rows that are not zero, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..inputs.is_sparse import is_sparse

SPARSE = ("data", "indices", "indptr")  # the arrays of a CSR matrix


@dataclass(frozen=True)
class Snapshot:
    """W after one event.

    Parameters
    ----------
    index
        number of the event.
    iteration
        its iteration, with the share of the sweep under way.
    rows
        numbers of the non-zero rows.
    values
        the values of these rows, (len(rows), m); sparse (CSR) if the solver keeps W sparse.
    """

    index: int
    iteration: float
    rows: np.ndarray
    values: Any

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.rows.nbytes + sum(part.nbytes for part in _arrays(self.values)))

    def weights(self, d: int) -> Any:
        """Return W of the whole problem.

        Parameters
        ----------
        d
            number of its rows.

        Returns
        -------
        Any
            W (d, m): a full array, or a CSR matrix where the solver kept it sparse.
        """
        if is_sparse(self.values):
            kept, shape = self.values.tocoo(), (d, self.values.shape[1])
            return scipy.sparse.csr_array((kept.data, (self.rows[kept.coords[0]], kept.coords[1])), shape=shape)
        W = np.zeros((d, self.values.shape[1]), dtype=self.values.dtype)
        W[self.rows] = self.values
        return W

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return the arrays that hold its values in a file; :func:`stored_values` reads them back.

        Parameters
        ----------
        name
            what their names begin with.

        Returns
        -------
        dict[str, np.ndarray]
            the arrays by their names.
        """
        if not is_sparse(self.values):
            return {name: self.values}
        parts = {f"{name}_{part}": getattr(self.values, part) for part in SPARSE}
        return {**parts, f"{name}_shape": np.array(self.values.shape)}


def _arrays(values: Any) -> tuple[np.ndarray, ...]:
    """The arrays that hold a dense or sparse matrix."""
    return tuple(getattr(values, name) for name in SPARSE) if is_sparse(values) else (values,)


def stored_values(arrays: dict[str, np.ndarray], name: str) -> Any:
    """Return the values of a snapshot in a file: an array, or the parts of a CSR matrix."""
    if name in arrays:
        return arrays[name]
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in SPARSE)
    return scipy.sparse.csr_array((data, indices, indptr), shape=tuple(int(k) for k in arrays[f"{name}_shape"]))
