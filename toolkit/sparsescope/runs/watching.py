"""Compilation before the clock starts: which kernels a run needs, and whether this process has them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..problems.base import BaseProblem
from ..solvers.base import Solver

_warm: set[Any] = set()


def is_warm(problem: BaseProblem, solver: Solver) -> bool:
    """Return whether this process has compiled (or loaded) the kernels of this combination.

    Parameters
    ----------
    problem
        the problem.
    solver
        the solver.

    Returns
    -------
    bool
        True if a run on this problem compiles nothing.
    """
    return _warm_key(problem, solver) in _warm


def _warm_key(problem: Any, solver: Solver) -> Any:
    return (
        *problem.kernel_types,
        type(solver),
        solver.variant(problem),
        tuple(getattr(solver, f.name) for f in solver.fields if f.kind in ("choice", "bool")),
    )


def warm_up(problem: Any, solver: Solver) -> None:
    """Run one iteration on a tiny problem of the same types, so that compilation is not charged to the solver.

    Parameters
    ----------
    problem
        a problem of the types that will be solved.
    solver
        the solver.
    """
    key = _warm_key(problem, solver)
    if key in _warm:
        return
    tiny = problem.tiny_sibling()
    state = solver.precompile(tiny, problem)
    state.point(tiny)
    with suppress(FloatingPointError):  # a solver that diverges is compiled all the same; its run says so
        solver.certificate(tiny, state, tiny.workspace(state.sparse))
    tiny.measuring().measures(tiny, state)
    _warm.add(key)
