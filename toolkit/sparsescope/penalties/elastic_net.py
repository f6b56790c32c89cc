"""Elastic net: a mixture of the lasso and the ridge."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import field, penalties
from .base import Penalty, has_negative, largest_positive, norm_inf, shrink


@part
class ElasticNet(Penalty):
    """ρ‖W‖₁ + (1−ρ)½‖W‖². With ρ = 1 it is the lasso, with ρ = 0 the ridge; with ``nonnegative``, +∞ unless W ≥ 0."""

    rho: float = field(0.5, 0.0, 1.0, "ρ: share of the ℓ1 part; 1 is the lasso, 0 the ridge")
    nonnegative: bool = field(False, doc="weights are at least 0")

    title = "elastic net"
    menu_order = 50
    doc = "Mixture of lasso and ridge; sets single weights to zero and shrinks the rest."
    formula = "ρ Σ|w| + (1−ρ) ½ Σ w²"
    prox_formula = "sign(v_k)·max(|v_k| − τρ, 0)/(1 + τ(1−ρ))"
    source = "Zou and Hastie 2005; Yen et al. 2016 with λ₄ = ρ/(1−ρ)"
    is_norm = False
    adds_up = True

    def rescaled(self, unit: float) -> tuple[Penalty, float]:
        total = self.rho + (1.0 - self.rho) * unit
        return ElasticNet(rho=self.rho / total, nonnegative=self.nonnegative), unit * total

    def entry_terms(self) -> tuple[float, float] | None:
        return None if self.nonnegative else (self.rho, 1.0 - self.rho)

    def reference(self, W):
        found = (self.rho * np.abs(W) + (1.0 - self.rho) * 0.5 * W**2).sum(axis=1)
        return np.where((W < 0.0).any(axis=1), np.inf, found) if self.nonnegative else found

    def value(self, w):
        if self.nonnegative and has_negative(w):
            return np.inf
        total = 0.0
        for k in range(w.size):
            total += self.rho * abs(w[k]) + (1.0 - self.rho) * 0.5 * w[k] * w[k]
        return total

    def prox(self, v, tau, out):
        for k in range(v.size):
            left = max(v[k] - tau * self.rho, 0.0) if self.nonnegative else shrink(v[k], tau * self.rho)
            out[k] = left / (1.0 + tau * (1.0 - self.rho))

    def addend(self, tau):
        rest = 1.0 - self.rho
        return np.log1p(tau * rest) / rest if rest > 0.0 else tau

    def prox_added(self, v, total, out):
        # The factors 1/(1+τ_i(1−ρ)) multiply; the thresholds, each shrunk by the factors after it, telescope (MATH §7).
        rest = 1.0 - self.rho
        keep = np.exp(-total * rest)
        cut = self.rho * (-np.expm1(-total * rest) / rest if rest > 0.0 else total)
        for k in range(v.size):
            out[k] = max(v[k] * keep - cut, 0.0) if self.nonnegative else shrink(v[k] * keep, cut)

    def violation(self, g, w, lam):
        total = 0.0
        for k in range(g.size):
            if w[k] == 0.0:
                e = max((-g[k] if self.nonnegative else abs(g[k])) - lam * self.rho, 0.0)
            else:
                e = g[k] + lam * (self.rho * np.sign(w[k]) + (1.0 - self.rho) * w[k])
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        if self.rho < 1.0:
            return 0.0
        return largest_positive(v) if self.nonnegative else norm_inf(v)

    def conjugate(self, v):
        if self.rho >= 1.0:
            return 0.0
        total = 0.0
        for k in range(v.size):
            s = max(v[k] - self.rho, 0.0) if self.nonnegative else shrink(v[k], self.rho)
            total += s * s
        return total / (2.0 * (1.0 - self.rho))

    def spread(self, size: int) -> float:
        return float(1.0 / self.rho) if self.rho > 0.0 else float("inf")  # ‖v‖_∞/ρ ≤ ‖v‖₂/ρ

    def zero_threshold(self, g):
        top = 0.0
        for k in range(g.size):
            top = max(top, -g[k] if self.nonnegative else abs(g[k]))
        if self.rho > 0.0:
            return top / self.rho
        return np.inf if top > 0.0 else 0.0

    def project_tangent(self, w, v):
        for k in range(w.size):
            if w[k] == 0.0 and (self.rho > 0.0 or self.nonnegative):
                v[k] = 0.0

    def gradient(self, w, lam, out):
        for k in range(w.size):
            out[k] += lam * (self.rho * np.sign(w[k]) + (1.0 - self.rho) * w[k])

    def hessian_vec(self, w, lam, v, out):
        for k in range(w.size):
            out[k] += lam * (1.0 - self.rho) * v[k]

    def curvature_bound(self, w, lam):
        return lam * (1.0 - self.rho)


penalties.add("elastic-net", ElasticNet)
