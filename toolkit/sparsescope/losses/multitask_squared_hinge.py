"""Multitask squared hinge, one class against the rest (Blondel et al. 2013, Eq. 11)."""

from __future__ import annotations

import numpy as np

from ..jit import part
from ..registry import losses
from .base import DOMAIN_SLACK, Loss


@part
class MultitaskSquaredHinge(Loss):
    """m binary squared hinges that share the penalty: Σ_r max(1 − s_r z_r, 0)², s_y = +1, else −1."""

    title = "multitask squared hinge"
    doc = "Each class against the rest: the true score should be at least 1, every other at most −1."
    formula = "Σ_r max(1 − s_r z_r, 0)², s_r = ±1"
    source = "Blondel et al. 2013, Eq. 11"

    def value(self, z, y):
        total = 0.0
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            total += a * a
        wrong = max(1.0 + z[y], 0.0)
        right = max(1.0 - z[y], 0.0)
        return total - wrong * wrong + right * right

    def gradient(self, z, y, x, g, work):
        total = 0.0
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            g[r] += 2.0 * x * a
            total += a * a
        wrong = max(1.0 + z[y], 0.0)
        right = max(1.0 - z[y], 0.0)
        g[y] -= 2.0 * x * (wrong + right)
        return total - wrong * wrong + right * right

    def derivatives(self, z, y, x, g, h, work):
        total = 0.0
        curve = 2.0 * x * x
        for r in range(z.size):
            a = max(1.0 + z[r], 0.0)
            g[r] += 2.0 * x * a
            h[r] += curve * (1.0 if a > 0.0 else 0.0)
            total += a * a
        wrong = max(1.0 + z[y], 0.0)
        right = max(1.0 - z[y], 0.0)
        g[y] -= 2.0 * x * (wrong + right)
        h[y] += curve * ((1.0 if right > 0.0 else 0.0) - (1.0 if wrong > 0.0 else 0.0))
        return total - wrong * wrong + right * right

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = 2.0 * v[r] if z[r] > -1.0 else 0.0
        out[y] = 2.0 * v[y] if z[y] < 1.0 else 0.0

    def conjugate(self, u, y):
        total = 0.0
        for r in range(u.size):
            v = -u[r] if r == y else u[r]
            if v < -DOMAIN_SLACK:
                return np.inf
            total += 0.25 * v * v - v
        return total

    def repair(self, U, Y):
        # Each column is a binary problem of its own: the heavier side is scaled down to the lighter one (MATH §7).
        n, m = U.shape
        for r in range(m):
            inside = 0.0
            outside = 0.0
            for i in range(n):
                if Y[i] == r:
                    inside -= U[i, r]
                else:
                    outside += U[i, r]
            light = min(inside, outside)
            keep_in = light / inside if inside > 0.0 else 0.0
            keep_out = light / outside if outside > 0.0 else 0.0
            for i in range(n):
                U[i, r] *= keep_in if Y[i] == r else keep_out

    def curvature(self, m: int) -> float:
        return 2.0


losses.add("multitask-squared-hinge", MultitaskSquaredHinge)
