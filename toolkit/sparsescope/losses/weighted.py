"""A loss with a weight for each sample: ω_i·ℓ(z_i, y_i), a loss of sample i's scores like any other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit.parts import helper, struct
from .base import Loss


@helper
def without_weight(u, weight, out):  # type: ignore[no-untyped-def]
    """out = u/weight, the dual row of the loss without its weight; returns it."""
    for r in range(u.size):
        out[r] = u[r] / weight
    return out


@struct
class WeightedLoss(Loss):
    """Loss ω_i·ℓ(z_i, y_i) as kernels take it: what they pass as the target of a sample is its number i.

    Kernels that are handed this loss are compiled for it, and those of problems without weights are unchanged: no
    branch, no product with 1. Weights are positive; samples of weight 0 are left out of a problem.

    Parameters
    ----------
    base
        ℓ.
    targets
        classes (n,) or an indicator (n, m).
    weights
        ω (n,), with the mean 1.
    """

    base: Any
    targets: np.ndarray
    weights: np.ndarray

    def value(self, z, y):
        return self.weights[y] * self.base.value(z, self.targets[y])

    def gradient(self, z, y, x, g, work):
        w = self.weights[y]
        return w * self.base.gradient(z, self.targets[y], w * x, g, work)

    def derivatives(self, z, y, x, g, h, work):
        # The loss adds multiples of its gradient and its curvature that belong together: x and x². With √ω·x the
        # curvature is right, and the gradient gets the rest of its ω·x afterwards.
        w = self.weights[y]
        root = np.sqrt(w)
        value = self.base.derivatives(z, self.targets[y], root * x, g, h, work)
        self.base.gradient(z, self.targets[y], (w - root) * x, g, work)
        return w * value

    def hessian_product(self, z, y, v, out):
        self.base.hessian_product(z, self.targets[y], v, out)
        for r in range(out.size):
            out[r] *= self.weights[y]

    def hessian_product_from(self, z, u, y, v, out):
        own = without_weight(u, self.weights[y], out)
        self.base.hessian_product_from(z, own, self.targets[y], v, out)
        for r in range(out.size):
            out[r] *= self.weights[y]

    def hessian_factors(self, z, u, y, a, b):
        own = without_weight(u, self.weights[y], a)
        self.base.hessian_factors(z, own, self.targets[y], a, b)
        root = np.sqrt(self.weights[y])
        for r in range(a.size):
            a[r] *= self.weights[y]
            b[r] *= root

    def is_inactive(self, u, y):
        return self.base.is_inactive(u, self.targets[y])

    def hessian_diag(self, z, u, y, x, h, work):
        own = without_weight(u, self.weights[y], work[2])
        self.base.hessian_diag(z, own, self.targets[y], np.sqrt(self.weights[y]) * x, h, work[:2])

    def update_scores(self, z, y, x, delta, u, work):
        w = self.weights[y]
        value = self.base.update_scores(z, self.targets[y], x, delta, u, work[:2])
        for r in range(u.size):
            u[r] *= w
        return w * value

    def conjugate(self, u, y):
        # (ωℓ)*(u) = ω·ℓ*(u/ω). Kernels ask for the scaled form below, which has room for u/ω; here, for people, an
        # array is made.
        return self.weights[y] * self.base.conjugate(u / self.weights[y], self.targets[y])

    def scaled_conjugate(self, z, u, y, scale, work):
        own = without_weight(u, self.weights[y], work[2])
        return self.weights[y] * self.base.scaled_conjugate(z, own, self.targets[y], scale, work[:2])

    def gradient_conjugate(self, z, u, y, scale, work):
        own = without_weight(u, self.weights[y], work[2])
        return self.weights[y] * self.base.gradient_conjugate(z, own, self.targets[y], scale, work[:2])

    def repaired_conjugate(self, z, u, y, scale, work):
        own = without_weight(u, self.weights[y], work[2])
        return self.weights[y] * self.base.repaired_conjugate(z, own, self.targets[y], scale, work[:2])

    def prox_conjugate(self, v, y, sigma):
        # u = ω·s turns ½‖u − v‖² + σω·ℓ*(u/ω) into ω² times ½‖s − v/ω‖² + (σ/ω)·ℓ*(s).
        w = self.weights[y]
        for r in range(v.size):
            v[r] /= w
        self.base.prox_conjugate(v, self.targets[y], sigma / w)
        for r in range(v.size):
            v[r] *= w

    def along_face(self, u, y, v):
        # prox_{σ(ωℓ)*}(v) = ω·prox_{(σ/ω)ℓ*}(v/ω): its derivative is that of ℓ at u/ω.
        self.base.along_face(u / self.weights[y], self.targets[y], v)

    def repair(self, U, Y):
        self.base.repair_weighted(U, self.targets, self.weights)
