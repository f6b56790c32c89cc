"""A leap to the fixed point of the piece that a map is on.

Near its end a splitting method changes its habits no more: the same weights are zero, the same entries of the dual rows
are. There its step v ↦ T(v) is affine (or nearly so, where a penalty is curved), and the solution is one linear system
away:

    (I − T')p = T(v) − v,   v + p is a fixed point

T' is never formed. GMRES (Saad and Schultz 1986) needs only products with it, and (T(v + εq) − T(v))/ε is one,
exactly so where T is affine. In an inner product in which T is nonexpansive, kernel and range of I − T' are orthogonal,
so GMRES ends at a solution even where there are many. Whether the leap was one is for the caller to see: away from the
end, v + p is on another piece, and may be anywhere.

:func:`leap` does that for a splitting method (splitting.py), whose step is nonexpansive in the metric of its
residual. Its vectors are (V, VZ, Q), where VZ is there to spare products with X.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...problems.prediction import Problem

PLAIN = (1.0, 0.0, 0.0)  # the next point is the image
SHARE, FIRST_LEAP = 0.1, 100  # products of leaps to steps so far, and steps before the first leap
PATIENCE = 0.5  # after a leap that led nowhere, steps before the next one, as a share of all steps so far
LONGEST, NUMBERS = 300, 400_000  # products of one leap, and numbers kept for it: their sums must not outweigh the steps
BETTER = 0.01  # share of the residual at which a leap is taken: less may be had far from any solution
LOOK = 10  # products between two evaluations of the residual of the system
SOLVED = 1e-6  # share of its right-hand side at which the system counts as solved
CLOSED = 1e-10  # length of what a product adds to the others at which there is nothing left to add
FINE, ROUNDING = 1e-2, 1e-9  # ε in units of ‖T(v) − v‖, and of ‖v‖ at least
BLURRED = 1e-8  # singular values of the system below this share of the largest may be rounding of the differences
FARTHEST = 1.0  # length of p in units of v's

Vector = np.ndarray


def leap(solver: Any, problem: Problem, state: Any) -> None:
    """Try the fixed point of the piece that the state of a splitting method is on, and settle there if it is one;
    otherwise everything stays as it was but the counters. ``state.next_leap`` ← the step after which to try again."""
    points = [point for _, point, _ in state.triples()[:3]]
    here = np.concatenate([point.ravel() for point in points])
    most = int(min(LONGEST, SHARE * state.iteration, NUMBERS / here.size - 1.0))
    if most < 1:
        state.next_leap = 2 * state.iteration
        return
    named = {name: getattr(state, name) for name in state.of_samples}
    kept = [
        (array, array.copy())
        for array in (state.coef, state.Z, *points, *named.values())
        if isinstance(array, np.ndarray)
    ]
    residual = 0.0

    def image(v: Vector) -> Vector:
        nonlocal residual
        for point, part in zip(points, pieces(state, v), strict=True):
            point[:] = part
        residual = solver.iterate(problem, state, PLAIN)
        return np.concatenate([point.ravel() for point in points])

    there, before, calls = fixed_point(image, here, functools.partial(lower, state), most)
    state.next_leap = state.iteration + int(calls / SHARE)
    image(there)
    if residual <= BETTER * before:
        state.settle()
        return
    state.next_leap = max(state.next_leap, state.iteration + int(PATIENCE * state.iteration))
    for array, values in kept:
        array[:] = values
    for name, value in named.items():
        setattr(state, name, value)


def pieces(state: Any, v: Vector) -> list[np.ndarray]:
    """The parts (V, VZ, Q) of a flat vector, as views."""
    shapes = [point.shape for _, point, _ in state.triples()[:3]]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(v, ends[:-1]), shapes, strict=True)]


def lower(state: Any, v: Vector) -> Vector:
    """Mv of the inner product ⟨V, V'⟩/τ + ⟨Q, Q'⟩/σ − ⟨Q, VZ'⟩ − ⟨Q', VZ⟩."""
    found = np.empty_like(v)
    (V, VZ, Q), (onV, onVZ, onQ) = pieces(state, v), pieces(state, found)
    onV[:] = framed(state, V) * (state.weight * state.norm)
    np.negative(Q, out=onVZ)
    np.multiply(Q, state.norm / state.weight, out=onQ)
    onQ -= VZ
    return found


def framed(state: Any, V: np.ndarray) -> np.ndarray:
    """G with ⟨V', G⟩ = the inner product of V' and V in the frame in which an intercept moves."""
    if state.means is None:
        return V
    G = V.copy()
    G[-1] = (V[-1] + state.means @ V[:-1]) / state.scale**2
    G[:-1] += np.outer(state.means, G[-1])
    return G


def fixed_point(
    image: Callable[[Vector], Vector], here: Vector, lower: Callable[[Vector], Vector], most: int
) -> tuple[Vector, float, int]:
    """(v + p, ‖T(v) − v‖, calls of T) with v = ``here`` and T = ``image``, in at most ``most`` + 1 calls.

    A step that is longer than v itself is none: v + p is v then. Numbers of another size would hide what they do.

    lower : w ↦ Mw of the inner product ⟨v, w⟩ = vᵀMw. All vectors are flat, float64.
    """
    base = image(here)
    rest = base - here
    length = _norm(rest, lower)
    if not length > 0.0:
        return here, 0.0, 1
    small = max(FINE * length, ROUNDING * _norm(here, lower))
    basis, H = np.empty((most + 1, here.size)), np.zeros((most + 1, most))
    basis[0] = rest / length
    for k in range(most):
        w = basis[k] - (image(here + small * basis[k]) - base) / small
        for _ in range(2):  # once more, for what rounding left
            shares = basis[: k + 1] @ lower(w)
            w -= shares @ basis[: k + 1]
            H[: k + 1, k] += shares
        H[k + 1, k] = _norm(w, lower)
        closed = H[k + 1, k] <= CLOSED
        if closed or k + 1 == most or (k + 1) % LOOK == 0:
            weights, left = _least(H[: k + 2, : k + 1], length)
            if closed or left <= SOLVED * length:
                break
        basis[k + 1] = w / H[k + 1, k]
    step = weights @ basis[: weights.size]
    if not _norm(step, lower) <= FARTHEST * _norm(here, lower):
        step[:] = 0.0
    return here + step, length, weights.size + 1


def _norm(w: Vector, lower: Callable[[Vector], Vector]) -> float:
    return float(np.sqrt(max(float(w @ lower(w)), 0.0)))


def _least(H: np.ndarray, length: float) -> tuple[Vector, float]:
    """The y of the smallest ‖Hy − length·e₁‖, and that."""
    target = np.zeros(H.shape[0])
    target[0] = length
    y = np.linalg.lstsq(H, target, rcond=BLURRED)[0]
    return y, float(np.linalg.norm(H @ y - target))
