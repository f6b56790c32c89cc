"""Ridge in the row space of X: the same optimum, certificates and warm starts as with all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import row_space
from sparsescope.solvers.shared import hand_over, row_space_pays

LOSSES = ("logistic", "multiclass-squared-hinge", "squared", "crammer-singer", "separation-ranking")


def genes(n: int = 30, d: int = 400, m: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Few samples of many features, some of which tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % m
    return rng.standard_normal((n, d)) + (rng.random((m, d)) < 0.05)[y], y


def solved(problem: Any, solver: str = "row-space", gap: float = 1e-8) -> tuple[float, np.ndarray, Any]:
    """F, W and b at a certified relative gap."""
    run = ss.Run(problem, solver, stop=Gap(gap, of_null=0.0) | Iterations(3000), certify_every=1)
    last = list(run)[-1]
    assert last.relative_gap <= gap, last.message
    return last.objective, run.state.weights(), run.state.intercept()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_optimum_is_that_of_all_features(loss: str, form: Any) -> None:
    X, y = genes()
    problem = ss.Problem(form(X), y, loss=loss, penalty="ridge", lam=0.3)
    objective, W, _ = solved(problem)
    assert objective == pytest.approx(ss.reference(problem).objective, rel=2e-8)
    assert problem.objective(W) == pytest.approx(objective, rel=1e-12), "the value is one of all features"


@pytest.mark.parametrize("standardize", [False, True])
def test_weights_of_samples_intercept_and_scale(standardize: bool) -> None:
    X, y = genes()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    problem = ss.Problem(
        5.0 + 3.0 * X, y, loss="logistic", penalty="ridge", lam=0.1, intercept=True, standardize=standardize,
        sample_weight=weights,
    )  # fmt: skip
    (_, W, b), (_, V, c) = solved(problem, gap=1e-13), solved(problem, "working-set", gap=1e-13)
    np.testing.assert_allclose(W, V, atol=1e-4 * np.abs(V).max())
    # Softmax does not see a number that is added to all scores.
    np.testing.assert_allclose(b - b.mean(), c - c.mean(), atol=1e-4 * np.abs(c).max())


def test_columns_of_w_lie_in_the_row_space() -> None:
    X, y = genes()
    X[7] = X[3]  # a rank below the number of samples
    W = solved(ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1))[1]
    rows = np.linalg.svd(X, full_matrices=False)[2][:29]
    np.testing.assert_allclose(rows.T @ (rows @ W), W, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_of_the_data_is_kept(dtype: Any) -> None:
    X, y = genes()
    problem = ss.Problem(X.astype(dtype), y, loss="logistic", penalty="ridge", lam=0.1)
    assert solved(problem, gap=1e-5)[1].dtype == dtype


def test_x_without_any_entry() -> None:
    problem = ss.Problem(np.zeros((6, 40)), np.arange(6) % 2, loss="logistic", penalty="ridge", lam=0.1)
    assert not solved(problem)[1].any()


def test_given_weights_are_where_it_begins() -> None:
    X, y = genes()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1)
    optimum = solved(problem, gap=1e-12)[1]
    run = ss.Run(problem, "row-space", W=optimum, stop=Iterations(1))
    assert list(run)[-1].objective == pytest.approx(problem.objective(optimum), rel=1e-12)


def test_the_data_are_rotated_once() -> None:
    X, y = genes()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1)
    U, lengths = problem.row_space()
    np.testing.assert_allclose((U * lengths**2) @ U.T, X @ X.T, atol=1e-9 * (lengths**2).max())
    assert problem.with_(lam=0.01, loss="squared").row_space()[0] is U


@pytest.mark.parametrize("change", [{"lam": 0.003}, {"loss": "multiclass-squared-hinge"}, {"loss": "crammer-singer"}])
def test_changes_in_the_middle_of_a_run(change: dict[str, Any]) -> None:
    X, y = genes()
    run = ss.Run(ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1), "row-space", stop=Gap(1e-6, of_null=0.0))
    next(iter(run))
    run.change(**change)
    last = list(run)[-1]
    assert last.objective == pytest.approx(ss.reference(run.problem).objective, rel=2e-6)


def random_labels(lam: float = 1e-4) -> ss.Problem:
    """With a small λ the margins of random labels change one after the other, and rough Newton steps with them."""
    X, y = np.random.default_rng(0).standard_normal((60, 300)), np.arange(60) % 6
    return ss.Problem(X, y, loss="multiclass-squared-hinge", penalty="ridge", lam=lam)


@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-6])
def test_hinges_take_a_few_nearly_exact_newton_steps(lam: float) -> None:
    problem = random_labels(lam)
    run = ss.Run(problem, "row-space", stop=Gap(1e-9) | Iterations(100))
    last = list(run)[-1]
    assert "certified" in last.message and run.state.inner.delegate.forcing == row_space.FORCING


def test_hinges_are_finished_by_gradient_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_space, "PATIENCE", 1)
    found = ss.solve(random_labels(), "row-space", max_iter=2000)
    assert found.success
    assert "60 features in place of 300" in found.message
    assert "fista-ls" in found.message


def test_at_rounding_steps_do_not_shrink_to_nothing() -> None:
    """Small hinges: rounding of the scores is more than that of the loss, and no constant would satisfy the search."""
    X, y = genes(60, 600, 4)
    problem = ss.Problem(X, y, loss="multiclass-squared-hinge", penalty="ridge", lam=0.01)
    for solver, count in (("row-space", 120), ("fista-ls", 3000)):  # the first is at rounding before 50
        run = ss.Run(problem, solver, stop=Iterations(count), certify_every=count)
        assert list(run)[-1].step_size > 1e-8, solver


def test_an_end_is_not_remembered_by_the_inner_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that ends a run says nothing of the next λ: inner steps would break off one by one."""
    monkeypatch.setattr(row_space, "PATIENCE", 1)
    run = ss.Run(random_labels(1e-2), "row-space", stop=Gap(1e-3, of_null=0.0) | Iterations(1000))
    list(run)
    assert run.state.ready and run.state.inner.delegate.name == "fista-ls"
    assert run.state.inner.ready is None


@pytest.mark.parametrize(
    ("loss", "d", "wanted"),
    [
        ("crammer-singer", 90, "row-space"),
        ("crammer-singer", 89, "dual-cd"),
    ],
)
def test_auto_takes_it_for_many_features(loss: str, d: int, wanted: str) -> None:
    X, y = genes(30, d)
    problem = ss.Problem(X, y, loss=loss, penalty="ridge", lam=0.1)
    assert next(iter(ss.Run(problem, "auto"))) and ss.solvers.auto.choose(problem)[0].name == wanted
    dense = ss.solvers.auto.choose(ss.Problem(sp.csr_array(X), y, loss=loss, penalty="ridge", lam=0.1))
    assert dense[0].name != "row-space"


@pytest.mark.parametrize(
    ("loss", "make", "n", "d", "share", "wanted"),
    [
        ("logistic", np.asarray, 60, 1000, 0.01, "row-space"),
        ("logistic", np.asarray, 400, 1000, 0.01, "newton-cg"),
        ("logistic", np.asarray, 60, 60, 0.01, "newton-cg"),
        ("logistic", sp.csr_array, 60, 3000, 0.01, "row-space"),
        ("logistic", sp.csr_array, 400, 3000, 0.01, "newton-cg"),
        ("multitask-squared-hinge", np.asarray, 100, 300, 0.001, "row-space"),
        ("multitask-squared-hinge", np.asarray, 300, 310, 0.3, "newton-cg"),
        ("multitask-squared-hinge", np.asarray, 100, 100, 0.001, "newton-cg"),
        ("multitask-squared-hinge", sp.csr_array, 100, 1000, 0.001, "row-space"),
        ("multitask-squared-hinge", sp.csr_array, 100, 1000, 0.3, "newton-cg"),
        ("multitask-squared-hinge", sp.csr_array, 100, 100, 0.001, "newton-cg"),
    ],
)
def test_auto_takes_it_where_eigenvectors_cost_less_than_the_products_that_are_expected(
    loss: str, make: Any, n: int, d: int, share: float, wanted: str
) -> None:
    rng = np.random.default_rng(0)
    X = make(rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.1))
    problem = ss.Problem(X, np.arange(n) % 3, loss=loss, penalty="ridge", lam_ratio=share)
    assert ss.solvers.auto.choose(problem)[0].name == wanted


def test_auto_goes_on_in_the_row_space_where_newton_steps_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_space_pays, "SPARSE_HINGES", (0.0, 0.0))  # not from the beginning
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.standard_normal((80, 600)))
    problem = ss.Problem(X, rng.integers(0, 4, 80), loss="multitask-squared-hinge", penalty="ridge", lam_ratio=1e-4)
    run = ss.Run(problem, "auto", stop=Gap(1e-8, of_null=0.0) | Iterations(3000))
    assert ss.solvers.auto.choose(problem)[0].name == "newton-cg"
    last = list(run)[-1]
    assert last.relative_gap <= 1e-8 and run.state.delegate.name == "row-space"
    run.change(lam_ratio=0.01)  # it is known by now
    assert list(run)[-1].relative_gap <= 1e-8 and run.state.delegate.name == "row-space"
    long = problem.on(sp.csr_array(rng.standard_normal((700, 600))), rng.integers(0, 4, 700))
    assert hand_over.fitting(long, ss.solvers.auto.choose(long), run.state)[0].name != "row-space"
    run.change(penalty="l1")
    assert list(run)[-1].relative_gap <= 1e-8 and run.state.delegate.name != "row-space"


def test_solvers_with_sparse_weights_are_not_chosen_for_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ss.solvers.auto, "MANY", 10)
    X, y = genes(30, 120)
    problem = ss.Problem(X, y, loss="separation-ranking", penalty="ridge", lam=0.1)
    assert ss.solvers.auto.choose(problem)[0].name == "row-space"
    run = ss.Run(problem, "row-space", stop=Gap(1e-6) | Iterations(500))
    list(run)
    run.change(problem=problem.with_lam(0.05))
    list(run)
    assert "certified" in run.message and not run.state.sparse


def test_other_penalties_are_refused_with_the_reason() -> None:
    X, y = genes()
    for penalty in ("l1/l2", "elastic-net"):
        with pytest.raises(ValueError, match="row-space needs the ridge penalty"):
            ss.solve(ss.Problem(X, y, loss="logistic", penalty=penalty, lam=0.1), "row-space")
