"""The moment at which `auto` goes on with `ssnal`: counted work on the dual, so that runs can be repeated."""

from __future__ import annotations

from typing import Any

from ...problems.prediction import Problem
from ...registry import solvers
from ..ssnal import is_small
from .interior_point import factoring
from .interior_point import suits as takes_interior_points

# Entries that dual-cd may read for each sample and pair of weights before ssnal takes over: about what that would cost
# as a whole, with LEAST_WORK for small problems (measured on the problems of benchmarks/bench_crammer_singer.py).
DUAL_WORK, LEAST_WORK = 0.5, 5e6
# The same for pd-sparse, whose steps cost something besides: a third of what ssnal needs, which hardly gains from the
# point it is given (measured on iris, wine, breast_cancer, digits and made label sets, 5 ns for each entry read).
SPARSE_STEP, SPARSE_WORK = 7e4, (1.5e6, 0.08)
# The same where interior points take over: for each multiplication of a factorisation, and for what they do besides.
# Ten to fifteen steps cost about that (measured on problems of 40 to 150 samples of benchmarks/bench_reach.py).
FACTOR_WORK, STEP_WORK = 1.5, 2e7


def overdue(problem: Problem, state: Any, done: int) -> bool:
    """Return whether dual-cd has done as much work as ssnal would need in all, or pd-sparse a third of that."""
    systems = problem.n * float(problem.d * problem.m) ** 2
    if isinstance(state.delegate, solvers["pd-sparse"]):
        spent = state.work + SPARSE_STEP * done
        return is_small(problem) and bool(spent > SPARSE_WORK[0] + SPARSE_WORK[1] * systems)
    if not isinstance(state.delegate, solvers["dual-cd"]):
        return False
    if is_small(problem):
        return bool(state.work > LEAST_WORK + DUAL_WORK * systems)
    return takes_interior_points(problem) and bool(state.work > STEP_WORK + FACTOR_WORK * factoring(problem))
