"""Measures of a state besides its certificate: the quality of the predictions, where there are any."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..inputs.design import Design
from ..inputs.labels import LabelSets
from .metrics import ranked, watched


class Nothing:
    """Measurements of problems that predict nothing."""

    def measures(self, problem: Any, state: Any) -> dict[str, float]:
        """Return no measurement beside the certificate."""
        return {}


class Accuracies:
    """Accuracy on training and on held-out data.

    test : a pair (X, y) of held-out samples, or ``None``. ``ValueError`` if it does not fit the problem.
    """

    def __init__(self, problem: Any, test: Any) -> None:
        self.test = None if test is None else _Test(problem, *_pair(test))

    def measures(self, problem: Any, state: Any) -> dict[str, float]:
        """Return the measures of the predictions: fields of an event."""
        test, predictor = self.test, problem.predictor
        if state.sparse:
            W = state.weights()
            cut = predictor.threshold_of(W) if problem.multilabel else None
            known = state.accuracy(problem)
            found = (
                {"train_accuracy": known}
                if known is not None
                else ranked("train", state.inner_weights(), problem.design, problem.sets or problem.y, cut)
            )
            return found if test is None else found | ranked("test", W, test.design, test.targets, cut)
        cut = predictor.threshold(state.Z) if problem.multilabel else None
        found = watched("train", predictor.class_scores(state.Z), problem.y, cut)
        if test is None:
            return found
        return found | watched("test", predictor.class_scores(self.held_out(test, state)), test.y, cut)

    @staticmethod
    def held_out(test: _Test, state: Any) -> np.ndarray:
        """Scores of the held-out samples."""
        return test.scores(state.coefficients())


class ReplayedAccuracies(Accuracies):
    """Accuracy of a sequence of models: held-out predictions follow the training run step by step."""

    @staticmethod
    def held_out(test: _Test, state: Any) -> np.ndarray:
        """Predictions of the held-out samples."""
        return test.replayed(state.model)


class _Test:
    """Held-out data: its targets, and the scores of weights on it."""

    def __init__(self, problem: Any, X: Any, y: Any) -> None:
        self.design = X.plain() if isinstance(X, Design) else Design(X)
        if self.design.d != problem.d:
            raise ValueError(f"test X has {self.design.d} features, the problem {problem.d}")
        self.targets = problem.predictor.match(y)
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

    def replayed(self, model: Any) -> np.ndarray:
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
