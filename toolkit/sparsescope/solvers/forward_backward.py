"""Forward–backward splitting (Combettes and Wajs 2005; the method of Chierchia et al. 2015 for the logistic loss).

    repeat:
        G ← XᵀU/n,  U_i = ∇ℓ(z_i, y_i)
        W ← prox_{γλΩ}(W − γG)          γ = step/K, 0 < step < 2

It is ISTA with steps that ISTA's argument does not allow: with γ > 1/K the quadratic model no longer bounds F, but the
map is still averaged, so the iteration converges as long as γ < 2/K.

There is no relaxation W ← W + ρ(W⁺ − W): neither source needs one, at the default step it could be at most
ρ < 2 − γK/2 = 1.05, and what it shows would not come out of a prox, so it would have no zeros.
"""

from __future__ import annotations

import numpy as np

from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import Solver, settings
from .shared.columns import STEP_COLUMNS
from .shared.proximal import KINDS, ProximalState, first_constant, proximal_step


@settings
class ForwardBackward(Solver):
    """Proximal gradient with the constant step ``step``/K, nearly twice as long as ISTA's."""

    step_length: float = field(1.9, 0.5, 1.99, "γ·K: the step in units of 1/K; below 2 it converges, 1 is ISTA's")
    constants: str = field("class-aware", choices=KINDS, doc="which constant K")

    title = "forward–backward"
    menu_order = 30
    contract_iterations = 8000
    doc = "Proximal gradient with constant steps up to 2/K, longer than ISTA's."
    columns = STEP_COLUMNS
    source = "Combettes and Wajs 2005; Chierchia et al. 2015, Sec. 4"
    takes_sample_weights = takes_feature_weights = True
    takes_blocks = takes_partitions = True

    def start(self, problem: Problem, coef: np.ndarray) -> ProximalState:
        state = ProximalState(problem, coef)
        self.adapt(problem, state)
        return state

    def adapt(self, problem: Problem, state: ProximalState) -> None:
        state.K = first_constant(problem, False, self.constants) / self.step_length

    def step(self, problem: Problem, state: ProximalState) -> None:
        proximal_step(problem, state, 0.0, False, 1.0)


solvers.add("forward-backward", ForwardBackward)
