"""The contract of methods with a budget on the mean hinge: the weights that are handed back satisfy the constraint, and
the bounds beside them hold for these weights."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from solving import flowers

import sparsescope as ss
from helpers import digits, iris, loss_rows, omega, text
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Iterations

HINGE = "crammer-singer"
METHODS = [
    pytest.param("fbpd-constrained", {"slacks": "none"}, id="none"),
    pytest.param("fbpd-constrained", {"slacks": "each"}, id="each"),
    pytest.param("fbpd-linear", {}, id="linear"),
]
ETA = 0.7


@cache
def problem_of(data: str, penalty: str, intercept: bool, dtype: str = "float64") -> ss.Problem:
    X, y = {"iris": iris, "flowers": flowers, "digits": digits, "text": text}[data]()
    return ss.Problem(X.astype(dtype), y, loss=HINGE, penalty=penalty, intercept=intercept)


@cache
def best(data: str, penalty: str, intercept: bool) -> ss.Result:
    problem = problem_of(data, penalty, intercept)
    solver = solvers.create("fbpd-constrained", eta=ETA)
    found = ss.solve(problem, solver, tol=1e-5, max_iter=60_000, record=False, certify_every=50)
    assert found.converged
    return found


@cache
def smallest_l1(eta: float) -> float:
    """min Σ|W| on iris over W whose mean hinge is at most η, by linear programming."""
    X, y = iris()
    n, d = X.shape
    m = int(y.max()) + 1
    rows = []
    for i in range(n):
        for r in range(m):
            if r != y[i]:
                w, xi = np.zeros((d, m)), np.zeros(n)
                w[:, r], w[:, y[i]], xi[i] = X[i], -X[i], -1.0
                rows.append(np.concatenate([w.ravel(), -w.ravel(), xi]))
    budget = np.concatenate([np.zeros(2 * d * m), np.full(n, 1.0 / n)])
    found = linprog(
        np.concatenate([np.ones(2 * d * m), np.zeros(n)]),
        A_ub=np.array([*rows, budget]),
        b_ub=np.append(np.full(len(rows), -1.0), eta),
        bounds=(0, None),
    )
    assert found.success
    return float(found.fun)


def check(problem: ss.Problem, found: Any) -> None:
    """The weights satisfy the constraint, by the formulas of the tests, and the objective is theirs."""
    Z = problem.scores(found.W, found.b).astype(np.float64)
    rounding = 4.0 * float(np.finfo(problem.dtype).eps)
    assert loss_rows(problem.loss, Z, problem.y).mean() <= ETA + rounding and found.excess <= rounding
    assert found.objective == pytest.approx(omega(problem.penalty, found.W), rel=10 * rounding)
    assert found.gap == found.objective - found.dual
    assert found.dual <= found.objective * (1 + 10 * rounding)


@pytest.mark.parametrize(
    ("penalty", "data", "limit"),
    [
        ("l1", "iris", 30_000),
        ("l1/l2", "flowers", 6_000),
        pytest.param("l1/l2", "iris", 30_000, marks=pytest.mark.slow),
        ("l1/linf", "iris", 30_000),
    ],
)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(("name", "settings"), METHODS)
def test_what_is_handed_back_keeps_the_budget_and_its_bounds(
    name: str, settings: Any, penalty: str, tol: float, data: str, limit: int
) -> None:
    problem = problem_of(data, penalty, False)
    found = ss.solve(problem, solvers.create(name, eta=ETA, **settings), tol=tol, max_iter=limit, certify_every=10)
    assert found.converged, found
    check(problem, found)
    if penalty == "l1":  # on iris
        optimum = smallest_l1(ETA)
        assert abs(found.objective - optimum) <= found.gap + 1e-9 * optimum
        assert found.dual - 1e-9 * optimum <= optimum


@pytest.mark.parametrize(
    ("data", "penalty", "intercept"),
    [
        ("iris", "ridge", True),
        ("digits", "l1/l2", False),
        ("text", "sparse-group", True),
        ("text", "block-l1/linf", False),
        pytest.param("digits", "block-l1/linf", False, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(("name", "settings"), METHODS[:2])
def test_runs_that_end_early_hand_back_feasible_weights_as_well(
    name: str, settings: Any, data: str, penalty: str, intercept: bool
) -> None:
    problem = problem_of(data, penalty, intercept)
    optimum = best(data, penalty, intercept)
    for limit in (20, 75):
        found = ss.solve(problem, solvers.create(name, eta=ETA, **settings), tol=1e-12, max_iter=limit)
        check(problem, found)
        assert found.objective >= optimum.dual and found.dual <= optimum.objective
        assert found.objective - optimum.objective <= found.gap * (1 + 1e-12)


def test_the_last_event_and_a_stop_by_a_callback_speak_of_the_weights_that_are_handed_back() -> None:
    problem = problem_of("iris", "l1", False)
    solver = solvers.create("fbpd-constrained", eta=ETA)
    run = ss.Run(problem, solver, stop=Gap(1e-4) | Iterations(20_000), certify_every=5)
    events = list(run)
    assert any(event.excess > 1e-4 for event in events), "iterates violate the constraint on the way"
    last = events[-1]
    assert last.excess == 0.0 and last.gap == last.objective - last.dual
    assert last.objective == pytest.approx(omega(problem.penalty, run.state.weights()), rel=1e-14)
    stopped = ss.solve(problem, solver, tol=1e-12, callbacks=[lambda event: event.iteration == 31])
    assert stopped.message == "stopped by a callback" and stopped.excess == 0.0
    check(problem, stopped)


def test_a_run_goes_on_after_its_weights_were_made_feasible() -> None:
    problem = problem_of("digits", "l1/l2", False)
    run = ss.Run(
        problem, solvers.create("fbpd-constrained", eta=ETA), stop=Gap(1e-2) | Iterations(20_000), certify_every=5
    )
    first = list(run)[-1]
    run.stop = Gap(1e-5) | Iterations(20_000)
    last = list(run)[-1]
    assert last.excess == 0.0 and last.relative_gap <= 1e-5 and last.objective <= first.objective


def test_single_precision_keeps_the_budget_as_it_computes_it() -> None:
    problem = problem_of("iris", "l1/l2", False, "float32")
    found = ss.solve(problem, solvers.create("fbpd-constrained", eta=ETA), tol=1e-4, max_iter=20_000)
    assert found.converged
    check(problem, found)


def test_problems_without_a_budget_have_no_excess() -> None:
    assert np.isnan(ss.solve(problem_of("iris", "l1/l2", False).with_(loss="logistic", lam=0.1), tol=1e-3).excess)
