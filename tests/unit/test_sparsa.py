"""SpaRSA: its steps are those of Barzilai and Borwein, its test is the non-monotone one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, gradient, text
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.sparsa import LEAST, MOST


def problem_on_text(intercept: bool = False, dtype: str = "float64", **parts: str) -> ss.Problem:
    """A sparse problem with a small support."""
    matrix, y = text()
    problem = ss.Problem(matrix.astype(dtype), y, intercept=intercept, **parts)
    return problem.with_lam(0.1 * problem.lam_reference)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_steps_are_those_of_barzilai_and_borwein(intercept: bool) -> None:
    problem = problem_on_text(intercept)
    d = problem.d
    solver = ss.solvers.SpaRSA()

    def full_gradient(coef: np.ndarray) -> np.ndarray:
        G, g = gradient(problem.design.matrix, problem.y, problem.loss, coef[:d], coef[d] if intercept else 0.0)
        return np.vstack([G, g[None]]) if intercept else G

    state = solver.init(problem)
    assert problem.block_constants("class-aware").max() == state.K
    expected = state.K
    accepted_at_once = 0
    for _ in range(25):
        before = state.coef.copy()
        solver.step(problem, state)
        if state.trials == 1:
            accepted_at_once += 1
            assert 1.0 / state.step_size == pytest.approx(expected, rel=1e-9)
        else:
            assert 1.0 / state.step_size >= 2.0 * expected * (1 - 1e-9)
        moved = state.coef - before
        turned = full_gradient(state.coef) - full_gradient(before)
        expected = np.vdot(moved, turned) / np.vdot(moved, moved)
        assert LEAST < expected < MOST
    assert 15 <= accepted_at_once < 25, "the default settings should meet both cases here"


@pytest.mark.parametrize(("intercept", "penalty"), [(False, "l1/l2"), (True, "elastic-net"), (True, "block-l1/l2")])
def test_alternating_steps_are_short_where_the_long_one_is_much_longer(intercept: bool, penalty: str) -> None:
    problem = problem_on_text(intercept, penalty=penalty)
    d, ratio = problem.d, 0.3
    solver = ss.solvers.SpaRSA(steps="alternating", ratio=ratio)

    def full_gradient(coef: np.ndarray) -> np.ndarray:
        G, g = gradient(problem.design.matrix, problem.y, problem.loss, coef[:d], coef[d] if intercept else 0.0)
        return np.vstack([G, g[None]]) if intercept else G

    state = solver.init(problem)
    expected, short, betas = state.K, [], []
    for _ in range(25):
        before = state.coef.copy()
        solver.step(problem, state)
        if state.trials == 1:
            assert 1.0 / state.step_size == pytest.approx(expected, rel=1e-7)
        moved, turned = state.coef - before, full_gradient(state.coef) - full_gradient(before)
        expected = float(np.vdot(moved, turned) / np.vdot(moved, moved))
        inside = moved != 0.0
        if (turn := float((moved * turned)[inside].sum())) > 0.0:
            betas.append(float((turned[inside] ** 2).sum()) / turn)
            short.append(expected < ratio * betas[-1])
            expected = max(betas[-3:]) if short[-1] else expected
    assert 0 < sum(short) < len(short), "the problem should meet both cases"


def test_a_point_that_somebody_else_moved_gives_no_short_step() -> None:
    """The gradient is kept of the rows that the last step concerned; other rows may have moved since."""
    problem = problem_on_text()
    solver = ss.solvers.SpaRSA(steps="alternating", ratio=1.0)
    state = solver.init(problem)
    for _ in range(3):
        solver.step(problem, state)
    assert len(state.curved) == 2
    state.coef[:] = 0.01
    problem.design.matmul(state.coef, state.Z)
    state.resume(problem)
    alpha = state.K
    solver.step(problem, state)
    assert len(state.curved) == 2 and (state.trials > 1 or 1.0 / state.step_size == alpha)
    solver.step(problem, state)
    assert len(state.curved) == 3


@pytest.mark.parametrize("penalty", ["l1", "l1/l2", "elastic-net", "block-l1/l2"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_alternating_steps_reach_the_optimum_of_the_others(penalty: str, dtype: str) -> None:
    problem = problem_on_text(True, dtype, loss="logistic", penalty=penalty)
    tol = 1e-8 if dtype == "float64" else 1e-4
    known = ss.solve(problem, "fista-ls", tol=tol, max_iter=3000, record=False)
    found = ss.solve(problem, ss.solvers.SpaRSA(steps="alternating"), tol=tol, max_iter=3000, record=False)
    assert found.converged and found.objective == pytest.approx(known.objective, rel=2.0 * tol)


def test_a_ratio_says_nothing_of_steps_that_are_all_long() -> None:
    problem = problem_on_text()
    assert set(ss.solvers.SpaRSA().idle(problem)) == {"ratio"}
    assert not ss.solvers.SpaRSA(steps="alternating").idle(problem)
    with pytest.raises(ValueError, match="SpaRSA: steps is 'short'; allowed: 'paper', 'alternating'"):
        ss.solvers.SpaRSA(steps="short")


def test_the_objective_may_rise_but_never_above_the_last_m_values() -> None:
    problem = problem_on_text()
    rises = {}
    for memory in (1, 5):
        solver = ss.solvers.SpaRSA(memory=memory, sigma=0.1)
        state = solver.init(problem)
        values = [problem.objective(state.weights())]
        for _ in range(60):
            before = state.coef.copy()
            solver.step(problem, state)
            values.append(problem.objective(state.weights()))
            worst = max(values[-1 - memory : -1])
            size = float(((state.coef - before) ** 2).sum())
            assert values[-1] <= worst - 0.05 / state.step_size * size + 1e-13 * worst
        rises[memory] = int((np.diff(values) > 1e-12).sum())
    assert rises[1] == 0 and rises[5] > 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_a_start_without_curvature_is_no_end(form: str, dtype: str, recwarn: pytest.WarningsRecorder) -> None:
    """Without an active hinge the loss is flat, the Barzilai–Borwein step 1e30 long, and the step not a number."""
    X = np.eye(6)[np.arange(60) % 6].astype(dtype)
    y = np.arange(60) % 6 // 2
    problem = ss.Problem(sp.csr_array(X) if form == "sparse" else X, y, lam=0.01)
    W = np.full((6, 3), -3.0)
    W[np.arange(6), np.arange(6) // 2] = 3.0
    solver = ss.solvers.SpaRSA()
    state = solver.init(problem, W)
    assert not state.U.any(), "no hinge is active"
    solver.step(problem, state)
    assert state.size > 0.0 and not state.U.any() and state.K == LEAST
    run = ss.Run(problem, solver, state=state, stop=Gap(1e-3) | Iterations(600))
    events = list(run)
    assert "certified" in events[-1].message and np.isfinite(state.coef).all()
    assert max(e.trials for e in events[1:]) <= 20
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


def test_a_longer_memory_and_a_stricter_test_reach_the_same_optimum() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, loss="logistic", penalty="elastic-net")
    problem = problem.with_lam(0.3 * problem.lam_max)
    known = ss.solve(problem, "bcd-ls", tol=1e-9, record=False)
    for settings in ({"memory": 20}, {"memory": 1}, {"sigma": 0.9}, {"growth": 5.0}):
        found = ss.solve(problem, ss.solvers.SpaRSA(**settings), tol=1e-8, max_iter=2000, record=False)
        assert found.converged and found.objective == pytest.approx(known.objective, rel=1e-7)
