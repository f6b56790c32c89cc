"""SpaRSA: proximal gradient with Barzilai–Borwein steps and a non-monotone test (Wright, Nowak and Figueiredo 2009).

α ← the largest block constant
repeat:
    G ← XᵀU/n,  U_i = ∇ℓ(z_i, y_i)
    repeat:
        W⁺ ← prox_{λ/α}(W − G/α)
        stop if F(W⁺) ≤ max of the last M values of F − (σ/2)·α·‖W⁺ − W‖²
        α ← max(ηα, κ),  κ the curvature of the loss along the rejected step
    W ← W⁺
    α ← ⟨ΔW, ΔG⟩/⟨ΔW, ΔW⟩ of this step, kept within [1e-30, 1e30]      (⟨ΔW, ΔG⟩ = ⟨ΔZ, ΔU⟩/n: Z is linear in W)

Alternating steps (Frassoldati, Zanghirati and Zanni 2008) look at a second quotient, β = ⟨ΔG, ΔG⟩/⟨ΔW, ΔG⟩ ≥ α, here
over the entries that the step has moved. Where α is below τβ, the next step takes the largest of the last three β in
place of α: such short steps end what the directions of large curvature have left, and the long ones after them reach
far along the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.proximal import turned_gradient
from ..kernels.rows import loss_gradient, support_flags
from ..problems.base import Certificate
from ..problems.certificate import Known, certify, is_double
from ..problems.prediction import Problem
from ..problems.regulariser import BlockRegulariser
from ..registry import field, solvers
from .base import Solver, settings
from .shared.columns import STEP_COLUMNS
from .shared.proximal import MOST_TRIALS, ProximalState, first_constant

SHARED_BYTES = 2**26  # largest XᵀU that is kept for the next step
LEAST, MOST = 1e-30, 1e30  # bounds of the Barzilai–Borwein step, as in the paper
STEPS = ("paper", "alternating")
RATIO = 0.1  # τ
SLIGHT = 1e-8  # α/β below which there is nothing but rounding in them
SHORT = 3  # quotients β among which a short step chooses


class SpaRSAState(ProximalState):
    """State: two points with the gradients of their losses in the scores, α, and the last M objectives.

    ``known``: of the point, with all rows of its gradient, where somebody has taken it already. ``alpha``: the first α,
    in place of the largest block constant.
    """

    def __init__(
        self, problem: Problem, coef: np.ndarray, known: Known | None = None, alpha: float | None = None
    ) -> None:
        super().__init__(problem, coef)
        self.old_U = np.empty_like(self.U)
        self.values: list[float] = []
        self.curved: list[float] = []  # the last β
        self.begin(problem, known, alpha)

    def begin(self, problem: Problem, known: Known | None = None, alpha: float | None = None) -> None:
        """Forget the past: loss and gradient afresh, and the first α."""
        self.pulled = None
        self.stepped, self.curved = False, []
        if known is None:
            self.f = loss_gradient(self.Z, *problem.terms, self.U) / problem.n
        else:
            self.f, self.U[:] = known.loss, known.U
            self.pulled = known.G * problem.dtype.type(known.unit * problem.n)
        self.judge(problem)
        self.K = first_constant(problem, True, "class-aware") if alpha is None else alpha

    def judge(self, problem: Problem) -> None:
        """Compare the next objectives with the present one alone, which another λ or penalty may have changed."""
        self.values = [self.f + problem.lam * problem.regulariser.value(self.coef[: self.d])[0]]

    def resume(self, problem: Problem) -> None:
        """Go on after somebody else moved the point: loss and gradient afresh; α is that of the last step."""
        self.pulled, self.stepped = None, False
        self.f = loss_gradient(self.Z, *problem.terms, self.U) / problem.n
        support_flags(self.coef[: self.d], self.used)
        self.judge(problem)

    def exchange(self) -> None:
        super().exchange()
        self.U, self.old_U = self.old_U, self.U


@settings
class SpaRSA(Solver):
    """Proximal gradient with Barzilai–Borwein steps (Wright et al. 2009). An iteration costs as much as one of ISTA."""

    takes_blocks = takes_partitions = True
    memory: int = field(5, 1, 50, "M: the new objective is compared with the largest of the last M (1: it never rises)")
    sigma: float = field(0.01, 0.0, 0.99, "σ: share of the quadratic decrease that a step must reach")
    growth: float = field(2.0, 1.1, 10.0, "η: factor by which α is raised, at least, after a rejected step")
    steps: str = field("paper", choices=STEPS, doc="long steps alone, as printed, or short ones among them")
    ratio: float = field(RATIO, 0.0, 1.0, "τ: a short step is taken where α is below τβ")

    title = "SpaRSA"
    menu_order = 50
    contract_iterations = 600
    doc = "Proximal gradient with Barzilai–Borwein steps; the objective may rise for a few iterations."
    columns = STEP_COLUMNS
    source = "Wright, Nowak and Figueiredo 2009; Blondel et al. 2013, Sec. 5.2; Frassoldati, Zanghirati and Zanni 2008"
    takes_sample_weights = takes_feature_weights = True

    def start(self, problem: Problem, coef: np.ndarray) -> SpaRSAState:
        return SpaRSAState(problem, coef)

    def step(self, problem: Problem, state: SpaRSAState) -> None:
        n, eps = problem.n, float(np.finfo(problem.dtype).eps)
        worst, f = max(state.values), state.f
        # Near the optimum F changes by less than its rounding error: such a rise is not one.
        slack = 8.0 * eps * abs(worst)
        state.exchange()
        alternating = self.steps == "alternating"
        state.take_gradient(problem, state.old_U, 0.0, bends=alternating)
        if alternating:
            self._shorten(state)
        for trial in range(1, MOST_TRIALS + 1):
            state.move(problem, 1.0 / state.K)
            state.trials = float(trial)
            total, turn = turned_gradient(state.Z, state.old_Z, *problem.terms, state.old_U, state.U)
            value = total / n + problem.lam * state.omega
            if value <= worst - 0.5 * self.sigma * state.K * state.size + slack:
                break
            state.K = self._raised(problem, state, total / n - f)
        state.f = total / n
        state.values = [*state.values, value][-self.memory :]
        state.step_size = 1.0 / state.K
        state.working_set = float(problem.rows)
        state.iteration += 1
        state.stepped = True
        if state.size > 0.0:
            state.K = min(max(turn / n / state.size, LEAST), MOST)

    def _shorten(self, state: SpaRSAState) -> None:
        """Take a short step in place of a much longer one."""
        turn, square = state.bend
        if not state.stepped or not turn > SLIGHT * square / state.K:  # α/β: below it is rounding
            return
        state.curved = [*state.curved, min(max(float(square / turn), LEAST), MOST)][-SHORT:]
        if self.ratio * state.curved[-1] > state.K:
            state.K = max(state.curved)

    def idle(self, problem: Any) -> dict[str, str]:
        return {} if self.steps == "alternating" else {"ratio": "All steps are long ones."}

    def _raised(self, problem: Problem, state: SpaRSAState, rise: float) -> float:
        """α after a rejected step: the curvature it met, which is better than a factor."""
        met = 2.0 * (rise - state.slope) / state.size if state.size > 0.0 else 0.0
        if not np.isfinite(met):  # a step so long that it left the range of numbers
            met = first_constant(problem, True, "class-aware")
        return min(max(self.growth * state.K, met), MOST)

    def certificate(self, problem: Problem, state: SpaRSAState, work: Any) -> Certificate:
        """Evaluate the certificate of the state's weights; the gradient that it needs is left to the next step.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        work
            a Workspace, made once per run.

        Returns
        -------
        Certificate
            the certificate.
        """
        blocks = isinstance(problem.regulariser, BlockRegulariser)
        if problem.partitioned or blocks or not is_double(problem) or 8 * problem.d * problem.m > SHARED_BYTES:
            return super().certificate(problem, state, work)
        known = Known(state.f, state.U, state.pull(problem), 1.0 / problem.n)
        return certify(problem, state.coef, state.Z, work, known=known)

    def adapt(self, problem: Problem, state: SpaRSAState) -> None:
        state.begin(problem)


solvers.add("sparsa", SpaRSA)
