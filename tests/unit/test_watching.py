"""Fits of scikit-learn are watched: the objective is its own, the gap is certified, at every iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import compute_class_weight

import sparsescope as ss
from sparsescope.estimators import Watch
from sparsescope.estimators.watching import problem_of

pytest.importorskip("sklearn.callback")  # scikit-learn 1.9


def scikit_learns_objective(model: Any, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """C Σ wᵢ ℓᵢ + ½‖w‖² as scikit-learn's guide has it, divided by C Σ wᵢ."""
    weights = np.ones(len(y)) if weights is None else weights
    chosen = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-(weights * chosen).sum() / weights.sum() + 0.5 * (model.coef_**2).sum() / (model.C * weights.sum()))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_every_iteration_is_certified_and_the_objective_is_scikit_learns(name: str, intercept: bool) -> None:
    data, seen = ss.datasets.load(name), []
    y = np.asarray(data.class_names)[data.y]
    watch = Watch(callbacks=[lambda event: seen.append(event.gap)])
    model = LogisticRegression(C=0.3, fit_intercept=intercept, tol=1e-8).set_callbacks(watch).fit(data.X, y)
    trace = watch.trace
    assert trace["iteration"].tolist() == list(range(int(model.n_iter_[0]) + 1)) and len(seen) == len(trace)
    assert trace["objective"][-1] == pytest.approx(scikit_learns_objective(model, data.X, y), rel=1e-12)
    best = ss.solve(watch.problem, tol=1e-11).objective
    assert np.isfinite(trace["gap"]).all()
    assert (trace["objective"] - trace["gap"] <= best * (1 + 1e-9)).all()  # D ≤ F* at each of them
    assert trace["relative_gap"][-1] < 1e-3 < trace["relative_gap"][0]
    assert (np.diff(trace["seconds"]) >= 0).all()


def test_sample_and_class_weights_are_in_the_objective() -> None:
    data = ss.datasets.load("wine")
    weights = np.random.default_rng(0).random(data.n) + 0.1
    watch = Watch()
    model = LogisticRegression(class_weight="balanced").set_callbacks(watch)
    model.fit(data.X, data.y, sample_weight=weights)
    every = weights * compute_class_weight("balanced", classes=np.arange(3), y=data.y, sample_weight=weights)[data.y]
    assert watch.trace["objective"][-1] == pytest.approx(scikit_learns_objective(model, data.X, data.y, every))


def test_a_fit_inside_a_pipeline_is_watched_and_each_fit_has_its_trace() -> None:
    data, watch = ss.datasets.load("wine"), Watch()
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    pipe[-1].set_callbacks(watch)
    pipe.fit(data.X, data.y).set_params(logisticregression__C=0.01).fit(data.X, data.y)
    assert len(watch.traces) == 2 and watch.trace is watch.traces[-1]
    assert watch.traces[0].info["lam"] == pytest.approx(1 / data.n)
    assert watch.traces[1].info["lam"] == pytest.approx(100 / data.n)
    figure = ss.views.draw("convergence", {"C = 1": watch.traces[0], "C = 0.01": watch.traces[1]})
    assert len(figure.data) >= 2


def test_what_cannot_be_watched_is_named() -> None:
    data = ss.datasets.load("iris")
    with pytest.raises(ValueError, match="no fit was seen yet"):
        _ = Watch().trace
    with pytest.raises(TypeError, match="LinearSVC cannot be watched"):
        problem_of(LinearSVC(), data.X, data.y)
    with pytest.raises(ValueError, match="ridge penalty"):
        problem_of(LogisticRegression(l1_ratio=0.5, solver="saga"), data.X, data.y)
    assert "No fit" in Watch()._repr_html_()
