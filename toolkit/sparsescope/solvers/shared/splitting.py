"""Common parts of the primal–dual splitting methods: their state, first step sizes, and the wrappers of an iteration.

An iteration maps the point v = (V, Q) of primal and dual variables to its image T(v) = (W, Y): that is a method's
``iterate``, as its paper prints it. The state shows W, which comes out of a prox and is sparse, and proves its gap with
Y, which comes out of a projection. Three wrappers go round ``iterate``, each in a file with its reasons:

    restarts.py     ``acceleration="restarts"``: the next point is an average that begins anew now and then;
                    ``"none"`` is the papers' v ← T(v)
    leap.py         ``acceleration="leaps"``: the same, and now and then the fixed point of the piece on which T is at v
                    is tried; taken if the residual there is below a hundredth of that at v. It costs at most a tenth of
                    the steps so far. Near the end that is much faster at times; where a small residual says little (ℓ1
                    on few samples, a linear program) it can lead away, which is why it is not the default
    restriction.py  where the penalty leaves most of many features unused, the steps are those of the problem on some
                    of them

An intercept is moved in a separate frame (except for ``steps="paper"``): the column of ones is made orthogonal to the
others and as long as all of them together, or the solution would wait for it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...kernels.splitting import CROSS, MOVED, REPORT, hinge_facts, smoothed_duals
from ...problems.prediction import Problem
from ...registry import Column, field, losses
from ...threads import cores, together
from ..base import Solver, State, settings
from .columns import DUAL_COLUMNS, FIXED_STEP_COLUMNS
from .leap import FIRST_LEAP, PLAIN, leap
from .restarts import rebalance, restarted
from .restriction import Restriction, on_few_features, worthwhile

ACTIVE = 1e-6  # a hinge counts as active above this share of the margin


class SplittingState(State):
    """State of the splitting methods.

    coef, Z : the image W of the last step and its scores · Y : (n, m) its dual rows, in the domain of ℓ*
    V, VZ, Q : the point from which the next step goes: weights, their scores, dual rows
    V0, VZ0, Q0 : where the epoch began (the point itself if there are no epochs) · epoch : steps since then
    tau, sigma : the steps τ and σ, by weight : √(σ/τ) · norm : ‖K‖ of the operator that couples primal and dual
    means, scale : x̄ and s of an intercept that is moved in a separate frame (``means`` is ``None`` without)
    residual, first_residual : ‖v − T(v)‖_M of the last step, and of the first one of the epoch
    next_leap : the step after which a leap is tried
    part, inner : the features worked on, and the state on the problem with these alone (``None``: on all features);
        this state then shows the inner one's weights and shares its arrays of samples, named in ``of_samples``
    """

    of_samples: ClassVar[tuple[str, ...]] = ("Y",)

    def __init__(self, problem: Problem, coef: np.ndarray, threads: int, anchored: bool) -> None:
        super().__init__(problem, coef)
        self.Y = np.zeros_like(self.Z)
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

    @property
    def tau(self) -> float:
        """The primal step τ."""
        return 1.0 / (self.weight * self.norm)

    @property
    def sigma(self) -> float:
        """The dual step σ; τσ‖K‖² = 1."""
        return self.weight / self.norm

    def triples(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(image, point, anchor) of everything that moves."""
        return [(self.coef, self.V, self.V0), (self.Z, self.VZ, self.VZ0), (self.Y, self.Q, self.Q0)]

    def mass(self, problem: Problem) -> float:
        """Return the sum of the dual rows of the state in a problem without λ: 1/(nλ) of the problem that it solves."""
        return 1.0 / (problem.n * problem.lam)

    def dual_rows(self, U: np.ndarray) -> bool:
        U[:] = self.Y
        if self.Y.dtype != U.dtype:
            into_domain(U)
        return True

    def dual_facts(self, problem: Problem) -> dict[str, float]:
        margin = problem.loss.margin
        _, active, entries = hinge_facts(self.Z, self.Y, problem.y, problem.loss, ACTIVE * margin)
        return {"active_share": active / problem.n, "dual_entries": entries / problem.n}

    def shared(self, work: Callable[[int, int, np.ndarray], Any]) -> list[Any]:
        """Call ``work(first, last, report)`` for every share of the samples, in threads; returns the results."""
        if len(self.reports) == 1:
            return [work(0, self.shares[1], self.reports[0])]
        shares = zip(itertools.pairwise(self.shares), self.reports, strict=True)
        return together([functools.partial(work, first, last, report) for (first, last), report in shares])

    def distance(self, moved: float) -> float:
        """Return ‖v − T(v)‖_M of the iteration that has just reported, with M = [1/τ, −Kᵀ; −K, 1/σ].

        Parameters
        ----------
        moved
            ‖W − V‖² of its primal half, in units of τ.

        Returns
        -------
        float
            the fixed-point residual.
        """
        report = self.reports.sum(axis=0)
        return math.sqrt(max(moved / self.tau + report[MOVED] / self.sigma - 2.0 * report[CROSS], 0.0))

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
    columns: ClassVar[tuple[Column, ...]] = (*FIXED_STEP_COLUMNS, *DUAL_COLUMNS)
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
            state.Y[:] = problem.null_duals
        else:
            smoothed_duals(state.Z, *problem.terms, 1.0 / problem.loss.margin, state.Y)

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
        if (self.follows_lam or isinstance(state, SplittingState)) and state.dual_rows(taken.Y):
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
        """Return whether steps may be those of the problem on some of the features."""
        return self.acceleration != "none" and worthwhile(problem)

    def strength(self, problem: Problem) -> float:
        """Return the factor of Ω in what is minimised, which is the bound of the dual norm of XᵀY."""
        return problem.n * problem.lam

    # ------------------------------------------------------------------------------------------------------ the steps
    def step(self, problem: Problem, state: SplittingState) -> None:
        on_few_features(self, problem, state)

    def advance(self, problem: Problem, state: SplittingState) -> None:
        """Iterate once with all features of a problem, with restarts and leaps."""
        state.step_size = problem.n / (state.weight * state.norm)
        state.working_set = float(problem.rows)
        if self.acceleration == "none":
            state.residual = self.iterate(problem, state, PLAIN)
            state.iteration += 1
        else:
            restarted(self, problem, state)
        if self.leaps(problem) and state.iteration >= state.next_leap:
            leap(self, problem, state)

    def iterate(self, problem: Problem, state: SplittingState, mixing: tuple[float, float, float]) -> float:
        """Compute the image of the point, and the next point a·image + b·point + c·anchor; returns ‖v − T(v)‖_M.

        Parameters
        ----------
        problem
            the problem.
        state
            the state, changed in place.
        mixing
            (a, b, c).

        Returns
        -------
        float
            the fixed-point residual at the point the iteration went from.
        """
        raise TypeError(f"{type(self).__name__} does not define its iteration")

    def restart(self, state: SplittingState) -> None:
        """Move the weight of primal and dual, and begin the next epoch at the image."""
        if self.steps == "adaptive" and state.epoch >= self.telling:
            rebalance(state)
        state.settle()

    def leaps(self, problem: Problem) -> bool:
        """Return whether leaps are tried; differences of two images need all digits."""
        return self.acceleration == "leaps" and problem.dtype == np.float64
