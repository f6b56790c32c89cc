"""The contract of the splitting methods: optima of the exact hinge, certified by their own dual points.

What they share with every solver (pausing, observers, events, copies …) is in test_solvers.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from test_solvers import ONLY, VARIANTS, problem_on

import sparsescope as ss
from helpers import gradient_rows, hinge_program, iris, tags
from sparsescope.registry import penalties
from sparsescope.stopping import Gap, Iterations

HINGE = "crammer-singer"
TOL = 1e-7


@cache
def best(problem: ss.Problem) -> ss.Result:
    """The solution, certified to 1e-9 by fbpd; what the linear program below says is the independent check."""
    found = ss.solve(problem, "fbpd", tol=1e-9, max_iter=100_000, record=False, certify_every=50)
    assert found.converged, found
    return found


# ---------------------------------------------------------------------------------------------------- reaching optima
@pytest.mark.parametrize("penalty", list(penalties))
def test_every_penalty_reaches_a_certified_optimum(penalty: str) -> None:
    problem = problem_on("iris", HINGE, penalty)
    found = ss.solve(problem, "fbpd", tol=TOL, max_iter=20_000, record=False, certify_every=20)
    assert found.converged, found
    assert problem.objective(found.W) == pytest.approx(found.objective, rel=1e-12)
    known = best(problem)
    assert known.dual - 1e-12 <= found.objective <= (1 + 2 * TOL) * known.objective


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_the_optimum_is_that_of_a_linear_program(intercept: bool, margin: float) -> None:
    X, y = iris()
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


# ------------------------------------------------------------------------------------------------- duals and their gap
def test_the_dual_point_is_in_the_domain_and_optimal_with_the_weights() -> None:
    problem = problem_on("iris", HINGE, "l1/l2", intercept=True)
    run = ss.Run(problem, "fbpd", stop=Gap(1e-8) | Iterations(50_000), certify_every=50)
    last = list(run)[-1]
    assert "certified" in last.message and last.dual_entries > 0.0
    U, y = run.state.U, problem.y
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
    off = run.state.U != 0
    off[np.arange(problem.n), problem.y] = False
    assert last.dual_entries == pytest.approx(off.sum(axis=1).mean())


# --------------------------------------------------------------------------------------------------------- warm starts
@pytest.mark.parametrize("change", ["lam", "margin", "penalty"])
def test_weights_and_dual_survive_a_change_of_the_problem(change: str) -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    other = {"lam": problem.with_lam(0.9 * problem.lam), "penalty": problem.with_(penalty="sparse-group"),
             "margin": problem.with_(loss=ss.losses.CrammerSinger(margin=0.9))}[change]
    run = ss.Run(problem, "fbpd", stop=Gap(1e-6) | Iterations(20_000), certify_every=10)
    list(run)
    W, U = run.state.weights().copy(), run.state.U.copy()
    run.change(problem=other)
    np.testing.assert_array_equal(run.state.weights(), W)
    np.testing.assert_array_equal(run.state.U, U)
    event = run.observe(certify_now=True)
    cold = next(iter(ss.Run(other, "fbpd", W=W)))
    assert event.relative_gap < 0.5 * cold.relative_gap, "the dual point is worth something"
    run.stop = Gap(1e-6) | Iterations(40_000)
    assert "certified" in list(run)[-1].message


def test_another_setting_of_the_solver_keeps_the_dual() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    run = ss.Run(problem, "fbpd", stop=Iterations(200))
    list(run)
    U = run.state.U.copy()
    run.change(solver=ss.solvers.FBPD(acceleration="none"))
    np.testing.assert_array_equal(run.state.U, U)
    event = run.advance()
    assert event.iteration == 201 and event.objective == pytest.approx(best(problem).objective, rel=0.1)


def test_a_start_at_the_optimum_stays_there_and_stops_soon() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    known = best(problem)
    cold = ss.solve(problem, "fbpd", tol=1e-6, max_iter=20_000, certify_every=10)
    warm = ss.solve(problem, "fbpd", W=known.W, tol=1e-6, max_iter=20_000, certify_every=10)
    assert warm.converged and warm.iterations <= cold.iterations
    assert problem.objective(known.W) == pytest.approx(warm.objective, rel=2e-6)


# ------------------------------------------------------------------------------------------------------------ refusals
@pytest.mark.parametrize("name", list(ONLY))
def test_smooth_losses_and_label_sets_are_refused_in_words(name: str) -> None:
    X, y = iris()
    for problem in (ss.Problem(X, y, loss="logistic"), ss.Problem(*tags())):
        with pytest.raises(ValueError, match=f"{name} solves the Crammer–Singer hinge"):
            ss.Run(problem, name)


def test_auto_takes_it_for_the_hinge_and_says_why() -> None:
    problem = problem_on("iris", HINGE, "l1/l2")
    found = ss.solve(problem, "auto", tol=1e-5)
    assert found.converged and "fbpd" in found.reason and "kinks" in found.reason
