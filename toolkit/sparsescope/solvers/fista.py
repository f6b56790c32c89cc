"""FISTA: accelerated proximal gradient (Beck and Teboulle 2009), with constant step or line search.

t ← 1, W' ← W
repeat:
    V ← W + ((t' − 1)/t)(W − W')                   extrapolate (scores likewise: Z is linear in W)
    G ← XᵀU/n,  U_i = ∇ℓ(v_i, y_i)                 gradient at V
    W⁺ ← prox_{λ/K}(V − G/K)                       K constant, or doubled until
         f(W⁺) ≤ f(V) + ⟨G, W⁺−V⟩ + K/2 ‖W⁺−V‖²     (line search)
    fixed momentum (optional): β instead of (t' − 1)/t
    restart (optional): t ← 1 if ⟨V − W⁺, W⁺ − W⟩ > 0                  (O'Donoghue and Candès 2015)
    t ← (1 + √(1 + 4t²))/2
The state shows W⁺, the point after the prox: it is the sparse one.
"""

from __future__ import annotations

import numpy as np

from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import settings
from .shared.columns import RESTARTS, STEP_COLUMNS
from .shared.proximal import Proximal, ProximalState, proximal_step


class FISTAState(ProximalState):
    """State of a proximal gradient method with momentum, and what it reports.

    momentum : β of the last step, V = W + β(W − W') · restarts : how often the momentum was dropped so far
    """

    momentum = float("nan")
    restarts = 0


@settings
class FISTA(Proximal):
    """Accelerated proximal gradient (Beck and Teboulle 2009)."""

    line_search: bool = field(True, doc="raise K until the quadratic bound holds, instead of a constant K")
    restart: bool = field(False, doc="forget the momentum when it points uphill (O'Donoghue and Candès)")
    momentum: float = field(
        -1.0, -1.0, 0.999, "β: the same momentum in every step, V = W + β(W − W'); below 0 it grows as in FISTA"
    )

    title = "FISTA"
    menu_order = 40
    contract_iterations = 6000
    contract_settings = (
        {"restart": True},
        {"constants": "tight"},
        {"constants": "paper"},
        {"growth": 1.1},
        {"growth": 10.0},
        {"step_length": 0.5},
        {"momentum": 0.7},
    )
    doc = "Accelerated proximal gradient on all of W at once."
    columns = (
        *STEP_COLUMNS,
        Column("momentum", "β of this step: V = W + β(W − W')"),
        RESTARTS,
    )
    source = "Beck and Teboulle 2009; Blondel et al. 2013, Sec. 5.2"

    def start(self, problem: Problem, coef: np.ndarray) -> FISTAState:
        state = FISTAState(problem, coef, extrapolates=True)
        super().adapt(problem, state)
        return state

    def step(self, problem: Problem, state: FISTAState) -> None:
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.t**2))
        beta = (state.t - 1.0) / following
        if self.momentum >= 0.0:
            beta = self.momentum if state.t > 1.0 else 0.0  # the first step after a restart has none
        state.t, state.momentum = following, beta
        proximal_step(problem, state, beta, self.line_search, self.growth)
        if self.restart and state.turn > 0.0:
            state.t = 1.0
            state.restarts += 1

    def adapt(self, problem: Problem, state: ProximalState) -> None:
        super().adapt(problem, state)
        state.t = 1.0
        state.forget()


solvers.add(
    "fista-cst",
    FISTA,
    title="FISTA (constant step)",
    line_search=False,
    doc="Accelerated proximal gradient on all of W at once, with a constant step.",
)
solvers.add(
    "fista-ls",
    FISTA,
    title="FISTA (line search)",
    line_search=True,
    doc="Accelerated proximal gradient on all of W at once, with a line search.",
)
