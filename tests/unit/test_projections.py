"""Projections of rows on the simplex and on the epigraph of max(y + r), against brute force and their conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import interpreted
from sparsescope.kernels.projections import cut_to_set_flows, project_epigraph, project_simplex
from sparsescope.kernels.splitting import budget_gain, smoothed_duals


def rows() -> list[tuple[str, np.ndarray]]:
    """Rows that are easy to get wrong: ties, far apart, tiny, huge, two entries, one that counts."""
    rng = np.random.default_rng(0)
    return [
        ("random", rng.standard_normal((200, 7))),
        ("wide", 100.0 * rng.standard_normal((50, 40))),
        ("two entries", rng.standard_normal((50, 2))),
        ("one entry", rng.standard_normal((5, 1))),
        ("ties", rng.integers(-2, 3, (100, 6)) / 2.0),
        ("all equal", np.full((3, 5), 0.25)),
        ("zeros", np.zeros((2, 4))),
        ("one that counts", np.eye(5) * 50.0),
        ("tiny", 1e-200 * rng.standard_normal((10, 4))),
        ("huge", 1e150 * rng.standard_normal((10, 4))),
        ("far from zero", 1e8 + rng.standard_normal((20, 5))),
        ("already there", rng.dirichlet(np.ones(6), 20)),
    ]


def by_sorting(v: np.ndarray, total: float) -> np.ndarray:
    """The textbook projection on the simplex: sort, and take the longest prefix above its own level. The entries are
    counted from the largest one, or the level itself would lose the digits of huge ones."""
    v = v - v.max()
    falling = np.sort(v)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, v.size + 1)
    return np.maximum(v - levels[np.flatnonzero(falling > levels)[-1]], 0.0)


@pytest.mark.parametrize(("kind", "V"), rows(), ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("total", [1.0, 0.01, 30.0])
def test_projection_on_the_simplex_is_the_nearest_point(kind: str, V: np.ndarray, total: float) -> None:
    out = np.empty_like(V)
    project_simplex(V, total, out, 0, len(V))
    assert (out >= 0.0).all()
    np.testing.assert_allclose(out.sum(axis=1), total, rtol=1e-14)
    np.testing.assert_allclose(out, [by_sorting(v, total) for v in V], rtol=1e-9, atol=1e-13 * total)
    # Optimal: entries above zero were all lowered by the same amount, the others by less (they stood lower).
    lowered = V - out
    above = np.where(out > 0.0, lowered, -np.inf).max(axis=1)
    slack = 4.0 * np.finfo(float).eps * np.maximum(np.abs(V), total)
    assert not (lowered - slack > above[:, None]).any()
    again = out.copy()
    project_simplex(again, total, again, 0, len(V))
    np.testing.assert_allclose(again, out, rtol=0, atol=1e-14 * total)


def test_simplex_keeps_the_digits_of_entries_far_from_zero() -> None:
    V = np.array([[1e8, 1e8 + 0.5, 1e8 - 3.0]])
    out = np.empty_like(V)
    project_simplex(V, 1.0, out, 0, 1)
    np.testing.assert_allclose(out, [[0.25, 0.75, 0.0]], rtol=0, atol=1e-15)


def nearest_in_epigraph(y: np.ndarray, zeta: float, r: np.ndarray) -> tuple[np.ndarray, float]:
    """By trying every number of entries above the level (the formula of the paper, Prop. 1)."""
    nu = np.sort(y + r)
    best: tuple[float, Any] = (np.inf, None)
    for kept in range(nu.size + 1):
        theta = (zeta + nu[nu.size - kept :].sum()) / (kept + 1)
        p = np.minimum(y, theta - r)
        distance = ((p - y) ** 2).sum() + (theta - zeta) ** 2
        if distance < best[0] and (p + r).max() <= theta + 1e-12 * max(1.0, abs(theta)):
            best = (distance, (p, theta))
    return best[1]


@pytest.mark.parametrize(("kind", "V"), rows(), ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("margin", [1.0, 0.1])
def test_projection_on_the_epigraph_is_the_nearest_point(kind: str, V: np.ndarray, margin: float) -> None:
    n, m = V.shape
    rng = np.random.default_rng(1)
    labels = rng.integers(0, m, n)
    zeta = np.quantile(V, 0.5) + rng.choice([-2.0, -0.5, 0.0, 0.5, 3.0], n) * max(np.abs(V).max(), 1e-3)
    r = margin * (np.arange(m) != labels[:, None])
    P, theta = np.empty_like(V), np.empty(n)
    project_epigraph(V, zeta, labels, margin, P, theta, 0, n)
    size = max(np.abs(V).max(), np.abs(zeta).max(), margin)
    assert ((P + r).max(axis=1) <= theta + 1e-14 * size).all()
    # Moreau: what was taken away belongs to the normal cone: q = y − p ≥ 0, and ζ rose by its sum.
    Q = V - P
    assert (Q >= 0.0).all()
    np.testing.assert_allclose(Q.sum(axis=1), theta - zeta, rtol=1e-12, atol=1e-14 * size)
    touching = np.where(1e-13 * size < Q, P + r - theta[:, None], 0.0)
    np.testing.assert_allclose(touching, np.zeros((n, m)), atol=1e-13 * size)
    for i in range(min(n, 30)):
        p, t = nearest_in_epigraph(V[i], zeta[i], r[i])
        np.testing.assert_allclose(P[i], p, rtol=1e-9, atol=1e-13 * size)
        assert theta[i] == pytest.approx(t, rel=1e-9, abs=1e-13 * size)


def test_points_of_the_epigraph_stay_where_they_are() -> None:
    Y = np.array([[0.0, 1.0, -2.0], [3.0, 3.0, 3.0]])
    zeta = np.array([2.0, 4.0])
    P, theta = np.empty_like(Y), np.empty(2)
    project_epigraph(Y, zeta, np.array([0, 1]), 1.0, P, theta, 0, 2)
    np.testing.assert_array_equal(P, Y)
    np.testing.assert_array_equal(theta, zeta)


def test_only_the_rows_asked_for_are_projected_in_either_precision() -> None:
    V = np.random.default_rng(2).standard_normal((9, 5)).astype(np.float32)
    out = np.full_like(V, 7.0)
    project_simplex(V, 1.0, out, 2, 5)
    np.testing.assert_array_equal(out[[0, 1, 5, 6, 7, 8]], 7.0)
    exact = np.empty((9, 5))
    project_simplex(V.astype(float), 1.0, exact, 0, 9)
    np.testing.assert_allclose(out[2:5], exact[2:5], atol=1e-6)
    theta, P = np.zeros(9, np.float32), np.zeros_like(V)
    project_epigraph(V, np.zeros(9, np.float32), np.zeros(9, np.int64), 1.0, P, theta, 0, 9)
    assert theta.min() > 0.0 and np.isfinite(P).all()


def test_compiled_and_interpreted_projections_agree() -> None:
    V = np.random.default_rng(3).standard_normal((6, 4))
    a, b = np.empty_like(V), np.empty_like(V)
    project_simplex(V, 1.0, a, 0, 6)
    interpreted(project_simplex)(V, 1.0, b, 0, 6)
    np.testing.assert_allclose(a, b, atol=1e-15)
    labels, zeta, s, t = np.zeros(6, np.int64), np.full(6, 0.3), np.empty(6), np.empty(6)
    project_epigraph(V, zeta, labels, 1.0, a, s, 0, 6)
    interpreted(project_epigraph)(V, zeta, labels, 1.0, b, t, 0, 6)
    np.testing.assert_allclose(a, b, atol=1e-15)
    np.testing.assert_allclose(s, t, atol=1e-15)


# ------------------------------------------------------------------------------------------ one multiplier of a budget
@pytest.mark.parametrize("m", [2, 3, 7])
def test_the_gain_of_a_budget_is_the_derivative_of_the_squared_distances(m: int) -> None:
    rng = np.random.default_rng(m)
    U, labels = 2.0 * rng.standard_normal((40, m)), rng.integers(0, m, 40)
    here = np.arange(40)

    def distances(t: float) -> float:
        shifted = U.copy()
        shifted[here, labels] += t
        nearest = np.empty_like(shifted)
        project_simplex(shifted, t, nearest, 0, 40)
        return 0.5 * float(((nearest - shifted) ** 2).sum())

    for t in (0.05, 0.7, 2.0, 5.0):
        gain, slope = budget_gain(U, labels, t, 0, 40)
        step = 1e-5 * t
        assert gain == pytest.approx((distances(t - step) - distances(t + step)) / (2.0 * step), rel=1e-5, abs=1e-7)
        near = budget_gain(U, labels, t + 1e-9, 0, 40)[0]
        assert slope == pytest.approx((gain - near) / 1e-9, rel=1e-3, abs=1e-3)
    large, flat = budget_gain(U, labels, 100.0, 0, 40)
    assert large == 0.0 and flat == 0.0, "with so much mass every sample keeps some on its true class"
    zero, _ = budget_gain(U, labels, 0.0, 0, 40)
    off = np.where(np.eye(m, dtype=bool)[labels], -np.inf, U).max(axis=1)
    assert zero == pytest.approx(np.maximum(off - U[here, labels], 0.0).sum())


def test_the_price_of_a_budget_is_found_from_anywhere() -> None:
    X, y = np.eye(3), np.array([0, 1, 2])
    problem = ss.Problem(X, y, loss="crammer-singer", lam=0.1)
    solver = ss.solvers.FBPDConstrained()
    state: Any = solver.init(problem)
    state.Y[:] = np.random.default_rng(0).standard_normal((3, 3))
    whole = budget_gain(state.Y, problem.y, 0.0, 0, 3)[0]
    for share in (0.9, 0.5, 0.01):
        found = set()
        for start in (0.0, 1e-3, 1.0, 1e6):
            state.level = start
            t = solver.price(problem, state, share * whole)
            assert budget_gain(state.Y, problem.y, t, 0, 3)[0] == pytest.approx(share * whole, rel=1e-9)
            found.add(round(t, 9))
        assert len(found) == 1
    assert solver.price(problem, state, 1.1 * whole) == 0.0, "a budget that is kept without force costs nothing"
    state.level = 1e3
    assert solver.price(problem, state, 0.0) == 1e3, "no budget at all: a force that leaves no hinge is kept"


def level(v: np.ndarray, total: float) -> float:
    """The level of the projection of v on {p ≥ 0, Σp = total}, by sorting."""
    falling = np.sort(v)[::-1]
    levels = (falling.cumsum() - total) / np.arange(1, v.size + 1)
    return float(levels[(falling >= levels).nonzero()[0][-1]])


def flows_by_bisection(v: np.ndarray, y: np.ndarray, mass: float) -> np.ndarray:
    """The nearest point of the flows between two sides: the mass at which the two levels balance, by bisection."""
    off, inside = v[y == 0], -v[y == 1]
    out = np.zeros_like(v)
    if off.size == 0 or inside.size == 0 or off.max() + inside.max() <= 0.0:
        return out
    low, high = 0.0, mass
    if level(off, mass) + level(inside, mass) < 0.0:
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not low < middle < high:  # no number is left between them
                break
            low, high = (middle, high) if level(off, middle) + level(inside, middle) > 0.0 else (low, middle)
    out[y == 0] = np.maximum(off - level(off, high), 0.0)
    out[y == 1] = -np.maximum(inside - level(inside, high), 0.0)
    return out


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("mass", [1.0, 0.3])
def test_projection_on_flows_of_a_set_is_the_nearest_point(scale: float, mass: float) -> None:
    rng = np.random.default_rng(1)
    partly = 0
    for m in (2, 3, 6, 25):
        for trial in range(150):
            v = scale * (rng.integers(-2, 3, m) / 2.0 if trial % 3 == 0 else rng.standard_normal(m))
            y = (rng.random(m) < rng.random()).astype(np.uint8)
            u = v.copy()
            interpreted(cut_to_set_flows)(u, y, mass)
            assert (u[y == 0] >= 0.0).all() and (u[y == 1] <= 0.0).all()
            sent = u[y == 0].sum()
            assert sent <= mass + 1e-13 * max(1.0, scale) and abs(u.sum()) <= 1e-13 * max(1.0, scale)
            np.testing.assert_allclose(u, flows_by_bisection(v, y, mass), atol=1e-12 * max(1.0, scale))
            partly += 0.0 < sent < 0.99 * mass
    assert partly > 10 or scale > 1.0


def test_flows_of_one_label_are_those_of_a_class() -> None:
    rng = np.random.default_rng(2)
    Z, y = 3.0 * rng.standard_normal((60, 5)), rng.integers(5, size=60)
    found = []
    for loss, Y in (
        (ss.losses.CrammerSinger(margin=1.0), y),
        (ss.losses.SeparationRanking(), y),
        (ss.losses.SeparationRanking(), np.eye(5, dtype=np.uint8)[y]),
    ):
        U = np.empty_like(Z)
        smoothed_duals(Z, Y, loss, 0.7, U)
        found.append(U)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_allclose(found[2], found[0], atol=1e-14)
