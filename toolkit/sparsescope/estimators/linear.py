"""Base of the classifiers with weights W: their problem and solver, and W as people see it."""

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

    def _fit_facts(self) -> list[tuple[str, str]]:
        known = self.lam_ratio_ == self.lam_ratio_
        facts = [("λ/λ_max", f"{self.lam_ratio_:.3g}") if known else ("λ", f"{self.lam_:.3g}")]
        facts.append(("rows", f"{self._weights.support.size} of {self._weights.d}"))
        if self.relative_gap_ == self.relative_gap_:
            facts.append(("relative gap", f"{self.relative_gap_:.1e}"))
        return [*facts, ("iterations", str(self.n_iter_))]


def _sees_no_constant(loss: Any, m: int) -> bool:
    """Return whether a constant added to all scores of a sample changes nothing, so that intercepts can be centred: two
    solutions that differ by it alone are then shown as one."""
    z = np.linspace(-1.0, 1.5, m)
    y: Any = 0 if "classes" in loss.target_types else (np.arange(m) < max(1, m // 2)).astype(np.uint8)
    moved = float(loss.value(z + 1.0, y)) - float(loss.value(z, y))
    return m > 1 and abs(moved) <= 1e-9
