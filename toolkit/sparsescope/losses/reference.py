"""Common parts of the plain numpy formulas of the losses, written for readers and tests, not for speed.

Z (n, m) are scores; y classes (n,) or an indicator of label sets (n, m).
"""

from __future__ import annotations

import numpy as np


def indicator(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return 1 for the class or the labels of each sample and 0 elsewhere, (n, m) float64."""
    return np.eye(Z.shape[1])[y] if y.ndim == 1 else y.astype(float)


def signs(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return +1 for the class or the labels of each sample and −1 elsewhere, (n, m)."""
    return 2.0 * indicator(Z, y) - 1.0


def shifted(Z: np.ndarray, y: np.ndarray, margin: float) -> np.ndarray:
    """Return z_r − z_y, plus the margin off the class y, (n, m)."""
    return Z - Z[np.arange(len(y)), y][:, None] + margin * (1.0 - indicator(Z, y))


def balanced(U: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Set the entry of the class y of each row so that the row sums to zero."""
    U[np.arange(len(y)), y] = 0.0
    U[np.arange(len(y)), y] = -U.sum(axis=1)
    return U
