"""Choice of the weights from which the next solver starts: the last one's, unless far better ones are known.

Some solvers pass through weights of a very large F. Where one is left at such a point, the next one would need long to
come back: it starts from the best weights that the run has measured instead, or from zero.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..solvers.base import Solver, State
from ..solvers.shared.state import Start

FAR = 10.0  # factor of F by which the weights of the last solver are left for others
BETTER = 0.9  # factor of F by which weights are better than those remembered, so that few copies are made
MOST_ENTRIES = 1_000_000  # of weights that are remembered: 8 MB


class Met:
    """Copy of the best weights that a run has measured, of a solver whose objective may rise."""

    def __init__(self) -> None:
        self._problem: Any = None
        self._objective = float("nan")
        self.iteration = 0
        self.coef: np.ndarray | None = None

    def copy(self) -> Met:
        """Return a copy for forks; the weights are never changed and thus shared."""
        return copy.copy(self)

    def note(self, problem: Any, solver: Solver, objective: float, state: State) -> None:
        """Remember the weights of a state if its objective is smaller by far enough, or of another problem."""
        if problem is self._problem and not objective < BETTER * self._objective:
            return
        if not _applies(problem, solver) or state.sparse or (state.delegate or solver).monotone:
            return
        if state.coef.size <= MOST_ENTRIES:
            self._problem, self._objective = problem, objective
            self.iteration, self.coef = state.iteration, state.coef.copy()


def _applies(problem: Any, solver: Solver) -> bool:
    """Return whether a run has weights that F judges; with a budget it does not."""
    return bool(problem.samples) and not problem.stages and solver.follows_lam


def start_from(problem: Any, solver: Solver, left: State, met: Met) -> tuple[State, str]:
    """Choose the point from which another solver starts.

    Parameters
    ----------
    problem
        the problem that it will solve.
    solver
        the other solver.
    left
        state of the solver that is left.
    met
        the best weights that the run has measured.

    Returns
    -------
    tuple[State, str]
        the state, and a description of it; empty if these are the weights of ``left``.
    """
    if not _applies(problem, solver):
        return left, ""
    present = _value(problem, left)
    inner = problem.natural
    zero = float(problem.null_objective)
    known = None if met.coef is None else Start(inner, met.coef, left)
    best = zero if known is None else min(zero, _value(problem, known))
    if best != best or present <= FAR * best:
        return left, ""
    if known is not None and best < zero:
        return known, f"the best weights known, of iteration {met.iteration} (F = {best:.3g}), not {present:.3g}"
    coef = inner.coefficients(None, inner.null_intercept if inner.intercept else None)
    return Start(inner, coef, left), f"zero weights, whose F is {best:.3g}, not {present:.3g}"


def _value(problem: Any, state: State) -> float:
    """The objective of a problem at the weights of a state, which may be one of a sibling."""
    return float(problem.objective(state.weights(), state.intercept()))
