"""Calibrated losses of links that users write: Φ(z) − e_yᵀz for a link g = ∇Φ (Agarwal et al. 2013, Def. 2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .base import Loss
from .targets import first_label, has_label, past_label

PAIRS, SCALES, SEED = 40, (0.1, 1.0, 5.0), 0  # random pairs of scores at which a link is looked at
STEP = 1e-5  # of central differences


class LinkLoss(Loss):
    """Calibrated loss Φ(z) − Σ_{p∈Y} z_p of a link g = ∇Φ; its minimiser predicts E[y given x] = g(Wᵀx).

    Inherit from it, decorate with ``@part``, and define three functions:

    ====================  ==================================================================================
    ``potential(z)``      Φ(z), convex
    ``link(z, out)``      out = g(z) = ∇Φ(z), shape (m,)
    ``curvature(m)``      L: ‖g(u) − g(v)‖ ≤ L‖u − v‖ for all scores u, v of m classes
    ====================  ==================================================================================

    It is not registered. :func:`link_fault` searches for points that contradict these properties; the solver ``gls``
    refuses a link that is not monotone. A duality gap is known for penalties that are strongly convex (ridge) and
    without an intercept; elsewhere the gap is +∞. ``threshold`` is the score above which a label of a set is predicted:
    set it where g is one half. See Agarwal et al. (2013, Def. 2).
    """

    __slots__ = ()
    target_types = ("classes", "sets")
    threshold = 0.0

    potential: Any
    link: Any

    def validate(self, m: int) -> str | None:
        return link_fault(self, m)

    def probabilities(self, Z: np.ndarray) -> np.ndarray:
        found = np.empty(Z.shape)
        for z, out in zip(np.asarray(Z, dtype=np.float64), found, strict=True):
            self.link(z, out)
        return found

    def value(self, z, y):  # type: ignore[no-untyped-def]
        total = self.potential(z)
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                total -= z[r]
        return total

    def gradient(self, z, y, x, g, work):  # type: ignore[no-untyped-def]
        self.link(z, work)
        for r in range(z.size):
            g[r] += x * work[r]
        total = self.potential(z)
        for r in range(first_label(y), past_label(y)):
            if has_label(y, r):
                g[r] -= x
                total -= z[r]
        return total

    def derivatives(self, z, y, x, g, h, work):  # type: ignore[no-untyped-def]
        for r in range(z.size):
            h[r] += x * x * self.curvature(z.size)  # a bound is all that steps need
        return self.gradient(z, y, x, g, work)

    def scaled_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        # Fenchel and Young: ℓ*(∇ℓ(z)) = zᵀ∇ℓ(z) − ℓ(z). Of a point that was scaled nothing is known.
        if scale != 1.0:
            return np.inf
        total = -self.value(z, y)
        for r in range(z.size):
            total += z[r] * u[r]
        return total

    def repaired_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        return np.inf

    def repair(self, U, Y):  # type: ignore[no-untyped-def]
        pass


@lru_cache(maxsize=64)
def link_fault(loss: LinkLoss, m: int) -> str | None:
    """Return a violated property of a link for m scores; ``None`` if none was found.

    At random pairs of scores: whether g is monotone (Agarwal et al. 2013, Sec. 2.2), the gradient of Φ (without that it
    is not cyclically monotone), and as smooth as ``curvature`` (Eq. 16).
    """
    rng = np.random.default_rng(SEED)
    most = float(loss.curvature(m))
    for scale in np.repeat(SCALES, PAIRS):
        u, v = scale * rng.standard_normal((2, m))
        g, h = np.empty(m), np.empty(m)
        loss.link(u, g)
        loss.link(v, h)
        if not (np.isfinite(g).all() and np.isfinite(h).all()):
            return f"its link is not finite at z = {_shown(u if not np.isfinite(g).all() else v)}"
        along, length = float((g - h) @ (u - v)), float(np.linalg.norm(u - v))
        if along < -1e-9 * length * (1.0 + float(np.linalg.norm(g - h))):
            return (
                f"its link g is not monotone: ⟨g(u) − g(v), u − v⟩ = {along:.3g} for u = {_shown(u)}, "
                f"v = {_shown(v)}, so Φ is not convex"
            )
        if float(np.linalg.norm(g - h)) > most * length * (1.0 + 1e-6):
            return (
                f"its link g changes faster than curvature(m) = {most:g} allows: ‖g(u) − g(v)‖ = "
                f"{float(np.linalg.norm(g - h)):.3g} over ‖u − v‖ = {length:.3g}"
            )
        for k in range(m):
            step = np.zeros(m)
            step[k] = STEP
            slope = (loss.potential(u + step) - loss.potential(u - step)) / (2.0 * STEP)
            if abs(slope - g[k]) > 1e-4 * (1.0 + abs(g[k])):
                return (
                    f"its link is not the gradient of its potential: g_{k} = {g[k]:.4g}, the slope of Φ is "
                    f"{slope:.4g} at z = {_shown(u)}"
                )
    return None


def _shown(z: np.ndarray) -> str:
    return np.array2string(z[:4], precision=3, separator=", ") + (" …" if z.size > 4 else "")
