"""GLS: least squares again and again, with the curvature that the data have (Agarwal et al. 2013, Alg. 1).

Σ̂ ← XᵀX/n;  M ← LΣ̂ + λI, factored once                    L: Lipschitz constant of the link g = ∇Φ
repeat:
    U_i ← g(z_i) − e_yi = ∇ℓ(z_i, y_i)
    W ← W − M⁻¹(XᵀU/n + λW)                                  (Eq. 14 with a ridge: λ = 0 and M = LΣ̂ there)
accelerated (Sec. 4): the step is taken from V = W + ((t' − 1)/t)(W − W'), t as in FISTA, and
    t ← 1 if ⟨∇F(V), W⁺ − W⟩ > 0, which is the test of O'Donoghue and Candès in the metric M
LΣ̂ + λI is above the Hessian for all classes at once, so there is neither a step size nor a line search, and the
conditioning of X does not matter (Theorem 1). For the identity link (squared loss) one step is the solution.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy

from ..kernels.rows import loss_gradient
from ..problems.linear_algebra import inner
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import Solver, State, settings
from .shared.columns import FIXED_STEP_COLUMNS, RESTARTS
from .shared.metric import metric_factor, too_large


class GLSState(State):
    """State: the factor of M and the constants it is for; the point before, for the accelerated variant.

    factor : what ``scipy.linalg.cho_factor`` gives, (rows, rows) · L, lam : the constants it was made with
    old, old_Z : the last point and its scores · t : FISTA's momentum · restarts : how often it was forgotten
    """

    def __init__(self, problem: Problem, coef: np.ndarray, L: float, accelerated: bool) -> None:
        super().__init__(problem, coef)
        self.U, self.G = np.empty_like(self.Z), np.empty_like(coef)
        self.factor: Any = None
        self.L = self.lam = float("nan")
        self.old = coef.copy() if accelerated else coef
        self.old_Z = self.Z.copy() if accelerated else self.Z
        self.t, self.restarts = 1.0, 0
        self.take_metric(problem, L)

    def take_metric(self, problem: Problem, L: float) -> None:
        """Factor M for these constants, unless that was done; the momentum is forgotten."""
        if (self.L, self.lam) != (L, problem.lam):
            self.factor = metric_factor(problem.second_moment(), L, problem.lam, problem.d)
            self.L, self.lam = L, problem.lam
            self.step_size = 1.0 / L
        self.t = 1.0
        if self.old is not self.coef:
            self.old[:], self.old_Z[:] = self.coef, self.Z

    def copy(self) -> Any:
        """An independent state; the factor, which never changes, is shared."""
        return copy.deepcopy(self, {id(self.factor): self.factor})


@settings
class GLS(Solver):
    """Generalised least squares: gradient steps in the metric LΣ̂ + λI (Agarwal et al. 2013, Alg. 1).

    It needs a ridge penalty, which makes the metric definite also where there are more features than samples or
    features depend on each other. A d × d matrix is made once for the data and factored once for L and λ: O(n·d² + d³)
    operations and two such matrices; a step costs two products with X and 2·d²·m operations. User-defined links are
    checked: see :class:`sparsescope.losses.LinkLoss`.
    """

    lipschitz: str = field(
        "tight",
        choices=("tight", "paper"),
        doc="L of the link: the smallest known (softmax: 1/2), or at least 1 as in the paper",
    )
    accelerated: bool = field(True, doc="Nesterov's extrapolation in the metric of the data, with restarts")

    title = "generalised least squares"
    menu_order = 140
    remark = (
        "For every smooth loss with `ridge`: gradient steps in the metric LXᵀX/n + λI, factored once; with "
        "`squared` one step is the solution."
    )
    doc = "Least squares steps that use the curvature of the data: no step size, and conditioning does not matter."
    columns = (*FIXED_STEP_COLUMNS, RESTARTS)
    source = "Agarwal et al. 2013, Alg. 1 and Sec. 4"
    takes_sample_weights = True
    only_penalties = ("ridge",)

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        if reason is not None:
            return reason
        if (reason := self.refuses_all_but_ridge(problem)) is not None:
            return reason
        if (reason := too_large(self.name, problem)) is not None:
            return reason
        if (fault := problem.loss.validate(problem.m)) is not None:
            return f"{self.name} cannot use the {problem.loss.title} loss: {fault}"
        return None

    def constant(self, problem: Problem) -> float:
        """Return L, the Lipschitz constant of the link.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        float
            L.
        """
        L = float(problem.loss.curvature(problem.m))
        return max(L, 1.0) if self.lipschitz == "paper" else L

    def start(self, problem: Problem, coef: np.ndarray) -> GLSState:
        return GLSState(problem, coef, self.constant(problem), self.accelerated)

    def adapt(self, problem: Problem, state: GLSState) -> None:
        state.take_metric(problem, self.constant(problem))

    def step(self, problem: Problem, state: GLSState) -> None:
        if self.accelerated:
            self._extrapolate(problem, state)
        design, coef = problem.design, state.coef
        loss_gradient(state.Z, *problem.terms, state.U)
        G = design.rmatmul(state.U, state.G)
        G *= 1.0 / problem.n
        G[: problem.d] += problem.dtype.type(problem.lam) * coef[: problem.d]
        coef -= scipy.linalg.cho_solve(state.factor, G, check_finite=False)
        design.matmul(coef, state.Z)
        if self.accelerated and inner(G, coef - state.old) > 0.0:
            state.t = 1.0
            state.restarts += 1
        state.iteration += 1
        state.passes += 2.0
        state.working_set = float(problem.rows)
        state.ready = bool(state.aim and problem.loss.quadratic) or None

    @staticmethod
    def _extrapolate(problem: Problem, state: GLSState) -> None:
        """coef and Z ← V and its scores (linear in V), old and old_Z ← the point they were."""
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.t**2))
        beta = problem.dtype.type((state.t - 1.0) / following)
        state.t = float(following)
        for now, before in ((state.coef, state.old), (state.Z, state.old_Z)):
            before *= -beta
            before += (1 + beta) * now
        state.coef, state.old = state.old, state.coef
        state.Z, state.old_Z = state.old_Z, state.Z


solvers.add("gls", GLS)
