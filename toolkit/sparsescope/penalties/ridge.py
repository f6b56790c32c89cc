"""Ridge: half the squared Euclidean norm."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import penalties
from .base import Penalty, norm2


@part
class Ridge(Penalty):
    """½‖W‖²: shrinks every weight and sets none to zero."""

    title = "ridge"
    menu_order = 60
    doc = "Half the sum of squares; shrinks all weights and forces none to zero."
    formula = "½ Σ w²"
    prox_formula = "v/(1 + τ)"
    source = "Hoerl and Kennard 1970"
    zeroes_rows = False
    is_norm = False
    adds_up = True

    def rescaled(self, unit: float) -> tuple[Penalty, float]:
        return self, unit * unit

    def entry_terms(self) -> tuple[float, float]:
        return 0.0, 1.0

    def reference(self, W):
        return 0.5 * (W**2).sum(axis=1)

    def value(self, w):
        total = 0.0
        for k in range(w.size):
            total += w[k] * w[k]
        return 0.5 * total

    def prox(self, v, tau, out):
        for k in range(v.size):
            out[k] = v[k] / (1.0 + tau)

    def addend(self, tau):
        return np.log1p(tau)

    def prox_added(self, v, total, out):
        keep = np.exp(-total)
        for k in range(v.size):
            out[k] = v[k] * keep

    def violation(self, g, w, lam):
        total = 0.0
        for k in range(g.size):
            e = g[k] + lam * w[k]
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return 0.0

    def conjugate(self, v):
        total = 0.0
        for k in range(v.size):
            total += v[k] * v[k]
        return 0.5 * total

    def zero_threshold(self, g):
        return np.inf if norm2(g) > 0.0 else 0.0

    def project_tangent(self, w, v):
        pass  # smooth everywhere

    def gradient(self, w, lam, out):
        for k in range(w.size):
            out[k] += lam * w[k]

    def hessian_vec(self, w, lam, v, out):
        for k in range(w.size):
            out[k] += lam * v[k]

    def curvature_bound(self, w, lam):
        return lam


penalties.add("ridge", Ridge)
