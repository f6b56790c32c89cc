"""Group lasso on rows: the sum of the rows' Euclidean norms (Blondel et al. 2013)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import penalties
from .base import Penalty, norm2


@part
class L1L2(Penalty):
    """Σ_j ‖W_j‖₂: a feature is used for all classes or for none (Blondel et al. 2013, Eq. 2)."""

    title = "group lasso ℓ1/ℓ2"
    menu_order = 10
    doc = "Sum of the rows' Euclidean norms; a feature is used for all classes or for none."
    formula = "Σ_j ‖W_j‖₂"
    source = "Blondel et al. 2013, Eq. 2 and 4"
    adds_up = True

    def reference(self, W):
        return np.linalg.norm(W, axis=1)

    def value(self, w):
        return norm2(w)

    def prox(self, v, tau, out):
        size = norm2(v)
        keep = 1.0 - tau / size if size > tau else 0.0
        for k in range(v.size):
            out[k] = v[k] * keep

    def violation(self, g, w, lam):
        size = norm2(w)
        if size == 0.0:
            return max(norm2(g) - lam, 0.0)
        total = 0.0
        for k in range(g.size):
            e = g[k] + lam * w[k] / size
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return norm2(v)

    def conjugate(self, v):
        return 0.0

    def critical(self, g):
        return norm2(g)

    def tangent(self, w, v):
        pass  # a non-zero row may move in every direction

    def slope(self, w, lam, out):
        size = norm2(w)
        for k in range(w.size):
            out[k] += lam * w[k] / size

    def bend(self, w, lam, v, out):
        size = norm2(w)
        along = 0.0
        for k in range(w.size):
            along += w[k] * v[k]
        along /= size * size
        for k in range(w.size):
            out[k] += lam / size * (v[k] - along * w[k])

    def stiffness(self, w, lam):
        return lam / norm2(w)


penalties.add("l1/l2", L1L2)
