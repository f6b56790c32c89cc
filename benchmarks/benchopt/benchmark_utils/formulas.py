"""The objective in plain NumPy, so that nobody has to trust a competitor's code. W is (d, m), y holds 0 … m − 1.

F(W) = (1/n) Σᵢ loss(Wᵀxᵢ, yᵢ) + λ Ω(W), without an intercept.
"""

import numpy as np


def logistic(Z, y):
    """Multinomial logistic loss: values (n,) and slopes (n, m) at the scores Z (n, m)."""
    rows = np.arange(len(y))
    top = Z.max(axis=1, keepdims=True)
    E = np.exp(Z - top)
    total = E.sum(axis=1, keepdims=True)
    slopes = E / total
    slopes[rows, y] -= 1.0
    return np.log(total[:, 0]) + top[:, 0] - Z[rows, y], slopes


def multiclass_squared_hinge(Z, y):
    """Σ over r ≠ y of max(0, 1 − z_y + z_r)²: values (n,) and slopes (n, m) at the scores Z (n, m)."""
    rows = np.arange(len(y))
    M = np.maximum(1.0 - Z[rows, y][:, None] + Z, 0.0)
    M[rows, y] = 0.0
    slopes = 2.0 * M
    slopes[rows, y] = -slopes.sum(axis=1)
    return (M**2).sum(axis=1), slopes


LOSSES = {"logistic": logistic, "multiclass-squared-hinge": multiclass_squared_hinge}
PENALTIES = {
    "l1": lambda W: float(np.abs(W).sum()),
    "l1/l2": lambda W: float(np.linalg.norm(W, axis=1).sum()),
}
DUAL_NORMS = {
    "l1": lambda G: float(np.abs(G).max()),
    "l1/l2": lambda G: float(np.linalg.norm(G, axis=1).max()),
}


def objective(X, y, W, loss, penalty, lam):
    """F(W); X dense or sparse (n, d)."""
    return float(LOSSES[loss](np.asarray(X @ W), y)[0].mean()) + lam * PENALTIES[penalty](W)


def lam_max(X, y, m, loss, penalty):
    """The smallest λ at which W = 0 is a solution: the dual norm of the gradient there."""
    slopes = LOSSES[loss](np.zeros((len(y), m)), y)[1]
    return DUAL_NORMS[penalty](np.asarray(X.T @ slopes) / len(y))
