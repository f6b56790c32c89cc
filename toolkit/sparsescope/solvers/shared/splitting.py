"""Common parts of the primal–dual splitting methods: their state, step sizes, restarts, and the dual point for the gap.

A step maps the point v = (V, Q) of primal and dual variables to its image T(v) = (W, U); the state shows W, which comes
out of a prox and is sparse, and proves its gap with U, which comes out of a projection. ``acceleration`` says what the
next point is:

    none       v ← T(v): the papers' iteration
    restarts   v ← (k+1)/(k+2)·(2T(v) − v) + 1/(k+2)·v₀, k = 0, 1, …  (Halpern's iteration of the reflected operator;
               Lu and Yang 2024); it begins again at v₀ = T(v) when the fixed-point residual ‖v − T(v)‖_M of
               M = [1/τ, −Kᵀ; −K, 1/σ] has fallen to 0.2 of what it was at v₀; when it is below 0.8 of it and rises; or
               when this epoch is long against all steps so far. Then √(σ/τ) moves towards ‖U − Q₀‖/‖W − V₀‖, half the
               way in the logarithm. Where the penalty leaves most of many features unused, the steps are those of the
               problem on some of them (solvers/restriction.py).
    leaps      the same, and now and then the fixed point of the piece on which T is at v (solvers/leap.py) is tried. It
               is taken if the residual there is below a hundredth of that at v. It costs at most a tenth of the steps
               so far. Near the end that is much faster at times; where a small residual says little (ℓ1 on few samples,
               a linear program) it can lead away, which is why it is not the default.

An intercept is moved in a separate frame (except for ``steps="paper"``): the column of ones is made orthogonal to the
others and as long as all of them together, or the solution would wait for it.
"""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from ...kernels.splitting import CROSS, MOVED, REPORT, descend, hinge_facts, mix, smoothed_duals
from ...problems.prediction import Problem
from ...registry import Column, field, losses
from ..base import Solver, State, settings
from ..parallel_bcd import cores, together
from .columns import DUAL_COLUMNS
from .leap import FIRST_LEAP, framed, leap
from .restriction import Restriction, choose, worthwhile

SUFFICIENT, NECESSARY, LONG = 0.2, 0.8, 0.36  # when an epoch ends
DAMPING = 0.5  # share of the way, in the logarithm, that the weight of primal and dual moves at a restart
MOST_SHIFT = 100.0  # ... from anything further than this factor away, as if it were there
ACTIVE = 1e-6  # a hinge counts as active above this share of the margin
BLOCK_BYTES = 400_000  # gradient rows that are held at once: they should stay in the cache until they are used


class SplittingState(State):
    """State of the splitting methods.

    coef, Z : the image W of the last step and its scores · U : (n, m) its dual rows, in the domain of ℓ*
    V, VZ, Q : the point from which the next step goes: weights, their scores, dual rows
    V0, VZ0, Q0 : where the epoch began (the point itself if there are no epochs) · epoch : steps since then
    weight : √(σ/τ) · norm : ‖K‖ of the operator that couples primal and dual
    means, scale : x̄ and s of an intercept that is moved in a separate frame (``means`` is ``None`` without)
    residual, first_residual : ‖v − T(v)‖_M of the last step, and of the first one of the epoch
    next_leap : the step after which a leap is tried
    part, inner : the features worked on, and the state on the problem with these alone (``None``: on all features);
        this state then shows the inner one's weights and shares its arrays of samples, named in ``of_samples``
    """

    of_samples: ClassVar[tuple[str, ...]] = ("U",)

    def __init__(self, problem: Problem, coef: np.ndarray, threads: int, anchored: bool) -> None:
        super().__init__(problem, coef)
        self.U = np.zeros_like(self.Z)
        self.V, self.VZ, self.Q = np.empty_like(coef), np.empty_like(self.Z), np.empty_like(self.Z)
        self.V0, self.VZ0, self.Q0 = (
            (np.empty_like(a) for a in (self.V, self.VZ, self.Q)) if anchored else (self.V, self.VZ, self.Q)
        )
        self.reports = np.zeros((threads, REPORT))
        self.shares = [int(i) for i in np.linspace(0, problem.n, threads + 1)]
        self.buffer = np.empty((0, problem.m), dtype=problem.dtype)
        self.weight = self.norm = float("nan")
        self.means: np.ndarray | None = None
        self.scale = 1.0
        self.residual = self.first_residual = float("inf")
        self.epoch = 0
        self.next_leap = FIRST_LEAP
        self.part: Restriction | None = None
        self.inner: Any = None
        self.whole = False  # it was found that most features matter
        self.choices = self.since = 0  # of the features to work on, and steps since the last

    def triples(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(image, point, anchor) of everything that moves."""
        return [(self.coef, self.V, self.V0), (self.Z, self.VZ, self.VZ0), (self.U, self.Q, self.Q0)]

    def mass(self, problem: Problem) -> float:
        """Return the sum of the dual rows of the state in a problem without λ: 1/(nλ) of the problem that it solves."""
        return 1.0 / (problem.n * problem.lam)

    def dual_rows(self, U: np.ndarray) -> bool:
        U[:] = self.U
        if self.U.dtype != U.dtype:
            into_domain(U)
        return True

    def dual_facts(self, problem: Problem) -> dict[str, float]:
        margin = problem.loss.margin
        _, active, entries = hinge_facts(self.Z, self.U, problem.y, problem.loss, ACTIVE * margin)
        return {"active_share": active / problem.n, "dual_entries": entries / problem.n}

    def settle(self) -> None:
        """The next epoch begins at the image."""
        for image, point, anchor in self.triples():
            point[:] = image
            if anchor is not point:
                anchor[:] = image
        self.epoch = 0
        self.first_residual = self.residual = float("inf")


def into_domain(U: np.ndarray) -> None:
    """Move rounded dual rows of a hinge of the worst pair into the domain of ℓ*, in place: every row sums to zero, its
    positive entries to at most 1."""
    up, down = np.maximum(U, 0.0), np.maximum(-U, 0.0)
    received, sent = up.sum(axis=1, keepdims=True), down.sum(axis=1, keepdims=True)
    mass = np.minimum(np.minimum(received, sent), 1.0)
    none = mass == 0.0
    np.subtract(up * (mass / np.where(none, 1.0, received)), down * (mass / np.where(none, 1.0, sent)), out=U)


@settings
class Splitting(Solver):
    """The settings of the splitting methods, and how a step goes. It is not a method: what is projected is theirs."""

    acceleration: str = field(
        "restarts",
        choices=("restarts", "leaps", "none"),
        doc="restarted, reflected Halpern steps, the same with leaps to where they lead, or the "
        "paper's plain iteration",
    )
    steps: str = field(
        "adaptive",
        choices=("adaptive", "balanced", "paper"),
        doc="√(σ/τ): moved at restarts, kept at its first guess, or 1 with the paper's bound of τσ",
    )
    balance: float = field(1.0, 1e-4, 1e4, "√(σ/τ): factor on its first guess; W moves by τ, dual by σ", log=True)
    threads: int = field(1, 0, cores(), "threads for the projections, at most as many as there are cores; 0 takes all")

    losses: ClassVar[tuple[str, ...]] = ("crammer-singer",)
    contract_settings: ClassVar[tuple[dict[str, Any], ...]] = (
        {"acceleration": "leaps"}, {"acceleration": "none"}, {"steps": "balanced"}, {"steps": "paper"},
        {"balance": 3.0}, {"threads": 0},
    )  # fmt: skip
    columns: ClassVar[tuple[Column, ...]] = DUAL_COLUMNS
    takes_blocks = True
    telling: ClassVar[int] = 1  # steps of an epoch that moves the weight of primal and dual
    remedy = "choose a larger λ, another balance of the steps or another solver"

    def refuses(self, problem: Problem) -> str | None:
        if not any(isinstance(problem.loss, losses[name]) for name in self.losses):
            return (
                f"{self.name} solves the Crammer–Singer hinge (crammer-singer) and no other loss; the "
                f"{problem.loss.title} loss is for other solvers, such as auto"
            )
        return None

    def count(self) -> int:
        """Return the number of threads."""
        return self.threads or cores()

    # ------------------------------------------------------------------------------------------------ begin and go on
    def start(self, problem: Problem, coef: np.ndarray) -> SplittingState:
        state = self.make_state(problem, coef)
        self.start_dual(problem, state)
        if not self.restricts(problem):
            state.settle()
        return state

    def make_state(self, problem: Problem, coef: np.ndarray) -> SplittingState:
        """The arrays, and the first step sizes."""
        state = self.new_state(problem, coef)
        if not self.restricts(problem):  # else the norm of the whole operator may never be needed
            self.set_steps(problem, state)
        return state

    def new_state(self, problem: Problem, coef: np.ndarray) -> SplittingState:
        """The arrays."""
        return SplittingState(problem, coef, self.count(), self.acceleration != "none")

    def start_dual(self, problem: Problem, state: SplittingState) -> None:
        """A dual point that goes with the weights: at zero the subgradient behind λ_max, elsewhere a smoothed one."""
        if not state.coef[: problem.d].any():
            state.U[:] = problem.null_duals
        else:
            smoothed_duals(state.Z, *problem.terms, 1.0 / problem.loss.margin, state.U)

    def set_steps(self, problem: Problem, state: SplittingState) -> None:
        """‖K‖ and the first guess of √(σ/τ)."""
        paper = self.steps == "paper"
        state.norm = max(self.coupling(problem, state, differences=paper), 1e-150)
        state.weight = self.balance * (1.0 if paper else state.norm / problem.loss.margin)

    def coupling(self, problem: Problem, state: SplittingState, differences: bool) -> float:
        """‖K‖; with an intercept also its frame, but for the paper's steps."""
        if not problem.intercept or self.steps == "paper":
            return math.sqrt(problem.operator_norm(differences))
        state.means, state.scale, norm = problem.centred_norm(differences)
        return math.sqrt(norm)

    def warm_start_from(self, problem: Problem, state: State) -> SplittingState:
        taken = super().warm_start_from(problem, state)
        assert isinstance(taken, SplittingState)
        # A budget has a multiplier besides its dual rows, which only states of this family know.
        if (self.follows_lam or isinstance(state, SplittingState)) and state.dual_rows(taken.U):
            if isinstance(state, SplittingState):
                self.carry(problem, state, taken)
            taken.settle()
        return taken

    def carry(self, problem: Problem, old: SplittingState, new: SplittingState) -> None:
        """Bring what ``old`` has besides weights and dual rows into a new state, which has those already."""
        if self.steps == "adaptive" and type(old) is type(new):
            new.weight = old.weight

    def adapt(self, problem: Problem, state: SplittingState) -> None:
        state.part = state.inner = state.working = None
        state.whole, state.choices, state.next_leap = False, 0, state.iteration + FIRST_LEAP
        state.settle()

    # --------------------------------------------------------------------------------------------- few of many features
    def restricts(self, problem: Problem) -> bool:
        """Whether steps may be those of the problem on some of the features."""
        return self.acceleration != "none" and worthwhile(problem)

    def strength(self, problem: Problem) -> float:
        """Return the bound of the dual norm of XᵀU."""
        return problem.n * problem.lam

    def choose_features(self, problem: Problem, state: SplittingState) -> None:
        """Choose the features to work on, when an epoch has just ended and the last choice has paid for itself."""
        if state.part is not None and (
            state.inner.epoch > 0 or state.since < max(10, problem.d / state.part.rows.size)
        ):
            return
        part = choose(problem, state.U, state.coef, self.strength(problem), state.part, state.choices)
        state.choices, state.since = state.choices + 1, 0
        state.passes += 1.0
        if part is not None and part is state.part:  # None, the first time: the whole problem's step sizes
            return
        state.part = part
        if part is None:
            state.inner, state.working, state.whole = None, None, True
            weight = state.weight
            self.set_steps(problem, state)
            if self.steps == "adaptive" and weight == weight:
                state.weight = weight
            state.settle()
            return
        inner = self.new_state(part.problem, state.coef[part.coef_rows])
        for name in state.of_samples:
            value = getattr(state, name)
            setattr(inner, name, value.copy() if isinstance(value, np.ndarray) else value)
        self.set_steps(part.problem, inner)
        if self.steps == "adaptive" and state.weight == state.weight:
            inner.weight = state.weight
        inner.settle()
        # Rows that left the part are zero; what it brings in starts from what is there.
        state.inner, state.working = inner, part.flags.astype(np.uint8)

    def step(self, problem: Problem, state: SplittingState) -> None:
        if not state.whole and self.restricts(problem):
            self.choose_features(problem, state)
        part, inner = state.part, state.inner
        if part is None:
            self.advance(problem, state)
            return
        before = inner.passes
        self.advance(part.problem, inner)
        state.coef[part.coef_rows] = inner.coef
        state.Z = inner.Z
        for name in state.of_samples:
            setattr(state, name, getattr(inner, name))
        state.weight, state.norm, state.step_size = inner.weight, inner.norm, inner.step_size
        state.working_set = float(part.rows.size + problem.intercept)
        state.iteration += 1
        state.since += 1
        state.passes += (inner.passes - before) * part.problem.design.nnz / problem.design.nnz

    # ------------------------------------------------------------------------------------------------------ the steps
    def advance(self, problem: Problem, state: SplittingState) -> None:
        """A step with all features of a problem."""
        before = state.residual
        state.residual = self.move(problem, state, self.mixing(state))
        state.iteration += 1
        state.epoch += 1
        state.step_size = problem.n / (state.weight * state.norm)
        state.working_set = float(problem.rows)
        if state.epoch == 1:
            state.first_residual = state.residual
        if self.acceleration != "none" and self.ends(state, before):
            self.restart(state)
        if self.leaps(problem) and state.iteration >= state.next_leap:
            leap(self, problem, state)

    def move(self, problem: Problem, state: SplittingState, weights: tuple[float, float, float]) -> float:
        """The image of the point, and the next point: image, point and anchor by ``weights``; returns the residual."""
        tau, sigma = 1.0 / (state.weight * state.norm), state.weight / state.norm
        moved = self.primal(problem, state, tau, weights)
        problem.design.matmul(state.coef, state.Z)
        self.prepare_dual(problem, state, sigma)
        self.parallel(state, functools.partial(self.dual, problem, state, sigma, weights))
        report = state.reports.sum(axis=0)
        state.passes += 2.0
        return math.sqrt(max(moved / tau + report[MOVED] / sigma - 2.0 * report[CROSS], 0.0))

    def mixing(self, state: SplittingState) -> tuple[float, float, float]:
        """(a, b, c) of the next point a·image + b·point + c·anchor."""
        if self.acceleration == "none":
            return 1.0, 0.0, 0.0
        share = (state.epoch + 1.0) / (state.epoch + 2.0)
        return 2.0 * share, -share, 1.0 - share

    def primal(self, problem: Problem, state: SplittingState, tau: float, weights: tuple[float, float, float]) -> float:
        """W ← prox_{nλτΩ}(V − τXᵀQ), a block of rows at a time, and V mixed; returns ‖W − V‖²."""
        return self.descend(problem, state, tau, problem.n * problem.lam * tau, weights)

    def descend(
        self, problem: Problem, state: SplittingState, tau: float, threshold: float, weights: tuple[float, float, float]
    ) -> float:
        """W ← prox_{threshold·Ω}(V − τXᵀQ) (the intercept without prox), and V mixed; returns ‖W − V‖².

        In its frame the intercept is (b + x̄ᵀW)/s, which belongs to the column s·1, and W to X − 1x̄ᵀ: the same scores.
        """
        regulariser, moved, means = problem.regulariser, 0.0, state.means
        total = state.Q.sum(axis=0, keepdims=True) if problem.intercept else None
        drift = 0.0
        for start, stop, G in problem.design.rmatmul_blocks(state.Q, self.buffer(problem, state)):
            image, point, anchor = state.coef[start:stop], state.V[start:stop], state.V0[start:stop]
            if means is not None:
                G -= means[start:stop, None] * total
            descend(point, G, tau, image)
            regulariser.prox(image, threshold, image)
            if means is not None:
                drift = drift + means[start:stop] @ (image - point)
            moved += mix(image, point, anchor, *weights)
        if total is not None:
            d = problem.d
            image, point, anchor = state.coef[d:], state.V[d:], state.V0[d:]
            length = tau * state.scale**2
            descend(point, total, length, image)
            moved += tau * length * float((total.astype(np.float64) ** 2).sum())
            image -= drift
            mix(image, point, anchor, *weights)
        return moved

    def buffer(self, problem: Problem, state: SplittingState) -> np.ndarray:
        """Room for as many rows of a sparse product as the penalty has to see together."""
        rows = problem.d
        if not problem.regulariser.needs_all_rows:
            rows = max(1, min(rows, BLOCK_BYTES // (problem.m * problem.dtype.itemsize)))
        if problem.design.is_sparse and state.buffer.shape[0] != rows:
            state.buffer = np.empty((rows, problem.m), dtype=problem.dtype)
        return state.buffer

    def dual(
        self, problem: Problem, state: SplittingState, sigma: float, weights: tuple[float, float, float], t: int
    ) -> None:
        """The dual half of a step for the samples of thread t."""
        raise TypeError(f"{type(self).__name__} does not define its dual step")

    def prepare_dual(self, problem: Problem, state: SplittingState, sigma: float) -> None:
        """Prepare the dual half of a step with quantities of all samples; most methods need none."""

    def parallel(self, state: SplittingState, work: Any) -> list[Any]:
        """The results of ``work(t)`` for every share of the samples, in threads."""
        return together([functools.partial(work, t) for t in range(len(state.shares) - 1)])

    # ---------------------------------------------------------------------------------------------------------- leaps
    def leaps(self, problem: Problem) -> bool:
        """Whether leaps are tried; differences of two images need all digits."""
        return self.acceleration == "leaps" and problem.dtype == np.float64

    # ------------------------------------------------------------------------------------------------------- restarts
    def ends(self, state: SplittingState, before: float) -> bool:
        """Whether the epoch ends with this step; ``before``: the residual of the step before it."""
        now, first = state.residual, state.first_residual
        if state.epoch < 2:
            return False
        return bool(
            now <= SUFFICIENT * first
            or (now <= NECESSARY * first and now > before)
            or state.epoch >= LONG * state.iteration
        )

    def restart(self, state: SplittingState) -> None:
        """Move the weight of primal and dual, and begin the next epoch at the image."""
        step = state.coef - state.V0
        primal = math.sqrt(max(float(np.vdot(step, framed(state, step))), 0.0))
        dual = float(np.linalg.norm(state.U - state.Q0))
        if self.steps == "adaptive" and primal > 0.0 and state.epoch >= self.telling:
            # A dual point that stands still (a budget that is kept without it) needs longer primal steps as well.
            wanted = min(max(dual / primal, state.weight / MOST_SHIFT), state.weight * MOST_SHIFT)
            state.weight = wanted**DAMPING * state.weight ** (1.0 - DAMPING)
        state.settle()
