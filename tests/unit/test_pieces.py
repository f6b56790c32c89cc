"""Smooth pieces of penalties over blocks: the operations of a Newton step, against the vectors of blocks one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import BLOCK_PENALTIES, digits, members
from sparsescope.kernels.rows import loss_sum
from sparsescope.registry import penalties
from sparsescope.solvers import WorkingSet
from sparsescope.solvers.auto import choose
from sparsescope.solvers.shared import newton as newton_module
from sparsescope.solvers.shared.newton import Newton, able
from sparsescope.solvers.shared.pieces import pieces_of

BLOCKS = [[10, 0, 3], [1], [9, 2, 8, 4], [7, 5, 6]]  # features anywhere, blocks of different sizes
every_kind = pytest.mark.parametrize("kind", [penalties[name] for name in BLOCK_PENALTIES])
both = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])


def setting(kind: Any, intercept: bool, weighted: bool = False) -> tuple[ss.Problem, np.ndarray, Any]:
    """A problem, weights with zero blocks and tied entries, in and out of use, and their pieces."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    c = None
    if weighted:
        c = np.empty(11)
        for block, weight in zip(BLOCKS, (0.5, 1.0, 2.0, 1.5), strict=True):
            c[block] = weight
    problem = ss.Problem(
        rng.standard_normal((30, 11)), y, penalty=kind(blocks=BLOCKS), lam=0.3, intercept=intercept, feature_weights=c
    )
    W = np.empty((11, 3))
    problem.regulariser.prox(2.0 * rng.standard_normal((11, 3)), 0.8, W)
    W[[9, 2, 8, 4], 1] = 0.0
    W[1] = 0.0
    coef = np.vstack([W, rng.standard_normal((1, 3))]) if intercept else W
    pieces = pieces_of(problem, W)
    assert pieces is not None and 1 not in pieces.rows
    at = np.append(pieces.rows, 11) if intercept else pieces.rows
    return problem, np.ascontiguousarray(coef[at]), pieces


def one_by_one(problem: ss.Problem, pieces: Any, W: np.ndarray, apply: Any) -> None:
    """Call ``apply(penalty of the block, λ, places)`` for each block of a class that is not zero."""
    place = {int(j): i for i, j in enumerate(pieces.rows)}
    for b, block in enumerate(members(problem.penalty, problem.d)):
        rows = [place[int(j)] for j in block if int(j) in place]
        for k in range(problem.m):
            if rows and W[rows, k].any():
                apply(problem.regulariser.row.at(b), (rows, k))


@every_kind
@both
@weighted
def test_every_operation_is_that_of_the_vectors(kind: Any, intercept: bool, weighted: bool) -> None:
    problem, W, pieces = setting(kind, intercept, weighted)
    rng, s = np.random.default_rng(1), pieces.rows.size
    G, V, R, shift = (rng.standard_normal(W.shape) for _ in range(4))
    H = rng.random(W.shape) + 0.1
    damping, out, expected = 0.2, V.copy(), np.zeros_like(W)
    if intercept:
        expected[s:] = G[s:]

    def gradient(penalty: Any, at: Any) -> None:
        g = G[at].copy()
        penalty.gradient(W[at], problem.lam, g)
        penalty.project_tangent(W[at], g)
        expected[at] = g

    one_by_one(problem, pieces, W, gradient)
    found = G.copy()
    pieces.gradient(W, found)
    np.testing.assert_allclose(found, expected, atol=1e-14)

    diagonal = H.copy()
    pieces.damp(W, diagonal, damping)
    expected = np.zeros_like(W)
    if intercept:
        np.testing.assert_allclose(diagonal[s:], damping * H[s:])
        expected[s:] = shift[s:] + damping * H[s:] * V[s:]

    def hessian(penalty: Any, at: Any) -> None:
        stiff = penalty.curvature_bound(W[at], problem.lam)
        np.testing.assert_allclose(diagonal[at], damping * (H[at] + stiff))
        v, h = V[at].copy(), (shift[at] + diagonal[at] * V[at]).copy()
        penalty.hessian_vec(W[at], problem.lam, v, h)
        penalty.project_tangent(W[at], h)
        expected[at] = h

    one_by_one(problem, pieces, W, hessian)
    out = shift.copy()
    pieces.hessian(W, V, diagonal, out)
    np.testing.assert_allclose(out, expected, atol=1e-13)

    expected = np.zeros_like(W)
    if intercept:  # the loss does not bend where all scores of a sample rise together
        h = H[s]
        expected[s] = np.linalg.solve(np.diag((1.0 + damping) * h) - np.outer(h, h) / h.sum(), R[s])

    def precondition(penalty: Any, at: Any) -> None:
        w, bent = W[at], np.zeros(W[at].shape)
        penalty.hessian_vec(w, problem.lam, w, bent)
        stiff = penalty.curvature_bound(w, problem.lam)
        dip = stiff - (w @ bent) / (w @ w)
        r = np.linalg.solve(np.diag((1.0 + damping) * (H[at] + stiff)) - dip * np.outer(w, w) / (w @ w), R[at])
        penalty.project_tangent(w, r)
        expected[at] = r

    one_by_one(problem, pieces, W, precondition)
    pieces.precondition(W, R, out)
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-13)

    whole = np.zeros((problem.d, problem.m))
    omega = pieces.moved(W, expected, 0.3, out)
    whole[pieces.rows] = out[:s]
    assert omega == pytest.approx(problem.regulariser.value(whole)[0], rel=1e-13)
    np.testing.assert_allclose(out, W + 0.3 * expected)


@every_kind
@both
def test_a_newton_step_on_blocks_lowers_the_objective_and_keeps_zero_blocks(kind: Any, intercept: bool) -> None:
    problem = ss.Problem(*digits(), loss="logistic", penalty=kind(size=8), intercept=intercept)
    problem = problem.with_lam(0.1 * problem.lam_max)
    state = WorkingSet().init(problem)
    for _ in range(3):
        WorkingSet(newton=False).step(problem, state)
    zero = state.coef == 0.0
    blocks = problem.regulariser.blocks
    idle = np.logical_and.reduceat(zero[:64][blocks.order], blocks.indptr[:-1], axis=0)[blocks.of_feature]
    assert idle.any() and not idle.all()
    before = problem.objective(state.weights(), state.intercept())
    done = Newton(problem, 30).step(problem, state)
    assert done is not None and done.taken and done.before == pytest.approx(before, rel=1e-12)
    assert done.after == pytest.approx(problem.objective(state.weights(), state.intercept()), rel=1e-12)
    assert done.after < before
    np.testing.assert_allclose(state.Z, problem.scores(state.weights(), state.intercept()), atol=1e-10)
    assert not state.coef[:64][idle].any()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_blocks_are_certified_to_high_accuracy(sparse: bool) -> None:
    X, y = digits()
    problem = ss.Problem(sp.csr_array(X) if sparse else X, y, loss="logistic", penalty="block-l1/linf")
    problem = problem.with_lam(0.02 * problem.lam_max)
    found = ss.solve(problem, "auto", tol=1e-9, max_iter=5000, record=False, certify_every=10)
    assert found.converged, found


@pytest.mark.parametrize("penalty", ["l1/l2", "block-l1/l2"])
def test_weights_of_features_keep_the_newton_steps(penalty: str) -> None:
    X, y = digits()
    c = np.repeat(np.linspace(0.5, 2.0, 13), 5)[:64]
    problem = ss.Problem(X, y, loss="logistic", penalty=penalty, feature_weights=c, lam_ratio=0.1)
    solver, reason = choose(problem)
    assert able(problem) and solver.newton and "Newton steps on" in reason


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "squared"])
@pytest.mark.parametrize("penalty", [ss.penalties.L1L2(), ss.penalties.SparseGroup(rho=0.3), ss.penalties.Ridge()])
def test_rows_are_preconditioned_by_what_loss_and_penalty_bend_across_and_along_them(penalty: Any, loss: str) -> None:
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((20, 4)), np.arange(20) % 3, loss=loss, penalty=penalty, lam=0.7)
    W = rng.standard_normal((4, 3)) * np.array([1.0, 1e-3, 1e-6, 1.0])[:, None]
    H, R, out = rng.random(W.shape) + 0.1, rng.standard_normal(W.shape), np.empty(W.shape)
    pieces = pieces_of(problem, W)
    assert pieces is not None
    pieces.damp(W, H.copy(), 0.2)
    pieces.precondition(W, R, out)
    for j, w in enumerate(W):
        bent = np.zeros((3, 3))
        for k in range(3):
            penalty.hessian_vec(w, problem.lam, np.eye(3)[k], bent[k])
        damping = 0.2 * (H[j] + penalty.curvature_bound(w, problem.lam))
        # A loss of differences does not bend along (1, 1, 1).
        level = np.outer(H[j], H[j]) / H[j].sum() if problem.loss.of_differences else np.zeros((3, 3))
        np.testing.assert_allclose((np.diag(H[j] + damping) - level + bent) @ out[j], R[j], rtol=1e-6)


def test_a_preconditioner_is_definite_where_rows_have_one_weight_and_next_to_no_damping() -> None:
    """Along such rows neither loss nor penalty bends."""
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((20, 4)), np.arange(20) % 3, penalty="l1/l2", lam=0.7)
    for dtype, damping in ((np.float32, 1e-6), (np.float64, 1e-10)):
        W = np.full((4, 3), 0.1, dtype)
        pieces = pieces_of(problem, W)
        assert pieces is not None
        pieces.damp(W, np.full(W.shape, 0.5, dtype) * (1.0 + np.arange(4.0, dtype=dtype))[:, None], damping)
        for R in (np.ones(W.shape, dtype), rng.standard_normal(W.shape).astype(dtype)):
            out = np.empty_like(W)
            pieces.precondition(W, R, out)
            assert np.isfinite(out).all() and (np.einsum("ij,ij->i", R, out) > 0.0).all()


@pytest.mark.parametrize(("penalty", "ends"), [("l1/l2", True), ("ridge", False)])
def test_rows_that_a_step_would_carry_through_zero_end_there_if_there_is_a_kink(penalty: str, ends: bool) -> None:
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((20, 4)), np.arange(20) % 3, penalty=penalty, lam=0.7, intercept=True)
    W = rng.standard_normal((5, 3))
    pieces = pieces_of(problem, W[:4])
    assert pieces is not None
    pieces.damp(W, np.ones(W.shape), 0.2)
    D = rng.standard_normal(W.shape)
    D[[1, 4]] = -1.5 * W[[1, 4]]  # a row, and the intercept, which has no kink
    D[2] = -0.5 * W[2]
    D[[0, 3]] = W[[0, 3]]
    found = D.copy()
    assert pieces.stop_at_zero(W, found) == ends
    D[1] = -W[1] if ends else D[1]
    np.testing.assert_array_equal(found, D)


@every_kind
def test_blocks_that_a_step_would_carry_through_zero_end_there(kind: Any) -> None:
    _, W, pieces = setting(kind, intercept=True)
    pieces.damp(W, np.ones(W.shape), 0.2)
    D = -1.5 * W
    expected = np.where(np.arange(len(W))[:, None] < pieces.rows.size, -W, D)
    stopped = pieces.stop_at_zero(W, D)
    np.testing.assert_array_equal(D, expected if stopped else -1.5 * W)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_shortened_step_ends_the_rows_that_are_beyond_zero_by_then(
    monkeypatch: pytest.MonkeyPatch, sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5))
    problem = ss.Problem(sp.csc_array(X) if sparse else X, np.arange(20) % 3, penalty="l1/l2", lam=0.7, intercept=True)
    state, newton = WorkingSet().init(problem), Newton(problem, 10)
    used = [0, 1, 3, 4]
    state.coef[[*used, 5]] = rng.standard_normal((5, 3))
    problem.design.matmul(state.coef, state.Z)
    pieces = pieces_of(problem, state.coef[:5])
    assert pieces is not None
    W = state.coef[[*used, 5]]
    pieces.damp(W, np.ones(W.shape), 0.2)
    # Two of the rows would pass zero, at a quarter and at two thirds of the way; the last is the intercept.
    D = W * np.array([1.0, -1.5, -0.5, -4.0, -9.0])[:, None]
    along, tried = newton_module._loss_along, []

    def first_is_refused(problem: Any, Z: np.ndarray, E: np.ndarray, size: float) -> float:
        tried.append(size)
        return np.inf if size == 1.0 else along(problem, Z, E, size)

    monkeypatch.setattr(newton_module, "_loss_along", first_is_refused)
    move = newton._moved(problem, state, pieces, W, -D, D, 1e9)
    assert tried == [1.0, 0.5] and move.taken and move.size == 0.5 and move.trials == 2
    expected = W + 0.5 * D
    expected[3] = 0.0
    np.testing.assert_array_equal(move.W, expected)
    moved = state.coef.copy()
    moved[[*used, 5]] = expected
    scores = problem.design.matmul(moved, np.empty_like(state.Z))
    np.testing.assert_allclose(state.Z + move.size * move.E, scores, atol=1e-12)
    value = loss_sum(scores, *problem.terms) / problem.n + 0.7 * np.linalg.norm(expected[:4], axis=1).sum()
    assert move.after == pytest.approx(value, rel=1e-12)
    assert move.slope * move.size == pytest.approx(-np.sum(D * (expected - W)))


def test_a_move_that_does_not_go_down_is_not_tried() -> None:
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((20, 4)), np.arange(20) % 3, penalty="l1/l2", lam=0.7)
    state = WorkingSet().init(problem)
    state.coef[:] = rng.standard_normal(state.coef.shape)
    state.Z[:] = problem.scores(state.coef)
    pieces, W = pieces_of(problem, state.coef), state.coef.copy()
    assert pieces is not None
    pieces.damp(W, np.ones(W.shape), 0.2)
    move = Newton(problem, 10)._moved(problem, state, pieces, W, W, W, 1e9)
    assert not move.taken and move.after == 1e9


def test_newton_steps_that_end_rows_go_down_and_keep_the_scores() -> None:
    rng = np.random.default_rng(0)
    X, y = digits()
    twice = np.hstack([X, X + 1e-3 * rng.standard_normal(X.shape)])  # either of two columns can take the other's weight
    problem = ss.Problem(twice, y, penalty="l1/l2", lam_ratio=0.05)
    solver = WorkingSet(newton=False)
    newton, state = Newton(problem, 300), solver.init(problem)
    for _ in range(5):
        solver.step(problem, state)
    newton.damping = 1e-6
    rows = [np.count_nonzero(state.coef.any(axis=1))]
    for _ in range(12):
        step = newton.step(problem, state)
        assert step is not None and (step.after < step.before if step.taken else step.after == step.before)
        np.testing.assert_allclose(state.Z, twice @ state.coef, atol=1e-10)
        rows.append(np.count_nonzero(state.coef.any(axis=1)))
    assert rows[-1] < rows[0]


def test_a_shortened_step_changes_the_damping_by_what_f_fell_beside_the_promise() -> None:
    newton = Newton(ss.Problem(*digits(), lam_ratio=0.1), 10)
    newton.support = SimpleNamespace(dtype=np.dtype(np.float64))  # type: ignore[assignment]
    for agreement, factor in ((0.1, 4.0), (0.5, 1.0), (0.9, 0.25)):
        newton.damping = 0.01
        newton._trust(True, 0.5, agreement, 3)
        assert newton.damping == pytest.approx(0.01 * factor)
    newton.damping = 0.01
    newton._trust(True, 1.0, 0.1, 3)
    assert newton.damping == pytest.approx(0.0025), "a full step"
    newton.damping, newton.cg_steps = 0.01, 30
    newton._trust(False, 1.0, 0.0, 3)
    assert newton.damping == pytest.approx(0.32) and newton.cg_steps == 20
