"""The contract of pairs: every loss goes with every penalty, with and without intercept, certified by `auto`.

The README and the pages say so because these tests do.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import COVER, digits, fitting, iris, objective, random_point, tags
from sparsescope.registry import losses, penalties, solvers

TOL = 1e-6
# What a pair costs here is its compilation. Smooth losses meet every penalty in test_solvers.py, too: those that are
# not in the fast part there are left to `make test-all`.
CASES = [
    pytest.param(
        loss,
        penalty,
        kind,
        id=f"{loss}+{penalty}+{kind}",
        marks=pytest.mark.slow if losses[loss].smooth and (loss, penalty) not in COVER else (),
    )
    for loss, penalty in product(losses, penalties)
    for kind in losses[loss].target_types
]


def data_for(loss: str, kind: str) -> tuple[Any, np.ndarray]:
    if kind == "sets":
        return tags()
    X, y = iris()
    return X, fitting(loss, y)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(("loss", "penalty", "kind"), CASES)
def test_auto_certifies_every_loss_with_every_penalty(loss: str, penalty: str, kind: str, intercept: bool) -> None:
    X, y = data_for(loss, kind)
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    found = ss.solve(problem, "auto", tol=TOL, max_iter=20_000, record=False, certify_every=10)
    assert found.converged, found
    W = found.W.toarray() if hasattr(found.W, "toarray") else found.W
    b = 0.0 if found.b is None else found.b
    value = objective(X, y, problem.loss, problem.penalty, problem.lam, W, b)
    assert value == pytest.approx(found.objective, rel=1e-9), "the objective is that of the formulas"
    # The bound is one: nothing near the solution, and not zero, lies below it.
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-4, 1e-2):
        step, _ = random_point(problem, seed=int(1e4 * size))
        near = W + size * step
        shift = size * rng.standard_normal(problem.m) if intercept else 0.0
        assert objective(X, y, problem.loss, problem.penalty, problem.lam, near, b + shift) >= found.dual - 1e-12
    assert (
        problem.objective(np.zeros((problem.d, problem.m)), problem.null_intercept if intercept else None) >= found.dual
    )


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "penalty", "kind"), [case.values for case in CASES])
def test_auto_certifies_every_pair_with_weights(loss: str, penalty: str, kind: str) -> None:
    X, y = data_for(loss, kind)
    rng = np.random.default_rng(1)
    of_samples = rng.integers(0, 4, X.shape[0]) + 0.5
    of_features = np.repeat(rng.uniform(0.5, 2.0, X.shape[1] // 5 + 1), 5)[: X.shape[1]]  # equal within a block
    for intercept in (False, True):
        for feature_weights in (None, of_features):
            problem = ss.Problem(
                X,
                y,
                loss=loss,
                penalty=penalty,
                intercept=intercept,
                sample_weight=of_samples,
                feature_weights=feature_weights,
            )
            problem = problem.with_lam(0.1 * problem.lam_reference)
            found = ss.solve(problem, "auto", tol=TOL, max_iter=20_000, record=False, certify_every=10)
            assert found.converged, (intercept, feature_weights is not None, found)


@pytest.mark.parametrize("loss", [name for name in losses if not losses[name].smooth])
@pytest.mark.parametrize("penalty", ["ridge", "l1/l2"])
def test_a_start_at_the_certified_optimum_is_not_left(loss: str, penalty: str) -> None:
    X, y = tags() if "sets" in losses[loss].target_types else digits()
    problem = ss.Problem(X, y, loss=loss, penalty=penalty)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    known = ss.solve(problem, "fbpd", tol=1e-8, max_iter=60_000, record=False, certify_every=50)
    assert known.converged
    found = ss.solve(problem, "auto", W=known.W, tol=TOL, max_iter=20_000, record=False, certify_every=10)
    assert found.converged and found.objective <= known.objective * (1.0 + TOL)


def test_every_registered_loss_with_kinks_has_a_solver_that_proves_it() -> None:
    for name in losses:
        if not losses[name].smooth:
            X, y = data_for(name, losses[name].target_types[0])
            problem = ss.Problem(X, y, loss=name)
            assert any(
                solvers[s].converges and solvers.create(s).solves(problem) is None for s in solvers if s != "auto"
            )
