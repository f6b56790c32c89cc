"""The proximal step on listed rows against the plain formulas on whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import (
    ROW_PENALTIES,
    block_prox,
    digits,
    forms,
    gradient,
    gradient_rows,
    interpreted,
    iris,
    loss_rows,
    penalty_rows,
    random_point,
    text,
)
from sparsescope.kernels.proximal import (
    OMEGA,
    REPORT,
    SIZE,
    SLOPE,
    TURN,
    extrapolate,
    list_rows,
    prox_listed,
    turned_gradient,
)
from sparsescope.registry import penalties, solvers


def problem_of(form: str, penalty: str, intercept: bool, dtype: str = "float64") -> ss.Problem:
    """A text problem with a small support."""
    matrix, y = text()
    problem = ss.Problem(dict(forms(matrix))[form].astype(dtype), y, penalty=penalty, intercept=intercept)
    return problem.with_lam(0.3 * problem.lam_reference)


def prox_all(problem: ss.Problem, V: np.ndarray, tau: float) -> np.ndarray:
    """The prox of every row but the intercept's."""
    out = V.copy()
    if problem.regulariser.blocks is not None:
        out[: problem.d] = block_prox(problem.penalty, V[: problem.d], tau)
        return out
    for j in range(problem.d):
        problem.penalty.prox(V[j], tau, out[j])
    return out


def gradient_of(problem: ss.Problem, coef: np.ndarray) -> np.ndarray:
    """The gradient of the loss with respect to the whole coefficient array."""
    d = problem.d
    G, g = gradient(problem.design.matrix, problem.y, problem.loss, coef[:d], coef[d] if problem.intercept else 0.0)
    return np.vstack([G, g[None]]) if problem.intercept else G


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("form", ["dense", "csc"])
def test_fista_is_fista_of_the_textbook(form: str, penalty: str, intercept: bool) -> None:
    problem = problem_of(form, penalty, intercept)
    solver = ss.solvers.FISTA(line_search=False, restart=True)
    W, b = random_point(problem, scale=0.3)
    state = solver.init(problem, W, b)
    now = old = state.coef.copy()
    t, K, restarts, supports = 1.0, state.K, 0, set()
    for _ in range(60):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        V = now + (t - 1.0) / following * (now - old)
        t = following
        new = prox_all(problem, V - gradient_of(problem, V) / K, problem.lam / K)
        if np.vdot(V - new, new - now) > 0.0:
            t, restarts = 1.0, restarts + 1
        now, old = new, now
        solver.step(problem, state)
        np.testing.assert_allclose(state.V, V, atol=1e-9)
        np.testing.assert_allclose(state.coef, now, atol=1e-9)
        assert state.t == t
        supports.add(tuple(np.flatnonzero(now[: problem.d].any(axis=1))))
    assert restarts and (len(supports) > 2) == penalties[penalty].zeroes_rows, "rows should leave, or nothing is tested"


@pytest.mark.parametrize("beta", [0.0, 0.6])
def test_fixed_momentum_is_the_same_in_every_step(beta: float) -> None:
    problem = problem_of("dense", "l1/l2", False)
    solver = ss.solvers.FISTA(line_search=False, momentum=beta)
    W, _ = random_point(problem, scale=0.3)
    state = solver.init(problem, W)
    now = old = state.coef.copy()
    for _ in range(30):
        V = now + beta * (now - old)
        now, old = prox_all(problem, V - gradient_of(problem, V) / state.K, problem.lam / state.K), now
        solver.step(problem, state)
        np.testing.assert_allclose(state.coef, now, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_step_reports_what_it_met(form: str, intercept: bool) -> None:
    problem = problem_of(form, "sparse-group", intercept)
    d, n = problem.d, problem.n
    solver = ss.solvers.FISTA(line_search=True)
    state = solver.init(problem)
    for _ in range(8):
        before = state.coef.copy()
        solver.step(problem, state)
        delta = state.coef - state.V
        G = gradient_of(problem, state.V)
        scores = problem.scores(state.V[:d], state.V[d] if intercept else None)
        assert state.f == pytest.approx(loss_rows(problem.loss, scores, problem.y).sum() / n, rel=1e-10)
        assert state.slope == pytest.approx(np.vdot(G, delta), rel=1e-8, abs=1e-14)
        assert state.size == pytest.approx(np.vdot(delta, delta), rel=1e-8, abs=1e-16)
        assert state.omega == pytest.approx(penalty_rows(problem.penalty, state.coef[:d]).sum(), rel=1e-12)
        assert state.turn == pytest.approx(np.vdot(-delta, state.coef - before), rel=1e-7, abs=1e-14)
        np.testing.assert_array_equal(state.used[:d], state.coef[:d].any(axis=1))
        after = loss_rows(problem.loss, np.asarray(state.Z), problem.y).sum() / n
        bound = state.f + state.slope + 0.5 * state.K * state.size
        assert after <= bound + 1e-12 * abs(after)


def test_only_rows_that_matter_are_stored_and_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of("csc", "l1/l2", False)
    state = solvers.create("ista").init(problem)
    lists: list[Any] = []
    matmul = problem.design.matmul
    monkeypatch.setattr(
        type(problem.design), "matmul", lambda self, coef, out, rows=None: lists.append(rows) or matmul(coef, out, rows)
    )
    for _ in range(30):
        solvers.create("ista").step(problem, state)
        np.testing.assert_array_equal(lists[-1], np.flatnonzero(state.weights().any(axis=1)))
        assert lists[-1].size <= state.count < problem.d
    assert 0 < lists[-1].size < problem.d / 2


# In single precision the functions of a penalty are those of test_penalties.py: two penalties stand for all.
STEPPED = [
    pytest.param(
        penalty, dtype, marks=() if dtype == "float64" or penalty in ("l1/l2", "l1/linf") else pytest.mark.slow
    )
    for penalty in ROW_PENALTIES
    for dtype in ("float64", "float32")
]


@pytest.mark.parametrize(("penalty", "dtype"), STEPPED)
def test_compiled_steps_do_what_the_interpreted_ones_do(penalty: str, dtype: str) -> None:
    problem = problem_of("csc", penalty, True, dtype)
    d, rows = problem.d, problem.rows
    tol = {"rtol": 1e-10, "atol": 1e-12} if dtype == "float64" else {"rtol": 1e-4, "atol": 1e-5}
    rng = np.random.default_rng(3)
    now, old = ((rng.standard_normal((rows, 4)) * (rng.random((rows, 1)) < 0.4)).astype(dtype) for _ in range(2))
    G = (rng.standard_normal((rows - 7, 4)) * 40.0).astype(dtype)
    stale, before = (rng.standard_normal((rows, 4)).astype(dtype) for _ in range(2))
    now[::3, 1] = old[::4, 2] = 0.0  # single entries, too
    lengths = rng.uniform(0.5, 2.0, rows)
    ends = []
    for first, second, third in (
        (list_rows, prox_listed, extrapolate),
        tuple(map(interpreted, (list_rows, prox_listed, extrapolate))),
    ):
        V, V_used, kept, listed = stale.copy(), np.ones(rows, np.uint8), before.copy(), np.full(rows, -1)
        now_used, old_used = (point.any(axis=1).astype(np.uint8) for point in (now, old))
        bend, parts = np.ones(2), (problem.lam, problem.penalty, d, now_used, old_used)
        count = first(G, 7, 0.01, now, old, 0.6, *parts, V, V_used, kept, listed, 2, lengths, bend)
        listed = listed[2:count]
        out, used, report = old.copy(), old_used.copy(), np.zeros(REPORT)
        second(listed, V, kept, now, 0.3, lengths, problem.lam, problem.penalty, d, out, used, report)
        far = old.copy()
        third(now, far, problem.dtype.type(0.6))
        ends.append((listed, V, V_used, kept, out, used, report, far, bend))
    for compiled, plain in zip(*ends, strict=True):
        np.testing.assert_allclose(compiled, plain, **tol)
    listed, V, V_used, kept, out, used, report, far, bend = ends[0]
    np.testing.assert_allclose(far, now + 0.6 * (now - old), **tol)
    np.testing.assert_allclose(V[listed], far[listed], **tol)
    left_out = np.setdiff1d(np.arange(7, rows), listed)
    assert not V[left_out].any() and not V_used[left_out].any() and not (now[left_out].any() or old[left_out].any())
    assert left_out.size > 0 or not problem.penalty.zeroes_rows
    np.testing.assert_array_equal(V[:7], stale[:7])  # rows of other blocks are not touched
    gradient = scattered(kept, listed, G)
    for j in range(7, rows):
        own = 0.3 * lengths[j]
        full = prox_all(problem, far - dtype_step(own, dtype) * gradient, own * problem.lam)
        np.testing.assert_allclose(out[j], full[j], rtol=1e-5, atol=1e-5)
    turned = np.where(now != old, gradient - before, 0.0)[7:]
    assert np.count_nonzero(turned) > 10
    assert bend[0] == pytest.approx(1.0 + float(((now - old)[7:] * turned).sum()), rel=1e-4)
    assert bend[1] == pytest.approx(1.0 + float((lengths[7:, None] * turned**2).sum()), rel=1e-4)
    delta = (out - V)[listed]
    assert report[SLOPE] == pytest.approx(float((kept[listed] * delta).sum()), rel=1e-4)
    assert report[SIZE] == pytest.approx(float((delta**2 / lengths[listed, None]).sum()), rel=1e-4)
    assert report[OMEGA] == pytest.approx(penalty_rows(problem.penalty, out[listed[listed < d]]).sum(), rel=1e-4)
    assert report[TURN] == pytest.approx(float((-delta * (out - now)[listed]).sum()), rel=1e-4)


def dtype_step(step: float, dtype: str) -> Any:
    """The step as a number of the given precision."""
    return np.dtype(dtype).type(step)


def scattered(kept: np.ndarray, listed: np.ndarray, G: np.ndarray) -> np.ndarray:
    """The gradient of all rows: what was kept, and what a row that was left out would have had."""
    full = np.vstack([np.zeros((7, G.shape[1])), 0.01 * G]).astype(G.dtype)
    np.testing.assert_allclose(full[listed], kept[listed], rtol=1e-5)
    return full


def test_the_turn_of_the_gradient_is_that_of_the_weights() -> None:
    X, y = digits()
    problem = ss.Problem(X, y)
    (A, _), (B, _) = random_point(problem, seed=1), random_point(problem, seed=2)
    old_Z, Z = problem.scores(A), problem.scores(B)
    old_U, U = gradient_rows(problem.loss, old_Z, y), np.full_like(Z, np.nan)
    total, turn = turned_gradient(Z, old_Z, problem.y, problem.loss, old_U, U)
    np.testing.assert_allclose(U, gradient_rows(problem.loss, Z, y), atol=1e-12)
    assert total == pytest.approx(loss_rows(problem.loss, Z, y).sum(), rel=1e-12)
    expected = np.vdot(B - A, problem.gradient(B) - problem.gradient(A))
    assert turn / problem.n == pytest.approx(expected, rel=1e-10)
    again = interpreted(turned_gradient)(Z, old_Z, problem.y, problem.loss, old_U, np.empty_like(Z))
    np.testing.assert_allclose(again, (total, turn), rtol=1e-12)


def test_ista_and_fista_share_their_settings_but_for_the_restart() -> None:
    names = {name: [f.name for f in solvers.fields(name)] for name in ("ista", "fista-cst", "fista-ls")}
    assert names["ista"] == ["line_search", "constants", "growth", "step_length"]
    assert names["fista-cst"] == names["fista-ls"] == ["constants", "growth", "step_length", "restart", "momentum"]
    assert ss.solvers.FISTA().line_search and not ss.solvers.ISTA().line_search
    assert ss.solvers.FISTA(growth=3.0) == ss.solvers.FISTA(growth=3.0, line_search=True) != ss.solvers.FISTA()
    with pytest.raises(ValueError, match=r"FISTA: growth is 1.0; allowed: 1.1 to 10"):
        ss.solvers.FISTA(growth=1.0)
    with pytest.raises(ValueError, match="ISTA: constants is 'tigth'; did you mean 'tight'"):
        ss.solvers.ISTA(constants="tigth")


@pytest.mark.parametrize("growth", [1.1, 2.0])
def test_a_line_search_does_not_stall_where_values_differ_by_rounding_only(growth: float) -> None:
    problem = ss.Problem(*iris(), loss="logistic", penalty="l1")
    problem = problem.with_lam(0.1 * problem.lam_max)
    solver = solvers.create("ista", line_search=True, growth=growth)
    found = ss.solve(problem, solver, tol=1e-10, max_iter=5000, record=False, certify_every=10)
    assert found.converged, found
