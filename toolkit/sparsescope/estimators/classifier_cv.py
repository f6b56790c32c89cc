"""SparseClassifierCV: λ chosen by cross-validation, with one warm-started path for each fold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _PassthroughScorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params

from ..problems.prediction import Problem
from ..runs.grids import lam_grid
from ..runs.path_result import Path
from ..runs.paths import PathRun, path
from .callbacks import History, with_callbacks
from .classifier import SparseClassifier
from .folds import Fold, choose, fit_folds, mean_start, require_rule, warn_of_limits
from .linear import LinearModel
from .showing import sparkline
from .targets import Targets, read_targets

FOLDS = 5
RARELY = 10  # iterations between two certificates of a fold at most; a solver may say that one is due before
SHARED = (
    "loss", "penalty", "solver", "fit_intercept", "standardize", "feature_weights", "class_weight", "tol", "max_iter",
    "random_state",
)  # fmt: skip


class SparseClassifierCV(LinearModel):
    """Sparse linear classifier whose λ is chosen by cross-validation.

    All folds share one grid of λ; on each fold every λ starts at the solution of the λ before it. The model is the
    solution on all samples at the chosen λ, which starts at the mean of the folds' solutions there.

    Parameters
    ----------
    loss, penalty, solver, fit_intercept, standardize, feature_weights, class_weight, random_state
        As of :class:`SparseClassifier`.
    n_lams : int
        Number of λ, in equal factors from λ_max of all samples downwards.
    ratio : float
        Smallest λ over largest.
    lams : array or None
        λ in place of the grid; sorted downwards.
    cv : int, splitter, iterable or None
        As in scikit-learn; ``None``: five stratified folds, or fewer where no class has five samples.
    scoring : str, callable or None
        A scorer of scikit-learn; ``None``: accuracy.
    rule : {"best", "one-se"}
        λ of the best mean score, or the largest λ within one standard error of it (a sparser model).
    tol : float
        Relative duality gap at which a λ is left.
    max_iter : int
        Largest number of iterations at one λ.
    n_jobs : int or None
        Folds at a time, as in scikit-learn.

    Attributes
    ----------
    lams_ : array (n_lams,)
        λ, falling.
    scores_ : array (n_lams, n_folds)
        Scores of the held-out folds.
    mean_scores_, standard_errors_ : array (n_lams,)
        Of the folds.
    lam_, lam_best_, lam_1se_ : float
        The λ of the model, the λ of the best mean score, and that of the one-standard-error rule.
    path_ : sparsescope.Path
        The solutions on all samples at every λ. The model does not need them: they are found when this is first asked
        for (or the estimator is pickled), and the samples are kept until then.
    n_iter_ : int
        Iterations of the fit on all samples.
    classes_, coef_, intercept_, support_, dual_gap_, relative_gap_, objective_, threshold_, history_
        As of :class:`SparseClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sparsescope import SparseClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseClassifierCV(n_lams=10, cv=3, rule="one-se").fit(X, y)
    >>> model.scores_.shape
    (10, 3)
    """

    path_: Path
    saved: ClassVar[tuple[str, ...]] = (
        *LinearModel.saved, "lams_", "scores_", "mean_scores_", "standard_errors_", "lam_best_", "lam_1se_",
    )  # fmt: skip

    def __init__(
        self,
        loss: Any = None,
        penalty: Any = "l1/l2",
        solver: Any = "auto",
        *,
        n_lams: int = 50,
        ratio: float = 1e-2,
        lams: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        fit_intercept: bool = True,
        standardize: bool = False,
        feature_weights: Any = None,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.n_lams = n_lams
        self.ratio = ratio
        self.lams = lams
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.feature_weights = feature_weights
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> SparseClassifierCV:
        """Choose λ and fit the weights.

        Parameters
        ----------
        X, y, sample_weight
            As for :class:`SparseClassifier`. Held-out samples are weighed in their scores too.
        **params
            Metadata for the splitter and the scorer (``groups``), by scikit-learn's routing.

        Returns
        -------
        SparseClassifierCV
            The fitted estimator.
        """
        require_rule(self.rule)
        X, targets = self._read(X, y)
        weights = self._sample_weight(sample_weight, X)
        problem = self._problem(X, targets, weights)
        lams = self._grid(problem)
        labels = targets.y if targets.multilabel else targets.classes[targets.y]
        routed = self._routed(sample_weight, params)
        splits = check_cv(self._folds_of(targets), labels, classifier=True).split(X, labels, **routed.splitter.split)
        shell = SparseClassifier(**{name: getattr(clone(self, safe=False), name) for name in SHARED})
        scorer = check_scoring(shell, scoring=self.scoring)
        of_scores = _check_method_params(X, routed.scorer.score)
        given = [(shell, scorer, X, labels, weights, lams, train, test, of_scores) for train, test in splits]
        folds = fit_folds(self.n_jobs, _one_fold, given)
        self.scores_ = np.column_stack([fold.scores for fold in folds])
        chosen = choose(self.scores_)
        self.lams_, self.mean_scores_, self.standard_errors_ = lams, chosen.means, chosen.errors
        self.lam_best_, self.lam_1se_ = float(lams[chosen.best]), float(lams[chosen.one_se])
        k = chosen.by(self.rule)
        self._fit_all(problem, targets, lams[k], mean_start(problem, folds, k))
        self.__dict__.pop("path_", None)
        self._of_path = problem
        return self

    def _folds_of(self, targets: Targets) -> Any:
        """The splitter as given; by default five folds, or fewer where no class has five samples."""
        if self.cv is not None or targets.multilabel:
            return self.cv
        return max(2, min(FOLDS, int(np.bincount(targets.y).max())))

    def _grid(self, problem: Problem) -> np.ndarray:
        """λ, falling. Without any signal in X every λ gives W = 0."""
        if self.lams is None and np.isfinite(problem.lam_max) and problem.lam_max <= 0.0:
            return lam_grid(problem, lams=np.geomspace(1.0, self.ratio, self.n_lams))[0]
        return lam_grid(problem, self.n_lams, self.ratio, self.lams)[0]

    def _fit_all(self, problem: Problem, targets: Targets, lam: float, start: tuple[Any, Any]) -> None:
        """Fit the model on all samples at the chosen λ, from weights near its own."""
        solver, history = self._solver(problem), History()
        W, b = (None, None) if solver.sparse else start
        # a path of one λ ends as those of the folds do
        run = PathRun(problem, solver, lams=[lam], W=W, b=b, tol=self.tol, max_iter=self.max_iter, callbacks=[history])
        for _ in run:
            pass
        found = run.path
        warn_of_limits(int((~found.converged).sum()), "of the fit on all samples")
        self._keep(problem.with_(lam=lam), targets, found.weights(), found.intercept())
        unit = problem.lam_max if problem.loss.smooth else float("nan")
        self.lam_ratio_ = self.lam_ / unit if 0.0 < unit < np.inf else float("nan")
        self.n_iter_, self.history_ = int(found.iterations[0]), history.table
        self.dual_gap_, self.relative_gap_ = float(found.gap[0]), float(found.relative_gap[0])
        self.objective_ = float(found.objective[0])

    def __getattr__(self, name: str) -> Any:
        # Not a property: what lists the attributes of an estimator, as scikit-learn's display does, would fit the path.
        problem = vars(self).get("_of_path")
        if name != "path_" or problem is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.path_ = path(problem, self._solver(problem), lams=self.lams_, tol=self.tol, max_iter=self.max_iter)
        del self._of_path
        warn_of_limits(int((~self.path_.converged).sum()), "of the path")
        return self.path_

    def __getstate__(self) -> Any:
        if "_of_path" in vars(self):
            _ = self.path_  # in place of the samples
        return super().__getstate__()

    # --------------------------------------------------------------------------------------------------------- scores
    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> Bunch:
        """Metadata of the splitter and the scorer; without routing the sample weights go to the scorer."""
        from sklearn import get_config

        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        if params:
            raise ValueError(
                f"{', '.join(params)} can be passed on with metadata routing only: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=weights))

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn's routing how metadata go to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            Of the fit, the splitter and the scorer.
        """
        scorer = check_scoring(SparseClassifier(loss=self.loss), scoring=self.scoring)
        router = MetadataRouter(owner=self).add_self_request(self)
        router = router.add(
            splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split")
        )
        return router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))

    def _fit_facts(self) -> list[tuple[str, str]]:
        folds = f"{self.scores_.shape[1]} folds"
        at = int(np.flatnonzero(self.lams_ == self.lam_)[0])
        score = f"{self.mean_scores_[at]:.3g} ± {self.standard_errors_[at]:.1g}"
        return [*super()._fit_facts(), (f"score ({folds})", score)]

    def _fit_picture(self) -> str:
        return sparkline(self.mean_scores_, "Mean score by λ, from the largest", logarithmic=False)


def _one_fold(
    shell: SparseClassifier,
    scorer: Any,
    X: Any,
    labels: Any,
    weights: np.ndarray | None,
    lams: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    of_scores: dict[str, Any],
) -> Fold:
    """Fit and judge one fold at every λ."""
    X = sp.csr_array(X) if sp.issparse(X) else X
    targets = read_targets(labels[train])
    problem = shell._problem(X[train], targets, None if weights is None else weights[train])
    shell = clone(shell, safe=False)
    shell.n_features_in_ = X.shape[1]
    solver, most = shell._solver(problem), shell.max_iter
    found = path(problem, solver, lams=lams, tol=shell.tol, max_iter=most, certify_every=RARELY)
    held_out = _check_method_params(X, of_scores, indices=test)
    score = _accuracy if _is_accuracy(scorer, targets, held_out) else scorer
    held_out_X, held_out_labels = X[test], labels[test]
    scores = np.empty(len(found))
    for k in range(len(found)):
        shell._keep(problem, targets, found.weights(k), found.intercept(k))
        scores[k] = score(shell, held_out_X, held_out_labels, **held_out)
    return Fold.of(found, scores)


def _is_accuracy(scorer: Any, targets: Targets, held_out: dict[str, Any]) -> bool:
    """Return whether a scorer calls :meth:`SparseClassifier.score` on classes, which is the accuracy."""
    return isinstance(scorer, _PassthroughScorer) and not targets.multilabel and held_out.keys() <= {"sample_weight"}


def _accuracy(model: SparseClassifier, X: Any, labels: np.ndarray, sample_weight: Any = None) -> float:
    """Return ``model.score`` of samples that were read already: they are not checked anew at every λ."""
    return float(np.average(model._predicted(model._parts(X)) == labels, weights=sample_weight))
