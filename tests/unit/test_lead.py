"""The start at the next λ of a path, ahead of the solution at the last one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.solvers.shared.secant import MOST, foretold
from sparsescope.solvers.shared.state import Solution


def solution(**rows: list[float]) -> Solution:
    return Solution(np.array([int(name[1:]) for name in rows]), np.array(list(rows.values())))


@pytest.fixture(scope="module")
def problem() -> ss.Problem:
    return ss.Problem(ss.datasets.make_text(150, 300, 4, seed=1), lam_ratio=0.1, intercept=True)


def test_a_solution_is_its_rows_that_are_not_zero() -> None:
    coef = np.array([[0.0, 0.0], [0.0, -1.0], [0.0, 0.0], [np.nan, 0.0]])
    kept = Solution.of(coef)
    coef[1] = 7.0
    np.testing.assert_array_equal(kept.rows, [1, 3])
    np.testing.assert_array_equal(kept.values, [[0.0, -1.0], [np.nan, 0.0]])


def test_the_last_step_is_taken_again() -> None:
    earlier, now = solution(r0=[9.0, 9.0], r1=[1.0, 0.0], r4=[1.0, 1.0]), solution(r1=[2.0, 0.0], r2=[0.0, 3.0])
    np.testing.assert_array_equal(foretold(earlier, now, 0.5, 4), [[2.5, 0.0], [0.0, 4.5]])
    np.testing.assert_array_equal(foretold(earlier, now, 50.0, 4), foretold(earlier, now, MOST, 4))


def test_zeros_stay_zero_and_rows_do_not_turn_round_except_the_intercept() -> None:
    earlier = solution(r0=[4.0, 5.0], r1=[-1.0, 2.0], r4=[5.0, -1.0])
    now = solution(r0=[1.0, 2.0], r1=[0.0, 1.0], r4=[1.0, 0.0])
    # row 0 would go to [−2, −1]; of row 1 one entry is zero, the other becomes so; the intercept (row 4) goes anywhere
    np.testing.assert_array_equal(foretold(earlier, now, 1.0, 4), [[0.0, 0.0], [0.0, 0.0], [-3.0, 1.0]])


@pytest.mark.parametrize("penalty", ["l1/l2", "l1"])
def test_a_start_ahead_is_taken_where_the_objective_falls_and_only_there(problem: ss.Problem, penalty: str) -> None:
    problem = problem.with_(penalty=penalty)
    lams = problem.lam_max * np.array([0.4, 0.35, 0.3])
    run = ss.PathRun(problem, "working-set", lams=lams, tol=1e-6)
    solved: dict[float, Any] = {}
    for event in run:
        if event.lam == lams[2]:
            break
        solved[event.lam] = event.state.weights().copy(), event.state.intercept().copy()
    here = problem.with_lam(lams[2])
    assert event.objective < here.objective(*solved[lams[1]]), "ahead of the solution before it, and lower"
    state: Any = event.state
    np.testing.assert_allclose(state.Z, here.natural.design.matmul(state.coef, np.empty_like(state.Z)), atol=1e-12)
    for _ in run:  # to the solution, where no way leads down
        pass
    came = Solution.of(2.0 * state.coef)
    held = state.coef.copy(), state.Z.copy()
    assert not run.solver.lead(here.natural, state, came, 1.0)
    np.testing.assert_array_equal(state.coef, held[0])
    np.testing.assert_array_equal(state.Z, held[1])


def test_a_fork_of_a_path_starts_ahead_as_the_path_does(problem: ss.Problem) -> None:
    made = {"lams": problem.lam_max * np.array([0.4, 0.35, 0.3]), "tol": 1e-6}
    run, fork = (ss.PathRun(problem, "working-set", **made) for _ in range(2))
    for _ in run:
        if len(run.path) == 2:
            break
    fork.follow(run)
    ahead, forked = run.advance(), fork.advance()
    assert ahead.lam == forked.lam == made["lams"][2]
    np.testing.assert_array_equal(ahead.state.weights(), forked.state.weights())
    assert (ahead.state.weights() != run.path.weights(1)).any()


def test_starts_ahead_save_iterations(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = ss.path(problem, "working-set", n_lams=30, ratio=0.1)
    monkeypatch.setattr(type(ss.PathRun(problem, "working-set").solver), "lead", lambda *given: False)
    plain = ss.path(problem, "working-set", n_lams=30, ratio=0.1)
    assert ahead.converged.all() and plain.converged.all()
    assert ahead.iterations.sum() < plain.iterations.sum()
    np.testing.assert_allclose(ahead.objective, plain.objective, rtol=1e-4)
