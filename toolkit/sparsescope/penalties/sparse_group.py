"""Sparse group lasso: rows and single entries (Friedman et al. 2010; Blondel et al. 2013, Sec. 4.7)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..kernels.memory import lone_row
from ..kernels.two_sides import sort_down
from ..registry import field, penalties
from .base import Penalty, norm1, norm2, norm_inf, shrink


@part
class SparseGroup(Penalty):
    """ρ‖W‖₁ + (1−ρ)Σ_j‖W_j‖₂: few rows, and few entries inside them. ρ = 0 is the group lasso, ρ = 1 the lasso."""

    rho: float = field(0.5, 0.0, 1.0, "ρ: share of the entry-wise part; 0 is the group lasso, 1 the lasso")

    title = "sparse group lasso"
    menu_order = 30
    doc = "Mixture of lasso and group lasso; few rows, and few weights inside the rows that stay."
    formula = "ρ Σ|w| + (1−ρ) Σ_j ‖W_j‖₂"
    prox_formula = "s·max(1 − τ(1−ρ)/‖s‖₂, 0) with s_k = sign(v_k)·max(|v_k| − τρ, 0)"
    source = "Blondel et al. 2013, Sec. 4.7"

    def norm_terms(self) -> tuple[float, float, float, float]:
        """Return (a, b, c, q) if Ω(w) = a‖w‖₁ + b‖w‖₂ + c‖w‖_∞ + q·½‖w‖².

        Returns
        -------
        tuple[float, float, float, float]
            the four factors.
        """
        return self.rho, 1.0 - self.rho, 0.0, 0.0

    def reference(self, W):
        return self.rho * np.abs(W).sum(axis=1) + (1.0 - self.rho) * np.linalg.norm(W, axis=1)

    def value(self, w):
        return self.rho * norm1(w) + (1.0 - self.rho) * norm2(w)

    def prox(self, v, tau, out):
        total = 0.0
        for k in range(v.size):
            a = shrink(v[k], tau * self.rho)
            total += a * a
        size = np.sqrt(total)
        cut = tau * (1.0 - self.rho)
        keep = 1.0 - cut / size if size > cut else 0.0
        for k in range(v.size):
            out[k] = shrink(v[k], tau * self.rho) * keep

    def violation(self, g, w, lam):
        size = norm2(w)
        total = 0.0
        if size == 0.0:
            for k in range(g.size):
                a = shrink(g[k], lam * self.rho)
                total += a * a
            return max(np.sqrt(total) - lam * (1.0 - self.rho), 0.0)
        for k in range(g.size):
            if w[k] == 0.0:
                e = max(abs(g[k]) - lam * self.rho, 0.0)
            else:
                e = g[k] + lam * (self.rho * np.sign(w[k]) + (1.0 - self.rho) * w[k] / size)
            total += e * e
        return np.sqrt(total)

    def stays_zero(self, g, lam):
        total = 0.0
        for k in range(g.size):
            a = max(abs(g[k]) - lam * self.rho, 0.0)
            total += a * a
        return np.sqrt(total) <= lam * (1.0 - self.rho)

    def dual_norm(self, v):
        # The ν ≥ 0 with ‖S(v, νρ)‖₂ = ν(1−ρ): a quadratic once the entries above νρ are known (MATH §7).
        if self.rho <= 0.0:
            return norm2(v)
        if self.rho >= 1.0:
            return norm_inf(v)
        m = v.size
        a = lone_row(m)
        for k in range(m):
            a[k] = abs(v[k])
        sort_down(a)
        if a[0] == 0.0:
            return 0.0
        rest = 1.0 - self.rho
        sum1 = 0.0
        sum2 = 0.0
        kept1 = 0.0
        kept2 = 0.0
        kept = 0
        for k in range(m):
            sum1 += a[k]
            sum2 += a[k] * a[k]
            edge = a[k] * rest / self.rho
            if k == 0 or sum2 - 2.0 * a[k] * sum1 + (k + 1) * a[k] * a[k] - edge * edge < 0.0:
                kept1 = sum1
                kept2 = sum2
                kept = k + 1
            else:
                break
        A = kept * self.rho * self.rho - rest * rest
        B = self.rho * kept1
        return kept2 / (B + np.sqrt(max(B * B - A * kept2, 0.0)))

    def conjugate(self, v):
        return 0.0

    def spread(self, size: int) -> float:
        return 1.0  # Ω(w) ≥ ‖w‖₂, so its dual norm is at most ‖v‖₂

    def zero_threshold(self, g):
        return self.dual_norm(g)

    def project_tangent(self, w, v):
        for k in range(w.size):
            if w[k] == 0.0 and self.rho > 0.0:
                v[k] = 0.0

    def gradient(self, w, lam, out):
        size = norm2(w)
        for k in range(w.size):
            out[k] += lam * (self.rho * np.sign(w[k]) + (1.0 - self.rho) * w[k] / size)

    def hessian_vec(self, w, lam, v, out):
        size = norm2(w)
        along = 0.0
        for k in range(w.size):
            along += w[k] * v[k]
        along /= size * size
        for k in range(w.size):
            out[k] += lam * (1.0 - self.rho) / size * (v[k] - along * w[k])

    def curvature_bound(self, w, lam):
        return lam * (1.0 - self.rho) / norm2(w)


penalties.add("sparse-group", SparseGroup)
