"""First-order steps of the working-set solver for problems of few columns: a few SpaRSA steps in place of a sweep.

Where X has so few columns that a working set would hold them all, products with all of X cost less than a sweep that
walks its columns one by one, above all for dense X.
"""

from __future__ import annotations

from typing import Any

from ...pauses import pause
from ...problems.base import Certificate
from ...problems.prediction import Problem
from ...registry import solvers
from ..base import State
from ..sparsa import SpaRSA, SpaRSAState

STEPS = 5  # SpaRSA steps that take the place of a sweep


class GradientSteps:
    """SpaRSA steps on the point of another state, which may move it in between."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.solver: SpaRSA = solvers.create("sparsa")
        self.inner: SpaRSAState = self.solver.start(problem, state.coef)
        self.moved = False  # whether somebody else moved the point since the last step
        self._share(state)

    @property
    def objective(self) -> float:
        """F after the last step."""
        return self.inner.values[-1]

    def advance(self, problem: Problem, state: State) -> float:
        """A few steps; the weights and scores of ``state`` are the new point. Returns the data passes they took."""
        self._resume(problem)
        before = self.inner.passes
        for _ in range(STEPS):
            self.solver.step(problem, self.inner)
            pause()
        self._share(state)
        state.step_size, state.trials = self.inner.step_size, self.inner.trials
        return self.inner.passes - before

    def certificate(self, problem: Problem, work: Any) -> Certificate:
        """The certificate of the point; the gradient that it needs is left to the next step."""
        self._resume(problem)
        return self.solver.certificate(problem, self.inner, work)

    def _resume(self, problem: Problem) -> None:
        if self.moved:
            self.inner.resume(problem)
            self.moved = False

    def _share(self, state: State) -> None:
        # One pair of arrays: SpaRSA exchanges the new point and the old one, Newton steps change the point in place.
        state.coef, state.Z = self.inner.coef, self.inner.Z
