"""The contract of penalties, run over the registry: prox, zero-row test, dual norm, conjugate, violation.

The functions of one row are called interpreted, and one test compares them with the compiled kernels.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers import PENALTIES, interpreted, penalty_rows, usual
from sparsescope.checking import penalties as checking
from sparsescope.checking.penalties import prox
from sparsescope.checking.points import rows
from sparsescope.checking.report import LeftOut
from sparsescope.kernels.rows import critical_lam, penalty_sum, row_duals, row_violations
from sparsescope.penalties.base import l1_threshold
from sparsescope.problems.regulariser import RowRegulariser
from sparsescope.registry import penalties

every_penalty = pytest.mark.parametrize("penalty", PENALTIES)
NORMS = [p for p in PENALTIES if p.values[0].is_norm]
every_norm = pytest.mark.parametrize("penalty", NORMS)


def allowed(penalty: Any, w: np.ndarray) -> np.ndarray:
    """w itself, or with the signs that the penalty allows."""
    return np.abs(w) if getattr(penalty, "nonnegative", False) else w


def circle(count: int = 7200) -> np.ndarray:
    """Unit vectors of the plane, the axes and the diagonals among them."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    found = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.where(np.abs(found) < 1e-12, 0.0, found)


@every_penalty
@pytest.mark.parametrize("m", [1, 2, 5])
def test_value_follows_the_formula(penalty: Any, m: int) -> None:
    W = np.array([v for v, _ in rows(m)])
    np.testing.assert_allclose([penalty.value(w) for w in W], penalty_rows(penalty, W), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("check", list(checking.CHECKS))
@every_penalty
@pytest.mark.parametrize("m", checking.SIZES)
def test_what_a_user_may_check_holds(penalty: Any, m: int, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if usual(penalty):
        monkeypatch.setattr(checking, "COUNT", 30)  # twice as many rows as a user waits for
    with suppress(LeftOut):  # what does not apply to first-order penalties
        checking.CHECKS[check](penalty, m)


# A search without derivatives takes long: other numbers are slow tests.
@pytest.mark.parametrize(
    "penalty", [pytest.param(*p.values, id=p.id, marks=() if usual(*p.values) else pytest.mark.slow) for p in PENALTIES]
)
def test_prox_agrees_with_a_numerical_minimiser(penalty: Any) -> None:
    for v, tau in rows(2, 6):
        cost = lambda w, v=v, tau=tau: 0.5 * ((w - v) ** 2).sum() + tau * penalty_rows(penalty, w[None])[0]  # noqa: E731
        options = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 400}
        starts = (allowed(penalty, start) for start in (v, np.zeros(2), 0.5 * v + 0.1))  # of a finite cost
        ends = [minimize(cost, start, method="Nelder-Mead", options=options) for start in starts]
        found = min(ends, key=lambda f: f.fun)
        np.testing.assert_allclose(prox(penalty, v, tau), found.x, atol=2e-5 * (1 + np.abs(v).max()))


@every_penalty
def test_violation_is_the_distance_to_the_subdifferential(penalty: Any) -> None:
    # dist(−g, λ∂Ω(w)) is the rate of steepest descent: the largest −⟨g, d⟩ − λΩ'(w; d) over unit vectors d.
    rng = np.random.default_rng(3)
    directions = circle()
    t = 1e-7
    for w in (np.zeros(2), np.array([1.0, 0.0]), np.array([0.5, -0.5]), np.array([-2.0, 0.3]), np.array([0.0, -1.5])):
        for lam in (0.3, 2.0):
            w = allowed(penalty, w)
            for _ in range(6):
                g = rng.standard_normal(2) * 2
                rise = (penalty_rows(penalty, w + t * directions) - penalty_rows(penalty, w[None])) / t
                expected = max(0.0, float((-directions @ g - lam * rise).max()))
                assert penalty.violation(g, w, lam) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@every_penalty
@pytest.mark.parametrize("m", [1, 2, 5])
def test_a_zero_row_stays_zero_exactly_where_the_prox_leaves_it(penalty: Any, m: int) -> None:
    seen = set()
    for v, tau in rows(m):
        top = penalty.zero_threshold(v)
        cases = [(v, tau)] + (
            [(v * tau / top * factor, tau) for factor in (0.5, 0.999999, 1.000001, 2.0)] if 0.0 < top < np.inf else []
        )
        for g, lam in cases:
            stays = penalty.stays_zero(g, lam)
            seen.add(bool(stays))
            for step in (0.01, 1.0, 50.0):
                assert stays == (not prox(penalty, -step * g, step * lam).any())
    assert seen == {True, False}


@every_penalty
@pytest.mark.parametrize("steps", [1, 2, 30])
def test_prox_steps_in_a_row_add_up_where_the_penalty_says_so(penalty: Any, steps: int) -> None:
    rng = np.random.default_rng(9)
    zeros = 0
    for v, tau in rows(4, 12):
        taus = tau * rng.uniform(0.0, 1.0 / steps, steps)
        one_by_one = v.copy()
        for t in taus:
            penalty.prox(one_by_one, t, one_by_one)
        at_once = np.full_like(v, np.nan)
        penalty.prox_added(v, sum(penalty.addend(t) for t in taus), at_once)
        if penalty.adds_up:
            np.testing.assert_allclose(at_once, one_by_one, rtol=1e-11, atol=1e-13)
            zeros += not one_by_one.any()
    if penalty.adds_up and penalty.zeroes_rows and penalty.zero_threshold(np.ones(4)) < np.inf:
        assert zeros, "some rows should die on the way"


@every_penalty
@pytest.mark.parametrize("m", [2, 6])
def test_prox_is_nonexpansive(penalty: Any, m: int) -> None:
    points = rows(m)
    for (v, tau), (u, _) in zip(points, reversed(points), strict=True):
        assert np.linalg.norm(prox(penalty, v, tau) - prox(penalty, u, tau)) <= np.linalg.norm(v - u) * (1 + 1e-12)


@every_norm
@pytest.mark.parametrize("m", [2, 5])
def test_moreau_the_rest_of_the_prox_is_the_projection_on_the_dual_ball(penalty: Any, m: int) -> None:
    rng = np.random.default_rng(4)
    for v, tau in rows(m):
        p = prox(penalty, v, tau)
        q = v - p
        scale = 1 + np.abs(v).max()
        assert penalty.dual_norm(q) <= tau * (1 + 1e-12) + 1e-15
        assert float(p @ q) == pytest.approx(tau * penalty.value(p), rel=1e-10, abs=1e-12 * scale**2)
        for _ in range(20):
            u = rng.standard_normal(m)
            u *= tau * rng.random() / penalty.dual_norm(u)  # any point of the ball
            assert float(p @ (u - q)) <= 1e-11 * scale**2


@every_penalty
@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_violation_of_a_zero_row_vanishes_at_its_threshold(penalty: Any, m: int) -> None:
    for g, _ in rows(m):
        edge = penalty.zero_threshold(g)
        if 0.0 < edge < np.inf:
            assert penalty.violation(g, np.zeros(m), edge * (1 + 1e-9)) == 0.0
            assert penalty.violation(g, np.zeros(m), edge * (1 - 1e-6)) > 0.0


@every_norm
def test_dual_norm_is_the_largest_product_with_a_unit_row(penalty: Any) -> None:
    directions = circle(100_000)
    sizes = penalty_rows(penalty, directions)
    for v, _ in rows(2):
        assert penalty.dual_norm(v) == pytest.approx(float((directions @ v / sizes).max()), rel=1e-6, abs=1e-12)
    rng = np.random.default_rng(5)
    for v, _ in rows(6):
        W = rng.standard_normal((500, 6)) * (rng.random((500, 6)) < 0.6)
        assert (W @ v <= penalty.dual_norm(v) * penalty_rows(penalty, W) * (1 + 1e-12) + 1e-12).all()
        near = prox(penalty, v, 0.9999 * penalty.dual_norm(v))  # what survives a threshold just below is a maximiser
        if v.any():
            assert float(near @ v) >= 0.9999 * penalty.dual_norm(v) * penalty.value(near)


@every_penalty
def test_conjugate_is_the_supremum_and_its_domain_has_the_dual_norm_as_gauge(penalty: Any) -> None:
    directions = circle(720)
    lengths = np.concatenate([[0.0], np.geomspace(1e-3, 1e5, 534)])
    W = (lengths[:, None, None] * directions).reshape(-1, 2)
    values = penalty_rows(penalty, W)
    for v, _ in rows(2, 12):
        gauge = penalty.dual_norm(v)
        inside = v if gauge == 0.0 else v * 0.999 / gauge
        expected = float((W @ inside - values).max())
        assert penalty.conjugate(inside) == pytest.approx(expected, rel=2e-3, abs=1e-9)
        assert penalty.conjugate(inside) >= expected - 1e-12 * (1 + expected)  # the grid can only miss the supremum
        if gauge > 0.0:
            assert float((W @ (v * 1.1 / gauge) - values).max()) > 1.0, "outside, the supremum is unbounded"


def pieces(penalty: Any, m: int) -> list[np.ndarray]:
    """Non-zero rows as solvers meet them: results of the prox, with its zeros and ties."""
    found = [prox(penalty, v, tau) for v, tau in rows(m, 80)]
    return [w for w in found if w.any()]


def along(penalty: Any, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v, projected on the piece of Ω that w lies on."""
    t = v.copy()
    penalty.project_tangent(w, t)
    return t


every_piece = pytest.mark.parametrize("penalty", [p for p in PENALTIES if hasattr(p.values[0], "project_tangent")])


@every_piece
@pytest.mark.parametrize("m", [1, 2, 5])
def test_tangent_is_an_orthogonal_projection_that_keeps_the_row(penalty: Any, m: int) -> None:
    W = np.array(pieces(penalty, m))
    P = np.array([np.column_stack([along(penalty, w, e) for e in np.eye(m)]) for w in W])
    np.testing.assert_allclose(P, P.transpose(0, 2, 1), atol=1e-14)
    np.testing.assert_allclose(P @ P, P, atol=1e-14)
    np.testing.assert_allclose([along(penalty, w, w) for w in W], W, rtol=1e-14)


@every_piece
@pytest.mark.parametrize("m", [1, 2, 5])
def test_slope_and_bend_are_the_derivatives_along_the_piece(penalty: Any, m: int) -> None:
    rng = np.random.default_rng(0)
    lam, compared = 0.7, 0
    for w in pieces(penalty, m):
        t = along(penalty, w, rng.standard_normal(m))
        slope, bend = np.ones(m), np.ones(m)  # both are added
        penalty.gradient(w, lam, slope)
        penalty.hessian_vec(w, lam, t, bend)
        slope, bend = slope - 1.0, bend - 1.0
        size = 1e-2 * np.abs(w[w != 0.0]).min() / (1.0 + np.abs(t).max())
        ahead, here, behind = (lam * penalty.value(w + s * size * t) for s in (1.0, 0.0, -1.0))
        assert (ahead - behind) / (2 * size) == pytest.approx(float(slope @ t), rel=1e-4, abs=1e-8)
        rounding = 1e-15 * (1.0 + abs(here)) / size**2
        assert (ahead - 2 * here + behind) / size**2 == pytest.approx(float(bend @ t), rel=1e-2, abs=rounding)
        assert float(bend @ t) <= penalty.curvature_bound(w, lam) * float(t @ t) * (1 + 1e-12) + 1e-14
        compared += bool(t.any())
    assert compared >= 10


def test_l1_linf_prox_ties_to_the_last_bit() -> None:
    penalty = penalties.create("l1/linf")
    tied = 0
    for v, tau in rows(7, 60):
        p = prox(penalty, v, tau)
        top = np.abs(p).max()
        clipped = np.abs(v) > top
        assert (np.abs(p)[clipped] == top).all() and (p[~clipped] == v[~clipped]).all()
        tied += clipped.sum() > 1
    assert tied > 10


class Impatient:
    """A row that may be read only so often: an endless loop becomes a failure."""

    def __init__(self, values: np.ndarray, reads: int) -> None:
        self.values, self.size, self.left = values, values.size, reads

    def __getitem__(self, k: int) -> float:
        self.left -= 1
        assert self.left > 0, f"no end for {self.values!r}"
        return float(self.values[k])


def test_projections_end_when_an_entry_ties_with_the_threshold() -> None:
    penalty = penalties.create("l1/linf")
    rng = np.random.default_rng(6)
    for _ in range(3000):
        m = int(rng.integers(2, 9))
        v = rng.integers(1, 13, m) / 10 * rng.choice([1.0, 1 / 3, 1 / 7], m)
        theta = float(rng.choice(v))
        radius = float(sum(max(x - theta, 0.0) for x in v))
        if radius > 0.0:
            found = interpreted(l1_threshold)(Impatient(v, 400), radius)
            assert found == pytest.approx(theta, rel=1e-12)
            penalty.violation(Impatient(-v, 400), np.ones(m), radius)


@pytest.mark.parametrize(
    ("mixed", "rho", "pure"),
    [
        ("sparse-group", 0.0, "l1/l2"),
        ("sparse-group", 1.0, "l1"),
        ("elastic-net", 1.0, "l1"),
        ("elastic-net", 0.0, "ridge"),
    ],
)
def test_the_ends_of_rho_are_other_penalties(mixed: str, rho: float, pure: str) -> None:
    a, b = penalties.create(mixed, rho=rho), penalties.create(pure)
    points = rows(4)
    for (v, tau), (w, _) in zip(points, reversed(points), strict=True):
        assert a.value(v) == pytest.approx(b.value(v), rel=1e-14)
        np.testing.assert_allclose(prox(a, v, tau), prox(b, v, tau), rtol=1e-14)
        assert a.violation(v, w, tau) == pytest.approx(b.violation(v, w, tau), rel=1e-13, abs=1e-14)
        assert a.zero_threshold(v) == pytest.approx(b.zero_threshold(v), rel=1e-14)
        assert a.dual_norm(v) == pytest.approx(b.dual_norm(v), rel=1e-14)
        inside = v / a.dual_norm(v) if a.dual_norm(v) > 0 else v
        assert a.conjugate(inside) == pytest.approx(b.conjugate(inside), rel=1e-14)


# Each type of number costs a compilation; in single precision two penalties stand for all.
SINGLE = [
    (next(p.values[0] for p in PENALTIES if bool(p.values[0].fields) == given), np.float32) for given in (False, True)
]


@pytest.mark.parametrize(("penalty", "dtype"), [*((p.values[0], np.float64) for p in PENALTIES), *SINGLE])
def test_compiled_kernels_do_what_the_interpreted_functions_do(penalty: Any, dtype: type) -> None:
    rng = np.random.default_rng(7)
    W = np.array([v * (k % 3 > 0) for k, (v, _) in enumerate(rows(5, 12))]).astype(dtype)
    G = rng.standard_normal(W.shape).astype(dtype)
    tol = {"rtol": 1e-12, "atol": 1e-12} if dtype is np.float64 else {"rtol": 1e-5, "atol": 1e-5}

    def both(kernel: Any, *args: Any) -> None:
        np.testing.assert_allclose(kernel(*args), interpreted(kernel)(*args), **tol)

    both(penalty_sum, W, penalty)
    both(row_duals, G, 0.3, 0.5, penalty)
    both(critical_lam, G, 0.3, penalty)
    found = [(np.empty(len(W)), np.empty(len(W))) for _ in range(2)]
    for kernel, (exact, paper) in zip((row_violations, interpreted(row_violations)), found, strict=True):
        kernel(G, 0.3, W, 0.5, penalty, penalty.is_norm, exact, paper)
    np.testing.assert_allclose(found[0], found[1], **tol)
    assert np.isnan(found[0][1]).all() != penalty.is_norm


@every_penalty
def test_rows_of_one_entry_have_the_violations_and_levels_of_all_rows(penalty: Any) -> None:
    """One kernel evaluates them for all penalties that are Σ a|w| + ½b·w² then."""
    rng = np.random.default_rng(11)
    W = rng.standard_normal((40, 1)) * (rng.random((40, 1)) < 0.4)
    G, lam, regulariser = rng.standard_normal((40, 1)), 0.6, RowRegulariser(penalty, 1)
    found, expected = [(np.empty(40), np.empty(40)) for _ in range(2)]
    regulariser.violations(G, 0.7, W, lam, *found)
    interpreted(row_violations)(G, 0.7, W, lam, penalty, penalty.is_norm, *expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    regulariser.levels(G, 0.7, found[0])
    np.testing.assert_allclose(found[0], [penalty.zero_threshold(0.7 * g) for g in G], rtol=1e-12)


@every_norm
def test_paper_criterion_is_the_excess_of_the_dual_norm(penalty: Any) -> None:
    W = np.array([[0.0, 0.0, 0.0], [1.0, -2.0, 0.5]])
    G = np.array([[0.1, 0.2, -0.3], [0.4, 0.5, -1.0]])
    exact, paper = np.empty(2), np.empty(2)
    for lam in (0.05, 5.0):
        row_violations(G, 1.0, W, lam, penalty, True, exact, paper)
        excess = [penalty.dual_norm(g) - lam for g in G]
        np.testing.assert_allclose(paper, [max(excess[0], 0.0), abs(excess[1])], rtol=1e-12)
