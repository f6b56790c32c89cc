"""Checks of a matrix that is handed in: its type, its numbers, and what compiled code takes for granted."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy


def as_array(X: Any) -> np.ndarray:
    """Return X as an array; ``ValueError`` for nested lists of different lengths."""
    try:
        return np.asarray(X)
    except ValueError:  # of nested lists
        raise ValueError("X is not a matrix: its rows have different lengths") from None


def as_float(matrix: Any) -> Any:
    """Return a matrix of float32 or float64 in the machine's byte order; ``TypeError`` if it holds no real numbers."""
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize in (4, 8):
        return matrix if matrix.dtype.isnative else matrix.astype(matrix.dtype.newbyteorder("="))
    if matrix.dtype.kind in "buif":
        return matrix.astype(np.float64)
    raise TypeError(f"X holds {matrix.dtype} values; a matrix of real numbers is needed")


def refuse_not_finite(matrix: Any) -> None:
    """Raise a ``ValueError`` that names the first entry of X that is not finite."""
    coo = scipy.sparse.coo_array(matrix)
    bad = np.flatnonzero(~np.isfinite(coo.data))
    rows, cols = coo.coords
    i, j = int(rows[bad[0]]), int(cols[bad[0]])
    raise ValueError(
        f"X has {bad.size} entries that are not finite (NaN or infinite), the first at sample {i}, feature {j}; "
        "remove or impute them first"
    )
