"""The Crammer–Singer hinge: against linear programs, because no gradient method may solve it to the end."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import PREDICTING, hinge_program, iris, loss_rows
from sparsescope.registry import solvers

LOSS = ss.losses.CrammerSinger()
each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])


def unequal() -> tuple[np.ndarray, np.ndarray]:
    """iris with a class that more than half of the samples have."""
    X, y = iris()
    return X, np.where(np.arange(y.size) < 45, 0, y)


@cache
def solved(intercept: bool, share: float = 0.2) -> tuple[ss.Problem, float, Any, Any]:
    X, y = iris()
    problem = ss.Problem(X, y, loss=LOSS, penalty="l1", intercept=intercept)
    problem = problem.with_lam(share * problem.lam_max)
    return problem, *hinge_program(X, y, problem.lam, intercept)


@each_intercept
def test_the_objective_is_the_linear_programs(intercept: bool) -> None:
    problem, value, W, b = solved(intercept)
    assert problem.objective(W, b) == pytest.approx(value, rel=1e-9)


@each_intercept
def test_the_gap_is_true_and_does_not_close(intercept: bool) -> None:
    problem, value, W, b = solved(intercept)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.01, 0.3, 2.0):
        V = W + scale * rng.standard_normal(W.shape)
        c = b + scale * rng.standard_normal(3) if intercept else None
        at = problem.certificate(V, c)
        assert at.dual <= value + 1e-10 and at.gap >= at.objective - value - 1e-10
    assert problem.certificate(W, b).relative_gap > 0.05, "a plain subgradient proves little at the optimum (MATH §3)"


@each_intercept
@pytest.mark.parametrize("data", [iris, unequal], ids=["balanced", "majority"])
def test_lam_max_is_where_the_first_weight_comes_in(intercept: bool, data: Any) -> None:
    X, y = data()
    problem = ss.Problem(X, y, loss=LOSS, penalty="l1", intercept=intercept)
    null = problem.objective(np.zeros((problem.d, problem.m)), problem.null_intercept if intercept else None)
    value, W, _ = hinge_program(X, y, 1.0001 * problem.lam_max, intercept)
    assert value == pytest.approx(null, rel=1e-9) and np.abs(W).max() < 1e-8
    assert problem.lam_max_slack < 1e-6
    value, W, _ = hinge_program(X, y, 0.999 * problem.lam_max, intercept)
    assert value < null * (1 - 1e-7) and np.abs(W).max() > 1e-5


@pytest.mark.parametrize("data", [iris, unequal], ids=["balanced", "majority"])
@pytest.mark.parametrize("margin", [0.5, 2.0])
def test_the_null_intercept_is_the_linear_programs(data: Any, margin: float) -> None:
    X, y = data()
    problem = ss.Problem(X, y, loss=ss.losses.CrammerSinger(margin=margin), intercept=True)
    value, _, _ = hinge_program(0 * X, y, 1.0, True, margin)
    zero = np.zeros((problem.d, problem.m))
    assert problem.objective(zero, problem.null_intercept) == pytest.approx(value, rel=1e-9)
    assert problem.null_intercept.any() == (data is unequal)


@pytest.mark.parametrize("shares", [[0.25] * 4, [0.5, 0.3, 0.2], [0.7, 0.2, 0.1], [0.45, 0.45, 0.1, 0.0], [0.6, 0.4]])
def test_null_subgradients_balance_and_are_subgradients(shares: list[float]) -> None:
    weights = np.array(shares)
    m = weights.size
    b = LOSS.null_intercept(weights)
    rng = np.random.default_rng(0)
    for intercept in (True, False):
        U = LOSS.null_subgradients(weights, intercept)
        at = b if intercept else np.zeros(m)
        if intercept:
            assert np.abs(weights @ U).max() < 1e-12
        for c in np.flatnonzero(weights):
            assert np.isfinite(LOSS.conjugate(U[c], int(c)))
            for _ in range(30):
                z = at + rng.standard_normal(m)
                assert LOSS.value(z, int(c)) >= LOSS.value(at, int(c)) + U[c] @ (z - at) - 1e-12


def test_the_margin_is_a_unit() -> None:
    rng = np.random.default_rng(0)
    wide = ss.losses.CrammerSinger(margin=4.0)
    Z, y = rng.standard_normal((20, 5)), np.arange(20) % 5
    for z, c in zip(Z, y, strict=True):
        assert wide.value(4 * z, c) == pytest.approx(4 * LOSS.value(z, c))
    np.testing.assert_allclose(loss_rows(wide, 4 * Z, y), 4 * loss_rows(LOSS, Z, y))
    for bad in (0.0, -1.0, 11.0):
        with pytest.raises(ValueError, match=r"margin is .*allowed: 0\.01 to 10"):
            ss.losses.CrammerSinger(margin=bad)


def test_where_the_loss_is_zero_the_subgradient_is_too_and_equal_scores_share_it() -> None:
    g = np.zeros(4)
    assert LOSS.gradient(np.array([2.0, 1.0, 0.5, 0.0]), 0, 1.0, g, np.empty(4)) == 0.0 and not g.any()
    assert LOSS.gradient(np.zeros(4), 1, 3.0, g, np.empty(4)) == 1.0
    np.testing.assert_allclose(g, [1.0, -3.0, 1.0, 1.0])


def takes(name: str) -> bool:
    """Return whether a solver takes the loss, with a penalty that it is for."""
    penalty = (*solvers[name].only_penalties, "l1/l2")[0]
    return solvers.create(name).solves(ss.Problem(*iris(), loss=LOSS, penalty=penalty)) is None


def test_methods_that_need_a_gradient_say_so() -> None:
    problem, *_ = solved(False)
    refused = [name for name in PREDICTING if not solvers[name].losses and not takes(name)]
    assert {"bcd-ls", "bcd-cst", "ista", "fista-cst", "fista-ls", "sparsa"} <= set(refused)
    for name in refused:
        assert "Crammer–Singer hinge" in str(solvers.create(name).solves(problem))
        with pytest.raises(ValueError, match="Crammer–Singer"):
            ss.solve(problem, name)
    with pytest.raises(TypeError, match="no Lipschitz constant"):
        problem.full_constant("tight")


@pytest.mark.parametrize("name", [name for name in PREDICTING if takes(name) and not solvers[name].converges])
@each_intercept
def test_methods_that_take_it_come_near_the_optimum(name: str, intercept: bool) -> None:
    problem, value, _, _ = solved(intercept)
    found = ss.solve(problem, name, tol=1e-9, max_iter=1500, record=False, certify_every=100)
    assert value - 1e-10 <= found.objective <= 1.05 * value
    assert not found.converged, "its gap does not close"
