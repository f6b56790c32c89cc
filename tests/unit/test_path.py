"""λ-paths: against single solves from zero, step by step, watched, driven by a session, stored, and asked wrongly."""

from __future__ import annotations

import dataclasses
import functools
import json
import subprocess
import sys
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import FEW_PAIRS, PREDICTING, dense, digits, fitting, forms, iris, text
from sparsescope.problems import constants
from sparsescope.runs.event import Event
from sparsescope.runs.grids import lam_grid
from sparsescope.runs.paths import Solved
from sparsescope.runs.stopping import Gap, Iterations, Passes, Violation
from sparsescope.solvers.shared.entries import EntrySolver


@pytest.fixture
def problem() -> ss.Problem:
    X, y = iris()
    return ss.Problem(X, y, penalty="l1/l2")


# ----------------------------------------------------------------------------------------------------------- the grid
def test_the_default_path_falls_from_lam_max_in_equal_factors(problem: ss.Problem) -> None:
    lams, notes = lam_grid(problem)
    assert lams.size == 50 and notes == ()
    assert lams[0] == pytest.approx(problem.lam_max, rel=1e-14) and lams[-1] == pytest.approx(0.01 * lams[0])
    np.testing.assert_allclose(np.diff(np.log(lams)), np.log(0.01) / 49, rtol=1e-9)
    assert lam_grid(problem, 2, 0.5)[0] == pytest.approx([problem.lam_max, 0.5 * problem.lam_max])


def test_ridge_takes_its_largest_lam_from_the_group_lasso() -> None:
    X, y = iris()
    ridge = ss.Problem(X, y, penalty="ridge")
    assert np.isinf(ridge.lam_max)
    assert lam_grid(ridge, 3)[0][0] == pytest.approx(ss.Problem(X, y, penalty="l1/l2").lam_max)


def test_given_lams_are_sorted_downwards_with_a_note(problem: ss.Problem) -> None:
    lams, notes = lam_grid(problem, lams=[0.1, 3.0, 0.1, 1.0])
    assert lams.tolist() == [3.0, 1.0, 0.1]
    assert len(notes) == 2 and "1 λ were given more than once" in notes[0] and "sorted downwards" in notes[1]
    assert lam_grid(problem, lams=(3, 1))[1] == ()
    assert ss.path(problem, lams=[0.5, 1.0]).notes == lam_grid(problem, lams=[0.5, 1.0])[1]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"n_lams": 1}, ValueError, "n_lams is 1; a whole number of at least 2"),
        ({"n_lams": 2.5}, ValueError, "n_lams is 2.5"),
        ({"n_lams": True}, ValueError, "n_lams is True"),
        ({"n_lams": "many"}, ValueError, "n_lams is 'many'"),
        ({"ratio": 0.0}, ValueError, "ratio is 0.0"),
        ({"ratio": 1.0}, ValueError, "between 0 and 1"),
        ({"ratio": -0.1}, ValueError, "ratio is -0.1"),
        ({"ratio": float("nan")}, ValueError, "ratio is nan"),
        ({"lams": []}, ValueError, "lams has shape"),
        ({"lams": 0.1}, ValueError, "lams has shape"),
        ({"lams": [[0.1]]}, ValueError, "one dimension"),
        ({"lams": [0.1, -1.0]}, ValueError, "lams holds -1"),
        ({"lams": [0.0]}, ValueError, "must be positive and finite"),
        ({"lams": ["a"]}, ValueError, "positive numbers"),
        ({"lams": [1.0, np.nan]}, ValueError, "lams holds nan"),
        ({"lams": [np.inf]}, ValueError, "lams holds inf"),
        ({"tol": 0.0}, ValueError, "tol is 0.0"),
        ({"tol": float("nan")}, ValueError, "tol is nan"),
        ({"max_iter": 0}, ValueError, "max_iter is 0"),
        ({"max_iter": 1.5}, ValueError, "max_iter is 1.5"),
        ({"max_iter": float("inf")}, ValueError, "max_iter is inf"),
        ({"tol": "small"}, ValueError, "tol is 'small'"),
        ({"ratio": "0.1"}, ValueError, "ratio is '0.1'"),
        ({"stop": "gap"}, TypeError, "stop is 'gap'; a stop rule"),
        ({"solver": "bcd"}, ValueError, "unknown solver 'bcd'"),
        ({"certify_every": 0}, ValueError, "certify_every is 0"),
        ({"test": (np.zeros((3, 7)), [0, 1, 2])}, ValueError, "test X has 7 features"),
    ],
)
def test_what_is_not_allowed_is_said(problem: ss.Problem, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ss.path(problem, **given)


# ----------------------------------------------------------------------------------------------------- the solutions
def check(problem: ss.Problem, found: ss.Path, tol: float, against: str | None = None) -> None:
    """Every point of the path: its numbers are true of its weights, and they are certified; a solve from zero with the
    solver ``against`` finds nothing better."""
    for k, lam in enumerate(found.lams):
        at = problem.with_lam(lam)
        W, b = found.weights(k), found.intercept(k)
        certificate = at.certificate(W, b)
        assert found.objective[k] == pytest.approx(certificate.objective, rel=1e-9)
        if at.loss.smooth:  # else the solver's own dual point proves more than the gradients that are taken here
            # The best dual value seen at this λ: no worse than that of the weights alone, and a bound of the optimum.
            # With sparse data no better point is looked for (local_scaling.py) where the goal is met without one.
            enough = tol if at.design.is_sparse else 0.0
            allowed = max(certificate.gap, enough * at.scale(found.objective[k]))
            assert found.gap[k] <= allowed + 1e-9 * found.objective[k]
        assert -1e-12 <= found.relative_gap[k] <= tol
        V = dense(W)
        assert (found.nonzero_rows[k], found.nonzero_entries[k]) == (V.any(axis=1).sum(), np.count_nonzero(V))
        two = np.sort(at.class_scores(at.scores(W, b)), axis=1)[:, -2:]  # where two classes tie, rounding decides
        right, tied = at.predict(W, b) == problem.y, two[:, 1] - two[:, 0] < 1e-12
        assert abs(found.train_accuracy[k] - right.mean()) <= tied.mean() + 1e-15
        if against:
            single = ss.solve(at, against, tol=tol, record=False)
            assert single.converged and abs(single.objective - found.objective[k]) <= 1.01 * tol * single.objective


@pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)
def test_pairs_are_solved_along_the_path(loss: str, penalty: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty)
    if not problem.loss.smooth:  # subgradients of a kink certify nothing: only a rule or a limit ends a λ
        found = ss.path(problem, n_lams=3, ratio=0.1, stop=Passes(5))
        assert found.converged.all() and found.reasons[-1].endswith("data passes")
        return
    found = ss.path(problem, n_lams=4, ratio=0.1, tol=1e-6)
    assert found.converged.all() and (np.diff(found.lams) < 0).all() and len(found) == 4
    check(problem, found, 1e-6)
    if np.isfinite(problem.lam_max):
        assert found.nonzero_rows[0] == 0 and found.iterations[0] == 0


@pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)
def test_paths_with_an_intercept_agree_with_single_solves(loss: str, penalty: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=True)
    if not problem.loss.smooth:
        pytest.skip("no solver certifies this loss")
    found = ss.path(problem, n_lams=4, ratio=0.1, tol=1e-6)
    assert found.converged.all()
    check(problem, found, 1e-6, against="bcd-ls")
    if np.isfinite(problem.lam_max):
        assert found.nonzero_rows[0] == 0 and found.iterations[0] == 0


@pytest.mark.parametrize("solver", PREDICTING)
def test_every_solver_walks_the_path(solver: str) -> None:
    X, y = text()
    only, penalties = ss.registry.solvers[solver].losses, ss.registry.solvers[solver].only_penalties
    entrywise = issubclass(ss.registry.solvers[solver], EntrySolver)
    penalty = penalties[0] if penalties else "l1" if entrywise else "l1/l2"
    y = np.minimum(y, 1) if ss.registry.solvers[solver].two_classes else y
    problem = ss.Problem(X, y, loss=only[0] if only else None, penalty=penalty)
    if not ss.registry.solvers[solver].follows_lam:
        with pytest.raises(ValueError, match="a budget and no λ"):
            ss.path(problem, solver)
        return
    if solver == "fobos":  # its steps shrink like 1/√t, so that only the first digits come in reasonable time
        rough = ss.path(problem, solver, n_lams=4, ratio=0.3, tol=0.2, max_iter=300)
        assert rough.converged.all() and rough.nonzero_rows[0] == 0
        return
    found = ss.path(problem, solver, n_lams=4, ratio=0.3, tol=1e-3, max_iter=20_000)
    assert found.converged.all()
    check(problem, found, 1e-3, against="fbpd" if only else "bcd-ls")


def test_auto_is_the_default_and_the_path_says_what_it_chose(problem: ss.Problem) -> None:
    info = ss.path(problem, n_lams=3).info
    assert info["solver"] == "Auto()" and info["reason"].startswith("working-set: ")


def test_label_sets_have_their_own_measures() -> None:
    X, y = text()
    Y = np.zeros((60, 4), dtype=int)
    Y[np.arange(60), y] = 1
    Y[::3, 0] = 1
    found = ss.path(ss.Problem(X, Y, loss="multitask-squared-hinge"), n_lams=6, ratio=0.1, test=(X[:30], Y[:30]))
    assert found.converged.all() and np.isnan(found.train_accuracy).all()
    assert found["train_micro_f1"][-1] > found["train_micro_f1"][1] > 0
    assert found.best("test_micro_f1") == found["test_micro_f1"].argmax()
    assert found.best("test_ranking_loss") == found["test_ranking_loss"].argmin()


def test_dense_and_sparse_data_give_the_same_path() -> None:
    X, y = text()
    paths = [
        ss.path(ss.Problem(form, y, intercept=True), "bcd-ls", n_lams=5, ratio=0.2, tol=1e-9) for _, form in forms(X)
    ]
    for other in paths[1:]:
        assert other.lams == pytest.approx(paths[0].lams, rel=1e-12)
        assert other.objective == pytest.approx(paths[0].objective, rel=1e-9)
        assert [other.support(k).tolist() for k in range(5)] == [paths[0].support(k).tolist() for k in range(5)]


def test_float32_data_keep_their_precision() -> None:
    X, y = digits()
    single, double = (ss.path(ss.Problem(X.astype(t), y), "bcd-ls", n_lams=5, ratio=0.2) for t in ("f4", "f8"))
    assert single.weights().dtype == np.float32 and single.converged.all()
    assert single.objective == pytest.approx(double.objective, rel=3e-4)


def test_a_warm_start_saves_iterations() -> None:
    data = ss.datasets.load("wine")
    problem = ss.Problem(data, intercept=True)
    found = ss.path(problem, "bcd-ls", n_lams=50, certify_every=1)
    cold = sum(
        ss.solve(problem.with_lam(lam), "bcd-ls", tol=1e-4, certify_every=1, record=False).iterations
        for lam in found.lams
    )
    assert found.converged.all() and found.iterations.sum() < 0.7 * cold


def test_lams_above_lam_max_are_solved_by_zero_without_an_iteration(problem: ss.Problem) -> None:
    top = problem.lam_max
    found = ss.path(problem, lams=[10 * top, 2 * top, 1.0001 * top, 0.5 * top])
    assert found.iterations[:3].tolist() == [0, 0, 0] and found.nonzero_rows[:3].tolist() == [0, 0, 0]
    assert found.iterations[3] > 0 and found.nonzero_rows[3] > 0 and found.converged.all()


def test_what_does_not_depend_on_lam_is_computed_once(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def count(name: str) -> None:
        function = getattr(constants, name)
        monkeypatch.setattr(constants, name, lambda *args: (calls.append(name), function(*args))[1])

    count("block_constants")
    count("full_constant")
    ss.path(problem, "bcd-cst", n_lams=6, ratio=0.3)
    ss.path(problem, "fista-cst", n_lams=6, ratio=0.3)
    own = ss.Problem(*iris())  # the warm-up solves another, tiny problem; what counts is this one
    calls.clear()
    ss.path(own, "bcd-cst", n_lams=6, ratio=0.3)
    ss.path(own, "fista-cst", n_lams=6, ratio=0.3)
    assert sorted(calls) == ["block_constants", "full_constant"]


def test_weights_take_the_memory_of_their_non_zero_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3000)), np.arange(40) % 4
    problem = ss.Problem(X, y)
    found = ss.path(problem, "bcd-ls", n_lams=8, ratio=0.3, tol=1e-2)
    held = sum(p.values.nbytes + p.rows.nbytes for p in found.points)
    assert held == sum(int(k) * (4 * 8 + 4) for k in found.nonzero_rows) and held < 0.05 * 8 * 3000 * 4 * 8
    features, norms = found.norms()
    assert norms.shape == (8, features.size) and features.size < 300


# ------------------------------------------------------------------------------------------------- stepping and rules
def test_events_tell_where_the_path_is(problem: ss.Problem) -> None:
    recorder = ss.Recorder()
    run = ss.PathRun(problem, "bcd-ls", n_lams=4, ratio=0.1, callbacks=[recorder], certify_every=1)
    events = list(run)
    assert [e.message == "" for e in events] == [True] * (len(events) - 1) + [False]
    assert run.message == events[-1].message and "path done: 4 λ" in run.message
    assert run.path.message == run.message
    seen = [e.lam for e in events]
    assert seen == sorted(seen, reverse=True) and set(seen) == set(run.lams)
    assert [e.iteration for e in events] == sorted(e.iteration for e in events)
    for lam, count in zip(run.path.lams, run.path.iterations, strict=True):
        of_lam = [e for e in events if e.lam == lam]
        assert len(of_lam) == count + 1, "the start, and one event for each iteration"
        assert all(e.relative_gap > 1e-4 for e in of_lam[:-1]) and of_lam[-1].relative_gap <= 1e-4
    trace = recorder.trace
    assert trace.segments == 4 and len(trace) == len(events)
    assert trace["segment"].tolist() == [run.lams.tolist().index(lam) for lam in seen]
    assert [m.kind for m in trace.marks] == ["lam"] * 3
    assert [trace["lam"][m.index - 1 : m.index + 1].tolist() for m in trace.marks] == [
        list(pair) for pair in zip(run.lams[:-1].tolist(), run.lams[1:].tolist(), strict=True)
    ]
    assert trace.marks[0].text == f"λ {run.lams[0]:.3g} → {run.lams[1]:.3g}"


def test_a_new_lam_starts_at_the_solution_before_it(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "bcd-ls", n_lams=3, ratio=0.1)
    before: Any = None
    for event in run:
        if before is not None and event.lam != before[0]:
            np.testing.assert_array_equal(event.state.weights(), before[1])
            assert event.certified and event.seconds >= before[2]
        before = (event.lam, np.array(event.state.weights()), event.seconds)
    assert run.path.seconds.sum() == pytest.approx(run.seconds)


def test_the_path_so_far_can_be_asked_for_at_any_time(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "bcd-ls", n_lams=5, ratio=0.1)
    sizes = []
    assert len(run.path) == 0 and repr(run.path) == "Path(empty)"
    for _ in run:
        sizes.append(len(run.path))
        assert sizes[-1] in (run.position, run.position + 1)
    assert sizes == sorted(sizes) and sizes[-1] == 5 and set(sizes) == {1, 2, 3, 4, 5}


def test_runs_are_the_same_each_time_and_the_same_as_path(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "bcd-cst", n_lams=4, ratio=0.1)
    for _ in run:
        pass
    again = ss.path(problem, "bcd-cst", n_lams=4, ratio=0.1)
    for k in range(4):
        np.testing.assert_array_equal(run.path.weights(k), again.weights(k))


def test_a_rule_is_met_anew_at_each_lam(problem: ss.Problem) -> None:
    found = ss.path(problem, "ista", n_lams=4, ratio=0.1, stop=Iterations(7))
    assert found.iterations.tolist() == [7, 7, 7, 7] and found.converged.all()
    assert found.reasons == ["limit of 7 iterations"] * 4
    rule = Violation(0.5)
    found = ss.path(problem, "bcd-ls", lams=[1.0, 0.5, 0.25], stop=rule, certify_every=1)
    assert (found.iterations > 0).all() and all("of the first" in reason for reason in found.reasons)
    assert rule == Violation(0.5), "the given rule keeps no memory of the path"
    tight = ss.path(problem, "bcd-ls", n_lams=4, ratio=0.1, stop=Gap(1e-9))
    assert (tight.relative_gap <= 1e-9).all()


def test_the_limit_of_iterations_is_for_one_lam_and_is_reported(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "ista", n_lams=3, ratio=0.01, tol=1e-12, max_iter=5)
    for _ in run:
        pass
    assert run.path.iterations.tolist()[1:] == [5, 5] and run.path.converged.tolist()[1:] == [False, False]
    assert "2 λ not converged" in run.message and "2 not converged" in repr(run.path)
    assert run.path.reasons[1] == "limit of 5 iterations at one λ"


def test_without_a_gap_the_violation_decides(problem: ss.Problem) -> None:
    event = dataclasses.replace(ss.Run(problem.with_lam(0.5), "ista").advance(), iteration=1)
    without = dataclasses.replace(event, gap=float("nan"), relative_gap=float("nan"))
    rule = Solved(1e-3)
    assert rule.check(without) is None
    met = dataclasses.replace(without, info={**without.info, "violation": 0.5e-3})
    assert "no gap here; violation 5.0e-04" in (rule.check(met) or "")
    assert rule.check(dataclasses.replace(without, info={**without.info, "violation": 0.51e-3})) is None
    assert rule.check(dataclasses.replace(met, info={**met.info, "violation": float("nan")})) is None, (
        "nothing was evaluated"
    )
    assert "certified" in (rule.check(dataclasses.replace(event, relative_gap=1e-3)) or "")


@pytest.mark.parametrize("solver", ["auto", "bcd-ls", "fista-ls", "newglmnet"])
@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_a_lam_is_not_left_without_a_step_unless_it_is_solved_much_better(solver: str, tol: float) -> None:
    """Zero weights have almost the F of the first λ: a wide tol would let them stand for its solution."""
    problem = ss.Problem(ss.datasets.load("wine"), loss="logistic", penalty="l1")
    found = ss.path(problem, solver, n_lams=20, ratio=0.5, tol=tol)
    assert found.converged.all()
    assert ((found.iterations > 0) | (found.relative_gap <= 0.01 * tol)).all()
    assert found.nonzero_rows[1:].all(), "weights enter below λ_max"


def test_a_given_rule_may_leave_a_lam_without_a_step() -> None:
    problem = ss.Problem(ss.datasets.load("wine"), loss="logistic", penalty="l1")
    found = ss.path(problem, n_lams=20, ratio=0.5, stop=Gap(0.1))
    assert found.converged.all() and (found.iterations == 0).sum() > 1


def test_certificates_are_close_together_where_a_lam_begins(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "ista", lams=[1.0, 0.5], tol=1e-12, max_iter=40, certify_every=4)
    events = list(run)
    for lam in run.lams:
        of_lam = [e for e in events if e.lam == lam]
        at = [e.iteration - of_lam[0].iteration for e in of_lam if e.certified]
        assert at == [0, 1, 2, 3, 4, 6, 8, 11, 14, 18, 22, 26, 30, 34, 38, 40]


def test_a_path_ends_early_when_asked(problem: ss.Problem) -> None:
    seen: list[Event] = []

    def enough(event: Event) -> bool:
        seen.append(event)
        return event.nonzero_rows >= 2

    run = ss.PathRun(problem, "bcd-ls", n_lams=30, stop_when=enough)
    for _ in run:
        pass
    assert "ended by stop_when" in run.message and f"{len(run.path)} of 30 λ done" in run.message
    assert (run.path.nonzero_rows[:-1] < 2).all() and run.path.nonzero_rows[-1] >= 2
    assert [e.lam for e in seen] == run.path.lams.tolist(), "asked once for each λ"
    stopped = ss.path(problem, "bcd-ls", n_lams=30, callbacks=[lambda e: e.lam < 0.5 * problem.lam_max])
    assert stopped.message == "stopped by a callback" and 0 < len(stopped) < 30


def test_stepping_on_after_the_end_improves_the_last_lam(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "ista", n_lams=3, ratio=0.1, certify_every=1)
    for _ in run:
        pass
    before = run.path
    for _ in range(20):
        assert run.advance().message
    assert len(run.path) == 3 and run.path.gap[-1] < before.gap[-1]
    assert run.path.iterations[-1] == before.iterations[-1] + 20 and len(before) == 3


def test_the_solver_may_change_on_the_way_but_not_the_problem(problem: ss.Problem) -> None:
    run = ss.PathRun(problem, "ista", n_lams=4, ratio=0.1)
    while run.position < 2:
        run.advance()
    for other in (problem.with_(loss="logistic"), problem.with_(penalty="l1"), problem.with_lam(3 * problem.lam)):
        with pytest.raises(ValueError, match="a path sets λ itself"):
            run.change(problem=other)
    run.change(problem=problem, solver=ss.solvers.BCD())
    assert run.problem.lam == run.lams[2]
    for _ in run:
        pass
    assert run.path.converged.all() and run.path.info["solver"].startswith("BCD")


def test_progress_is_told_after_each_lam(problem: ss.Problem, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, float]] = []
    found = ss.path(
        problem, n_lams=4, ratio=0.1, progress=lambda done, total, event: told.append((done, total, event.lam))
    )
    assert told == [(k + 1, 4, lam) for k, lam in enumerate(found.lams)]
    assert capsys.readouterr().err == ""
    ss.path(problem, n_lams=4, ratio=0.1, progress=True)
    assert "λ 4 of 4" in capsys.readouterr().err


def test_the_public_names_do_not_hide_each_other() -> None:
    code = (
        "import sparsescope.paths, sparsescope as ss; from sparsescope import Path, PathRun; "
        "assert callable(ss.path) and ss.path is sparsescope.runs.paths.path and ss.Path is Path"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# ------------------------------------------------------------------------------------------------------- the sessions
def test_a_session_steps_along_a_path(problem: ss.Problem) -> None:
    make = functools.partial(ss.PathRun, n_lams=4, ratio=0.1, tol=1e-12)  # tighter than where sessions call it a day
    with ss.Session(problem, "bcd-ls", make_run=make) as session:
        session.play()
        assert session.wait_idle(120.0)
        status, run = session.status(), session.run
        assert status.mode == "finished" and "path done: 4 λ" in status.message and isinstance(run, ss.PathRun)
        assert run.path.converged.all() and session.trace.segments == 4
        assert [m.kind for m in session.trace.marks] == ["lam"] * 3
        session.reset()
        session.open()
        assert session.wait_idle(120.0) and session.run is not run and session.problem.lam == run.lams[0]


def test_a_session_on_a_path_takes_another_solver_and_nothing_else(problem: ss.Problem) -> None:
    with ss.Session(problem, "ista", make_run=functools.partial(ss.PathRun, n_lams=5, ratio=0.1)) as session:
        while session.run.position < 2:
            session.step(5)
            assert session.wait_idle(120.0)
        for change in ({"lam": 0.1}, {"loss": "logistic"}, {"penalty": "l1"}):
            with pytest.raises(ValueError, match="a path sets λ itself"):
                session.change(**change)
        lam = session.problem.lam
        session.change(solver="bcd-ls")
        assert session.wait_idle(120.0) and session.status().error is None
        assert session.problem.lam == lam and session.solver.name == "bcd-ls"
        assert [m.kind for m in session.trace.marks] == ["lam", "lam", "solver"]
        session.play()
        assert session.wait_idle(120.0) and session.status().mode == "finished" and len(session.run.path) == 5


def test_a_fork_goes_on_along_its_own_copy_of_the_path(problem: ss.Problem) -> None:
    with ss.Session(
        problem, "bcd-ls", certify_every=1, make_run=functools.partial(ss.PathRun, n_lams=5, ratio=0.1)
    ) as session:
        while session.run.position < 2:
            session.step(3)
            assert session.wait_idle(120.0)
        other = session.fork()
        with other:
            position, size = session.run.position, len(session.run.path)
            assert other.run.position == position and len(other.run.path) == size
            other.play()
            assert other.wait_idle(120.0) and len(other.run.path) == 5
            assert (session.run.position, len(session.run.path)) == (position, size)
            session.play()
            assert session.wait_idle(120.0)
            np.testing.assert_array_equal(session.run.path.weights(), other.run.path.weights())
            assert session.run.path.iterations.tolist() == other.run.path.iterations.tolist()


# ---------------------------------------------------------------------------------------------------------- the table
@pytest.fixture(scope="module")
def found() -> ss.Path:
    data = ss.datasets.load("wine")
    return ss.path(ss.Problem(data, intercept=True), "bcd-ls", n_lams=12, test=data.test or (data.X, data.y))


def test_columns_and_frame(found: ss.Path) -> None:
    frame = found.to_frame()
    assert len(frame) == len(found) == 12 and frame["lam"].tolist() == found.lams.tolist()
    for name in ("objective", "gap", "relative_gap", "train_accuracy", "test_accuracy", "seconds"):
        assert frame[name].tolist() == getattr(found, name).tolist() == found[name].tolist()
    assert frame["iterations"].dtype == frame["nonzero_rows"].dtype == np.int64
    assert found.converged.all() and frame["converged"].all()
    with pytest.raises(KeyError, match="unknown column 'speed'; known: lam, "):
        found["speed"]
    with pytest.raises(IndexError, match="λ number 12 of a path with 12"):
        found.weights(12)
    np.testing.assert_array_equal(found.weights(-1), found.weights(11))


def test_norms_list_the_features_as_they_enter(found: ss.Path) -> None:
    features, norms = found.norms()
    for k in range(12):
        np.testing.assert_allclose(norms[k], np.linalg.norm(found.weights(k), axis=1)[features])
    entered = [int(np.flatnonzero(column)[0]) for column in norms.T]
    assert entered == sorted(entered)
    assert set(features.tolist()) == {j for k in range(12) for j in found.support(k).tolist()}
    frame = found.profile()
    assert list(frame.columns) == ["lam", "feature", "name", "norm"] and len(frame) == 12 * features.size
    line = frame[(frame["feature"] == features[0])]
    assert line["norm"].tolist() == norms[:, 0].tolist() and line["lam"].tolist() == found.lams.tolist()
    assert line["name"].iloc[0] == found.info["feature_names"][features[0]]
    top = found.profile(3)
    assert set(top["feature"]) == set(features[np.argsort(-norms.max(axis=0))[:3]])
    for bad in (0, 1.5):
        with pytest.raises(ValueError, match=f"top is {bad}"):
            found.profile(bad)  # type: ignore[arg-type]


def test_the_best_lam(found: ss.Path) -> None:
    k = found.best()
    assert found.test_accuracy[k] == found.test_accuracy.max() > found.test_accuracy[:k].max(initial=0.0)
    near = found.best("train_accuracy", within=0.05)
    assert near <= found.best("train_accuracy")
    accuracy = found.train_accuracy
    assert accuracy[near] >= accuracy.max() - 0.05 > accuracy[:near].max(initial=0.0)
    assert found.best("relative_gap") == int(found.relative_gap.argmin())
    with pytest.raises(ValueError, match="within is -1"):
        found.best(within=-1)
    with pytest.raises(ValueError, match=r"no test_accuracy; give the path test=\(X, y\)"):
        ss.path(ss.Problem(*iris()), n_lams=2).best("test_accuracy")


def test_without_held_out_data_the_training_accuracy_decides() -> None:
    found = ss.path(ss.Problem(*iris()), n_lams=4, ratio=0.1)
    assert found.best() == found.best("train_accuracy") > 0


def test_short_words(found: ss.Path) -> None:
    assert repr(found).startswith("Path(12 λ from") and "iterations" in repr(found)
    page = found._repr_html_()
    assert page.count("<tr>") == 9 and "test accuracy" in page and "<th>lam</th>" in page
    noted = dataclasses.replace(found, notes=("a < b",))
    assert "a &lt; b" in noted._repr_html_()
    assert ss.Path(())._repr_html_() == "<p>Path(empty)</p>" and len(ss.Path(()).to_frame()) == 0
    assert ss.Path(()).norms()[1].shape == (0, 0)


# ---------------------------------------------------------------------------------------------------------- the files
def test_a_path_is_saved_and_read_again(found: ss.Path, tmp_path: File) -> None:
    target = found.save(tmp_path / "wine")
    assert target == tmp_path / "wine.npz"
    again = ss.Path.load(target)
    assert again.to_frame().equals(found.to_frame())
    assert (again.info, again.notes, again.message, again.reasons) == (
        found.info,
        found.notes,
        found.message,
        found.reasons,
    )
    for k in range(12):
        np.testing.assert_array_equal(again.weights(k), found.weights(k))
        np.testing.assert_array_equal(again.intercept(k), found.intercept(k))
    assert again.weights().dtype == found.weights().dtype and repr(again) == repr(found)


@pytest.mark.parametrize(
    "made",
    [
        lambda: ss.Path(()),
        lambda: ss.path(ss.Problem(*iris()), lams=[5.0]),
        lambda: ss.path(ss.Problem(*iris()), n_lams=3, keep_weights=False),
    ],
    ids=["empty", "one", "without weights"],
)
def test_small_paths_are_saved_too(made: Any, tmp_path: File) -> None:
    given = made()
    again = ss.Path.load(given.save(tmp_path / "p.npz"))
    assert again.to_frame().equals(given.to_frame()) and again.info == given.info
    if len(given) == 3:
        for p in (given, again):
            with pytest.raises(ValueError, match="keep_weights=False"):
                p.weights(0)


def test_other_files_are_refused(found: ss.Path, tmp_path: File) -> None:
    with pytest.raises(FileNotFoundError):
        ss.Path.load(tmp_path / "none.npz")
    (tmp_path / "words.npz").write_text("words")
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    recorder = ss.Recorder()
    list(ss.Run(ss.Problem(*iris()), callbacks=[recorder], stop=Iterations(1)))
    for file in (tmp_path / "words.npz", tmp_path / "arrays.npz", recorder.trace.save(tmp_path / "trace.npz")):
        with pytest.raises(ValueError, match="is not a path saved by sparsescope"):
            ss.Path.load(file)
    with np.load(found.save(tmp_path / "good.npz"), allow_pickle=False) as stored:
        arrays = dict(stored)
    header = json.loads(bytes(arrays["header"]).decode())
    header["format"] = 99
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "later.npz", **arrays)
    with pytest.raises(ValueError, match="format 99 is unknown"):
        ss.Path.load(tmp_path / "later.npz")


def test_a_path_that_nobody_watches_takes_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ss.Problem(ss.datasets.make_text(150, 300, 4, seed=1), lam_ratio=0.1, intercept=True)
    seen: list[bool] = []
    watched = ss.path(problem, n_lams=6, ratio=0.1, tol=1e-5, callbacks=[lambda event: seen.append(event.certified)])
    made: list[bool] = []
    event_of = ss.PathRun._event

    def counted(run: ss.PathRun, certify_now: bool) -> Event:
        made.append(True)
        return event_of(run, certify_now)

    monkeypatch.setattr(ss.PathRun, "_event", counted)
    alone = ss.path(problem, n_lams=6, ratio=0.1, tol=1e-5)
    assert alone.iterations.tolist() == watched.iterations.tolist()
    for k in range(len(alone)):
        assert (alone.weights(k) == watched.weights(k)).all()
    assert len(alone) <= len(made) < sum(seen) < len(seen), "events at certificates only, and none of a start"
