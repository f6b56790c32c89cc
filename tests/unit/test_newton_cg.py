"""Newton–CG under a ridge: the optimum, its certificates and settings, and where `auto` takes it and gives it up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs import slim
from sparsescope.problems.certificate import Workspace, certify
from sparsescope.registry import solvers
from sparsescope.runs.run import warm_up
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import auto, newton_cg
from sparsescope.solvers.shared import newton_system, ridge_preconditioner, row_space_pays


def samples(n: int = 200, d: int = 12, m: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features, and classes that they tell apart with errors."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.8 * X[:, :-1]
    return X, (X @ rng.standard_normal((d, m)) + rng.gumbel(size=(n, m))).argmax(axis=1)


def solved(problem: Any, solver: Any = "newton-cg", gap: float = 1e-10) -> tuple[float, np.ndarray]:
    """F and W at a certified relative gap."""
    run = ss.Run(problem, solver, stop=Gap(gap, of_null=0.0) | Iterations(500), certify_every=1)
    last = list(run)[-1]
    assert last.relative_gap <= gap, last.message
    return last.objective, run.state.weights()


@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge", "multitask-squared-hinge", "squared"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("direct", [True, False])
def test_the_optimum(loss: str, form: Any, intercept: bool, direct: bool) -> None:
    X, y = samples()
    X[np.abs(X) < 0.5] = 0.0
    problem = ss.Problem(form(X), y, loss=loss, penalty="ridge", lam=0.02, intercept=intercept)
    found = solved(problem, solvers.create("newton-cg", direct=direct))[0]
    assert found == pytest.approx(ss.reference(problem).objective, rel=1e-9)


def test_weights_of_samples_and_scale() -> None:
    X, y = samples()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    problem = ss.Problem(
        5.0 + 3.0 * X, y, loss="logistic", penalty="ridge", lam=0.1, intercept=True, standardize=True,
        sample_weight=weights,
    )  # fmt: skip
    W, V = solved(problem, gap=1e-12)[1], solved(problem, "working-set", gap=1e-12)[1]
    np.testing.assert_allclose(W, V, atol=1e-5 * np.abs(V).max())


def large(factor: float = 1.0, intercept: bool = True, **choice: Any) -> ss.Problem:
    """A problem whose dense X has more entries than products in double precision are made for."""
    X, y = samples(n=newton_cg.SINGLE_ABOVE // 40 + 1, d=40, m=4)
    X[:, 7], X[:, 9] = X[:, 3] + X[:, 5], 0.0  # columns that others make up, and one of zeros
    choice = {"loss": "logistic", "penalty": "ridge", "lam": 1e-6 * factor**2, **choice}
    return ss.Problem(factor * X, y, intercept=intercept, **choice)


@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_products_in_single_precision_end_at_the_same_optimum(
    loss: str, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = solvers.create("newton-cg", direct=False)
    problem = large(loss=loss, intercept=intercept)
    assert newton_cg.in_single(problem)
    run = ss.Run(problem, solver, stop=Gap(1e-10, of_null=0.0) | Iterations(100), certify_every=1)
    last = list(run)[-1]
    assert last.relative_gap <= 1e-10
    # The scores do not carry the rounding of the steps.
    np.testing.assert_allclose(
        run.state.Z, problem.design.matmul(run.state.coef, np.empty_like(run.state.Z)), atol=1e-9
    )
    other = large(loss=loss, intercept=intercept)
    monkeypatch.setattr(newton_cg, "SINGLE_ABOVE", problem.design.nnz)
    assert not newton_cg.in_single(other)
    exact = list(ss.Run(other, solver, stop=Gap(1e-10, of_null=0.0) | Iterations(100), certify_every=1))[-1]
    assert last.objective == pytest.approx(exact.objective, rel=1e-9)


def test_single_precision_is_for_dense_data_whose_squares_it_holds() -> None:
    assert newton_cg.in_single(large())
    assert not newton_cg.in_single(ss.Problem(*samples(), loss="logistic", penalty="ridge", lam=0.1))
    dense = large()
    X, y = dense.design.matrix, dense.y
    assert not newton_cg.in_single(ss.Problem(sp.csr_array(X), y, loss="logistic", penalty="ridge", lam=1e-3))
    assert not newton_cg.in_single(ss.Problem(X.astype(np.float32), y, loss="logistic", penalty="ridge", lam=1e-3))
    assert not newton_cg.in_single(ss.Problem(X, y % 2, loss="logistic", penalty="ridge", lam=1e-3))
    for factor in (1e12, 1e-12):
        problem = large(factor)
        assert not newton_cg.in_single(problem)
        assert solved(problem, gap=1e-6)[0] == pytest.approx(solved(large(), gap=1e-6)[0], rel=1e-5)


def test_what_single_precision_needs_is_compiled_before_the_first_step() -> None:
    compiled = [newton_cg.hessian_rows, newton_cg.moved_loss]
    if not hasattr(compiled[0], "signatures"):
        pytest.skip("nothing is compiled")
    problem, solver = large(loss="squared"), solvers.create("newton-cg", direct=False)
    warm_up(problem, solver)
    before = [len(kernel.signatures) for kernel in compiled]
    list(ss.Run(problem, solver, stop=Gap(1e-6) | Iterations(50)))
    assert [len(kernel.signatures) for kernel in compiled] == before


def test_steps_that_are_cut_short_damp_the_next_ones_until_the_model_holds() -> None:
    found = ss.datasets.load("pydocs")
    problem = ss.Problem(found.X, found.y, loss="logistic", penalty="ridge", lam=0.01 / len(found.y))
    run = ss.Run(problem, "newton-cg", stop=Gap(1e-9) | Iterations(200))
    cut, damped = [], []
    for event in run:
        cut.append(event.info["step_size"] < 1.0)
        damped.append(run.state.damping)
    assert event.relative_gap is not None and event.relative_gap <= 1e-9
    assert any(cut)
    for short, before, after in zip(cut[2:], damped[1:], damped[2:], strict=False):
        assert after >= max(newton_cg.FIRST_DAMPING, before) if short else after < before or after == before == 0.0


def test_the_precision_of_the_data_is_kept() -> None:
    X, y = samples()
    problem = ss.Problem(X.astype(np.float32), y, loss="logistic", penalty="ridge", lam=0.1, intercept=True)
    assert solved(problem, gap=1e-5)[1].dtype == np.float32


def test_its_certificates_are_those_of_the_point() -> None:
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.02, intercept=True)
    solver = solvers.create("newton-cg")
    state = solver.init(problem)
    for _ in range(4):
        own, fresh = (
            solver.certificate(problem, state, Workspace(problem)),
            certify(problem, state.coef, problem.design.matmul(state.coef, np.empty_like(state.Z)), Workspace(problem)),
        )
        assert own.objective == pytest.approx(fresh.objective, rel=1e-12)
        assert own.gap == pytest.approx(fresh.gap, rel=1e-6, abs=1e-13)
        solver.step(problem, state)


@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge", "squared"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [2, 4])
def test_a_factored_system_has_the_direction_of_conjugate_gradients(loss: str, intercept: bool, m: int) -> None:
    X, y = samples(m=m)
    weights = np.random.default_rng(1).random(len(y)) + 0.1
    problem = ss.Problem(
        X, y, loss=loss, penalty="ridge", lam=0.02, intercept=intercept, standardize=True, sample_weight=weights
    )
    assert newton_system.is_cheap(problem)
    coef = 0.1 * np.random.default_rng(2).standard_normal((problem.d, m))  # rows do not sum to zero
    state = solvers.create("newton-cg").init(problem, coef)
    exact = solvers.create("newton-cg", direct=False, forcing=1e-6)
    for _ in range(2):
        D, E = solvers.create("newton-cg")._direction(problem, state, 0.0)
        assert state.inner_steps == 0.0
        np.testing.assert_allclose(D, exact._direction(problem, state, 0.0)[0], atol=1e-4 * np.abs(D).max())
        np.testing.assert_allclose(E, problem.design.matmul(D, np.empty_like(E)), atol=1e-12)
        exact.step(problem, state)


def test_the_preconditioner_by_factors_and_then_by_eigenvectors(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = samples()
    problem = ss.Problem(X, y, penalty="ridge", lam=0.02, intercept=True)
    state = solvers.create("newton-cg").init(problem)
    R = np.random.default_rng(1).standard_normal((problem.rows, problem.m))
    metric, most = ridge_preconditioner.Preconditioner(problem), ridge_preconditioner.FACTORS
    made = []
    for step in range(most + 2):
        A = state.A * 2.0**-step
        metric.take(problem, A)
        made.append(metric.made)
        M = A.mean() * problem.second_moment(metric.samples) + problem.lam * np.eye(problem.rows)
        np.testing.assert_allclose(metric.solve(R), np.linalg.solve(M, R), rtol=1e-6, atol=1e-9)
    assert made == [
        *range(1, ridge_preconditioner.FACTORS + 1),
        ridge_preconditioner.FACTORS,
        ridge_preconditioner.FACTORS,
    ]
    assert metric.vectors is not None
    kept = ridge_preconditioner.Preconditioner(problem)
    kept.take(problem, state.A)
    kept.take(problem, 1.1 * state.A)
    assert kept.made == 1, "a factor is kept while λ/c hardly changes"


def test_a_covariance_of_sparse_x_that_costs_many_products_is_made_after_as_many_steps() -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((2000, 100)) * (rng.random((2000, 100)) < 0.5)
    for X, waits in ((dense, False), (sp.csr_array(dense), True), (sp.csr_array(dense[:, :20]), False)):
        problem = ss.Problem(X, np.arange(2000) % 2, loss="binary-logistic", penalty="ridge", lam=0.02, intercept=True)
        metric, A = ridge_preconditioner.Preconditioner(problem), np.full((2000, 1), 0.25)
        assert (metric.waits > 0.0) == waits and metric.later == ridge_preconditioner.moment_samples(problem)
        metric.take(problem, A)
        assert (metric.factor is None) == waits
        R = rng.standard_normal((problem.rows, 1))
        if waits:
            diagonal = 0.25 * np.append(problem.design.squared_norms / 2000, 1.0) + 0.02
            np.testing.assert_allclose(metric.solve(R)[:, 0], R[:, 0] / diagonal, rtol=1e-12)
            metric.solved = int(metric.waits)
            metric.solve(R)
            metric.take(problem, A)
        M = 0.25 * problem.second_moment(metric.samples) + 0.02 * np.eye(problem.rows)
        np.testing.assert_allclose(metric.solve(R), np.linalg.solve(M, R), rtol=1e-8)


def test_a_system_is_put_together_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.02, intercept=True)
    state = solvers.create("newton-cg").init(problem)
    whole = state.factored(problem)
    monkeypatch.setattr(newton_system, "PART", 17.0 * (2 * problem.rows) ** 2)  # 200 samples, 17 at a time
    np.testing.assert_allclose(state.factored(problem), whole, rtol=1e-9, atol=1e-12)


def test_systems_that_are_too_large_or_have_no_factor_are_solved_by_conjugate_gradients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.02)
    assert not newton_system.is_cheap(ss.Problem(*samples(400, 200, 5), penalty="ridge", lam=0.02))

    def none(*given: Any, **asked: Any) -> Any:
        raise np.linalg.LinAlgError

    best = ss.reference(problem).objective
    monkeypatch.setattr(newton_system.scipy.linalg, "cho_factor", none)
    run = ss.Run(problem, "newton-cg", stop=Gap(1e-10, of_null=0.0) | Iterations(500), certify_every=1)
    last = list(run)[-1]
    assert last.objective == pytest.approx(best, rel=1e-9) and last.info["inner_steps"] > 0


@pytest.mark.parametrize("kept", [0, 30])
def test_without_or_with_part_of_the_covariance(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ridge_preconditioner, "moment_samples", lambda problem: kept)
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.02, intercept=True)
    found = solved(problem, solvers.create("newton-cg", direct=False))[0]
    assert found == pytest.approx(ss.reference(problem).objective, rel=1e-9)


def test_a_covariance_of_some_samples_is_close_to_that_of_all() -> None:
    X, y = samples(4000, 6)
    weights = np.random.default_rng(2).random(len(y)) + 0.5
    problem = ss.Problem(X, y, penalty="ridge", intercept=True, sample_weight=weights)
    whole, part = problem.second_moment(), problem.second_moment(2000)
    np.testing.assert_allclose(part, whole, atol=0.15 * np.abs(whole).max())
    assert not np.array_equal(part, whole)
    values, vectors = problem.spectrum(problem.n)
    np.testing.assert_allclose((vectors * values) @ vectors.T, whole, atol=1e-12 * np.abs(whole).max())


def test_live_changes_of_loss_and_lam_keep_the_weights() -> None:
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1, intercept=True)
    run = ss.Run(problem, "newton-cg", stop=Gap(1e-9, of_null=0.0) | Iterations(400))
    steps = iter(run)
    for _ in range(3):
        before = next(steps).objective
    run.change(lam=0.01)
    assert next(steps).objective <= before, "weights are kept, and a smaller λ makes F smaller"
    run.change(loss="multiclass-squared-hinge")
    last = list(steps)[-1]
    other = problem.with_(lam=0.01, loss="multiclass-squared-hinge")
    assert last.objective == pytest.approx(ss.reference(other).objective, rel=1e-8)


def test_what_it_does_not_solve_is_said() -> None:
    X, y = samples()
    for asked, named in (({"penalty": "l1/l2"}, "ridge"), ({"penalty": "ridge", "loss": "crammer-singer"}, "smooth")):
        with pytest.raises(ValueError, match=named):
            ss.solve(ss.Problem(X, y, **asked), "newton-cg")


def test_auto_takes_it_and_leaves_it_where_it_does_not_end() -> None:
    X, y = samples()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-3, intercept=True)
    chooser = solvers.create("auto")
    state = chooser.init(problem)
    assert state.delegate == solvers.create("newton-cg")
    chooser.step(problem, state)
    assert chooser.successor(problem, state) is None
    state.short = 3
    following, reason = chooser.successor(problem, state)
    assert following == solvers.create("working-set") and "3 of which" in reason
    state.short, state.products = 0, 300
    assert chooser.successor(problem, state)[0] == solvers.create("working-set")


def test_auto_and_hinges() -> None:
    for d, tangled, form, name in (
        (41, 0.0, np.asarray, "newton-cg"),
        (40, 5.0, np.asarray, "newton-cg"),
        (41, 5.0, np.asarray, "working-set"),
        (41, 5.0, sp.csr_array, "newton-cg"),
    ):
        X, y = samples(d=d)
        X = X + tangled * np.random.default_rng(0).standard_normal((len(X), 1))
        problem = ss.Problem(form(X), y, loss="multiclass-squared-hinge", penalty="ridge", lam=0.1)
        assert solvers.create("auto").init(problem).delegate == solvers.create(name)


def test_hinges_and_many_features_of_sparse_x(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row space with few samples; with more, nearly exact steps on all features, and nothing takes over."""
    X, y = samples(n=20, d=200)
    problem = ss.Problem(sp.csr_array(X), y, loss="multiclass-squared-hinge", penalty="ridge", lam=1e-3)
    assert auto.choose(problem)[0].name == "row-space"
    monkeypatch.setattr(row_space_pays, "MOST_SAMPLES", 19)
    state = solvers.create("auto").init(problem)
    assert state.delegate == solvers.create("newton-cg", forcing=auto.EXACT, damping=False, opening=False)
    state.short, state.products = 3, 300
    assert solvers.create("auto").successor(problem, state) is None
    found = ss.solve(problem, tol=1e-9)
    assert found.converged and found.reason.startswith("newton-cg")
    assert found.objective == pytest.approx(ss.solve(problem, "row-space", tol=1e-9).objective, rel=1e-8)


@pytest.mark.parametrize("n", [1, 7, 300, 3000])
@pytest.mark.parametrize("m", [2, 5, 12])
def test_slim_products(n: int, m: int) -> None:
    rng = np.random.default_rng(n + m)
    X = np.asfortranarray(rng.standard_normal((n, 40)))
    W, U = rng.standard_normal((40, m)), rng.standard_normal((n, m))
    assert slim.suits(X, m) and not slim.suits(X, 1) and not slim.suits(X[:, :31], m)
    Z, G = np.empty((n, m)), np.empty((40, m))
    slim.times(X, W, Z)
    slim.pulled(X, U, G)
    np.testing.assert_allclose(Z, X @ W, atol=1e-12 * np.sqrt(40.0) * 4)
    np.testing.assert_allclose(G, X.T @ U, atol=1e-12 * n)
