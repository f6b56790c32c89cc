"""Lasso: the sum of absolute values."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import field, penalties
from .base import Penalty, has_negative, largest_positive, norm1, norm_inf, shrink


@part
class L1(Penalty):
    """‖W‖₁: sets single entries to zero, without regard to rows; with ``nonnegative``, +∞ unless W ≥ 0."""

    nonnegative: bool = field(False, doc="weights are at least 0")

    title = "lasso ℓ1"
    menu_order = 40
    doc = "Sum of absolute values; sets single weights to zero."
    formula = "Σ |w|"
    prox_formula = "sign(v_k)·max(|v_k| − τ, 0)"
    source = "Tibshirani 1996"
    adds_up = True

    @property
    def is_norm(self) -> bool:  # type: ignore[override]
        """True if Ω is a norm: without a restriction of the sign."""
        return not self.nonnegative

    def entry_terms(self) -> tuple[float, float] | None:
        return None if self.nonnegative else (1.0, 0.0)

    def reference(self, W):
        found = np.abs(W).sum(axis=1)
        return np.where((W < 0.0).any(axis=1), np.inf, found) if self.nonnegative else found

    def value(self, w):
        return np.inf if self.nonnegative and has_negative(w) else norm1(w)

    def prox(self, v, tau, out):
        for k in range(v.size):
            out[k] = max(v[k] - tau, 0.0) if self.nonnegative else shrink(v[k], tau)

    def violation(self, g, w, lam):
        total = 0.0
        for k in range(g.size):
            if w[k] == 0.0:
                e = max((-g[k] if self.nonnegative else abs(g[k])) - lam, 0.0)
            else:
                e = g[k] + lam * np.sign(w[k])
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return largest_positive(v) if self.nonnegative else norm_inf(v)

    def conjugate(self, v):
        return 0.0

    def zero_threshold(self, g):
        if not self.nonnegative:
            return norm_inf(g)
        top = 0.0
        for k in range(g.size):
            top = max(top, -g[k])
        return top

    def spread(self, size: int) -> float:
        return 1.0  # ‖v‖_∞ ≤ ‖v‖₂

    def project_tangent(self, w, v):
        for k in range(w.size):
            if w[k] == 0.0:
                v[k] = 0.0

    def gradient(self, w, lam, out):
        for k in range(w.size):
            out[k] += lam * np.sign(w[k])

    def hessian_vec(self, w, lam, v, out):
        pass  # piecewise linear

    def curvature_bound(self, w, lam):
        return 0.0


penalties.add("l1", L1)
