"""Squared loss on the class indicators (the identity link of Agarwal et al. 2013)."""

from __future__ import annotations

from ..jit import part
from ..registry import losses
from .base import Loss


@part
class Squared(Loss):
    """½‖z − e_y‖²: least squares on the indicator vector of the class."""

    title = "squared"
    doc = "Least squares: the scores should be 1 for the true class and 0 for the others."
    formula = "½‖z − e_y‖²"
    source = "Agarwal et al. 2013, identity link"

    def value(self, z, y):
        total = 0.0
        for r in range(z.size):
            total += z[r] * z[r]
        return 0.5 * total + 0.5 - z[y]

    def gradient(self, z, y, x, g, work):
        total = 0.0
        for r in range(z.size):
            g[r] += x * z[r]
            total += z[r] * z[r]
        g[y] -= x
        return 0.5 * total + 0.5 - z[y]

    def derivatives(self, z, y, x, g, h, work):
        total = 0.0
        for r in range(z.size):
            g[r] += x * z[r]
            h[r] += x * x
            total += z[r] * z[r]
        g[y] -= x
        return 0.5 * total + 0.5 - z[y]

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = v[r]

    def diagonal(self, z, u, y, x, h, work):
        for r in range(u.size):
            h[0, r] += x * x

    def conjugate(self, u, y):
        total = 0.0
        for r in range(u.size):
            total += u[r] * u[r]
        return 0.5 * total + u[y]

    def repair(self, U, Y):
        n, m = U.shape
        for r in range(m):
            mean = 0.0
            for i in range(n):
                mean += U[i, r]
            mean /= n
            for i in range(n):
                U[i, r] -= mean

    def curvature(self, m: int) -> float:
        return 1.0


losses.add("squared", Squared)
