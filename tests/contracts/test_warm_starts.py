"""The contract of warm starts: from any given weights every solver goes on, and never leaves a certified point for a
worse one. Sizes are below and above the number of features from which solvers restrict themselves to some of them."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import PREDICTING
from sparsescope.registry import solvers
from sparsescope.solvers.shared.restriction import FEWEST

SIZES = [30, FEWEST + 30]  # features, on both sides of the threshold


@cache
def unscaled_problem(d: int, loss: str, penalty: str, intercept: bool = False) -> ss.Problem:
    """60 samples of three classes, of which every tenth feature tells something; λ is that of any new problem."""
    rng = np.random.default_rng(d)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, d))
    X[:, ::10] += rng.standard_normal((3, X[:, ::10].shape[1]))[y]
    return ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept)


@cache
def problem_of(d: int, loss: str, penalty: str, intercept: bool = False, share: float = 0.3) -> ss.Problem:
    """Return the same at a share of the reference λ, which is computed for it."""
    problem = unscaled_problem(d, loss, penalty, intercept)
    return problem.with_lam(share * problem.lam_reference)


@cache
def optimum_of(d: int, loss: str, penalty: str) -> ss.Result:
    found = ss.solve(problem_of(d, loss, penalty), "auto", tol=1e-8, max_iter=60_000, record=False, certify_every=20)
    assert found.converged, found
    return found


def dense_weights(problem: ss.Problem) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((problem.d, problem.m))


# ---------------------------------------------------------------------------------------------- from any weights
@pytest.mark.parametrize("penalty", ["l1/l2", "l1"])
@pytest.mark.parametrize("d", SIZES)
def test_fbpd_goes_on_from_dense_weights(d: int, penalty: str) -> None:
    problem = problem_of(d, "crammer-singer", penalty)
    start = dense_weights(problem)
    found = ss.solve(problem, "fbpd", W=start, tol=1e-5, max_iter=20_000, record=False, certify_every=20)
    assert found.converged, found
    known = optimum_of(d, "crammer-singer", penalty)
    assert found.objective == pytest.approx(known.objective, rel=2e-5) and found.W.any()


def test_a_switch_to_fbpd_from_dense_weights_goes_on() -> None:
    problem = problem_of(SIZES[1], "crammer-singer", "l1/l2")
    run = ss.Run(problem, "fobos", stop=ss.stopping.Iterations(2))
    list(run)
    assert np.count_nonzero(run.state.weights().any(axis=1)) > problem.d / 2
    run.change(solver=ss.solvers.FBPD())
    run.stop = ss.stopping.Gap(1e-4) | ss.stopping.Iterations(20_000)
    assert "certified" in list(run)[-1].message


# ---------------------------------------------------------------------------------------------- what is no number
@pytest.mark.parametrize("name", ["coef", "Z", "Y"])
def test_a_run_ends_with_a_sentence_when_anything_in_its_state_is_no_number(name: str) -> None:
    problem = problem_of(SIZES[0], "crammer-singer", "l1/l2")
    run: Any = ss.Run(problem, "fbpd")
    for _ in range(3):
        run.advance()
    getattr(run.state, name)[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match=r"fbpd diverged at iteration 2: .* not finite.* choose a larger λ"):
        run.observe(certify_now=True)


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "crammer-singer"])
def test_a_start_out_of_range_is_refused_for_what_it_is(loss: str) -> None:
    problem = problem_of(SIZES[0], loss, "l1/l2")
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="starting point is out of range") as caught:
        ss.solve(problem, "auto", W=1e200 * dense_weights(problem))
    assert "choose a larger λ" not in str(caught.value) and "Start from smaller W" in str(caught.value)


# ---------------------------------------------------------------------------------------------- from a certified point
def certified_cases() -> list[Any]:
    """Every solver of predictions, with a loss and a penalty that it solves, on both sides of the threshold.

    Nothing is compiled for it: each worker of pytest asks, before its first test.
    """
    found = []
    for name in PREDICTING:
        kind = solvers[name]
        if not kind.follows_lam or kind.sparse:
            continue
        loss = kind.losses[0] if kind.losses else "multiclass-squared-hinge"
        fitting = [p for p in ("l1/l2", "l1", "ridge") if not kind.only_penalties or p in kind.only_penalties]
        taken = [p for p in fitting if solvers.create(name).solves(unscaled_problem(SIZES[0], loss, p)) is None]
        for penalty, d in product(taken, SIZES):
            # With few features, where nothing is restricted, the first penalty stands for the others.
            slow = d < FEWEST and penalty != taken[0]
            marks = pytest.mark.slow if slow else ()
            found.append(pytest.param(name, loss, penalty, d, id=f"{name}-{penalty}-{d}", marks=marks))
    return found


@pytest.mark.parametrize(("name", "loss", "penalty", "d"), certified_cases())
def test_a_certified_point_is_never_left_for_a_worse_one(name: str, loss: str, penalty: str, d: int) -> None:
    problem, known = problem_of(d, loss, penalty), optimum_of(d, loss, penalty)
    for limit in (0, 1, 40):
        found = ss.solve(problem, name, W=known.W, tol=1e-12, max_iter=limit, record=False)
        rounding = 1e-13 * abs(known.objective)
        assert found.objective <= known.objective + rounding, found
        assert found.gap == found.objective - found.dual and found.objective - known.objective <= found.gap + rounding
        assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.parametrize("penalty", ["ridge", "elastic-net"])
@pytest.mark.parametrize("d", SIZES)
def test_separation_ranking_keeps_its_optimum(d: int, penalty: str) -> None:
    problem = problem_of(d, "separation-ranking", penalty)
    known = ss.solve(problem, "pd-sparse", tol=1e-5, max_iter=5000, record=False)
    assert known.converged
    again = ss.solve(problem, "auto", W=known.W, tol=1e-6, max_iter=50, record=False)
    assert again.objective <= known.objective * (1 + 1e-13)
    assert again.gap >= again.objective - known.objective
