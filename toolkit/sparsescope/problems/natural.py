"""Natural units: the problem that solvers are given where the numbers of X are very large or very small.

    X̃ = cX, c a power of two;  W = cW̃;  λΩ(W) = λ f Ω̃(W̃)

so F, the dual value and the gap are the same numbers, and nothing is rounded: for a norm Ω̃ = Ω and f = c, for the
ridge f = c² (:meth:`sparsescope.penalties.base.Penalty.rescaled`). Squares of what solvers meet then stay far from the
ends of the range of floating-point numbers, and what is compared with a fixed small number has a size that is known.
Data between :data:`SMALLEST` and :data:`LARGEST` are left as they are: a scaled matrix is a copy.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .base import Certificate

SMALLEST, LARGEST = 2.0**-6, 2.0**20  # the largest |x_ij| between these is left as it is
MOST = 505  # exponent of c: the square of c has to be a number, too


def unit_of(magnitude: float) -> float:
    """c for data whose largest entry has this absolute value."""
    if magnitude == 0.0 or SMALLEST <= magnitude <= LARGEST:
        return 1.0
    return math.ldexp(1.0, min(max(1 - math.frexp(magnitude)[1], -MOST), MOST))


def rescaled(problem: Any) -> Any:
    """The problem in natural units; None where the given ones are."""
    unit = unit_of(problem.design.magnitude)
    if unit == 1.0:
        return None
    penalty, factor = problem.penalty.rescaled(unit)
    limits = np.finfo(np.float64)
    lam = min(max(problem.lam * factor, float(limits.tiny)), float(limits.max) * 1e-8)
    return problem.in_units(unit, factor, penalty, lam)


def as_given(problem: Any, found: Certificate, budget: bool) -> Certificate:
    """A certificate of a problem in natural units, for the problem as it was given. ``budget``: the objective is Ω."""
    unit, factor = problem.units
    if unit == 1.0:
        return found
    slope = factor / unit if budget else 1.0 / unit
    changed: dict[str, Any] = {"penalty": found.penalty * factor, "equivalent_lam": found.equivalent_lam / factor}
    for name in ("violation", "violation_sum", "paper_violation", "paper_violation_sum"):
        changed[name] = getattr(found, name) * slope
    if budget:
        changed |= {name: getattr(found, name) * factor for name in ("objective", "dual", "gap")}
    return dataclasses.replace(found, **changed)
