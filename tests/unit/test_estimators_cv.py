"""SparseClassifierCV: one grid for all folds, scikit-learn's splitters and scorers, and the rules that choose λ."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils.estimator_checks import check_estimator
from test_estimators import exact, with_checks

import sparsescope as ss
from helpers import iris, tags, text
from sparsescope import SparseClassifier, SparseClassifierCV, estimators
from sparsescope.estimators.folds import choose

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FEW = {"n_lams": 8, "ratio": 0.03, "cv": 3}


@quiet
@with_checks(SparseClassifierCV(n_lams=3, cv=2))
def test_scikit_learn_accepts_the_classifier(estimator: Any, check: Any) -> None:
    check(exact(estimator, check))


@quiet
@pytest.mark.slow
def test_scikit_learn_accepts_it_with_default_folds() -> None:
    check_estimator(SparseClassifierCV(n_lams=10))  # with 50 the check of extreme class weights takes minutes


def test_scores_are_those_of_a_fit_on_the_other_folds() -> None:
    X, y = iris()
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SparseClassifierCV(**FEW | {"cv": splitter}, tol=1e-7).fit(X, y)
    assert model.lams_[0] == pytest.approx(ss.Problem(X, y, intercept=True).lam_max)
    for f, (train, test) in enumerate(splitter.split(X, y)):
        for k in (3, 7):
            alone = SparseClassifier(lam=model.lams_[k], tol=1e-7).fit(X[train], y[train])
            assert model.scores_[k, f] == alone.score(X[test], y[test])


def test_the_model_is_certified_at_the_chosen_lam_and_the_path_there_when_asked_for() -> None:
    X, y = iris()
    model = SparseClassifierCV(**FEW).fit(X, y)
    k = int(np.flatnonzero(model.lams_ == model.lam_)[0])
    assert model.mean_scores_[k] == model.mean_scores_.max() and model.lam_ == model.lam_best_
    found = ss.certify(ss.Problem(X, y, lam=model.lam_, intercept=True), *model.weights_)
    assert found.gap <= 1.01 * model.dual_gap_ + 1e-4 * model.objective_ and model.relative_gap_ <= 1e-4
    assert found.objective == pytest.approx(model.objective_, rel=1e-12)
    assert model.lam_ratio_ == pytest.approx(model.lam_ / model.lams_[0])
    assert model.history_["objective"][-1] == model.objective_ and model.history_["iteration"][-1] == model.n_iter_
    model._repr_html_()
    assert "path_" not in vars(model), "showing a model does not fit the path"
    assert len(model.path_) == 8 and model.path_.converged.all() and model.path_ is model.path_
    assert model.path_.lams.tolist() == model.lams_.tolist() and not any("_of_path" in name for name in vars(model))
    assert model.path_.objective[k] == pytest.approx(model.objective_, rel=2e-4)
    with pytest.raises(AttributeError, match="'paths_'"):
        _ = model.paths_


def test_a_pickled_model_has_its_path_and_no_samples() -> None:
    X, y = iris()
    model = SparseClassifierCV(**FEW).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.path_.lams.tolist() == model.lams_.tolist() and "_of_path" not in vars(again)
    with pytest.raises(AttributeError, match="path_"):
        _ = SparseClassifierCV().path_
    before = model.path_
    model.fit(X[:60], y[:60])
    assert model.path_ is not before, "of the new fit"


def test_the_fit_on_all_samples_starts_at_the_mean_of_the_folds() -> None:
    X, y = text()
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SparseClassifierCV(**FEW | {"cv": splitter}, tol=1e-9).fit(X, y)
    alone = [SparseClassifier(lam=model.lam_, tol=1e-9).fit(X[train], y[train]) for train, _ in splitter.split(X, y)]
    W, b = (np.mean([one.weights_[part] for one in alone], axis=0) for part in (0, 1))
    at = ss.Problem(X, y, lam=model.lam_, intercept=True)
    assert model.history_["objective"][0] == pytest.approx(at.objective(W, b), rel=1e-6)
    assert model.history_["objective"][0] < at.null_objective
    missing = [(np.flatnonzero(y != y[0]), np.flatnonzero(y == y[0])), *splitter.split(X, y)]
    without = SparseClassifierCV(**FEW | {"cv": missing, "scoring": make_scorer(accuracy_score)}).fit(X, y)
    k = int(np.flatnonzero(without.lams_ == without.lam_)[0])
    first = at.with_(lam=without.lams_[k]).null_objective
    assert without.history_["objective"][0] == pytest.approx(first), "a fold lacks a class: no mean to start at"


def test_one_standard_error_takes_the_largest_lam_that_is_near_enough() -> None:
    scores = np.array([[0.2, 0.4], [0.7, 0.8], [0.9, 0.7], [0.85, 0.75], [0.5, 0.5]])
    found = choose(scores)
    assert found.best == 2, "of level scores the larger λ"
    assert found.one_se == 1 and found.errors[2] == pytest.approx(0.1)
    assert (found.by("best"), found.by("one-se")) == (2, 1)
    assert choose(scores - 1e-13 * np.eye(5)[:, [2]]).best == 2, "rounding breaks no tie"
    with pytest.raises(ValueError, match="another scoring"):
        choose(scores * np.nan)
    X, y = iris()
    best, sparse = (SparseClassifierCV(**FEW, rule=rule).fit(X, y) for rule in ("best", "one-se"))
    assert sparse.lam_ == best.lam_1se_ >= best.lam_
    with pytest.raises(ValueError, match="'one-se'"):
        SparseClassifierCV(rule="1se").fit(X, y)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_splitters_scorers_jobs_and_sparse_data(backend: str) -> None:
    X, y = text()
    words = np.array(["a", "b", "c", "d"])[y]
    splitter = StratifiedShuffleSplit(2, random_state=0)
    given = FEW | {"cv": splitter, "scoring": "neg_log_loss", "loss": "logistic"}
    model = SparseClassifierCV(**given).fit(X, words)
    assert (model.scores_ < 0.0).all() and model.scores_.shape == (8, 2)
    with joblib.parallel_config(backend=backend):
        same = SparseClassifierCV(**given, n_jobs=2).fit(sp.csc_array(X), words)
    np.testing.assert_allclose(same.scores_, model.scores_, rtol=1e-9)
    by_function = SparseClassifierCV(**FEW | {"scoring": make_scorer(accuracy_score)}).fit(X, words)
    assert by_function.classes_.tolist() == ["a", "b", "c", "d"]
    fixed = SparseClassifierCV(lams=[1e-3, 1e-2], cv=list(splitter.split(X, y))).fit(X, words)
    assert fixed.lams_.tolist() == [1e-2, 1e-3]


def test_few_samples_have_few_folds() -> None:
    X = np.array([[-2.0, -1.0], [-1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    model = SparseClassifierCV(n_lams=3).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.scores_.shape == (3, 3)
    assert SparseClassifierCV(n_lams=3).fit(*iris()).scores_.shape == (3, 5)


def test_label_sets_have_a_threshold_at_every_lam() -> None:
    X, Y = tags()
    model = SparseClassifierCV(**FEW | {"scoring": "f1_micro"}).fit(X, Y)
    alone = SparseClassifier(lam=model.lam_, tol=1e-4).fit(X, Y)
    assert model.threshold_ == pytest.approx(alone.threshold_, abs=0.05)
    assert model.predict(X).shape == Y.shape and np.isfinite(model.scores_).all()


def test_weights_count_in_the_fit_and_in_the_scores() -> None:
    X, y = iris()
    weights = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    splits = [(np.arange(0, 60), np.arange(45, 75)), (np.arange(15, 75), np.arange(0, 45))]
    model = SparseClassifierCV(**FEW | {"cv": splits}, tol=1e-7).fit(X, y, weights)
    for f, (train, test) in enumerate(splits):
        alone = SparseClassifier(lam=model.lams_[5], tol=1e-7).fit(X[train], y[train], weights[train])
        assert model.scores_[5, f] == pytest.approx(alone.score(X[test], y[test], weights[test]))


def test_metadata_go_to_splitter_and_scorer() -> None:
    X, y = iris()
    groups = np.arange(len(y)) % 4
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        SparseClassifierCV(**FEW).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        model = SparseClassifierCV(**FEW | {"cv": GroupKFold(4)}).fit(X, y, groups=groups)
        assert model.scores_.shape == (8, 4)


def test_limits_are_said_once() -> None:
    with pytest.warns(ConvergenceWarning) as seen:
        SparseClassifierCV(**FEW, solver="fista-cst", tol=1e-12, max_iter=1).fit(*iris())
    assert ["in the folds" in str(one.message) for one in seen] == [True, False]


def test_it_is_saved_and_shown(tmp_path: Path) -> None:
    X, y = iris()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SparseClassifierCV(**FEW, loss="logistic", scoring="accuracy").fit(frame, y)
    loaded = estimators.load(model.save(tmp_path / "cv"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(loaded.scores_, model.scores_)
    shown = loaded._repr_html_()
    assert "score (3 folds)" in shown and "<svg" in shown and "λ/λ_max" in shown


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_without_a_scorer_are_the_accuracies(weighted: bool) -> None:
    data = ss.datasets.load("iris")
    names = np.asarray(data.class_names)[data.y]
    weights = np.random.default_rng(0).random(data.n) + 0.1 if weighted else None
    given = {"n_lams": 4, "ratio": 0.1, "cv": 3}
    plain = ss.SparseClassifierCV(**given).fit(data.X, names, sample_weight=weights)
    named = ss.SparseClassifierCV(**given, scoring="accuracy").fit(data.X, names, sample_weight=weights)
    np.testing.assert_allclose(plain.scores_, named.scores_, rtol=1e-15)
