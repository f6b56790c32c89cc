"""The contract of penalties over blocks of features in a class, run over the registry, against formulas in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import (
    BLOCK_PENALTIES,
    PREDICTING,
    block_prox,
    cases,
    forms,
    gradient,
    interpreted,
    iris,
    members,
    objective,
    omega,
    random_point,
    text,
)
from sparsescope.kernels import blocks as kernels
from sparsescope.problems.regulariser import BlockRegulariser, regulariser_of
from sparsescope.registry import penalties, solvers

D, M = 11, 3
MIXED = ((10, 0, 3), (1,), (9, 2, 8, 4), (7, 5, 6))  # blocks whose features are anywhere, for D features
KINDS = [penalties[name] for name in BLOCK_PENALTIES]
CASES = [
    *cases(penalties, BLOCK_PENALTIES),
    *(pytest.param(kind(blocks=MIXED), id=f"{kind.__name__}-mixed") for kind in KINDS),
]
every_case = pytest.mark.parametrize("penalty", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)
TAKE_BLOCKS = [name for name in PREDICTING if solvers[name].takes_blocks and solvers[name].losses == ()]


def of(penalty: Any, d: int = D) -> BlockRegulariser:
    made = regulariser_of(penalty, (d, 1), None, lambda key, make: make())
    assert isinstance(made, BlockRegulariser)
    return made


def weights(seed: int = 0) -> np.ndarray:
    """Weights with zero blocks, rows and entries."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((D, M)) * (rng.random((D, M)) < 0.7)
    W[:5] *= rng.random((1, M)) < 0.6
    return W


def vectors(penalty: Any, A: np.ndarray) -> list[np.ndarray]:
    return [A[block, k] for block in members(penalty, len(A)) for k in range(A.shape[1])]


@every_case
def test_value_and_counts_follow_the_formula(penalty: Any) -> None:
    W = weights()
    value, rows, entries = of(penalty).value(W)
    assert value == pytest.approx(omega(penalty, W), rel=1e-13)
    assert (rows, entries) == (W.any(axis=1).sum(), np.count_nonzero(W))
    assert of(penalty).value(np.zeros((D, M))) == (0.0, 0, 0)


@every_case
def test_prox_follows_the_formula_and_is_optimal(penalty: Any) -> None:
    rng = np.random.default_rng(1)
    for tau in (0.05, 0.8, 3.0):
        V = weights(2) * 2.0
        out = np.full_like(V, np.nan)
        of(penalty).prox(V, tau, out)
        np.testing.assert_allclose(out, block_prox(penalty, V, tau), atol=1e-13)
        best = 0.5 * ((out - V) ** 2).sum() + tau * omega(penalty, out)
        for scale in (1e-4, 1e-2, 1.0):
            other = out + scale * rng.standard_normal(V.shape) * (rng.random(V.shape) < 0.5)
            cost = 0.5 * ((other - V) ** 2).sum() + tau * omega(penalty, other)
            assert cost - best >= 0.5 * ((other - out) ** 2).sum() - 1e-12
        of(penalty).prox(V, tau, V)
        np.testing.assert_array_equal(V, out)


@every_case
def test_dual_norm_is_the_dual_norm(penalty: Any) -> None:
    regulariser = of(penalty)
    G = weights(3)
    top = max(penalty.row.dual_norm(v) for v in vectors(penalty, G))
    assert regulariser.dual_norm(G) == pytest.approx(top, rel=1e-13)
    assert regulariser.duals(G, 0.3, 2.0) == (pytest.approx(0.3 * top, rel=1e-13), 0.0)
    assert regulariser.zero_threshold(G, 0.3) == pytest.approx(0.3 * top, rel=1e-13)
    rng = np.random.default_rng(4)
    for _ in range(100):  # ⟨G, W⟩ ≤ Ω°(G)·Ω(W)
        W = rng.standard_normal(G.shape) * (rng.random(G.shape) < 0.3)
        assert np.vdot(G, W) <= top * omega(penalty, W) + 1e-12


@every_case
def test_violation_is_the_distance_from_the_subdifferential_of_each_block(penalty: Any) -> None:
    regulariser, lam = of(penalty), 0.7
    G, W = weights(5) * 2.0, weights(6)
    exact, paper = np.full(D, np.nan), np.full(D, np.nan)
    regulariser.violations(G, 0.5, W, lam, exact, paper)
    firsts = [int(block[0]) for block in members(penalty, D)]
    assert not np.delete(exact, firsts).any() and not np.delete(paper, firsts).any()
    for block in members(penalty, D):
        total, top = 0.0, 0.0
        for g, w in ((0.5 * G[block, k], W[block, k]) for k in range(M)):
            excess = penalty.row.dual_norm(g) - lam
            top = max(top, abs(excess) if w.any() else excess)
            total += penalty.row.violation(g, w, lam) ** 2  # another contract holds this of one vector
        assert exact[block[0]] == pytest.approx(np.sqrt(total), rel=1e-12)
        assert paper[block[0]] == pytest.approx(top, rel=1e-12)
    # W = prox_λΩ(W − G) exactly at optimality: make such a pair.
    V = weights(7) * 3.0
    regulariser.prox(V, lam, W)
    regulariser.violations(W - V, 1.0, W, lam, exact, paper)
    np.testing.assert_allclose(exact, 0.0, atol=1e-13)


@every_kind
def test_blocks_of_one_are_the_lasso_and_a_block_of_all_is_the_norm_of_a_class(kind: Any) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, penalty="l1", lam=0.05)
    W, _ = random_point(problem)
    one, lasso = problem.with_(penalty=kind(size=1)), problem.certificate(W)
    found = one.certificate(W)
    for fact in ("objective", "dual", "gap", "violation", "violation_sum", "nonzero_rows", "nonzero_entries"):
        assert getattr(found, fact) == pytest.approx(getattr(lasso, fact), rel=1e-12)
    assert one.lam_max == pytest.approx(problem.lam_max, rel=1e-13)
    # Value, bounds and prox are all that a solver sees of a penalty: nothing has to be solved.
    ends = [np.empty_like(W), np.empty_like(W)]
    for p, end in zip((problem, one), ends, strict=True):
        p.regulariser.prox(W, 0.4, end)
    assert 0 < np.count_nonzero(ends[0]) < W.size
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-14)
    whole, V, out = of(kind(blocks=[D])), weights(8), np.empty((D, M))
    whole.prox(V, 0.6, out)
    expected = np.empty((M, D))
    for k in range(M):
        kind.row.prox(V[:, k].copy(), 0.6, expected[k])
    np.testing.assert_allclose(out, expected.T, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_kernels_do_what_the_interpreted_functions_do(dtype: type) -> None:
    kind = penalties["block-l1/l2" if dtype is np.float64 else "block-l1/linf"]
    parts = of(kind(blocks=MIXED)).parts
    W, G = weights(9).astype(dtype), (weights(10) * 3.0).astype(dtype)
    tol = {"rtol": 1e-12, "atol": 1e-13} if dtype is np.float64 else {"rtol": 1e-5, "atol": 1e-6}
    for name, given in (("block_sum", (W,)), ("block_duals", (G, 0.3, 0.5)), ("critical_block", (G, 0.3))):
        kernel = getattr(kernels, name)
        np.testing.assert_allclose(kernel(*given, *parts), interpreted(kernel)(*given, *parts), **tol)
    ends = []
    for run in (lambda kernel: kernel, interpreted):
        out, exact, paper = np.empty_like(W), np.empty(D), np.empty(D)
        run(kernels.prox_blocks)(W, 0.4, *parts, out)
        run(kernels.block_violations)(G, 0.3, W, 0.5, *parts, exact, paper)
        ends.append((out, exact, paper))
    for compiled, plain in zip(*ends, strict=True):
        np.testing.assert_allclose(compiled, plain, **tol)


# --------------------------------------------------------------------------------------------------------- of problems
@every_kind
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_objective_and_lam_max_for_every_form_of_data(kind: Any, intercept: bool) -> None:
    matrix, y = text()
    penalty = kind(size=7)
    for form, X in forms(matrix):
        single = form == "csr" and kind is KINDS[1]  # each type of number costs a compilation
        problem = ss.Problem(X.astype(np.float32) if single else X, y, penalty=penalty, lam=0.02, intercept=intercept)
        rel = 1e-5 if single else 1e-12
        W, b = random_point(problem)
        shift = 0.0 if b is None else b
        expected = objective(X, y, problem.loss, penalty, 0.02, W, shift)
        assert problem.objective(W, b) == pytest.approx(expected, rel=rel)
        assert problem.certificate(W, b).penalty == pytest.approx(omega(penalty, W), rel=rel)
        zero, start = np.zeros((problem.d, problem.m)), problem.null_intercept if intercept else None
        G, _ = gradient(X, y, problem.loss, zero, 0.0 if start is None else start)
        top = max(penalty.row.dual_norm(v) for v in vectors(penalty, G))
        assert problem.lam_max == pytest.approx(top, rel=max(rel, 1e-6))
        above, below = problem.with_lam(1.001 * problem.lam_max), problem.with_lam(0.99 * problem.lam_max)
        assert above.violation(zero, start) <= 1e-6 * problem.lam_max < below.violation(zero, start)


@pytest.mark.parametrize(
    ("kind", "loss", "intercept"),
    [
        (KINDS[0], "multiclass-squared-hinge", False),
        pytest.param(KINDS[0], "multiclass-squared-hinge", True, marks=pytest.mark.slow),
        pytest.param(KINDS[1], "logistic", False, marks=pytest.mark.slow),
        (KINDS[1], "logistic", True),
    ],
)
def test_every_solver_that_takes_blocks_finds_the_same_certified_optimum(kind: Any, loss: str, intercept: bool) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, loss=loss, penalty=kind(blocks=[[2, 0], [1], [3]]), intercept=intercept)
    problem = problem.with_lam(0.1 * problem.lam_max)
    found = {
        name: ss.solve(problem, name, tol=1e-8, max_iter=30_000, record=False, certify_every=20) for name in TAKE_BLOCKS
    }
    assert {"ista", "fista-ls", "fista-cst", "sparsa", "working-set"} <= set(found)
    best = min(f.objective for f in found.values())
    for name, result in found.items():
        assert result.converged and result.relative_gap <= 1e-8, name
        assert result.objective - best <= 1e-8 * best, name
        at = problem.certificate(result.W, result.b)
        assert at.gap >= at.objective - best - 1e-13
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.3):
        W = result.W + scale * rng.standard_normal(result.W.shape)
        assert problem.gap(W, result.b) >= problem.objective(W, result.b) - best - 1e-13, "the gap promises too much"


def test_single_precision_and_sparse_data_give_the_same_to_single_precision() -> None:
    matrix, y = text()
    ends = []
    for dtype in (np.float64, np.float32):
        problem = ss.Problem(matrix.astype(dtype), y, penalty=ss.penalties.BlockL1Linf(blocks=[20, 30]), intercept=True)
        ends.append(ss.solve(problem.with_lam(0.2), "fista-ls", tol=1e-4, max_iter=5000, record=False))
    exact, single = ends
    assert single.W.dtype == np.float32 and exact.converged and single.converged
    assert single.objective == pytest.approx(exact.objective, rel=2e-4)


@pytest.mark.parametrize("name", TAKE_BLOCKS)
def test_the_penalty_can_change_from_rows_to_blocks_and_back_in_mid_run(name: str) -> None:
    matrix, y = text()
    rows = ss.Problem(matrix, y, penalty="l1/l2", intercept=True)
    rows = rows.with_lam(0.2 * rows.lam_max)
    blocks = rows.with_(penalty=ss.penalties.BlockL1L2(size=4))
    run = ss.Run(rows, name)
    for problem in (rows, blocks, rows):
        run.change(problem=problem)
        for _ in range(12):
            event = run.advance()
        state = event.state
        assert event.objective == pytest.approx(problem.objective(state.weights(), state.intercept()), rel=1e-10)
    start = rows.with_lam(0.2 * rows.lam_max)
    assert ss.solve(start, name, W=state.weights(), b=state.intercept(), tol=1e-5, max_iter=20_000).converged


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in PREDICTING
        if name not in TAKE_BLOCKS and not solvers[name].takes_blocks and not solvers[name].delegates
    ],
)
def test_solvers_that_go_row_by_row_say_who_can(name: str) -> None:
    X, y = iris()
    reason = solvers.create(name).solves(ss.Problem(X, y, penalty="block-l1/l2"))
    assert reason is not None
    assert {"ista", "fista-cst", "fista-ls", "sparsa"} <= set(reason.split("Solvers that fit: ")[1].split(", "))
    with pytest.raises(ValueError, match="ties the rows of a block"):
        ss.solve(ss.Problem(X, y, penalty="block-l1/linf"), name)


@every_kind
@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "crammer-singer"])
def test_auto_takes_a_solver_that_takes_blocks_and_says_why(kind: Any, loss: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, loss=loss, penalty=kind(blocks=[3, 1]), lam=0.05)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=20_000, record=False, certify_every=20)
    assert found.converged and found.relative_gap <= 1e-6
    if problem.loss.smooth:
        assert found.reason.startswith("working-set: ") and "blocks" in found.reason
    else:
        assert found.reason.startswith("ssnal: ")
