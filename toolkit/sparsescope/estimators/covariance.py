"""SparseInverseCovariance and its cross-validated form: certified graphical lasso, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, log_likelihood
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from ..problems.covariance import CovarianceProblem
from ..problems.linear_algebra import cholesky, inverse
from ..runs.grids import lam_grid
from ..runs.path_result import Path
from ..runs.paths import path
from ..runs.run import as_solver
from ..runs.solving import solve
from .callbacks import COLUMNS, CallbackSupportMixin, History, told, with_callbacks
from .files import Savable
from .folds import Fold, choose, fit_folds, require_rule, warn_of_limits
from .showing import ShownFit, sparkline

NAN = float("nan")


class CovarianceModel(ShownFit, Savable, CallbackSupportMixin, EmpiricalCovariance):
    """Base of the two estimators: the problem of samples, Θ in the units of X, and what follows from it."""

    lam_: float
    precision_: np.ndarray
    saved: ClassVar[tuple[str, ...]] = (
        "precision_", "covariance_", "location_", "lam_", "lam_ratio_", "n_iter_", "dual_gap_", "relative_gap_",
        "objective_", "history_", "n_features_in_", "feature_names_in_", "scale_",
    )  # fmt: skip

    # ------------------------------------------------------------------------------------------------- what is solved
    def _read(self, X: Any) -> Any:
        return validate_data(self, X, accept_sparse=["csr", "csc"], dtype=np.float64, ensure_min_samples=2)

    def _problem(self, X: Any) -> tuple[CovarianceProblem, np.ndarray, np.ndarray]:
        """The problem of samples, their means, and the units in which it is posed: those of X, or deviations."""
        params = self.get_params(deep=False)
        n = X.shape[0]
        mean = np.zeros(X.shape[1]) if params["assume_centered"] else np.asarray(X.mean(axis=0)).ravel()
        S = _moment(X, mean)
        scale = np.ones(S.shape[0])
        if params["correlation"]:
            scale = np.sqrt(np.diag(S))
            if not scale.all():
                j = int(np.flatnonzero(scale == 0.0)[0])
                raise ValueError(f"feature {j} is constant and has no correlations; leave it out, or correlation=False")
            S = S / np.outer(scale, scale)
        names = getattr(self, "feature_names_in_", None)
        problem = CovarianceProblem(
            0.5 * (S + S.T),
            weights=params["weights"],
            diagonal=params["diagonal"],
            feature_names=None if names is None else names.tolist(),
        )
        assert n > 1
        return problem, mean, scale

    def _keep(self, problem: CovarianceProblem, Theta: Any, mean: np.ndarray, scale: np.ndarray) -> None:
        Theta = Theta.toarray() if sp.issparse(Theta) else np.asarray(Theta)
        self.location_, self.scale_, self.lam_ = mean, scale, problem.lam
        self.precision_ = Theta / np.outer(scale, scale)
        self.covariance_ = inverse(cholesky(Theta)) * np.outer(scale, scale)
        reference = _reference(problem)
        self.lam_ratio_ = problem.lam / reference if reference > 0.0 else NAN

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        d = self.n_features_in_
        for name, shape in (("precision_", (d, d)), ("covariance_", (d, d)), ("location_", (d,)), ("scale_", (d,))):
            array = getattr(self, name)
            if np.shape(array) != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ValueError(f"{name} is no finite array of shape {shape}")

    # -------------------------------------------------------------------------------------------------- what it gives
    @property
    def edges_(self) -> np.ndarray:
        """Pairs of features that are dependent given all others: (n_edges, 2), the smaller number first."""
        check_is_fitted(self)
        return np.argwhere(np.triu(self.precision_ != 0.0, 1))

    def get_precision(self) -> np.ndarray:
        """Return Θ, the estimate of the inverse covariance (n_features, n_features)."""
        check_is_fitted(self)
        return self.precision_

    def score(self, X_test: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of samples, dense or sparse, under the fitted Gaussian."""
        check_is_fitted(self)
        X = validate_data(self, X_test, reset=False, accept_sparse="csr", dtype=np.float64)
        return float(log_likelihood(_moment(X, self.location_), self.precision_))

    def mahalanobis(self, X: Any) -> np.ndarray:
        """Return the squared Mahalanobis distances (n_samples,) of samples, dense or sparse."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        away = (X.toarray() if sp.issparse(X) else X) - self.location_
        return np.einsum("ij,ij->i", away @ self.precision_, away)

    # -------------------------------------------------------------------------------------------------------- showing
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "precision_")

    def _fit_facts(self) -> list[tuple[str, str]]:
        known = self.lam_ratio_ == self.lam_ratio_
        return [
            ("λ/λ_max", f"{self.lam_ratio_:.3g}") if known else ("λ", f"{self.lam_:.3g}"),
            ("edges", f"{len(self.edges_)} between {self.n_features_in_} features"),
            ("relative gap", f"{self.relative_gap_:.1e}"),
            ("iterations", str(self.n_iter_)),
        ]

    def _fit_picture(self) -> str:
        return sparkline(self.history_["relative_gap"], "Relative duality gap by iteration, logarithmic")


class SparseInverseCovariance(CovarianceModel):
    """Sparse inverse covariance with a certified duality gap (graphical lasso).

    Minimises −logdet Θ + tr(SΘ) + λ Σ_ij C_ij|Θ_ij| over Θ ≻ 0, S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ.

    Parameters
    ----------
    lam : float or None
        λ, in the units of S; ``None``: by ``lam_ratio``.
    lam_ratio : float
        λ as a share of λ_max, above which Θ is diagonal.
    correlation : bool
        Pose the problem for correlations; ``precision_`` and ``covariance_`` are in the units of X all the same.
    diagonal : bool
        Penalise the diagonal of Θ too.
    weights : array (n_features, n_features) or None
        C, weights of the entries in the penalty.
    solver : str or Solver
        Name of a solver or a solver with its settings.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Largest number of iterations.
    warm_start : bool
        Begin at the Θ of the fit before.
    assume_centered : bool
        Take the mean of the samples to be zero.

    Attributes
    ----------
    precision_, covariance_ : array (n_features, n_features)
        Θ and its inverse.
    location_ : array (n_features,)
        Mean of the samples.
    edges_ : array (n_edges, 2)
        Pairs of features that are dependent given all others.
    lam_, lam_ratio_, n_iter_, dual_gap_, relative_gap_, objective_, history_
        As of :class:`SparseClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sparsescope import SparseInverseCovariance
    >>> model = SparseInverseCovariance(lam_ratio=0.3).fit(load_iris().data)
    >>> model.precision_.shape
    (4, 4)
    """

    def __init__(
        self,
        *,
        lam: float | None = None,
        lam_ratio: float = 0.1,
        correlation: bool = False,
        diagonal: bool = False,
        weights: Any = None,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        assume_centered: bool = False,
    ) -> None:
        super().__init__(assume_centered=assume_centered)
        self.lam = lam
        self.lam_ratio = lam_ratio
        self.correlation = correlation
        self.diagonal = diagonal
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> SparseInverseCovariance:
        """Fit Θ to samples.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            Two samples at least.
        y : None
            Not used.

        Returns
        -------
        SparseInverseCovariance
            The fitted estimator.
        """
        X = self._read(X)
        problem, mean, scale = self._problem(X)
        if self.lam is not None:
            problem = problem.with_(lam=self.lam)
        elif _reference(problem) > 0.0:  # else no pair of features has a covariance, and Θ is diagonal for every λ
            problem = problem.with_(lam_ratio=self.lam_ratio)
        history = History()
        tellers = told(self, {"X": X}, lambda event: {"precision_": event.state.weights() / np.outer(scale, scale)})
        start = None
        if self.warm_start and hasattr(self, "precision_") and self.precision_.shape == problem.S.shape:
            start = self.precision_ * np.outer(scale, scale)
        result = solve(
            problem, as_solver(self.solver, problem), tol=self.tol, max_iter=self.max_iter, W=start,
            callbacks=[history, *tellers], record=False,
        )  # fmt: skip
        self._keep(problem, result.W, mean, scale)
        self.n_iter_, self.dual_gap_ = result.iterations, result.gap
        self.relative_gap_, self.objective_ = result.relative_gap, result.objective
        self.history_ = history.table
        for teller in tellers:
            teller.end()
        return self


class SparseInverseCovarianceCV(CovarianceModel):
    """Sparse inverse covariance whose λ is chosen by the likelihood of held-out samples.

    All folds share one grid of λ; on each fold every λ starts at the solution of the λ before it. The model is the
    chosen point of the path on all samples.

    Parameters
    ----------
    n_lams, ratio, lams, cv, rule, tol, max_iter, n_jobs
        As of :class:`SparseClassifierCV`; scores are mean log-likelihoods.
    correlation, diagonal, weights, solver, assume_centered
        As of :class:`SparseInverseCovariance`.

    Attributes
    ----------
    lams_, scores_, mean_scores_, standard_errors_, lam_best_, lam_1se_
        As of :class:`SparseClassifierCV`.
    path_ : sparsescope.Path
        The solutions on all samples.
    precision_, covariance_, location_, edges_, lam_, lam_ratio_, n_iter_, dual_gap_, relative_gap_, objective_
        As of :class:`SparseInverseCovariance`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sparsescope import SparseInverseCovarianceCV
    >>> model = SparseInverseCovarianceCV(n_lams=5, cv=3).fit(load_iris().data)
    >>> model.scores_.shape
    (5, 3)
    """

    path_: Path
    saved: ClassVar[tuple[str, ...]] = (
        *CovarianceModel.saved, "lams_", "scores_", "mean_scores_", "standard_errors_", "lam_best_", "lam_1se_",
    )  # fmt: skip

    def __init__(
        self,
        *,
        n_lams: int = 20,
        ratio: float = 1e-2,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        correlation: bool = False,
        diagonal: bool = False,
        weights: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        assume_centered: bool = False,
    ) -> None:
        super().__init__(assume_centered=assume_centered)
        self.n_lams = n_lams
        self.ratio = ratio
        self.lams = lams
        self.cv = cv
        self.rule = rule
        self.correlation = correlation
        self.diagonal = diagonal
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> SparseInverseCovarianceCV:
        """Choose λ and fit Θ.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            Samples.
        y : None
            Not used.

        Returns
        -------
        SparseInverseCovarianceCV
            The fitted estimator.
        """
        require_rule(self.rule)
        X = self._read(X)
        problem, mean, scale = self._problem(X)
        no_pair = self.lams is None and _reference(problem) <= 0.0
        lams, _ = lam_grid(
            problem, self.n_lams, self.ratio, np.geomspace(1.0, self.ratio, self.n_lams) if no_pair else self.lams
        )
        rows = sp.csr_array(X) if sp.issparse(X) else X
        bare = clone(self)
        given = [(bare, rows[train], rows[test], lams) for train, test in check_cv(self.cv).split(rows)]
        self.scores_ = np.column_stack([fold.scores for fold in fit_folds(self.n_jobs, _one_fold, given)])
        chosen = choose(self.scores_)
        self.lams_, self.mean_scores_, self.standard_errors_ = lams, chosen.means, chosen.errors
        self.lam_best_, self.lam_1se_ = float(lams[chosen.best]), float(lams[chosen.one_se])
        found = path(problem, as_solver(self.solver, problem), lams=lams, tol=self.tol, max_iter=self.max_iter)
        warn_of_limits(int((~found.converged).sum()), "of the path")
        k = chosen.by(self.rule)
        self.path_ = found
        self._keep(problem.with_(lam=lams[k]), found.weights(k), mean, scale)
        self.n_iter_ = int(found.iterations.sum())
        self.dual_gap_, self.relative_gap_ = float(found.gap[k]), float(found.relative_gap[k])
        self.objective_ = float(found.objective[k])
        columns = [np.cumsum(found.iterations), found.objective, found.relative_gap, found.nonzero_rows]
        kind = np.dtype([(name, np.float64) for name in COLUMNS])
        self.history_ = np.array(list(zip(*columns, strict=True)), dtype=kind)
        return self

    def _fit_facts(self) -> list[tuple[str, str]]:
        at = int(np.flatnonzero(self.lams_ == self.lam_)[0])
        score = f"{self.mean_scores_[at]:.4g} ± {self.standard_errors_[at]:.1g}"
        return [*super()._fit_facts(), (f"score ({self.scores_.shape[1]} folds)", score)]

    def _fit_picture(self) -> str:
        return sparkline(self.mean_scores_, "Mean score by λ, from the largest", logarithmic=False)


def _one_fold(model: SparseInverseCovarianceCV, X: Any, test: Any, lams: np.ndarray) -> Fold:
    """Mean log-likelihoods of held-out samples at every λ."""
    problem, mean, scale = model._problem(X)
    found = path(problem, as_solver(model.solver, problem), lams=lams, tol=model.tol, max_iter=model.max_iter)
    moment, scores = _moment(test, mean), np.empty(len(found))
    for k in range(len(found)):
        Theta = found.weights(k)
        Theta = Theta.toarray() if sp.issparse(Theta) else Theta
        scores[k] = log_likelihood(moment, Theta / np.outer(scale, scale))
    return Fold(scores, int((~found.converged).sum()))


def _moment(X: Any, about: np.ndarray) -> np.ndarray:
    """(1/n) Σ_i (x_i − a)(x_i − a)ᵀ of samples, dense or sparse (which stay sparse)."""
    n = X.shape[0]
    if not sp.issparse(X):
        away = X - about
        return np.asarray(away.T @ away) / n
    products = np.asarray((X.T @ X).todense()) / n
    cross = np.outer(about, np.asarray(X.mean(axis=0)).ravel())
    return products - cross - cross.T + np.outer(about, about)


def _reference(problem: CovarianceProblem) -> float:
    """λ_max; 0 where no pair of features has a covariance."""
    return problem._critical()
