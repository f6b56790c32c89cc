"""Turns of live sessions: one at a time, the earliest deadline first, and workers that end with their session."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import iris
from sparsescope.live.turbo import FREE, MINE, REFUSED, TAKEN, Turbo
from sparsescope.runs import turns as module
from sparsescope.runs.commands import Command, Commands
from sparsescope.runs.session import Session
from sparsescope.runs.session_work import SessionWork
from sparsescope.runs.turns import ALONE, LATE, LEASE, LEAST_SHARE, LONG, ROUND, SLICE, STUCK, TURNS, Turn, Turns
from sparsescope.runs.worker import NAME, Wake, Worker
from waiting import LONG as LONG_WAIT
from waiting import until


class Clock:
    """A clock that tests turn by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def made(most: int = 2) -> tuple[Turns, Clock]:
    clock = Clock()
    return Turns(most, clock, clock.sleep), clock


def waiting(turns: Turns, urgent: bool, order: list[Any], name: Any) -> tuple[Turn, threading.Thread]:
    """A worker that waits for a turn, notes its name when it has got it, and keeps it."""
    turn, before = turns.place(), turns.waiting

    def work() -> None:
        turn.take(urgent)
        order.append(name)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    until(lambda: turns.waiting == before + 1)
    return turn, thread


def test_one_worker_at_a_time_the_earliest_deadline_first() -> None:
    turns, clock = made()
    first = turns.place()
    assert first.take()
    order: list[str] = []
    workers = {}
    for name, at, urgent in (("late", 0.0, False), ("early", 0.01, True), ("between", 0.02, True)):
        clock.now = at
        workers[name] = waiting(turns, urgent, order, name)
    assert order == [], "the turn is taken"
    last = first
    for k, name in enumerate(["early", "between", "late"]):
        last.give_back()
        last = workers[name][0]
        until(lambda k=k: len(order) == k + 1)  # type: ignore[misc]
        assert order[-1] == name
    last.give_back()
    assert turns.waiting == 0 and not turns._holders


def test_somebody_who_is_asked_is_moved_forward() -> None:
    turns, _ = made()
    first = turns.place()
    first.take()
    order: list[str] = []
    one, _ = waiting(turns, False, order, "one")
    two, _ = waiting(turns, False, order, "two")
    two.hurry()
    first.give_back()
    until(lambda: order == ["two"])
    two.give_back()
    until(lambda: order == ["two", "one"])
    one.give_back()


def test_a_long_kernel_does_not_keep_others_waiting_and_there_are_few_of_them() -> None:
    turns, clock = made(most=2)
    order: list[str] = []
    first = turns.place()
    first.take()
    second, _ = waiting(turns, True, order, "second")
    third, _ = waiting(turns, True, order, "third")
    clock.now = 2 * LONG
    until(lambda: order == ["second"])  # it looks again by itself
    clock.now = 4 * LONG
    time.sleep(0.3)
    assert order == ["second"], "two long ones are enough"
    clock.now = 4 * LONG + STUCK
    until(lambda: order == ["second", "third"])  # those who never end are not waited for
    for turn in (first, second, third):
        turn.give_back()


def test_turns_get_shorter_when_many_wait_and_that_of_a_lone_worker_is_long() -> None:
    turns, clock = made()
    first = turns.place()
    first.take()
    clock.now = 0.9 * ALONE
    assert not first.over(), "nobody waits"
    clock.now = 1.1 * ALONE
    assert first.over(), "so that its session can be collected"
    clock.now = 0.0
    order: list[int] = []
    workers = [waiting(turns, True, order, k)[0] for k in range(9)]
    assert turns.slice_seconds() == pytest.approx(ROUND / 10) and ROUND / 10 < SLICE
    assert not first.over()
    clock.now = ROUND / 9
    assert first.over()
    for k, turn in enumerate((first, *workers)):
        until(lambda k=k: len(order) == k)  # type: ignore[misc]
        turn.give_back()
    assert order == list(range(9))


def test_while_the_event_loop_is_late_workers_rest_after_a_turn() -> None:
    turns, clock = made()
    turn = turns.place()
    for lateness, share in ((0.0, 1.0), (LATE, 1.0), (2 * LATE, 0.5), (1.0, LEAST_SHARE)):
        turns.loop_is_late(lateness)
        assert turns.share == pytest.approx(share)
        clock.slept.clear()
        turn.take()
        clock.now += 0.004
        turn.give_back()
        rest = min(0.004 * (1 / share - 1), module.MOST_REST)
        assert clock.slept == ([] if share == 1.0 else [pytest.approx(rest)])


def test_aside_lets_others_in_and_takes_a_turn_again() -> None:
    turns, _ = made()
    first = turns.place()
    first.take()
    order: list[str] = []
    other, _ = waiting(turns, True, order, "other")
    with first.aside():
        until(lambda: order == ["other"])
        other.give_back()
    assert turns._holders == [first]
    with turns.place().aside():  # without a turn there is nothing to give back
        pass
    first.give_back()


@pytest.mark.parametrize("leave", [Turn.give_up, Turn.abandon])
def test_who_gives_up_comes_next_and_is_told(leave: Callable[[Turn], None]) -> None:
    turns, _ = made()
    first = turns.place()
    first.take()
    told: list[bool] = []
    turn = turns.place()
    thread = threading.Thread(target=lambda: told.append(turn.take()), daemon=True)
    thread.start()
    until(lambda: turns.waiting == 1)
    leave(turn)
    first.give_back()
    thread.join(LONG_WAIT)
    turn.give_back()
    assert told == [False] and not turns._holders


# ---------------------------------------------------------------------------------------------------------- leases
def shares(turns: Turns, clock: Clock, places: list[Turn], rounds: int) -> list[int]:
    """Count the turns of several workers that all want to compute all the time."""
    got = dict.fromkeys(places, 0)
    for turn in places:
        turn._queue_up(clock.now + ROUND)
    turns._admit()
    for _ in range(rounds):
        (holder,) = turns._holders
        got[holder] += 1
        clock.now += 0.002
        holder.give_back()
        holder._queue_up(clock.now + ROUND)
        turns._admit()
    while turns._holders:
        turns._holders[0].give_back()
    return list(got.values())


def test_a_lease_is_every_other_turn_and_all_others_share_the_rest_evenly() -> None:
    turns, clock = made()
    places = [turns.place() for _ in range(6)]
    before = shares(turns, clock, places, 60)
    assert max(before) - min(before) <= 1
    assert turns.lease(places[2], 1.0)
    mine, others = 0, []
    for k, count in enumerate(shares(turns, clock, places, 100)):
        mine, others = (count, others) if k == 2 else (mine, [*others, count])
    assert abs(mine - 50) <= 1 and max(others) - min(others) <= 1
    clock.now += 1.0
    assert turns.lessee is None
    after = shares(turns, clock, places, 60)
    assert max(after) - min(after) <= 1


def test_the_turns_of_a_lease_are_whole_ones() -> None:
    turns, clock = made()
    places = [turns.place() for _ in range(20)]
    for turn in places:
        turn._queue_up(clock.now + ROUND)
    turns._admit()
    (holder,) = turns._holders
    clock.now = holder.began + turns.slice_seconds()
    assert holder.over()
    turns.lease(holder)
    assert not holder.over()
    clock.now = holder.began + SLICE
    assert holder.over()


def test_one_page_at_a_time_has_turbo_and_the_others_are_told() -> None:
    turns, clock = made()
    one, two = Turbo(turns), Turbo(turns)
    first, second, other = (turns.place() for _ in range(3))
    assert one.state(first, False) is None and one.state(first, True) == FREE, (
        "with nobody else there is nothing to ask"
    )
    assert one.take({"on": True}, first) == "" and two.take({"on": True}, other) == REFUSED
    assert (one.state(first, True), two.state(other, True)) == (MINE, TAKEN)
    assert one.state(second, True) == MINE and turns.lessee is second, "its next session goes on with it"
    clock.now += LEASE
    assert (one.state(second, True), two.state(other, True)) == (FREE, FREE)
    two.take({"on": True}, other)
    one.end()
    assert two.state(other, True) == MINE, "only who has it can end it"
    two.take({"on": False}, other)
    assert turns.lessee is None
    with pytest.raises(ValueError, match="turbo: on is missing"):
        one.take({}, first)


# -------------------------------------------------------------------------------------------------------- sessions
@pytest.fixture
def problem() -> ss.Problem:
    X, y = iris()
    return ss.Problem(X, y, lam=1e-4)


def workers(others: set[threading.Thread]) -> int:
    """Count the workers beside those that tests before have left, which may end at any time."""
    return sum(thread.name == NAME and thread not in others for thread in threading.enumerate())


def test_sessions_compute_one_at_a_time_and_all_get_on(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 1e9)  # a worker that the machine does not run is not a long kernel
    most = [0]
    advance = SessionWork._advance

    def counted(work: SessionWork, began: float) -> None:
        assert work.turn in TURNS._holders
        most[0] = max(most[0], len(TURNS._holders))  # in the middle of a step there may be several
        advance(work, began)

    monkeypatch.setattr(SessionWork, "_advance", counted)
    sessions = [Session(problem, "ista", paused=False) for _ in range(8)]
    try:
        until(lambda: all(session.status().iteration > 50 for session in sessions))
        assert most[0] == 1
    finally:
        for session in sessions:
            session.close(LONG_WAIT)


def test_compiling_does_not_keep_others_waiting(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsescope.runs import session_work as room

    going, compiling = threading.Event(), threading.Event()

    def slow(problem: Any, solver: Any) -> None:
        compiling.set()
        assert going.wait(LONG_WAIT)

    with Session(problem, "ista") as other, Session(problem, "ista") as session:
        other.open()
        assert other.wait_idle(LONG_WAIT)
        monkeypatch.setattr(room, "is_warm", lambda problem, solver: compiling.is_set())
        monkeypatch.setattr(room, "warm_up", slow)
        monkeypatch.setattr(module, "LONG", 1e9)
        session.play()
        assert compiling.wait(LONG_WAIT)
        assert session.status().mode == "compiling"
        other.step(3)
        assert other.wait_idle(LONG_WAIT) and other.status().iteration == 3
        going.set()
        until(lambda: session.status().iteration > 3)


def test_sessions_that_nobody_holds_are_collected_with_their_threads(problem: ss.Problem) -> None:
    before = set(threading.enumerate())

    def use() -> list[Any]:
        sessions = [Session(problem, "ista", paused=k % 2 == 0) for k in range(20)]
        for session in sessions:
            session.open()
        until(lambda: all(session.status().iteration > 0 for session in sessions[1::2]))
        assert workers(before) == 20
        return [weakref.ref(session) for session in sessions]

    gone = use()
    until(lambda: gc.collect() >= 0 and workers(before) == 0)
    assert all(ref() is None for ref in gone)
    until(lambda: TURNS.waiting == 0)


class Resting:
    """A session as a worker sees it, with nothing to do."""

    ended = False

    def __init__(self) -> None:
        self.looked = threading.Event()

    def due(self) -> float:
        self.looked.set()
        return LONG_WAIT

    def asked(self) -> bool:
        return False

    def serve(self, turn: Turn) -> None:
        raise AssertionError("there is nothing to do")


def test_garbage_that_is_collected_by_who_holds_the_lock_stops_nobody() -> None:
    """Garbage goes in whichever thread allocates something: also in one that holds the lock of the turns."""
    worker, held = Worker(), [Resting()]
    worker.call(held[0])
    assert held[0].looked.wait(LONG_WAIT)
    until(lambda: sys.getrefcount(held[0]) == 2)  # the list's and the argument's: the worker rests
    gone, done = weakref.ref(held[0]), threading.Event()

    def collect() -> None:
        with TURNS._lock:
            held.clear()
        done.set()

    threading.Thread(target=collect, daemon=True).start()
    assert done.wait(LONG_WAIT), "a finalizer waits for the lock that its own thread holds"
    assert gone() is None and worker.thread is not None
    worker.thread.join(LONG_WAIT)
    assert not worker.thread.is_alive()


def test_a_wake_from_within_is_heard() -> None:
    wake = Wake()
    wake.set()
    wake.set()
    wake.wait(LONG_WAIT)  # at once
    wake.set()
    wake.clear()
    before = time.monotonic()
    wake.wait(0.05)
    assert time.monotonic() - before > 0.02, "what was cleared is forgotten"
    threading.Timer(0.05, wake.set).start()
    wake.wait(LONG_WAIT)


def test_a_closed_session_ends_while_another_keeps_the_turn(
    problem: ss.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONG", 1e9)  # others are not let in beside it, however slowly this goes on
    holder = TURNS.place()
    holder.take()
    try:
        session = Session(problem, "ista", paused=False)
        session.close(0.0)
    finally:
        holder.give_back()
    thread = session._worker.thread
    assert thread is not None
    thread.join(LONG_WAIT)
    assert not thread.is_alive() and session.status().iteration == 0


# -------------------------------------------------------------------------------------------------------- commands
def queued(*names: Any) -> list[Any]:
    commands = Commands()
    for k, name in enumerate(names):
        commands.put(Command(name, number=1, turn=k))
    return [(command.name, command.turn, command.number) for command in commands]


def test_of_commands_of_one_kind_the_last_one_counts() -> None:
    assert queued("change", "change", "change") == [("change", 2, 1)]
    assert queued("change", "speed", "change", "stop", "speed") == [("change", 2, 1), ("stop", 3, 1), ("speed", 4, 1)]
    assert queued("play", "pause", "play", "pause") == [("play", 2, 1), ("pause", 3, 1)]
    assert queued("step", "step", "step") == [("step", 2, 3)]
    assert queued("change", "step", "change") == [("change", 0, 1), ("step", 1, 1), ("change", 2, 1)]
    assert queued("reset", "change", "reset") == [("reset", 0, 1), ("change", 1, 1), ("reset", 2, 1)]


def test_a_flood_of_commands_stays_small(problem: ss.Problem) -> None:
    with Session(problem, "ista") as session, session._work.stepping:
        for k in range(500):
            session.change(lam=1e-4 * (1 + k))
            session.set_speed(100.0 + k)
            session.play()
            assert len(session._inbox.commands) <= 3
    assert np.isfinite(session.target[0].lam)
