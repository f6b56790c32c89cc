"""Features far from zero: solvers work about the means, and all that is given back is in the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import PREDICTING, forms, gradient, iris, objective, random_point, text
from sparsescope.inputs.design import Design
from sparsescope.inputs.frame import FULL
from sparsescope.problems.prediction import Problem


def toy(shift: float = 0.0, d: int = 6, n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features with three classes, each moved by another multiple of ``shift`` standard deviations."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.5 * rng.standard_normal((n, d))
    X[:, :3] += np.eye(3)[y]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X + shift * np.linspace(0.5, 1.5, d) * np.where(np.arange(d) % 2, 1.0, -1.0), y


def fitting(name: str, X: Any, y: np.ndarray, **given: Any) -> Problem:
    """A problem with an intercept that the solver takes, or a skip."""
    for loss in ("logistic", "squared", "crammer-singer"):
        for penalty in ("l1/l2", "l1", "ridge"):
            problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.05, intercept=True, **given)
            if ss.registry.solvers.create(name).solves(problem) is None:
                return problem
    pytest.skip(f"{name} takes no intercept")


# ------------------------------------------------------------------------------------------------------------ the frame
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_full_features_are_held_about_their_means_and_nothing_that_was_given_changes(dtype: Any, order: Any) -> None:
    X, _ = toy(20.0)
    X[:, 2] = np.where(np.arange(len(X)) % 4 == 0, X[:, 2], 0.0)  # three in four are zero: this one stays
    X[:, 4] = 7.3  # a constant one
    X = np.array(X, dtype=dtype, order=order)
    before = X.copy()
    for form, given in forms(X):
        design = Design(given, centre=True)
        held = design.matrix.toarray() if design.is_sparse else design.matrix
        moved = np.delete(np.arange(6), 2)
        np.testing.assert_allclose(held[:, moved].mean(axis=0), 0.0, atol=2e-6 if dtype == np.float32 else 1e-13)
        np.testing.assert_array_equal(held[:, 2], before[:, 2])
        assert not held[:, 4].any(), form
        plain = design.plain()
        assert plain.frame is None
        back = plain.matrix.toarray() if plain.is_sparse else plain.matrix
        np.testing.assert_allclose(back, before, rtol=2e-6 if dtype == np.float32 else 1e-13)
    np.testing.assert_array_equal(X, before)


def test_a_sparse_matrix_keeps_its_zeros() -> None:
    X, _ = text()
    assert Design(X, centre=True).frame is None  # no column of words is nearly full
    rng = np.random.default_rng(0)
    mixed = sp.csc_array(sp.hstack([X, sp.csc_array(5.0 + rng.standard_normal((60, 2))), np.ones((60, 1))]))
    holes = mixed.toarray()
    holes[:5, 50] = 0.0  # 55 of 60 are left
    design = Design(sp.csc_array(holes), centre=True)
    assert design.nnz <= np.count_nonzero(holes) / FULL
    np.testing.assert_array_equal(design.matrix[:, :50].toarray(), X.toarray())
    assert design.matrix[:, [52]].nnz == 0  # the column of ones
    np.testing.assert_allclose(design.plain().matrix.toarray(), holes, atol=1e-14)


def test_no_copy_is_made_where_there_is_nothing_to_move() -> None:
    X = np.asfortranarray(toy()[0])
    assert np.shares_memory(Design(X, centre=True).matrix, X)
    assert Design(X, centre=True).frame is None


def test_means_of_the_largest_and_smallest_numbers_are_exact() -> None:
    X = np.array([[1e300, 2e-300, 1.7e308], [3e300, 4e-300, 1.7e308]])
    frame = Design(X, centre=True).frame
    assert frame is not None and frame.centre is not None
    np.testing.assert_allclose(frame.centre, [2e300, 3e-300, 1.7e308], rtol=1e-12)


# ----------------------------------------------------------------------------------------------------- the same problem
@pytest.mark.parametrize("standardize", [False, True], ids=["as-given", "standardize"])
@pytest.mark.parametrize("form", ["dense", "csc"])
def test_what_a_problem_says_of_a_point_is_about_the_given_data(form: str, standardize: bool, monkeypatch: Any) -> None:
    X, y = toy(10.0)
    given = sp.csc_array(X) if form == "csc" else X
    problem = ss.Problem(given, y, loss="logistic", lam=0.03, intercept=True, standardize=standardize)
    assert problem.design.frame is not None
    sigma = X.std(axis=0) if standardize else np.ones(6)
    W, b = random_point(problem, scale=0.2)
    W = W / sigma[:, None]
    omega = problem.regulariser.value(sigma[:, None] * W)[0]
    expected = objective(X, y, problem.loss, problem.penalty, 0.0, W, b) + 0.03 * omega
    assert problem.objective(W, b) == pytest.approx(expected, rel=1e-12)
    G, g = problem.gradient(W, b)
    wanted, bias = gradient(X, y, problem.loss, W, b)
    np.testing.assert_allclose(G, wanted, atol=1e-11)
    np.testing.assert_allclose(g, bias, atol=1e-12)
    np.testing.assert_allclose(problem.scores(W, b), X @ W + b, atol=1e-11)
    np.testing.assert_allclose(problem.scores(W, b, X[:5]), X[:5] @ W + b, atol=1e-11)
    np.testing.assert_allclose(problem.scores(W), X @ W, atol=1e-11)
    np.testing.assert_array_equal(problem.predict(sp.csr_array(W)), (X @ W).argmax(axis=1))
    np.testing.assert_array_equal(problem.rank(sp.csr_array(W), X=X, k=2), np.argsort(-(X @ W), axis=1)[:, :2])
    if standardize:
        return
    monkeypatch.setattr(Problem, "centres", False)
    bare = ss.Problem(given, y, loss="logistic", lam=0.03, intercept=True)
    assert bare.design.frame is None
    assert problem.lam_max == pytest.approx(bare.lam_max, rel=1e-10)
    found, same = problem.certificate(W, b), bare.certificate(W, b)
    assert found.objective == pytest.approx(same.objective, rel=1e-12)
    assert found.dual == pytest.approx(same.dual, rel=1e-9)


def test_standardize_is_the_problem_on_divided_features_with_weights_for_the_given_ones() -> None:
    for intercept in (True, False):
        X, y = toy(10.0 if intercept else 0.5)
        X = X * np.array([1.0, 10.0, 0.1, 3.0, 1.0, 50.0])
        sigma = X.std(axis=0)
        given = {"loss": "logistic", "lam": 0.03, "intercept": intercept}
        found = ss.solve(ss.Problem(X, y, standardize=True, **given), "bcd-ls", tol=1e-9)
        wanted = ss.solve(ss.Problem(X / sigma, y, **given), "bcd-ls", tol=1e-9)
        assert found.objective == pytest.approx(wanted.objective, rel=1e-8)
        np.testing.assert_allclose(found.W * sigma[:, None], wanted.W, atol=1e-4)
        again = ss.Problem(X, y, standardize=True, **given).certificate(found.W, found.b)
        assert again.relative_gap <= 2e-9
    assert ss.Problem(X, y, standardize=True).facts["standardize"] is True


def test_standardize_counts_the_zeros_of_sparse_features() -> None:
    X, y = text()
    problem = ss.Problem(X, y, standardize=True)
    sigma = X.toarray().std(axis=0)
    assert problem.design.frame is not None and problem.design.frame.scale is not None
    np.testing.assert_allclose(problem.design.frame.scale[sigma > 0], 1.0 / sigma[sigma > 0], rtol=1e-12)
    assert problem.design.nnz == X.nnz
    sets = ss.Problem(X, np.eye(4)[y], standardize=True, penalty="elastic-net")
    W, _ = random_point(sets)
    assert sets.threshold_of(sp.csr_array(W)) == pytest.approx(sets.threshold(X @ W), rel=1e-9)


# -------------------------------------------------------------------------------------------------------------- solvers
@pytest.mark.parametrize("name", PREDICTING)
def test_the_steps_of_a_solver_do_not_depend_on_the_shift(name: str) -> None:
    (X, y), (far, _) = toy(), toy(100.0)
    runs = [ss.Run(fitting(name, data, y), name) for data in (X, far)]
    for _ in range(6):
        here, there = (run.advance() for run in runs)
        assert there.objective == pytest.approx(here.objective, rel=1e-8)
        assert there.gap == pytest.approx(here.gap, rel=1e-6, abs=1e-9, nan_ok=True)
    found = runs[1].state
    assert found is not None
    W, b = np.asarray(found.weights()), np.asarray(found.intercept())
    problem = runs[1].problem
    scores = far @ W + b
    np.testing.assert_allclose(scores, problem.scores(W, b), atol=1e-8)
    np.testing.assert_allclose(scores, np.asarray(found.Z), atol=1e-8)


@pytest.mark.parametrize("name", ["bcd-ls", "fbpd"])
def test_a_solution_far_from_zero_is_one_to_start_from(name: str) -> None:
    X, y = toy(30.0, d=230, n=60)  # above the number of features from which fbpd works on a part of them
    problem = fitting(name, X, y).with_lam(0.13)  # few features are used, and the methods come to it soon
    found = ss.solve(problem, name, tol=1e-7, max_iter=20_000)
    assert found.converged and found.W.any()
    assert problem.certificate(found.W, found.b).objective == pytest.approx(found.objective, rel=1e-9)
    start = ss.Run(problem, name, W=found.W, b=found.b).advance()
    assert start.objective == pytest.approx(found.objective, rel=1e-9)


def test_accuracies_paths_and_traces_are_about_the_given_data() -> None:
    X, y = toy(50.0)
    problem = ss.Problem(X, y, loss="logistic", lam=0.02, intercept=True)
    run = ss.Run(problem, "bcd-ls", test=(X, y))
    events = [run.advance() for _ in range(5)]
    assert events[-1].test_accuracy == events[-1].train_accuracy > 0.5
    done = ss.path(problem, "bcd-ls", n_lams=4, ratio=0.1, tol=1e-6)
    for k in range(4):
        again = objective(X, y, problem.loss, problem.penalty, done["lam"][k], done.weights(k), done.points[k].b)
        assert again == pytest.approx(done["objective"][k], rel=1e-9)


def test_single_precision_keeps_its_gap_far_from_zero() -> None:
    X, y = toy()
    far = (X + 1000.0 * np.arange(1, 7)).astype(np.float32)
    found = ss.solve(ss.Problem(far, y, loss="logistic", lam=0.05, intercept=True), "bcd-ls", tol=1e-4, max_iter=200)
    assert found.converged
    assert objective(
        far.astype(float), y, ss.losses.Logistic(), ss.penalties.L1L2(), 0.05, found.W.astype(float), found.b
    ) == pytest.approx(found.objective, rel=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_constant_features_with_an_intercept_tell_nothing_apart(form: Any) -> None:
    X, y = np.tile([2.0, 0.1, -7.3], (12, 1)), np.arange(12) % 3
    problem = ss.Problem(form(X), y, loss="logistic", lam=1e-6, intercept=True)
    assert problem.lam_max == 0.0
    with pytest.raises(ValueError, match="λ_max is 0"):
        _ = problem.lam_reference
    found = ss.solve(problem, "bcd-ls", tol=1e-9)
    assert found.converged and not found.W.any()


def test_a_sequence_of_models_sees_the_data_as_they_were_given() -> None:
    X, y = toy(10.0)
    problem = ss.Problem(X, y, loss="squared", penalty="ridge", intercept=True)
    sequence = ss.SequenceProblem.of(problem)
    np.testing.assert_allclose(sequence.design.matrix, X, rtol=1e-13)
    assert sequence.of_weights().design.frame is not None


def test_iris_is_fitted_as_it_is() -> None:
    X, y = iris()
    raw = X * [0.8, 0.4, 1.8, 0.8] + [5.8, 3.1, 3.8, 1.2]
    given = {"loss": "logistic", "lam": 0.01, "intercept": True}
    found = [
        ss.solve(ss.Problem(data, y, **given), "bcd-ls", tol=1e-9, max_iter=20_000).iterations
        for data in (raw, raw - raw.mean(axis=0))
    ]
    assert abs(found[0] - found[1]) <= 5  # certificates are looked for at every fifth
