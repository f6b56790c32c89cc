"""Dual coordinate descent for the multiclass hinge with ridge: exact steps, valid bounds, warm starts, faces."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, in_turn, iris, objective, text
from sparsescope.kernels.dual_coordinates import sweep_all
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.dual_cd import DualCD, DualState
from sparsescope.solvers.shared import hand_over
from sparsescope.solvers.shared.dual_face import Face, descend

RIDGE = ss.penalties.Ridge()


@cache
def problem_on(name: str, lam: float = 0.01, margin: float = 1.0, **more: Any) -> ss.Problem:
    X, y = {"iris": iris, "digits": digits, "text": text}[name]()
    loss = ss.losses.CrammerSinger(margin=margin)
    return ss.Problem(X, y, loss=loss, penalty=RIDGE, lam=lam, **more)


def state_after(problem: ss.Problem, steps: int, **settings: Any) -> DualState:
    solver = DualCD(**settings)
    state = solver.init(problem)
    for _ in range(steps):
        solver.step(problem, state)
    assert isinstance(state, DualState)
    return state


def dual_value(state: DualState) -> float:
    """Value of the dual of F/λ, from the dual rows alone."""
    n = state.y.size
    X = np.asarray(state.design.matrix.todense() if sp.issparse(state.design.matrix) else state.design.matrix)
    own = np.eye(state.rows.shares.shape[1])[state.y]
    W = X.T @ (state.most[:, None] * own - state.rows.shares)
    return float(state.margin * (state.rows.shares * (1.0 - own)).sum() - 0.5 * (W**2).sum()) / n


# ---------------------------------------------------------------------------------------------------------- the steps
def test_a_step_is_the_exact_maximum_over_one_row_of_duals() -> None:
    problem = problem_on("iris")
    state = state_after(problem, 1)
    rng = np.random.default_rng(0)
    for i in rng.choice(problem.n, 12, replace=False):
        sweep_all(
            state.samples,
            state.squares,
            state.y,
            1.0,
            state.most,
            np.array([i]),
            1.0,
            state.rows,
            state.layout(state.V),
            state.report,
        )
        best, kept = dual_value(state), state.rows.shares[i].copy()
        for _ in range(30):
            other = rng.dirichlet(np.full(problem.m, 0.3)) * state.most[i]
            state.rows.shares[i] = kept + rng.choice([1.0, 0.1, 0.001]) * (other - kept)
            assert dual_value(state) <= best + 1e-12 * abs(best)
        state.rows.shares[i] = kept


@pytest.mark.parametrize("settings", [{}, {"inner": 0}, {"shrinking": False}], ids=str)
def test_the_dual_never_falls_and_its_rows_stay_on_their_simplices(settings: dict[str, Any]) -> None:
    problem = problem_on("text")
    solver, state = DualCD(**settings), state_after(problem, 0)
    value = dual_value(state)
    for _ in range(12):
        solver.step(problem, state)
        before, value = value, dual_value(state)
        assert value >= before - 1e-12 * abs(value)
        assert (state.rows.shares >= 0.0).all()
        np.testing.assert_allclose(state.rows.shares.sum(axis=1), state.most, rtol=1e-12)
    kept = state.V.copy()
    state.refresh()
    np.testing.assert_allclose(state.V, kept, atol=1e-10 * np.abs(kept).max())


def test_work_is_counted_from_nothing_and_goes_on() -> None:
    problem = problem_on("iris")
    state = DualCD().init(problem)
    assert state.work == 0.0
    DualCD().step(problem, state)
    first = state.work
    DualCD().step(problem, state)
    assert 0.0 < first < state.work


def test_conjugate_gradients_on_a_face_gain_what_they_say_and_keep_zeros() -> None:
    problem = problem_on("digits", lam=1e-3)
    state = state_after(problem, 3, faces=False)
    before, zeros = dual_value(state), state.rows.shares == 0.0
    gain, products = descend(Face(state.rows.shares, state.y, state.margin), state)
    assert gain > 0.0 and products >= 1.5
    assert dual_value(state) * problem.n == pytest.approx(before * problem.n + gain, rel=1e-10)
    assert not state.rows.shares[zeros].any()
    np.testing.assert_allclose(state.rows.shares.sum(axis=1), state.most, rtol=1e-10)
    kept = state.V.copy()
    state.refresh()
    np.testing.assert_allclose(state.V, kept, atol=1e-10 * np.abs(kept).max())


def test_the_objective_shown_does_not_jump_where_conjugate_gradients_end() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, loss="crammer-singer", penalty="ridge", lam=1.0 / len(y))
    solver, state = DualCD(), state_after(problem, 0)
    lowest, phases = np.inf, 0
    for _ in range(20):
        patience = state.faces.patience
        solver.step(problem, state)
        phases += state.faces.patience != patience
        objective = problem.objective(state.coef)
        assert objective <= 2.0 * lowest  # off its face such a step raises F many times over
        lowest = min(lowest, objective)
    assert phases > 0


# ------------------------------------------------------------------------------------------------------- what it finds
@pytest.mark.parametrize("name", ["iris", "text"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_never_exceeds_the_optimum_of_another_method(name: str, weighted: bool) -> None:
    problem = problem_on(name)
    if weighted:
        X, y = iris() if name == "iris" else text()
        weights = np.random.default_rng(1).uniform(0.2, 3.0, problem.n)
        problem = ss.Problem(X, y, loss="crammer-singer", penalty="ridge", lam=0.01, sample_weight=weights)
    known = ss.solve(problem, "pd-sparse", tol=1e-9, max_iter=4000, record=False, certify_every=10)
    run = ss.Run(problem, "dual-cd", stop=Gap(1e-9) | Iterations(2000))
    for event in run:
        assert event.dual <= known.objective * (1 + 1e-12) and event.objective >= known.dual * (1 - 1e-12)
        assert event.gap == event.objective - event.dual
    assert "certified" in run.message
    assert event.objective == pytest.approx(known.objective, rel=3e-9)
    assert 0.0 < event.dual_entries <= problem.m - 1 and 0.0 < event.active_share <= 1.0


@pytest.mark.parametrize("margin", [0.5, 4.0])
def test_the_margin_is_a_unit(margin: float) -> None:
    wide, plain = problem_on("iris", lam=0.02, margin=margin), problem_on("iris", lam=0.02 * margin)
    found, known = (ss.solve(p, "dual-cd", tol=1e-10, record=False) for p in (wide, plain))
    np.testing.assert_allclose(found.W, margin * known.W, atol=1e-4 * np.abs(found.W).max())


def test_samples_without_features_cost_the_margin_and_are_certified() -> None:
    X, y = iris()
    X = X.copy()
    X[[3, 57]] = 0.0
    problem = ss.Problem(X, y, loss="crammer-singer", penalty=RIDGE, lam=0.01)
    found = ss.solve(problem, "dual-cd", tol=1e-10, record=False)
    assert found.converged
    assert found.objective == pytest.approx(objective(X, y, problem.loss, RIDGE, 0.01, found.W), rel=1e-12)


# ------------------------------------------------------------------------------------------------- starts and changes
def test_a_change_of_lambda_shows_the_old_weights_until_there_are_better_ones() -> None:
    problem = problem_on("digits", lam=0.05)
    run = ss.Run(problem, "dual-cd", stop=Gap(1e-8))
    list(run)
    for lam in (0.02, 0.1):
        assert run.state is not None
        W = run.state.weights().copy()
        run.change(lam=lam)
        event = run.observe(certify_now=True)
        np.testing.assert_array_equal(run.state.weights(), W)
        assert event.objective == pytest.approx(run.problem.objective(W), rel=1e-12) and event.gap >= 0.0
        worst = event.objective
        run.stop = Gap(1e-8) | Iterations(run.state.iteration + 500)
        last = list(run)[-1]
        assert "certified" in last.message and last.objective <= worst
        cold = ss.solve(problem.with_lam(lam), "dual-cd", tol=1e-8, record=False)
        assert last.objective == pytest.approx(cold.objective, rel=3e-8)


@pytest.mark.parametrize(
    ("out_of", "into", "weighted"),
    in_turn(("dual-cd", "pd-sparse"), ("dual-cd", "pd-sparse", "ssnal", "fbpd"), (False, True)),
)
def test_the_dual_point_goes_with_a_switch_of_solver(out_of: str, into: str, weighted: bool) -> None:
    X, y = iris()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else None
    problem = ss.Problem(X, y, loss="crammer-singer", penalty="ridge", lam=0.02, sample_weight=weights)
    run = ss.Run(problem, out_of, stop=Gap(1e-9) | Iterations(500))
    list(run)
    run.change(solver=solvers.create(into, seed=5) if into == out_of else into)
    assert run.state is not None
    found = run.solver.certificate(problem.natural, run.state, problem.natural.workspace(run.state.sparse))
    assert found.relative_gap <= 1e-7, "that of the new state's own dual point"


def test_auto_hands_few_weights_on_where_sweeps_are_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_over, "LEAST_WORK", 0.0)
    X, y = iris()
    problem = ss.Problem(X, y, loss="crammer-singer", penalty="ridge", lam=1e-6)
    run = ss.Run(problem, "auto", stop=Gap(1e-6) | Iterations(5000))
    reasons = [run.reason for _ in run]
    assert "certified" in run.message and reasons[0].startswith("dual-cd: ")
    assert reasons[-1].startswith("ssnal: dual-cd did not end in")
    given = ss.solve(problem_on("iris"), "auto", W=np.ones((4, 3)), tol=1e-3, record=False)
    assert given.converged and "dual-cd" in given.reason


def test_a_copy_shares_the_data_and_goes_its_own_way() -> None:
    problem = problem_on("text")
    state = state_after(problem, 2)
    other = state.copy()
    assert (
        other.design is state.design and other.samples is state.samples and other.rows.shares is not state.rows.shares
    )
    kept = state.coef.copy()
    DualCD().step(problem, other)
    np.testing.assert_array_equal(state.coef, kept)
    assert not np.array_equal(other.coef, kept)
    np.testing.assert_allclose(other.Z, problem.design.matrix @ other.coef, atol=1e-12)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"penalty": "l1/l2"}, "needs the squared norm in the penalty.*: ridge, not"),
        ({"penalty": "elastic-net"}, "needs the squared norm in the penalty.*: ridge, not"),
        ({"loss": "logistic"}, "solves the hinge of the worst pair .crammer-singer. and no other loss"),
        ({"intercept": True}, "no unpenalised intercept.*add a column of ones"),
    ],
)
def test_it_refuses_in_words(parts: dict[str, Any], said: str) -> None:
    problem = ss.Problem(*iris(), **{"loss": "crammer-singer", "penalty": "ridge", "lam": 0.1} | parts)
    with pytest.raises(ValueError, match=said):
        ss.solve(problem, "dual-cd")
