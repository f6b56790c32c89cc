"""Squared loss on the indicators of classes or labels (the identity link of Agarwal et al. 2013)."""

from __future__ import annotations

from ..jit.parts import part
from ..registry import losses
from .base import Loss
from .reference import indicator
from .targets import first_label, has_label, past_label


@part
class Squared(Loss):
    """½‖z − e‖²: least squares on the indicator e of the class, or of the set of labels."""

    title = "squared"
    menu_order = 50
    tight = quadratic = separable = True
    doc = "Least squares: the scores should be 1 for the true class (or each label) and 0 for the others."
    formula = "½‖z − e_y‖²"
    source = "Agarwal et al. 2013, identity link"
    target_types = ("classes", "sets")
    threshold = 0.5

    def reference(self, Z, y):
        E = Z - indicator(Z, y)
        return 0.5 * (E**2).sum(axis=1), E

    def value(self, z, y):
        total = 0.0
        for r in range(z.size):
            total += z[r] * z[r]
        total *= 0.5
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                total += 0.5 - z[r]
        return total

    def gradient(self, z, y, x, g, work):
        total = 0.0
        for r in range(z.size):
            g[r] += x * z[r]
            total += z[r] * z[r]
        total *= 0.5
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                g[r] -= x
                total += 0.5 - z[r]
        return total

    def derivatives(self, z, y, x, g, h, work):
        for r in range(z.size):
            h[r] += x * x
        return self.gradient(z, y, x, g, work)

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = v[r]

    def hessian_diag(self, z, u, y, x, h, work):
        for r in range(u.size):
            h[0, r] += x * x

    def conjugate(self, u, y):
        total = 0.0
        for r in range(u.size):
            total += u[r] * u[r]
        total *= 0.5
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                total += u[r]
        return total

    def repair(self, U, Y):
        n, m = U.shape
        for r in range(m):
            mean = 0.0
            for i in range(n):
                mean += U[i, r]
            mean /= n
            for i in range(n):
                U[i, r] -= mean

    def repair_weighted(self, U, Y, weights):
        # The nearest such rows in the metric in which the conjugates count: heavy samples take more of the change.
        n, m = U.shape
        for r in range(m):
            total = 0.0
            whole = 0.0
            for i in range(n):
                total += U[i, r]
                whole += weights[i]
            for i in range(n):
                U[i, r] -= weights[i] * total / whole

    def curvature(self, m: int) -> float:
        return 1.0


losses.add("squared", Squared)
