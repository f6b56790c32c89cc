"""Lipschitz constants of the full gradient against dense linear algebra (the block constants: see the losses)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import SMOOTH_LOSSES, digits, fitting, forms, gradient, iris, random_point, text
from sparsescope.inputs.design import Design
from sparsescope.problems.constants import INFLATE, KINDS, block_constants, full_constant

each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])


def difference_map(A: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """T: W ↦ Z − Z[y]·1ᵀ as a matrix."""
    columns = []
    for j in range(A.shape[1]):
        for k in range(m):
            Z = np.zeros((len(y), m))
            Z[:, k] = A[:, j]
            columns.append((Z - Z[np.arange(len(y)), y][:, None]).ravel())
    return np.column_stack(columns)


@pytest.mark.parametrize("data", [iris, text], ids=["tall", "sparse"])
@each_intercept
def test_full_constants_are_those_of_a_singular_value_decomposition(data: Any, intercept: bool) -> None:
    X, y = data()
    m = int(y.max()) + 1
    for _, form in forms(X):
        design = Design(form)
        A = form if isinstance(form, np.ndarray) else form.toarray()
        A = np.column_stack([A, np.ones(len(y))]) if intercept else A
        top = np.linalg.norm(A, 2) ** 2 / len(y)
        hinge, softmax = ss.losses.MulticlassSquaredHinge(), ss.losses.Logistic()
        for loss in (hinge, softmax):
            assert full_constant(design, y, m, loss, intercept, "tight") == pytest.approx(
                INFLATE * loss.curvature(m) * top, rel=1e-4
            )
            assert full_constant(design, y, m, loss, intercept, "paper") == pytest.approx(
                INFLATE * loss.paper_curvature(m) * top, rel=1e-4
            )
        exact = 2.0 * np.linalg.norm(difference_map(A, y, m), 2) ** 2 / len(y)
        assert full_constant(design, y, m, hinge, intercept, "class-aware") == pytest.approx(INFLATE * exact, rel=1e-4)


@pytest.mark.parametrize("loss", SMOOTH_LOSSES)
@each_intercept
def test_full_constants_bound_the_gradient_and_are_ordered(loss: Any, intercept: bool) -> None:
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, intercept=intercept)
    y = problem.y
    found = [problem.full_constant(kind) for kind in ("class-aware", "tight", "paper")]
    assert found[0] <= found[1] * (1 + 1e-9) and found[1] <= found[2] * (1 + 1e-9)
    for seed in range(8):
        scale = 10.0 ** (seed % 4 - 3)
        (W, b), (V, c) = random_point(problem, seed, scale), random_point(problem, seed + 100, scale)
        b, c = (np.zeros(problem.m), np.zeros(problem.m)) if b is None else (b, c)
        G, H = gradient(X, y, loss, W, b), gradient(X, y, loss, V, c)
        change = np.hypot(np.linalg.norm(G[0] - H[0]), np.linalg.norm(G[1] - H[1]) * intercept)
        assert change <= found[0] * np.hypot(np.linalg.norm(W - V), np.linalg.norm(b - c)) * (1 + 1e-9)


def test_wide_data_go_through_the_smaller_side() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((7, 40)), np.array([0, 1, 2, 0, 1, 2, 0])
    problem = ss.Problem(X, y)
    exact = 2.0 * np.linalg.norm(difference_map(X, y, 3), 2) ** 2 / 7
    assert problem.full_constant() == pytest.approx(INFLATE * exact, rel=1e-4)


def test_one_feature_and_equal_columns_are_no_trouble() -> None:
    y = np.array([0, 1, 0, 1])
    x = np.array([[1.0], [2.0], [0.0], [1.0]])
    assert ss.Problem(x, y, loss="squared").full_constant() == pytest.approx(INFLATE * 6 / 4)
    assert ss.Problem(np.eye(4), y, loss="squared").full_constant() == pytest.approx(INFLATE / 4, rel=1e-3)


def test_class_aware_constants_are_worth_their_name_on_digits() -> None:
    X, y = digits()
    problem = ss.Problem(X, y)
    ratios = problem.block_constants("class-aware") / np.where(
        problem.block_constants("tight") > 0, problem.block_constants("tight"), 1
    )
    assert 0.3 < ratios[problem.block_constants("tight") > 0].mean() < 0.7
    assert problem.full_constant("class-aware") < 0.5 * problem.full_constant("tight")


def test_constants_are_computed_once_for_all_siblings() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    assert problem.block_constants() is problem.with_lam(0.5).with_(penalty="l1").block_constants()
    assert problem.block_constants() is not problem.with_(loss="logistic").block_constants()
    shifted = problem.with_(loss=ss.losses.Logistic(margin=1.0))
    assert shifted.lam_max != problem.with_(loss="logistic").lam_max


def test_unknown_kinds_are_refused() -> None:
    X, y = iris()
    for compute in (block_constants, full_constant):
        with pytest.raises(ValueError, match=f"unknown constants 'best'; allowed: {KINDS[0]}"):
            compute(Design(X), y, 3, ss.losses.Squared(), False, "best")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [1.0, 0.1, 1e6 / 3])
def test_features_that_are_all_constant_leave_the_intercept_its_own_length(value: float, dtype: str) -> None:
    """Hold that rounding errors left after centring are no length to measure the intercept by."""
    problem = ss.Problem(np.full((9, 3), value, dtype), np.arange(9) % 3, intercept=True)
    for differences in (False, True):
        means, scale, norm = problem.centred_norm(differences)
        # They are held about their means: what is left of them is zero.
        assert not means.any() and scale == 1.0
        assert norm == pytest.approx(9 * INFLATE, rel=2e-2) if not differences else norm > 0.0
