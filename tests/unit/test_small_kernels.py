"""Small kernels and helpers by themselves: slips that a whole run would only pay for in time, or never show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import interpreted
from sparsescope.kernels import label_search
from sparsescope.kernels.augmented import loss_curvature
from sparsescope.kernels.covariance import slope_of
from sparsescope.kernels.proximal import prox_rows
from sparsescope.kernels.rows import loss_gradient
from sparsescope.kernels.splitting import CROSS, MOVED, Mixed, linear_step
from sparsescope.kernels.stochastic import catch_up
from sparsescope.losses import label_flows
from sparsescope.losses.logistic import largest
from sparsescope.losses.pairs import active_sides, extremes
from sparsescope.problems.covariance_certificate import dual_value
from sparsescope.problems.interior_cones import INSIDE, Lengths
from sparsescope.solvers.shared.augmented import Lagrangian
from sparsescope.solvers.shared.pacing import SearchPacing


def test_the_largest_entry_is_found_wherever_it_stands() -> None:
    for size in range(1, 14):
        for at in range(size):
            z = -1.0 - np.arange(size, dtype=float)
            z[at] = 2.0
            assert interpreted(largest)(z) == 2.0
            z[at] = -0.5
            assert interpreted(largest)(z) == -0.5


def test_a_slope_is_an_inner_product_whatever_the_length() -> None:
    rng = np.random.default_rng(0)
    for p in (1, 2, 7, 8, 9, 16, 19):
        Sigma, u = rng.standard_normal((p, p)), rng.standard_normal(p)
        for i in range(p):
            assert interpreted(slope_of)(Sigma, u, i) == pytest.approx(Sigma[i] @ u)


@pytest.mark.parametrize("shape", [(5, 2), (2, 5)])
def test_every_row_has_its_prox(shape: tuple[int, int]) -> None:
    V = np.random.default_rng(0).standard_normal(shape)
    penalty = ss.Problem(np.eye(shape[0]), np.arange(shape[0]) % 2, penalty="l1/l2", lam=0.1).row_penalty
    out = np.full(shape, np.nan)
    interpreted(prox_rows)(V, 0.3, penalty, out)
    norms = np.linalg.norm(V, axis=1, keepdims=True)
    np.testing.assert_allclose(out, np.maximum(1.0 - 0.3 / norms, 0.0) * V)


@pytest.mark.parametrize("adds_up", [False, True])
def test_a_row_that_the_steps_bring_to_zero_is_said_to_be_zero(adds_up: bool) -> None:
    penalty, taus = ss.penalties.ElasticNet(rho=0.5), np.full(4, 0.1)
    sums = np.concatenate([[0.0], np.cumsum([penalty.addend(tau) for tau in taus])])
    small, large = np.array([1e-3, 0.0, -1e-3]), np.array([3.0, 0.0, 0.0])
    assert not interpreted(catch_up)(small, penalty, adds_up, taus, sums, 0, 4) and not small.any()
    assert interpreted(catch_up)(large, penalty, adds_up, taus, sums, 0, 4) and large[0] > 0.0
    expected = np.array([3.0, 0.0, 0.0])
    for tau in taus:
        penalty.prox(expected.copy(), tau, expected)
    np.testing.assert_allclose(large, expected)


def test_the_curvature_of_the_losses_has_a_column_for_each_direction() -> None:
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((3, 4)), np.array([0, 3, 1])
    loss = ss.losses.Logistic()
    C = np.full((3, 4, 4), np.nan)
    interpreted(loss_curvature)(Z, Y, loss, C)
    for z, found in zip(Z, C, strict=True):
        p = np.exp(z) / np.exp(z).sum()
        np.testing.assert_allclose(found, np.diag(p) - np.outer(p, p), rtol=1e-12)


def test_labels_with_an_active_hinge_are_counted_on_both_sides() -> None:
    z, y = np.array([2.0, 0.4, -1.0, 1.2, 0.0, -3.0]), np.array([1, 1, 0, 0, 0, 0], np.uint8)
    low, high, size = interpreted(extremes)(z, y)
    assert (low, high, size) == (0.4, 1.2, 2)
    # in the set: those below high + 1 = 2.2; off it: those above low − 1 = −0.6
    assert interpreted(active_sides)(z, y, low, high) == (2, 2)
    assert interpreted(active_sides)(np.array([3.0, *z[1:]]), y, low, high) == (1, 2)


@pytest.mark.parametrize("size", [255, 256, 300])
def test_sets_of_more_than_255_labels_are_counted_without_a_compiler_too(size: int) -> None:
    """A sum of uint8 overflows in plain Python, and not in compiled code."""
    y = np.zeros(2 * size, np.uint8)
    y[:size] = 1
    assert interpreted(extremes)(np.zeros(2 * size), y)[2] == size
    U = np.where(y == 1, -1.0, 1.0)[None] / size
    given = U.copy()
    interpreted(label_flows.cut_lonely_labels)(U, y[None])
    assert not U.any(), "with one sample all labels are lonely"
    both = np.vstack([given, -given])
    kept: Any = both.copy()
    interpreted(label_flows.cut_lonely_labels)(kept, np.vstack([y, 1 - y]))
    np.testing.assert_array_equal(kept, both)


def test_where_the_signs_of_theta_give_no_dual_point_the_scaled_inverse_does() -> None:
    """With the whole diagonal Λ added: that makes the determinant, and so the bound, as large as it may be."""
    S, Lam = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([[0.1, 0.5], [0.5, 0.1]])
    Theta = np.array([[1.0, 0.2], [0.2, 1.0]])
    assert np.linalg.eigvalsh(S + np.copysign(Lam, Theta))[0] < 0.0, "the first choice of U is no dual point"
    Sigma = np.linalg.inv(Theta)
    wanted = 1.1 * Sigma[0, 1] / Sigma[0, 0] - 0.9  # off the diagonal, of Σ with the variances S + Λ
    off = 0.9 + wanted * min(1.0, 0.5 / abs(wanted))
    assert dual_value(S, Lam, Theta, Sigma) == pytest.approx(np.log(1.1**2 - off**2) + 2.0)


def test_at_an_exact_optimum_a_step_reports_no_sweeps() -> None:
    problem = ss.CovarianceProblem(np.diag([1.0, 2.0]), lam=0.1)
    for name in ("quic", "lhac-covariance"):
        solver = ss.registry.solvers.create(name)
        state = solver.init(problem)
        solver.step(problem, state)  # two features that have nothing to do with each other: the diagonal is the answer
        assert (state.inner_sweeps, state.coordinate_steps, state.step_flops) == (0.0, 0.0, 0.0)


def test_a_gradient_of_zero_is_settled_whatever_the_multipliers_would_do() -> None:
    problem = ss.Problem(np.eye(4), np.arange(4) % 2, loss="logistic", lam=0.1)
    point = Lagrangian(problem, np.zeros((4, 2)), np.zeros((4, 2)))
    point.Pn = point.P.copy()  # the multipliers stay where they are
    point.G = np.ones_like(point.G)
    assert not point.settled()
    point.G = 1e-17 * np.ones_like(point.G)
    assert point.settled()


@pytest.mark.parametrize("penalty", ["l1/l2", "ridge"])
def test_the_gradients_of_a_solution_prove_nearly_its_objective_for_other_weights_too(penalty: str) -> None:
    data = ss.datasets.load("iris")
    problem = ss.Problem(data.X[::4], data.y[::4], loss="logistic", penalty=penalty, lam_ratio=0.3)
    best = ss.solve(problem, "fista-ls", tol=1e-7, certify_every=20)
    U = np.empty((problem.n, problem.m))
    loss_gradient(problem.scores(best.W), *problem.terms, U)
    found = ss.certify(problem, 0.5 * best.W, dual=U)
    assert found.dual == pytest.approx(best.objective, rel=1e-3) and found.dual <= best.objective
    assert found.gap == pytest.approx(found.objective - found.dual)
    assert found.relative_gap == pytest.approx(found.gap / found.objective)


def test_random_numbers_are_those_of_the_generator_that_the_search_names() -> None:
    """Knuth's MMIX constants: the next state by whole numbers of Python, its upper 53 bits in [0, 1)."""
    state, expected = np.array([7], np.uint64), 7
    with np.errstate(over="ignore"):
        for _ in range(5):
            expected = (expected * 6364136223846793005 + 1442695040888963407) % 2**64
            assert interpreted(label_search.draw)(state) == (expected >> 11) / 2.0**53
            assert int(state[0]) == expected


def test_the_linear_step_reports_its_moves_along_those_of_zeta() -> None:
    """⟨ΔH, Δζ⟩ − ⟨ΔY, Δζ⟩, from the images that the step leaves; Z = VZ adds nothing."""
    rng = np.random.default_rng(0)
    n, m, sigma = 3, 4, 0.7
    Y = np.array([0, 2, 3])
    Z, zeta, zetaV, HQ, H, U = (rng.standard_normal((n, m)) for _ in range(6))
    Q, q = np.abs(rng.standard_normal((n, m))), np.abs(rng.standard_normal(n)) + 2.0
    old, mass, report, none = (Q.copy(), HQ.copy(), zetaV.copy(), q.copy()), np.zeros(n), np.zeros(2), np.zeros((n, m))
    interpreted(linear_step)(
        *(Mixed(Z, Z.copy(), none), Mixed(zeta, zetaV, none), Mixed(U, Q, none), Mixed(mass, q, np.zeros(n))),
        *(Mixed(H, HQ, none), Y, 1.0, sigma, 1.0, 0.0, 0.0, 0, n, report),
    )
    point, image = old[0], U.copy()
    point[np.arange(n), Y] += old[3]
    image[np.arange(n), Y] += mass
    assert (image >= 0.0).all() and (np.ptp(H - old[1] - sigma * (2.0 * zeta - old[2]), axis=1) < 1e-12).all()
    along = ((H - old[1]) - (image - point)) * (zeta - old[2])
    assert report[CROSS] == pytest.approx(along.sum())
    assert report[MOVED] == pytest.approx(((H - old[1]) ** 2).sum() + ((image - point) ** 2).sum())


def test_squared_residuals_of_weighted_samples_are_repaired_in_proportion_to_the_weights() -> None:
    rng = np.random.default_rng(2)
    U, weights = rng.standard_normal((7, 3)), rng.uniform(0.2, 3.0, 7)
    repaired = U.copy()
    ss.losses.Squared().repair_weighted(repaired, None, weights)
    np.testing.assert_allclose(repaired.sum(axis=0), 0.0, atol=1e-14)
    moved = (U - repaired) / weights[:, None]
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), rtol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_a_weighted_gram_matrix_leaves_out_samples_without_weight(intercept: bool, made: Any) -> None:
    rng = np.random.default_rng(3)
    X, c = rng.standard_normal((9, 4)), rng.uniform(0.5, 2.0, 9)
    c[[1, 5]] = 0.0
    problem = SimpleNamespace(n=9, intercept=intercept, design=SimpleNamespace(is_sparse=made is sp.csr_array))
    own: Any = SimpleNamespace(problem=problem)
    full = np.column_stack([X, np.ones(9)]) if intercept else X
    np.testing.assert_allclose(Lagrangian._weighted_gram(own, made(X), c), full.T @ (c[:, None] * full), rtol=1e-12)
    assert Lagrangian._weighted_gram(own, made(X), 0.0 * c) is None


def test_duals_of_norms_are_held_inside_their_balls() -> None:
    cost = np.array([1.0, 2.0])
    lengths = Lengths(np.arange(6).reshape(2, 3), cost, 1.0)
    short, long = np.full((2, 3), 0.1), np.full((2, 3), 5.0)
    np.testing.assert_array_equal(lengths.hold(short), short)
    held = lengths.hold(long)
    np.testing.assert_allclose(np.linalg.norm(held, axis=1), INSIDE * cost)
    np.testing.assert_allclose(lengths.cone.z, np.column_stack([cost, -held]))


def test_searching_is_most_of_the_work_where_it_is_two_thirds_of_it() -> None:
    assert SearchPacing.is_most(6.5, 9.0) and not SearchPacing.is_most(5.5, 9.0)
    assert not SearchPacing.is_most(9.0, 9.0), "no steps, nothing to compare with"
