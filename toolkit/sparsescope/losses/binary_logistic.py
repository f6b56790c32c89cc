"""Binary logistic loss: one score for two classes (Tang and Scheinberg 2013, Sec. 4.1)."""

from __future__ import annotations

import numpy as np

from ..jit.elementary import exponential, log_one_minus, log_one_plus, logarithm
from ..jit.parts import helper, part
from ..registry import losses
from .base import DOMAIN_SLACK, Loss
from .single_score import against, repair_sides


@helper(exact=True)
def entropy(p):  # type: ignore[no-untyped-def]
    """p·log p + (1 − p)·log(1 − p), ∞ for p outside [0, 1]: without a branch, so that loops over samples are
    vectorised."""
    q = min(max(p, 0.0), 1.0)
    total = q * logarithm(q) + (1.0 - q) * log_one_minus(q)
    return total if -DOMAIN_SLACK <= p <= 1.0 + DOMAIN_SLACK else np.inf


@part
class BinaryLogistic(Loss):
    """log(1 + exp(−s·z)) of a single score z, s = ±1: class 1, the second in sorted order, has s = +1.

    W has one column. It is minus the log-probability of the true class if z is the logit of class 1. Exponents are
    never positive, so scores up to 1e3 (and far beyond) give finite results.
    """

    title = "binary logistic"
    menu_order = 40
    tight = True
    doc = "Logistic regression of two classes with one score; positive scores speak for the second class."
    formula = "log(1 + exp(−s z)), s = ±1"
    source = "Tang and Scheinberg 2013, Sec. 4.1"
    one_score = True

    def reference(self, Z, y):
        s = 2.0 * y - 1.0
        values = np.logaddexp(0.0, -s * Z[:, 0])
        return values, (-s * np.exp(-s * Z[:, 0] - values))[:, None]

    def value(self, z, y):
        t = against(z, y)
        return max(t, 0.0) + log_one_plus(exponential(-abs(t)))

    def gradient(self, z, y, x, g, work):
        t = against(z, y)
        e = exponential(-abs(t))
        p = (1.0 if t >= 0.0 else e) / (1.0 + e)  # probability of the wrong class
        g[0] += x * p if y == 0 else -x * p
        return max(t, 0.0) + log_one_plus(e)

    def derivatives(self, z, y, x, g, h, work):
        t = against(z, y)
        e = exponential(-abs(t))
        p = (1.0 if t >= 0.0 else e) / (1.0 + e)
        g[0] += x * p if y == 0 else -x * p
        h[0] += x * x * e / ((1.0 + e) * (1.0 + e))
        return max(t, 0.0) + log_one_plus(e)

    def hessian_product(self, z, y, v, out):
        e = exponential(-abs(z[0]))
        out[0] = v[0] * e / ((1.0 + e) * (1.0 + e))

    def hessian_product_from(self, z, u, y, v, out):
        p = abs(u[0])
        out[0] = v[0] * (p * (1.0 - p))

    def hessian_diag(self, z, u, y, x, h, work):
        p = abs(u[0])
        h[0, 0] += x * x * (p * (1.0 - p))

    def conjugate(self, u, y):
        return entropy(u[0] if y == 0 else -u[0])

    def scaled_conjugate(self, z, u, y, scale, work):
        return entropy(scale * (u[0] if y == 0 else -u[0]))

    def repair(self, U, Y):
        repair_sides(U, Y)

    def null_intercept(self, weights: np.ndarray) -> np.ndarray:
        return np.array([np.log(weights[1] / weights[0])])  # a problem has samples of both classes

    def probabilities(self, Z: np.ndarray) -> np.ndarray:
        e = np.exp(-np.abs(Z[:, 0]))
        light, heavy = e / (1.0 + e), 1.0 / (1.0 + e)
        return np.column_stack([np.where(Z[:, 0] > 0.0, light, heavy), np.where(Z[:, 0] > 0.0, heavy, light)])

    def curvature(self, m: int) -> float:
        return 0.25


losses.add("binary-logistic", BinaryLogistic)
