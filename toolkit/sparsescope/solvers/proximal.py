"""What ISTA and FISTA share: their state, and the proximal step from an extrapolated point."""

from __future__ import annotations

import numpy as np

from ..kernels.rows import loss_gradient, loss_sum, prox_rows
from ..problem import Problem
from .base import State

MOST_TRIALS = 60  # doublings of K in one line search: a factor of 1e18
KINDS = ("class-aware", "tight", "paper")


class ProximalState(State):
    """State of ISTA and FISTA: the last two points with their scores, the extrapolated point, gradients, K and t."""

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.old, self.old_Z = coef.copy(), self.Z.copy()
        self.V, self.V_Z = coef.copy(), self.Z.copy()
        self.U = np.empty_like(self.Z)
        self.G = np.empty_like(coef)
        self.t = 1.0
        self.K = float("nan")

    def extrapolate(self, beta: float) -> None:
        """V ← W + β(W − W'), and its scores."""
        if beta == 0.0:
            self.V[:], self.V_Z[:] = self.coef, self.Z
            return
        for point, old, now in ((self.V, self.old, self.coef), (self.V_Z, self.old_Z, self.Z)):
            np.subtract(now, old, out=point)
            point *= beta
            point += now

    def exchange(self) -> None:
        """Make the current point the previous one; its arrays are free to receive the next."""
        self.coef, self.old = self.old, self.coef
        self.Z, self.old_Z = self.old_Z, self.Z


def proximal_step(problem: Problem, state: ProximalState, line_search: bool, growth: float) -> None:
    """From the extrapolated point V: gradient, prox, and with line search the growth of K. The result is in coef, Z."""
    design, n = problem.design, problem.n
    f = loss_gradient(state.V_Z, problem.y, problem.loss, state.U) / n
    design.rmatmul(state.U, state.G)
    state.G *= 1.0 / n
    state.exchange()
    state.passes += 1.0
    eps = float(np.finfo(problem.dtype).eps)
    for trial in range(1, MOST_TRIALS + 1):
        prox_rows(state.V, state.G, 1.0 / state.K, problem.lam, problem.penalty, problem.d, state.coef)
        design.matmul(state.coef, state.Z)
        state.passes += 1.0
        state.trials = float(trial)
        if not line_search:
            break
        value = loss_sum(state.Z, problem.y, problem.loss) / n
        delta = state.coef - state.V
        bound = f + float(np.vdot(state.G, delta)) + 0.5 * state.K * float(np.vdot(delta, delta))
        if value <= bound + 8.0 * eps * (abs(f) + abs(value)):
            break
        state.K *= growth
    state.step_size = 1.0 / state.K
    state.working_set = float(problem.rows)
    state.iteration += 1


def first_constant(problem: Problem, line_search: bool, kind: str) -> float:
    """K to begin with: the full constant, or for a line search the largest block constant, which is below it."""
    K = float(problem.block_constants("class-aware").max()) if line_search else problem.full_constant(kind)
    return max(K, 1e-12)
