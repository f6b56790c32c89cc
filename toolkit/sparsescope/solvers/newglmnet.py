"""newGLMNET: coordinate descent on the exact second-order model, with two levels of shrinking (Yuan et al. 2012).

A few gradient steps from zero weights, where these are cheap, or with many classes and sparse X sweeps over violated
rows until F falls slowly (this project's addition; opening = False leaves them out)
repeat:
    look (when the working set is solved well enough): g ← ∇f(W) and violations of all entries; M ← the largest
        I ← entries in use and those at zero with |g| > t − min(M, t/5): those that a fall of λ by M would bring in
        (the sequential strong rule, Tibshirani et al. 2012)                                   (outer level)
    R_i ← ∇ℓ(z_i)/n, C_i ← ∇²ℓ(z_i)/n
    δ ← coordinate descent in random order over I on the model, whose slopes are those of R + C·Xδ, kept up to date:
        its first sweep needs no gradient. Entries at zero that are well inside are left out until the others are
        solved (inner level); the sweeps end when the violations are a share of those in the first one.
        Where columns are long, sweeps over the Gram matrix XᵀCX of the entries in use go on from the first sweep, if
        making it costs as much as four sweeps (one, with several scores); from the second, if it costs less than those
        to come; or where it costs up to twenty (eight), after some that do not suffice and hardly change which entries
        are in use (this project's addition; gram = False leaves them out).
        Elsewhere conjugate gradients solve the model on these entries then, up to the first change of a sign, in fewer
        steps where that came at once the last time, in more where all did not suffice and no sign changed (this
        project's addition; cg_steps = 0 leaves them out)
        With sparse X an intercept is eliminated from the sweeps: it follows every move (this project's addition).
    W ← W + αδ by Armijo's rule
A working set is solved well enough where the largest violation that the first sweep meets is a share of M, or, once M
is small, where the gap that it stands for (2·violation·Σ|w|, with a ridge Σ violation²/(2·ridge) if that is less) is
some times the one at which the run will stop: that of the first sweep overstates what the iteration leaves. How many
times is learnt from the certificates.
A step on entry (j, k) costs nnz(column j), and m times as much if it moves; one on the Gram matrix of s entries, which
takes n·s² flops of a matrix product to make, costs s. C takes n·m² numbers. A loss that is a sum over scores has
diagonal Hessians: there a move costs nnz(column j), each score has its own Gram matrix, and C takes n·m numbers. Those
of the logistic loss are diag(p) − ppᵀ: from six classes on a step costs twice nnz(column j), moved or not, and C takes
2·n·m numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.coordinates import FIRST, FLOPS, LEFT, SEED, STEPS, SWEEPS, TOP, strong_excess
from ..pauses import pause
from ..problems.base import Certificate
from ..problems.certificate import Known
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import Solver, State, settings
from .shared.entries import Entries, EntrySolver, EntryState
from .shared.exact_model import ExactModel, hessian_width
from .shared.gradient_steps import FEW, may_open
from .shared.in_parts import largest
from .shared.opening_steps import VIOLATED, OpeningSteps, goes_far
from .shared.row_sweeps import RowSweeps
from .shared.row_sweeps import opens as row_sweeps_open

MOST_BYTES = 2_000_000_000  # of the Hessians of all samples
# A working set is left when its largest violation is below these shares of that of all when it was made, or of those
# left outside.
LEAVE, LEAVE_OUTSIDE = 0.1, 0.5
FORCING = 0.1  # sweeps end when the violations of the model add up to this share of those in the first one
NEAR = 0.2  # entries whose slope is within this share of their threshold may join a working set
LEAST_JOINING, JOINING = 500, 2
STRICTER = 0.3  # factor of the violation to be reached, after a certificate that it did not suffice for
# The first sweep of an iteration may meet so many times the violation that the goal stands for; fewer after a
# certificate that did not suffice, more with the next λ. Such a certificate costs little: it is the next look.
LENIENCE, LESS_LENIENT, MORE_LENIENT, MOST_LENIENCE = 4.0, 0.5, 2.0, 64.0
# Where the goal is a gap of at least LOOSE, the sweeps of an iteration end at a multiple of that violation, steered by
# certificates so that MARGIN of the goal is left; the largest multiple is halved by one that does not suffice (paths of
# 50 λ, dense and sparse X, one and ten scores: .7 to 1.0 of the seconds to gaps of .3 and .1, to others 1.0 to 1.16).
LOOSE, MARGIN, MORE_SLACK, MOST_SLACK = 0.03, 0.5, 1.5, 16.0
# The Gram matrix takes over after the first sweep where it costs as much as so many of them, with one score and with
# more; after two where it costs at most four and this share of what are still to come; or later, where it costs as much
# as so many. Its sweeps end when the violations have fallen to GRAM_SHARE.
ONE_SCORE, SEVERAL_SCORES = (4.0, 20.0), (1.0, 8.0)
AFTER_TWO, GAINED, GRAM_SHARE = 4.0, 0.6, 0.01
FEW_SWEEPS = 6  # after which it, or conjugate gradients, are worth a try
SETTLED = 0.03  # of the entries in use may have become so or ceased to be so in the sweeps before that
# Conjugate gradients end when their residual has fallen to this share, or to what is to be reached and half as much.
CG_SHARE, WITHIN = 0.01, 0.5
# The share of their way below which they were wasted; the steps allowed then, and where all of them were taken and no
# sign changed, as shares of those that are set.
WASTED, LEAST_ALLOWED, MOST_ALLOWED = 0.1, 0.1, 16.0
MOST_STEPS = 10  # on one working set
# After an iteration of DEAR multiplications for each number of X and score a certificate, which costs one product with
# X, is tried where its violation would do if the iteration has lowered it by the second factor.
DEAR, LOWERED = 8.0, 10.0


def sweeps_left(ratio: float) -> float:
    """Return how many sweeps the model still takes after one that lowered its violations to this share."""
    return math.inf if ratio >= 1.0 else max(0.0, math.log(FORCING / ratio) / math.log(ratio))


class NewGLMNETState(EntryState):
    """State: the Hessians of the samples; the working set, what made it and the violation at which it is left; the
    generator of orders."""

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        self.strict, self.lenience = 1.0, LENIENCE / MORE_LENIENT
        self.slack, self.most_slack = 1.0, MOST_SLACK
        self.unsettled: Any = None  # the loss on which gradient steps would not go on well, by their opening
        super().__init__(problem, coef)
        self.model = ExactModel(problem)
        self.seed = 1
        self.opened = bool(coef[: problem.d].any())
        self.gradient: OpeningSteps | None = None  # while they open, and until the next step
        self.rows: RowSweeps | None = None  # while sweeps open
        self.cg_allowed = 1.0  # of the conjugate-gradient steps that are allowed

    def forget(self, problem: Problem) -> None:
        super().forget(problem)
        self.part: Entries | None = None  # the working set
        self.rows = self.gradient = None
        if self.unsettled is not problem.loss:
            self.unsettled = None
        self.steps_here, self.solved = 0, False  # whether the working set is
        self.floor, self.by_goal = 0.0, False  # by_goal: the floor stands for the gap at which the run will stop
        self.strict = min(1.0, self.strict / STRICTER)
        self.lenience = min(MORE_LENIENT * self.lenience, MOST_LENIENCE)

    @property
    def settles(self) -> bool:
        """True if gradient steps would go on well, as far as the opening knows."""
        return self.unsettled is None

    def certified(self, gap: float) -> None:
        """Let the sweeps end earlier or later by what a certificate says of the last iteration: its relative gap."""
        if gap > self.aim:
            self.most_slack = max(1.0, self.slack / 2.0)
        change = min(MORE_SLACK, MARGIN * self.aim / gap if gap > 0.0 else MORE_SLACK)
        self.slack = min(max(1.0, change * self.slack), self.most_slack)

    def conjugated(self, share: float, ended: bool) -> None:
        """Take half as many steps of them next time, where a change of sign stopped them after a small share of their
        way, twice as many where they did not end and no sign changed, else all that are set at least."""
        if share < WASTED:
            self.cg_allowed = max(self.cg_allowed / 2.0, LEAST_ALLOWED)
        elif share == 1.0 and not ended:
            self.cg_allowed = min(max(2.0 * self.cg_allowed, 1.0), MOST_ALLOWED)
        else:
            self.cg_allowed = max(self.cg_allowed, 1.0)


@settings
class ModelSolver(Solver):
    """Settings of solvers whose iteration solves the exact model."""

    eliminates_intercept = True

    sweeps: int = field(50, 1, 1000, "sweeps over the columns of a model in one iteration, at most", log=True)
    cg_steps: int = field(30, 0, 200, "conjugate-gradient steps after sweeps that did not solve the model, at most")
    gram: bool = field(True, doc="solve the model on its Gram matrix where this costs less than sweeps")
    shrinking: bool = field(True, doc="leave out entries that are well inside, at both levels")


@settings
class NewGLMNET(ModelSolver, EntrySolver):
    """Newton steps by coordinate descent on single entries, with the exact Hessian and two levels of shrinking."""

    opening: bool = field(
        True,
        doc="begin with gradient steps on few features or where most weights are violated, or with sweeps over rows",
    )

    title = "newGLMNET"
    menu_order = 130
    remark = "For penalties that are sums over entries; it keeps a Hessian for every sample, m × m numbers or fewer."
    doc = "Newton steps on single weights by coordinate descent on the exact second-order model, with shrinking."
    source = "Yuan, Ho and Lin 2012; Friedman, Hastie and Tibshirani 2010"

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        size = problem.n * problem.m * hessian_width(problem) * problem.dtype.itemsize
        if reason is None and size > MOST_BYTES:
            reason = (
                f"{self.name} keeps the Hessian for every sample, here {size / 1e9:.1f} GB, more than the "
                f"{MOST_BYTES / 1e9:g} GB allowed; lhac keeps none"
            )
        if reason is None and not hasattr(problem.loss, "hessian_product"):
            reason = f"{self.name} needs second derivatives, and the {problem.loss.title} loss does not define them"
        return reason

    def start(self, problem: Problem, coef: np.ndarray) -> NewGLMNETState:
        return NewGLMNETState(problem, coef)

    def certificate(self, problem: Problem, state: EntryState, work: Any) -> Certificate:
        steps = state.gradient if isinstance(state, NewGLMNETState) and not state.opened else None
        if steps is not None:
            return steps.certificate(problem, state, work)
        found = super().certificate(problem, state, work)
        if isinstance(state, NewGLMNETState) and state.by_goal and state.steps_here:
            state.certified(found.relative_gap)
        return found

    def variant(self, problem: Problem) -> tuple[bool, bool]:
        return self._may_open(problem), self._sweeps(problem)

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = self.init(tiny)
        assert isinstance(state, NewGLMNETState)
        if self._may_open(problem):  # the tiny one may not
            self._open(tiny, state)
        if self._sweeps(problem):
            solvers.create("working-set", newton=False).precompile(tiny, problem)
        state.opened = True
        self.step(tiny, state)
        if self.cg_steps:  # the tiny problem may not need them
            part = self._part(tiny, state)
            state.model.conjugate(tiny, part, part.w.copy(), 1, CG_SHARE, state.report)
        if self.gram:
            part = self._part(tiny, state)
            state.model.descend_on_gram(tiny, part, part.w.copy(), GRAM_SHARE, state.seed, state.report)
        return state

    def step(self, problem: Problem, state: NewGLMNETState) -> None:  # type: ignore[override]
        if not state.opened:
            if self._opens(problem, state):
                self._open(problem, state)
                return
            if self._sweeps(problem):
                self._sweep(problem, state)
                return
            state.opened = True
        state.gradient = None
        part = self._part(problem, state)
        report, model = state.report, state.model
        state.take_samples(problem)
        model.take(problem, part, state.Z, state.U)
        new = part.w.copy()
        report[:] = 0.0
        self._solve(problem, state, part, new)
        taken = self.finish(problem, state, part, new)
        state.steps_here += 1
        enough = state.floor * (state.lenience if state.by_goal else 1.0)
        state.solved = bool(report[TOP] <= enough or not taken or state.steps_here >= MOST_STEPS)
        near = state.by_goal and report[TOP] <= LOWERED * enough
        state.ready = state.solved or bool(near and report[FLOPS] >= DEAR * problem.design.nnz * problem.m)
        self.note(state, part, report[SWEEPS], report[STEPS], report[FLOPS])

    def _solve(self, problem: Problem, state: NewGLMNETState, part: Entries, new: np.ndarray) -> None:
        """Solve the model: sweeps, and where they do not suffice its Gram matrix or conjugate gradients."""
        report, model = state.report, state.model
        place = model.walk(problem, part, state.seed)
        margin = 1.0 / problem.n if self.shrinking else -1.0
        floor = state.floor * (state.slack if state.by_goal and state.aim >= LOOSE else 1.0)

        def sweep(most: int) -> bool:
            most = min(most, self.sweeps)
            end: dict[str, Any] = {"sweeps": most, "share": FORCING, "floor": floor, "margin": margin}
            return model.sweep(problem, part, new, report, place=place, **end)

        at_once, later = ONE_SCORE if problem.m == 1 else SEVERAL_SCORES
        solved = sweep(1)
        cost = model.gram_cost(problem, part, new) if self.gram and not solved else math.inf
        by_gram = cost <= at_once
        if not solved and not by_gram and cost <= AFTER_TWO:
            solved = sweep(2)
            by_gram = not solved and cost <= GAINED * sweeps_left(float(report[LEFT] / place.sums[FIRST]))
        if not solved and not by_gram:
            solved = sweep(FEW_SWEEPS if self.cg_steps or cost <= later else self.sweeps)
        state.seed = int(place.at[SEED])
        if solved:
            return
        settled = np.count_nonzero((new != 0.0) != (part.w != 0.0)) <= SETTLED * np.count_nonzero(new)
        if by_gram or (cost <= later and settled):
            state.seed = model.descend_on_gram(problem, part, new, GRAM_SHARE, state.seed, report)
        elif self.cg_steps and settled:
            share = max(CG_SHARE, WITHIN * state.floor / report[TOP])
            steps = max(1, round(self.cg_steps * state.cg_allowed))
            before = report[SWEEPS]
            gone = model.conjugate(problem, part, new, steps, share, report)
            state.conjugated(gone, report[SWEEPS] - before < steps)

    def _may_open(self, problem: Problem) -> bool:
        """Return whether gradient steps may open. They cost less than the Hessians of all samples, and lead as far as
        two or three iterations (measured on 40 problems with dense X of 4 to 64 features, three classes or more; on 120
        with one score and 6 to 128 features: .87 of the seconds, .75 where columns do not go together).
        """
        few = problem.d <= FEW and problem.m != 2
        if not (self.opening and (few or goes_far(problem) or (problem.d > FEW and may_open(problem)))):
            return False
        return solvers.create("sparsa").solves(problem) is None  # it takes no weights of single entries

    def _opens(self, problem: Problem, state: NewGLMNETState) -> bool:
        """Decide whether they do: with many columns of dense X where half of the weights are violated, or where they
        may lead to the gap in demand."""
        if not self._may_open(problem):
            return False
        if state.gradient is not None or problem.d <= FEW or (state.aim and goes_far(problem)):
            return True
        state.look(problem)
        return bool(np.count_nonzero(state.violation[: state.d]) >= VIOLATED * problem.d * problem.m)

    def _open(self, problem: Problem, state: NewGLMNETState) -> None:
        """Take gradient steps, as one iteration of the opening."""
        if state.gradient is None:
            known = Known(state.loss, state.U, state.G[: state.d], 1.0) if state.looked else None
            state.gradient = OpeningSteps(problem, state, known)
        state.passes += state.gradient.open(problem, state)
        state.moved()
        state.opened = state.gradient.done
        state.unsettled = None if state.gradient.settles else problem.loss
        state.ready = True  # its gradient is that of the next step: it costs little
        self.note(state, state.entries(problem, np.arange(state.coef.size)), 0.0, 0.0, 0.0)

    def _sweeps(self, problem: Problem) -> bool:
        """Decide whether sweeps over violated rows open."""
        return self.opening and row_sweeps_open(problem)

    def _sweep(self, problem: Problem, state: NewGLMNETState) -> None:
        """One of the opening's sweeps."""
        if state.rows is None:
            state.rows = RowSweeps(problem, state)
        rows = state.rows
        state.passes += rows.advance(problem, state)
        state.moved()
        state.opened = rows.done
        state.ready = rows.ready or rows.done  # its gradient is that of the first working set
        if rows.done:
            state.rows = None
        self.note(state, state.entries(problem, rows.entries), 0.0, 0.0, 0.0)

    def _part(self, problem: Problem, state: NewGLMNETState) -> Entries:
        """The working set with its weights, chosen anew if the present one is solved."""
        if state.part is not None and not state.solved:
            state.part.w = state.coef.ravel()[state.part.at]
            return state.part
        if state.part is not None and state.by_goal:  # no certificate ended the run
            state.lenience = max(1.0, LESS_LENIENT * state.lenience)
        state.look(problem)
        used = state.coef.ravel() != 0.0
        used[state.d * problem.m :] = True
        top = float(state.violation[: state.d].max())
        if self.shrinking:
            excess = np.empty(state.G.size, state.G.dtype)
            strong_excess(state.G.ravel(), state.coef.ravel(), state.thresholds.ravel(), top, NEAR, excess)
            excess[used] = 0.0  # the intercept, where it is zero
            pause()
            joining = np.flatnonzero(excess)
            most = max(LEAST_JOINING, JOINING * int(np.count_nonzero(used)))
            if joining.size > most:
                joining = joining[largest(excess[joining], most)]
            used[joining] = True
        else:
            used[:] = True
        pause()
        state.part = state.entries(problem, np.flatnonzero(used))
        outside = float(np.where(used, 0.0, state.violation.ravel())[: state.d * problem.m].max())
        state.floor, state.steps_here, state.solved = self._floor(problem, state, top), 0, False
        if LEAVE_OUTSIDE * outside > state.floor:
            state.floor, state.by_goal = LEAVE_OUTSIDE * outside, False
        return state.part

    @staticmethod
    def _floor(problem: Problem, state: NewGLMNETState, top: float) -> float:
        """The violation at which this working set is left."""
        part = state.part
        assert part is not None
        share, state.by_goal = LEAVE * top, False
        size = float(np.abs(part.w).sum())
        if not (state.aim and size):
            return share
        goal = state.strict * state.aim * (state.loss + part.omega(part.w))
        least = goal / (2.0 * size)
        if state.ridge:  # a gradient that is off by v in s entries costs s·v²/(2·ridge) at most
            least = max(least, math.sqrt(2.0 * state.ridge * goal / max(1, int(np.count_nonzero(part.w)))))
        if least <= share and top > NEAR * float(part.t.max()) and part.at.size < state.coef.size:
            return share
        state.by_goal = True
        if top <= least:  # and yet there was no stop
            state.strict *= STRICTER
            least = STRICTER * top
        return least


solvers.add("newglmnet", NewGLMNET)
