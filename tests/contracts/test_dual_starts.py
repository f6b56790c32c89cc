"""The contract of solvers that begin at a dual point: a live switch to one never loses the point that was reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import PREDICTING, tags
from sparsescope.registry import solvers
from sparsescope.runs.solving import _handed_back
from sparsescope.runs.stopping import Iterations

DUAL_STARTS = [name for name in PREDICTING if solvers[name].sparse]
KEPT = "the best point so far is kept and handed back"
HANDED_BACK = "the point before the switch of solver has a smaller F and is handed back"
LONG = 120.0  # seconds
every_dual_start = pytest.mark.parametrize("name", DUAL_STARTS)


def ranking() -> ss.Problem:
    X, Y = tags()
    return ss.Problem(X, Y, loss="separation-ranking", penalty="ridge", lam=0.05)


def near_the_optimum(**more: Any) -> tuple[ss.Run, float]:
    """A run whose point is nearly optimal, made by a solver without a dual point; and its objective."""
    problem = ranking()
    known = ss.solve(problem, "pd-sparse", tol=1e-6, max_iter=5000, record=False)
    run = ss.Run(problem, "fobos", W=known.W.toarray(), **more)
    return run, run.advance().objective


def objective_of(run: ss.Run) -> float:
    return float(run.problem.objective(run.best.weights()))


@every_dual_start
def test_the_point_before_a_switch_is_kept_and_handed_back(name: str) -> None:
    run, before = near_the_optimum()
    run.change(solver=name)
    assert run.notice == f"{name} begins at a dual point: it starts from zero weights; {KEPT}"
    worse = run.observe(certify_now=True)
    assert worse.objective > 1.01 * before and worse.gap == worse.objective - worse.dual, "events say what is there"
    assert run.standing == run.notice and objective_of(run) == pytest.approx(before, rel=1e-12)
    run.stop = Iterations(0)
    assert run.observe().message.endswith(HANDED_BACK) and run.message.endswith(HANDED_BACK)


@every_dual_start
def test_the_figures_of_a_result_are_those_of_the_point_that_is_handed_back(name: str) -> None:
    run, before = near_the_optimum()
    run.change(solver=name)
    run.stop = Iterations(0)
    last = run.observe(certify_now=True)
    result = _handed_back(run, last, None, 1e-6, None)
    assert result.objective == pytest.approx(before, rel=1e-12) and last.objective > 1.01 * before
    assert result.objective == pytest.approx(run.problem.objective(result.W, result.b), rel=1e-12)
    assert result.gap == pytest.approx(result.objective - result.dual, abs=1e-12) and result.gap >= 0
    assert result.sparsity == run.problem.describe_sparsity(len(result.support), np.count_nonzero(result.W))


@every_dual_start
def test_a_run_that_overtakes_the_kept_point_hands_back_its_own(name: str) -> None:
    run = ss.Run(ranking(), "fobos", stop=Iterations(1))
    before = list(run)[-1].objective
    run.change(solver=name)
    run.stop = ss.stopping.Gap(1e-6) | Iterations(5000)
    last = list(run)[-1]
    assert last.objective < before and run.best is run.state and not run.standing and HANDED_BACK not in run.message
    assert objective_of(run) == pytest.approx(last.objective, rel=1e-12)


@every_dual_start
def test_the_next_solver_goes_on_from_the_kept_point(name: str) -> None:
    run, before = near_the_optimum()
    run.change(solver=name)
    run.change(solver="fbpd")
    assert run.observe(certify_now=True).objective == pytest.approx(before, rel=1e-12) and not run.notice
    assert run.state.iteration == 0


@every_dual_start
def test_a_point_that_overtook_the_kept_one_takes_its_place(name: str) -> None:
    run = ss.Run(ranking(), "fobos", stop=Iterations(1))
    list(run)
    run.change(solver=name)
    run.stop = ss.stopping.Gap(1e-6) | Iterations(5000)
    best = list(run)[-1].objective
    run.change(solver="fobos")  # which leaves an optimum
    run.stop = Iterations(run.state.iteration + 3)
    last = list(run)[-1]
    assert objective_of(run) <= best * (1 + 1e-12) and last.message.endswith(HANDED_BACK) == (last.objective > best)


CHANGES = {
    "lam": {"lam": 0.1},
    "penalty": {"penalty": ss.penalties.ElasticNet(rho=0.05)},
    "loss": {"loss": "separation-ranking"},
    "all": {"lam": 0.02, "penalty": "elastic-net", "loss": "separation-ranking"},
}
every_change = pytest.mark.parametrize("change", list(CHANGES))


@every_dual_start
@every_change
def test_a_change_of_the_problem_with_the_switch_keeps_the_point_that_is_better_now(name: str, change: str) -> None:
    run, _ = near_the_optimum()
    assert run.state is not None
    W = run.state.weights().copy()
    if "loss" in CHANGES[change]:  # from another one
        run = ss.Run(run.problem.with_(loss="multitask-squared-hinge"), "ista", W=W)
        run.advance()
    run.change(solver=name, **CHANGES[change])
    there = float(run.problem.objective(W))
    worse = run.observe(certify_now=True)
    assert worse.objective > there, "or the case says nothing"
    assert run.notice == run.standing == f"{name} begins at a dual point: it starts from zero weights; {KEPT}"
    np.testing.assert_array_equal(run.best.weights(), W)
    run.stop = Iterations(0)
    assert run.observe().message.endswith(HANDED_BACK)
    run.stop = ss.stopping.Gap(1e-7) | Iterations(5000)
    last = list(run)[-1]
    assert last.objective <= there and objective_of(run) == pytest.approx(last.objective, rel=1e-12)


@every_dual_start
def test_a_start_that_is_better_on_the_new_problem_is_not_spoken_of(name: str) -> None:
    run, _ = near_the_optimum()
    run.change(solver=name, lam=1e6)  # zero is the better point there
    run.observe(certify_now=True)
    assert run.best is run.state and not run.notice


@every_dual_start
def test_the_kept_point_is_judged_anew_when_the_problem_changes(name: str) -> None:
    run, _ = near_the_optimum()
    assert run.state is not None
    W = run.state.weights().copy()
    run.change(solver=name)
    for lam in (2.0 * run.problem.lam, 0.5 * run.problem.lam):
        run.change(lam=lam)
        run.observe(certify_now=True)
        assert objective_of(run) == pytest.approx(float(run.problem.objective(W)), rel=1e-12) and run.notice
    run.change(lam=1e6)
    run.observe(certify_now=True)
    assert run.best is run.state and not run.notice


def test_auto_that_comes_to_a_dual_start_keeps_the_point_too() -> None:
    X, Y = tags()
    problem = ss.Problem(X, Y, loss="multitask-squared-hinge", penalty="ridge", lam=0.02)
    run = ss.Run(problem, "auto", stop=ss.stopping.Gap(1e-6) | Iterations(2000))
    list(run)
    assert run.state is not None
    W = run.state.weights().copy()
    run.change(loss="separation-ranking")
    event = run.observe(certify_now=True)
    there = float(run.problem.objective(W))
    assert objective_of(run) == pytest.approx(min(there, event.objective), rel=1e-12)
    assert bool(run.notice) == (event.objective > there)


@every_dual_start
def test_a_fork_hands_back_the_kept_point_too(name: str) -> None:
    run, before = near_the_optimum()
    run.change(solver=name)
    other = ss.Run(run.problem, name)
    other.follow(run)
    assert objective_of(other) == pytest.approx(before, rel=1e-12)


@every_dual_start
def test_a_session_says_so_and_hands_back_the_best_point(name: str) -> None:
    W = near_the_optimum()[0].best.weights().copy()
    with ss.Session(ranking(), "fobos", make_run=lambda *args, **more: ss.Run(*args, W=W, **more)) as session:
        session.open()
        assert session.wait_idle(LONG)
        before = session.trace["objective"][0]
        session.change(solver=name)
        assert session.wait_idle(LONG)
        assert [mark.kind for mark in session.trace.marks] == ["solver", "note"]
        assert session.trace.marks[-1].text.endswith(KEPT) and session.status().message.endswith(KEPT)
        iteration, point = session.point()
        assert iteration == 0 and session.problem.objective(point["W"]) == pytest.approx(before, rel=1e-12)
        session.set_stop(Iterations(1))
        session.step()
        assert session.wait_idle(LONG)
        assert session.status().mode == "finished"
        handed = session.problem.objective(session.point()[1]["W"])
        assert handed <= before * (1 + 1e-12) and np.isfinite(session.trace["gap"][-1])
        assert session.status().message.endswith(HANDED_BACK) == (session.trace["objective"][-1] > before)
