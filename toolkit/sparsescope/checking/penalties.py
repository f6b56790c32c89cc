"""The promises of penalties, tried on its functions of one row, interpreted.

A check raises a fault with its sentence, or returns the sentence of the promise that holds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize

from .points import rows
from .report import Fault, LeftOut, shown

Check = Callable[[Any, int], str]
SIZES = (1, 2, 5)
COUNT = 15  # random rows of each size


def prox(penalty: Any, v: np.ndarray, tau: float) -> np.ndarray:
    """prox_{τΩ}(v)."""
    out = np.full(v.size, np.nan)
    penalty.prox(v, tau, out)
    return out


def minimiser(cost: Callable[[np.ndarray], float], starts: list[np.ndarray]) -> np.ndarray:
    """The best point that a search without derivatives finds."""
    options = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 2000}
    found = [minimize(cost, start, method="Nelder-Mead", options=options) for start in starts]
    return np.asarray(min(found, key=lambda f: f.fun).x)


def value(penalty: Any, m: int) -> str:
    """Ω is convex, and 0 at 0; a norm grows with its row."""
    at_zero = penalty.value(np.zeros(m))
    if not abs(at_zero) <= 1e-12:
        raise Fault(f"your value at a zero row is {at_zero}; 0 is needed")
    points = rows(m, COUNT)
    for (a, _), (b, _) in zip(points, reversed(points), strict=True):
        found, chord = penalty.value(0.5 * (a + b)), 0.5 * (penalty.value(a) + penalty.value(b))
        if np.isnan(found) or found < 0.0:
            raise Fault(f"your value is {found} at w = {shown(0.5 * (a + b))}; a number of at least 0 is needed")
        if not found <= chord + 1e-10 * (1 + abs(chord)):
            raise Fault(
                f"your value is {shown(found - chord)} above its chord in the middle of {shown(a)} and {shown(b)}: it "
                "is not convex"
            )
        single, triple = penalty.value(a), penalty.value(3.0 * a)
        if penalty.is_norm and np.isfinite(single) and not abs(triple - 3.0 * single) <= 1e-10 * (1 + triple):
            raise Fault(f"is_norm is True, but your value at 3w is {shown(triple)}, and 3·Ω(w) = {shown(3 * single)}")
    return "is convex, and 0 at 0"


def prox_minimises(penalty: Any, m: int) -> str:
    """p = prox(v, τ) is the minimiser: every other w costs at least ½‖w − p‖² more."""
    rng = np.random.default_rng(1)
    for v, tau in rows(m, COUNT):
        p = prox(penalty, v, tau)
        if not np.isfinite(p).all():
            raise Fault(f"your prox gives {shown(p)} at v = {shown(v)}, τ = {shown(tau)}; write every entry of out")

        def cost(w: np.ndarray, v: np.ndarray = v, tau: float = tau) -> float:
            return float(0.5 * ((w - v) ** 2).sum() + tau * penalty.value(w))

        moves = rng.standard_normal((60, m)) * 10.0 ** rng.uniform(-4, 1, (60, 1)) * (rng.random((60, m)) < 0.7)
        others = [*(p + moves), *(v * np.linspace(0.0, 1.0, 9)[:, None]), *(p * (np.arange(m) != k) for k in range(m))]
        best = cost(p)
        for w in others:
            if not cost(w) - best - 0.5 * ((w - p) ** 2).sum() >= -1e-12 * (1 + best):
                true = minimiser(cost, [w, v, np.zeros(m), 0.5 * v + 0.1])
                raise Fault(
                    f"your prox gives {shown(p)} at v = {shown(v)}, τ = {shown(tau)}; numerical minimisation of "
                    f"½‖w − v‖² + τΩ(w) gives {shown(true)}, which costs {shown(best - cost(true))} less"
                )
        again = v.copy()
        penalty.prox(again, tau, again)
        if not np.array_equal(again, p):
            raise Fault(f"your prox gives {shown(again)} instead of {shown(p)} when out is v itself")
    return "minimises ½‖w − v‖² + τΩ(w)"


def conjugate(penalty: Any, m: int) -> str:
    """Fenchel–Young: Ω(w) + Ω*(u) ≥ ⟨w, u⟩, with equality for the subgradients u = (v − w)/τ at w = prox(v, τ)."""
    for v, tau in rows(m, COUNT):
        w = prox(penalty, v, tau)
        u = (v - w) / tau
        product, tol = float(w @ u), 1e-9 * (1 + float(np.abs(v).max()) ** 2 / tau)
        gauge = penalty.dual_norm(u)
        if not gauge <= 1 + 1e-9:
            raise Fault(
                f"your dual_norm is {shown(gauge)} at the subgradient {shown(u)}, which lies in the domain of Ω*"
            )
        found, exact = penalty.conjugate(u), product - penalty.value(w)
        if not abs(found - exact) <= tol:
            side = "below" if found < exact else "above"
            raise Fault(
                f"your conjugate is {shown(abs(found - exact))} {side} the value {shown(exact)} that Fenchel–Young "
                f"demands at v = {shown(u)}, a subgradient at w = {shown(w)}"
            )
    return "Ω(w) + Ω*(u) = ⟨w, u⟩ at subgradients u"


def dual_norm(penalty: Any, m: int) -> str:
    """Inside the domain that dual_norm gives, ⟨w, v⟩ − Ω(w) is below Ω*(v); just outside it, unbounded."""
    for v, _ in rows(m, COUNT):
        gauge = penalty.dual_norm(v)
        if not gauge >= 0.0:
            raise Fault(f"your dual_norm is {gauge} at v = {shown(v)}; a number of at least 0 is needed")
        inside = v if gauge == 0.0 else v * (0.999 / gauge)
        bound = penalty.conjugate(inside)
        for far in (1.0, 1e3, 1e6):  # the maximiser of ⟨w, v⟩ − Ω(w) − ‖w‖²/(2·far)
            w = prox(penalty, far * inside, far)
            reached = float(w @ inside) - penalty.value(w)
            if not reached <= bound + 1e-9 * (1 + abs(reached) + abs(float(w @ inside))):
                raise Fault(
                    f"your dual_norm is {shown(gauge)} at v = {shown(v)}, but for u = {shown(inside)}, inside the "
                    f"domain that it gives, your conjugate {shown(bound)} is {shown(reached - bound)} below "
                    f"⟨w, u⟩ − Ω(w) at w = {shown(w)}"
                )
        if gauge > 0.0:
            outside = v * (1.01 / gauge)
            w = prox(penalty, 1e6 * outside, 1e6)
            if not float(w @ outside) - penalty.value(w) > 1.0:
                raise Fault(
                    f"your dual_norm is {shown(gauge)} at v = {shown(v)}, which is too large: ⟨w, u⟩ − Ω(w) stays "
                    f"bounded for u = {shown(outside)}, outside the domain that it gives"
                )
    return "is the gauge of the domain of the conjugate"


def violation(penalty: Any, m: int) -> str:
    """dist(−g, λ∂Ω(w)) is 0 at fixed points of the prox, and never less than the step of the prox."""
    rng = np.random.default_rng(2)
    for v, tau in rows(m, COUNT):
        p = prox(penalty, v, tau)
        found = penalty.violation(p - v, p, tau)
        if not abs(found) <= 1e-12 * (1 + np.abs(v).max()):
            raise Fault(
                f"your violation is {shown(found)} at w = {shown(p)}, g = {shown(p - v)}, λ = {shown(tau)}, a fixed "
                "point of your prox; 0 is needed"
            )
        g = p - v + rng.standard_normal(m)
        found, distance = penalty.violation(g, p, tau), float(np.linalg.norm(prox(penalty, p - g, tau) - p))
        if not distance <= found * (1 + 1e-9) + 1e-12:
            raise Fault(
                f"your violation is {shown(found)} at w = {shown(p)}, g = {shown(g)}, λ = {shown(tau)}, and a step of "
                f"your prox goes {shown(distance)} from there: the violation is never less"
            )
    return "is 0 exactly at fixed points of the prox"


def zero_threshold(penalty: Any, m: int) -> str:
    """A zero row stays zero exactly from λ = zero_threshold(g) on."""
    for g, _ in rows(m, COUNT):
        edge = penalty.zero_threshold(g)
        if np.isinf(edge):
            if not prox(penalty, -g, 1e6).any():
                raise Fault(f"your zero_threshold is infinite at g = {shown(g)}, but your prox makes the row zero")
            continue
        above, below = edge * (1 + 1e-9) or 1e-12, edge * (1 - 1e-6)
        if prox(penalty, -g, above).any():
            raise Fault(
                f"your zero_threshold is {shown(edge)} at g = {shown(g)}, and there your prox gives "
                f"{shown(prox(penalty, -g, above))} instead of zero: it is too small"
            )
        if edge > 0.0 and not prox(penalty, -g, below).any():
            raise Fault(
                f"your zero_threshold is {shown(edge)} at g = {shown(g)}, but your prox gives zero just below it: it "
                "is too large"
            )
    return "is the λ from which on the prox leaves a zero row at zero"


def piece(penalty: Any, m: int) -> str:
    """Slope and bend of Ω along the smooth piece that a row lies on, for second-order solvers."""
    if not hasattr(penalty, "project_tangent"):
        raise LeftOut("does not apply: no project_tangent, so first-order solvers only")
    rng = np.random.default_rng(0)
    lam = 0.7
    for v, tau in rows(m, COUNT):
        w = prox(penalty, v, tau)
        if not w.any():
            continue
        t = rng.standard_normal(m)
        penalty.project_tangent(w, t)
        slope, bend = np.zeros(m), np.zeros(m)
        penalty.gradient(w, lam, slope)
        penalty.hessian_vec(w, lam, t, bend)
        size = 1e-2 * np.abs(w[w != 0.0]).min() / (1.0 + np.abs(t).max())
        ahead, here, behind = (lam * penalty.value(w + s * size * t) for s in (1.0, 0.0, -1.0))
        for name, found, exact, tol in (
            ("gradient", float(slope @ t), (ahead - behind) / (2 * size), 1e-4),
            ("hessian_vec", float(bend @ t), (ahead - 2 * here + behind) / size**2, 1e-2),
        ):
            rounding = 1e-8 if name == "gradient" else 1e-14 * (1.0 + abs(here)) / size**2
            if not abs(found - exact) <= tol * abs(exact) + rounding:
                raise Fault(
                    f"your {name} gives {shown(found)} along t = {shown(t)}, and differences of the value "
                    f"{shown(exact)} at w = {shown(w)}, λ = {lam}"
                )
    return "gradient and hessian_vec are the derivatives along the piece"


CHECKS: dict[str, Check] = {
    "value": value,
    "prox": prox_minimises,
    "conjugate": conjugate,
    "dual norm": dual_norm,
    "violation": violation,
    "zero threshold": zero_threshold,
    "smooth pieces": piece,
}


def over_sizes(one: Check, penalty: Any) -> str:
    """Run a check for rows of each size."""
    return [one(penalty, m) for m in SIZES][-1]


def checks(penalty: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks of a penalty, each over the sizes of rows."""
    row = getattr(penalty, "row", penalty)  # blocks of features have one penalty for every block
    for name, one in CHECKS.items():
        yield name, functools.partial(over_sizes, one, row)
