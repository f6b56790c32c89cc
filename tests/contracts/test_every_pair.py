"""The contract of pairs: every loss goes with every penalty, with and without intercept, certified by `auto`.

The README and the pages say so because these tests do.
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import COVER, digits, fitting, iris, objective, random_point, tags
from sparsescope.registry import losses, penalties, solvers
from sparsescope.solvers.shared.hand_over import UNDERDETERMINED

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
# λ_reference of a loss with kinks takes dozens of linear programs, half a second for label sets: the fast cases take a
# smooth loss for the scale, whose λ_reference is four to ten times as large.
SCALED = [pytest.param(*case.values, False, id=case.id) for case in CASES if not losses[case.values[0]].smooth]
SCALED += [
    pytest.param(
        *case.values,
        True,
        id=f"{case.id}-own-scale",
        marks=case.marks if losses[case.values[0]].smooth else pytest.mark.slow,
    )
    for case in CASES
]


def scale_of(problem: ss.Problem, kind: str) -> float:
    """A fifth of λ_reference of the first smooth loss that takes these targets, with a score for each class."""
    fitting = (losses[name] for name in losses if kind in losses[name].target_types)
    smooth = next(loss for loss in fitting if loss.smooth and not loss.one_score)
    return 0.2 * problem.with_(loss=smooth).lam_reference


def data_for(loss: str, kind: str) -> tuple[Any, np.ndarray]:
    if kind == "sets":
        return tags()
    X, y = iris()
    return X, fitting(loss, y)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(("loss", "penalty", "kind", "own"), SCALED)
def test_auto_certifies_every_loss_with_every_penalty(
    loss: str, penalty: str, kind: str, own: bool, intercept: bool
) -> None:
    X, y = data_for(loss, kind)
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(0.1 * (problem.lam_reference if own else scale_of(problem, kind)))
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


@pytest.mark.parametrize("wide", [False, True], ids=["tall", "wide"])
@pytest.mark.parametrize(("loss", "penalty", "kind"), [case.values for case in CASES])
def test_auto_hands_every_pair_on_to_a_solver_that_takes_it(loss: str, penalty: str, kind: str, wide: bool) -> None:
    X, y = data_for(loss, kind)
    X = X.toarray() if hasattr(X, "toarray") else X
    if wide:
        X = np.tile(X, (1, UNDERDETERMINED * X.shape[0] // X.shape[1] + 1))
    weights = 1.0 + np.arange(X.shape[1]) // 5 % 3  # equal within a block
    for intercept, given, number in product((False, True), (None, weights), (0, 10**9)):
        natural = ss.Problem(
            X, y, loss=loss, penalty=penalty, intercept=intercept, lam=0.1, feature_weights=given
        ).natural
        for delegate in (solvers.create(name) for name in solvers if not solvers[name].delegates):
            if delegate.solves(natural) is not None:
                continue
            state = SimpleNamespace(
                delegate=delegate,
                chosen_at=0,
                iteration=number,
                failures=number,
                short=number,
                products=number,
                work=float(number) ** 2,
                sparse=False,
                coef=np.ones((natural.rows, natural.m)),
            )
            found = solvers.create("auto").successor(natural, state)
            assert found is None or (found[0].solves(natural) is None and found[0] != delegate and found[1])


@pytest.mark.parametrize("loss", [name for name in losses if not losses[name].smooth])
@pytest.mark.parametrize("penalty", ["ridge", "l1/l2"])
def test_a_start_at_the_certified_optimum_is_not_left(loss: str, penalty: str) -> None:
    X, y = tags() if "sets" in losses[loss].target_types else digits()
    problem = ss.Problem(X, y, loss=loss, penalty=penalty)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    known = ss.solve(problem, "auto", tol=1e-8, max_iter=1000, record=False)
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
