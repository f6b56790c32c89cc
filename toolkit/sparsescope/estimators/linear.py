<<<<<<< HEAD
"""Base of the linear classifiers: targets, weights, predictions, and the display of a fitted one."""
=======
"""What the classifiers with weights W share: their problem and solver, and W as people see it."""
>>>>>>> 8048cd9 (SparseClassifierCV: λ by cross-validation along one warm-started path for each fold; intercepts are centred where the loss sees differences only)

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..problems.prediction import DEFAULT_LOSS, Problem
from ..runs.run import as_solver
from ..solvers.base import Solver
from .predicting import Classifier, seed_of
from .targets import Targets
from .weights import Weights

MOST_DENSE = 50_000_000  # numbers of coef_ beyond which it is a sparse matrix


class LinearModel(Classifier):
    """Base of the classifiers with weights W, which a subclass keeps by :meth:`_keep`.

    Parameters used here: ``loss``, ``penalty``, ``solver``, ``fit_intercept``, ``standardize``, ``feature_weights``,
    ``class_weight``, ``random_state``.
    """

    _weights: Weights
    saved: ClassVar[tuple[str, ...]] = (*Classifier.saved, "lam_ratio_", "dual_gap_", "relative_gap_", "_sparse_coef")

    # ------------------------------------------------------------------------------------------------- what is solved
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
        seed = seed_of(params["random_state"])
        if seed is None or not any(f.name == "seed" for f in solver.fields):
            return solver
        return as_solver(solver, seed=seed)

    # --------------------------------------------------------------------------------------------------- what is kept
    def _keep(self, problem: Problem, targets: Targets, W: Any, b: Any) -> None:
        self._take(problem, targets)
        if b is not None and _sees_no_constant(problem.loss, problem.m):
            b = b - b.mean()
        self._weights = Weights.of(W, b)
        self.threshold_ = self._threshold(problem, W, b) if targets.multilabel else 0.0
        self._sparse_coef = self._weights.sparse or self._weights.d * self._weights.m > MOST_DENSE

    @staticmethod
    def _threshold(problem: Problem, W: Any, b: Any) -> float:
        if problem.loss.threshold is not None:
            return float(problem.loss.threshold)
        return problem.threshold_of(W) if sp.issparse(W) and b is None else problem.threshold(problem.scores(W, b))

    def _arrays(self) -> dict[str, np.ndarray]:
        return self._weights.arrays()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._weights = Weights.from_arrays(arrays)
        self._check_classes(self._weights.m, self._weights.d)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_weights")

    def _width(self) -> int:
        check_is_fitted(self)
        return self._weights.m

    def _scores(self, X: Any) -> np.ndarray:
        return self._weights.scores(X)

    # --------------------------------------------------------------------------------------------- W as people see it
    def _shown(self) -> Weights:
        check_is_fitted(self)
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
        check_is_fitted(self)
        return self._weights.support.copy()

    @property
    def weights_(self) -> tuple[Any, np.ndarray | None]:
        """(W, b) as a problem takes them, (n_features, m) and (m,): ``ss.certify(problem, *model.weights_)``."""
        check_is_fitted(self)
        return self._weights.full(), self._weights.bias.copy() if self.get_params(deep=False)["fit_intercept"] else None

    def sparsify(self) -> Any:
        """Show ``coef_`` as a sparse matrix. Predictions, which only touch non-zero rows, stay as they are."""
        check_is_fitted(self)
        self._sparse_coef = True
        return self

    def densify(self) -> Any:
        """Show ``coef_`` as an array."""
        check_is_fitted(self)
        self._sparse_coef = False
        return self

<<<<<<< HEAD
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

=======
>>>>>>> 8048cd9 (SparseClassifierCV: λ by cross-validation along one warm-started path for each fold; intercepts are centred where the loss sees differences only)
    def _fit_facts(self) -> list[tuple[str, str]]:
        known = self.lam_ratio_ == self.lam_ratio_
        facts = [("λ/λ_max", f"{self.lam_ratio_:.3g}") if known else ("λ", f"{self.lam_:.3g}")]
        facts.append(("rows", f"{self._weights.support.size} of {self._weights.d}"))
        if self.relative_gap_ == self.relative_gap_:
            facts.append(("relative gap", f"{self.relative_gap_:.1e}"))
        return [*facts, ("iterations", str(self.n_iter_))]


def _sees_no_constant(loss: Any, m: int) -> bool:
    """Whether a constant added to all scores of a sample changes nothing, so that intercepts can be centred: two
    solutions that differ by it alone are then shown as one."""
    z = np.linspace(-1.0, 1.5, m)
    y: Any = 0 if "classes" in loss.target_types else (np.arange(m) < max(1, m // 2)).astype(np.uint8)
    moved = float(loss.value(z + 1.0, y)) - float(loss.value(z, y))
    return m > 1 and abs(moved) <= 1e-9
