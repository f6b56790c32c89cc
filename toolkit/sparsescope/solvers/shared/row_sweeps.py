"""Sweeps over violated rows before Newton steps on single entries, from zero weights on.

Far from the optimum the exact model of a loss of many scores is good only nearby, and its Hessians cost as much there
as at the end: its first steps are cut short one after the other, where sweeps with a line search for each row come near
in a few passes over the rows in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problems.prediction import Problem
from ...registry import solvers
from ..base import State
from .gradient_steps import takes_all

# Scores from which on sweeps open on sparse X (measured with 3 to 20 classes of pydocs and made documents: with twelve
# and twenty they gain up to 2.5 times, with three they lose up to a third), the fall of F, as a share of it, at which
# they end, and how many there are at most.
MANY_SCORES, FALL, MOST = 6, 0.05, 10


def opens(problem: Problem) -> bool:
    """Decide whether sweeps come before Newton steps on single entries."""
    if problem.m < MANY_SCORES or not problem.design.is_sparse or takes_all(problem):
        return False
    return solvers.create("working-set").solves(problem) is None


class RowSweeps:
    """Steps of ``working-set``, without Newton steps, on the point of another state; they move its arrays."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.solver: Any = solvers.create("working-set", newton=False)
        self.inner: Any = self.solver.start(problem, state.coef)
        self.value, self.done = float("inf"), False  # F after the last one
        self.inner.whole = False
        state.coef, state.Z = self.inner.coef, self.inner.Z

    def advance(self, problem: Problem, state: State) -> float:
        """One of them. Returns the data passes that it took."""
        inner, before, passes = self.inner, self.value, self.inner.passes
        inner.aim = state.aim
        self.solver.step(problem, inner)
        self.value = inner.objective
        state.coef, state.Z = inner.coef, inner.Z
        state.step_size, state.trials = inner.step_size, inner.trials
        self.done = before - self.value < FALL * abs(self.value) or inner.iteration >= MOST
        return float(inner.passes - passes)

    @property
    def entries(self) -> np.ndarray:
        """Places in the flat W of the rows that the last one visited."""
        m, working = self.inner.coef.shape[1], self.inner.working
        rows = np.arange(self.inner.d) if working is None else np.flatnonzero(working)
        return np.asarray((rows[:, None] * m + np.arange(m)).ravel())

    @property
    def ready(self) -> bool:
        """True if a certificate is likely to end the run."""
        return bool(self.inner.ready)
