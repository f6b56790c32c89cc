"""Examples of scikit-learn's gallery, retold with the estimators of this package: what each one shows has to hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    train_test_split,
)
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import sparsescope as ss
from sparsescope import SparseClassifier, SparseClassifierCV
from sparsescope.estimators import RandomFourierFeatures

slow = pytest.mark.slow


def sparse(loss: str = "multiclass-squared-hinge", **settings: Any) -> SparseClassifier:
    return SparseClassifier(loss, **{"tol": 1e-3, **settings})


def scaled(**settings: Any) -> Pipeline:
    return make_pipeline(StandardScaler(), sparse(**settings))


def documents(count: int) -> tuple[list[str], np.ndarray]:
    """Texts of pydocs, written out word by word, and their modules."""
    data = ss.datasets.load("pydocs")
    assert data.feature_names is not None
    words = np.array(data.feature_names)
    return [" ".join(words[data.X[i].indices]) for i in range(count)], np.array(data.class_names)[data.y[:count]]


def test_columns_of_mixed_types_go_through_one_pipeline() -> None:
    """*Column Transformer with Mixed Types*: numbers with gaps and words, each prepared in its own way."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.uniform(1, 80, n),
            "fare": rng.lognormal(3, 1, n),
            "port": rng.choice(["C", "Q", "S"], n),
            "sex": rng.choice(["f", "m"], n),
            "noise": rng.standard_normal(n),
        }
    )
    survived = np.where((frame["sex"] == "f") ^ (rng.random(n) < 0.1), "yes", "no")
    frame.loc[::7, "age"] = np.nan
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), make_column_selector(dtype_include=float)),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=float)),
    )
    model = make_pipeline(prepared, SelectKBest(k=5), sparse("logistic", penalty="l1", lam_ratio=0.2))
    train, test, y, y_test = train_test_split(frame, survived, random_state=0)
    model.fit(train, y)
    assert model.score(test, y_test) > 0.8
    names = model[:-1].get_feature_names_out()[model[-1].support_]
    assert any("sex" in name for name in names) and not any("noise" in name for name in names)


def test_set_output_keeps_the_names_to_the_last_step() -> None:
    """*Introducing the set_output API*: the coefficients can be shown beside the names of the columns."""
    X, y = load_iris(as_frame=True, return_X_y=True)
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), sparse(lam_ratio=0.02)).set_output(transform="pandas")
    model.fit(X, y)
    shown = pd.DataFrame(model[-1].coef_, columns=model[-1].feature_names_in_, index=model[-1].classes_)
    assert list(shown.columns) == ["petal length (cm)", "petal width (cm)"] and model.score(X, y) > 0.9


def test_features_are_selected_by_the_model() -> None:
    """*Model-based and sequential feature selection*, *Recursive feature elimination*: what is left predicts well."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(0)
    noisy = np.hstack([X, rng.standard_normal((len(y), 7))])
    chosen = SelectFromModel(sparse(lam_ratio=0.3)).fit(noisy, y).get_support()
    assert 0 < chosen.sum() <= 13 and not chosen[13:].any()
    ranked = RFE(sparse(lam_ratio=0.1), n_features_to_select=4, step=4).fit(noisy, y)
    assert ranked.support_.sum() == 4 and not ranked.support_[13:].any()
    assert sparse(lam_ratio=0.02).fit(noisy[:, ranked.support_], y).score(noisy[:, ranked.support_], y) > 0.9


def test_metadata_reach_fit_score_and_splitter() -> None:
    """*Metadata Routing*: weights go to fit and score, groups to the splitter; nothing else gets them."""
    X, y = load_iris(return_X_y=True)
    groups, weights = np.arange(len(y)) % 5, np.linspace(0.5, 1.5, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = sparse(lam=0.01).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"penalty": ["l1", "l1/l2"]}, cv=GroupKFold(5))
        search.fit(X, y, groups=groups, sample_weight=weights)
        found = search.cv_results_["split0_test_score"][0]
    train, test = next(GroupKFold(5).split(X, y, groups))
    alone = sparse(lam=0.01, penalty="l1").fit(X[train], y[train], weights[train])
    assert found == alone.score(X[test], y[test], weights[test])


@slow
def test_a_chain_of_pca_and_a_classifier_is_searched() -> None:
    """*Pipelining: chaining a PCA and a logistic regression*."""
    X, y = load_digits(return_X_y=True)
    model = Pipeline([("scale", MinMaxScaler()), ("pca", PCA(random_state=0)), ("fit", sparse("logistic"))])
    grid = {"pca__n_components": [5, 30], "fit__lam_ratio": [0.3, 0.01]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"pca__n_components": 30, "fit__lam_ratio": 0.01} and search.best_score_ > 0.9


@slow
def test_halving_comes_to_what_the_grid_comes_to() -> None:
    """*Comparison between grid search and successive halving*."""
    X, y = load_digits(return_X_y=True)
    grid = {"lam_ratio": [0.8, 0.4, 0.1, 0.05, 0.01], "penalty": ["l1", "l1/l2"]}
    full = GridSearchCV(sparse(), grid, cv=3).fit(X / 16, y)
    halved = HalvingGridSearchCV(sparse(), grid, cv=3, random_state=0, min_resources=300).fit(X / 16, y)
    assert halved.best_score_ >= full.best_score_ - 0.05
    assert sum(halved.n_candidates_) * 300 < len(full.cv_results_["params"]) * len(y)


@slow
def test_calibration_gives_probabilities_to_a_hinge() -> None:
    """*Probability Calibration for 3-class classification*: calibrated shares beat the shares of the classes."""
    X, y = load_wine(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    for method in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(scaled(), method=method, cv=5).fit(train, y_train)
        shares = model.predict_proba(test)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        prior = np.tile(np.bincount(y_train) / len(y_train), (len(y_test), 1))
        assert log_loss(y_test, shares) < 0.5 * log_loss(y_test, prior)


@slow
def test_texts_are_counted_weighed_and_classified() -> None:
    """*Sample pipeline for text feature extraction and evaluation*, on the documentation of Python."""
    texts, y = documents(1200)
    model = Pipeline(
        [("count", CountVectorizer(token_pattern=r"\S+")), ("tfidf", TfidfTransformer()), ("fit", sparse())]
    )
    grid = {"tfidf__use_idf": [True, False], "fit__lam_ratio": [0.5, 0.05]}
    search = GridSearchCV(model, grid, cv=StratifiedKFold(3)).fit(texts, y)
    assert search.best_params_["fit__lam_ratio"] == 0.05
    fitted = search.best_estimator_
    words = fitted["count"].get_feature_names_out()[fitted["fit"].support_]
    assert 20 < len(words) < len(fitted["count"].vocabulary_)
    assert fitted.score(texts, y) > 3 * max(np.unique(y, return_counts=True)[1]) / len(y)


@slow
def test_label_sets_at_once_and_in_a_chain() -> None:
    """*Multilabel classification using a classifier chain*: both beat the labels' own shares."""
    X, Y = make_multilabel_classification(400, n_features=20, n_classes=4, allow_unlabeled=False, random_state=0)
    train, test, Y_train, Y_test = train_test_split(X, Y, random_state=0)
    common = np.tile(Y_train.mean(axis=0) > 0.5, (len(test), 1))
    least = f1_score(Y_test, common, average="micro")
    joint = sparse("label-ranking-squared-hinge", lam_ratio=0.01).fit(train, Y_train)
    assert f1_score(Y_test, joint.predict(test), average="micro") > least
    chain = ClassifierChain(sparse("logistic", lam_ratio=0.01), order="random", random_state=0).fit(train, Y_train)
    assert f1_score(Y_test, chain.predict(test), average="micro") > least


@slow
def test_permutations_hurt_only_where_weights_are() -> None:
    """*Permutation importance*: features outside the support have the importance 0 exactly."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = sparse("logistic", lam_ratio=0.1).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    outside = np.setdiff1d(np.arange(X.shape[1]), model.support_)
    assert outside.size and not found.importances[outside].any()
    assert found.importances_mean[model.support_].max() > 0.01


@slow
def test_more_samples_bring_training_and_test_together() -> None:
    """*Plotting Learning Curves*."""
    X, y = load_digits(return_X_y=True)
    sizes, train, test = learning_curve(
        sparse(lam_ratio=0.02), X / 16, y, cv=3, train_sizes=[0.05, 0.3, 1.0], shuffle=True, random_state=0
    )
    assert (np.diff(sizes) > 0).all() and test.mean(axis=1)[-1] > test.mean(axis=1)[0]
    gaps = train.mean(axis=1) - test.mean(axis=1)
    assert gaps[-1] < gaps[0]


@slow
def test_elimination_by_cross_validation_finds_the_informative_columns() -> None:
    """*Recursive feature elimination with cross-validation*."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = (X[:, :3] @ [2.0, -1.5, 1.0] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    found = RFECV(sparse(lam_ratio=0.02), cv=StratifiedKFold(3)).fit(X, y)
    assert found.support_[:3].all() and found.ranking_[:3].tolist() == [1, 1, 1]
    assert found.cv_results_["mean_test_score"].max() > 0.9


@slow
def test_stacked_predictors_are_no_worse_than_the_worst() -> None:
    """*Combine predictors using stacking*, with a sparse model below and above."""
    X, y = load_breast_cancer(return_X_y=True)
    below = [("sparse", scaled(lam_ratio=0.02)), ("forest", RandomForestClassifier(20, random_state=0))]
    model = StackingClassifier(below, final_estimator=sparse("logistic", lam_ratio=0.01), cv=3)
    each = [cross_val_score(one, X, y, cv=3).mean() for _, one in below]
    assert cross_val_score(model, X, y, cv=3).mean() >= min(each) - 0.01


@slow
def test_nested_folds_are_less_hopeful() -> None:
    """*Nested versus non-nested cross-validation*; the inner search is a path, and its best score the hopeful one."""
    X, y = load_iris(return_X_y=True)
    inner, outer = KFold(3, shuffle=True, random_state=1), KFold(3, shuffle=True, random_state=2)
    model = SparseClassifierCV("logistic", n_lams=8, cv=inner, tol=1e-3)
    hopeful = model.fit(X, y).mean_scores_.max()
    nested = cross_val_score(model, X, y, cv=outer)
    assert nested.mean() > 0.9 and hopeful > 0.9 and nested.size == 3
    predicted = cross_val_predict(model, X, y, cv=outer)
    assert np.mean(predicted == y) == pytest.approx(nested.mean(), abs=1e-12)


@slow
def test_a_score_is_set_against_those_of_shuffled_labels() -> None:
    """*Test with permutations the significance of a classification score*."""
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).standard_normal((len(y), 20))
    score, shuffled, p = permutation_test_score(sparse(), X, y, cv=3, n_permutations=30, random_state=0)
    assert score > shuffled.max() and p == pytest.approx(1 / 31)
    _, _, p_noise = permutation_test_score(sparse(), noise, y, cv=3, n_permutations=30, random_state=0)
    assert p_noise > 0.05


@slow
def test_smaller_lam_leaves_more_weights() -> None:
    """*L1 Penalty and Sparsity in Logistic Regression*, small digits against large ones."""
    X, y = load_digits(return_X_y=True)
    X, large = StandardScaler().fit_transform(X), (y > 4).astype(int)
    used = [
        np.count_nonzero(sparse("binary-logistic", penalty="l1", lam_ratio=r).fit(X, large).coef_)
        for r in (0.3, 0.1, 0.01)
    ]
    assert used == sorted(used) and used[0] < used[-1]
    ridge = sparse("binary-logistic", penalty="ridge", lam=0.01).fit(X, large)
    assert np.count_nonzero(ridge.coef_) > used[-1]


@slow
def test_random_features_stand_for_a_kernel() -> None:
    """*Explicit feature map approximation for RBF kernels*: with more features the score rises above the linear one."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = (np.hypot(*X.T) < 0.7).astype(int)
    settings = {"penalty": "ridge", "lam": 1e-5}
    linear = cross_val_score(sparse(**settings), X, y, cv=3).mean()
    few, many = (
        cross_val_score(make_pipeline(RandomFourierFeatures(k, random_state=0), sparse(**settings)), X, y, cv=3).mean()
        for k in (2, 200)
    )
    assert many > 0.9 and many > linear + 0.1 and many > few
