"""Events within a sweep (``every="rows:8"``): what they carry, and that the iterates stay the same bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits
from sparsescope.live import controls
from sparsescope.live import settings as st
from sparsescope.live.packer import Block, Packer
from sparsescope.registry import solvers
from sparsescope.runs.event import Event
from sparsescope.runs.stopping import Iterations, PaperViolation

LONG = 120.0  # seconds
PAUSING = [name for name in solvers if solvers[name].pauses]
CASES = [(name, {}) for name in PAUSING] + [("bcd-ls", {"selection": "greedy"}), ("bcd-cst", {"shrinking": True})]


def problem_on(intercept: bool = True, features: int = 300) -> ss.Problem:
    X, y = digits()
    wide = np.hstack([X, X[:, ::-1], X**2, np.sqrt(X), X * X[:, ::-1]])[:, :features]  # more than a working set holds
    # Sparse: on dense X gradient steps take the place of sweeps over a working set, and have no events within.
    problem = ss.Problem(sp.csr_array(wide), y, penalty="l1/l2", intercept=intercept)
    return problem.with_lam(0.1 * problem.lam_max)


def run_of(name: str, every: str | None, settings: dict[str, Any], iterations: int = 12) -> tuple[ss.Run, list[Event]]:
    problem = problem_on()
    threads = {"threads": 1} if any(f.name == "threads" for f in solvers[name].fields) else {}
    run = ss.Run(problem, solvers.create(name, **settings, **threads), stop=Iterations(iterations), every=every)
    return run, list(run)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda c: str(c))
def test_iterates_certificates_and_counts_are_those_without_them(name: str, settings: dict[str, Any]) -> None:
    plain, events = run_of(name, None, settings)
    watched, more = run_of(name, "rows:8", settings)
    whole = [event for event in more if event.iteration == int(event.iteration)]
    assert len(more) > len(whole) == len(events)
    np.testing.assert_array_equal(watched.state.coef, plain.state.coef)  # type: ignore[union-attr]
    for ours, theirs in zip(whole, events, strict=True):
        assert (ours.iteration, ours.passes, ours.objective) == (theirs.iteration, theirs.passes, theirs.objective)
        assert (ours.dual, ours.gap, ours.violation) == (theirs.dual, theirs.gap, theirs.violation)
        assert np.isnan(ours.row_cursor) and np.isnan(theirs.row_cursor)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda c: str(c))
def test_an_event_within_a_sweep_measures_the_point_that_is_there(name: str, settings: dict[str, Any]) -> None:
    seen = []

    def watch(event: Event) -> None:
        if event.iteration != int(event.iteration):
            W, b = event.state.weights(), event.state.intercept()
            assert event.objective == pytest.approx(event.problem.objective(W, b), rel=1e-12)
            assert event.nonzero_rows == np.count_nonzero(np.asarray(W).any(axis=1))
            assert 0 <= event.row_cursor < event.problem.d and not event.certified and not event.message
            seen.append(event)

    problem = problem_on()
    list(ss.Run(problem, solvers.create(name, **settings), stop=Iterations(3), every="rows:8", callbacks=[watch]))
    assert seen and all(event.row_cursor == event.info["row_cursor"] for event in seen)


def test_a_cyclic_sweep_shows_its_rows_in_order_and_its_passes_grow() -> None:
    _, events = run_of("bcd-ls", "rows:64", {}, iterations=1)
    assert [event.iteration for event in events] == [0, 64 / 300, 128 / 300, 192 / 300, 256 / 300, 1]
    np.testing.assert_array_equal([event.row_cursor for event in events], [np.nan, 63, 127, 191, 255, np.nan])
    assert all(a.passes < b.passes for a, b in pairwise(events))
    assert all(a.objective >= b.objective for a, b in pairwise(events))
    rows = [event.nonzero_rows for event in events]
    assert max(rows) > rows[-1] or rows == sorted(rows), "the famous rise is there to be seen, or there is none"


def test_stopping_rules_judge_whole_iterations_only() -> None:
    plain = ss.solve(problem_on(), "bcd-ls", tol=0.0, stop=PaperViolation(1e-2), record=False)
    watched = ss.solve(problem_on(), "bcd-ls", tol=0.0, stop=PaperViolation(1e-2), every="rows:16")
    assert watched.iterations == plain.iterations and watched.message == plain.message
    assert watched.trace is not None and len(watched.trace) > 10 * watched.iterations
    np.testing.assert_array_equal(watched.W, plain.W)


@pytest.mark.parametrize("change", [{"lam": 0.01}, {"solver": "fista-ls"}], ids=lambda c: next(iter(c)))
def test_a_change_within_a_sweep_is_made_after_it(change: dict[str, Any]) -> None:
    plain = ss.Run(problem_on(), "bcd-ls")
    for _ in range(2):
        plain.advance()
    run = ss.Run(problem_on(), "bcd-ls", every="rows:32")
    for _ in range(4):
        run.advance()
    assert run.state is not None and plain.state is not None and run.state.iteration == 0 < plain.state.iteration
    for one in (run, plain):
        one.change(**change)
        one.every = None
        event = one.advance()
        assert event.iteration == 2 and np.isnan(event.row_cursor)
    np.testing.assert_array_equal(run.state.coef, plain.state.coef)


def test_events_within_sweeps_can_be_switched_off() -> None:
    run = ss.Run(problem_on(), "bcd-ls", every="rows:32")
    run.advance()
    run.advance()
    run.every = None
    assert run.advance().iteration == 1 and run.advance().iteration == 2, (
        "the sweep under way ends, then no more events"
    )


@pytest.mark.parametrize("wrong", ["64", "rows:0", "rows:x", "rows:-3", 64, "row:5"])
def test_a_wrong_wish_is_refused_in_a_sentence(wrong: Any) -> None:
    with pytest.raises(ValueError, match="allowed: 'rows:64'"):
        ss.Run(problem_on(), "bcd-ls", every=wrong)


def test_solvers_without_sweeps_refuse_and_name_those_with_them() -> None:
    with pytest.raises(ValueError, match=r"fista-ls has no sweeps.*bcd-ls"):
        ss.solve(problem_on(), "fista-ls", every="rows:64")
    assert len(PAUSING) >= 3
    found = ss.solve(problem_on(), "auto", every="rows:64", max_iter=20)
    assert found.trace is not None and len(found.trace) > found.iterations + 1


def test_a_session_is_watched_in_slow_motion_on_request() -> None:
    with pytest.raises(ValueError, match="allowed: 'rows:64'"):
        ss.Session(problem_on(), "bcd-ls", every="64")
    with ss.Session(problem_on(), "bcd-ls", every="rows:100") as session:
        session.step(4)
        assert session.wait_idle(LONG)
        np.testing.assert_allclose(session.trace["iteration"][:4], [0, 1 / 3, 2 / 3, 1])
        session.set_every(None)
        session.step(2)
        assert session.wait_idle(LONG)
        assert session.trace["iteration"][-2:].tolist() == [2, 3] and session.status().iteration == 3
        session.set_every("rows:150")
        session.reset()
        session.step(1)
        assert session.wait_idle(LONG)
        assert session.trace["iteration"].tolist() == [0, 0.5] and session.trace["row_cursor"][-1] == 149
        packer = Packer(session.trace, 300)
        packer.columns(Block())
        status = packer.status()
        assert status["row_cursor"] == 149 and status["iteration"] == status["gap_iteration"] == 0.5
        session.request(lambda problem, state: state.weights().any())
        assert session.wait_idle(LONG)
        assert session.picture().value and session.picture().iteration == 0.5
        session.step(1)
        assert session.wait_idle(LONG)
        packer.columns(Block())
        assert packer.status()["row_cursor"] is None, "no sweep is under way"


def test_the_explorer_has_it_as_a_setting() -> None:
    settings, notices = st.clean({"dataset": "iris", "solver": "bcd-ls", "every": "rows:1"})
    assert not notices and settings["every"] == "rows:1"
    groups = controls.schema(settings)
    found = next(c for group in groups for c in group["controls"] if c["id"] == "every")
    assert len(found["choices"]) >= 3
