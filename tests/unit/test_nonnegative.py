"""Penalties that keep W ≥ 0: not symmetric, so every sign in prox, certificate and λ_max counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import sparsescope as ss
from helpers import iris
from sparsescope.registry import solvers

PENALTIES = [
    ss.penalties.L1(nonnegative=True),
    ss.penalties.ElasticNet(rho=0.5, nonnegative=True),
    ss.penalties.L1L2(nonnegative=True),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=lambda part: part.plain_name)


def problem_with(penalty: Any, loss: str = "logistic", **given: Any) -> ss.Problem:
    return ss.Problem(*iris(), loss=loss, penalty=penalty, lam_ratio=0.1, **given)


def claiming(problem: ss.Problem) -> list[str]:
    """Solvers that say they solve a problem and can prove it: no stochastic ones."""
    return [
        name
        for name in solvers
        if "prediction" in solvers[name].kinds
        and solvers[name].converges
        and solvers.create(name).solves(problem) is None
    ]


@pytest.mark.parametrize("intercept", [False, True])
def test_the_optimum_is_that_of_a_solver_with_bounds(intercept: bool) -> None:
    problem = problem_with(PENALTIES[0], intercept=intercept)
    d, m = problem.d, problem.m

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat[: d * m].reshape(d, m)
        b = flat[d * m :] if intercept else None
        slope = problem.gradient(W, b)
        G, g = slope if intercept else (slope, np.empty(0))
        G = G + problem.lam
        return problem.objective(W, b), np.concatenate([G.ravel(), g])

    bounds = [(0.0, None)] * (d * m) + [(None, None)] * (m if intercept else 0)
    found = minimize(
        objective,
        np.zeros(len(bounds)),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    result = ss.solve(problem, "fista-ls", restart=True, tol=1e-9)
    assert result.converged
    assert result.objective == pytest.approx(found.fun, rel=1e-7)
    assert result.objective <= found.fun * (1 + 1e-9)


@every_penalty
def test_every_solver_that_claims_it_certifies_the_optimum(penalty: Any) -> None:
    problem = problem_with(penalty).with_(lam_ratio=0.5)  # slow methods come to it soon
    reference = ss.solve(problem, "fista-ls", restart=True, tol=1e-9, max_iter=50_000)
    assert reference.converged and (reference.W >= 0.0).all() and reference.W.any()
    names = claiming(problem)
    assert {"auto", "bcd-ls", "working-set"} <= set(names)
    for name in names:
        result = ss.solve(problem, name, tol=1e-6, max_iter=50_000, record=False)
        assert result.converged, f"{name}: {result.message}, gap {result.relative_gap}"
        assert (result.W >= 0.0).all()
        assert result.objective == pytest.approx(reference.objective, rel=1e-6)


@every_penalty
def test_the_exact_hinge_goes_with_it(penalty: Any) -> None:
    result = ss.solve(problem_with(penalty, "crammer-singer"), "fbpd", tol=1e-5, max_iter=50_000)
    assert result.converged and (result.W >= 0.0).all()


@every_penalty
def test_lam_max_is_where_the_first_weight_enters(penalty: Any) -> None:
    problem = problem_with(penalty)
    above = ss.solve(problem.with_(lam_ratio=1.0 + 1e-6), "bcd-ls", tol=1e-9)
    below = ss.solve(problem.with_(lam_ratio=0.99), "bcd-ls", tol=1e-9)
    assert not above.W.any() and below.W.any()


@pytest.mark.parametrize("name", ["lhac", "newglmnet", "pd-sparse"])
def test_methods_of_signed_weights_refuse(name: str) -> None:
    loss = "crammer-singer" if name == "pd-sparse" else "logistic"
    with pytest.raises(ValueError, match="non-negative"):
        ss.Run(problem_with(PENALTIES[1], loss), name)
