"""Two classes by one score: W = (−v/2, v/2), a problem of single weights (this project's addition).

f of a loss of differences of scores sees w₂ − w₁ alone, and Ω grows with |W_j1| and |W_j2| and treats both classes
alike: exchanging (w₁, w₂) for (−w₂, −w₁) changes neither, and the mean of both is no worse. So there is a solution
(−v/2, v/2), and v is the solution of

    min over v (d,), b:  (1/n) Σ_i ℓ̃(vᵀx_i + b, y_i) + λ Σ_j (A|v_j| + Q·½v_j²)
    A = a + b/√2 + c/2,  Q = q/2   for   Ω(w) = a‖w‖₁ + b‖w‖₂ + c‖w‖_∞ + q·½‖w‖²
    ℓ̃(s, y) = ℓ((−s/2, s/2), y)

Each step is one of newGLMNET there. Gradients and dual rows are (−u, u) of those of the one score, so that values,
gaps and certificates are those of W.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..inputs.mirrored import doubled, mirrored
from ..problems.base import Certificate
from ..problems.certificate import Known, certify, is_double
from ..problems.one_score import in_one_score
from ..problems.prediction import Problem
from ..registry import solvers
from .base import State, settings
from .newglmnet import ModelSolver, NewGLMNET, NewGLMNETState
from .shared.columns import INNER_COLUMNS, STEP_COLUMNS


class OneScoreState(State):
    """State: the point of two classes, and the state of the problem of one score.

    part : that problem · inner : its state
    """

    inner_sweeps = coordinate_steps = step_flops = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.part: Any = in_one_score(problem)
        self.inner: Any = None
        self.U, self.G = np.empty_like(self.Z), np.empty_like(coef)
        self.mirrored = mirrored(coef)  # whether it is (−v/2, v/2); other weights may be given

    def copy(self) -> Any:
        return copy.deepcopy(self, {id(self.part): self.part})  # a problem never changes

    def show(self) -> None:
        """W, Z and counters of the inner state."""
        inner = self.inner
        doubled(inner.coef, self.coef, 0.5)
        doubled(inner.Z, self.Z, 0.5)
        self.working = inner.working
        for name in ("working_set", "step_size", "trials", "inner_sweeps", "coordinate_steps", "step_flops", "ready"):
            setattr(self, name, getattr(inner, name))
        self.mirrored = True

    def point(self, problem: Problem) -> tuple[float, float, int, int]:
        inner = self.inner
        if not self.mirrored or inner.loss != inner.loss:
            return super().point(problem)
        return inner.loss, *problem.regulariser.value(self.coef[: self.d])


@settings
class OneScore(ModelSolver):
    """Two classes by one score: Newton steps on one weight for each feature, where the loss sees differences alone.

    For a loss of differences of scores (the multiclass squared hinge, the logistic loss with μ = 0) and a penalty made
    of norms of rows, of entries and of squares, the weights of two classes are (−v/2, v/2), and v solves a lasso or an
    elastic net: half as many weights, and none that are tied.
    """

    title = "two classes by one score"
    menu_order = 132
    remark = (
        "For two classes and a loss of differences of scores: every row penalty is a lasso or an elastic net there."
    )
    doc = "Turns a problem of two classes into one of a single score, solved by newGLMNET."
    source = "this project; Yuan, Ho and Lin 2012"
    takes_sample_weights = takes_feature_weights = True
    two_classes = True
    columns = (*STEP_COLUMNS, *INNER_COLUMNS)

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        if reason is not None or (inner := in_one_score(problem)) is None:
            return reason or self._lacking(problem)
        return None if (reason := self._inner.solves(inner)) is None else f"{self.name} goes by newglmnet: {reason}"

    def _lacking(self, problem: Problem) -> str:
        """Say why there is no problem of one score."""
        if problem.multilabel or problem.m != 2:
            what = "label sets" if problem.multilabel else f"{problem.m} classes" if problem.m > 1 else "one score"
            return f"{self.name} is for two classes with a score for each, and this problem has {what}"
        if not problem.loss.of_differences or problem.loss.in_one_score() is None:
            return (
                f"{self.name} needs a loss of the difference of two scores that is known for one score; the "
                f"{problem.loss.title} loss is not. Choose logistic (margin 0) or multiclass-squared-hinge"
            )
        return (
            f"{self.name} needs a penalty that treats both classes and both signs alike; the {problem.penalty.title} "
            "penalty with these settings does not"
        )

    @property
    def _inner(self) -> NewGLMNET:
        return NewGLMNET(**{f.name: getattr(self, f.name) for f in self.fields})

    def start(self, problem: Problem, coef: np.ndarray) -> OneScoreState:
        state = OneScoreState(problem, coef)
        state.inner = self._inner.start(state.part, np.ascontiguousarray(coef[:, 1:] - coef[:, :1]))
        return state

    def adapt(self, problem: Problem, state: OneScoreState) -> None:
        state.part = in_one_score(problem)
        self._inner.adapt(state.part, state.inner)
        state.ready = state.inner.ready

    def step(self, problem: Problem, state: OneScoreState) -> None:
        before = state.inner.passes
        state.inner.aim = state.aim
        self._inner.step(state.part, state.inner)
        state.show()
        state.iteration += 1
        state.passes += state.inner.passes - before

    def certificate(self, problem: Problem, state: OneScoreState, work: Any) -> Certificate:
        if not is_double(problem) or not state.mirrored:
            return super().certificate(problem, state, work)
        inner: NewGLMNETState = state.inner
        inner.take_gradient(state.part)  # the next step has it then
        doubled(inner.U, state.U)
        doubled(inner.G, state.G)
        known = Known(inner.loss, state.U, state.G[: state.d], 1.0)
        return certify(problem, state.coef, state.Z, work, known=known)

    def variant(self, problem: Problem) -> Any:
        inner = in_one_score(problem)
        assert inner is not None
        return type(inner.loss).__name__, type(inner.penalty).__name__, self._inner.variant(inner)

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = self.init(tiny)
        assert isinstance(state, OneScoreState)
        inner = in_one_score(problem)
        assert inner is not None
        state.inner = self._inner.precompile(state.part, inner)
        state.show()
        return state


solvers.add("one-score", OneScore)
