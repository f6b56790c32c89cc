"""FISTA: accelerated proximal gradient (Beck and Teboulle 2009), with constant step or line search.

    t ← 1, W' ← W
    repeat:
        V ← W + ((t' − 1)/t)(W − W')                   extrapolate (scores likewise: Z is linear in W)
        G ← XᵀU/n,  U_i = ∇ℓ(v_i, y_i)                 gradient at V
        W⁺ ← prox_{λ/K}(V − G/K)                       K constant, or doubled until
             f(W⁺) ≤ f(V) + ⟨G, W⁺−V⟩ + K/2 ‖W⁺−V‖²     (line search)
        restart (optional): t ← 1 if ⟨V − W⁺, W⁺ − W⟩ > 0                  (O'Donoghue and Candès 2015)
        t ← (1 + √(1 + 4t²))/2
    The state shows W⁺, the point after the prox: it is the sparse one.
"""

from __future__ import annotations

import numpy as np

from ..kernels.rows import loss_gradient, loss_sum, prox_rows
from ..problem import Problem
from ..registry import field, solvers
from .base import Solver, State, settings

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


@settings
class FISTA(Solver):
    """Accelerated proximal gradient (Beck and Teboulle 2009)."""

    line_search: bool = field(True, doc="double K until the quadratic bound holds, instead of a constant K")
    constants: str = field("class-aware", choices=KINDS, doc="which constant K (constant step only)")
    restart: bool = field(False, doc="forget the momentum when it points uphill (O'Donoghue and Candès)")
    growth: float = field(2.0, 1.1, 10.0, "factor by which a line search raises K")

    title = "FISTA"
    doc = "Accelerated proximal gradient on all of W at once."
    source = "Beck and Teboulle 2009; Blondel et al. 2013, Sec. 5.2"

    def start(self, problem: Problem, coef: np.ndarray) -> ProximalState:
        state = ProximalState(problem, coef)
        state.K = first_constant(problem, self.line_search, self.constants)
        return state

    def step(self, problem: Problem, state: ProximalState) -> None:
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.t**2))
        state.extrapolate((state.t - 1.0) / following if state.iteration else 0.0)
        state.t = following
        proximal_step(problem, state, self.line_search, self.growth)
        if self.restart and float(np.vdot(state.V - state.coef, state.coef - state.old)) > 0.0:
            state.t = 1.0

    def adapt(self, problem: Problem, state: ProximalState) -> None:
        state.t = 1.0
        state.old[:], state.old_Z[:] = state.coef, state.Z
        state.K = first_constant(problem, self.line_search, self.constants)


solvers.add("fista-cst", FISTA, title="FISTA (constant step)", line_search=False,
            doc="Accelerated proximal gradient on all of W at once, with a constant step.")
solvers.add("fista-ls", FISTA, title="FISTA (line search)", line_search=True,
            doc="Accelerated proximal gradient on all of W at once, with a line search.")
