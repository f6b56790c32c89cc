"""Forecast of the gap that a certificate would show, by the violations that a sweep meets on its way."""

from __future__ import annotations

import numpy as np

from ...kernels.sweeps import Swept
from ...problems.prediction import Problem

# The violations that a sweep meets overstate what is left after it, at first by about LENIENCE (measured on pydocs),
# then by as much as at the last certificate, within LENIENCES; one that did not suffice makes that smaller, and the
# next λ larger, whose first sweep begins further away. A Newton step leaves about NEWTON_LEAVES of them.
LENIENCE, STRICTER, MORE_LENIENT, LENIENCES, NEWTON_LEAVES = 4.0, 0.6, 2.0, (1.0, 100.0), 0.3
FAR = 300.0  # factor above what suffices from which on a few gradient steps do not get there


def ridge(problem: Problem) -> float:
    """The smallest b of Σ a|w| + b½w² in Ω; 0 where Ω is not such a sum."""
    terms = problem.regulariser.entry_terms()
    return 0.0 if terms is None else float(np.min(terms[1]))


class Forecast:
    """The relative gap that the last sweep suggests, and by how much such guesses have been too large.

    A violation v costs the dual value about v·Ω(W): one bad row decides. With a ridge of b > 0 in Ω, violations v of
    single rows cost Σ v²/(2λb).

    guess : that of the last sweep; nan after other steps · lenience : factor by which it is too large
    """

    def __init__(self) -> None:
        self.guess, self.lenience = float("nan"), LENIENCE

    def begin(self, near: bool) -> None:
        """Forget the sweeps; what was learnt holds on for a problem ``near`` the last."""
        self.guess = float("nan")
        self.lenience = min(MORE_LENIENT * self.lenience, LENIENCES[1]) if near else LENIENCE

    def swept(self, problem: Problem, swept: Swept, objective: float, penalty: float) -> None:
        """Note a sweep, F after it and λΩ(W)."""
        worst = swept.seen_max if problem.row_penalty.is_norm else swept.residual
        self._note(problem, swept.squares, worst, objective, penalty)

    def met(self, problem: Problem, violations: np.ndarray, objective: float, penalty: float) -> None:
        """Note the violations of the rows of a working set at the present point, F there and λΩ(W)."""
        self._note(problem, float(violations @ violations), float(violations.max()), objective, penalty)

    def _note(self, problem: Problem, squares: float, worst: float, objective: float, penalty: float) -> None:
        least = ridge(problem)
        lost = 0.5 * squares / least if least > 0.0 else penalty * worst
        self.guess = lost / max(abs(objective) * problem.lam, np.finfo(np.float64).tiny)

    def ends(self, aim: float) -> bool:
        """Return whether a certificate is likely to show a relative gap of ``aim`` after the last sweep."""
        return self._ends(self.guess, aim)

    def is_far(self, aim: float) -> bool:
        """Return whether a few steps more will hardly lead to a relative gap of ``aim``."""
        return self.guess > FAR * self.lenience * aim

    def above(self, aim: float) -> float:
        """Logarithm of the last guess over what suffices for a relative gap of ``aim``; nan after other steps."""
        return float(np.log(max(self.guess, np.finfo(np.float64).tiny) / (self.lenience * aim)))

    def forget(self) -> None:
        """Forget the last guess: the point has moved by another step."""
        self.guess = float("nan")

    def ends_after_newton(self, taken: bool, aim: float) -> bool:
        """The same after a Newton step; ``taken`` : whether it found descent."""
        guess, self.guess = self.guess, float("nan")
        return self._ends(NEWTON_LEAVES * guess if taken else float("nan"), aim)

    def _ends(self, guess: float, aim: float) -> bool:
        ends = bool(guess <= self.lenience * aim)
        if ends:
            self.lenience *= STRICTER
        return ends

    def learn(self, gap: float, aim: float) -> None:
        """Note the relative gap of a certificate right after the sweep, if it does not reach ``aim``: one that does may
        be of the first dual point that suffices."""
        if self.guess == self.guess and gap > aim:
            self.lenience = float(np.clip(self.guess / gap, *LENIENCES))
