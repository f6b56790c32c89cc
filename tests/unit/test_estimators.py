"""SparseClassifier: scikit-learn's own checks, what it predicts, where it stands, and its files."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsescope as ss
from helpers import COVER, digits, fitting, iris, tags, text
from sparsescope import SparseClassifier, estimators
from sparsescope.estimators.showing import sparkline
from sparsescope.estimators.weights import Weights
from sparsescope.registry import losses, penalties, solvers

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# scikit-learn's checks that do once more, with data in another container, what one of its quick checks does.
CONTAINERS = ("sparse_matrix", "on_sparse_data", "readonly_memmap=True")


def exact(estimator: Any, check: Any) -> Any:
    """The estimator, for scikit-learn's check of weights with a tolerance that leaves nothing to the way: it compares
    two fits within 1e-7, which are of different sums."""
    return clone(estimator).set_params(tol=1e-13) if "sample_weight_equivalence" in str(check) else estimator


def with_checks(*estimators: Any) -> Any:
    """The cases of `parametrize_with_checks`; those of `CONTAINERS`, each of which fits often, are slow."""
    mark = parametrize_with_checks(list(estimators)).mark
    names, found = mark.args
    cases = [
        pytest.param(*case, marks=pytest.mark.slow)
        if type(case) is tuple and any(word in str(mark.kwargs["ids"](case[1])) for word in CONTAINERS)
        else case
        for case in found
    ]
    return pytest.mark.parametrize(names, cases, **mark.kwargs)


@quiet
@parametrize_with_checks([SparseClassifier()])
def test_scikit_learn_accepts_the_classifier(estimator: Any, check: Any) -> None:
    check(exact(estimator, check))


OTHERS = [
    pytest.param(SparseClassifier(loss="logistic", tol=1e-13), id="logistic"),
    pytest.param(SparseClassifier(loss="binary-logistic", penalty="l1", tol=1e-13), id="binary-logistic"),
    pytest.param(SparseClassifier(solver="fobos", max_iter=30), id="fobos"),
    pytest.param(SparseClassifier("crammer-singer", "l1/l2", tol=1e-13), id="crammer-singer"),
]


@quiet
@pytest.mark.slow
@pytest.mark.parametrize("estimator", OTHERS)
def test_scikit_learn_accepts_it_with_other_parts(estimator: Any) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    # A method that draws samples meets a sample of weight 2 once where it would meet two copies twice.
    draws = {
        f"check_sample_weight_equivalence_on_{kind}_data": "samples are drawn, not summed over"
        for kind in ("dense", "sparse")
        if estimator.solver == "fobos"
    }
    check_estimator(estimator, expected_failed_checks=draws)


def fits_everywhere(loss: str, penalty: str) -> None:
    sets = "classes" not in losses[loss].target_types
    X, y = tags() if sets else text()
    y = y if sets else fitting(loss, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparseClassifier(loss, penalty, max_iter=200).fit(X, y)
    found = model.predict(X)
    assert found.shape == y.shape
    assert np.isfinite(model.decision_function(X)).all()
    assert 0.0 <= model.relative_gap_ < 1.0 or penalty == "ridge"


@pytest.mark.slow
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("loss", list(losses))
def test_every_loss_goes_with_every_penalty(loss: str, penalty: str) -> None:
    fits_everywhere(loss, penalty)


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("solver", list(solvers))
def test_every_solver_of_predictions_fits(solver: str) -> None:
    made = solvers.create(solver)
    X, y = iris()
    for loss, penalty in [*COVER, ("crammer-singer", "l1"), ("crammer-singer", "elastic-net")]:
        problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=True)
        for intercept in (True, False):
            problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=intercept)
            if made.solves(problem) is None:
                model = SparseClassifier(loss, penalty, solver, fit_intercept=intercept, max_iter=100)
                assert model.fit(X, fitting(loss, y)).score(X, fitting(loss, y)) > 0.6
                return
    assert problem.kind not in made.kinds or not made.follows_lam or made.solves(problem)


# ------------------------------------------------------------------------------------------------------ what it learns
def test_it_finds_what_solve_finds() -> None:
    X, y = digits()
    model = SparseClassifier(lam_ratio=0.1, tol=1e-8).fit(X, y)
    problem = ss.Problem(X, y, lam_ratio=0.1, intercept=True)
    result = ss.solve(problem, tol=1e-8)
    np.testing.assert_allclose(model.coef_.T, result.W, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), problem.predict(result.W, result.b))
    assert (model.lam_, model.lam_ratio_) == (problem.lam, 0.1)
    assert ss.certify(problem, *model.weights_).gap == pytest.approx(model.dual_gap_, abs=1e-12)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(model.coef_.any(axis=0)))


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "binary-logistic"])
def test_two_classes_have_one_score_that_speaks_for_the_second(loss: str) -> None:
    X, y = iris()
    words = np.where(y > 0, "other", "a setosa")
    model = SparseClassifier(loss, "l1").fit(X, words)
    Z = model.decision_function(X)
    assert model.coef_.shape == (1, 4) and model.intercept_.shape == (1,)
    np.testing.assert_allclose(Z, (X @ model.coef_.T + model.intercept_)[:, 0], atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(Z > 0).astype(int)])
    assert model.score(X, words) == 1.0


def test_probabilities_are_those_of_the_loss_or_are_refused_with_a_way_out() -> None:
    X, y = iris()
    model = SparseClassifier("logistic").fit(X, y)
    P = model.predict_proba(X)
    Z = model.decision_function(X)
    np.testing.assert_allclose(P, np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))
    two = SparseClassifier("binary-logistic", "l1").fit(X, y > 0)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-two.decision_function(X))), rtol=1e-12)
    for other in (SparseClassifier(), SparseClassifier(ss.losses.Logistic(margin=1.0))):
        assert not hasattr(other, "predict_proba")
        with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
            _ = other.predict_proba


def test_a_link_of_ones_own_gives_probabilities() -> None:
    class Sigmoids(ss.losses.LinkLoss):
        def link(self, z: np.ndarray, out: np.ndarray) -> None:
            out[:] = 1.0 / (1.0 + np.exp(-z))

    Z = np.array([[0.0, 2.0], [-1.0, 3.0]])
    np.testing.assert_allclose(Sigmoids().probabilities(Z), 1.0 / (1.0 + np.exp(-Z)))


def test_intercepts_are_centred_where_the_loss_sees_differences_only() -> None:
    X, y = iris()
    for loss, centred in (("logistic", True), ("multiclass-squared-hinge", True), ("squared", False)):
        model = SparseClassifier(loss, lam=0.05).fit(X, y)
        assert (abs(model.intercept_.mean()) <= 1e-12) == centred
        assert ss.certify(ss.Problem(X, y, loss=loss, lam=0.05, intercept=True), *model.weights_).relative_gap <= 2e-6


def test_label_sets_are_learned_dense_and_sparse() -> None:
    X, Y = tags()
    model = SparseClassifier(lam_ratio=0.02).fit(X, Y)
    predicted = model.predict(X)
    assert predicted.shape == Y.shape and predicted.dtype.kind == "i"
    problem = ss.Problem(X, Y, lam=model.lam_, intercept=True)
    np.testing.assert_array_equal(predicted, problem.predict(*model.weights_))
    other = SparseClassifier(lam_ratio=0.02).fit(X, sp.csr_array(Y))
    assert sp.issparse(other.predict(X))
    np.testing.assert_array_equal(other.predict(X).toarray(), predicted)
    with pytest.raises(ValueError, match="sample_weight"):
        SparseClassifier(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="label sets"):
        SparseClassifier("logistic").fit(X, Y)


def test_weights_of_samples_and_classes_are_those_of_the_problem() -> None:
    X, y = iris()
    words = np.array(["a", "b", "c"])[y]
    weights = np.random.default_rng(0).uniform(0.0, 2.0, y.size)
    model = SparseClassifier(lam=0.01, tol=1e-8, class_weight={"a": 3.0, "c": 0.5}).fit(X, words, weights)
    problem = ss.Problem(
        X, y, lam=0.01, intercept=True, sample_weight=weights, class_weight={0: 3.0, 2: 0.5}
    )  # fmt: skip
    assert ss.certify(problem, *model.weights_).relative_gap <= 1e-7
    balanced = SparseClassifier(lam=0.01, class_weight="balanced").fit(X[30:], words[30:])
    assert ss.certify(ss.Problem(X[30:], y[30:] - y[30], lam=0.01, intercept=True, class_weight="balanced"),
                      *balanced.weights_).relative_gap <= 2e-4  # fmt: skip


def test_features_that_say_nothing_leave_all_weights_zero() -> None:
    y = np.arange(12) % 3
    model = SparseClassifier().fit(np.ones((12, 2)), y)
    assert model.support_.size == 0 and model.predict(np.ones((2, 2))).shape == (2,)


def test_a_limit_of_iterations_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        SparseClassifier(solver="fista-ls", tol=1e-10, max_iter=2).fit(*digits())


def test_a_warm_start_begins_where_the_last_fit_ended() -> None:
    X, y = digits()
    model = SparseClassifier(tol=1e-7, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first
    assert model.history_["relative_gap"][0] <= 1e-7
    assert model.fit(X, y + 10).classes_[0] == 10, "other classes: from the beginning"


def test_the_seed_of_a_solver_that_draws_is_random_state() -> None:
    X, y = digits()
    kinds = {"solver": "fobos", "tol": 1e-12, "max_iter": 3}
    with pytest.warns(ConvergenceWarning):
        made = [SparseClassifier(**kinds, random_state=s).fit(X, y).coef_ for s in (1, 1, 2, None)]
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).any() and (made[0] != made[3]).any()


@pytest.mark.parametrize(
    "bad, words",
    [
        ({"loss": "hinge"}, "unknown loss 'hinge'"),
        ({"solver": "quic"}, "quic is for"),
        ({"lam": -1.0}, "lam"),
        ({"lam_ratio": 0.0}, "lam_ratio"),
        ({"class_weight": "even"}, "class_weight"),
        ({"feature_weights": [1.0]}, "feature_weights"),
    ],
)
def test_what_cannot_be_used_is_named(bad: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        SparseClassifier(**bad).fit(*iris())


def test_several_outputs_and_fractions_are_refused() -> None:
    X, _ = iris()
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        SparseClassifier().fit(X, np.random.default_rng(0).integers(0, 3, (len(X), 2)))
    with pytest.raises(ValueError, match="Unknown label type"):
        SparseClassifier().fit(X, X[:, 0])


# ---------------------------------------------------------------------------------------------------------- going on
def test_partial_fit_goes_on_from_batch_to_batch() -> None:
    X, y = digits()
    model = SparseClassifier(solver="fobos", lam=1e-4)
    for _ in range(5):
        for start in range(0, len(y), 30):
            model.partial_fit(X[start : start + 30], y[start : start + 30], classes=np.arange(10))
    assert model.score(X, y) > 0.9 and model._steps == 5 * len(y) and model.n_iter_ == 20
    assert np.isnan(model.dual_gap_)
    one = clone(model).partial_fit(X[:1], y[:1], classes=np.arange(10))
    assert one.predict(X[:1]) == y[:1]


def test_partial_fit_over_all_samples_is_one_iteration_of_the_solver() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, lam=1e-3)
    run = ss.Run(problem, "fobos")
    run.advance(), run.advance(), run.advance()
    model = SparseClassifier(solver="fobos", lam=1e-3, fit_intercept=False)
    model.partial_fit(X, y, classes=np.arange(10)).partial_fit(X, y)
    assert model._steps == run.state.t
    # The second call draws its order anew: the first iteration is the same to the last step.
    first = SparseClassifier(solver=ss.solvers.FOBOS(order="cyclic"), lam=1e-3, fit_intercept=False)
    first.partial_fit(X, y, classes=np.arange(10)).partial_fit(X, y)
    cyclic = ss.Run(problem, ss.solvers.FOBOS(order="cyclic"))
    cyclic.advance(), cyclic.advance(), cyclic.advance()
    np.testing.assert_allclose(first.coef_.T, cyclic.state.weights(), rtol=1e-9, atol=1e-12)


def test_partial_fit_says_what_it_needs() -> None:
    X, y = iris()
    assert not hasattr(SparseClassifier(), "partial_fit")
    online = SparseClassifier(solver="fobos")
    with pytest.raises(ValueError, match="classes is missing"):
        online.partial_fit(X, y)
    with pytest.raises(ValueError, match="give λ itself"):
        online.partial_fit(X[:5], y[:5], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="none of classes"):
        online.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="as a mapping"):
        SparseClassifier(solver="fobos", class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])
    weighted = SparseClassifier(solver="fobos", lam=0.01, class_weight={0: 0.0, 1: 2.0})
    weighted.partial_fit(X, y, classes=[0, 1, 2])
    plain = SparseClassifier(solver="fobos", lam=0.01)
    plain.partial_fit(X, y, classes=[0, 1, 2], sample_weight=np.array([0.0, 2.0, 1.0])[y])
    np.testing.assert_allclose(weighted.coef_, plain.coef_)


# ----------------------------------------------------------------------------------------------------- among the others
def test_it_stands_in_a_pipeline_of_data_frames_and_metadata() -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), SparseClassifier()).fit(frame, y)
    assert model[-1].feature_names_in_.tolist() == frame.columns.tolist()
    assert model.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model[-1].predict(frame.rename(columns=str.upper))
    weights = np.linspace(0.5, 1.5, len(y))
    routed = make_pipeline(StandardScaler(), SparseClassifier(lam=0.01, tol=1e-8))
    routed.fit(frame, y, sparseclassifier__sample_weight=weights)
    alone = SparseClassifier(lam=0.01, tol=1e-8).fit(StandardScaler().fit_transform(frame), y, weights)
    np.testing.assert_allclose(routed[-1].coef_, alone.coef_)


def test_polars_frames_are_read() -> None:
    polars = pytest.importorskip("polars")
    X, y = iris()
    model = SparseClassifier().fit(polars.DataFrame(X, schema=list("abcd")), y)
    assert model.feature_names_in_.tolist() == list("abcd")


def test_block_penalties_take_blocks_of_named_columns() -> None:
    X, y = iris()
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = SparseClassifier(penalty=ss.penalties.BlockL1L2(size=2)).fit(frame, y)
    assert model.score(frame, y) > 0.8


def test_searches_and_calibration_take_it() -> None:
    X, y = iris()
    grid = {"lam_ratio": [0.3, 0.03], "penalty": ["l1/l2", ss.penalties.ElasticNet(rho=0.5)]}
    search = GridSearchCV(SparseClassifier(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8 and search.best_params_["lam_ratio"] in (0.3, 0.03)
    halving = HalvingGridSearchCV(SparseClassifier(), {"lam_ratio": [0.5, 0.2, 0.05]}, cv=3, random_state=0).fit(X, y)
    assert halving.best_estimator_.score(X, y) > 0.8
    calibrated = CalibratedClassifierCV(SparseClassifier(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(y), 3) and calibrated.score(X, y) > 0.8
    assert cross_val_score(SparseClassifier(), X, y, scoring="accuracy", cv=3).min() > 0.6


def test_metadata_is_routed_to_the_fit() -> None:
    import sklearn

    X, y = iris()
    weights = np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = SparseClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"lam_ratio": [0.1]}, cv=3)
        assert search.fit(X, y, sample_weight=weights).best_score_ > 0.8


def test_callbacks_of_scikit_learn_see_every_iteration_and_can_stop() -> None:
    pytest.importorskip("sklearn.callback")
    X, y = digits()

    class Watcher:
        def __init__(self, most: int) -> None:
            self.most, self.seen, self.ended, self.scores = most, 0, 0, []

        def setup(self, estimator: Any, context: Any) -> None:
            self.seen = 0

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any, *, X: Any, y: Any, fitted_estimator: Any) -> bool:
            if context.parent is None:
                self.ended += 1
                return False
            self.seen += 1
            self.scores.append(fitted_estimator.score(X, y))
            return self.seen >= self.most

        def teardown(self, estimator: Any, context: Any) -> None: ...

    watcher = Watcher(3)
    model = SparseClassifier(solver="bcd-ls", tol=1e-12).set_callbacks(watcher).fit(X, y)
    assert (watcher.seen, watcher.ended, model.n_iter_) == (3, 1, 3)
    assert watcher.scores[-1] == model.score(X, y)


# ------------------------------------------------------------------------------------------------------------ weights
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("m", [1, 3])
def test_scores_are_those_of_all_weights(share: float, m: int) -> None:
    rng = np.random.default_rng(3)
    W = rng.standard_normal((40, m)) * (rng.random((40, 1)) < share)
    b, X = rng.standard_normal(m), rng.standard_normal((7, 40)) * (rng.random((7, 40)) < 0.5)
    for given in (W, sp.csr_array(W)):
        kept = Weights.of(given, b)
        for samples in (X, sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X)):
            np.testing.assert_allclose(kept.scores(samples), X @ W + b, atol=1e-12)
        full = kept.full()
        np.testing.assert_array_equal(full.toarray() if sp.issparse(full) else full, W)


def test_many_scores_are_made_a_few_samples_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = digits()
    model = SparseClassifier().fit(X, y)
    at_once = model.predict(X)
    monkeypatch.setattr("sparsescope.estimators.predicting.CHUNK_NUMBERS", 70)
    assert [Z.shape for Z in model._parts(X[:15])] == [(7, 10), (7, 10), (1, 10)]
    np.testing.assert_array_equal(model.predict(X), at_once)


def test_columns_without_weights_are_never_read() -> None:
    X, y = digits()
    model = SparseClassifier(lam_ratio=0.5).fit(X, y)
    assert 0 < model.support_.size <= 0.3 * X.shape[1]
    spoiled = np.full_like(X, np.nan)
    spoiled[:, model.support_] = X[:, model.support_]
    np.testing.assert_array_equal(model._weights.scores(spoiled), model.decision_function(X))


def test_coefficients_are_shown_sparse_where_asked_for() -> None:
    X, y = text()
    model = SparseClassifier().fit(X, y)
    dense = model.coef_
    assert sp.issparse(model.sparsify().coef_) and not sp.issparse(model.densify().coef_)
    np.testing.assert_array_equal(model.sparsify().coef_.toarray(), dense)
    by_sparse_solver = SparseClassifier("crammer-singer", "elastic-net", "pd-sparse", fit_intercept=False).fit(X, y)
    assert sp.issparse(by_sparse_solver.coef_)


# ------------------------------------------------------------------------------------------------------------ showing
def test_the_picture_of_a_fitted_model_has_its_facts() -> None:
    X, y = digits()
    model = SparseClassifier(lam_ratio=0.1)
    assert "sparsescope-fit" not in model._repr_mimebundle_()["text/html"]
    shown = model.fit(X, y)._repr_mimebundle_()["text/html"]
    for piece in ("λ/λ_max", "0.1", f"{model.support_.size} of 64", "<svg", "polyline", "relative gap"):
        assert piece in shown
    assert "sparsescope-fit" in model._repr_html_()
    assert "&lt;b&gt;" in sparkline([1.0, 0.1], "<b>") and sparkline([1.0], "one") == ""


# -------------------------------------------------------------------------------------------------------------- files
def models() -> list[Any]:
    X, y = digits()
    frame = pd.DataFrame(X[:, :9], columns=[f"pixel {k}" for k in range(9)])
    words = np.array([f"class {k}" for k in y], dtype=object)
    return [
        pytest.param(SparseClassifier(ss.losses.MulticlassSquaredHinge(), lam_ratio=0.2), X, y, id="part"),
        pytest.param(SparseClassifier(class_weight={"class 1": 2.0}), frame, words, id="frame"),
        pytest.param(SparseClassifier("logistic", solver="working-set"), X, y > 4, id="two"),
        pytest.param(SparseClassifier(), *tags(), id="sets"),
    ]


@pytest.mark.parametrize("model, X, y", models())
def test_a_model_in_a_file_predicts_bitwise_the_same(model: Any, X: Any, y: Any, tmp_path: Path) -> None:
    model.fit(X, y)
    loaded = estimators.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype
    assert repr(loaded) == repr(model) and loaded.n_iter_ == model.n_iter_
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    if hasattr(X, "columns"):
        assert loaded.feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(loaded.fit(X, y).coef_, model.coef_)
    pickle.loads(pickle.dumps(loaded)).predict(X)


def test_what_has_no_place_in_a_file_is_named(tmp_path: Path) -> None:
    X, y = iris()
    with pytest.raises(NotFittedError):
        SparseClassifier().save(tmp_path / "none")
    model = SparseClassifier(random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.warns(UserWarning, match="random_state"):
        path = model.save(tmp_path / "model.npz")
    assert estimators.load(path).random_state is None
    np.testing.assert_array_equal(estimators.load(path).predict(X), model.predict(X))


def spoiled(path: Path, change: Any) -> Path:
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(bytes(arrays["header"]).decode())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = path.with_name("spoiled.npz")
    np.savez(target, **arrays)
    return target


HOSTILE = {
    "kind": lambda h, a: h.update(kind="sparsescope trace"),
    "format": lambda h, a: h.update(format=99),
    "class": lambda h, a: h.update({"class": "os.system"}),
    "parameter": lambda h, a: h["params"].update(coef_=1),
    "attribute": lambda h, a: h["state"].update(__class__="x"),
    "part": lambda h, a: h["params"].update(loss={"part": "module", "name": "os", "settings": {}}),
    "part's name": lambda h, a: h["params"].update(loss={"part": "loss", "name": "os", "settings": {}}),
    "setting": lambda h, a: h["params"].update(loss={"part": "loss", "name": "logistic", "settings": {"margin": -5}}),
    "value": lambda h, a: h["params"].update(tol=["x"]),
    "support": lambda h, a: a.update(model_support=a["model_support"] + 1000),
    "order": lambda h, a: a.update(model_support=a["model_support"][::-1]),
    "shape": lambda h, a: a.update(model_values=a["model_values"][:-1]),
    "NaN": lambda h, a: a.update(model_values=a["model_values"] * np.nan),
    "missing": lambda h, a: a.pop("model_bias"),
    "classes": lambda h, a: h["state"].update(classes_={"words": ["a", "b"]}),
    "features": lambda h, a: h["state"].update(n_features_in_=5),
    "threshold": lambda h, a: h["state"].update(threshold_="high"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_a_sentence(name: str, tmp_path: Path) -> None:
    path = SparseClassifier(lam_ratio=0.01).fit(*iris()).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"spoiled\.npz"):
        estimators.load(spoiled(path, HOSTILE[name]))


def test_files_that_are_no_models_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match="not a model"):
        estimators.load(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", header=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="not a model"):
        estimators.load(tmp_path / "objects.npz")
    with pytest.raises(FileNotFoundError):
        estimators.load(tmp_path / "none.npz")


def test_problems_stand_on_other_samples() -> None:
    X, y = iris()
    problem = ss.Problem(X, y, lam=0.01, intercept=True)
    part = problem.on(X[:20], y[:20])
    assert (part.n, part.m, part.lam) == (20, 3, 0.01) and len(set(part.y)) < 3
    W = np.random.default_rng(0).standard_normal((4, 3))
    everything = problem.on(X, y)
    assert everything.objective(W, np.ones(3)) == pytest.approx(problem.objective(W, np.ones(3)), rel=1e-12)
    weights = np.r_[np.zeros(5), np.ones(15)]
    assert problem.on(X[:20], y[:20], weights).objective(W) == pytest.approx(problem.on(X[5:20], y[5:20]).objective(W))
    Xs, Y = tags()
    sets = ss.Problem(Xs, Y)
    assert sets.on(Xs[:4], Y[:4], [0.0, 0.0, 1.0, 1.0]).y.shape == (2, 5)
    with pytest.raises(ValueError, match="features"):
        problem.on(X[:, :2], y)


def test_multilabel_data_of_scikit_learn_are_learned() -> None:
    X, Y = make_multilabel_classification(200, random_state=0)
    model = SparseClassifier("multitask-squared-hinge", lam_ratio=0.01).fit(X, Y)
    assert model.threshold_ == losses["multitask-squared-hinge"].threshold
    guessed = np.maximum(Y.mean(axis=0), 1.0 - Y.mean(axis=0)).mean()  # the commoner answer for every label
    assert (model.predict(X) == Y).mean() > guessed + 0.05
