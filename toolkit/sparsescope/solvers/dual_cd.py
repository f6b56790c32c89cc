"""Dual coordinate descent for the Crammer–Singer hinge with ridge (Keerthi et al. 2008, the sequential dual method).

With C_i = ω_i/(nλ) (ω_i = 1 without sample weights) and W(u) = Σ_i x_i (C_i·e_y − u_i)ᵀ, F/λ has the dual
    max_u Σ_i μ Σ_{k≠y} u_ik − ½‖W(u)‖²,   u_ik ≥ 0, Σ_k u_ik = C_i          (α_i = C_i·e_y − u_i in the paper)

    now and then: conjugate gradients on the entries of u above zero (solvers/shared/dual_face.py)
    for all samples i, in random order, and all classes:
        g ← W ᵀx_i + μ(1 − e_y);   u_i ← P(u_i + g/‖x_i‖²), the projection on its simplex;   W with it
        the active classes of i are those with mass, and those that may get some at its next step
    the same over the active classes alone, for the samples that still move, until that was ``ratio`` times as much work
    or gains less for its work than the first sweep

A sample that the first sweep left where it was is left out of the next ones: of one, then of three, at most of seven.
The projection is the exact minimum over a row. Memory: O(n·m + d·m).
"""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

import numpy as np

from ..kernels.coordinates import walk
from ..kernels.dual_coordinates import (
    GAINED,
    REPORT,
    VISITS,
    WORST,
    DualRows,
    sweep_all,
    sweeps_active,
    weights_of,
    work_of,
)
from ..kernels.dual_weights import ByClass, ByFeature
from ..kernels.rows import loss_sum
from ..kernels.splitting import hinge_facts, smoothed_duals
from ..pauses import parts_of, pause, to_the_end
from ..problems.base import Certificate
from ..problems.certificate import double_scores
from ..problems.linear_algebra import inner
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import Solver, State, settings
from .shared.columns import DUAL_COLUMNS, FIXED_STEP_COLUMNS
from .shared.dual_face import Face, FaceSteps, descend
from .shared.dual_points import certificate_of_duals, refuses_hinge
from .shared.in_parts import PART
from .shared.pacing import Naps

ACTIVE = 1e-6  # a hinge counts as active above this share of the margin
STILL = 0.1  # sweeps over active classes leave out samples whose last step gained less than this share of the mean
RATIO = 4.0  # work of these sweeps against that of the sweep over all classes
SLACK = 1e-3  # least distance from the classes with mass, against the margin, at which a class is not active
REFRESHED = 100  # iterations after which W is made anew of the dual point, which takes out rounding
NAN = float("nan")


class DualState(State):
    """State of dual coordinate descent.

    rows : the dual rows u, and what sweeps keep of each sample · V float64: W(u), held as ``layout`` says · coef : the
    weights shown: V in the precision of the data, or weights that the run began at while ``held``, their objective, is
    below that of V
    samples, squares, lengths : X by rows, as a dense array if ``full``, ‖x_i‖² and stored entries · most (n,): C_i
    margin : μ · slack : see :func:`sweep_all` · work : entries of W read and changed by sweeps so far
    naps : samples that sweeps leave out · faces : when conjugate gradients are due
    """

    layout: Any  # ByClass or ByFeature

    def __init__(self, problem: Problem, coef: np.ndarray, seed: int, full: bool) -> None:
        self.bare()
        self.d, self.frame, self.dtype = problem.d, problem.design.frame, problem.dtype
        self.design, self.y = problem.design, problem.y
        n, m = problem.n, problem.m
        self.coef, self.held = coef, math.inf
        if full:
            self.samples, self.layout, self.V = problem.design.double_samples, ByClass, np.zeros((m, problem.d))
            X = self.samples.XT
            self.lengths, self.squares = np.full(n, problem.d), np.einsum("ij,ij->i", X, X)
        else:
            self.samples, self.layout, self.V = problem.design.sparse_samples, ByFeature, np.zeros((problem.d, m))
            data, self.lengths = self.samples.data, np.diff(self.samples.indptr)
            self.squares = np.bincount(np.repeat(np.arange(n), self.lengths), weights=data * data, minlength=n)
        self.rows = DualRows(  # type: ignore[call-arg]
            np.zeros((n, m)), np.zeros((n, m), np.int32), np.zeros(n, np.int32), np.zeros(n)
        )
        self.naps = Naps(n)
        self.faces = FaceSteps()
        self.report, self.work = np.zeros(REPORT), 0.0
        self.rng = np.random.default_rng(seed)
        self.margin, self.slack, self.C = NAN, NAN, NAN
        self.most = np.empty(0)
        self._scores: np.ndarray | None = None
        self.take_scaling(problem)

    @property
    def Z(self) -> np.ndarray:  # type: ignore[override]
        """Scores (n, m) of the weights shown; made when they are asked for, which the steps do not."""
        if self._scores is None:
            self._scores = self.design.matmul(self.coef, np.empty((self.y.size, self.coef.shape[1]), self.dtype))
        return self._scores

    def copy(self) -> Any:
        shared = (self.design, self.samples, self.y, self.squares, self.lengths)
        return copy.deepcopy(self, {id(part): part for part in shared})

    def dual_rows(self, U: np.ndarray) -> bool:
        np.divide(self.rows.shares, self.C, out=U)
        samples = np.arange(self.y.size)
        U[samples, self.y] = 0.0
        U[samples, self.y] = -U.sum(axis=1)
        return True

    # ------------------------------------------------------------------------------------------------- the dual point
    def take_scaling(self, problem: Problem) -> None:
        """λ, margin and weights of samples of a problem."""
        self.C = 1.0 / (problem.n * problem.lam)
        self.most = np.full(problem.n, self.C)
        if problem.sample_weight is not None:
            self.most *= problem.sample_weight
        self.margin = float(problem.loss.margin)
        self.slack = self.margin
        self.naps.wake_all()
        self.faces = FaceSteps()

    def take_duals(self, U: np.ndarray | None) -> None:
        """Take dual rows of the loss (n, m), or the best multiple of them; ``None``: those of zero weights."""
        shares, samples = self.rows.shares, np.arange(self.y.size)
        shares[:] = 0.0 if U is None else np.maximum(U, 0.0) * self.C
        shares[samples, self.y] = 0.0
        total = shares.sum(axis=1)
        over = total > self.most
        shares[over] *= (self.most[over] / total[over])[:, None]
        empty = self.squares == 0.0  # only the margin counts there: all mass belongs off the class
        shares[empty] = 0.0
        shares[samples[empty], (self.y[empty] + 1) % shares.shape[1]] = self.most[empty]
        self.balance()
        self.refresh()
        size = inner(self.V, self.V)
        linear = self.margin * (self.off_mass() - float(self.most[empty].sum()))
        if size > linear:
            shares[~empty] *= max(linear, 0.0) / size
            self.balance()
            self.refresh()

    def balance(self) -> None:
        """The own class of each sample carries what the others leave of C_i."""
        shares, samples = self.rows.shares, np.arange(self.y.size)
        shares[samples, self.y] = 0.0
        shares[samples, self.y] = np.maximum(self.most - shares.sum(axis=1), 0.0)

    def off_mass(self) -> float:
        """Sum of the dual entries off the own classes, added without them: most of the mass may be there."""
        shares, own = self.rows.shares, (np.arange(self.y.size), self.y)
        kept = shares[own]
        shares[own] = 0.0
        total = float(shares.sum())
        shares[own] = kept
        return total

    def refresh(self) -> None:
        """V anew."""
        weights_of(self.samples, self.y, self.most, self.rows.shares, self.layout(self.V))

    def show(self, problem: Problem) -> None:
        """Show V, unless the weights that the run began at are still better."""
        shown = self.V if self.layout is ByFeature else self.V.T
        shown = np.ascontiguousarray(shown, dtype=self.dtype)  # no copy of V where it is held like this
        if self.held < math.inf:
            scores = problem.design.matmul(shown, np.empty((problem.n, problem.m), self.dtype))
            loss = loss_sum(scores, *problem.terms) / problem.n
            if not loss + problem.lam * problem.regulariser.value(shown)[0] <= self.held:
                return
            self.held = math.inf
        self.coef, self._scores = shown, None

    def hold(self, problem: Problem) -> None:
        """Show the present weights until V is better."""
        if self.coef is self.V:
            self.coef = self.V.copy()
        loss, omega, _, _ = self.point(problem)
        self.held = loss + problem.lam * omega


@settings
class DualCD(Solver):
    """Sequential dual method for the multiclass hinge with ridge (Keerthi et al. 2008), certified with its dual point.

    Samples and classes that do not move are left out of most sweeps.
    """

    inner: int = field(20, 0, 100, "largest number of sweeps over the active classes alone after each over all")
    shrinking: bool = field(True, doc="samples that stand still are left out for a while")
    faces: bool = field(True, doc="conjugate gradients on the non-zero duals, where they gain more than sweeps")
    seed: int = field(0, 0, 2**31 - 1, "seed of the order of the samples")

    title = "Dual coordinate descent"
    menu_order = 82
    columns: ClassVar[tuple[Column, ...]] = (*FIXED_STEP_COLUMNS, *DUAL_COLUMNS)
    remark = (
        "For `crammer-singer` with `ridge`, without intercept. Its weights are a function of its dual point: of given "
        "weights it takes a dual point near them, and shows them until it has found better ones."
    )
    contract_settings = ({"inner": 0}, {"shrinking": False}, {"faces": False}, {"seed": 7})
    doc = "One sample's dual row after the other, each minimised exactly; for the multiclass hinge with ridge."
    source = "Keerthi et al. 2008; conjugate gradients on faces: Moré and Toraldo 1991"
    losses = ("crammer-singer",)
    only_penalties = ("ridge",)
    takes_intercept = False
    takes_sample_weights = True
    remedy = "choose a larger λ"

    def refuses(self, problem: Problem) -> str | None:
        return refuses_hinge(self, problem)

    # -------------------------------------------------------------------------------------------------- begin and go on
    def start(self, problem: Problem, coef: np.ndarray) -> DualState:
        return self._begin(problem, coef, problem.design.is_full)

    def _begin(self, problem: Problem, coef: np.ndarray, full: bool) -> DualState:
        """Make a state; ``full``: with samples as a dense array."""
        state = DualState(problem, coef, self.seed, full)
        U = None
        if coef.any():
            U = np.empty((problem.n, problem.m), problem.dtype)
            smoothed_duals(state.Z, *problem.terms, 1.0 / state.margin, U)
            state.hold(problem)
        state.take_duals(U)
        return state

    def warm_start_from(self, problem: Problem, state: State) -> DualState:
        taken = self.start(problem, state.dense(problem))
        U = np.empty((problem.n, problem.m))
        if state.dual_rows(U):
            taken.take_duals(U)
        return taken

    def adapt(self, problem: Problem, state: DualState) -> None:
        U = np.empty_like(state.rows.shares)
        state.dual_rows(U)
        state.hold(problem)
        state.take_scaling(problem)
        state.take_duals(U)

    def variant(self, problem: Problem) -> bool:
        return bool(problem.design.is_full)

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = self._begin(tiny, np.ones((tiny.d, tiny.m), tiny.dtype), problem.design.is_full)
        self.step(tiny, state)
        descend(Face(state.rows.shares, state.y, state.margin), state)
        return state

    # ------------------------------------------------------------------------------------------------------- the steps
    def step(self, problem: Problem, state: DualState) -> None:
        data = state.samples, state.squares, state.y, state.margin, state.most
        gains, report, weights = state.rows.gains, state.report, state.layout(state.V)
        if self.faces:  # before the sweeps: a face is minimised without regard to what lies off it
            state.passes += state.faces.phase(state)
        report[:] = 0.0
        order = self.awake(state)
        for start, stop in parts_of(state.lengths[order] * float(problem.m), PART):
            sweep_all(*data, order[start:stop], state.slack, state.rows, weights, report)
            pause()
        state.slack = max(min(state.slack, 0.5 * report[WORST]), SLACK * state.margin)
        self.send_to_sleep(state, order)
        gained, first = float(gains[order].sum()), float(work_of(report))
        at = walk(problem.n, int(state.rng.integers(2**31)))
        rules = self.inner, STILL if self.shrinking else -1.0, gained / first if first > 0.0 else 0.0
        limit = (1.0 + RATIO) * first
        to_the_end(lambda: bool(sweeps_active(*data, *rules, limit, state.rows, weights, at, PART // 2, report)))
        gained += float(report[GAINED])
        state.passes += 2.0 * (order.size + float(report[VISITS])) / problem.n
        done = float(work_of(report))
        state.work += done
        state.faces.swept(done, gained)
        state.iteration += 1
        if state.iteration % REFRESHED == 0:
            state.refresh()
        state.step_size = problem.n / max(float(state.squares.sum()), 1e-300)  # 1/Q of the mean sample
        state.working_set = float(problem.rows)
        state.show(problem)

    def awake(self, state: DualState) -> np.ndarray:
        """Return the samples of a sweep over all classes, in random order: those that are not left out.

        Parameters
        ----------
        state
            the state.

        Returns
        -------
        np.ndarray
            their numbers.
        """
        awake = state.naps.awake()
        return state.rng.permutation(awake[state.squares[awake] > 0.0])

    def send_to_sleep(self, state: DualState, order: np.ndarray) -> None:
        """Leave samples that did not move out of the next sweeps, and those that did in.

        Parameters
        ----------
        state
            the state.
        order
            the samples of the last sweep over all classes.
        """
        if not self.shrinking:
            return
        state.naps.rest(order, state.rows.gains[order] == 0.0)

    # ------------------------------------------------------------------------------------------------- what is proved
    def certificate(self, problem: Problem, state: DualState, work: Any = None) -> Certificate:
        """Evaluate objective and dual value of the state; ``violation`` is the bound of λ‖W − W*‖_F from the gap.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        work
            a workspace, for data in single precision.

        Returns
        -------
        Certificate
            the certificate.
        """
        Z, coef = state.Z, state.coef
        if state.dtype != np.float64:
            coef = coef.astype(np.float64)
            Z = double_scores(problem, coef, np.empty(Z.shape))
        loss = loss_sum(Z, *problem.terms) / problem.n
        omega, rows, entries = problem.regulariser.value(coef)
        dual = problem.lam * (state.margin * state.off_mass() - 0.5 * inner(state.V, state.V))
        shares, own = state.rows.shares, state.y
        _, active, positive = hinge_facts(Z, shares, own, problem.loss, ACTIVE * state.margin)
        positive -= int(np.count_nonzero(shares[np.arange(own.size), own]))
        return certificate_of_duals(problem, dual, loss, omega, problem.lam, (rows, entries, active, positive))


solvers.add("dual-cd", DualCD)
