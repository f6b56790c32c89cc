"""Separation ranking beyond the contract: classes, empty and full sets, the null point of label sets, ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import sparsescope as ss
from helpers import loss_rows, tags
from sparsescope.kernels.rows import loss_gradient, repair_dual

LOSS = ss.losses.SeparationRanking()
HINGE = ss.losses.CrammerSinger(margin=1.0)


def test_a_class_is_a_set_of_one_label_and_that_is_the_crammer_singer_hinge() -> None:
    rng = np.random.default_rng(0)
    for m in (2, 5, 30):
        for _ in range(20):
            z, y = 2 * rng.standard_normal(m), int(rng.integers(m))
            found = []
            for loss, target in ((HINGE, y), (LOSS, y), (LOSS, np.eye(m, dtype=np.uint8)[y])):
                g = np.zeros(m)
                value = loss.gradient(z, target, 0.7, g, np.empty(m))
                found.append([value, loss.value(z, target), loss.conjugate(g, target), *g])
            np.testing.assert_array_equal(found[1], found[0])
            np.testing.assert_allclose(found[2], found[0], atol=1e-14)


def test_empty_and_full_sets_have_no_loss_and_no_influence() -> None:
    z, g = np.random.default_rng(0).standard_normal(6), np.zeros(6)
    for y in (np.zeros(6, np.uint8), np.ones(6, np.uint8)):
        assert LOSS.value(z, y) == LOSS.gradient(z, y, 1.0, g, np.empty(6)) == 0.0 and not g.any()
        assert LOSS.conjugate(np.zeros(6), y) == 0.0 and LOSS.conjugate(np.ones(6), y) == np.inf
        assert LOSS.conjugate(-np.ones(6), y) == np.inf


def test_level_labels_share_the_subgradient() -> None:
    g = np.zeros(5)
    assert LOSS.gradient(np.zeros(5), np.array([1, 1, 0, 0, 0], np.uint8), 6.0, g, np.empty(5)) == 1.0
    np.testing.assert_allclose(g, [-3, -3, 2, 2, 2])


def test_a_repair_that_adds_flow_never_leaves_the_domain() -> None:
    rng = np.random.default_rng(3)
    heavier = 0
    for _ in range(20):
        Y = (rng.random((8, 4)) < 0.5).astype(np.uint8)
        U = np.empty((8, 4))
        loss_gradient(rng.standard_normal((8, 4)), Y, LOSS, U)
        V = U.copy()
        ss.losses.LabelRankingSquaredHinge().repair(V, Y)  # the same flows without a bound of their mass
        heavier += V.clip(0.0).sum(axis=1).max() > 1.0 + 1e-9
        repair_dual(U, Y, LOSS)
        assert np.abs(U.sum(axis=0)).max() < 1e-12
        assert all(np.isfinite(LOSS.conjugate(u, y)) for u, y in zip(U, Y, strict=True))
    assert heavier


@pytest.mark.parametrize("majority", [False, True])
def test_the_null_intercept_of_label_sets_is_the_linear_programs_and_lam_max_bounds(majority: bool) -> None:
    X, Y = tags()
    Y = Y.copy()
    if majority:  # more than half of the samples have the same single label: b = 0 is not the best
        Y[:35] = np.eye(5, dtype=np.uint8)[0]
    problem = ss.Problem(X, Y, loss=LOSS, penalty="l1", lam=1.0, intercept=True)
    n, m = Y.shape
    rows, right = [], []  # min Σξ/n, ξ_i ≥ 1 + b_r − b_p for all pairs, ξ ≥ 0
    for i, labels in enumerate(Y):
        for p in np.flatnonzero(labels == 1):
            for r in np.flatnonzero(labels == 0):
                row = np.zeros(m + n)
                row[p], row[r], row[m + i] = -1.0, 1.0, -1.0
                rows.append(row)
                right.append(-1.0)
    known = linprog(
        np.r_[np.zeros(m), np.full(n, 1 / n)],
        A_ub=np.array(rows),
        b_ub=right,
        bounds=[(None, None)] * m + [(0, None)] * n,
    )
    null = problem.null_intercept
    zero = np.zeros((problem.d, m))
    assert problem.objective(zero, null) == pytest.approx(known.fun, rel=1e-9)
    assert (np.ptp(null) > 0.5) == majority
    assert problem.objective(zero, null) == pytest.approx(loss_rows(LOSS, np.tile(null, (n, 1)), Y).mean())
    b, U = LOSS.null_of_sets(Y)
    assert np.abs(U.sum(axis=0)).max() < 1e-9
    rng = np.random.default_rng(0)
    for u, y in zip(U, Y, strict=True):  # subgradients at b
        assert np.isfinite(LOSS.conjugate(u, y))
        for _ in range(10):
            z = b + rng.standard_normal(m)
            assert LOSS.value(z, y) >= LOSS.value(b, y) + u @ (z - b) - 1e-9
    assert problem.lam_max <= np.abs(X.T @ U / n).max() * (1 + 1e-9) and problem.lam_max_slack < 1e-6
    above = problem.with_lam(1.0001 * problem.lam_max)
    for _ in range(20):  # W = 0 is optimal there: no direction goes down
        step, shift = rng.standard_normal((problem.d, m)), rng.standard_normal(m)
        for size in (1e-3, 0.1):
            assert above.objective(size * step, null + size * shift) >= above.objective(zero, null) - 1e-10


def test_it_has_no_constants_and_gradient_methods_refuse_it() -> None:
    problem = ss.Problem(*tags(), loss=LOSS)
    with pytest.raises(TypeError, match="no Lipschitz constant"):
        problem.full_constant("tight")
    with pytest.raises(ValueError, match="separation ranking hinge loss is not smooth"):
        ss.solve(problem, "bcd-ls")
    assert "ssnal" in ss.solvers.Auto().init(problem).reason


@pytest.mark.parametrize("intercept", [False, True])
def test_the_optimum_with_l1_is_that_of_a_linear_program(intercept: bool) -> None:
    X, Y = tags()
    problem = ss.Problem(X, Y, loss=LOSS, penalty="l1", intercept=intercept)
    problem = problem.with_lam(0.05 * problem.lam_max)
    A, (n, d), m = X.toarray(), X.shape, Y.shape[1]
    rows = []  # ξ_i ≥ 1 + z_ir − z_ip for every pair, W = W⁺ − W⁻
    for i, labels in enumerate(Y):
        for p in np.flatnonzero(labels == 1):
            for r in np.flatnonzero(labels == 0):
                w, b, xi = np.zeros((d, m)), np.zeros(m), np.zeros(n)
                w[:, r], w[:, p], b[r], b[p], xi[i] = A[i], -A[i], 1.0, -1.0, -1.0
                rows.append(np.concatenate([w.ravel(), -w.ravel(), intercept * b, xi]))
    cost = np.concatenate([np.full(2 * d * m, problem.lam), np.zeros(m), np.full(n, 1.0 / n)])
    known = linprog(
        cost,
        A_ub=np.array(rows),
        b_ub=np.full(len(rows), -1.0),
        bounds=[(0, None)] * (2 * d * m) + [(None, None)] * m + [(0, None)] * n,
    )
    found = ss.solve(problem, "fbpd", tol=1e-8, max_iter=100_000, record=False, certify_every=50)
    assert known.success and found.converged
    assert found.objective == pytest.approx(known.fun, rel=2e-8) and found.dual <= known.fun * (1 + 1e-9)
