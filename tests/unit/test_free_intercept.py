"""An intercept with sparse X: sweeps over the exact model eliminate it, working sets are left without it, openings come
before it is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import first_model, whole_hessians
from sparsescope.kernels.coordinates import REPORT
from sparsescope.kernels.sweeps import both
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap
from sparsescope.solvers import working_set
from sparsescope.solvers.shared.gradient_steps import may_open, opens, opens_on_most
from sparsescope.solvers.shared.rows_or_entries import prefers_rows

LOSSES = ("logistic", "multiclass-squared-hinge", "multitask-squared-hinge", "squared", "binary-logistic")


def counts(n: int = 120, d: int = 40, m: int = 3) -> tuple[sp.csc_array, np.ndarray]:
    """Counts of words, of which each class has some more often than the others, and classes of different sizes."""
    rng = np.random.default_rng(3)
    y = np.minimum(rng.geometric(0.5, n) - 1, m - 1)
    rates = np.exp(rng.normal(-2.0, 1.0, d)) * np.exp(0.8 * rng.standard_normal((m, d)))[y]
    return sp.csc_array(rng.poisson(rates).astype(float)), y


def words(loss: str = "logistic", share: float = 0.1, **parts: Any) -> ss.Problem:
    X, y = counts()
    y = np.minimum(y, 1) if loss.startswith("binary") else y
    return ss.Problem(X, y, loss=loss, lam_ratio=share, **({"penalty": "l1", "intercept": True} | parts))


def slopes(problem: ss.Problem, R: np.ndarray) -> np.ndarray:
    """X̃ᵀR with a column of ones for the intercept, flat."""
    X = np.hstack([problem.design.matrix.toarray(), np.ones((problem.n, 1))])
    return np.asarray(X.T @ R).ravel()


@pytest.mark.parametrize("loss", LOSSES)
def test_after_each_sweep_the_intercept_solves_the_model(loss: str) -> None:
    problem = words(loss)
    state, model, part = first_model(problem)
    U, new, report = state.U / problem.n, part.w.copy(), np.zeros(REPORT)
    X = np.hstack([problem.design.matrix.toarray(), np.ones((problem.n, 1))])
    place = model.walk(problem, part, 1)
    for sweeps in (1, 2, 400):
        model.sweep(problem, part, new, report, sweeps=sweeps, share=0.0, floor=1e-13, margin=0.01, place=place)
        move = (new - part.w).reshape(-1, problem.m)
        bent = U + np.einsum("ikl,ik->il", whole_hessians(model.C), X @ move)
        np.testing.assert_allclose(model.R, bent, atol=1e-12, err_msg="R follows the intercept, too")
        np.testing.assert_allclose(model.R.sum(axis=0), 0.0, atol=1e-12)
        slope = slopes(problem, model.R) + part.ridge * new
        inside = np.maximum(np.abs(slope) - part.t, 0.0)
        wrong = np.where(new != 0.0, np.abs(slope + part.t * np.sign(new)), inside)
    assert wrong.max() < 1e-12 and (new != 0.0).any() and (new == 0.0).any()


def test_an_intercept_is_a_coordinate_among_others_where_columns_are_dense() -> None:
    X, y = counts()
    dense = ss.Problem(X.toarray(), y, lam_ratio=0.1, penalty="l1", intercept=True)
    without = words(intercept=False)
    for problem, free in ((dense, 0), (without, 0), (words(), 3)):
        _, model, part = first_model(problem)
        assert model.walk(problem, part, 1).shift.size == free


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_it_ends_where_sweeps_over_rows_do(loss: str, penalty: str) -> None:
    problem = words(loss, 0.03, penalty=penalty)
    found = ss.solve(problem, "newglmnet", tol=1e-9, max_iter=1000)
    other = ss.solve(problem, "bcd-ls", tol=1e-9, max_iter=10**5)
    assert found.converged and other.converged
    assert found.objective == pytest.approx(other.objective, rel=1e-8)


def test_single_precision_and_a_class_without_curvature() -> None:
    """Hinges that are all flat, and rounding of scores that move together, give the intercept no place to go."""
    X, y = counts()
    single = ss.Problem(X.astype(np.float32), y, lam_ratio=0.05, penalty="l1", intercept=True)
    found = ss.solve(single, "newglmnet", tol=1e-4, max_iter=300)
    assert found.converged and np.isfinite(found.W).all() and np.abs(found.b).max() < 1e3
    far = words("multiclass-squared-hinge", 0.01)
    start = np.zeros((far.d, far.m)), np.array([100.0, 0.0, -100.0])
    found = ss.solve(far, "newglmnet", W=start[0], b=start[1], tol=1e-8, max_iter=1000)
    assert found.converged


def test_openings_come_before_features_with_an_intercept_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = (X[:, :4] + np.arange(4) + rng.gumbel(size=(300, 4))).argmax(axis=1)
    for intercept in (False, True):
        problem = ss.Problem(X, y, lam_ratio=0.01, penalty="l1", intercept=intercept)
        run: Any = ss.Run(problem, "newglmnet", stop=Gap(1e-6))
        passes = [event.passes for event in run]
        assert passes[1] > 5.0, "gradient steps, each of two passes"
        assert run.state.coef[problem.d :].any() == intercept


def test_gradient_steps_do_not_open_on_words_with_an_intercept_nor_on_tangled_columns() -> None:
    assert opens(words(penalty="elastic-net", intercept=False)) and not opens(words(penalty="elastic-net"))
    rng = np.random.default_rng(0)
    together = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 150)) + 0.1 * rng.standard_normal((200, 150))
    apart = rng.standard_normal((200, 150))
    for X, share, answer in ((together, 0.1, False), (together, 0.01, True), (apart, 0.1, True)):
        problem = ss.Problem(X, np.arange(200) % 3, lam_ratio=share, penalty="l1/l2")
        assert may_open(problem) is answer and opens_on_most(problem, np.ones(problem.d)) is answer


def test_a_working_set_is_left_when_its_rows_are_solved_whatever_the_intercept_was_off_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = counts(200, 150)
    problem = ss.Problem(0.01 * X, y, lam_ratio=0.1, penalty="l1/l2", intercept=True)
    solver: Any = solvers.create("working-set", newton=False)
    residuals: list[float] = []

    def noted(rows: Any, intercept: Any) -> Any:
        residuals[:] = rows.residual, intercept.residual
        return both(rows, intercept)

    monkeypatch.setattr(working_set, "both", noted)

    def swept(target: float) -> Any:
        state: Any = solver.init(problem)
        state.coef[problem.d] += np.array([1.0, 0.0, -1.0])
        problem.design.matmul(state.coef, state.Z)
        solver._choose(problem, state)
        state.target = target
        for _ in solver._sweep(problem, state):
            pass
        return state

    assert swept(0.0).chosen is not None
    of_rows, of_intercept = residuals
    assert of_intercept > 2.0 * of_rows and swept(0.5 * of_intercept).chosen is None


def test_rows_or_entries_of_words_with_a_ridge() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(4000, 2000, 0.002, random_state=0))
    for m, intercept, rows in ((9, False, True), (9, True, False), (20, True, True)):
        y = rng.permutation(np.arange(4000) % m)
        problem = ss.Problem(X, y, lam=0.01, penalty="elastic-net", intercept=intercept)
        assert prefers_rows(problem) is rows
