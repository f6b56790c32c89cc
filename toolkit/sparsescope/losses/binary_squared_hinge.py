"""Binary squared hinge: one score for two classes (Fan et al. 2008, the L2-loss of support vector machines)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import losses
from .base import DOMAIN_SLACK, Loss
from .single_score import against, repair_sides


@part
class BinarySquaredHinge(Loss):
    """max(1 − s·z, 0)² of a single score z, s = ±1: class 1, the second in sorted order, has s = +1.

    W has one column. It is the multiclass squared hinge of two classes where z is the difference of their scores.
    """

    title = "binary squared hinge"
    menu_order = 45
    hinges = True
    tight = True
    doc = "One score for two classes: it should be at least 1 for the second, at most −1 for the first."
    formula = "max(1 − s z, 0)², s = ±1"
    source = "Fan, Chang, Hsieh, Wang and Lin 2008; Blondel et al. 2013, Eq. 2, for two classes"
    one_score = True

    def reference(self, Z, y):
        s = 2.0 * y - 1.0
        short = np.maximum(1.0 - s * Z[:, 0], 0.0)
        return short**2, (-2.0 * s * short)[:, None]

    def value(self, z, y):
        a = max(1.0 + against(z, y), 0.0)
        return a * a

    def gradient(self, z, y, x, g, work):
        a = max(1.0 + against(z, y), 0.0)
        g[0] += 2.0 * x * a if y == 0 else -2.0 * x * a
        return a * a

    def derivatives(self, z, y, x, g, h, work):
        a = max(1.0 + against(z, y), 0.0)
        g[0] += 2.0 * x * a if y == 0 else -2.0 * x * a
        h[0] += 2.0 * x * x if a > 0.0 else 0.0
        return a * a

    def hessian_product(self, z, y, v, out):
        out[0] = 2.0 * v[0] * (1.0 + against(z, y) > 0.0)  # without a branch, which takes twenty times as long

    def is_inactive(self, u, y):
        return u[0] == 0.0

    def hessian_diag(self, z, u, y, x, h, work):
        h[0, 0] += 2.0 * x * x if u[0] != 0.0 else 0.0

    def update_scores(self, z, y, x, delta, u, work):
        z[0] += x * delta[0]
        a = max(1.0 + against(z, y), 0.0)
        u[0] = 2.0 * a if y == 0 else -2.0 * a
        return a * a

    def conjugate(self, u, y):
        v = u[0] if y == 0 else -u[0]
        return 0.25 * v * v - v if v >= -DOMAIN_SLACK else np.inf

    def repair(self, U, Y):
        repair_sides(U, Y)

    def null_intercept(self, weights: np.ndarray) -> np.ndarray:
        # Both sides are short between −1 and 1: w₀(1 + b) = w₁(1 − b).
        return np.array([(weights[1] - weights[0]) / (weights[1] + weights[0])])

    def curvature(self, m: int) -> float:
        return 2.0


losses.add("binary-squared-hinge", BinarySquaredHinge)
