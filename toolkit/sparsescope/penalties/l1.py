"""Lasso: the sum of absolute values."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import penalties
from .base import Penalty, norm1, norm_inf, shrink


@part
class L1(Penalty):
    """‖W‖₁: sets single entries to zero, without regard to rows."""

    title = "lasso ℓ1"
    menu_order = 40
    doc = "Sum of absolute values; sets single weights to zero."
    formula = "Σ |w|"
    source = "Tibshirani 1996"
    adds_up = True

    def entry_terms(self) -> tuple[float, float]:
        return 1.0, 0.0

    def reference(self, W):
        return np.abs(W).sum(axis=1)

    def value(self, w):
        return norm1(w)

    def prox(self, v, tau, out):
        for k in range(v.size):
            out[k] = shrink(v[k], tau)

    def violation(self, g, w, lam):
        total = 0.0
        for k in range(g.size):
            e = max(abs(g[k]) - lam, 0.0) if w[k] == 0.0 else g[k] + lam * np.sign(w[k])
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return norm_inf(v)

    def conjugate(self, v):
        return 0.0

    def critical(self, g):
        return norm_inf(g)

    def tangent(self, w, v):
        for k in range(w.size):
            if w[k] == 0.0:
                v[k] = 0.0

    def slope(self, w, lam, out):
        for k in range(w.size):
            out[k] += lam * np.sign(w[k])

    def bend(self, w, lam, v, out):
        pass  # linear between its kinks

    def stiffness(self, w, lam):
        return 0.0


penalties.add("l1", L1)
