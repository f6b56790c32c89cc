"""Common parts of the proximal gradient methods: their state, and the proximal step from an extrapolated point.

One step costs two products with X and little else: the gradient is taken in blocks of rows, and only rows that are not
zero before or after the step are kept, moved and summed over.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.blocks import list_blocks, prox_listed_blocks
from ...kernels.proximal import OMEGA, REPORT, SIZE, SLOPE, TURN, extrapolate, list_rows, prox_listed, turned_gradient
from ...kernels.rows import loss_gradient, loss_sum, support_flags
from ...pauses import pause
from ...problems.prediction import Problem
from ...problems.regulariser import BlockRegulariser
from ...registry import field
from ..base import Solver, State, settings
from .columns import STEP_COLUMNS

MOST_TRIALS = 60  # doublings of K in one line search: a factor of 1e18
KINDS = ("class-aware", "tight", "paper")
BLOCK_BYTES = 400_000  # gradient rows that are held at once: they should stay in the cache until they are used


class ProximalState(State):
    """State of the proximal gradient methods: the last two points, and what the last step met.

    old, old_Z : the point before and its scores · used, old_used : (rows,) uint8, which rows are not zero
    V : the point from which the last step was taken; without extrapolation it is ``old`` itself
    f : loss at V (mean over samples) · slope, size : ⟨G, δ⟩ and ‖δ‖² of the step δ = W⁺ − V · omega : Ω(W⁺)
    listed : numbers of the rows that the step concerns, or of the blocks, the first ``count`` of them
    lengths : (rows,) step lengths of the rows beside each other, all 1 in the printed methods; ``size`` is in their
        norm, Σ_j ‖δ_j‖²/lengths_j (blocks that tie rows do without)
    bend : (2,) ⟨W − W', G − G'⟩ and Σ_j lengths_j‖G_j − G'_j‖² over the entries that the last step has moved; of no
        meaning at a first step
    turn : ⟨V − W⁺, W⁺ − W⟩, positive if the momentum points uphill · K, t : curvature and momentum of the methods
    """

    def __init__(self, problem: Problem, coef: np.ndarray, extrapolates: bool = False) -> None:
        super().__init__(problem, coef)
        rows, m = coef.shape
        self.old, self.old_Z = coef.copy(), self.Z.copy()
        self.used = np.ones(rows, dtype=np.uint8)
        support_flags(coef[: self.d], self.used)
        self.old_used = self.used.copy()
        self.extrapolates = extrapolates
        self.V, self.V_used = (coef.copy(), self.used.copy()) if extrapolates else (self.old, self.old_used)
        self.U = np.empty_like(self.Z)
        self.G = np.empty_like(coef)  # only rows that a step concerns are ever written: the rest takes no memory
        self.listed = np.empty(rows, dtype=np.intp)
        self.lengths = np.ones(rows)
        self.bend = np.zeros(2)
        self.count = 0
        size = max(1, min(self.d, BLOCK_BYTES // (m * coef.itemsize)))
        self.block = np.empty((size, m), dtype=coef.dtype) if problem.design.is_sparse else None
        self.report = np.zeros(REPORT)
        self.f = self.slope = self.size = self.omega = self.turn = float("nan")
        self.t = 1.0
        self.K = float("nan")
        self.pulled: np.ndarray | None = None  # XᵀU at the present point, where a certificate needed it
        self.turned: np.ndarray | None = None  # gradients of the losses at a point on trial

    def exchange(self) -> None:
        """Make the current point the previous one; its arrays are free to receive the next."""
        self.coef, self.old = self.old, self.coef
        self.Z, self.old_Z = self.old_Z, self.Z
        self.used, self.old_used = self.old_used, self.used
        if not self.extrapolates:
            self.V, self.V_used = self.old, self.old_used

    def forget(self) -> None:
        """Let the previous point be the current one: no momentum is left."""
        self.old[:], self.old_Z[:], self.old_used[:] = self.coef, self.Z, self.used

    def pull(self, problem: Problem) -> np.ndarray:
        """XᵀU (d, m) at the present point, whose gradients of the losses are ``U``; the next step begins with it."""
        if self.pulled is None:
            self.pulled = np.empty((self.d, self.Z.shape[1]), dtype=self.Z.dtype)
            for start, stop, G in problem.design.rmatmul_blocks(self.U, self.block):
                self.pulled[start:stop] = G
        return self.pulled

    def take_gradient(self, problem: Problem, U: np.ndarray, beta: float, bends: bool = False) -> None:
        """G = XᵀU/n and V = W + β(W − W') on the rows that the step concerns; after :meth:`exchange`. ``bends``:
        :attr:`bend` is asked for."""
        count, scale = 0, 1.0 / problem.n
        self.bend[:] = 0.0
        self.passes += 1.0
        if isinstance(problem.regulariser, BlockRegulariser):  # a block's rows may be anywhere: all of G is needed
            moved = np.flatnonzero((self.old != self.coef).any(axis=1)) if bends else np.zeros(0, dtype=np.intp)
            before = self.G[moved]
            problem.design.rmatmul(U, self.G)
            self.count = int(
                list_blocks(
                    self.G,
                    scale,
                    self.old,
                    self.coef,
                    beta,
                    problem.lam,
                    *problem.regulariser.parts,
                    self.old_used,
                    self.used,
                    self.V,
                    self.V_used,
                    self.listed,
                )
            )
            delta = self.old[moved] - self.coef[moved]
            turned = np.where(delta != 0.0, self.G[moved] - before, 0.0)
            self.bend[:] = float((delta * turned).sum()), float((turned**2).sum())
            return

        def listing(G: np.ndarray, start: int, count: int) -> int:
            return int(
                list_rows(
                    G,
                    start,
                    scale,
                    self.old,
                    self.coef,
                    beta,
                    problem.lam,
                    problem.row_penalty,
                    self.d,
                    self.old_used,
                    self.used,
                    self.V,
                    self.V_used,
                    self.G,
                    self.listed,
                    count,
                    self.lengths,
                    self.bend,
                )
            )

        known, self.pulled = self.pulled, None
        for start, _, G in problem.design.rmatmul_blocks(U, self.block) if known is None else ((0, self.d, known),):
            count = listing(G, start, count)
            pause()
        if problem.intercept:
            count = listing(U.sum(axis=0, keepdims=True), self.d, count)
        self.count = count

    def move(self, problem: Problem, step: float) -> None:
        """W⁺ = prox(V − step·G) and its scores, from the rows that were listed."""
        listed, lam = self.listed[: self.count], problem.lam
        if isinstance(problem.regulariser, BlockRegulariser):
            prox_listed_blocks(
                listed,
                self.V,
                self.G,
                self.old,
                step,
                lam,
                *problem.regulariser.parts,
                self.coef,
                self.used,
                self.report,
            )
        else:
            prox_listed(
                listed,
                self.V,
                self.G,
                self.old,
                step,
                self.lengths,
                lam,
                problem.row_penalty,
                self.d,
                self.coef,
                self.used,
                self.report,
            )
        self.slope, self.size = float(self.report[SLOPE]), float(self.report[SIZE])
        self.omega, self.turn = float(self.report[OMEGA]), float(self.report[TURN])
        problem.design.matmul(self.coef, self.Z, np.flatnonzero(self.used[: self.d]))
        self.passes += 1.0


def proximal_step(problem: Problem, state: ProximalState, beta: float, line_search: bool, growth: float) -> None:
    """Step from V = W + β(W − W'): gradient, prox, and with line search the growth of K. Writes coef and Z."""
    n, (y, loss) = problem.n, problem.terms
    state.exchange()
    if state.extrapolates:  # Z is linear in W; the array of the older scores is free for those of V
        extrapolate(state.old_Z, state.Z, problem.dtype.type(beta))
    state.f = loss_gradient(state.Z if state.extrapolates else state.old_Z, y, loss, state.U) / n
    pause()
    state.take_gradient(problem, state.U, beta)
    eps = float(np.finfo(problem.dtype).eps)
    for trial in range(1, MOST_TRIALS + 1):
        pause()
        state.move(problem, 1.0 / state.K)
        state.trials = float(trial)
        if not line_search:
            break
        value = loss_sum(state.Z, y, loss) / n
        bound = state.f + state.slope + 0.5 * state.K * state.size
        slack = 8.0 * eps * (abs(state.f) + abs(value))
        if value <= bound - slack:
            break
        if value <= bound + slack + _noise(problem, state) and _curves_less(problem, state):
            break
        state.K *= growth
    state.step_size = 1.0 / state.K
    state.working_set = float(problem.rows)
    state.iteration += 1


def _noise(problem: Problem, state: ProximalState) -> float:
    """Return how far rounding of the scores, sums over the features, changes the mean loss: far more than rounding of
    its value, where hinges are small."""
    eps = float(np.finfo(problem.dtype).eps) * math.sqrt(problem.rows)
    return 8.0 * eps * float(np.linalg.norm(state.U)) * float(np.linalg.norm(state.Z)) / problem.n


def _curves_less(problem: Problem, state: ProximalState) -> bool:
    """Return whether the curvature along a step is at most K, judged by its gradients.

    They tell it even where the values of the loss differ by rounding only, and steps too long for K would never settle.
    """
    if state.extrapolates:  # the scores of V are gone
        return True
    if state.turned is None:
        state.turned = np.empty_like(state.U)
    _, turn = turned_gradient(state.Z, state.old_Z, *problem.terms, state.U, state.turned)
    size = float(np.linalg.norm(state.U)) + float(np.linalg.norm(state.Z))
    noise = 8.0 * float(np.finfo(problem.dtype).eps) * size * float(np.linalg.norm(state.Z - state.old_Z))
    return bool(turn <= problem.n * state.K * state.size + noise)


def first_constant(problem: Problem, line_search: bool, kind: str) -> float:
    """K to begin with: the full constant, or for a line search the largest block constant, which is below it."""
    K = float(problem.block_constants("class-aware").max()) if line_search else problem.full_constant(kind)
    return max(K, 1e-12)


@settings
class Proximal(Solver):
    """The settings of ISTA and FISTA, and how both begin. It is not a method: ``step`` is theirs."""

    columns = STEP_COLUMNS
    takes_blocks = takes_partitions = True
    takes_sample_weights = takes_feature_weights = True
    line_search: bool = field(False, doc="raise K until the quadratic bound holds, instead of a constant K")
    constants: str = field("class-aware", choices=KINDS, doc="which constant K (without line search)")
    growth: float = field(2.0, 1.1, 10.0, "factor by which a line search raises K")
    step_length: float = field(
        1.0,
        0.1,
        20.0,
        "constant step in units of the safe 1/K; above 1 it is not safe, and the iterates may diverge",
        log=True,
    )

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """Advice against divergence."""
        if self.step_length > 1.0 and not self.line_search:
            return f"choose a step length of at most 1 (it is {self.step_length:g}, which is not safe)"
        return Solver.remedy

    def idle(self, problem: Any) -> dict[str, str]:
        if not self.line_search:
            return {"growth": "A constant step has no line search."}
        why = "A line search finds the step."
        return {"step_length": why, "constants": why}

    def start(self, problem: Problem, coef: np.ndarray) -> ProximalState:
        state = ProximalState(problem, coef)
        self.adapt(problem, state)
        return state

    def adapt(self, problem: Problem, state: ProximalState) -> None:
        state.K = first_constant(problem, self.line_search, self.constants)
        if not self.line_search:
            state.K /= self.step_length
