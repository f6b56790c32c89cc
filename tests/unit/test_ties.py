"""Data on which solutions are not unique or classes are hardly there: what comes out is certified, and repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import PREDICTING, iris


def doubled() -> tuple[np.ndarray, np.ndarray]:
    """Iris with its third column three times, and a constant one."""
    X, y = iris()
    return np.column_stack([X, X[:, 2], X[:, 2], np.ones(len(X))]), y


def lonely() -> tuple[np.ndarray, np.ndarray]:
    """Two classes, one of them with a single sample."""
    X, _ = iris()
    return X[:40], (np.arange(40) == 7).astype(np.int64)


def problem_for(name: str, X: Any, y: Any) -> Any:
    """A problem that the solver takes."""
    for loss in ("logistic", "squared", "crammer-singer"):
        for penalty in ("l1/l2", "l1", "ridge"):
            problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.02)
            if ss.registry.solvers.create(name).solves(problem) is None:
                return problem
    pytest.skip(f"{name} is for other kinds of problems")


@pytest.mark.parametrize("data", [doubled, lonely], ids=["copies", "one-sample"])
@pytest.mark.parametrize("name", PREDICTING)
def test_results_repeat_where_solutions_are_not_unique(name: str, data: Any) -> None:
    problem = problem_for(name, *data())
    first, second = (ss.solve(problem, name, max_iter=15) for _ in range(2))
    for a, b in ((first.W, second.W), (first.objective, second.objective)):
        np.testing.assert_array_equal(
            a.toarray() if hasattr(a, "toarray") else a, b.toarray() if hasattr(b, "toarray") else b
        )
    assert np.isfinite(first.objective)


@pytest.mark.parametrize("penalty", ["l1", "l1/l2"])
def test_copies_of_a_column_share_its_weight(penalty: str) -> None:
    X, y = doubled()
    given = {"loss": "logistic", "penalty": penalty, "lam": 0.02, "intercept": True}
    alone, even = (
        ss.solve(ss.Problem(data, y, **given), "fista-ls", restart=True, tol=1e-9, max_iter=20_000)
        for data in (X[:, :4], X)
    )
    first = ss.solve(ss.Problem(X, y, **given), "bcd-ls", tol=1e-9, max_iter=20_000)
    for found in (even, first):
        assert found.converged and found.objective == pytest.approx(alone.objective, rel=1e-8)
        np.testing.assert_allclose(found.W[[2, 4, 5]].sum(axis=0), alone.W[2], atol=2e-3)
        assert not found.W[6].any()  # constant, beside an intercept
    np.testing.assert_allclose(even.W[4], even.W[2], atol=1e-12)
    np.testing.assert_allclose(even.W[5], even.W[2], atol=1e-12)
    sizes = np.linalg.norm(first.W[[2, 4, 5]], axis=1)
    assert sizes[0] > sizes[1] and sizes[0] > sizes[2]


@pytest.mark.parametrize("name", ["auto", "bcd-ls"])
def test_a_class_with_one_sample_is_fitted_and_certified(name: str) -> None:
    X, y = lonely()
    found = ss.solve(ss.Problem(X, y, loss="logistic", lam=0.002, intercept=True), name, tol=1e-8, max_iter=20_000)
    assert found.converged and found.W.any()
    np.testing.assert_allclose(found.W.sum(axis=1), 0.0, atol=1e-6)  # the loss sees differences of scores only


@pytest.mark.parametrize("penalty", ["ridge", "elastic-net"])
def test_where_the_solution_is_unique_copies_have_equal_weights_whatever_the_order(penalty: str) -> None:
    X, y = doubled()
    problem = ss.Problem(X, y, loss="logistic", penalty=penalty, lam=0.02, intercept=True)
    found = ss.solve(problem, "bcd-ls", tol=1e-9, max_iter=20_000)
    assert found.converged and found.W[2].any()
    np.testing.assert_allclose(found.W[[4, 5]], np.tile(found.W[2], (2, 1)), atol=2e-3)


def test_two_classes_have_two_columns_that_add_up_to_zero() -> None:
    X, y = doubled()
    two = y < 2
    problem = ss.Problem(X[two], y[two], loss="logistic", lam=0.02, intercept=True)
    found = ss.solve(problem, "auto", tol=1e-8, max_iter=20_000)
    assert found.converged and found.W.shape[1] == 2 and found.W.any()
    np.testing.assert_allclose(found.W.sum(axis=1), 0.0, atol=1e-6)
