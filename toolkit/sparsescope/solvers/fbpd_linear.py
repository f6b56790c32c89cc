"""The hinge budget written with linear constraints only (Chierchia et al. 2015, Sec. 4.2): the slower baseline.

    minimise Ω(W) over W (and b) and ζ (n, m):
        Σζ ≤ nmη,   the rows of ζ constant and ζ ≥ 0,   T W + r − ζ ≤ 0,   T W = Z − Z[y]·1ᵀ

    W ← prox_{τΩ}(V − τTᵀY),   ζ ← the projection of ζ_V − τ'(H − Y) on {Σζ ≤ nmη}
    Y ← max(Y + σ(T(2W − V) + r − (2ζ − ζ_V)), 0)
    H ← what the projection of H + σ(2ζ − ζ_V) on rows that are constant and not negative takes away
    the next point is the image, or the point of the acceleration (shared/splitting.py)

There is no projection but clipping and means; the price is a coupling through n·m numbers more. With τ' = c²τ the
operator has the norm² of [‖T‖, −c; 0, c], which is (1 + 1/√2)‖T‖² at c² = ‖T‖²/2; the paper has c = 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.splitting import Mixed, linear_step
from ..problems.prediction import Problem
from ..registry import solvers
from .base import settings
from .fbpd_constrained import Budgeted, BudgetState
from .shared.primal_step import primal_step
from .shared.splitting import SplittingState

WITH_ZETA = 1.0 + math.sqrt(0.5)  # by which ζ raises the norm² of the operator


class LinearState(BudgetState):
    """State with ζ of shape (n, m), and the dual H of its constant rows."""

    of_samples = (*BudgetState.of_samples, "H")

    def __init__(self, problem: Problem, coef: np.ndarray, threads: int, anchored: bool) -> None:
        super().__init__(problem, coef, threads, anchored)
        self.zeta, self.zetaV = np.empty_like(self.Z), np.empty_like(self.Z)
        self.H, self.HQ = np.zeros_like(self.Z), np.zeros_like(self.Z)
        self.zeta0, self.H0 = (np.empty_like(self.Z), np.empty_like(self.Z)) if anchored else (self.zetaV, self.HQ)

    def triples(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return [*super().triples(), (self.H, self.HQ, self.H0)]


@settings
class FBPDLinear(Budgeted):
    """The same problem as ``fbpd-constrained``, without epigraphs: to see what they are worth."""

    title = "FBPD with linear constraints"
    menu_order = 100
    doc = "The hinge budget by linear constraints, without epigraphs: a slower baseline."
    source = "Chierchia et al. 2015, Sec. 4.2"

    def new_state(self, problem: Problem, coef: np.ndarray) -> LinearState:
        return LinearState(problem, coef, self.count(), self.acceleration != "none")

    def scale_dual(self, problem: Problem, state: Any) -> None:
        state.Y *= problem.dtype.type(state.level)
        state.sums[:] = state.level
        rows = self.hinges(problem, state)
        state.zeta[:] = (rows - max(float(rows.mean()) - self.eta, 0.0))[:, None]
        # In balance H − Y = −level/m everywhere: the half-space alone holds ζ.
        state.H[:] = state.Y - problem.dtype.type(state.level / problem.m)
        here = np.arange(problem.n)
        state.H[here, problem.y] += state.sums

    def set_steps(self, problem: Problem, state: Any) -> None:
        super().set_steps(problem, state)
        norm = max(self.coupling(problem, state, differences=True), 1e-150)
        total, difference = norm * norm + 2.0, norm * norm - 2.0
        paper = math.sqrt(0.5 * (total + math.sqrt(difference * difference + 4.0 * norm * norm)))
        state.norm = paper if self.steps == "paper" else norm * math.sqrt(WITH_ZETA)

    def carry(self, problem: Problem, old: SplittingState, new: Any) -> None:
        super().carry(problem, old, new)
        if isinstance(old, LinearState):
            new.H[:] = old.H

    def iterate(self, problem: Problem, state: Any, mixing: tuple[float, float, float]) -> float:
        tau, sigma = state.tau, state.sigma
        inner = tau if self.steps == "paper" else 0.5 * tau * state.norm**2 / WITH_ZETA  # τ'
        gradient = state.zeta  # ζ ← the projection of ζ_V − τ'(H − Y) on {Σζ ≤ nmη}, in place
        np.subtract(state.HQ, state.Q, out=gradient)
        gradient[np.arange(problem.n), problem.y] -= state.q
        gradient *= problem.dtype.type(-inner)
        gradient += state.zetaV
        over = max(float(gradient.mean(dtype=np.float64)) - self.eta, 0.0)
        gradient -= problem.dtype.type(over)
        state.level = problem.m * over / inner if over > 0.0 else float(state.sums.mean(dtype=np.float64))
        slack = float(np.linalg.norm(state.zeta - state.zetaV)) ** 2 * tau / inner
        moved = slack + primal_step(problem, state, self.strength(problem), mixing)  # W ← prox_{τΩ}(V − τTᵀY)
        problem.design.matmul(state.coef, state.Z)
        state.passes += 2.0

        def clip(first: int, last: int, report: np.ndarray) -> None:  # Y and H
            linear_step(
                Mixed(state.Z, state.VZ, state.VZ0),  # type: ignore[call-arg]
                Mixed(state.zeta, state.zetaV, state.zeta0),  # type: ignore[call-arg]
                Mixed(state.Y, state.Q, state.Q0),  # type: ignore[call-arg]
                Mixed(state.sums, state.q, state.q0),  # type: ignore[call-arg]
                Mixed(state.H, state.HQ, state.H0),  # type: ignore[call-arg]
                *(problem.y, problem.loss.margin, sigma),
                *mixing,
                *(first, last, report),
            )

        state.shared(clip)
        found: float = state.distance(moved)
        return found


solvers.add("fbpd-linear", FBPDLinear)
