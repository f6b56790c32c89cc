"""The label ranking hinge beyond the contract: many labels (sorting), a class as a set of one, dual points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import sparsescope as ss
from helpers import interpreted
from sparsescope.kernels.rows import conjugate_sum, loss_gradient, loss_sum, repair_dual, repaired_conjugate_sum
from sparsescope.losses import pairs

LOSS = ss.losses.LabelRankingSquaredHinge()
HINGE = ss.losses.MulticlassSquaredHinge()


def brute_force(z: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and Hessian over all pairs, with whole matrices."""
    m = z.size
    pair = np.outer(y == 1, y == 0)  # (p, r)
    A = np.where(pair, np.maximum(1.0 - z[:, None] + z[None], 0.0), 0.0)
    on = (A > 0).astype(float)
    edges = on + on.T
    return float((A**2).sum()), 2 * (A.sum(axis=0) - A.sum(axis=1)), 2 * (np.diag(edges @ np.ones(m)) - edges)


def row(m: int, inside: int, lead: float, seed: int = 0, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.permutation(m) < inside).astype(np.uint8)
    return scale * rng.standard_normal(m) + lead * y, y


# m, labels in the set, their lead, scale: few in the set, few off it, many on both sides with many and few active
ROWS = [
    (40, 3, 0.0, 1.0),
    (40, 37, 0.0, 1.0),
    (40, 20, 0.5, 1.0),
    (1000, 500, 0.0, 1.0),
    (1000, 400, 2.5, 0.7),
    (1000, 500, 3.0, 0.3),
    (1000, 500, 0.0, 300.0),
    (1200, 700, -2.0, 1.0),
]


def sorts(z: np.ndarray, y: np.ndarray) -> bool:
    low, high, size = pairs.extremes(z, y)
    return 1.0 - low + high > 0.0 and pairs.way(z, y, low, high, size)[0] == 0.0


def test_the_rows_below_take_both_ways() -> None:
    found = [sorts(*row(m, inside, lead, scale=scale)) for m, inside, lead, scale in ROWS]
    assert True in found and False in found


@pytest.mark.parametrize(("m", "inside", "lead", "scale"), ROWS)
@pytest.mark.parametrize("run", [lambda f: f, interpreted], ids=["compiled", "interpreted"])
def test_sums_over_pairs_are_right_by_loops_and_by_sorting(
    run: Any, m: int, inside: int, lead: float, scale: float
) -> None:
    for seed in range(2):
        z, y = row(m, inside, lead, seed, scale)
        if seed:
            z = np.round(4 * z) / 4  # many ties, and scores exactly at the kink
        value, u, H = brute_force(z, y)
        Z, Y, U = z[None], y[None], np.empty((1, m))
        size = 1 + np.abs(u).max()
        assert run(loss_sum)(Z, Y, LOSS) == pytest.approx(value, rel=1e-12)
        assert run(loss_gradient)(Z, Y, LOSS, U) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(U[0], u, rtol=1e-11, atol=1e-13 * size)
        g, h, v, out = np.zeros(m), np.zeros(m), np.cos(np.arange(m)), np.full(m, np.nan)
        assert LOSS.derivatives(z, y, 0.5, g, h, np.full(m, np.nan)) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(g, 0.5 * u, rtol=1e-11, atol=1e-13 * size)
        np.testing.assert_allclose(h, 0.25 * np.diag(H), rtol=1e-12, atol=1e-12)
        LOSS.hessian_product(z, y, v, out)
        np.testing.assert_allclose(out, H @ v, rtol=1e-9, atol=1e-9)
        for s in (1.0, 0.4):
            star = s * s * value - s * u[y == 0].sum()
            assert run(conjugate_sum)(Z, U, s, Y, LOSS) == pytest.approx(star, rel=1e-9, abs=1e-9 * size)


def test_nothing_is_lost_by_cancellation_at_large_scores() -> None:
    z, y = row(1000, 500, 0.0)
    assert sorts(z, y)
    value, u, _ = brute_force(z, y)
    shifted = z + 2.0**20  # exact in binary up to 2^-32
    g = np.zeros(1000)
    assert LOSS.gradient(shifted, y, 1.0, g, np.empty(1000)) == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(g, u, atol=1e-8 * np.abs(u).max())


def test_sorting_orders_labels_by_their_scores() -> None:
    rng = np.random.default_rng(0)
    for m in (1, 2, 3, 7, 50, 51):
        z = np.round(rng.standard_normal(60), 1)
        order = rng.permutation(60)[:m].astype(float)
        before = sorted(order)
        for sort in (pairs.sort_by_score, interpreted(pairs.sort_by_score)):
            mixed = rng.permutation(order)
            sort(z, mixed)
            assert sorted(mixed) == before and (np.diff(z[mixed.astype(int)]) >= 0).all()


@pytest.mark.parametrize("m", [2, 5, 30])
def test_a_class_is_a_set_of_one_label_and_that_is_the_multiclass_hinge(m: int) -> None:
    rng = np.random.default_rng(m)
    for _ in range(30):
        z, y, x = 2 * rng.standard_normal(m), int(rng.integers(m)), float(rng.normal())
        alone = np.eye(m, dtype=np.uint8)[y]
        found = []
        for loss, target in ((HINGE, y), (LOSS, y), (LOSS, alone)):
            g, h, out, work = np.zeros(m), np.zeros(m), np.empty(m), np.empty((2, m))
            value = loss.derivatives(z, target, x, g, h, work[0])
            loss.hessian_product(z, target, np.sin(np.arange(m)), out)
            u = np.zeros(m)
            loss.gradient(z, target, 1.0, u, work[0])
            found.append(
                np.concatenate(
                    [
                        [
                            value,
                            loss.value(z, target),
                            loss.conjugate(0.7 * u, target),
                            loss.scaled_conjugate(z, u, target, 0.7, work),
                        ],
                        g,
                        h,
                        out,
                        u,
                    ]
                )
            )
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_allclose(found[2], found[0], rtol=1e-12, atol=1e-12)


def test_a_problem_of_classes_is_the_same_with_both_losses_and_as_sets_of_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 4
    ours = ss.Problem(X, y, loss=LOSS, lam=0.05)
    plain, sets = ours.with_(loss=HINGE), ss.Problem(X, np.eye(4)[y], loss=LOSS, lam=0.05)
    assert ours.lam_max == plain.lam_max and sets.lam_max == pytest.approx(plain.lam_max, rel=1e-12)
    np.testing.assert_array_equal(ours.block_constants(), plain.block_constants())
    assert ours.full_constant() == plain.full_constant()
    assert sets.full_constant() == pytest.approx(plain.full_constant(), rel=1e-4)
    results = [ss.solve(problem, tol=1e-9, record=False) for problem in (plain, ours, sets)]
    np.testing.assert_allclose(results[1].W, results[0].W, atol=1e-12)  # the order of sums is the compiler's
    np.testing.assert_allclose(results[2].W, results[0].W, atol=1e-6)
    half = 0.5 * results[0].W  # one point for both: where a run ends depends on the order of sums
    assert sets.gap(half) == pytest.approx(plain.gap(half), rel=1e-6)


def test_empty_and_full_sets_have_no_loss_and_no_influence() -> None:
    rng = np.random.default_rng(0)
    z, g, h = rng.standard_normal(6), np.zeros(6), np.zeros(6)
    for y in (np.zeros(6, np.uint8), np.ones(6, np.uint8)):
        assert LOSS.value(z, y) == LOSS.gradient(z, y, 1.0, g, np.empty(6)) == 0.0
        assert LOSS.derivatives(z, y, 1.0, g, h, np.empty(6)) == 0.0 and not g.any() and not h.any()
        assert LOSS.conjugate(np.zeros(6), y) == 0.0 and LOSS.conjugate(np.ones(6), y) == np.inf


# ---------------------------------------------------------------------------------------------------------- dual points
def cheapest_flow(u: np.ndarray, y: np.ndarray) -> float:
    """ℓ*(u) as the quadratic transport problem it is, by a general solver."""
    inside, outside = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    a, b = len(inside), len(outside)
    equal = np.vstack([np.kron(np.eye(a), np.ones(b)), np.kron(np.ones(a), np.eye(b))])[1:]  # the first follows
    right = np.concatenate([-u[inside], u[outside]])[1:]
    start = linprog(np.zeros(a * b), A_eq=equal, b_eq=right).x
    found = minimize(
        lambda f: (f @ f / 4 - f.sum(), f / 2 - 1),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (a * b),
        constraints={"type": "eq", "fun": lambda f: equal @ f - right},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(found.fun)


def test_dual_values_are_the_cheapest_flow_or_above_it() -> None:
    rng = np.random.default_rng(0)
    Y = np.array(
        [[1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 1, 1], [1, 0, 0, 1, 0], [0, 1, 1, 0, 0]],
        dtype=np.uint8,
    )
    Z = rng.standard_normal((6, 5))
    U = np.empty_like(Z)
    loss_gradient(Z, Y, LOSS, U)
    work = np.empty((2, 5))
    for z, u, y in zip(Z, U, Y, strict=True):
        exact = cheapest_flow(0.6 * u, y)
        assert LOSS.scaled_conjugate(z, u, y, 0.6, work) == pytest.approx(exact, abs=1e-6)
        assert LOSS.repaired_conjugate(z, u, y, 0.6, work) == pytest.approx(exact, abs=1e-6), "nothing was repaired"
        assert LOSS.conjugate(0.6 * u, y) >= exact - 1e-7
    V = U.copy()
    repair_dual(V, Y, LOSS)
    assert np.abs(V - U).max() > 0.05 and np.abs(V.sum(axis=0)).max() < 1e-12
    excess = np.zeros(3)
    for z, u, v, y in zip(Z, U, V, Y, strict=True):
        for k, part in enumerate((1.0, 0.1, 0.001)):  # the smaller the repair, the nearer the bound
            moved = u + part * (v - u)
            found = LOSS.repaired_conjugate(z, moved, y, 1.0, work) - cheapest_flow(moved, y)
            assert found >= -1e-6
            excess[k] = max(excess[k], found)
    assert excess[0] > 0.1 and excess[1] < 0.3 * excess[0] and excess[2] < 0.003 * excess[0] + 1e-6
    assert repaired_conjugate_sum(Z, V, 1.0, Y, LOSS) == pytest.approx(
        sum(LOSS.repaired_conjugate(z, v, y, 1.0, work) for z, v, y in zip(Z, V, Y, strict=True))
    )


def test_flows_go_over_a_third_label_and_end_at_zero_where_there_is_no_way() -> None:
    # No sample has label 0 and lacks label 1, but 0 → 2 and 2 → 1 can be.
    Y = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=np.uint8)
    U = np.array([[-0.1, -0.1, 0.2], [0.5, 0.1, -0.6], [0.3, -0.9, 0.6], [0.4, -0.4, 0.0], [0.1, 0.2, -0.3]])
    repair_dual(U, Y, LOSS)
    assert np.abs(U.sum(axis=0)).max() < 1e-14 and np.abs(U).max() > 0.1
    assert all(np.isfinite(LOSS.conjugate(u, y)) for u, y in zip(U, Y, strict=True))
    # Label 0 implies 1 and 1 implies 2: what flows down the chain never comes back.
    Y = np.array([[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 1]], dtype=np.uint8)
    U = np.array(
        [
            [-0.1, -0.1, 0.0, 0.2],
            [0.5, -0.3, -0.2, 0.0],
            [0.3, 0.3, -0.6, 0.0],
            [0.1, 0.1, 0.1, -0.3],
            [0.9, -0.3, -0.3, -0.3],
        ]
    )
    repair_dual(U, Y, LOSS)
    assert np.abs(U.sum(axis=0)).max() < 1e-14
    assert all(np.isfinite(LOSS.conjugate(u, y)) for u, y in zip(U, Y, strict=True))
