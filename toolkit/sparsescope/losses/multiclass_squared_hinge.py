"""Multiclass squared hinge (Blondel et al. 2013, Eq. 2): Σ_{r≠y} max(1 − (z_y − z_r), 0)²."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import losses
from .base import DOMAIN_SLACK, Loss
from .binary_squared_hinge import BinarySquaredHinge
from .flows import repair_flows
from .reference import balanced, shifted

# The own class's term is 1 and is taken out of sums after the fact; what is left of an idle sample's sum is less than
# this, and it counts as the zero that it is.
ROUNDING = 1e-15


@part
class MulticlassSquaredHinge(Loss):
    """Direct multiclass squared hinge of Blondel et al. (2013, Eq. 2).

    The loops run over all classes, the true one included, because a loop without a branch uses vector instructions;
    the true class's own term is taken out afterwards.
    """

    title = "multiclass squared hinge"
    menu_order = 10
    hinges = True
    tight = True
    doc = "Every wrong class should score at least 1 below the true one; shortfalls are squared."
    formula = "Σ_{r≠y} max(1 − z_y + z_r, 0)²"
    source = "Blondel et al. 2013, Eq. 2"
    difference_curvature = 2.0
    of_differences = True

    def in_one_score(self) -> Loss | None:
        return BinarySquaredHinge()

    def reference(self, Z, y):
        A = np.maximum(shifted(Z, y, 1.0), 0.0)
        return (A**2).sum(axis=1), balanced(2.0 * A, y)

    def value(self, z, y):
        t = 1.0 - z[y]
        total = 0.0
        for r in range(z.size):
            a = max(t + z[r], 0.0)
            total += a * a
        own = t + z[y]
        return max(total - own * own, 0.0)

    def gradient(self, z, y, x, g, work):
        t = 1.0 - z[y]
        mass = 0.0
        total = 0.0
        for r in range(z.size):
            a = max(t + z[r], 0.0)
            g[r] += 2.0 * x * a
            mass += a
            total += a * a
        own = t + z[y]
        g[y] -= 2.0 * x * mass
        return max(total - own * own, 0.0)

    def derivatives(self, z, y, x, g, h, work):
        t = 1.0 - z[y]
        mass = 0.0
        total = 0.0
        active = 0.0
        curve = 2.0 * x * x
        for r in range(z.size):
            a = max(t + z[r], 0.0)
            on = 1.0 if a > 0.0 else 0.0
            g[r] += 2.0 * x * a
            h[r] += curve * on
            mass += a
            active += on
            total += a * a
        own = t + z[y]
        g[y] -= 2.0 * x * mass
        h[y] += curve * (active - 2.0)  # each active wrong class counts once; the own slot was added once too often
        return max(total - own * own, 0.0)

    def hessian_product(self, z, y, v, out):
        t = 1.0 - z[y]
        own = v[y]
        total = 0.0
        for r in range(z.size):
            e = 2.0 * (v[r] - own) if t + z[r] > 0.0 else 0.0
            out[r] = e
            total += e
        out[y] = -total

    def is_inactive(self, u, y):
        return u[np.uintp(y)] == 0.0  # minus the sum of the others, which are not negative

    def hessian_diag(self, z, u, y, x, h, work):
        curve = 2.0 * x * x
        active = 0.0
        for r in range(u.size):
            on = curve if u[r] > 0.0 else 0.0
            h[0, r] += on
            active += on
        h[1, np.uintp(y)] += active

    def update_scores(self, z, y, x, delta, u, work):
        c = np.uintp(y)
        t = 1.0 - (z[c] + x * delta[c])
        mass = 0.0
        total = 0.0
        for r in range(z.size):
            e = z[r] + x * delta[r]
            a = max(t + e, 0.0)
            z[r] = e
            u[r] = 2.0 * a
            mass += a
            total += a * a
        own = 0.5 * u[c]
        mass -= own
        if mass < ROUNDING:
            mass = 0.0
        u[c] = -2.0 * mass
        return max(total - own * own, 0.0)

    def conjugate(self, u, y):
        total = 0.0
        mass = 0.0
        for r in range(u.size):
            mass += u[r]
            if r != y:
                if u[r] < -DOMAIN_SLACK:
                    return np.inf
                total += 0.25 * u[r] * u[r] - u[r]
        return total if abs(mass) <= DOMAIN_SLACK * (1.0 + abs(u[y])) else np.inf

    def repair(self, U, Y):
        repair_flows(U, Y)

    def curvature(self, m: int) -> float:
        # All hinges active: the Hessian is twice the Laplacian of a star graph, whose largest eigenvalue is m.
        return 2.0 * m

    def paper_curvature(self, m: int) -> float:
        return 4.0 * (m - 1)

    def null_intercept(self, weights: np.ndarray) -> np.ndarray | None:
        # While all hinges are active the loss is a quadratic, whose gradient vanishes at
        # b_j = (mw_j − 1 + w·b)/(1 + mw_j) with Σb = 0.
        shares = weights.size * weights / weights.sum()
        scale = 1.0 / (1.0 + shares)
        b = (shares - 1.0 - ((shares - 1.0) * scale).sum() / scale.sum()) * scale
        return b if b[weights > 0.0].max() < 1.0 + b.min() else None

    def class_aware(self, sums: np.ndarray) -> np.ndarray:
        m = sums.shape[1]
        whole = sums.sum(axis=1)
        return 2.0 * np.minimum(m * whole, whole + m * sums.max(axis=1))


losses.add("multiclass-squared-hinge", MulticlassSquaredHinge)
