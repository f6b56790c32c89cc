"""Two classes by one score: the same optimum, certificates of W, and where `auto` takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.problems import one_score
from sparsescope.problems.certificate import Workspace, certify
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import auto

PENALTIES = ["l1", "l1/l2", "l1/linf", "sparse-group", "elastic-net", "ridge"]
LOSSES = ["logistic", "multiclass-squared-hinge"]


def data(n: int = 120, d: int = 15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features of which three tell the classes apart, with errors."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    return X, (X[:, :3].sum(axis=1) + rng.standard_normal(n) > 0.2).astype(int)


@pytest.mark.parametrize("name", [name for name in losses if losses.create(name).in_one_score() is not None])
def test_losses_of_one_score_have_the_values_and_slopes_of_two(name: str) -> None:
    two = losses.create(name)
    one = two.in_one_score()
    assert one.one_score and two.of_differences and one.smooth == two.smooth
    s = np.linspace(-3.0, 3.0, 25)
    for y in (np.zeros(25, dtype=np.int64), np.ones(25, dtype=np.int64)):
        values, gradients = two.reference(np.column_stack([-s / 2.0, s / 2.0]), y)
        single, slopes = one.reference(s[:, None], y)
        np.testing.assert_allclose(single, values, atol=1e-14)
        np.testing.assert_allclose(slopes[:, 0], gradients[:, 1], atol=1e-14)
        np.testing.assert_allclose(-slopes[:, 0], gradients[:, 0], atol=1e-14)


def test_losses_that_depend_on_more_have_none() -> None:
    assert ss.losses.Logistic(margin=1.0).in_one_score() is None
    assert losses.create("squared").in_one_score() is None


@pytest.mark.parametrize("name", penalties)
def test_penalties_of_a_difference(name: str) -> None:
    """Ω((−v/2, v/2)) = f·Ω̃(v), and exchanging (w₁, w₂) for (−w₂, −w₁) does not change Ω."""
    penalty = penalties.create(name)
    found = one_score.of_difference(penalty)
    if found is None:
        return
    twin, factor = found
    rng = np.random.default_rng(1)
    for v in (0.3, -2.0, 0.0):
        assert penalty.reference(np.array([[-v / 2.0, v / 2.0]]))[0] == pytest.approx(
            factor * twin.reference(np.array([[v]]))[0], rel=1e-13
        )
        W = rng.standard_normal((4, 2))
        np.testing.assert_allclose(penalty.reference(-W[:, ::-1]), penalty.reference(W))


def test_signs_and_weights_of_entries_have_no_one_score() -> None:
    assert one_score.of_difference(ss.penalties.L1L2(nonnegative=True)) is None
    assert one_score.of_difference(ss.penalties.ElasticNet(rho=0.0)) == (ss.penalties.Ridge(), 0.5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_optimum_with_weights_of_samples_and_features(loss: str, penalty: str, form: Any) -> None:
    X, y = data()
    rng = np.random.default_rng(2)
    squares = penalty in ("elastic-net", "ridge")  # weights of features are for the lasso there
    problem = ss.Problem(
        form(X), y, loss=loss, penalty=penalty, lam_ratio=0.1, intercept=True, standardize=penalty == "l1",
        sample_weight=rng.random(len(y)) + 0.2, feature_weights=None if squares else rng.random(X.shape[1]) + 0.5,
    )  # fmt: skip
    run = ss.Run(problem, "one-score", stop=Gap(1e-9) | Iterations(200))
    last = list(run)[-1]
    assert "certified" in last.message
    assert last.objective == pytest.approx(ss.reference(problem).objective, rel=1e-8)
    W, b = run.state.weights(), run.state.intercept()
    np.testing.assert_allclose(W[:, 0], -W[:, 1], atol=1e-14)
    assert problem.objective(W, b) == pytest.approx(last.objective, rel=1e-12)


def test_its_certificates_are_those_of_the_point() -> None:
    X, y = data()
    problem = ss.Problem(X, y, loss="logistic", penalty="l1/l2", lam_ratio=0.05, intercept=True)
    solver = solvers.create("one-score")
    for start in (None, np.random.default_rng(3).standard_normal((problem.d, 2))):
        state = solver.init(problem, start)
        for _ in range(4):
            own = solver.certificate(problem, state, Workspace(problem))
            Z = problem.design.matmul(state.coef, np.empty_like(state.Z))
            fresh = certify(problem, state.coef, Z, Workspace(problem))
            for name in ("objective", "dual", "violation", "paper_violation"):
                assert getattr(own, name) == pytest.approx(getattr(fresh, name), rel=1e-9, abs=1e-12), name
            assert own.nonzero_rows == fresh.nonzero_rows
            solver.step(problem, state)


def test_given_weights_are_shown_until_the_first_step_and_it_is_no_worse() -> None:
    X, y = data()
    problem = ss.Problem(X, y, loss="multiclass-squared-hinge", penalty="l1/l2", lam_ratio=0.05)
    W = np.random.default_rng(3).standard_normal((problem.d, 2))
    run = ss.Run(problem, "one-score", W=W, stop=Iterations(1))
    first, second = list(run)
    assert first.objective == pytest.approx(problem.objective(W), rel=1e-12)
    assert second.objective < first.objective


def test_single_precision_is_kept() -> None:
    X, y = data()
    problem = ss.Problem(X.astype(np.float32), y, loss="logistic", penalty="l1/l2", lam_ratio=0.1)
    found = ss.solve(problem, "one-score", tol=1e-4)
    assert found.converged and found.W.dtype == np.float32


@pytest.mark.parametrize(
    ("settings", "labels", "named"),
    [
        ({"loss": "logistic", "penalty": "l1"}, 3, "two classes .* 3 classes"),
        ({"loss": "binary-logistic", "penalty": "l1"}, 2, "has one score"),
        ({"loss": "squared", "penalty": "l1"}, 2, "the squared loss is not"),
        ({"loss": ss.losses.Logistic(margin=1.0), "penalty": "l1"}, 2, r"margin 0"),
        ({"loss": "crammer-singer", "penalty": "l1"}, 2, "not smooth"),
        ({"loss": "logistic", "penalty": ss.penalties.L1(nonnegative=True)}, 2, "both signs alike"),
        (
            {"loss": "logistic", "penalty": "elastic-net", "feature_weights": np.ones(15) + np.arange(15)},
            2,
            "a ridge part",
        ),
    ],
)
def test_what_it_is_not_for_is_said(settings: dict[str, Any], labels: int, named: str) -> None:
    X, y = data()
    y = np.arange(len(y)) % 3 if labels == 3 else y
    with pytest.raises(ValueError, match=named):
        ss.solve(ss.Problem(X, y, **settings), "one-score")


def test_auto_takes_it_for_two_classes_where_features_are_left_out() -> None:
    X, y = data(d=30)  # four samples for a feature
    for penalty in PENALTIES:
        chosen, reason = auto.choose(ss.Problem(X, y, loss="logistic", penalty=penalty, lam=0.01))
        assert (chosen.name == "one-score") == (penalty != "ridge"), (penalty, chosen.name)
        assert penalty == "ridge" or "difference of two scores" in reason
    three = ss.Problem(X, np.arange(len(y)) % 3, loss="logistic", penalty="l1/l2", lam=0.01)
    assert auto.choose(three)[0].name == "working-set"
    other = ss.Problem(X, y, loss="squared", penalty="l1/l2", lam=0.01)
    assert auto.choose(other)[0].name == "working-set"


@pytest.mark.parametrize(
    ("loss", "penalty", "entries"), [("logistic", "l1/l2", "one-score"), ("binary-logistic", "l1", "newglmnet")]
)
def test_auto_begins_with_rows_where_columns_are_apart_and_a_path_goes_on_with_what_it_began(
    loss: str, penalty: str, entries: str
) -> None:
    X, y = data(n=400)
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam_ratio=0.05)
    assert auto.choose(problem)[0].name == "working-set"
    near = problem.with_(lam_ratio=0.9)
    assert auto.choose(near)[0].name == entries
    together = X + 3.0 * np.random.default_rng(1).standard_normal((len(y), 1))
    assert auto.choose(problem.on(together, y))[0].name == entries
    assert auto.choose(problem.on(sp.csr_array(X), y))[0].name == entries
    run = ss.Run(near, "auto", stop=Gap(1e-8))
    assert list(run)[-1].relative_gap <= 1e-8 and run.state.delegate.name == entries
    run.change(lam_ratio=0.05)
    assert list(run)[-1].relative_gap <= 1e-8 and run.state.delegate.name == entries
    assert ss.solve(problem, tol=1e-8).objective == pytest.approx(run.observe().objective, rel=1e-7)


def test_auto_begins_with_rows_with_few_samples_for_a_column_where_x_is_large_and_lambda_small() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 320)), np.arange(1000) % 2
    for loss in ("binary-logistic", "logistic", "squared"):
        problem = ss.Problem(X, y, loss=loss, penalty="l1", lam_ratio=0.04)
        entries = "one-score" if loss == "logistic" else "newglmnet"
        assert auto.choose(problem)[0].name == "working-set"
        assert auto.choose(problem.with_(lam_ratio=0.2))[0].name == entries, loss
        assert auto.choose(problem.on(X[:500], y[:500]))[0].name == entries
    many = ss.Problem(X, np.arange(1000) % 8, loss="squared", penalty="l1", lam_ratio=0.3)
    assert auto.choose(many)[0].name == "working-set"


def test_auto_begins_with_rows_for_least_squares_sooner_than_for_other_losses() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((800, 240)), np.arange(800) % 3
    X[:, 1:] += 0.4 * X[:, :-1]
    for loss, chosen in (("squared", "working-set"), ("logistic", "newglmnet")):
        problem = ss.Problem(X, y, loss=loss, penalty="l1", lam_ratio=0.04)
        assert auto.choose(problem)[0].name == chosen
        assert auto.choose(problem.on(X[:110], y[:110]))[0].name == "newglmnet"
    many = ss.Problem(X[:110], np.arange(110) % 15, loss="squared", penalty="l1", lam_ratio=0.04)
    assert auto.choose(many)[0].name == "working-set"


def test_live_changes_keep_the_weights() -> None:
    X, y = data()
    run = ss.Run(ss.Problem(X, y, loss="logistic", penalty="l1/l2", lam=0.05), "one-score", stop=Gap(1e-9))
    steps = iter(run)
    for _ in range(3):
        before = next(steps)
    run.change(lam=0.01)
    assert next(steps).objective <= before.objective
    run.change(loss="multiclass-squared-hinge", penalty="elastic-net")
    last = list(steps)[-1]
    assert last.objective == pytest.approx(ss.reference(run.problem).objective, rel=1e-7)
