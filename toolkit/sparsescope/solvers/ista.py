"""ISTA: proximal gradient without acceleration.

repeat:
    G ← XᵀU/n,  U_i = ∇ℓ(z_i, y_i)
    W ← prox_{λ/K}(W − G/K)          K constant, or found anew in each iteration by a line search
"""

from __future__ import annotations

from ..problems.prediction import Problem
from ..registry import solvers
from .base import settings
from .shared.proximal import Proximal, ProximalState, proximal_step


@settings
class ISTA(Proximal):
    """Proximal gradient (iterative soft thresholding). A line search lowers K by ``growth`` between iterations."""

    title = "ISTA"
    menu_order = 20
    monotone = True
    contract_iterations = 12_000
    contract_settings = (
        {"line_search": True},
        {"line_search": True, "growth": 10.0},
        {"constants": "tight"},
        {"constants": "paper"},
        {"step_length": 0.5},
    )
    doc = "Proximal gradient on all of W at once, without acceleration."
    source = "Beck and Teboulle 2009, Sec. 3"

    def step(self, problem: Problem, state: ProximalState) -> None:
        if self.line_search and state.iteration:
            state.K /= self.growth
        proximal_step(problem, state, 0.0, self.line_search, self.growth)


solvers.add("ista", ISTA)
