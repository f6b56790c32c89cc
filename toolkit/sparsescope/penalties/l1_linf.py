"""Row-wise maximum norm: the sum of the rows' largest absolute values (Blondel et al. 2013, Sec. 4.7)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import penalties
from .base import Penalty, l1_threshold, norm1, norm_inf


@part
class L1Linf(Penalty):
    """Σ_j ‖W_j‖_∞: whole rows vanish, and within a surviving row the largest entries tie."""

    title = "row maximum ℓ1/ℓ∞"
    menu_order = 20
    doc = "Sum of the rows' largest absolute values; whole rows vanish, and large entries of a row tie."
    formula = "Σ_j max_k |W_jk|"
    prox_formula = "v − (projection of v onto Σ_k |u_k| ≤ τ): the largest entries are cut to one height"
    source = "Blondel et al. 2013, Sec. 4.7"
    adds_up = True

    def norm_terms(self) -> tuple[float, float, float, float]:
        """Return (a, b, c, q) if Ω(w) = a‖w‖₁ + b‖w‖₂ + c‖w‖_∞ + q·½‖w‖².

        Returns
        -------
        tuple[float, float, float, float]
            the four factors.
        """
        return 0.0, 0.0, 1.0, 0.0

    def reference(self, W):
        return np.abs(W).max(axis=1)

    def value(self, w):
        return norm_inf(w)

    def prox(self, v, tau, out):
        # Clipping at θ, not subtracting a projection: entries at the bound are then equal to the last bit.
        if norm1(v) <= tau:
            for k in range(v.size):
                out[k] = 0.0
            return
        theta = l1_threshold(v, tau)
        for k in range(v.size):
            out[k] = min(max(v[k], -theta), theta)

    def violation(self, g, w, lam):
        top = norm_inf(w)
        total = 0.0
        if top == 0.0:
            theta = l1_threshold(g, lam)
            for k in range(g.size):
                e = min(abs(g[k]), theta)
                total += e * e
            return np.sqrt(total)
        # q is what the entries at the maximum contribute; p its projection on {p ≥ 0, Σp = λ}. The threshold of that
        # projection may be negative, so it is found over q itself and not over absolute values.
        count = 0
        mass = 0.0
        for k in range(g.size):
            if abs(w[k]) == top:
                mass += -np.sign(w[k]) * g[k]
                count += 1
        theta = (mass - lam) / count
        while True:
            kept = 0
            mass = 0.0
            for k in range(g.size):
                if abs(w[k]) == top:
                    q = -np.sign(w[k]) * g[k]
                    if q > theta:
                        mass += q
                        kept += 1
            if kept >= count or kept == 0:  # ">": see l1_threshold
                break
            count = kept
            theta = (mass - lam) / count
        for k in range(g.size):
            if abs(w[k]) == top:
                e = min(-np.sign(w[k]) * g[k], theta)
            else:
                e = g[k]
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return norm1(v)

    def conjugate(self, v):
        return 0.0

    def spread(self, size: int) -> float:
        return float(np.sqrt(size))  # ‖v‖₁ ≤ √size·‖v‖₂

    def zero_threshold(self, g):
        return norm1(g)

    def project_tangent(self, w, v):
        # Entries at the maximum stay tied: they all grow or shrink by the same amount.
        top = norm_inf(w)
        count = 0
        outward = 0.0
        for k in range(w.size):
            if abs(w[k]) == top:
                outward += np.sign(w[k]) * v[k]
                count += 1
        outward /= count
        for k in range(w.size):
            if abs(w[k]) == top:
                v[k] = np.sign(w[k]) * outward

    def gradient(self, w, lam, out):
        top = norm_inf(w)
        count = 0
        for k in range(w.size):
            if abs(w[k]) == top:
                count += 1
        for k in range(w.size):
            if abs(w[k]) == top:
                out[k] += lam * np.sign(w[k]) / count

    def hessian_vec(self, w, lam, v, out):
        pass  # linear as long as the same entries are tied

    def curvature_bound(self, w, lam):
        return 0.0


penalties.add("l1/linf", L1Linf)
