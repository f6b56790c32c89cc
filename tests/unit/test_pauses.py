"""Places to stop within a step: who computes meanwhile, what the clock counts, and that nothing else changes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_turns import Clock, until, waiting

import sparsescope as ss
from sparsescope import pauses
from sparsescope.app._lesson_job import LessonJob
from sparsescope.app._working import Work
from sparsescope.pauses import pause, pausing, rested
from sparsescope.runs import run as runs
from sparsescope.runs.turns import SLICE, TURNS, Turns
from sparsescope.solvers.shared import in_parts


def _run(solver: str, penalty: str, rest: Any = None, clock: Any = None) -> tuple[Any, list[Any]]:
    problem = ss.Problem(ss.datasets.load("iris"), penalty=penalty, lam_ratio=0.05, intercept=True)
    run = ss.Run(problem, solver, clock=clock)
    events = []
    for _ in range(7):
        if rest is None:
            events.append(run.advance())
        else:
            with pausing(rest):
                events.append(run.advance())
    return run, [(event.objective, event.gap, event.violation, event.passes) for event in events]


@pytest.mark.parametrize(
    ("solver", "penalty"),
    [("working-set", "l1/l2"), ("newglmnet", "l1"), ("bcd-ls", "l1/l2"), ("fista-ls", "l1/l2")],
)
def test_an_interrupted_run_is_the_same_in_every_bit(
    solver: str, penalty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_parts, "PART", 450)  # entries times classes: a row of iris at a time
    plain, events = _run(solver, penalty)
    others: list[Any] = []

    def rest() -> None:
        if len(others) < 3:  # another run computes in between, with the same kernels
            with pausing(lambda: None):
                others.append(_run(solver, penalty)[0])
        else:
            others.append(None)

    interrupted, again = _run(solver, penalty, rest)
    assert len(others) > 12, "at every certificate, and within steps"
    assert events == again
    assert np.array_equal(plain.state.coef, interrupted.state.coef)


def test_a_long_sweep_stops_at_the_same_rows_always(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.05)
    whole, order = problem.design, np.array([3, 0, 2, 1])
    assert in_parts.stops_of(whole, problem.m, order) == [4]
    monkeypatch.setattr(in_parts, "PART", 2 * 150 * problem.m)
    assert in_parts.stops_of(whole, problem.m, order) == [2, 4]
    assert in_parts.stops_of(whole, problem.m, order[:0]) == [0]
    X = sp.random_array((40, 30), density=0.3, rng=np.random.default_rng(0)).tocsc()
    sparse = ss.Problem(X, np.arange(40) % 3, lam_ratio=0.1)
    monkeypatch.setattr(in_parts, "PART", 100)
    order = np.arange(30)[::-1]
    stops = in_parts.stops_of(sparse.design, 3, order)
    read = np.diff(sparse.design.matrix.indptr)[order] * 3
    parts = np.split(read, stops[:-1])
    assert stops[-1] == 30 and len(parts) > 5
    assert max(part.sum() for part in parts) <= 100 + read.max()


def test_the_solvers_clock_leaves_pauses_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(pauses.time, "perf_counter", lambda: now[0])

    def rest() -> None:
        now[0] += 5.0

    before = rested()
    pause()
    assert rested() == before, "nobody shares"
    with pausing(rest):
        pause()
        with pausing(lambda: None):
            pause()
        pause()
    pause()
    assert rested() == before + 10.0
    seen: list[float] = []
    thread = threading.Thread(target=lambda: seen.append(rested()))
    thread.start()
    thread.join()
    assert seen == [0.0], "of each thread its own"


def test_a_run_that_waits_for_its_turn_costs_no_solver_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(pauses.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(runs, "CLOCK", lambda: now[0])

    def rest() -> None:
        now[0] += 1.0

    run, _ = _run("working-set", "l1/l2", rest)
    assert now[0] > 12.0 and run.seconds == 0.0


def test_a_turn_changes_hands_in_the_middle_of_a_step() -> None:
    clock = Clock()
    turns = Turns(2, clock, clock.sleep)
    mine = turns.place()
    assert mine.take()
    mine.rest()
    assert mine in turns._holders, "its time is not used up"
    with mine.aside():
        clock.now += 2 * SLICE
        mine.rest()  # a kernel is compiled and tried out
    mine.began = clock.now
    order: list[str] = []
    other, thread = waiting(turns, False, order, "other")
    clock.now += SLICE
    done: list[str] = []

    def step() -> None:
        mine.rest()
        done.append("mine")

    stepping = threading.Thread(target=step, daemon=True)
    stepping.start()
    until(lambda: order == ["other"] and turns.waiting == 1)
    thread.join()
    assert not done and turns._holders == [other]
    other.give_back()
    stepping.join()
    assert done == ["mine"] and turns._holders == [mine]


def test_a_lessons_run_takes_turns_and_ends_between_two_kernels() -> None:
    reached, held = threading.Event(), []
    other = TURNS.place()

    def work(job: LessonJob) -> None:
        held.append(job.turn in TURNS._holders)
        job.show({})({"picture": 1})
        job.show({})({"picture": 2})  # which waits a little, without a turn
        held.append(job.turn in TURNS._holders)
        reached.set()
        while True:
            pause()

    job = LessonJob(work)
    assert reached.wait(120) and held == [True, True]
    assert other.take(), "a run without an end leaves its turn to others"
    job.stop()
    other.give_back()
    until(lambda: not job.running)
    assert job.turn not in TURNS._holders
    assert not any(message["type"] == "error" for message in job.news())


def test_work_of_a_page_rests_within_a_step() -> None:
    steps: list[str] = []

    def work(_work: Work) -> Any:
        while not steps:
            pause()
        yield

    made = Work(work)
    made.start()
    other = TURNS.place()
    assert other.take(), "a step without an end leaves its turn to others"
    steps.append("end")
    other.give_back()
    until(lambda: not made.running)
    assert not made.error
