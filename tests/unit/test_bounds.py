"""The best dual value seen: what results, events and sessions compare with, and when it is forgotten."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, iris, objective, text
from sparsescope.runs.bounds import BELOW, Bounds, Schedule
from sparsescope.runs.stopping import Gap, Iterations


@cache
def problem_of(
    share: float = 0.1,
    dtype: str = "float64",
    loss: str = "multiclass-squared-hinge",
    penalty: str = "l1/l2",
    data: Any = digits,
) -> ss.Problem:
    X, y = data()
    lam = share * ss.Problem(X, y, loss=loss, penalty=penalty).lam_reference
    return ss.Problem(X.astype(dtype), y, loss=loss, penalty=penalty, lam=lam)


@cache
def optimum(problem: ss.Problem) -> ss.Result:
    found = ss.solve(problem, "working-set", tol=1e-11, max_iter=5000, record=False)
    assert found.converged
    return found


def test_the_dual_value_never_falls_and_always_bounds_the_optimum() -> None:
    problem = problem_of()
    events = list(ss.Run(problem, "fista-cst", stop=Iterations(300)))
    duals = np.array([event.dual for event in events])
    alone = np.array([problem.certificate(e.state.weights()).dual for e in events[-1:]])
    assert np.diff(duals).min() == 0.0 < np.diff(duals).max()
    assert duals.max() <= optimum(problem).objective * (1 + 1e-12) and duals[-1] >= alone[0]
    for event in events:
        assert event.gap == event.objective - event.dual
        assert event.relative_gap == event.gap / event.objective


def test_a_result_has_the_best_dual_value_of_its_run() -> None:
    problem = problem_of()
    found = ss.solve(problem, "fista-cst", tol=1e-12, max_iter=400, certify_every=1)
    assert found.dual == found.trace["dual"].max() == found.trace["dual"][-1]
    assert found.gap == found.objective - found.dual
    assert 0.0 <= found.objective - optimum(problem).objective + 1e-12 <= found.gap + 1e-12


def test_a_bound_is_kept_for_the_problem_and_forgotten_with_it() -> None:
    problem = problem_of()
    run = ss.Run(problem, "working-set", stop=Gap(1e-9) | Iterations(500))
    best = list(run)[-1].dual
    run.change(solver="fista-cst")
    assert run.observe(certify_now=True).dual >= best, "another solver, the same problem"
    for other in ({"lam": 0.5 * problem.lam}, {"penalty": "l1", "lam": 0.3 * problem.lam}, {"loss": "logistic"}):
        run.change(**other)
        event = run.observe(certify_now=True)
        fresh = event.problem.certificate(event.state.weights())
        assert event.dual == pytest.approx(fresh.dual, rel=1e-12), "nothing was proved about this problem yet"
    run.change(problem=problem)
    back = run.observe(certify_now=True)
    assert back.dual == pytest.approx(problem.certificate(back.state.weights()).dual, rel=1e-12)


def test_a_fork_keeps_the_bound() -> None:
    problem = problem_of()
    run = ss.Run(problem, "bcd-ls", stop=Iterations(20))
    best = list(run)[-1].dual
    other = ss.Run(problem, "bcd-ls", stop=Iterations(40))
    other.follow(run)
    assert other.certificate().dual >= best


# ------------------------------------------------------------------------------------------------------ small λ
@pytest.mark.parametrize(
    ("loss", "penalty", "share"),
    [("logistic", "l1", 1e-9), ("logistic", "l1/l2", 1e-9), ("multiclass-squared-hinge", "l1/l2", 4e-5)],
)
def test_a_tiny_lambda_ends_relative_to_the_objective_of_zero_weights(loss: str, penalty: str, share: float) -> None:
    problem = problem_of(share, loss=loss, penalty=penalty)
    found = ss.solve(problem, tol=1e-6, max_iter=30_000, record=False)
    assert found.converged and "of F at W = 0" in found.message, found
    zero = objective(*digits(), problem.loss, problem.penalty, problem.lam, np.zeros((problem.d, problem.m)))
    assert problem.null_objective == pytest.approx(zero, rel=1e-12)
    assert found.gap <= 1e-8 * zero and found.relative_gap > 1e-6


# ------------------------------------------------------------------------------------------------------ float32
@pytest.mark.parametrize(
    ("data", "loss", "solver"),
    [
        (digits, "multiclass-squared-hinge", "bcd-ls"),
        (digits, "logistic", "working-set"),
        (iris, "crammer-singer", "fbpd"),
        (text, "multiclass-squared-hinge", "sparsa"),
        pytest.param(digits, "crammer-singer", "fbpd", marks=pytest.mark.slow),  # as iris, with more of everything
        (text, "crammer-singer", "fbpd"),
    ],
)
def test_gaps_in_single_precision_are_those_of_the_exact_problem(data: Any, loss: str, solver: str) -> None:
    rounded, exact = problem_of(0.1, "float32", loss, data=data), None
    matrix = rounded.design.matrix.astype(np.float64)
    exact = ss.Problem(matrix, data()[1], loss=loss, lam=rounded.lam)  # the very same data
    known = ss.solve(exact, solver, tol=1e-8, max_iter=60_000, record=False, certify_every=20)
    for limit in (3, 30, 300):
        found = ss.solve(rounded, solver, tol=0.0, max_iter=limit, record=False)
        assert found.W.dtype == np.float32
        assert found.objective == pytest.approx(exact.objective(found.W), rel=1e-12)
        assert found.dual <= known.objective * (1 + 1e-12)
        assert found.objective - known.objective <= found.gap + 1e-12
        assert found.gap > 0.0


def test_the_default_tolerance_is_reached_in_single_precision() -> None:
    found = ss.solve(problem_of(0.1, "float32"), "bcd-ls")
    assert found.converged and 0.0 < found.relative_gap <= 1e-6


def test_a_tolerance_below_single_precision_is_answered_in_words() -> None:
    with pytest.warns(match="as far as float32 carries"):
        found = ss.solve(problem_of(0.1, "float32"), "bcd-ls", tol=1e-10)
    assert not found.converged and found.message.startswith("precision: relative gap")
    assert "float64" in found.message and found.relative_gap > 1e-10 and found.iterations < 10_000


def test_a_live_run_in_single_precision_says_where_it_ends() -> None:
    with ss.Session(problem_of(0.1, "float32"), "bcd-ls", certify_every=1) as session:
        session.play()
        assert session.wait_idle(120.0)
        status = session.status()
        assert status.mode == "finished" and "as far as float32 carries" in status.message
        assert session.trace["relative_gap"][-1] < 1e-5


def test_a_number_that_all_intercepts_share_hides_no_loss() -> None:
    X, y = iris()
    problem = ss.Problem(X, y, intercept=True, lam=0.1)
    W = np.zeros((problem.d, problem.m))
    near, far = (problem.certificate(W, np.full(problem.m, b)) for b in (0.0, -2.7e17))
    assert far.objective == near.objective > 0.0


def test_an_objective_below_a_proved_bound_ends_a_run_with_a_sentence() -> None:
    """Rounding that hides the loss would otherwise be shown as a wonderful point."""
    problem = problem_of()
    run: Any = ss.Run(problem, "ista")
    run.advance()
    dual = run.advance(certify_now=True).dual
    run.state.coef[:], run.state.Z[:] = 0.0, 1e30 * (np.arange(problem.m) == problem.y[:, None])
    said = rf"ista diverged at iteration 1: .* lies below {dual:g}, a proved bound of the optimum, because weights or "
    with pytest.raises(FloatingPointError, match=said + "intercept are so large that rounding hides the loss. Reset, "):
        run.observe(certify_now=True)


def test_rounding_of_a_sum_below_a_bound_ends_nothing() -> None:
    problem = problem_of()
    bounds, solver = Bounds(), ss.solvers.ISTA()
    found = problem.certificate(np.zeros((problem.d, problem.m)))
    bounds.improve(dataclasses.replace(found, dual=found.objective), problem, solver)
    for share, refused in ((0.5 * BELOW, False), (2.0 * BELOW, True)):
        value = found.objective * (1.0 - share)
        lower = dataclasses.replace(found, objective=value, gap=value - found.dual)
        if refused:
            with pytest.raises(FloatingPointError, match="proved bound"):
                bounds.improve(lower, problem, solver)
        else:
            assert bounds.improve(lower, problem, solver).gap == value - found.objective


@pytest.mark.parametrize(("cost", "most"), [(0.001, 1.0), (3.0, 0.2)])
def test_certificates_take_a_fifth_of_a_run_where_they_are_not_cheap(cost: float, most: float) -> None:
    schedule, now, spent, seen = Schedule(), 0.0, 0.0, []
    for iteration in range(1, 200):
        now += 1.0
        if schedule.due(iteration, now):
            seen.append(iteration)
            now, spent = now + cost, spent + cost
            schedule.took(iteration, cost, now)
    assert seen[0] == 1, "the first step shows whether there is a proof"
    assert (spent - cost) / now <= most and len(seen) >= 10
    if cost < 1.0:
        assert seen == list(range(1, 200))


def test_cheap_certificates_come_on_a_grid_of_quick_iterations_too() -> None:
    schedule, now, seen = Schedule(), 0.0, []
    for iteration in range(1, 60):
        now += 1e-4
        if schedule.due(iteration, now):
            seen.append(iteration)
            schedule.took(iteration, 0.5, now)
    assert seen == [1, 2, 3, 5, 8, 13, 21, 34, 55]
