"""Sums of squared entries by feature and class: what class-aware step constants are made of."""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel
from .design import Design

__all__ = ["class_sums"]


@kernel
def _add_squares(columns, y, weights, sums):
    """sums_jc += Σ_{i: y_i = c} ω_i x_ij²: y, weights (n,), sums (d, m)."""
    for j in range(sums.shape[0]):
        total = sums[j]
        for p in range(columns.start(j), columns.stop(j)):
            i = columns.row(p, j)
            x = np.float64(columns.entry(p, j))
            total[np.uintp(y[i])] += weights[i] * x * x


def class_sums(design: Design, y: np.ndarray, m: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Compute s_jc = Σ_{i: y_i = c} ω_i x_ij².

    Parameters
    ----------
    design
        X (n, d).
    y
        classes (n,).
    m
        number of classes.
    weights
        ω (n,); ``None`` counts every sample once.

    Returns
    -------
    np.ndarray
        the sums (d, m), float64.
    """
    sums = np.zeros((design.d, m))
    omega = np.ones(design.n) if weights is None else np.asarray(weights, dtype=np.float64)
    _add_squares(design.columns, np.asarray(y, dtype=np.int64), omega, sums)
    return sums
