"""A classifier made of a solution that is there already."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problems.prediction import Problem
from .callbacks import COLUMNS, History
from .classifier import NAN, SparseClassifier
from .targets import Targets


def from_result(problem: Problem, result: Any) -> SparseClassifier:
    """Make a fitted classifier of a solution.

    Parameters
    ----------
    problem : Problem
        what was solved, with the values of X as new samples will have them.
    result : Result
        its solution, as :func:`sparsescope.solve` returns it.

    Returns
    -------
    SparseClassifier
        predicts with the weights of the result; ``classes_`` are the problem's class names.

    Raises
    ------
    TypeError
        for a problem that does not predict classes or label sets.

    Examples
    --------
    >>> data = ss.datasets.load("iris", scale="none")
    >>> problem = ss.Problem(data, lam_ratio=0.01, intercept=True)
    >>> model = ss.estimators.from_result(problem, ss.solve(problem))
    >>> model.predict([[5.0, 3.4, 1.5, 0.2]]).tolist()
    ['setosa']
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"a {type(problem).__name__} predicts no classes; a sparsescope.Problem is needed")
    model = SparseClassifier(
        loss=problem.loss,
        penalty=problem.penalty,
        lam=problem.lam,
        fit_intercept=problem.intercept,
        standardize=problem.standardize,
    )
    model.n_features_in_ = problem.d
    if problem.feature_names is not None:
        model.feature_names_in_ = np.array(problem.feature_names, dtype=object)
    targets = Targets(np.array(problem.class_names, dtype=object), problem.y, problem.multilabel)
    model._keep(problem, targets, result.W, result.b)
    unit = problem.lam_max if problem.loss.smooth else NAN
    model.lam_ratio_ = problem.lam / unit if 0.0 < unit < np.inf else NAN
    model.n_iter_, model.dual_gap_ = result.iterations, result.gap
    model.relative_gap_, model.objective_ = result.relative_gap, result.objective
    model.history_ = _history(result.trace)
    return model


def _history(trace: Any) -> np.ndarray:
    """The certified events of a trace, as a fit keeps them."""
    if trace is None:
        return History().table
    seen = np.flatnonzero(np.isfinite(trace["relative_gap"]))
    kind = np.dtype([(name, np.float64) for name in COLUMNS])
    return np.array([tuple(float(trace[name][k]) for name in COLUMNS) for k in seen], dtype=kind)
