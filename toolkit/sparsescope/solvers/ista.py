"""ISTA: proximal gradient without acceleration.

    repeat:
        G ← XᵀU/n,  U_i = ∇ℓ(z_i, y_i)
        W ← prox_{λ/K}(W − G/K)          K constant, or found anew in each iteration by a line search
"""

from __future__ import annotations

import numpy as np

from ..problem import Problem
from ..registry import field, solvers
from .base import Solver, settings
from .proximal import KINDS, ProximalState, first_constant, proximal_step


@settings
class ISTA(Solver):
    """Proximal gradient (iterative soft thresholding)."""

    line_search: bool = field(False, doc="raise K until the quadratic bound holds; lower it again between iterations")
    constants: str = field("class-aware", choices=KINDS, doc="which constant K (without line search)")
    growth: float = field(2.0, 1.1, 10.0, "factor by which a line search raises and lowers K")

    title = "ISTA"
    doc = "Proximal gradient on all of W at once, without acceleration."
    source = "Beck and Teboulle 2009, Sec. 3"

    def start(self, problem: Problem, coef: np.ndarray) -> ProximalState:
        state = ProximalState(problem, coef)
        state.K = first_constant(problem, self.line_search, self.constants)
        return state

    def step(self, problem: Problem, state: ProximalState) -> None:
        if self.line_search and state.iteration:
            state.K /= self.growth
        state.extrapolate(0.0)
        proximal_step(problem, state, self.line_search, self.growth)

    def adapt(self, problem: Problem, state: ProximalState) -> None:
        state.K = first_constant(problem, self.line_search, self.constants)


solvers.add("ista", ISTA)
