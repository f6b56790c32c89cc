"""Base of the classifiers: targets, predictions from scores, probabilities, and the display of a fitted one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..losses import Loss
from ..registry import losses
from .callbacks import CallbackSupportMixin
from .files import Savable
from .showing import ShownFit, sparkline
from .targets import Targets, as_given, read_targets

KINDS = [np.float64, np.float32]
CHUNK_NUMBERS = 4_000_000  # of scores that are made at once
MOST_SEED = 2**31 - 1


def loss_of(given: Any) -> Any:
    """Return a loss, its class or ``None`` from what an estimator was given, without complaining: for tags."""
    if isinstance(given, str) and given in losses:
        return losses[given]
    return given if isinstance(given, Loss) or (isinstance(given, type) and issubclass(given, Loss)) else None


def seed_of(random_state: Any) -> int | None:
    """Return a whole number to seed a solver with; ``None`` stays ``None``."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return None if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(MOST_SEED))


class Classifier(ShownFit, Savable, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """Base of the classifiers. A subclass has the parameter ``loss`` and defines :meth:`_scores` and :meth:`_width`."""

    classes_: np.ndarray
    threshold_: float
    multilabel_: bool
    sparse_targets_: bool
    loss: Any
    saved: ClassVar[tuple[str, ...]] = (
        "classes_", "multilabel_", "sparse_targets_", "threshold_", "lam_", "loss_", "n_iter_", "objective_",
        "history_", "n_features_in_", "feature_names_in_",
    )  # fmt: skip

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of samples (k, m)."""
        raise NotImplementedError

    def _width(self) -> int:
        """The number of scores of a sample; ``NotFittedError`` before the fit."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------- what is given
    def _read(self, X: Any, y: Any, classes: Any = None, reset: bool = True) -> tuple[Any, Targets]:
        X, y = validate_data(self, X, y, reset=reset, accept_sparse=["csr", "csc"], dtype=KINDS, multi_output=True)
        targets = read_targets(y, classes)
        if targets.classes.size > 2 and getattr(loss_of(self.loss), "one_score", False):
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, and loss {self.loss!r} has one score; choose one with a score for each class"
            )
        return X, targets

    def _sample_weight(self, given: Any, X: Any) -> np.ndarray | None:
        if given is None:
            return None
        weights = _check_sample_weight(given, X, dtype=np.float64)
        if not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number")
        return np.asarray(weights)

    def _take(self, problem: Any, targets: Targets) -> None:
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self.sparse_targets_ = bool(sp.issparse(targets.y))
        self.loss_, self.lam_ = problem.loss, problem.lam

    def _check_classes(self, m: int, d: int) -> None:
        """``ValueError`` where what a file holds of the classes does not fit m scores and d features."""
        classes: Any = self.classes_
        if np.ndim(classes) != 1 or len(classes) != (2 if m == 1 else m) or self.n_features_in_ != d:
            raise ValueError(f"{np.size(classes)} classes and {self.n_features_in_!r} features for these weights")
        self.threshold_, self.multilabel_ = float(self.threshold_), bool(self.multilabel_)
        self.sparse_targets_ = bool(self.sparse_targets_)
        self.loss_ = loss_of(getattr(self, "loss_", None))  # a user-defined loss is not kept

    # ---------------------------------------------------------------------------------------------------- predictions
    def _samples(self, X: Any) -> Any:
        self._width()
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=KINDS)

    def _parts(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of stretches of the samples, so that few are held at once."""
        size = max(1, CHUNK_NUMBERS // self._width())
        for start in range(0, X.shape[0], size):
            yield self._scores(X[start : start + size])

    def _folds(self) -> bool:
        """Return whether there are two classes with a score each: what people see is the difference of the two."""
        return not self.multilabel_ and self._width() == 2

    def _decision(self, Z: np.ndarray) -> np.ndarray:
        if self._folds():
            return Z[:, 1] - Z[:, 0]
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of samples: (n,) for two classes (positive: the second), else (n, classes or labels)."""
        samples = self._samples(X)
        return self._decision(self._scores(samples))

    def predict(self, X: Any) -> Any:
        """Return the classes of samples (n,); for label sets an indicator (n, labels), sparse if y was."""
        return self._predicted(self._parts(self._samples(X)))

    def _predicted(self, parts: Iterator[np.ndarray]) -> Any:
        found: list[Any] = []
        for decision in map(self._decision, parts):
            if self.multilabel_:
                above = np.greater(decision, decision.dtype.type(self.threshold_))
                found.append(sp.csr_matrix(above, dtype=np.int64) if self.sparse_targets_ else above)
            else:
                found.append((decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1))
        if not self.multilabel_:
            return self.classes_[np.concatenate(found)]
        return as_given(sp.vstack(found) if self.sparse_targets_ else np.vstack(found), self.sparse_targets_)

    @property
    def predict_proba(self) -> Any:
        """Probabilities of the classes, (n, classes), where the loss gives them (``logistic``, ``binary-logistic``).

        Raises
        ------
        AttributeError
            for other losses: :class:`sklearn.calibration.CalibratedClassifierCV` estimates them.
        """
        self._require_probabilities()
        return self._predict_proba

    @property
    def predict_log_proba(self) -> Any:
        """Logarithms of :attr:`predict_proba`."""
        self._require_probabilities()
        return self._predict_log_proba

    def _require_probabilities(self) -> None:
        loss = loss_of(self.loss_ if hasattr(self, "loss_") else self.loss)
        made = loss() if isinstance(loss, type) else loss
        width = 1 if getattr(made, "one_score", False) else 2
        if made is None or made.probabilities(np.zeros((1, width))) is None:
            name = "this" if made is None else f"the {made.title}"
            raise AttributeError(
                f"{type(self).__name__} with {name} loss gives no probabilities; choose loss='logistic', or wrap it: "
                f"sklearn.calibration.CalibratedClassifierCV({type(self).__name__}(...))"
            )

    def _predict_proba(self, X: Any) -> np.ndarray:
        samples = self._samples(X)
        return np.asarray(self.loss_.probabilities(self._scores(samples)))

    def _predict_log_proba(self, X: Any) -> np.ndarray:
        return np.asarray(np.log(self._predict_proba(X)))

    # -------------------------------------------------------------------------------------------------------- showing
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        loss = loss_of(self.loss)
        tags.classifier_tags.multi_label = self.loss is None or "sets" in getattr(loss, "target_types", ())
        tags.classifier_tags.multi_class = not getattr(loss, "one_score", False)
        return tags

    def _fit_picture(self) -> str:
        gaps = self.history_["relative_gap"]
        return sparkline(gaps, "Relative duality gap by iteration, logarithmic")
