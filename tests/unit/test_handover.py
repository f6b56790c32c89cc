"""Start of the next solver when the last one is left at weights of a very large F."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import factors
from sparsescope.registry import penalties
from sparsescope.runs.handover import BETTER, FAR
from sparsescope.solvers.shared import hand_over, proximal_point
from sparsescope.solvers.shared.hand_over import outdone


@cache
def problem() -> ss.Problem:
    """The first steps of ssnal lead to weights of a huge F here, where its first proximal parameter is large."""
    X, y = factors()
    made = ss.Problem(X, y, loss="multiclass-squared-hinge", penalty=ss.penalties.BlockL1Linf(16), intercept=True)
    return made.with_lam(0.02 * made.lam_max)


def objective_of(run: Any) -> float:
    return float(run.problem.objective(run.state.weights(), run.state.intercept()))


def left_early() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proximal_point, "FIRST", 1e5)
        run = ss.Run(problem(), "ssnal")
        for _ in range(4):
            run.advance()
    assert objective_of(run) > 1e3 * problem().null_objective, "or the case says nothing"
    return run


@pytest.mark.parametrize("name", ["sparsa", "working-set"])
def test_weights_that_are_far_worse_than_zero_are_not_handed_on(name: str) -> None:
    run = left_early()
    iteration = run.state.iteration
    run.change(solver=name)
    null = problem().null_objective
    assert run.notice.startswith(f"{name} starts from zero weights, whose F is {null:.3g}, not ")
    assert run.state.iteration == iteration and run.observe().objective == pytest.approx(null, rel=1e-12)
    for _ in range(20):
        last = run.advance()
    assert last.objective < 0.5 * null


def test_the_best_weights_that_were_measured_are_handed_on() -> None:
    run = ss.Run(problem(), "sparsa")
    values = [run.advance().objective for _ in range(20)]
    run.change(solver="ssnal")
    assert not run.notice and objective_of(run) == pytest.approx(values[-1], rel=1e-12)
    run.advance()
    run.state.coef *= 1e3
    problem().design.matmul(run.state.coef, run.state.Z)
    fork = ss.Run(problem(), "sparsa")
    fork.follow(run)
    for going in (run, fork):
        going.change(solver="sparsa")
        assert going.notice.startswith("sparsa starts from the best weights known, of iteration ")
        assert objective_of(going) <= min(values) / BETTER
        assert going.observe(certify_now=True).objective == pytest.approx(objective_of(going), rel=1e-12)
        before = going.state.weights().copy()
        assert going.advance() and not np.array_equal(before, going.state.weights())


def test_the_dual_point_is_handed_on_with_other_weights() -> None:
    X, y = factors()
    hinge = ss.Problem(X, y, loss="crammer-singer", penalty="l1/l2", lam_ratio=0.05)
    run: Any = ss.Run(hinge, "fbpd")
    for _ in range(20):
        run.advance()
    U, taken = np.empty((hinge.n, hinge.m)), np.empty((hinge.n, hinge.m))
    run.state.coef *= 1e4
    hinge.design.matmul(run.state.coef, run.state.Z)
    assert run.state.dual_rows(U)
    run.change(solver="ssnal")
    assert run.notice.startswith("ssnal starts from ") and objective_of(run) < FAR * hinge.null_objective
    assert run.state.dual_rows(taken)
    np.testing.assert_array_equal(taken, U)


def test_other_weights_are_handed_on_as_they_are() -> None:
    W = 2.0 * np.random.default_rng(0).standard_normal((problem().d, problem().m)) / problem().d
    run: Any = ss.Run(problem(), "sparsa", W=W, b=np.zeros(problem().m))
    run.advance()
    before = run.state.weights().copy()
    assert 0 < objective_of(run) < FAR * problem().null_objective
    run.change(solver="ssnal")
    np.testing.assert_array_equal(run.state.weights(), before)
    assert not run.notice


def test_auto_chooses_again_and_hands_on_better_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_over, "LONG", 10)
    run: Any = ss.Run(problem(), "auto")
    while not run.reason.startswith("ssnal"):
        before = run.advance().objective
        assert run.iteration <= 11
    run.advance()
    run.state.coef *= 1e3
    problem().design.matmul(run.state.coef, run.state.Z)
    run.change(lam=0.5 * problem().lam)
    assert run.reason.startswith("working-set: ") and run.notice.startswith("working-set starts from the best weights")
    assert run.observe(certify_now=True).objective <= before / BETTER


def test_smooth_losses_go_on_with_ssnal_when_they_have_cost_what_it_would() -> None:
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.arange(60) % 3
    X = X @ np.random.default_rng(1).standard_normal((3, 200)) + 0.05 * np.random.default_rng(2).standard_normal(
        (60, 200)
    )
    made = ss.Problem(X, y, loss="logistic", penalty="l1", intercept=True)
    run, names = ss.Run(made.with_lam(1e-4 * made.lam_max), "auto"), []
    while run.advance().relative_gap > 1e-6:
        names.append(run.state.delegate.name)
    before = names.count("newglmnet")
    assert (
        set(names[before:]) == {"ssnal"} and outdone(run.problem, before + 1) and not outdone(run.problem, before - 2)
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_only_half_the_squared_norm_of_all_weights_makes_rough_newton_steps(weighted: bool) -> None:
    X, y = np.random.default_rng(0).standard_normal((12, 240)), np.arange(12) % 2
    weights = 1.0 + np.arange(240) // 5 % 3 if weighted else None  # blocks have one weight

    def rough(penalty: str) -> bool:
        for loss in ("multiclass-squared-hinge", "binary-squared-hinge"):  # the second has one score
            made = ss.Problem(X, y, loss=loss, penalty=penalty, feature_weights=weights)
            assert hand_over.is_underdetermined(made.natural) == hand_over.is_underdetermined(made)
        return hand_over.is_underdetermined(made)

    ridges = [name for name in penalties if penalties.create(name).entry_terms() == (0.0, 1.0)]
    assert [name for name in penalties if rough(name)] == ([] if weighted else ridges)


@pytest.mark.parametrize("penalty", ["l1", "l1/l2", "elastic-net"])
def test_larger_systems_are_worth_more_iterations(penalty: str) -> None:
    def least(n: int, d: int) -> int:
        X = np.random.default_rng(0).standard_normal((n, d))
        made = ss.Problem(X, np.arange(n) % 3, loss="logistic", penalty=penalty, lam=0.1)
        return next(done for done in range(100_000) if outdone(made, done))

    assert 10 < 2 * least(30, 40) < least(200, 300)


def test_a_session_marks_where_the_next_solver_starts() -> None:
    with ss.Session(problem(), "ssnal") as session:
        session.step(4)
        assert session.wait_idle(120.0)
        session.change(solver="sparsa")
        assert session.wait_idle(120.0)
        assert [mark.text for mark in session.trace.marks if mark.text.startswith("sparsa starts from zero weights")]
