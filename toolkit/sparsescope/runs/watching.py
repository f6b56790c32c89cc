"""Work of a run besides its steps, for each kind of problem: measures of a state, and compilation of kernels before the
clock starts."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs.design import Design
from ..inputs.labels import LabelSets
from ..problems.base import BaseProblem
from ..problems.certificate import Workspace
from ..problems.covariance import CovarianceProblem
from ..problems.metrics import ranked, watched
from ..problems.prediction import Problem
from ..problems.sequence import SequenceProblem
from ..problems.sequence_model import SequenceModel
from ..solvers.base import Solver, State


class Predictions:
    """The watcher of problems that predict: accuracy on training and on held-out data.

    test : a pair (X, y) of held-out samples, or ``None``. ``ValueError`` if it does not fit the problem.
    """

    def __init__(self, problem: Problem, test: Any) -> None:
        self.test = None if test is None else _Test(problem, *_pair(test))

    def measures(self, problem: Problem, state: State) -> dict[str, float]:
        """Return the measures of the predictions: fields of an event."""
        test = self.test
        if state.sparse:
            W = state.weights()
            cut = problem.threshold_of(W) if problem.multilabel else None
            found = ranked("train", state.inner_weights(), problem.design, problem.sets or problem.y, cut)
            return found if test is None else found | ranked("test", W, test.design, test.targets, cut)
        cut = problem.threshold(state.Z) if problem.multilabel else None
        found = watched("train", problem.class_scores(state.Z), problem.y, cut)
        if test is None:
            return found
        return found | watched("test", problem.class_scores(test.scores(state.coefficients())), test.y, cut)

    @staticmethod
    def workspace(problem: Problem, state: State) -> Workspace | None:
        """Arrays for certificates; none where they would be larger than a sparse state."""
        return None if state.sparse else Workspace(problem)  # its arrays are n × m

    @staticmethod
    def types(problem: Problem) -> tuple[Any, ...]:
        """Return the key of the kernels that a run needs."""
        return (
            type(problem.loss),
            type(problem.penalty),
            problem.dtype,
            problem.design.is_sparse,
            problem.intercept,
            problem.multilabel,
            problem.sample_weight is None,
            problem.feature_weights is None,
        )

    @staticmethod
    def tiny(problem: Problem) -> Problem:
        """A tiny problem of the same types."""
        X: Any = np.eye(4, 3, dtype=problem.dtype)
        y = np.array([0, 1, 0, 1])
        return Problem(
            sp.csc_array(X) if problem.design.is_sparse else X,
            np.eye(3)[y] if problem.multilabel else y,
            loss=problem.loss,
            penalty=problem.penalty.tiny_sibling(),
            lam=0.01,
            intercept=problem.intercept,
            sample_weight=None if problem.sample_weight is None else y + 1.0,
            feature_weights=None if problem.feature_weights is None else np.full(3, 2.0),
        )


class Replays(Predictions):
    """The watcher of sequences of models: held-out predictions follow the training run step by step."""

    def measures(self, problem: Any, state: Any) -> dict[str, float]:
        cut = problem.threshold(state.Z) if problem.multilabel else None
        found = watched("train", problem.class_scores(state.Z), problem.y, cut)
        if self.test is None:
            return found
        return found | watched("test", problem.class_scores(self.test.replayed(state.model)), self.test.y, cut)

    @staticmethod
    def workspace(problem: Any, state: Any) -> Workspace:
        """Arrays for certificates."""
        return Workspace(problem)

    @staticmethod
    def tiny(problem: Any) -> SequenceProblem:
        """A tiny problem of the same types."""
        return SequenceProblem.of(Predictions.tiny(problem))


class Estimates:
    """The watcher of covariance problems: there is nothing to predict."""

    def __init__(self, problem: CovarianceProblem, test: Any) -> None:
        if test is not None:
            raise ValueError("test is given, and a covariance problem predicts no labels; leave test out")

    def measures(self, problem: CovarianceProblem, state: State) -> dict[str, float]:
        """Nothing beside the certificate."""
        return {}

    @staticmethod
    def workspace(problem: CovarianceProblem, state: State) -> None:
        """Certificates need no arrays that are worth keeping."""
        return None

    @staticmethod
    def types(problem: CovarianceProblem) -> tuple[Any, ...]:
        """All covariance problems need the same kernels."""
        return (CovarianceProblem,)

    @staticmethod
    def tiny(problem: CovarianceProblem) -> CovarianceProblem:
        """Three features that are tied to each other."""
        return CovarianceProblem(np.eye(3) + 0.5, lam=0.1)


WATCHERS: dict[str, Any] = {Problem.kind: Predictions, SequenceProblem.kind: Replays, CovarianceProblem.kind: Estimates}


class _Test:
    """Held-out data: its targets, and the scores of weights on it."""

    def __init__(self, problem: Problem, X: Any, y: Any) -> None:
        self.design = X.plain() if isinstance(X, Design) else Design(X)
        if self.design.d != problem.d:
            raise ValueError(f"test X has {self.design.d} features, the problem {problem.d}")
        self.targets = problem.match(y)
        if len(self.targets) != self.design.n:
            what = "label sets" if problem.multilabel else "labels"
            raise ValueError(
                f"test y has {len(self.targets)} {what}, test X has {self.design.n} samples; they must be equal"
            )
        self.Z = np.empty((0, problem.m), dtype=self.design.dtype)  # (n, m) once dense weights ask for it
        self.last: Any = None  # the last step of a sequence that Z has followed
        self.count = 0  # and how many there were

    @cached_property
    def y(self) -> np.ndarray:
        """The targets as row functions take them: classes (n,), or an indicator (n, m)."""
        return self.targets.indicator() if isinstance(self.targets, LabelSets) else self.targets

    def replayed(self, model: SequenceModel) -> np.ndarray:
        """Predictions of a sequence; only steps that were not met before are taken."""
        steps = model.steps
        if not len(self.Z) or self.count > len(steps) or (self.count and steps[self.count - 1] is not self.last):
            self.Z, self.count = np.tile(model.start, (self.design.n, 1)), 0
        model.replay(self.design.matrix, self.Z, self.count, len(steps))
        self.count = len(steps)
        self.last = steps[-1] if steps else None
        return self.Z

    def scores(self, coef: np.ndarray) -> np.ndarray:
        if not len(self.Z):
            self.Z = np.empty((self.design.n, coef.shape[1]), dtype=self.design.dtype)
        return self.design.matmul(coef.astype(self.design.dtype, copy=False), self.Z)


def _pair(test: Any) -> tuple[Any, Any]:
    if not isinstance(test, tuple | list) or len(test) != 2:
        what = f"{len(test)} things" if isinstance(test, tuple | list) else f"of type {type(test).__name__}"
        raise ValueError(f"test is {what}; a pair (X, y) of held-out samples is needed")
    return test[0], test[1]


_warm: set[Any] = set()


def is_warm(problem: BaseProblem, solver: Solver) -> bool:
    """Whether this process has compiled (or loaded) the kernels of this combination.

    Parameters
    ----------
    problem
        the problem.
    solver
        the solver.

    Returns
    -------
    bool
        True if a run on this problem compiles nothing.
    """
    return _warm_key(problem, solver) in _warm


def _warm_key(problem: Any, solver: Solver) -> Any:
    return (
        *WATCHERS[problem.kind].types(problem),
        type(solver),
        solver.variant(problem),
        tuple(getattr(solver, f.name) for f in solver.fields if f.kind in ("choice", "bool")),
    )


def warm_up(problem: Any, solver: Solver) -> None:
    """Run one iteration on a tiny problem of the same types, so that compilation is not charged to the solver.

    Parameters
    ----------
    problem
        a problem of the types that will be solved.
    solver
        the solver.
    """
    key = _warm_key(problem, solver)
    if key in _warm:
        return
    watcher = WATCHERS[problem.kind]
    tiny = watcher.tiny(problem)
    state = solver.precompile(tiny, problem)
    state.point(tiny)
    with suppress(FloatingPointError):  # a solver that diverges is compiled all the same; its run says so
        solver.certificate(tiny, state, watcher.workspace(tiny, state))
    watcher(tiny, None).measures(tiny, state)
    _warm.add(key)
