"""Gradient steps in front of Newton steps on single entries, and what they tell of those that could go on.

With few features they are one iteration. With one score and many dense columns that do not go together they go on while
they are likely to reach the gap at which the run will stop. With many columns of dense X, where most weights are
violated, they probe: a few steps, more if many weights are in use then, and a second iteration if even more are. Those
are about the weights of the solution, and whether gradient steps go on well shows in how F fell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problems.certificate import Known
from ...problems.prediction import Problem
from .forecast import Forecast
from .gradient_steps import AT_ONCE, FEW, MANY_USED, GradientSteps, is_tangled, products_win
from .pacing import pace

# With many columns of dense X gradient steps open where this share of the weights is violated: PROBE of them, more if
# STILL_USED of the weights are in use then, and a second iteration of them if MANY_USED are.
VIOLATED, PROBE, STILL_USED = 0.5, 3, 0.3
# They go on well where the second iteration lowers F by less than the first of these shares of it, and by less than the
# second of what the first iteration did. Of 117 made problems (3000 samples, 200 to 400 features, 2 or 5 classes, .02
# and .005 λ_max) 67 pass: gradient steps take .23 to 1.31 of the time, .61 in the median. With the others, in most of
# which features share factors, it is .35 to 5.5 times, 1.6 in the median.
SETTLING, SETTLING_AFTER = 0.1, 0.08


# With one score, and many dense columns that do not go together, an opening goes on while it is likely to reach the gap
# in demand within so many iterations, by the pace of the last PACED of them (where that makes a difference, .82 of the
# seconds on 13 problems of two data sets and .88 on 5 drawn ones; with up to FEW columns 1.02 on 9).
WITHIN, PACED = 2.0, 2


def goes_far(problem: Problem) -> bool:
    """Return whether gradient steps may lead to the gap in demand: one score, and many dense columns that do not go
    together."""
    return problem.m == 1 and problem.d > FEW and products_win(problem) and not is_tangled(problem)


class OpeningSteps(GradientSteps):
    """Gradient steps as iterations of an opening: :class:`GradientSteps`, with the same parameters.

    done : whether the opening ends · settles : whether gradient steps would go on well, as far as it knows
    """

    done, settles = False, True

    def __init__(self, problem: Problem, state: Any, known: Known | None) -> None:
        super().__init__(problem, state, known)
        self._gained: float | None = None  # by how much the first iteration lowered F
        self.forecast = Forecast() if state.aim and goes_far(problem) else None
        self.late = 0  # iterations after which the gap in demand was to be expected
        self.left: list[float] = []  # logarithms of what the gap is likely to be over the one in demand
        self._meet(problem, state)

    def open(self, problem: Problem, state: Any) -> float:
        """One iteration; returns passes over X."""
        before, again, wide = self.lowest, self._gained is not None, problem.d > FEW
        first = PROBE if wide and not again and self.forecast is None else AT_ONCE
        passes = self.advance(problem, state, first)
        if first < AT_ONCE and _used(problem, state) >= STILL_USED:
            passes += self.advance(problem, state, AT_ONCE - first)
        gain = before - self.lowest
        if self._gained is not None:
            self.settles = gain < min(SETTLING * abs(self.lowest), SETTLING_AFTER * self._gained)
        self._gained = gain
        self.done = again or not wide or _used(problem, state) < MANY_USED
        self._meet(problem, state)
        self.done = self.done and not self._ends_soon()
        return passes

    def _meet(self, problem: Problem, state: Any) -> None:
        """Note how far the gap is likely to be from the one in demand; the gradient is that of the next step."""
        if self.forecast is not None:
            omega = problem.regulariser.value(state.coef[: problem.d])[0]
            self.forecast.met(problem, self.violations(problem), self.objective, problem.lam * omega)
            self.left = [*self.left, self.forecast.above(state.aim)][-PACED - 1 :]

    def _ends_soon(self) -> bool:
        """Return whether further iterations are likely to reach the gap in demand before Newton steps would."""
        if self.forecast is None or len(self.left) < 2:
            return False
        fall = pace(self.left)
        if self.left[-1] <= 0.0:  # a certificate is due; where it does not end the run, once more at most
            self.late += 1
        return bool(fall > 0.0 and self.late <= 1 and self.left[-1] <= WITHIN * fall)


def _used(problem: Problem, state: Any) -> float:
    """Share of the weights that are in use."""
    return float(np.count_nonzero(state.coef[: problem.d]) / (problem.d * problem.m))
