"""Sums of squared entries by feature and class: what class-aware step constants are made of."""

from __future__ import annotations

import numpy as np

from ..kernels.class_sums import add_squares
from .design import Design

__all__ = ["class_sums"]


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
    add_squares(design.columns, np.asarray(y, dtype=np.int64), omega, sums)
    return sums
