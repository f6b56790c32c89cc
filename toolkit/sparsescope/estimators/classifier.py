"""SparseClassifier: any loss with any penalty and any solver, as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from ..problems.prediction import Problem
from ..registry import solvers
from ..runs.run import Run
from ..runs.solving import solve
from .callbacks import History, told, with_callbacks
from .linear import LinearModel
from .targets import Targets
from .weights import Weights

NAN = float("nan")


def _goes_on(estimator: Any) -> bool:
    """Return whether the solver can go on with further samples; ``AttributeError`` if not."""
    given = estimator.solver
    kind = solvers[given] if isinstance(given, str) and given in solvers else given
    if getattr(kind, "online", False):
        return True
    fitting = ", ".join(name for name in solvers if getattr(solvers[name], "online", False))
    raise AttributeError(f"partial_fit needs a stochastic solver, and solver is {given!r}; allowed: {fitting}")


class SparseClassifier(LinearModel):
    """Sparse multiclass or multilabel linear classifier with a certified duality gap.

    Minimises (1/Σw) Σ_i w_i ℓ(Wᵀx_i + b, y_i) + λ Ω(W) over W (features × classes) and b.

    Parameters
    ----------
    loss : str, Loss or None
        Name of a loss or a loss; ``None``: the multiclass squared hinge for classes, the label ranking squared hinge
        for label sets.
    penalty : str or Penalty
        Name of a penalty or a penalty, such as ``ss.penalties.ElasticNet(rho=0.3)``.
    solver : str or Solver
        Name of a solver or a solver with its settings; ``"auto"`` chooses one.
    lam : float or None
        λ; ``None``: by ``lam_ratio``.
    lam_ratio : float
        λ as a share of λ_max, above which all weights are zero.
    fit_intercept : bool
        Add an intercept, which is not penalised.
    standardize : bool
        Penalise weights of features divided by their standard deviations.
    feature_weights : array (n_features,) or None
        Weights of the features in the penalty; 0: not penalised.
    class_weight : dict, "balanced" or None
        Factors of the sample weights by classes; not for label sets.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Largest number of iterations.
    warm_start : bool
        Begin at the weights of the fit before.
    random_state : int, RandomState or None
        Seed of solvers that draw; ``None``: the solver's own seed.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order; for label sets their numbers.
    coef_, intercept_
        Weights (n_scores, n_features) and intercepts; one row for two classes.
    support_ : array
        Numbers of the features in use.
    lam_, lam_ratio_ : float
        λ, and its share of λ_max (NaN where λ was given and λ_max is not known at once).
    n_iter_, dual_gap_, relative_gap_, objective_
        Iterations, duality gap, gap by objective, objective F.
    history_ : structured array
        Iteration, objective, relative gap and non-zero rows of the measured iterates.
    threshold_ : float
        The score above which a label is predicted (label sets).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        from ``fit``, naming the argument that cannot be used.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        if ``max_iter`` was reached before ``tol``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsescope import SparseClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseClassifier(lam_ratio=0.1).fit(X, y)
    >>> bool(model.relative_gap_ <= 1e-6)
    True
    """

    def __init__(
        self,
        loss: Any = None,
        penalty: Any = "l1/l2",
        solver: Any = "auto",
        *,
        lam: float | None = None,
        lam_ratio: float = 0.05,
        fit_intercept: bool = True,
        standardize: bool = False,
        feature_weights: Any = None,
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.lam = lam
        self.lam_ratio = lam_ratio
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.feature_weights = feature_weights
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseClassifier:
        """Fit the weights.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            Samples.
        y : array (n_samples,) or indicator (n_samples, n_labels)
            A class for each sample, or label sets.
        sample_weight : array (n_samples,) or None
            Weights ≥ 0 of the samples.

        Returns
        -------
        SparseClassifier
            The fitted estimator.
        """
        X, targets = self._read(X, y)
        problem = self._problem(X, targets, self._sample_weight(sample_weight, X))
        problem = self._at_lam(problem)
        solver, history = self._solver(problem), History()
        W, b = self._start(problem, targets, solver)
        tellers = told(self, {"X": X, "y": targets.y}, lambda event: self._reconstruction(problem, targets, event))
        result = solve(
            problem,
            solver,
            tol=self.tol,
            max_iter=self.max_iter,
            W=W,
            b=b,
            callbacks=[history, *tellers],
            record=False,
        )
        self._keep(problem, targets, result.W, result.b)
        self.n_iter_, self.dual_gap_ = result.iterations, result.gap
        self.relative_gap_, self.objective_ = result.relative_gap, result.objective
        self.history_ = history.table
        self._steps = 0
        for teller in tellers:
            teller.end()
        return self

    def _at_lam(self, problem: Problem) -> Problem:
        """The problem at the λ that is asked for; sets ``lam_ratio_``. Without any signal in X every λ gives W = 0."""
        self.lam_ratio_ = NAN
        if self.lam is not None:
            problem = problem.with_(lam=self.lam)
            if problem.loss.smooth:
                unit = problem.lam_max
                self.lam_ratio_ = problem.lam / unit if 0.0 < unit < np.inf else NAN
            return problem
        if problem.lam_max <= 0.0:
            return problem
        problem = problem.with_(lam_ratio=self.lam_ratio)
        self.lam_ratio_ = float(self.lam_ratio)
        return problem

    def _start(self, problem: Problem, targets: Targets, solver: Any) -> tuple[Any, Any]:
        """The weights to begin at: those of the fit before with ``warm_start``, where they fit."""
        kept = getattr(self, "_weights", None) if self.warm_start else None
        if kept is None or solver.sparse or (kept.d, kept.m) != (problem.d, problem.m):
            return None, None
        if targets.multilabel != self.multilabel_ or not np.array_equal(targets.classes, self.classes_):
            return None, None
        return kept.full(), kept.bias if problem.intercept else None

    def _reconstruction(self, problem: Problem, targets: Targets, event: Any) -> dict[str, Any]:
        """Attributes of an estimator that predicts with the weights of an event, for callbacks of scikit-learn."""
        W, b = event.state.weights(), event.state.intercept()
        return {
            "classes_": targets.classes,
            "multilabel_": targets.multilabel,
            "sparse_targets_": bool(sp.issparse(targets.y)),
            "loss_": problem.loss,
            "_weights": Weights.of(W, b),
            "threshold_": self._threshold(problem, W, b) if targets.multilabel else 0.0,
        }

    @available_if(_goes_on)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> SparseClassifier:
        """Go once over further samples with the stochastic solver; step sizes go on falling from call to call.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array or None
            All classes that may come; needed at the first call.

        Returns
        -------
        SparseClassifier
            The estimator. No gap is known: ``dual_gap_`` is NaN.

        Raises
        ------
        ValueError
            if ``classes`` is missing at the first call, or λ is not given (``lam``) and the first samples lack a class.
        """
        first = not hasattr(self, "_weights")
        if first and classes is None:
            raise ValueError("classes is missing: the first call of partial_fit needs all classes that may come")
        if self.standardize or isinstance(self.class_weight, str):
            raise ValueError(
                f"standardize={self.standardize} and class_weight={self.class_weight!r} need all samples, and "
                "partial_fit sees some of them; scale X before, and give class weights as a mapping"
            )
        X, targets = self._read(X, y, classes if first else self.classes_, reset=first)
        problem = self._next_samples(X, targets, self._sample_weight(sample_weight, X), first)
        solver: Any = self._solver(problem)
        Run(problem, solver).warm_up()
        inner = problem.natural
        W, b = (None, None) if first else self.weights_
        state: Any = solver.start(inner, inner.coefficients(W, b))
        state.t = 0 if first else self._steps
        solver.step(inner, state)
        b = state.intercept()
        self._keep(problem, targets, state.weights().copy(), None if b is None else np.array(b))
        self._steps = state.t
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        self.dual_gap_ = self.relative_gap_ = self.objective_ = NAN
        self.history_ = History().table
        return self

    def _next_samples(self, X: Any, targets: Targets, weights: Any, first: bool) -> Problem:
        """The problem on some samples, at the λ of the first call; classes may be missing among them."""
        if not first:
            lam = self.lam_
        elif self.lam is not None:
            lam, self.lam_ratio_ = float(self.lam), NAN
        elif not targets.multilabel and np.unique(targets.y).size < targets.classes.size:
            raise ValueError(
                "λ is a share of λ_max (lam_ratio), and the first samples lack some of the classes, so λ_max is not "
                "known; give λ itself: lam="
            )
        else:
            lam = self._at_lam(self._problem(X, targets, weights)).lam
        m = targets.classes.size
        every = replace(targets, y=np.eye(m, dtype=np.int64) if targets.multilabel else np.arange(m))
        of_each = self._problem(sp.csr_array((m, X.shape[1]), dtype=X.dtype), every, None, class_weight=None)
        factors = targets.factors(self.class_weight)
        if factors is not None:
            weights = np.ones(X.shape[0]) if weights is None else weights
            weights = weights * np.array([factors[k] for k in range(m)])[targets.y]
        return of_each.with_(lam=lam).on(X, targets.y, weights)
