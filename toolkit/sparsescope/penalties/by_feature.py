"""A penalty with a weight for each feature: Ω(W) = Σ_j c_j Ω(W_j)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit.parts import struct
from .base import Penalty, norm2


@struct
class ScaledPenalty(Penalty):
    """Multiple c·Ω of the penalty of one row, c ≥ 0. With c = 0 the row is free: it is not penalised.

    Parameters
    ----------
    base
        Ω.
    factor
        c.
    """

    base: Any
    factor: float

    def value(self, w):
        return self.factor * self.base.value(w)

    def prox(self, v, tau, out):
        if self.factor > 0.0:
            self.base.prox(v, self.factor * tau, out)
        else:
            for k in range(v.size):
                out[k] = v[k]

    def violation(self, g, w, lam):
        return self.base.violation(g, w, self.factor * lam) if self.factor > 0.0 else norm2(g)

    def dual_norm(self, v):
        if self.factor > 0.0:
            return self.base.dual_norm(v) / self.factor
        return np.inf if norm2(v) > 0.0 else 0.0

    def conjugate(self, v):
        # (cΩ)*(v) = c·Ω*(v/c). The row is scaled in place and back: what is left of that is rounding.
        if not self.factor > 0.0:
            return 0.0
        for k in range(v.size):
            v[k] /= self.factor
        found = self.factor * self.base.conjugate(v)
        for k in range(v.size):
            v[k] *= self.factor
        return found

    def zero_threshold(self, g):
        return self.base.zero_threshold(g) / self.factor if self.factor > 0.0 else 0.0

    def stays_zero(self, g, lam):
        return self.factor > 0.0 and self.base.stays_zero(g, self.factor * lam)

    def project_tangent(self, w, v):
        if self.factor > 0.0:
            self.base.project_tangent(w, v)

    def gradient(self, w, lam, out):
        if self.factor > 0.0:
            self.base.gradient(w, self.factor * lam, out)

    def hessian_vec(self, w, lam, v, out):
        if self.factor > 0.0:
            self.base.hessian_vec(w, self.factor * lam, v, out)

    def curvature_bound(self, w, lam):
        return self.base.curvature_bound(w, self.factor * lam) if self.factor > 0.0 else 0.0


@struct
class FeaturePenalty(Penalty):
    """Penalty Σ_j c_j Ω(W_j) as kernels take it: ``at(j)`` is the penalty of row j.

    Kernels of other penalties are unchanged.

    Parameters
    ----------
    base
        Ω.
    weights
        c (d,), or one for each block of features.
    """

    base: Any
    weights: np.ndarray

    def at(self, j):
        return ScaledPenalty(self.base, self.weights[j])  # type: ignore[call-arg]

    def of_rows(self, rows: Any) -> Any:
        return FeaturePenalty(self.base, np.ascontiguousarray(self.weights[rows]))  # type: ignore[call-arg]

    @property
    def zeroes_rows(self) -> bool:  # type: ignore[override]
        """True if Ω can set whole rows to zero."""
        return bool(self.base.zeroes_rows)

    @property
    def is_norm(self) -> bool:  # type: ignore[override]
        """True if Ω is a norm: it is not, where features are free."""
        return bool(self.base.is_norm and self.weights.all())
