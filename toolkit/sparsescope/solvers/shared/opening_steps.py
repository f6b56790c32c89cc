"""Gradient steps in front of Newton steps on single entries, and what they tell of those that could go on.

With few features they are one iteration. With many columns of dense X, where most weights are violated, they probe:
a few steps, more if many weights are in use then, and a second iteration if even more are. Those are about the weights
of the solution, and whether gradient steps go on well shows in how F fell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problems.certificate import Known
from ...problems.prediction import Problem
from .gradient_steps import AT_ONCE, FEW, MANY_USED, GradientSteps

# With many columns of dense X gradient steps open where this share of the weights is violated: PROBE of them, more if
# STILL_USED of the weights are in use then, and a second iteration of them if MANY_USED are.
VIOLATED, PROBE, STILL_USED = 0.5, 3, 0.3
# They go on well where the second iteration lowers F by less than the first of these shares of it, and by less than the
# second of what the first iteration did. Of 117 made problems (3000 samples, 200 to 400 features, 2 or 5 classes, .02
# and .005 λ_max) 67 pass: gradient steps take .23 to 1.31 of the time, .61 in the median. With the others, in most of
# which features share factors, it is .35 to 5.5 times, 1.6 in the median.
SETTLING, SETTLING_AFTER = 0.1, 0.08


class OpeningSteps(GradientSteps):
    """Gradient steps as iterations of an opening: :class:`GradientSteps`, with the same parameters.

    done : whether the opening ends · settles : whether gradient steps would go on well, as far as it knows
    """

    done, settles = False, True

    def __init__(self, problem: Problem, state: Any, known: Known | None) -> None:
        super().__init__(problem, state, known)
        self._gained: float | None = None  # by how much the first iteration lowered F

    def open(self, problem: Problem, state: Any) -> float:
        """One iteration; returns passes over X."""
        before, again, wide = self.lowest, self._gained is not None, problem.d > FEW
        first = PROBE if wide and not again else AT_ONCE
        passes = self.advance(problem, state, first)
        if first < AT_ONCE and _used(problem, state) >= STILL_USED:
            passes += self.advance(problem, state, AT_ONCE - first)
        gain = before - self.lowest
        if self._gained is not None:
            self.settles = gain < min(SETTLING * abs(self.lowest), SETTLING_AFTER * self._gained)
        self._gained = gain
        self.done = again or not wide or _used(problem, state) < MANY_USED
        return passes


def _used(problem: Problem, state: Any) -> float:
    """Share of the weights that are in use."""
    return float(np.count_nonzero(state.coef[: problem.d]) / (problem.d * problem.m))
