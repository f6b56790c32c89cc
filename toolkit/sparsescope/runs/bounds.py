"""Memory between certificates: the best dual value, a point that was left, and the schedule of the next certificate."""

from __future__ import annotations

import copy
import math
from collections import deque
from dataclasses import replace
from statistics import median
from typing import Any

from ..problems.base import Certificate
from ..solvers.base import Solver, State

# Adaptive certificates: evaluated as soon as their median cost is below this share of the time since the last one, so
# that they take a fifth of the whole at most. Cheaper ones than these CPU seconds also come on a grid of iterations.
OBSERVER_SHARE, CHEAP = 0.25, 1.0
ROUNDING = 1e-12  # relative difference of objectives up to which two points count as equally good
BELOW = 1e-4  # relative distance by which an objective may lie below a proved bound: more is no rounding of float32
REMEMBERED = 9  # costs of which the median is taken: one slow certificate does not decide about the next


class Bounds:
    """The best dual value seen for the problem in force.

    Every dual value is a lower bound of the same optimum, so the largest one is the one to compare with. It is
    forgotten as soon as the solver's target changes: with λ, the loss, the penalty or a budget.
    """

    def __init__(self) -> None:
        self._target: Any = None
        self._of: tuple[Any, Any] = (None, None)  # problem and solver whose target it is: neither ever changes
        self._dual = math.nan

    def copy(self) -> Bounds:
        """Return an independent copy (for forks)."""
        other = Bounds()
        other._target, other._of, other._dual = self._target, self._of, self._dual
        return other

    def improve(self, found: Certificate, problem: Any, solver: Solver) -> Certificate:
        """Return the certificate with the best dual value seen, and with the gap to that value.

        Raises ``FloatingPointError`` for an objective below that value: huge scores make the loss rounding.
        """
        if problem is not self._of[0] or solver is not self._of[1]:
            target, self._of = solver.target(problem), (problem, solver)
            if target != self._target:
                self._target, self._dual = target, math.nan
        if not self._dual > found.dual and found.dual == found.dual:
            self._dual = found.dual
            return found
        if math.isnan(self._dual):
            return found
        gap = found.objective - self._dual
        if solver.follows_lam and -gap > BELOW * max(abs(found.objective), abs(self._dual)):
            raise FloatingPointError(
                f"the objective {found.objective:g} lies below {self._dual:g}, a proved bound of the optimum, because "
                "weights or intercept are so large that rounding hides the loss"
            )
        if found.dual == found.dual and found.gap != found.objective - found.dual:
            gap = found.gap - (self._dual - found.dual)  # with a budget it is that of a feasible point
        return replace(found, dual=self._dual, gap=gap, relative_gap=gap / problem.scale(found.objective))


class Kept:
    """The point that a switch of solver left for a worse one.

    A solver that begins at a dual point does not take weights over. What was reached before the switch is then kept as
    long as the objective stays the same, and handed back unless the run finds a smaller value.
    """

    def __init__(self) -> None:
        self.target: Any = None
        self.objective = math.nan
        self.state: State | None = None

    def copy(self) -> Kept:
        """Return a copy for forks; the state is never changed and thus shared."""
        return copy.copy(self)

    def keep(self, target: Any, objective: float, state: State) -> None:
        """Keep a point, unless one with a smaller value of the same objective is kept already."""
        if self.state is None or target != self.target or objective < self.objective:
            self.target, self.objective, self.state = target, objective, state

    def forget_others(self, target: Any) -> None:
        """Forget a point of another objective."""
        if target != self.target:
            self.target, self.objective, self.state = target, math.nan, None

    def better(self, objective: float) -> State | None:
        """Return the kept state if its value is smaller than this one by more than rounding, else ``None``."""
        return self.state if exceeds(objective, self.objective) else None


def exceeds(value: float, other: float) -> bool:
    """Return whether a value of the objective is larger than another by more than rounding; never for NaN."""
    return value - other > ROUNDING * abs(other)


class Schedule:
    """Default schedule of certificates.

    They are evaluated as often as their median cost, in CPU seconds of the thread, allows; where they are cheap, on a
    logarithmic grid of iterations too (1, 2, 3, 5, 8, 13, … after the start and after each change).
    """

    def __init__(self) -> None:
        self._costs: deque[float] = deque(maxlen=REMEMBERED)
        self._last = -math.inf  # clock at the end of the last certificate
        self.restart(0)

    def restart(self, iteration: int) -> None:
        """Begin the grid anew after this iteration."""
        self._origin, self._step, self._next = iteration, 1, 2

    def due(self, iteration: int, now: float) -> bool:
        """Return whether a certificate is due at this iteration.

        ``now`` : wall time, of which a run whose speed is capped has some to spare for its observers.
        """
        on_grid = iteration - self._origin >= self._step
        if not self._costs:
            return on_grid
        cost = median(self._costs)
        return (on_grid and cost <= CHEAP) or cost <= OBSERVER_SHARE * (now - self._last)

    def took(self, iteration: int, cost: float, now: float) -> None:
        """Note a certificate of this iteration, its CPU seconds and the time when it was done."""
        self._costs.append(cost)
        self._last = now
        while self._step <= iteration - self._origin:
            self._step, self._next = self._next, self._step + self._next
