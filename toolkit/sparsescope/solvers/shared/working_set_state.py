"""State of the working-set solver: its choice of rows, the gradient that it shares with certificates, its account."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.rows import row_violations
from ...kernels.sweeps import keep, make_kept
from ...pauses import pause
from ...problems.prediction import Problem
from ...problems.screened_gradient import ScreenedGradient, used_rows
from ...threads import even_rounds, in_rounds
from ..base import State
from . import gradient_steps
from .forecast import Forecast
from .gradient_steps import GradientSteps
from .newton import Newton
from .pacing import NewtonPacing
from .polish import Polish

STILL = 1e-10  # share of F by which it stands still
RANKED, ROW_COST = 100_000, 10.0  # weights whose rows are ranked between two pauses; cost of one in products of numbers
NEAR = 2.0  # factor of λ within which a problem is so much like the one before that Newton steps go on as they were


class Looked(NamedTuple):
    """Rows of XᵀU/n with the flags (d,) of those in use; ``rows`` None: all of them, otherwise those in use and those
    that may be above ``lam``."""

    G: np.ndarray
    used: np.ndarray
    rows: np.ndarray | None
    lam: float

    def serves(self, lam: float, whole: bool) -> bool:
        """Decide whether this is what is needed at λ."""
        return self.rows is None or (not whole and self.lam <= lam)


class WorkingSetState(State):
    """State: the working set and the violation that made it; and the account of sweeps against Newton steps."""

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.kept = make_kept(problem.n, problem.m, problem.dtype)
        self.fresh = False  # whether what is kept belongs to the scores
        self.measured: Any = None  # the loss that it belongs to
        self.violation, self.paper = np.empty(problem.d), np.empty(problem.d)
        self.G: np.ndarray | None = None  # (d, m), for all rows of XᵀU/n
        self.looked: Looked | None = None  # at what is kept
        self.screen = ScreenedGradient()
        self.newton: Newton | None = None
        self.unrefreshed = 0  # steps since the scores were computed from the weights
        self.pacing, self.forecast, self.polish = NewtonPacing(), Forecast(), Polish()
        self.of: tuple[Any, Any, float] = (None, None, 0.0)  # loss, penalty and λ of the account
        self.gradient: GradientSteps | None = None  # in place of sweeps
        self.alpha: float | None = None  # to begin them with
        self.forget(problem)

    def forget(self, problem: Problem) -> None:
        """Start the choice of rows afresh, and the account unless only λ changed, and by little; another loss has
        other gradients of the samples."""
        if self.measured is not problem.loss:
            self.fresh, self.looked = False, None
        loss, penalty, lam = self.of
        same = loss is problem.loss and penalty is problem.penalty
        if not same and self.looked is not None and self.looked.rows is not None:
            self.looked = None  # rows that matter to one penalty are not those that matter to another
        self.whole = gradient_steps.takes_all(problem) or gradient_steps.is_crowded(problem, self.coef)
        self.whole = self.whole or (gradient_steps.opens(problem) and not self.coef[: self.d].any())
        near = same and lam <= NEAR * problem.lam and problem.lam <= NEAR * lam
        self.of = (problem.loss, problem.penalty, problem.lam)
        self.chosen: np.ndarray | None = None
        self.working = None
        self.target = 0.0
        self.objective = float("nan")
        self.failures, self.stood = 0, np.inf  # Newton steps without descent while F stood there
        self.ready = None
        self.forecast.begin(near)
        self.polish.begin()
        if self.newton is not None:
            self.newton.begin(near)
        steps = self.gradient
        if steps is not None and steps.part is None and self.whole and loss is problem.loss:
            steps.adapt(problem)
        else:
            self.gradient = None
        if near:
            self.pacing.begin()
        else:
            # Without rows to find, all that the first steps do is to come near enough for a Newton step.
            first = NewtonPacing() if problem.penalty.zeroes_rows or not self.whole else NewtonPacing(1)
            self.pacing = first

    def look_at_rows(self, problem: Problem) -> None:
        """Go on with gradient steps on all rows while most of them are in use, else with sweeps."""
        least = gradient_steps.SPARSE if self.whole and self.iteration else gradient_steps.CROWDED
        if gradient_steps.may_crowd(problem) and self.whole != gradient_steps.is_crowded(problem, self.coef, least):
            self.whole = not self.whole
            self.chosen = self.gradient = self.working = None
            self.moved()

    def failed(self, objective: float) -> None:
        """Count a Newton step without descent; from one on, if F has fallen since the last."""
        fell = self.stood - objective > STILL * abs(objective)
        self.failures, self.stood = (1, objective) if fell else (self.failures + 1, self.stood)

    def moved(self) -> None:
        """The scores are others: what is kept about the samples is not true any more."""
        self.fresh, self.looked = False, None
        if self.gradient is not None:
            self.gradient.moved = True

    def take_samples(self, problem: Problem) -> None:
        """Gradients and losses of the samples at the present scores."""
        if not self.fresh:
            keep(self.Z, *problem.terms, self.kept)
            self.fresh, self.measured = True, problem.loss

    def take_gradient(self, problem: Problem, whole: bool = False) -> Looked:
        """XᵀU/n at the present scores: one product for a choice of rows and the certificate beside it. ``whole``: all
        of its rows, not only those in use or above λ."""
        self.take_samples(problem)
        pause()
        if self.looked is None or not self.looked.serves(problem.lam, whole):
            self.looked = self._look(problem, whole)
        return self.looked

    def _look(self, problem: Problem, whole: bool) -> Looked:
        d, n, U = problem.d, problem.n, self.kept.U
        used = used_rows(self.coef[:d])
        pause()
        learns = self.screen.learns(problem)
        pause()
        have = self.looked  # at a larger λ
        known = None if have is None else have.rows
        rows = self.screen.worth(problem, U, used, known) if learns and not whole else None
        if rows is not None:
            part = self.screen.product(U, rows)
            part /= n
            if have is not None and known is not None:
                rows, part = np.concatenate([known, rows]), np.concatenate([have.G, part])
                order = np.argsort(rows)
                rows, part = rows[order], part[order]
            return Looked(part, used, rows, problem.lam)
        pause()
        if self.G is None:
            self.G = np.empty((d, problem.m), dtype=problem.dtype)
        at_once = problem.regulariser.needs_all_rows
        found, design = self.G, problem.design
        shares = design.shares(problem.m)

        def look(_: int, first: int, last: int) -> None:
            pieces = design.rmatmul_between(U, first, last) if len(shares) > 1 else design.rmatmul_blocks(U)
            for start, stop, G in pieces:
                here = found[start:stop]
                np.divide(G, n, out=here)
                if learns and not at_once:
                    problem.regulariser.levels(here, 1.0, self.screen.levels[start:stop])
                pause()

        in_rounds(shares, look)
        if learns:
            if at_once:
                problem.regulariser.levels(self.G, 1.0, self.screen.levels)
            self.screen.know(U)
        return Looked(self.G, used, None, problem.lam)


def violations_at(
    problem: Problem, G: np.ndarray, W: np.ndarray, lam: float, out: np.ndarray, paper: np.ndarray
) -> None:
    """Write to out (s,) the violations at λ of rows with gradients G and weights W, (s, m); ``paper`` is lost."""

    def some(_: int, first: int, last: int) -> None:
        at = slice(first, last)
        row_violations(G[at], 1.0, W[at], lam, problem.row_penalty, False, out[at], paper[at])

    # A penalty that weighs each row apart takes all of them at once.
    whole, size = problem.regulariser.needs_all_rows, len(W)
    in_rounds([(0, size)] if whole else even_rounds(size, ROW_COST * problem.m, ROW_COST * RANKED), some)
