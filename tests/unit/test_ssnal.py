"""SSNAL: optima that first-order steps come to slowly, restarts from others' points, refusals."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import FirstOrder, digits, factors, hinge_program, in_turn, iris, tags
from sparsescope.kernels.augmented import envelope, envelope_curvature
from sparsescope.pauses import pausing
from sparsescope.problems import linear_algebra, null_programs
from sparsescope.registry import penalties
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.shared import augmented, hand_over, interior_point
from sparsescope.solvers.shared.hand_over import LONG
from sparsescope.solvers.shared.proximal_point import ProximalPoint, inverses

HINGE = "crammer-singer"


@pytest.mark.parametrize(("kind", "penalty", "intercept"), in_turn(("classes", "sets"), penalties, (False, True)))
def test_every_penalty_is_certified_to_a_small_gap(
    kind: str, penalty: str, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(null_programs, "MOST_FLOWS", 0)  # the first bound on λ_max is a unit of λ as good as any
    X, y = iris() if kind == "classes" else tags()
    loss = HINGE if kind == "classes" else "separation-ranking"
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    found = ss.solve(problem, "ssnal", tol=1e-8, max_iter=3000, record=False)
    assert found.converged, found
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.parametrize("penalty", ["l1/l2", "block-l1/linf"])
@pytest.mark.parametrize("kind", ["classes", "sets"])
def test_weights_of_samples_and_features(kind: str, penalty: str) -> None:
    X, y = iris() if kind == "classes" else tags()
    X = X.toarray() if kind == "sets" else X
    loss = HINGE if kind == "classes" else "separation-ranking"
    rng = np.random.default_rng(0)
    times = rng.integers(1, 4, len(y))
    c = np.repeat(rng.uniform(0.5, 2.0, X.shape[1] // 5 + 1), 5)[: X.shape[1]]
    weighted = ss.Problem(
        X, y, loss=loss, penalty=penalty, lam=0.02, intercept=True, sample_weight=times, feature_weights=c
    )
    repeated = ss.Problem(
        np.repeat(X, times, axis=0) / c,
        np.repeat(y, times, axis=0),
        loss=loss,
        penalty=penalty,
        lam=0.02,
        intercept=True,
    )
    here, there = (
        ss.solve(problem, "ssnal", tol=1e-8, max_iter=3000, record=False) for problem in (weighted, repeated)
    )
    assert here.converged and there.converged
    assert here.objective == pytest.approx(there.objective, rel=3e-8)
    assert weighted.objective(here.W, here.b) == pytest.approx(here.objective, rel=1e-12)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_the_optimum_is_that_of_a_linear_program(intercept: bool) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, loss=HINGE, penalty="l1", intercept=intercept)
    problem = problem.with_lam(0.05 * problem.lam_max)
    value, _, _ = hinge_program(X, y, problem.lam, intercept)
    found = ss.solve(problem, "ssnal", tol=1e-9, max_iter=3000, record=False)
    assert found.converged and found.objective == pytest.approx(value, rel=2e-9)
    assert found.dual <= value * (1 + 1e-10)


def test_ten_classes_whose_optimum_is_a_corner() -> None:
    problem = ss.Problem(*digits(), loss=HINGE, penalty="l1/linf")
    problem = problem.with_lam(0.1 * problem.lam_max)
    found = ss.solve(problem, "ssnal", tol=1e-6, max_iter=3000, record=False)
    assert found.converged, found


@pytest.mark.parametrize(("loss", "kind"), [(HINGE, "classes"), ("separation-ranking", "sets")])
def test_curvature_is_the_derivative_of_the_dual_rows(loss: str, kind: str) -> None:
    X, Y = iris() if kind == "classes" else tags()
    problem = ss.Problem(X, Y, loss=loss)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((problem.n, problem.m))
    U0 = np.zeros_like(Z)
    sides: list[Any] = []
    U, C = np.empty_like(Z), np.empty((problem.n, problem.m, problem.m))
    value = envelope(Z, U0, problem.y, problem.loss, 0.7, U)
    envelope_curvature(U, problem.y, problem.loss, 0.7, C)
    D, h = rng.standard_normal(Z.shape), 1e-6
    for sign in (1.0, -1.0):
        V = np.empty_like(Z)
        sides.append((envelope(Z + sign * h * D, U0, problem.y, problem.loss, 0.7, V), V))
    assert (sides[0][0] - sides[1][0]) / (2 * h) == pytest.approx(float((U * D).sum()), rel=1e-6)
    assert value >= sides[1][0] + float((sides[1][1] * (h * D)).sum()) - 1e-12, "the envelope is convex"
    slope = (sides[0][1] - sides[1][1]) / (2 * h)
    close = np.abs(slope - np.einsum("ikr,ir->ik", C, D)).max(axis=1) < 1e-4
    assert close.mean() > 0.95, "but for samples on the edge of two pieces"


def test_few_of_many_features_and_a_start_from_fbpd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interior_point, "MOST_WORK", 0.0)  # as with more samples
    rng = np.random.default_rng(11)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 400))
    X[:, ::14] += 0.8 * rng.standard_normal((3, 29))[y]
    problem = ss.Problem(X, y, loss=HINGE, penalty="l1", intercept=True)
    problem = problem.with_lam(0.3 * problem.lam_max)
    run = ss.Run(problem, "fbpd", stop=Iterations(50))
    list(run)
    run.change(solver=ss.solvers.SSNAL())
    run.stop = Gap(1e-7) | Iterations(3000)
    last = list(run)[-1]
    assert "certified" in last.message and last.working_set < 0.6 * problem.d
    np.testing.assert_allclose(run.state.Z, problem.scores(run.state.weights(), run.state.intercept()), atol=1e-10)


# Of vectors over rows and over blocks one of each every time: what is particular to a penalty, test_pieces.py has.
OFTEN = {("l1/l2", True), ("elastic-net", False), ("block-l1/l2", True)}


@pytest.mark.parametrize(
    ("penalty", "intercept"),
    [
        pytest.param(*case, marks=() if case in OFTEN else pytest.mark.slow)
        for case in product(penalties, (False, True))
    ],
)
def test_a_smooth_loss_with_every_penalty_and_weights(penalty: str, intercept: bool) -> None:
    X, y = iris()
    rng = np.random.default_rng(0)
    problem = ss.Problem(
        X,
        y,
        loss="logistic",
        penalty=penalty,
        intercept=intercept,
        sample_weight=rng.integers(0, 4, len(y)) + 0.5,
        feature_weights=np.full(X.shape[1], 1.5),
    )
    problem = problem.with_lam(0.05 * problem.lam_reference)
    found = ss.solve(problem, "ssnal", tol=1e-9, max_iter=3000, record=False)
    assert found.converged, found
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)
    other = ss.solve(problem, "fista-ls", restart=True, tol=1e-8, max_iter=50_000, record=False)
    rounded = other.objective * (1 + 1e-12)
    assert other.converged and found.objective <= rounded and found.dual <= rounded


def test_a_smooth_loss_takes_tens_of_steps_that_lower_their_model() -> None:
    problem = ss.Problem(*iris(), loss="logistic", penalty="l1/l2", lam_ratio=0.05)
    found = ss.solve(problem, "ssnal", tol=1e-6, max_iter=100, record=False)
    assert found.converged, found


@cache
def corners() -> ss.Problem:
    X, _ = factors()
    y = np.random.default_rng(1).integers(0, 10, len(X))
    problem = ss.Problem(X, y, loss="multiclass-squared-hinge", penalty=ss.penalties.BlockL1Linf(16), intercept=True)
    return problem.with_lam(0.002 * problem.lam_max)


def test_auto_hands_on_says_so_and_keeps_the_better_point() -> None:
    run = ss.Run(corners(), "auto", stop=Iterations(LONG), certify_every=100)
    before = next(event for event in run if run.notice)
    assert before.state.delegate.name == run.reason.split(":")[0] == "ssnal"
    assert run.notice.startswith("auto goes on with ssnal: working-set did not end")
    assert before.objective == pytest.approx(run.problem.objective(*best_of(run)), rel=1e-2)
    handed_on = int(before.iteration)
    run.stop = Iterations(handed_on + 3)
    worst = 0.0
    for last in run:
        handed = run.problem.objective(*best_of(run))
        assert handed <= min(last.objective, before.objective) * (1 + 1e-12)
        worst = max(worst, last.objective)
    assert worst > before.objective, "the first step raises F, or the case says nothing"
    assert last.iteration == handed_on + 3 and last.passes > before.passes, "counts go on"
    run.change(lam=2.0 * run.problem.lam)
    assert run.reason.startswith("working-set: ") and run.state.chosen_at is None  # type: ignore[union-attr]
    run.stop = Iterations(handed_on + 8)
    list(run)
    assert run.reason.startswith("working-set: "), "steps are counted from the change on"


def best_of(run: ss.Run) -> tuple[np.ndarray, np.ndarray]:
    return run.best.weights(), run.best.intercept()


def test_a_session_marks_the_change_of_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_over, "LONG", 20)  # what is shown does not depend on the number of steps
    with ss.Session(corners(), "auto", certify_every=100) as session:
        session.step(hand_over.LONG + 1)
        assert session.wait_idle(120.0)
        assert [mark.text for mark in session.trace.marks if mark.text.startswith("auto goes on with ssnal")]


def test_a_loss_without_second_derivatives_and_problems_that_are_too_large_are_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ValueError, match=r"hessian_product.*does not define"):
        ss.Run(ss.Problem(*iris(), loss=FirstOrder()), "ssnal")
    rng = np.random.default_rng(0)
    wide = ss.Problem(rng.standard_normal((40, 1100)), np.arange(40) % 3, loss=HINGE, penalty="ridge")
    monkeypatch.setattr(interior_point, "MOST_WORK", 0.0)  # as with more samples
    with pytest.raises(ValueError, match="too large"):
        ss.Run(wide, "ssnal")


def test_a_live_change_between_smooth_losses_and_hinges_takes_duals_of_the_new_loss() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), loss="crammer-singer", lam_ratio=0.1)
    run = ss.Run(problem, "ssnal")
    for loss in ("multiclass-squared-hinge", "logistic", "crammer-singer", "separation-ranking", "logistic"):
        for _ in range(4):
            run.advance()
        run.change(loss=loss)
        event = run.observe(certify_now=True)
        assert np.isfinite(event.gap) and event.gap >= -1e-12
        assert np.isfinite(event.dual_entries) != run.problem.loss.smooth
    run.stop = ss.stopping.Gap(1e-7) | ss.stopping.Iterations(300)
    last = list(run)[-1]
    best = ss.solve(run.problem, "working-set", tol=1e-10).objective
    assert last.relative_gap <= 1e-7 and last.objective <= best * (1 + 1e-6)


# -------------------------------------------------------------------------------- proximal points, for smooth losses
def wide(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Few samples whose labels nothing predicts."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.1 * rng.standard_normal((n, d))
    return X, np.arange(n) % m


@pytest.mark.parametrize("penalty", ["l1", "l1/l2", ss.penalties.BlockL1Linf(4)])
def test_both_systems_of_a_newton_step_are_those_of_its_columns(penalty: Any) -> None:
    problem = ss.Problem(*wide(12, 9, 3), loss="logistic", penalty=penalty, intercept=True, lam=0.02).natural
    rng = np.random.default_rng(0)
    core = ProximalPoint(problem, rng.standard_normal((10, 3)))
    columns = core.columns()
    assert columns.count > 3
    A = np.stack([columns.times(unit) for unit in np.eye(columns.count)], axis=2)
    R, C = rng.standard_normal((12, 3)), rng.standard_normal((12, 3, 3))
    C = C @ C.transpose(0, 2, 1)
    assert columns.transposed(R) == pytest.approx(np.einsum("ikq,ik->q", A, R))
    assert np.tril(columns.gram(C)) == pytest.approx(np.tril(np.einsum("ikq,ikr,irp->qp", A, C, A)))
    seen = np.einsum("ika,ikq->iaq", C, A).reshape(36, -1)
    assert columns.outer(C) == pytest.approx(seen @ seen.T)
    # and A Aᵀ is √σX J √σXᵀ, J the derivative of the prox: along any direction of Z, to first order
    D, _ = core.direction()
    before, step = core.Z - core.X @ core.W, 1e-7
    _, W = core.dual(core.Z + step * D)
    after = core.Z + step * D - core.X @ W
    assert after == pytest.approx((1.0 - step) * before, abs=1e-9 * float(np.abs(before).max()))


@pytest.mark.parametrize("penalty", [ss.penalties.BlockL1Linf(16), "l1/l2"])
def test_a_wide_problem_whose_labels_nothing_predicts(penalty: Any) -> None:
    problem = ss.Problem(*wide(20, 210, 3), loss="logistic", penalty=penalty, intercept=True)
    problem = problem.with_lam(0.005 * problem.lam_max)
    found = ss.solve(problem, "ssnal", tol=1e-9, max_iter=500, record=False)
    assert found.converged, found
    assert problem.objective(found.W, found.b) - found.dual <= 1e-9 * found.objective * (1 + 1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_a_system_that_is_made_in_parts_is_the_system(
    form: Any, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wide(30, 8, 3)
    problem = ss.Problem(form(X), y, loss=HINGE, penalty="l1/l2", intercept=intercept, lam=0.05).natural
    rng = np.random.default_rng(0)
    W = rng.standard_normal((problem.rows, problem.m))
    U = np.array(problem.null_duals)
    whole = augmented.Lagrangian(problem, W, U).direction()
    rests: list[Any] = []
    for name, most in (("FLOPS", 2000.0), ("WORK", 500)):
        monkeypatch.setattr(augmented, name, most)
    monkeypatch.setattr(linear_algebra, "BYTES", 300.0)
    with pausing(lambda: rests.append(None)):
        parts = augmented.Lagrangian(problem, W, U).direction()
    assert len(rests) > 20
    np.testing.assert_allclose(parts, whole, rtol=1e-7, atol=1e-9 * np.abs(whole).max())


@pytest.mark.parametrize(
    ("penalty", "kind", "intercept"),
    [
        pytest.param(*case, marks=() if case == ("elastic-net", "sets", False) else pytest.mark.slow)
        for case in product(penalties, ("classes", "sets"), (False, True))
    ],
)
def test_the_largest_lam_is_certified(penalty: str, kind: str, intercept: bool) -> None:
    """W = 0 is optimal, and all of the work is in the dual point: multipliers alone ended at a gap of 3e-6."""
    X = np.random.default_rng(0).standard_normal((60, 25))
    y: Any = np.arange(60) % 3
    if kind == "sets":
        y = (np.random.default_rng(1).random((60, 4)) < 0.4).astype(np.uint8)
    problem = ss.Problem(X, y, loss="separation-ranking" if kind == "sets" else HINGE, penalty=penalty)
    if intercept:
        problem = ss.Problem(X, y, loss=problem.loss, penalty=penalty, intercept=True)
    if not np.isfinite(problem.lam_max):
        pytest.skip("no λ makes all weights zero")
    found = ss.solve(problem.with_lam(problem.lam_max), "ssnal", tol=1e-6, max_iter=100, record=False)
    assert found.converged and found.relative_gap <= 1e-6, found


def test_a_curvature_beside_which_rounding_loses_the_rest_is_inverted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a tiny row the curvature can be 1e16 times the proximal term: elimination may meet a pivot of zero."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 3, 3)))[0]
    values = np.array([1e16, 7e15, 1.0])
    lost = inverses((Q * values) @ Q.transpose(0, 2, 1))
    assert np.isfinite(lost).all()
    mild = (Q * np.array([30.0, 2.0, 1.0])) @ Q.transpose(0, 2, 1)
    usual = inverses(mild)

    def singular(_: np.ndarray) -> np.ndarray:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "inv", singular)
    np.testing.assert_allclose(inverses(mild), usual, rtol=1e-10, atol=1e-12)
    found, _ = np.linalg.eigh(inverses((Q * values) @ Q.transpose(0, 2, 1)))
    assert (found >= -1e-12).all() and (found <= 1.0 + 1e-12).all()
