"""Ridge in the row space of X: no more features than samples (Hastie and Tibshirani 2004).

XXᵀ = UΣ²Uᵀ;  L ← UΣ (n, r);  Q ← XᵀUΣ⁻¹ (d, r), never made      r: rank of X
solve  min over V (r, m), b:  (1/n) Σ_i ℓ(Vᵀl_i + b, y_i) + (λ/2)‖V‖²      by another solver
W ← QV = Xᵀ(UΣ⁻¹V)
Under a ridge the columns of every solution W lie in the row space of X (representer theorem), where X = LQᵀ and
‖QV‖ = ‖V‖: both problems have the same values, the same dual points and the same gaps. XXᵀ is made once for the data;
after that a step costs what it costs with r features, and a product with X for the weights that are shown.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..inputs.design import Design
from ..inputs.labels import fits_dense
from ..problems.certificate import Workspace
from ..problems.prediction import Problem
from ..registry import solvers
from .auto import Auto
from .base import Solver, State, settings
from .shared.columns import FIXED_STEP_COLUMNS
from .shared.state import Start

PATIENCE = 100  # Newton steps on hinges
# Share of the gradient that a Newton system of hinges may leave: a direction that is nearly exact opens and closes the
# hinges of the solution, where rough ones are cut short by one after the other (.3, .03 and .003 were compared on seven
# made problems: with .3 some small λ do not end).
FORCING = 0.003
MOST_STEPS = 64  # with r features between two points that are shown: about what the product with X for these costs


class Rotation:
    """L (n, r), and what turns V into W = XᵀA: A = back·V. It depends on X alone and never changes."""

    def __init__(self, problem: Problem) -> None:
        U, lengths = problem.row_space()
        self.rank = lengths.size
        self.L = Design(np.asfortranarray(U * lengths))
        self.back = U / lengths

    def __deepcopy__(self, memo: Any) -> Rotation:
        return self


class InnerAuto(Auto):
    """`auto` for the problem with r features.

    With as many features as samples every labelling can be separated, and Σ̂ is diagonal: Newton steps on hinges take
    a few conjugate-gradient steps each, and are nearly exact here.
    """

    anywhere = True  # V is dense

    def choose(self, problem: Any, anywhere: bool = False) -> tuple[Solver, str]:
        exact = solvers.create("newton-cg", forcing=FORCING, damping=False)
        if problem.loss.smooth and problem.loss.hinges and exact.solves(problem) is None:
            return exact, "nearly exact Newton steps, which open and close the hinges of the solution"
        return super().choose(problem, anywhere)

    def successor(self, problem: Any, state: Any) -> tuple[Solver, str] | None:
        if not (problem.loss.smooth and problem.loss.hinges):
            return super().successor(problem, state)
        if state.chosen_at is None:
            state.chosen_at = state.iteration - 1
        following = solvers.create("fista-ls")
        if following == state.delegate or state.iteration - state.chosen_at < PATIENCE:
            return None
        return following, f"{PATIENCE} Newton steps did not end: one hinge after the other cuts them short"


INNER = InnerAuto()


class RowSpaceState(State):
    """State: the point in X's features, and the state of the problem with r features.

    part : that problem · inner : its state, with the solver in use
    """

    def __init__(self, problem: Problem, coef: np.ndarray, rotation: Rotation) -> None:
        super().__init__(problem, coef)
        self.rotation = rotation
        self.part = rotated(problem, rotation)
        self.inner: Any = None
        self.work = Workspace(self.part)
        self.working_set = float(problem.rows)

    def copy(self) -> Any:
        return copy.deepcopy(self, {id(self.part): self.part})  # a problem never changes

    def inner_coef(self, problem: Problem) -> np.ndarray:
        """V with b: the part of the present weights that lies in the row space of X."""
        rotation, d = self.rotation, problem.d
        scores = problem.design.matmul(self.coef[:d], np.empty((problem.n, problem.m), problem.dtype))
        V = rotation.back.T @ scores
        return np.vstack([V, self.coef[d:]]) if problem.intercept else V

    def go_on(self, solver: Solver, reason: str) -> None:
        """Take another solver for the inner problem; its counters go on."""
        left = self.inner
        self.inner = INNER.mark(solver.warm_start_from(self.part, left), solver, reason)
        self.inner.iteration, self.inner.passes, self.inner.chosen_at = left.iteration, left.passes, left.iteration

    def show(self, problem: Problem) -> None:
        """W and Z of V."""
        V, d, rank = self.inner.coef, problem.d, self.rotation.rank
        A = (self.rotation.back @ V[:rank]).astype(problem.dtype)
        problem.design.rmatmul(A, self.coef[:d])
        if problem.intercept:
            self.coef[d] = V[rank]
        self.Z[:] = self.inner.Z

    def dual_rows(self, U: np.ndarray) -> bool:
        return bool(self.inner.dual_rows(U))


def rotated(problem: Problem, rotation: Rotation) -> Problem:
    """The problem with r features, of the same samples, loss and λ."""
    return problem.restricted(np.arange(rotation.rank), rotation.L)


@settings
class RowSpace(Solver):
    """Ridge problems with more features than samples, solved in the row space of X (Hastie and Tibshirani 2004).

    XXᵀ and its eigenvectors are made once for the data: O(n²·d + n³) operations and three n × n matrices. The problem
    that is left has as many features as X has rank, at most n, and is solved by what `auto` chooses for it; smooth
    hinges by nearly exact Newton steps, and by `fista-ls` where a hundred of them were not enough.
    """

    title = "ridge in the row space of X"
    menu_order = 145
    remark = "For every loss with `ridge`, where features are many and samples few: a problem with n features."
    doc = "Turns a ridge problem with many features and few samples into one with no more features than samples."
    source = "Hastie and Tibshirani 2004; representer theorem: Kimeldorf and Wahba 1971"
    columns = FIXED_STEP_COLUMNS
    takes_sample_weights = True
    only_penalties = ("ridge",)
    contract_settings = ({},)

    def refuses(self, problem: Problem) -> str | None:
        if not problem.loss.smooth and solvers.create("fbpd").solves(problem) is not None:
            return (
                f"{self.name} needs a smooth loss, or one that fbpd solves; the {problem.loss.title} loss is not "
                "smooth, and fbpd does not solve it"
            )
        if (reason := self.refuses_blocks(problem)) is not None:
            return reason
        if problem.penalty.entry_terms() != (0.0, 1.0):
            return (
                f"{self.name} needs the ridge penalty, which rotations of the features leave unchanged; the "
                f"{problem.penalty.title} penalty has none, or another part. Choose ridge"
            )
        try:
            fits_dense("XXᵀ", problem.n, problem.n, 8, "take a solver that works on the features (working-set)")
        except ValueError as error:
            return f"{self.name} keeps a matrix of samples by samples: {error}"
        return None

    def start(self, problem: Problem, coef: np.ndarray) -> RowSpaceState:
        return self._begun(problem, coef, None)

    def warm_start_from(self, problem: Problem, state: State) -> RowSpaceState:
        return self._begun(problem, state.dense(problem), state)

    def _begun(self, problem: Problem, coef: np.ndarray, left: State | None) -> RowSpaceState:
        """A state at these weights, whose inner solver takes the dual point of the state that is left, if it can."""
        state = RowSpaceState(problem, coef, Rotation(problem))
        given = Start(state.part, state.inner_coef(problem), left)
        state.inner = INNER.warm_start_from(state.part, given)
        return state

    def adapt(self, problem: Problem, state: RowSpaceState) -> None:
        state.part = rotated(problem, state.rotation)
        state.work = Workspace(state.part)
        state.inner = INNER.adapt(state.part, state.inner) or state.inner

    def step(self, problem: Problem, state: RowSpaceState) -> None:
        part = state.part
        for _ in range(min(1 + problem.d // state.rotation.rank, MOST_STEPS)):
            state.inner.aim = state.aim
            INNER.step(part, state.inner)
            following = INNER.successor(part, state.inner)
            if following is not None:
                state.go_on(*following)
            if state.inner.ready:
                break
        state.ready, state.step_size = state.inner.ready, state.inner.step_size
        if state.aim and not state.ready:  # a certificate of r features costs far less than one of all
            state.ready = bool(INNER.certificate(part, state.inner, state.work).relative_gap <= state.aim)
        state.show(problem)
        state.iteration += 1
        state.passes += 1.0

    def describe_steps(self, problem: Any, state: Any) -> str:
        return f"{state.rotation.rank} features in place of {problem.d}, {state.inner.reason}"

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = super().precompile(tiny, problem)
        part = state.part  # type: ignore[attr-defined]
        for name in (
            ("newton-cg", "working-set", "gls", "fista-ls") if problem.loss.smooth else ("dual-cd", "fbpd", "ssnal")
        ):
            solver = solvers.create(name)  # what may be chosen, or take over, for a part of any size
            if solver.solves(part) is None and (name != "fista-ls" or problem.loss.hinges):
                solver.precompile(part, part)
        return state


solvers.add("row-space", RowSpace)
