"""The contract of the splitting methods: optima of the exact hinge, certified by their own dual points.

What they share with every solver (pausing, observers, events, copies …) is in test_solvers.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from solving import BUDGETED, SPLITTING, VARIANTS, both_data, flowers, problem_on

import sparsescope as ss
from helpers import forms, gradient_rows, hinge_program, iris, tags
from sparsescope.registry import penalties, solvers
from sparsescope.runs.stopping import Gap, Iterations

HINGE = "crammer-singer"
TOL = 1e-7


@cache
def best(problem: ss.Problem) -> ss.Result:
    """The solution, certified to 1e-9 in a few steps; what the linear program below says is the independent check."""
    found = ss.solve(problem, "auto", tol=1e-9, max_iter=1000, record=False)
    assert found.converged, found
    return found


# ---------------------------------------------------------------------------------------------------- reaching optima
@both_data
@pytest.mark.parametrize("penalty", list(penalties))
def test_every_penalty_reaches_a_certified_optimum(penalty: str, data: str, share: float, within: float) -> None:
    problem = problem_on(data, HINGE, penalty, share=share)
    found = ss.solve(problem, "fbpd", tol=TOL, max_iter=int(within * 20_000), record=False, certify_every=20)
    assert found.converged, found
    assert problem.objective(found.W) == pytest.approx(found.objective, rel=1e-12)
    known = best(problem)
    assert known.dual - 1e-12 <= found.objective <= (1 + 2 * TOL) * known.objective


@pytest.mark.parametrize(
    ("make", "intercept"),
    [(iris, False), (flowers, True), pytest.param(iris, True, marks=pytest.mark.slow)],
    ids=["iris-plain", "flowers-intercept", "iris-intercept"],
)
@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_the_optimum_is_that_of_a_linear_program(make: Any, intercept: bool, margin: float) -> None:
    X, y = make()
    problem = ss.Problem(X, y, loss=ss.losses.CrammerSinger(margin=margin), penalty="l1", intercept=intercept)
    problem = problem.with_lam(0.05 * problem.lam_max)
    value, _, _ = hinge_program(X, y, problem.lam, intercept, margin)
    found = ss.solve(problem, "fbpd", tol=1e-8, max_iter=100_000, record=False, certify_every=50)
    assert found.converged and found.objective == pytest.approx(value, rel=2e-8)
    assert found.dual <= value * (1 + 1e-9)


@pytest.mark.parametrize("form", ["dense", "csc"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sparse_data_with_an_empty_row_and_column_in_either_precision(form: str, dtype: str) -> None:
    problem = problem_on("text", HINGE, "l1/l2", share=0.2, intercept=True, form=form, dtype=dtype)
    tol = TOL if dtype == "float64" else 1e-4
    found = ss.solve(problem, "fbpd", tol=tol, max_iter=20_000, record=False, certify_every=20)
    assert found.converged and found.W.dtype == dtype
    assert not found.W[7].any()
    exact = problem_on("text", HINGE, "l1/l2", share=0.2, intercept=True, form=form)
    assert exact.objective(found.W, found.b) == pytest.approx(best(exact).objective, rel=2 * tol)


def on_simplex(v: np.ndarray) -> np.ndarray:
    """The nearest point of the unit simplex."""
    ordered = np.sort(v)[::-1]
    levels = (np.cumsum(ordered) - 1.0) / np.arange(1, v.size + 1)
    return np.maximum(v - levels[np.count_nonzero(ordered > levels) - 1], 0.0)


def test_an_iteration_is_algorithm_1() -> None:
    X, y = iris()
    n = y.size
    problem = ss.Problem(X, y, loss=HINGE, penalty="l1/l2", lam=0.02)
    mu = problem.loss.margin
    solver = solvers.create("fbpd", acceleration="none", steps="paper")
    state: Any = solver.init(problem)
    true = np.eye(problem.m)[y]
    for _ in range(20):
        W, Y, tau, sigma = state.coef.copy(), state.Y.copy(), state.tau, state.sigma
        solver.step(problem, state)
        towards = W - tau * X.T @ Y
        lengths = np.linalg.norm(towards, axis=1, keepdims=True)
        new = towards * np.maximum(1.0 - tau * n * problem.lam / np.maximum(lengths, 1e-300), 0.0)
        ahead = Y + sigma * (X @ (2.0 * new - W) + mu * (1.0 - true))
        np.testing.assert_allclose(state.coef, new, atol=1e-12)
        np.testing.assert_allclose(state.Y, np.apply_along_axis(on_simplex, 1, ahead + true) - true, atol=1e-12)
    assert np.abs(state.coef).max() > 1e-3


def test_ten_classes() -> None:
    problem = problem_on("digits", HINGE, "l1/l2", share=0.3)
    found = ss.solve(problem, "fbpd", tol=1e-6, max_iter=20_000, record=False, certify_every=20)
    assert found.converged and 0 < np.count_nonzero(found.W.any(axis=1)) < problem.d


@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] == "fbpd"])
def test_every_setting_solves(name: str, solver: Any) -> None:
    problem = problem_on("text", HINGE, "l1/l2", share=0.3)
    found = ss.solve(problem, solver, tol=1e-5, max_iter=20_000, record=False, certify_every=50)
    assert found.converged, (solver, found)
    assert found.objective == pytest.approx(best(problem).objective, rel=2e-5)


# ------------------------------------------------------------------------------------------------------------- budgets
def budgeted(name: str, problem: ss.Problem, **settings: Any) -> tuple[ss.Result, Any, ss.Result]:
    """The solution for a budget of the mean hinge of the solution with λ, its last event, and that with λ."""
    known = best(problem)
    eta = problem.with_(penalty="ridge").objective(known.W, known.b) - problem.lam * 0.5 * float((known.W**2).sum())
    seen: list[Any] = []
    solver = solvers.create(name, eta=eta, **settings)
    found = ss.solve(problem, solver, tol=TOL, max_iter=60_000, record=False, certify_every=50, callbacks=[seen.append])
    assert found.converged, (solver, found)
    return found, seen[-1], known


@cache
def best_within(problem: ss.Problem, eta: float, tol: float) -> ss.Result:
    """The solution for a budget, which both formulations share."""
    solver = ss.solvers.FBPDConstrained(eta=eta)
    found = ss.solve(problem, solver, tol=tol, max_iter=60_000, record=False, certify_every=50)
    assert found.converged, found
    return found


@both_data
@pytest.mark.parametrize("penalty", list(penalties))
def test_the_budget_of_a_solution_has_the_same_solution(penalty: str, data: str, share: float, within: float) -> None:
    problem = problem_on(data, HINGE, penalty, share=share)
    found, last, known = budgeted("fbpd-constrained", problem)
    omega = problem.regulariser.value(known.W)[0]
    assert found.objective == pytest.approx(omega, rel=1e-6) == pytest.approx(found.dual, rel=1e-6)
    assert problem.objective(found.W) == pytest.approx(known.objective, rel=1e-6)
    assert 0.0 <= last.excess < 1e-5 and last.nonzero_rows > 0
    if penalty in ("ridge", "elastic-net"):  # elsewhere the solution is a corner, the same for many λ
        assert last.equivalent_lam == pytest.approx(problem.lam, rel=1e-2)


@pytest.mark.parametrize(
    ("name", "penalty", "form", "share"),
    [
        ("fbpd-linear", "l1/l2", "dense", 0.4),
        pytest.param("fbpd-linear", "l1/l2", "dense", 0.2, marks=pytest.mark.slow),
        ("fbpd-linear", "ridge", "csr", 0.2),
        ("fbpd-constrained", "l1", "csc", 0.2),
    ],
)
def test_both_formulations_agree_with_an_intercept_on_any_form(
    name: str, penalty: str, form: str, share: float
) -> None:
    problem = problem_on("text", HINGE, penalty, share=share, intercept=True, form=form)
    found, last, known = budgeted(name, problem)
    assert problem.objective(found.W, found.b) == pytest.approx(known.objective, rel=2e-6)
    assert last.loss - last.excess == pytest.approx(min(last.loss, last.solver.eta), rel=1e-12)


@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] in BUDGETED])
def test_every_setting_keeps_the_budget(name: str, solver: Any) -> None:
    problem = problem_on("text", HINGE, "l1/l2", share=0.3)
    known = best_within(problem, solver.eta, 1e-7)
    found = ss.solve(problem, solver, tol=1e-4, max_iter=30_000, record=False, certify_every=50)
    assert found.converged, (solver, found)
    assert found.objective == pytest.approx(known.objective, rel=3e-4)


@pytest.mark.parametrize("name", BUDGETED)
def test_bounds_of_a_budget_are_true_all_the_way(name: str) -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    solver = solvers.create(name, eta=0.4)
    optimum = best_within(problem, 0.4, 1e-8).dual
    known = 0
    for event in ss.Run(problem, solver, stop=Iterations(400), certify_every=5):
        if event.certified:
            assert event.dual <= optimum * (1 + 1e-8)
            if event.gap == event.gap:
                known += 1
                assert event.dual + event.gap >= optimum * (1 - 1e-8)
                assert event.gap >= event.objective - event.dual - 1e-12
    assert known > 20


def test_a_bound_that_was_proved_is_kept_while_the_multiplier_swings_through_zero() -> None:
    problem = problem_on("digits", HINGE, "block-l1/l2")
    run = ss.Run(problem, ss.solvers.FBPDConstrained(eta=0.5, balance=30.0), stop=Iterations(120), certify_every=3)
    events = [(event.dual, run.state.level) for event in run if event.certified]
    duals = np.array([dual for dual, _ in events])
    assert min(level for _, level in events) == 0.0, "weights with room in the budget have no price"
    assert duals[0] > 0.0 and np.diff(duals).min() >= -1e-12 * duals[-1]


def test_a_bound_holds_for_other_budgets_and_is_forgotten_with_the_penalty() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, ss.solvers.FBPDConstrained(eta=0.5), stop=Gap(1e-3) | Iterations(9000), certify_every=10)
    list(run)
    known = run.state.known
    for eta in (0.4, 0.45, 0.55, 0.7):
        optimum = best_within(problem, eta, 1e-5)
        assert 0.0 < known.lower(eta) <= optimum.objective + optimum.gap
    run.change(problem=problem.with_(penalty="ridge"), solver=ss.solvers.FBPDConstrained(eta=0.4))
    assert run.observe(certify_now=True).dual < 0.9 * known.lower(0.4), "of another penalty nothing is known"


def test_a_budget_of_the_whole_margin_is_kept_by_zero_and_none_by_a_full_margin_everywhere() -> None:
    problem = problem_on("text", HINGE, "l1/l2")
    found = ss.solve(problem, ss.solvers.FBPDConstrained(eta=1.0))
    assert found.converged and found.iterations == 0 and not found.W.any()
    X, y = iris()
    apart = ss.Problem(X[y != 1], y[y != 1], loss=HINGE, penalty="ridge", intercept=True)
    hard = ss.solve(apart, ss.solvers.FBPDConstrained(eta=0.0), tol=1e-6, max_iter=60_000, certify_every=50)
    assert hard.converged
    Z = apart.scores(hard.W, hard.b)
    assert (Z[np.arange(len(Z)), apart.y] - np.where(np.eye(2)[apart.y], -np.inf, Z).max(axis=1)).min() > 1 - 1e-4


@pytest.mark.parametrize("name", BUDGETED)
def test_a_budget_out_of_reach_is_found_out_and_explained(name: str) -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    with pytest.raises(ValueError, match="no weights keep that budget") as caught:
        ss.solve(problem, solvers.create(name, eta=0.2), max_iter=30_000)
    assert "Choose eta of at least 0.33" in str(caught.value)


def test_the_smallest_hinge_is_that_of_a_linear_program() -> None:
    X, y = iris()
    for intercept in (False, True):
        problem = ss.Problem(X, y, loss=HINGE, intercept=intercept)
        value, _, _ = hinge_program(X, y, 0.0, intercept)
        found = ss.solvers.smallest_hinge(problem, tol=1e-3)
        assert found.lower - 1e-9 <= value <= found.reached + 1e-9 and found.reached - found.lower <= 1e-3
    with pytest.raises(ValueError, match="Crammer–Singer"):
        ss.solvers.smallest_hinge(problem.with_(loss="logistic"))
    with pytest.raises(ValueError, match="tol is -1"):
        ss.solvers.smallest_hinge(problem, tol=-1)


def test_budgets_below_zero_and_nan_are_refused() -> None:
    for eta in (-0.1, float("nan")):
        with pytest.raises(ValueError, match=r"eta is .*allowed: 0 to"):
            ss.solvers.FBPDConstrained(eta=eta)


def test_a_move_of_the_budget_keeps_weights_and_dual_and_pays() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, ss.solvers.FBPDConstrained(eta=0.4), stop=Gap(1e-6) | Iterations(30_000), certify_every=10)
    list(run)
    W, U, level, before = run.state.weights().copy(), run.state.Y.copy(), run.state.level, run.state.iteration
    run.change(solver=ss.solvers.FBPDConstrained(eta=0.39))
    np.testing.assert_array_equal(run.state.weights(), W)
    np.testing.assert_array_equal(run.state.Y, U)
    assert run.state.level == level
    assert run.observe(certify_now=True).relative_gap < 0.2, "the kept dual point and room bound the new problem"
    run.stop = Gap(1e-6) | Iterations(60_000)
    assert "certified" in list(run)[-1].message
    assert before > 0


def test_fbpd_and_its_constrained_form_hand_each_other_the_dual() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, "fbpd", stop=Gap(1e-7) | Iterations(30_000), certify_every=10)
    eta = list(run)[-1].loss
    run.change(solver=ss.solvers.FBPDConstrained(eta=eta))
    there = run.observe(certify_now=True)
    assert there.dual == pytest.approx(there.objective, rel=1e-4)
    assert there.equivalent_lam == pytest.approx(problem.lam, rel=1e-3)
    run.change(solver=ss.solvers.FBPD())
    assert run.observe(certify_now=True).relative_gap < 1e-4


def test_a_trace_of_budgets_takes_no_overdrawn_point_for_the_best() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    recorder = ss.Recorder()
    list(
        ss.Run(
            problem,
            ss.solvers.FBPDConstrained(eta=0.4),
            stop=Gap(1e-5) | Iterations(9000),
            certify_every=7,
            callbacks=[recorder],
        )
    )
    trace = recorder.trace
    assert trace["objective"][1:].min() < 0.9 * trace.best(), "there were overdrawn points with a smaller Ω"
    assert trace.lower() <= trace.best() <= trace.lower() * (1 + 1e-5)


# ------------------------------------------------------------------------------------------------- duals and their gap
def test_the_dual_point_is_in_the_domain_and_optimal_with_the_weights() -> None:
    problem = problem_on("iris", HINGE, "l1/l2", intercept=True)
    run = ss.Run(problem, "fbpd", stop=Gap(1e-8) | Iterations(50_000), certify_every=50)
    last = list(run)[-1]
    assert "certified" in last.message and last.dual_entries > 0.0
    U, y = run.state.Y, problem.y
    P = U + np.eye(problem.m)[y]
    assert P.min() >= 0.0
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-13)
    # Fenchel–Young: ⟨u, z⟩ = ℓ(z) + ℓ*(u), summed up; and the gradient of the intercept vanishes.
    conjugates = np.array([problem.loss.conjugate(u, int(c)) for u, c in zip(U, y, strict=True)])
    assert float((U * run.state.Z).sum() - conjugates.sum()) / problem.n == pytest.approx(last.loss, abs=1e-6)
    assert np.abs(U.mean(axis=0)).max() < 1e-6
    assert last.gap < 0.1 * problem.gap(run.state.weights(), run.state.intercept()), "a subgradient proves less"


def test_the_gap_is_true_all_the_way() -> None:
    problem = problem_on("digits", HINGE, "l1/l2", share=0.3, intercept=True)
    optimum = best(problem).objective
    for event in ss.Run(problem, "fbpd", stop=Iterations(300), certify_every=7):
        if event.certified:
            assert event.dual <= optimum * (1 + 1e-9) and event.objective >= optimum * (1 - 1e-9)


def test_active_share_and_dual_entries_are_counts() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, "fbpd", stop=Iterations(30))
    last = list(run)[-1]
    active = np.abs(gradient_rows(problem.loss, run.state.Z, problem.y)).sum(axis=1) > 0
    assert last.active_share == pytest.approx(active.mean())
    off = run.state.Y != 0
    off[np.arange(problem.n), problem.y] = False
    assert last.dual_entries == pytest.approx(off.sum(axis=1).mean())


# --------------------------------------------------------------------------------------------------------- warm starts
@pytest.mark.parametrize("change", ["lam", "margin", "penalty"])
def test_weights_and_dual_survive_a_change_of_the_problem(change: str) -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    other = {
        "lam": problem.with_lam(0.9 * problem.lam),
        "penalty": problem.with_(penalty="sparse-group"),
        "margin": problem.with_(loss=ss.losses.CrammerSinger(margin=0.9)),
    }[change]
    run = ss.Run(problem, "fbpd", stop=Gap(1e-6) | Iterations(20_000), certify_every=10)
    list(run)
    W, U = run.state.weights().copy(), run.state.Y.copy()
    run.change(problem=other)
    np.testing.assert_array_equal(run.state.weights(), W)
    np.testing.assert_array_equal(run.state.Y, U)
    event = run.observe(certify_now=True)
    cold = next(iter(ss.Run(other, "fbpd", W=W)))
    assert event.relative_gap < 0.5 * cold.relative_gap, "the dual point is worth something"
    run.stop = Gap(1e-6) | Iterations(40_000)
    assert "certified" in list(run)[-1].message


def test_another_setting_of_the_solver_keeps_the_dual() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, "fbpd", stop=Iterations(200))
    list(run)
    U = run.state.Y.copy()
    run.change(solver=ss.solvers.FBPD(acceleration="none"))
    np.testing.assert_array_equal(run.state.Y, U)
    event = run.advance()
    assert event.iteration == 201 and event.objective == pytest.approx(best(problem).objective, rel=0.1)


def test_a_start_at_the_optimum_stays_there_and_stops_soon() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    known = best(problem)
    warm = ss.solve(problem, "fbpd", W=known.W, tol=1e-6, max_iter=20_000, certify_every=10)
    assert warm.converged
    assert warm.trace["objective"].max() <= 1.1 * known.objective, "it never goes far"
    assert problem.objective(known.W) == pytest.approx(warm.objective, rel=2e-6)


# ------------------------------------------------------------------------------------------------- few of many features
@cache
def wide(penalty: Any, form: str = "dense", intercept: bool = True) -> ss.Problem:
    """60 samples of three classes, 400 features, 30 of which carry something."""
    rng = np.random.default_rng(11)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 400))
    X[:, ::14] += 0.8 * rng.standard_normal((3, 29))[y]
    problem = ss.Problem(dict(forms(X))[form], y, loss=HINGE, penalty=penalty, intercept=intercept)
    return problem.with_lam(0.4 * problem.lam_reference)


@pytest.mark.parametrize(
    ("penalty", "form"),
    [("l1/l2", "dense"), ("l1", "csc"), ("elastic-net", "dense"), (ss.penalties.BlockL1L2(blocks=5), "csr")],
)
def test_working_on_few_of_many_features_finds_the_optimum_of_all(penalty: Any, form: str) -> None:
    problem = wide(penalty, form)
    run = ss.Run(problem, "fbpd", stop=Gap(1e-6) | Iterations(20_000), certify_every=20)
    last = list(run)[-1]
    assert "certified" in last.message and last.nonzero_rows < last.working_set < 0.6 * problem.d
    flags = run.state.working.astype(bool)
    assert flags.sum() + 1 == last.working_set and flags[run.state.weights().any(axis=1)].all()
    np.testing.assert_allclose(run.state.Z, problem.scores(run.state.weights(), run.state.intercept()), atol=1e-10)
    whole = ss.solve(problem, ss.solvers.FBPD(acceleration="none"), tol=1e-3, max_iter=60_000, certify_every=100)
    assert whole.dual <= last.objective * (1 + 1e-9) and last.dual <= whole.objective


def test_few_of_many_features_pause_resume_and_change() -> None:
    problem = wide("l1/l2")
    whole = ss.Run(problem, "fbpd", stop=Iterations(120))
    list(whole)
    first = ss.Run(problem, "fbpd", stop=Iterations(70))
    list(first)
    resumed = ss.Run(problem, "fbpd", stop=Iterations(120), state=first.state.copy())
    list(resumed)
    np.testing.assert_array_equal(resumed.state.coef, whole.state.coef)
    U = whole.state.Y.copy()
    whole.change(problem=problem.with_(penalty="l1", lam=problem.lam))
    np.testing.assert_array_equal(whole.state.Y, U)
    whole.stop = Gap(1e-5) | Iterations(20_000)
    assert "certified" in list(whole)[-1].message
    whole.change(solver=ss.solvers.FBPDConstrained(eta=0.2))
    whole.stop = Gap(1e-4) | Iterations(40_000)
    assert "certified" in list(whole)[-1].message


def test_a_penalty_that_uses_every_feature_works_on_all() -> None:
    problem = wide("ridge", intercept=False)
    run = ss.Run(problem, "fbpd", stop=Iterations(30))
    assert list(run)[-1].working_set == problem.d and run.state.working is None


# ------------------------------------------------------------------------------------------------------------ refusals
@pytest.mark.parametrize("name", SPLITTING)
def test_smooth_losses_and_label_sets_are_refused_in_words(name: str) -> None:
    X, y = iris()
    for problem in (ss.Problem(X, y, loss="logistic"), ss.Problem(*tags())):
        with pytest.raises(ValueError, match=rf"{name} .*crammer-singer.*{problem.loss.title}"):
            ss.Run(problem, name)


def test_auto_takes_it_for_the_hinge_and_says_why() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    found = ss.solve(problem, "auto", tol=1e-5)
    assert found.converged and "ssnal" in found.reason and "not smooth" in found.reason
