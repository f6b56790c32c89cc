"""SparseInverseCovariance and its cross-validated form, and StagewiseClassifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import EmpiricalCovariance, graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_estimators import quiet, spoiled, with_checks

import sparsescope as ss
from helpers import digits, iris, tags
from sparsescope import SparseInverseCovariance, SparseInverseCovarianceCV, StagewiseClassifier, estimators

# Each class once; with more and smaller λ, and with another loss and features, the same code runs for longer.
ACCEPTED = [
    SparseInverseCovariance(),
    SparseInverseCovarianceCV(n_lams=2, ratio=0.2, cv=2),
    StagewiseClassifier(max_iter=5),
]
FOR_LONGER = [
    SparseInverseCovarianceCV(n_lams=4, cv=2),
    StagewiseClassifier("logistic", generator="fourier", features=20, max_iter=3, inner=10),
]


@quiet
@with_checks(*ACCEPTED)
def test_scikit_learn_accepts_them(estimator: Any, check: Any) -> None:
    check(estimator)


@quiet
@pytest.mark.slow
@parametrize_with_checks(FOR_LONGER)
def test_scikit_learn_accepts_them_with_other_parameters(estimator: Any, check: Any) -> None:
    check(estimator)


def wine() -> np.ndarray:
    from sklearn.datasets import load_wine

    X = load_wine().data[:, :8]
    return (X - X.mean(axis=0)) / X.std(axis=0)


# --------------------------------------------------------------------------------------------------------- covariances
def test_the_precision_is_that_of_graphical_lasso() -> None:
    X = wine()
    model = SparseInverseCovariance(lam=0.2, tol=1e-10).fit(X)
    _, precision = graphical_lasso(np.cov(X.T, bias=True), 0.2, tol=1e-8, enet_tol=1e-8)
    np.testing.assert_allclose(model.precision_, precision, atol=1e-4)
    np.testing.assert_allclose(model.covariance_ @ model.precision_, np.eye(8), atol=1e-8)
    problem = ss.CovarianceProblem.from_data(X, lam=0.2, diagonal=False)
    assert ss.certify(problem, model.precision_).gap == pytest.approx(model.dual_gap_, abs=1e-9)
    pairs = np.argwhere(np.triu(precision != 0.0, 1))
    np.testing.assert_array_equal(model.edges_, pairs)


def test_scores_and_distances_are_scikit_learns() -> None:
    X = wine()
    model = SparseInverseCovariance(lam_ratio=0.3).fit(X[:100])
    peer = EmpiricalCovariance().fit(X[:100])
    peer.precision_, peer.covariance_ = model.precision_, model.covariance_
    assert model.score(X[100:]) == pytest.approx(peer.score(X[100:]))
    np.testing.assert_allclose(model.mahalanobis(X), peer.mahalanobis(X))
    assert model.lam_ratio_ == pytest.approx(0.3) and model.error_norm(model.covariance_) == 0.0


@pytest.mark.parametrize("centred", [False, True])
def test_sparse_samples_give_the_same(centred: bool) -> None:
    X = np.where(np.random.default_rng(0).random((60, 6)) < 0.3, digits()[0][:60, 18:24], 0.0)
    given = {"lam_ratio": 0.2, "assume_centered": centred, "diagonal": True}
    dense = SparseInverseCovariance(**given).fit(X)
    sparse = SparseInverseCovariance(**given).fit(sp.csc_array(X))
    np.testing.assert_allclose(sparse.precision_, dense.precision_, rtol=1e-6, atol=1e-9)
    assert sparse.score(sp.csr_matrix(X)) == pytest.approx(dense.score(X))
    np.testing.assert_allclose(sparse.mahalanobis(sp.csr_array(X)), dense.mahalanobis(X), rtol=1e-5)
    assert (sparse.location_ == 0.0).all() == centred


def test_correlations_are_penalised_in_their_units_and_given_back_in_those_of_x() -> None:
    X = wine()
    scale = np.logspace(-2, 2, 8)
    plain = SparseInverseCovariance(lam=0.2, correlation=True, tol=1e-9).fit(X)
    scaled = SparseInverseCovariance(lam=0.2, correlation=True, tol=1e-9).fit(X * scale)
    np.testing.assert_allclose(scaled.precision_ * np.outer(scale, scale), plain.precision_, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="feature 3 is constant"):
        SparseInverseCovariance(correlation=True).fit(np.where(np.arange(8) == 3, 1.0, X))


def test_features_without_any_covariance_have_a_diagonal_precision() -> None:
    X = np.tile([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], (3, 1))
    for model in (SparseInverseCovariance().fit(X), SparseInverseCovarianceCV(n_lams=2, cv=3).fit(X)):
        np.testing.assert_allclose(model.precision_, np.eye(2))
        assert model.edges_.shape == (0, 2) and np.isnan(model.lam_ratio_)


def test_a_warm_start_of_a_covariance_begins_at_the_last_theta() -> None:
    X = wine()
    model = SparseInverseCovariance(lam=0.1, warm_start=True, tol=1e-8).fit(X)
    assert model.history_["relative_gap"][0] > 1e-8
    assert model.fit(X).history_["relative_gap"][0] <= 1e-8


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_lam_of_a_covariance_is_chosen_by_likelihood(backend: str) -> None:
    X = wine()
    model = SparseInverseCovarianceCV(n_lams=6, ratio=0.05, cv=KFold(3), tol=1e-7).fit(X)
    for f, (train, test) in enumerate(KFold(3).split(X)):
        alone = SparseInverseCovariance(lam=model.lams_[4], tol=1e-7).fit(X[train])
        assert model.scores_[4, f] == pytest.approx(alone.score(X[test]), rel=1e-4)
    assert model.lam_ == model.lam_best_ == model.lams_[model.mean_scores_.argmax()]
    with joblib.parallel_config(backend=backend):
        sparse = SparseInverseCovarianceCV(n_lams=6, ratio=0.05, cv=3, rule="one-se", n_jobs=2).fit(X)
    assert len(sparse.edges_) <= len(model.edges_)
    search = GridSearchCV(SparseInverseCovariance(), {"lam_ratio": [0.5, 0.1]}, cv=3).fit(X)
    assert search.best_params_["lam_ratio"] in (0.5, 0.1)
    with pytest.warns(ConvergenceWarning, match="of the path"):
        SparseInverseCovarianceCV(n_lams=3, cv=2, tol=1e-14, max_iter=1).fit(X)


def test_a_covariance_is_saved_and_shown(tmp_path: Path) -> None:
    frame = pd.DataFrame(wine(), columns=list("abcdefgh"))
    for model in (SparseInverseCovariance(), SparseInverseCovarianceCV(n_lams=3, cv=2)):
        loaded = estimators.load(model.fit(frame).save(tmp_path / "model"))
        np.testing.assert_array_equal(loaded.precision_, model.precision_)
        assert loaded.score(frame) == model.score(frame)
        assert "edges" in loaded._repr_html_() and "<svg" in loaded._repr_html_()
    with pytest.raises(ValueError, match="precision_"):
        estimators.load(spoiled(tmp_path / "model.npz", lambda h, a: a.update(state_precision_=np.ones((2, 2)))))


# ------------------------------------------------------------------------------------------------------------- stages
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_stages_are_those_of_the_solver() -> None:
    X, y = digits()
    given = {"generator": "fourier", "features": 40}
    model = StagewiseClassifier(**given, max_iter=4, tol=0, random_state=3).fit(X, y)
    problem = ss.SequenceProblem(X, y, lam=1e-4, intercept=True)
    result = ss.solve(problem, "stagewise", **given, seed=3, max_iter=9, stop=ss.stopping.Iterations(4), tol=1e-99)
    np.testing.assert_array_equal(model.predict(X), problem.predict(result.model))
    assert len(model.model_) == model.n_iter_ == 4
    staged = list(model.staged_predict(X))
    np.testing.assert_array_equal(staged[-1], model.predict(X))
    with pytest.warns(ConvergenceWarning):
        StagewiseClassifier(features=10, tol=1e-9, max_iter=2).fit(X, y)
    assert np.mean(staged[0] == y) <= model.score(X, y) and len(staged) == 4


def test_stages_give_probabilities_with_the_logistic_loss() -> None:
    X, y = iris()
    model = StagewiseClassifier("logistic", features=4, max_iter=5, tol=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
        _ = StagewiseClassifier().fit(X, y).predict_proba
    assert CalibratedClassifierCV(StagewiseClassifier(features=4), cv=3).fit(X, y).score(X, y) > 0.8


STAGES = [
    StagewiseClassifier(max_iter=3, features=10),
    StagewiseClassifier(max_iter=3, features=10, generator="gradient", calibrated=True),
    StagewiseClassifier("logistic", max_iter=2, features=10, generator="products", inner=5),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", STAGES, ids=lambda model: model.generator)
@pytest.mark.parametrize("sets", [False, True])
def test_stages_are_saved_and_shown(model: Any, sets: bool, tmp_path: Path) -> None:
    X, y = tags() if sets else (digits()[0], np.array([f"{k}" for k in digits()[1]]))
    if sets and model.loss == "logistic":
        with pytest.raises(ValueError, match="label sets"):
            model.fit(X, y)
        return
    model.fit(X, y)
    loaded = estimators.load(model.save(tmp_path / "stages"))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert "stages" in loaded._repr_html_()


HOSTILE = {
    "columns": lambda h, a: a.update(model_0_numbers=a["model_0_numbers"] + 1000),
    "shape": lambda h, a: a.update(model_0_V=a["model_0_V"][:-1]),
    "NaN": lambda h, a: a.update(model_0_V=a["model_0_V"] * np.nan),
    "count": lambda h, a: a.update(model_count=np.array(10**9)),
    "missing": lambda h, a: a.pop("model_start"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_of_stages_gets_a_sentence(name: str, tmp_path: Path) -> None:
    path = StagewiseClassifier(max_iter=2, features=3, tol=0).fit(*iris()).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"spoiled\.npz"):
        estimators.load(spoiled(path, HOSTILE[name]))


def test_random_features_of_a_hostile_file_are_bounded(tmp_path: Path) -> None:
    model = StagewiseClassifier(generator="fourier", features=5, max_iter=2, tol=0).fit(*iris())
    path = model.save(tmp_path / "model")
    for change in ([0, 10**12, 0, 0], [9, 5, 0, 0], [0, 5, -1, 0]):
        with pytest.raises(ValueError, match="cannot be drawn"):
            estimators.load(spoiled(path, lambda h, a, drawn=change: a.update(model_0_drawn=np.array(drawn))))
    with pytest.raises(ValueError, match="other data"):
        estimators.load(spoiled(path, lambda h, a: a.update(model_0_width=np.array(-1.0))))
