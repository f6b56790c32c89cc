"""Base of the linear classifiers: targets, weights, predictions, and the display of a fitted one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..losses import Loss
from ..problems.prediction import DEFAULT_LOSS, Problem
from ..registry import losses
from ..runs.run import as_solver
from ..solvers.base import Solver
from .callbacks import CallbackSupportMixin
from .files import Savable
from .showing import sparkline, summary
from .targets import Targets, as_given, read_targets
from .weights import Weights

KINDS = [np.float64, np.float32]
MOST_DENSE = 50_000_000  # numbers of coef_ beyond which it is a sparse matrix


def loss_of(given: Any) -> Any:
    """Return a loss, its class or ``None`` from what an estimator was given, without complaining: for tags."""
    if isinstance(given, str) and given in losses:
        return losses[given]
    return given if isinstance(given, Loss) or (isinstance(given, type) and issubclass(given, Loss)) else None


class LinearModel(Savable, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """Base of the classifiers with weights W. A subclass has the parameters below and sets ``_weights`` when fitted.

    Parameters used here: ``loss``, ``penalty``, ``solver``, ``fit_intercept``, ``standardize``, ``feature_weights``,
    ``class_weight``, ``random_state``.
    """

    _weights: Weights
    classes_: np.ndarray
    loss: Any
    saved = ("classes_", "multilabel_", "sparse_targets_", "threshold_", "lam_", "lam_ratio_", "loss_", "n_iter_",
             "dual_gap_", "relative_gap_", "objective_", "history_", "n_features_in_", "feature_names_in_",
             "_sparse_coef")  # fmt: skip

    # ------------------------------------------------------------------------------------------------- what is given
    def _read(self, X: Any, y: Any, classes: Any = None, reset: bool = True) -> tuple[Any, Targets]:
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse=["csr", "csc"], dtype=KINDS, multi_output=True
        )  # fmt: skip
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

    def _problem(self, X: Any, targets: Targets, sample_weight: Any, **changed: Any) -> Problem:
        names = getattr(self, "feature_names_in_", None)
        params = self.get_params(deep=False) | changed
        return Problem(
            X,
            targets.y,
            loss=self.loss if self.loss is not None else DEFAULT_LOSS["sets" if targets.multilabel else "classes"],
            penalty=params["penalty"],
            intercept=params["fit_intercept"],
            standardize=params["standardize"],
            class_names=targets.names,
            feature_names=None if names is None else names.tolist(),
            sample_weight=sample_weight,
            class_weight=targets.factors(params["class_weight"]),
            feature_weights=params["feature_weights"],
        )

    def _solver(self, problem: Problem) -> Solver:
        params = self.get_params(deep=False)
        solver = as_solver(params["solver"], problem)
        seed = params["random_state"]
        if seed is None or not any(f.name == "seed" for f in solver.fields):
            return solver
        if not isinstance(seed, int | np.integer):
            from sklearn.utils import check_random_state

            seed = check_random_state(seed).randint(2**31 - 1)
        return as_solver(solver, seed=int(seed))

    # --------------------------------------------------------------------------------------------------- what is kept
    def _keep(self, problem: Problem, targets: Targets, W: Any, b: Any) -> None:
        self._take(problem, targets)
        self._weights = Weights.of(W, b)
        self.threshold_ = self._threshold(problem, W, b) if targets.multilabel else 0.0
        self._sparse_coef = self._weights.sparse or self._weights.d * self._weights.m > MOST_DENSE

    def _take(self, problem: Problem, targets: Targets) -> None:
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self.sparse_targets_ = bool(sp.issparse(targets.y))
        self.loss_, self.lam_ = problem.loss, problem.lam

    @staticmethod
    def _threshold(problem: Problem, W: Any, b: Any) -> float:
        if problem.loss.threshold is not None:
            return float(problem.loss.threshold)
        return problem.threshold_of(W) if sp.issparse(W) and b is None else problem.threshold(problem.scores(W, b))

    def _folds(self) -> bool:
        """Whether there are two classes with a score each: what people see is the difference of the two."""
        return not self.multilabel_ and self._weights.m == 2

    def _shown(self) -> Weights:
        check_is_fitted(self, "_weights")
        return self._weights.difference() if self._folds() else self._weights

    @property
    def coef_(self) -> Any:
        """Weights (n_scores, n_features): an array, or CSR after :meth:`sparsify` or from a solver that keeps them so.

        There is one row for two classes (positive scores speak for the second), else one for each class or label.
        """
        W = self._shown().full().T
        if self._sparse_coef:
            return sp.csr_matrix(W)
        return np.ascontiguousarray(W.toarray() if sp.issparse(W) else W)

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts (n_scores,); zeros without one."""
        return self._shown().bias.copy()

    @property
    def support_(self) -> np.ndarray:
        """Numbers of the features in use, sorted."""
        check_is_fitted(self, "_weights")
        return self._weights.support.copy()

    @property
    def weights_(self) -> tuple[Any, np.ndarray | None]:
        """(W, b) as a problem takes them, (n_features, m) and (m,): ``ss.certify(problem, *model.weights_)``."""
        check_is_fitted(self, "_weights")
        return self._weights.full(), self._weights.bias.copy() if self.get_params(deep=False)["fit_intercept"] else None

    def sparsify(self) -> Any:
        """Show ``coef_`` as a sparse matrix. Predictions, which only touch non-zero rows, stay as they are."""
        check_is_fitted(self, "_weights")
        self._sparse_coef = True
        return self

    def densify(self) -> Any:
        """Show ``coef_`` as an array."""
        check_is_fitted(self, "_weights")
        self._sparse_coef = False
        return self

    def _arrays(self) -> dict[str, np.ndarray]:
        return self._weights.arrays()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._weights = Weights.from_arrays(arrays)
        m = self._weights.m
        classes: Any = self.classes_
        if np.ndim(classes) != 1 or len(classes) != (2 if m == 1 else m) or self.n_features_in_ != self._weights.d:
            raise ValueError(f"{np.size(classes)} classes and {self.n_features_in_!r} features for these weights")
        self.threshold_, self.multilabel_ = float(self.threshold_), bool(self.multilabel_)
        self.loss_ = getattr(self, "loss_", None)  # a user-defined loss is not kept

    # ---------------------------------------------------------------------------------------------------- predictions
    def _samples(self, X: Any) -> Any:
        check_is_fitted(self, "_weights")
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=KINDS)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of samples: (n,) for two classes (positive: the second), else (n, classes or labels).

        Only the columns of X whose weights are not all zero are read.
        """
        samples = self._samples(X)
        return self._decision(self._weights.scores(samples))

    def _decision(self, Z: np.ndarray) -> np.ndarray:
        if self._folds():
            return Z[:, 1] - Z[:, 0]
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> Any:
        """Classes of samples (n,); for label sets an indicator (n, labels), sparse if the training had a sparse one."""
        X = self._samples(X)
        found: list[Any] = []
        for _, Z in self._weights.parts(X):
            decision = self._decision(Z)
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
        return lambda X: np.log(self._predict_proba(X))

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
        return np.asarray(self.loss_.probabilities(self._weights.scores(samples)))

    # -------------------------------------------------------------------------------------------------------- showing
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        loss = loss_of(self.loss)
        tags.classifier_tags.multi_label = self.loss is None or "sets" in getattr(loss, "target_types", ())
        tags.classifier_tags.multi_class = not getattr(loss, "one_score", False)
        return tags

    def _fit_facts(self) -> list[tuple[str, str]]:
        facts = [("λ", f"{self.lam_:.3g}")]
        if self.lam_ratio_ == self.lam_ratio_:
            facts = [("λ/λ_max", f"{self.lam_ratio_:.3g}")]
        facts.append(("rows", f"{self._weights.support.size} of {self._weights.d}"))
        if self.relative_gap_ == self.relative_gap_:
            facts.append(("relative gap", f"{self.relative_gap_:.1e}"))
        return [*facts, ("iterations", str(self.n_iter_))]

    def _html_repr(self) -> str:
        shown = str(estimator_html_repr(self))
        if not hasattr(self, "_weights"):
            return shown
        gaps = self.history_["relative_gap"]
        return shown + summary(self._fit_facts(), sparkline(gaps, "Relative duality gap by iteration, logarithmic"))

    def _repr_html_inner(self) -> str:
        return self._html_repr()
