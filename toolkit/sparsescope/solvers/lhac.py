"""LHAC: coordinate descent on a low-rank model of the Hessian over a greedy working set (Tang and Scheinberg 2013).

repeat (Alg. 2.1):
    g ← ∇f(W);  v ← violations of all d·m entries                                          (Eq. 16)
    I ← support of W ∪ the s_k entries of largest violation, s_k a share of the violated   (Eq. 21)
    B ← γI − QRQᵀ from the last pairs (s_i, t_i): γ = tᵀt/tᵀs, Q = [γS T],                 (Eq. 10–14)
        R = [γSᵀS, L; Lᵀ, −D]⁻¹, L_ij = s_iᵀt_j for i > j, D = diag(s_iᵀt_i);  Q̂ = RQᵀ
    δ ← sweeps of coordinate descent over I on gᵀδ + ½δᵀBδ + λΩ(W + δ): (Bδ)_a = γδ_a − q_aᵀδ̂,
        δ̂ ← δ̂ + z·Q̂_a, O(memory) a step                                                    (Eq. 23–26)
    W ← W + αδ by Armijo's rule                                                            (Eq. 22)
    s ← αδ, t ← the change of ∇f; a pair without curvature is damped or skipped
An iteration costs a pass over X. The working set approaches the support from below.
"""

from __future__ import annotations

import numpy as np

from ..kernels.coordinates import FLOPS, STEPS, SWEEPS
from ..pauses import pause
from ..problems.linear_algebra import fill
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import settings
from .shared.entries import EntrySolver, EntryState
from .shared.in_parts import put, taken, where
from .shared.low_rank import LowRankHessian, largest_violations, sweep_model

SOLVED = 0.1  # sweeps end when the violations of the model have fallen to this share of those after the first sweep


class LHACState(EntryState):
    """State: the model of the Hessian over all entries, and the move that it is to learn from."""

    def __init__(self, problem: Problem, coef: np.ndarray, memory: int) -> None:
        self.memory = memory
        super().__init__(problem, coef)

    def forget(self, problem: Problem) -> None:
        super().forget(problem)
        gamma = max(float(problem.block_constants().max()), 1e-12)  # the paper's 1 ignores the units of X
        self.model = LowRankHessian(self.coef.size, self.memory, gamma)
        self.move: tuple[np.ndarray, np.ndarray] | None = None  # places and steps of the last move, and
        self.before = np.empty(0)  # the gradient before it

    def learn(self, damp: bool) -> None:
        """Teach the last move and the change of the gradient to the model."""
        if self.move is None:
            return
        at, step = self.move
        self.move = None
        s, t = np.empty(self.coef.size), taken(self.G.ravel())
        fill(s, 0.0)
        put(s, at, step)
        t -= self.before
        pause()
        self.model.learn(s, t, damp)


@settings
class LHAC(EntrySolver):
    """Coordinate descent on a low-rank quasi-Newton model over the support and the most violated entries."""

    memory: int = field(10, 1, 50, "pairs that the model of the Hessian is made of")
    greed: float = field(0.5, 0.02, 1.0, "share of the violated entries that join the support in the working set")
    sweeps: int = field(10, 1, 100, "sweeps over the model in one iteration, at most", log=True)
    damping: bool = field(True, doc="damp pairs without curvature, instead of leaving them out")

    title = "LHAC"
    menu_order = 120
    remark = "For penalties that are sums over entries (`l1` with its weights, `elastic-net`, `ridge`)."
    doc = "Coordinate descent on a low-rank model of the Hessian, over the support and the most violated weights."
    source = "Tang and Scheinberg 2013, Alg. 2.1"

    def start(self, problem: Problem, coef: np.ndarray) -> LHACState:
        return LHACState(problem, coef, self.memory)

    def step(self, problem: Problem, state: LHACState) -> None:  # type: ignore[override]
        state.look(problem)
        state.learn(self.damping)
        pause()
        part = state.entries(problem, self._working_set(state))
        Q, Qhat, diagonal = state.model.rows(part.at)
        w, g = taken(part.w), taken(state.G.ravel(), part.at)
        t, ridge = taken(part.t), taken(part.ridge)
        new, report = taken(w), state.report
        report[:] = 0.0
        sweep_model(Q, Qhat, state.model.gamma, diagonal, g, w, t, ridge, new, self.sweeps, SOLVED, report)
        state.before = taken(state.G.ravel())
        if self.finish(problem, state, part, taken(new, dtype=problem.dtype)):
            step = taken(state.coef.ravel(), part.at, problem.dtype)
            step -= part.w
            state.move = part.at, taken(step)
        self.note(state, part, report[SWEEPS], report[STEPS], report[FLOPS])

    def _working_set(self, state: LHACState) -> np.ndarray:
        """Places of the support (and the intercept) and of the largest violations off it, sorted."""
        used = state.coef.ravel() != 0.0
        used[state.d * state.coef.shape[1] :] = True
        pause()
        off = taken(state.violation.ravel(), dtype=state.violation.dtype)
        off[used] = 0.0
        pause()
        used[largest_violations(off, self.greed)] = True
        pause()
        return where(used, lambda some: some)


solvers.add("lhac", LHAC)
