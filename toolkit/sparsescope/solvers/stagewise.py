"""Stagewise regression: least squares on one batch of features after the other (Agarwal et al. 2013, Alg. 3).

Ŷ ← 0
repeat (a stage):
    A ← GEN(X, p): p columns of X, or p random features of it
    V ← argmin F(Ŷ + A V) + λ/2 ‖V‖²:  one least squares step for the squared loss; for others ``inner`` steps of
        generalised least squares from V = 0, Ŷ their offset (with Nesterov's extrapolation and restarts)
    Ŷ ← Ŷ + A V
calibrated: the predictions so far are m more features of every stage. GEN takes columns without replacement, in
random order or the largest gradients ‖x_jᵀU‖ first, and begins again when all were taken; random features
never end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ..inputs.feature_maps import DataScale
from ..inputs.is_sparse import is_sparse
from ..problems.linear_algebra import inner
from ..problems.prediction import Problem
from ..problems.sequence_model import Columns, RandomBlock, Stage
from ..registry import field, losses, solvers
from .base import settings
from .shared.metric import metric_factor
from .shared.sequence import SequenceSolver, SequenceState
from .shared.stage_data import StageData

COLUMNS = ("columns", "gradient")  # generators that take columns of X
RANDOM = ("fourier", "logits", "products")


class StagewiseState(SequenceState):
    """State: besides the predictions and the model, where the generator stands.

    order : columns that are still to be taken in this pass · turns : passes begun · matrix : X, dense or CSR
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.order = np.empty(0, dtype=np.intp)
        self.turns = 0

    def continued(self, state: SequenceState) -> StagewiseState:
        """Return this state at the predictions and the model of another."""
        self.follow(state)
        if isinstance(state, StagewiseState):
            self.coef[:] = state.coef
        return self


@settings
class Stagewise(SequenceSolver):
    """Stagewise least squares on p features at a time, which are not kept (Agarwal et al. 2013, Alg. 3).

    The memory is O(n·p + p²) for any number of features. Kept for prediction are the coefficients of a stage, and its
    columns or the seed of its random features. Where X has fewer columns than p, a stage takes them all; with more
    features than samples the ridge λ makes the solution unique.
    """

    generator: str = field(
        "columns",
        choices=(*COLUMNS, *RANDOM),
        doc="GEN: columns in random order, columns of largest gradient first, or random features",
    )
    features: int = field(300, 1, 20_000, "p: features of a stage", log=True)
    calibrated: bool = field(False, doc="the predictions so far are features of every stage")
    width: float = field(1.0, 0.01, 100.0, "s of random features, in units of the median squared distance", log=True)
    inner: int = field(50, 1, 1000, "least squares steps of a stage for losses other than squared", log=True)
    seed: int = field(0, 0, 2**31 - 1, "seed of random orders and features")

    title = "stagewise regression"
    menu_order = 160
    remark = (
        "For sequences (`SequenceProblem`); features are columns of X or random ones. For losses other than "
        "`squared` generalised least squares with the predictions as offset."
    )
    contract_settings = (
        {"features": 3}, {"features": 3, "generator": "gradient", "calibrated": True},
        {"features": 7, "generator": "fourier", "seed": 3}, {"features": 7, "generator": "logits"},
        {"features": 7, "generator": "products", "calibrated": True},
    )  # fmt: skip
    doc = "Least squares on one batch of features after the other, made on the fly; predictions add up."
    source = "Agarwal et al. 2013, Alg. 3"

    def idle(self, problem: Any) -> dict[str, str]:
        found = {}
        if self.generator in COLUMNS:
            found["width"] = "Columns of X have no width; choose random features."
        if self.generator == "gradient":
            found["seed"] = "The order of the gradients is no matter of chance."
        if isinstance(problem.loss, losses["squared"]):
            found["inner"] = "For the squared loss one least squares step is the solution of a stage."
        return found

    def init(self, problem: Any, W: Any = None, b: Any = None) -> StagewiseState:
        super().init(problem, W, b)
        return StagewiseState(problem)

    def warm_start_from(self, problem: Any, state: Any) -> StagewiseState:
        if not isinstance(state, SequenceState) or state.loss != problem.loss:
            return StagewiseState(problem)
        return StagewiseState(problem).continued(state)

    def adapt(self, problem: Any, state: Any) -> StagewiseState | None:
        return None if state.loss == problem.loss else StagewiseState(problem)

    def step(self, problem: Any, state: StagewiseState) -> None:
        block = self.block(problem, state)
        before = state.coef.copy() if self.calibrated else state.coef
        data = StageData(problem, _matrix(problem, block), block, state.Z, self.calibrated)
        if isinstance(problem.loss, losses["squared"]):
            V = self._least_squares(problem, state, data)
        else:
            V = self._offset(problem, state, data)
        stage = Stage(block, V, self.calibrated)
        if self.calibrated:  # Ŷ is X times the weights so far: what it is multiplied with, they are too
            state.coef += before @ V[block.p :]
        if isinstance(block, Columns):
            state.coef[block.numbers] += V[: block.p]
        state.model.steps.append(stage)
        state.iteration += 1
        state.count(block)
        state.working_set = float(min(block.p, problem.d))
        state.step_size = 1.0 / float(problem.loss.curvature(problem.m))

    def _least_squares(self, problem: Any, state: StagewiseState, data: StageData) -> np.ndarray:
        moment, G = data.moments(state.take_residual(problem))
        assert G is not None
        factor = metric_factor(moment, 1.0, problem.lam, data.width, keep=False)
        G *= -1.0
        V = np.ascontiguousarray(scipy.linalg.cho_solve(factor, G, check_finite=False), dtype=problem.dtype)
        data.start = state.Z.copy()
        data.add(V, state.Z)
        state.passes += 2.0 * data.block.p / problem.d
        return V

    def _offset(self, problem: Any, state: StagewiseState, data: StageData) -> np.ndarray:
        """``inner`` steps of generalised least squares on V, Ŷ the offset; t as in FISTA, forgotten when uphill."""
        data.start = state.Z.copy()
        data.hold()
        moment, _ = data.moments()
        lam, dtype = problem.dtype.type(problem.lam), problem.dtype
        factor = metric_factor(moment, float(problem.loss.curvature(problem.m)), problem.lam, data.width, keep=False)
        V = np.zeros((data.width, problem.m), dtype=dtype)
        old, t = V.copy(), 1.0
        for _ in range(self.inner):
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            at = V + dtype.type((t - 1.0) / following) * (V - old)
            state.Z[:] = data.start
            data.add(at, state.Z)
            G = data.gradient(state.take_residual(problem))
            G += lam * at
            old, V = V, (at - scipy.linalg.cho_solve(factor, G, check_finite=False)).astype(dtype, copy=False)
            t = 1.0 if inner(G, V - old) > 0.0 else following
        state.Z[:] = data.start
        data.add(V, state.Z)
        state.passes += (2.0 * self.inner + 2.0) * data.block.p / problem.d
        return V

    # --------------------------------------------------------------------------------------------------- the generators
    def block(self, problem: Any, state: StagewiseState) -> Any:
        """Return the next block of features.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Returns
        -------
        Any
            the block.
        """
        if self.generator in RANDOM:
            return RandomBlock(
                self.generator, self.features, self.scale(problem), self.seed, len(state.model), problem.dtype
            )
        if not state.order.size:
            state.order = self._order(problem, state)
            state.turns += 1
        taken, state.order = state.order[: self.features], state.order[self.features :]
        return Columns(taken)

    def _order(self, problem: Any, state: StagewiseState) -> np.ndarray:
        if self.generator == "columns":
            return np.random.default_rng([self.seed, state.turns]).permutation(problem.d)
        G = problem.design.rmatmul(state.take_residual(problem), np.empty_like(state.coef))
        state.passes += 1.0
        return np.argsort(-np.einsum("ij,ij->i", G, G), kind="stable")

    def scale(self, problem: Any) -> DataScale:
        """Return x̄ and s of the data, with the width of the settings.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        DataScale
            the scale of the data.
        """
        found = problem.data_scale(self.seed)
        return DataScale(found.mean, found.width * self.width)


def _matrix(problem: Any, block: Any) -> Any:
    """X as the block takes it: by rows where samples are taken a few at a time, as it is stored for columns."""
    matrix = problem.design.matrix
    return problem.by_rows() if is_sparse(matrix) and not isinstance(block, Columns) else matrix


solvers.add("stagewise", Stagewise)
