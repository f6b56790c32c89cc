"""Multitask squared hinge, one class against the rest (Blondel et al. 2013, Eq. 11)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import losses
from .base import DOMAIN_SLACK, Loss, all_zero
from .reference import signs
from .targets import first_label, has_label, past_label


@part
class MultitaskSquaredHinge(Loss):
    """m binary squared hinges that share the penalty: Σ_r max(1 − s_r z_r, 0)², s_r = +1 for the class y, else −1.

    For a label set, s_r = +1 for all its labels. The loops run over all labels as if none were in the target, because
    a loop without a branch uses vector instructions; then the terms of the target's labels are exchanged.
    """

    title = "multitask squared hinge"
    menu_order = 20
    hinges = True
    tight = separable = True
    doc = "Each class against the rest: scores of true labels should be at least 1, all others at most −1."
    formula = "Σ_r max(1 − s_r z_r, 0)², s_r = ±1"
    source = "Blondel et al. 2013, Eq. 11"
    target_types = ("classes", "sets")
    threshold = 0.0

    def reference(self, Z, y):
        s = signs(Z, y)
        A = np.maximum(1.0 - s * Z, 0.0)
        return (A**2).sum(axis=1), -2.0 * s * A

    def value(self, z, y):
        total = 0.0
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            total += a * a
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                wrong = max(1.0 + z[r], 0.0)
                right = max(1.0 - z[r], 0.0)
                total += right * right - wrong * wrong
        return max(total, 0.0)

    def gradient(self, z, y, x, g, work):
        total = 0.0
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            g[r] += 2.0 * x * a
            total += a * a
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                wrong = max(1.0 + z[r], 0.0)
                right = max(1.0 - z[r], 0.0)
                g[r] -= 2.0 * x * (wrong + right)
                total += right * right - wrong * wrong
        return max(total, 0.0)

    def derivatives(self, z, y, x, g, h, work):
        total = 0.0
        curve = 2.0 * x * x
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            g[r] += 2.0 * x * a
            h[r] += curve * (1.0 if a > 0.0 else 0.0)
            total += a * a
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                wrong = max(1.0 + z[r], 0.0)
                right = max(1.0 - z[r], 0.0)
                g[r] -= 2.0 * x * (wrong + right)
                h[r] += curve * ((1.0 if right > 0.0 else 0.0) - (1.0 if wrong > 0.0 else 0.0))
                total += right * right - wrong * wrong
        return max(total, 0.0)

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = 2.0 * v[r] if z[r] > -1.0 else 0.0
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                out[r] = 2.0 * v[r] if z[r] < 1.0 else 0.0

    def is_inactive(self, u, y):
        return all_zero(u)

    def hessian_diag(self, z, u, y, x, h, work):
        curve = 2.0 * x * x
        for r in range(u.size):
            h[0, r] += curve if u[r] != 0.0 else 0.0

    def update_scores(self, z, y, x, delta, u, work):
        total = 0.0
        for r in range(z.size):
            e = z[r] + x * delta[r]
            a = max(1.0 + e, 0.0)
            z[r] = e
            u[r] = 2.0 * a
            total += a * a
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                right = max(1.0 - z[r], 0.0)
                total += right * right - 0.25 * u[r] * u[r]
                u[r] = -2.0 * right
        return max(total, 0.0)

    def conjugate(self, u, y):
        total = 0.0
        for r in range(u.size):
            v = -u[r] if has_label(y, r) else u[r]
            if v < -DOMAIN_SLACK:
                return np.inf
            total += 0.25 * v * v - v
        return total

    def repair(self, U, Y):
        # Each column is a separate binary problem: the heavier side is scaled down to the lighter one (MATH §7).
        n, m = U.shape
        for r in range(m):
            inside = 0.0
            outside = 0.0
            for i in range(n):
                if has_label(Y[i], r):
                    inside -= U[i, r]
                else:
                    outside += U[i, r]
            light = min(inside, outside)
            keep_in = light / inside if inside > 0.0 else 0.0
            keep_out = light / outside if outside > 0.0 else 0.0
            for i in range(n):
                U[i, r] *= keep_in if has_label(Y[i], r) else keep_out

    def curvature(self, m: int) -> float:
        return 2.0


losses.add("multitask-squared-hinge", MultitaskSquaredHinge)
