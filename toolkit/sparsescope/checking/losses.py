"""The promises of losses, tried on its functions of one row, interpreted.

A check raises a fault with its sentence, or returns the sentence of the promise that holds. The contract tests of the
losses run the same checks over the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .points import away_from_kinks, samples, scores_of_interest, slope
from .report import Fault, LeftOut, shown

Check = Callable[[Any, str, int], str]


def sizes(loss: Any) -> tuple[int, ...]:
    """Numbers of scores m that a loss is tried with."""
    return (1,) if loss.one_score else (2, 3, 6)


def grad(loss: Any, z: np.ndarray, y: Any, x: float = 1.0) -> np.ndarray:
    """∇ℓ(z, y), times x."""
    g = np.zeros(z.size)
    loss.gradient(z, y, x, g, np.empty(z.size))
    return g


def star(loss: Any, z: np.ndarray, u: np.ndarray, y: Any, scale: float = 1.0) -> float:
    """ℓ*(scale·u) for u = ∇ℓ(z, y), by the function that certificates use."""
    return float(loss.scaled_conjugate(z, u, y, scale, np.full((2, z.size), np.nan)))


def hessian(loss: Any, z: np.ndarray, y: Any, h: float = 1e-6) -> np.ndarray:
    """∇²ℓ(z, y) by central differences of the gradient."""
    H = np.array([slope(lambda v: grad(loss, v, y), z, k, h) for k in range(z.size)])
    return np.asarray(0.5 * (H + H.T))


def along(loss: Any, y: Any, k: int | None = None) -> Callable[[np.ndarray], Any]:
    """ℓ(·, y), or entry k of its gradient, as a function of the scores."""
    return (lambda v: loss.value(v, y)) if k is None else (lambda v: grad(loss, v, y)[k])


def at(z: np.ndarray, y: Any) -> str:
    """Name the place of a fault."""
    return f"at z = {shown(z)}, y = {y if np.ndim(y) == 0 else shown(y)}"


def value(loss: Any, kind: str, m: int) -> str:
    """ℓ is finite, and not below the bound −ℓ*(0)."""
    for z, y in samples(m, kind):
        found, bound = loss.value(z, y), -loss.conjugate(np.zeros(m), y)
        if not np.isfinite(found):
            raise Fault(f"your value is {found} {at(z, y)}; a finite number is needed")
        if found < bound - 1e-10 * (1 + abs(bound)):
            raise Fault(
                f"your value is {shown(bound - found)} below −conjugate(0) = {shown(bound)}, its least, {at(z, y)}"
            )
    return "is finite and never below its least, −conjugate(0)"


def _by_differences(loss: Any, kind: str, m: int, given: Any, name: str, of: str, tol: float) -> None:
    """Compare the entries that a loss gives with differences of its value or of its gradient."""
    compared = 0
    for z, y in samples(m, kind):
        entries = given(z, y)
        for k in range(m):
            found = away_from_kinks(along(loss, y, None if of == "value" else k), z, k, 1e-5, 0.1 * tol)
            if found is None:
                continue
            compared += 1
            if not abs(found - entries[k]) <= tol * max(1.0, abs(entries[k])):
                raise Fault(
                    f"{name.format(k)} is {shown(entries[k])}, and differences of the {of} give {shown(found)} "
                    f"{at(z, y)}"
                )
    if compared <= 30 * m:
        raise Fault(f"your {of} has kinks: only {compared} of {40 * m} differences settle")


def gradient(loss: Any, kind: str, m: int) -> str:
    """∇ℓ is the derivative of ℓ."""
    _by_differences(loss, kind, m, lambda z, y: grad(loss, z, y), "entry {} of your gradient", "value", 1e-6)
    return "is the derivative of the value"


def adding(loss: Any, kind: str, m: int) -> str:
    """The row functions add, with the factor x, and return ℓ."""
    rng = np.random.default_rng(1)
    for z, y in samples(m, kind, 10):
        x, first, unit = float(rng.normal()), rng.standard_normal((3, m)), grad(loss, z, y)
        g, h, g2, unit_h = first[0].copy(), first[1].copy(), first[2].copy(), np.zeros(m)
        work = np.full(m, np.nan)  # what is in the scratch row must not matter
        loss.derivatives(z, y, 1.0, np.zeros(m), unit_h, np.empty(m))
        value = loss.value(z, y)
        returned = {
            "gradient": loss.gradient(z, y, x, g2, work),
            "derivatives": loss.derivatives(z, y, x, g, h, work),
        }
        for name, found in returned.items():
            if found is None or not abs(found - value) <= 1e-12 * max(1.0, abs(value)):
                raise Fault(f"your {name} returns {found}, and the value is {shown(value)} {at(z, y)}")
        for name, got, wanted in (
            ("gradient", g2, first[2] + x * unit),
            ("derivatives (its first array)", g, first[0] + x * unit),
            ("derivatives (its second array)", h, first[1] + x * x * unit_h),
        ):
            if not np.allclose(got, wanted, rtol=1e-12, atol=1e-12):
                raise Fault(
                    f"{name} has to add to its array, times x (x² for second derivatives): it is {shown(got)} instead "
                    f"of {shown(wanted)} {at(z, y)}, x = {shown(x)}"
                )
    return "add to their arrays, times x, and return the value"


def second(loss: Any, kind: str, m: int) -> str:
    """The diagonal of ∇²ℓ is the derivative of ∇ℓ."""

    def diagonal(z: np.ndarray, y: Any) -> np.ndarray:
        h = np.zeros(m)
        loss.derivatives(z, y, 1.0, np.zeros(m), h, np.empty(m))
        return h

    _by_differences(loss, kind, m, diagonal, "second derivative {} of your derivatives", "gradient", 1e-5)
    return "are the derivatives of the gradient"


def convex(loss: Any, kind: str, m: int) -> str:
    """ℓ lies below its chords."""
    points = samples(m, kind)
    for (a, y), (b, _) in zip(points, reversed(points), strict=True):
        chord = 0.5 * (loss.value(a, y) + loss.value(b, y))
        above = loss.value(0.5 * (a + b), y) - chord
        if not above <= 1e-10 * (1 + abs(chord)):
            raise Fault(f"your value is {shown(above)} above its chord in the middle of {shown(a)} and {shown(b)}")
    return "the value lies below its chords"


def fenchel_young(loss: Any, kind: str, m: int) -> str:
    """ℓ(z) + ℓ*(u) = ⟨z, u⟩ at u = ∇ℓ(z)."""
    for z, y in samples(m, kind):
        u = grad(loss, z, y)
        exact = float(z @ u) - loss.value(z, y)
        found = star(loss, z, u, y)
        if np.isinf(found):
            raise Fault(f"your conjugate is infinite at the gradient {shown(u)}, a point of its domain, {at(z, y)}")
        if not abs(found - exact) <= 1e-10 * max(1.0, abs(float(z @ u))):
            side = "below" if found < exact else "above"
            raise Fault(
                f"your conjugate is {shown(abs(found - exact))} {side} the value {shown(exact)} that Fenchel–Young "
                f"demands at the gradient {shown(u)}, {at(z, y)}"
            )
    return "ℓ(z) + ℓ*(u) = ⟨z, u⟩ at gradients u"


def conjugate_bounds(loss: Any, kind: str, m: int) -> str:
    """ℓ(z) + ℓ*(s·u) ≥ s⟨z, u⟩ for gradients u of other scores, and any bound that replaces ℓ* is not below it."""
    points = samples(m, kind, 25)
    for (z, y), (other, _) in zip(points, reversed(points), strict=True):
        u = grad(loss, other, y)
        for scale in (0.0, 0.25, 0.9, 1.0):
            exact, bound = star(loss, other, u, y, scale), loss.conjugate(scale * u, y)
            if not np.isfinite(bound):
                raise Fault(
                    f"your conjugate is {bound} at {shown(scale)} times the gradient {shown(u)}, a point of its domain"
                )
            least = scale * float(z @ u) - loss.value(z, y)
            for name, found in (("conjugate", bound), ("scaled_conjugate", exact)):
                if not (np.isfinite(found) and found >= least - 1e-10 * (1 + abs(found))):
                    raise Fault(
                        f"your {name} is {shown(found)}, {shown(least - found)} below ⟨z, u⟩ − ℓ(z) for "
                        f"u = {shown(scale * u)}, {at(z, y)}: gaps would be too small"
                    )
            quick = loss.gradient_conjugate(other, u, y, scale, np.full((2, other.size), np.nan))
            if not abs(quick - exact) <= 1e-10 * (1 + abs(exact)):
                raise Fault(
                    f"your gradient_conjugate is {shown(quick)}, and scaled_conjugate {shown(exact)}, at "
                    f"{shown(scale)} times the gradient {shown(u)}, {at(other, y)}"
                )
            if not bound >= exact - 1e-10 * (1 + abs(exact)):
                raise Fault(
                    f"your conjugate is {shown(exact - bound)} below scaled_conjugate for u = {shown(scale * u)}, "
                    f"{at(z, y)}"
                )
    return "never below ⟨z, u⟩ − ℓ(z)"


def curvature(loss: Any, kind: str, m: int) -> str:
    """``curvature(m)`` bounds the eigenvalues of ∇²ℓ."""
    if not loss.smooth:
        raise LeftOut("does not apply: the loss is not smooth")
    bound, printed = loss.curvature(m), loss.paper_curvature(m)
    for z, y in scores_of_interest(m, kind):
        top = float(np.linalg.eigvalsh(hessian(loss, z, y))[-1])
        if not top <= bound * (1 + 1e-5):
            raise Fault(
                f"your curvature({m}) is {shown(bound)}, and the largest eigenvalue of the Hessian is {shown(top)} "
                f"{at(z, y)}: steps would be too long"
            )
    if printed < bound:
        raise Fault(f"your paper_curvature({m}) is {shown(printed)}, below curvature({m}) = {shown(bound)}")
    return "bounds the largest eigenvalue of the Hessian"


def prox_conjugate(loss: Any, kind: str, m: int) -> str:
    """p = prox_{σℓ*}(v) has (v − p)/σ as a subgradient of ℓ* at p: Fenchel–Young holds with equality."""
    if not hasattr(loss, "prox_conjugate"):
        if loss.smooth:
            raise LeftOut("does not apply: smooth losses need none")
        raise Fault("your loss is not smooth and defines no prox_conjugate(v, y, sigma): no solver can take it")
    rng = np.random.default_rng(7)
    for v, y in samples(m, kind, 25):
        sigma = float(rng.choice([0.1, 1.0, 5.0]))
        p = v.copy()
        loss.prox_conjugate(p, y, sigma)
        z = (v - p) / sigma
        exact, found = float(z @ p) - loss.value(z, y), star(loss, z, p, y)
        if not np.isfinite(found) or abs(found - exact) > 1e-8 * (1 + abs(exact) + abs(float(z @ p))):
            raise Fault(
                f"your prox_conjugate gives {shown(p)} at v = {shown(v)}, y = {y}, σ = {shown(sigma)}, and that is not "
                f"the minimiser: ℓ(z) + ℓ*(p) differs from ⟨z, p⟩ by {shown(abs(found - exact))} at z = (v − p)/σ"
            )
    return "is the minimiser of ½‖p − v‖² + σℓ*(p)"


CHECKS: dict[str, Check] = {
    "value": value,
    "convexity": convex,
    "gradient": gradient,
    "row functions": adding,
    "second derivatives": second,
    "conjugate at gradients": fenchel_young,
    "conjugate as a bound": conjugate_bounds,
    "curvature": curvature,
    "prox of the conjugate": prox_conjugate,
}


def checks(loss: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks of a loss, each over the kinds of targets and sizes."""
    for name, one in CHECKS.items():

        def run(one: Check = one) -> str:
            said = ""
            for kind in loss.target_types:
                for m in sizes(loss):
                    said = one(loss, kind, m)
            return said

        yield name, run
