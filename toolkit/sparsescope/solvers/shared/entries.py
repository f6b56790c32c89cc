"""Common parts of second-order methods on single entries of W: working sets, the model's data, Armijo's rule.

g ← ∇f(W), violations of all entries                                          one pass over X
I ← a working set of entries
δ ← an approximate minimiser of gᵀδ + ½δᵀHδ + λΩ(W + δ) over I                the method's own
α ← 1, ½, ¼… until F(W + αδ) ≤ F(W) + ασΔ,  Δ = gᵀδ + λΩ(W + δ) − λΩ(W)       (Tseng and Yun 2009)
W ← W + αδ;  Z ← Z + αXδ, which costs no product for a trial
Any Ω that is a sum over entries fits, Σ a|w| + b½w² (the lasso with its weights, the elastic net, ridge). The
intercept is a row of entries without penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.coordinates import REPORT, entry_omega, entry_violations, move_scores
from ...kernels.newton import moved_loss
from ...kernels.rows import loss_gradient
from ...pauses import even_parts, parts_of, pause
from ...problems.base import Certificate
from ...problems.certificate import Known, certify, is_double
from ...problems.linear_algebra import inner
from ...problems.prediction import Problem
from ...registry import solvers
from ..base import Solver, State
from .armijo import backtrack
from .columns import INNER_COLUMNS, STEP_COLUMNS
from .in_parts import COPIED, PART, put, taken

TRIALS_MOST = 30
REFRESH = 20  # steps after which scores are computed afresh, so that rounding does not pile up


@dataclass
class Entries:
    """A working set of s entries of W: (row, class), where row −1 is the intercept's, and its place in the flat W.

    w, t, ridge : weights, and λ times the a and b of the penalty, (s,); both 0 for the intercept
    """

    at: np.ndarray
    rows: np.ndarray
    classes: np.ndarray
    w: np.ndarray
    t: np.ndarray
    ridge: np.ndarray
    _reads: np.ndarray | None = None

    def omega(self, w: np.ndarray) -> float:
        """λΩ of these entries at other weights."""
        total = 0.0
        for first, last in even_parts(w.size, 1.0, COPIED):
            total += entry_omega(w, self.t, self.ridge, first, last)
            pause()
        return total

    def reads(self, design: Any) -> np.ndarray:
        """Return how many numbers of X belong to the row of each; an iteration asks several times."""
        if self._reads is None:
            self._reads = reads(design, self.rows)
        return self._reads


def reads(design: Any, rows: np.ndarray) -> np.ndarray:
    """Return how many numbers of X belong to each of these rows of W; a negative row is the intercept's."""
    if not design.is_sparse:
        return np.full(rows.size, design.n)
    indptr, there = design.matrix.indptr, np.maximum(rows, 0)
    return np.where(rows >= 0, indptr[there + 1] - indptr[there], design.n)


def add_scores(design: Any, part: Entries, delta: np.ndarray, E: np.ndarray) -> None:
    """E (n, m) = Xδ of the entries of a working set."""
    E[:] = 0.0
    costs = part.reads(design)
    for begins, ends in even_parts(part.rows.size, 1.0, COPIED):
        for first, last in parts_of(costs[begins:ends], PART):
            here = begins + first, begins + last
            move_scores(design.columns, design.ones, part.rows, part.classes, delta, *here, E)
            pause()


class EntryState(State):
    """State: gradients of the samples and of all entries, violations, the loss; room for the scores' move.

    thresholds : λa, (rows, m), or (1, 1) if it is the same for all · ridge : λb
    """

    inner_sweeps = coordinate_steps = step_flops = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.U, self.E = np.empty_like(self.Z), np.empty_like(self.Z)
        self.G, self.violation = np.empty_like(coef), np.empty_like(coef)
        self.report = np.zeros(REPORT)
        self.steps = 0
        self.measured: Any = None  # the loss whose gradients U are those at the present scores
        self.looked = False  # whether all of G belongs to these U
        self.forget(problem)

    def forget(self, problem: Problem) -> None:
        """Another loss, penalty or λ: thresholds and violations are not true any more, nor another loss's gradients."""
        if self.measured is not problem.loss:
            self.moved()
        self.ready = False
        self.working = None
        a, b = entry_terms(problem)
        thresholds = np.array(problem.lam * np.asarray(a), dtype=problem.dtype)
        if thresholds.ndim == 0:
            self.thresholds = np.full((1, 1), thresholds)
            if problem.intercept:
                self.thresholds = np.full(self.coef.shape, thresholds)
        else:
            self.thresholds = np.vstack([thresholds, np.zeros((int(problem.intercept), problem.m), problem.dtype)])
        if problem.intercept:
            self.thresholds[self.d] = 0.0
        self.ridge = float(problem.lam * b)

    def moved(self) -> None:
        """The scores are others, or the loss is: gradients are not true any more."""
        self.measured, self.looked, self.loss = None, False, float("nan")

    def point(self, problem: Problem) -> tuple[float, float, int, int]:
        """Return loss, Ω and non-zeros; the loss is not evaluated again where a step has done so."""
        if self.loss != self.loss:
            return super().point(problem)
        return self.loss, *problem.regulariser.value(self.coef[: self.d])

    def take_samples(self, problem: Problem) -> None:
        """U and the loss at the present scores."""
        if self.measured is not problem.loss:
            self.loss = loss_gradient(self.Z, *problem.terms, self.U) / problem.n
            self.measured = problem.loss

    def take_gradient(self, problem: Problem) -> None:
        """U, the loss and G at the present scores: one pass over X for a step and the certificate after it."""
        self.take_samples(problem)
        if not self.looked:
            problem.design.rmatmul(self.U, self.G)
            self.G /= problem.n
            self.passes += 1.0
            self.looked = True

    def look(self, problem: Problem) -> None:
        """The gradient and the violations of all entries."""
        self.take_gradient(problem)
        pause()
        one = self.thresholds.size == 1
        for first, last in even_parts(self.G.shape[0], self.G.shape[1], PART):
            here = slice(first, last)
            thresholds = self.thresholds if one else self.thresholds[here]
            G, W, thresholds = (some.ravel() for some in (self.G[here], self.coef[here], thresholds))
            entry_violations(G, W, thresholds, self.ridge, self.violation[here].reshape(-1))
            pause()
        if self.coef.shape[0] > self.d and self.ridge:  # the intercept is the last row, and has no ridge
            self.violation[-1] = np.abs(self.G[self.d])

    def entries(self, problem: Problem, at: np.ndarray) -> Entries:
        """The working set of these places in the flat W."""
        thresholds = self.thresholds.ravel()
        rows, classes = np.empty_like(at), np.empty_like(at)
        t, ridge = np.empty(at.size, thresholds.dtype), np.empty(at.size, thresholds.dtype)
        for first, last in even_parts(at.size, 1.0, COPIED):
            here = slice(first, last)
            np.divmod(at[here], problem.m, out=(rows[here], classes[here]))
            t[here] = thresholds[0] if thresholds.size == 1 else thresholds[at[here]]
            free = rows[here] >= self.d
            ridge[here] = np.where(free, 0.0, self.ridge)
            rows[here][free] = -1
            pause()
        return Entries(at, rows, classes, taken(self.coef.ravel(), at, self.coef.dtype), t, ridge)


def entry_terms(problem: Problem) -> tuple[Any, float]:
    """(a, b) of a penalty Σ a|w| + b½w²; :meth:`EntrySolver.solves` has made sure that it is one."""
    terms = problem.regulariser.entry_terms()
    assert terms is not None
    return terms


class EntrySolver(Solver):
    """A method of this kind: what it solves, and the part of a step that follows the direction."""

    takes_weights = True
    takes_sample_weights = takes_feature_weights = True
    columns = (*STEP_COLUMNS, *INNER_COLUMNS)

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        if reason is None and problem.regulariser.entry_terms() is None:
            fitting = [name for name in ("working-set", "bcd-ls") if name in solvers]
            if getattr(problem.penalty, "nonnegative", False):
                return (
                    f"{self.name} moves entries of either sign, and the penalty keeps them non-negative: choose a "
                    f"solver of rows ({', '.join(fitting)})"
                )
            if problem.feature_weights is not None and problem.penalty.entry_terms() is not None:
                return (
                    f"{self.name} takes weights of features where the penalty is a lasso, and the "
                    f"{problem.penalty.title} penalty has a ridge part: choose l1, or a solver of rows "
                    f"({', '.join(fitting)})"
                )
            reason = (
                f"{self.name} moves single entries of W, and the {problem.penalty.title} penalty ties the "
                f"entries of a row: choose l1 or elastic-net, or a solver of rows ({', '.join(fitting)})"
            )
        return reason

    def start(self, problem: Problem, coef: np.ndarray) -> EntryState:
        return EntryState(problem, coef)

    def adapt(self, problem: Problem, state: EntryState) -> None:
        state.forget(problem)

    def certificate(self, problem: Problem, state: EntryState, work: Any) -> Certificate:
        """The certificate of the state's weights; the gradient that it needs is left to the next step."""
        if not is_double(problem):
            return super().certificate(problem, state, work)
        state.take_gradient(problem)
        return certify(problem, state.coef, state.Z, work, known=Known(state.loss, state.U, state.G[: state.d], 1.0))

    @staticmethod
    def finish(problem: Problem, state: EntryState, part: Entries, new: np.ndarray) -> bool:
        """Go to ``new`` or part of the way there by Armijo's rule; False if no step is short enough (rounding)."""
        pause()
        delta, design = taken(new, dtype=new.dtype), problem.design
        delta -= part.w
        pause()
        add_scores(design, part, delta, state.E)
        here = part.omega(part.w)
        pause()
        slope = inner(state.U, state.E) / problem.n + part.omega(new) - here
        slack = 4.0 * float(np.finfo(problem.dtype).eps) * abs(state.loss + here)
        loss, point = state.loss, new

        def rise(size: float) -> float:
            nonlocal loss, point
            pause()
            loss = moved_loss(state.Z, state.E, size, *problem.terms) / problem.n
            point = new if size == 1.0 else part.w + problem.dtype.type(size) * delta
            return float(loss - state.loss + part.omega(point) - here)

        size, trials, accepted = backtrack(rise, slope, slack, TRIALS_MOST)
        state.step_size, state.trials = size, float(trials)
        state.passes += float(np.count_nonzero(delta)) / (problem.rows * problem.m)
        pause()
        if accepted:
            put(state.coef.ravel(), part.at, point)
            state.E *= problem.dtype.type(size)
            state.Z += state.E
            state.moved()
            state.loss = loss
        state.steps += 1
        if state.steps % REFRESH == 0:
            design.matmul(state.coef, state.Z)
            state.moved()
        return accepted

    @staticmethod
    def note(state: EntryState, part: Entries, sweeps: float, steps: float, flops: float) -> None:
        """Record the step for its event."""
        state.inner_sweeps, state.coordinate_steps = sweeps, steps
        state.step_flops = flops / max(steps, 1.0)
        touched = np.zeros(state.d + 1, dtype=np.uint8)  # the intercept's row is −1: the last
        for first, last in even_parts(part.rows.size, 1.0, COPIED):
            touched[part.rows[first:last]] = 1
            pause()
        state.working_set = float(np.count_nonzero(touched))
        state.working = touched[: state.d]
        state.iteration += 1
