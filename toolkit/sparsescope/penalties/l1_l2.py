"""Group lasso on rows: the sum of the rows' Euclidean norms (Blondel et al. 2013)."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..registry import field, penalties
from .base import Penalty, has_negative, norm2, norm2_positive


@part
class L1L2(Penalty):
    """Σ_j ‖W_j‖₂: a feature is used for all classes or for none (Blondel et al. 2013, Eq. 2).

    With ``nonnegative`` it is +∞ unless W ≥ 0.
    """

    nonnegative: bool = field(False, doc="weights are at least 0")

    title = "group lasso ℓ1/ℓ2"
    menu_order = 10
    doc = "Sum of the rows' Euclidean norms; a feature is used for all classes or for none."
    formula = "Σ_j ‖W_j‖₂"
    prox_formula = "v·max(1 − τ/‖v‖₂, 0)"
    source = "Blondel et al. 2013, Eq. 2 and 4"
    adds_up = True

    def norm_terms(self) -> tuple[float, float, float, float] | None:
        """Return (a, b, c, q) if Ω(w) = a‖w‖₁ + b‖w‖₂ + c‖w‖_∞ + q·½‖w‖².

        Returns
        -------
        tuple[float, float, float, float] | None
            the four factors, or ``None`` where the sign is restricted.
        """
        return None if self.nonnegative else (0.0, 1.0, 0.0, 0.0)

    def reference(self, W):
        found = np.linalg.norm(W, axis=1)
        return np.where((W < 0.0).any(axis=1), np.inf, found) if self.nonnegative else found

    @property
    def is_norm(self) -> bool:  # type: ignore[override]
        """Flag of a norm: true without a restriction of the sign."""
        return not self.nonnegative

    def value(self, w):
        return np.inf if self.nonnegative and has_negative(w) else norm2(w)

    def prox(self, v, tau, out):
        size = norm2_positive(v) if self.nonnegative else norm2(v)
        keep = 1.0 - tau / size if size > tau else 0.0
        for k in range(v.size):
            out[k] = (max(v[k], 0.0) if self.nonnegative else v[k]) * keep

    def violation(self, g, w, lam):
        size = norm2(w)
        if size == 0.0:
            return max(self.zero_threshold(g) - lam, 0.0)
        total = 0.0
        for k in range(g.size):
            e = g[k] + lam * w[k] / size
            if self.nonnegative and w[k] == 0.0:
                e = max(-e, 0.0)
            total += e * e
        return np.sqrt(total)

    def dual_norm(self, v):
        return norm2_positive(v) if self.nonnegative else norm2(v)

    def conjugate(self, v):
        return 0.0

    def spread(self, size: int) -> float:
        return 1.0  # The level is ‖v‖₂ itself

    def zero_threshold(self, g):
        if not self.nonnegative:
            return norm2(g)
        total = 0.0
        for k in range(g.size):
            if g[k] < 0.0:
                total += g[k] * g[k]
        return np.sqrt(total)

    def project_tangent(self, w, v):
        if self.nonnegative:  # entries at the bound stay there; else a non-zero row may move in every direction
            for k in range(w.size):
                if w[k] == 0.0:
                    v[k] = 0.0

    def gradient(self, w, lam, out):
        size = norm2(w)
        for k in range(w.size):
            out[k] += lam * w[k] / size

    def hessian_vec(self, w, lam, v, out):
        size = norm2(w)
        along = 0.0
        for k in range(w.size):
            along += w[k] * v[k]
        along /= size * size
        for k in range(w.size):
            out[k] += lam / size * (v[k] - along * w[k])

    def curvature_bound(self, w, lam):
        return lam / norm2(w)


penalties.add("l1/l2", L1L2)
