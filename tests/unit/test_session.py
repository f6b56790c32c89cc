"""Live sessions: commands, marks, pictures, errors, forks, and the end of the worker.

Limits of time here are generous: they only turn an endless wait into a failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import iris
from sparsescope.jit.parts import part
from sparsescope.runs.commands import Command, Commands
from sparsescope.runs.run import Run
from sparsescope.runs.session import Session
from sparsescope.runs.session_work import SessionWork
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers.base import Solver, State, settings
from waiting import LONG, until


class Gate:
    """Lets the steps of :class:`Gated` through: all of them, or a given number."""

    def __init__(self) -> None:
        self.tickets = threading.Semaphore(0)
        self.open = threading.Event()
        self.waiting = threading.Event()

    def reset(self) -> None:
        self.__init__()  # type: ignore[misc]

    def enter(self) -> None:
        self.waiting.set()
        while not self.open.is_set() and not self.tickets.acquire(timeout=0.005):
            assert time.monotonic() < GIVE_UP[0], "nobody opens the gate"


GATE = Gate()
GIVE_UP = [0.0]


@settings
class Gated(ss.solvers.ISTA):
    """ISTA that waits at a gate before each step."""

    def step(self, problem: ss.Problem, state: Any) -> None:
        GATE.enter()
        super().step(problem, state)


@settings
class Broken(Solver):
    """Fails at its third step."""

    def step(self, problem: ss.Problem, state: State) -> None:
        state.iteration += 1
        if state.iteration == 3:
            raise ArithmeticError("the third step fails")


@settings
class BrokenAtOnce(Solver):
    """Takes its time to begin, and fails at its first step."""

    def start(self, problem: ss.Problem, coef: np.ndarray) -> State:
        time.sleep(0.1)
        return super().start(problem, coef)

    def step(self, problem: ss.Problem, state: State) -> None:
        raise ArithmeticError("the first step fails")


@part
class Corner(ss.losses.Loss):
    """A loss that no solver here takes."""

    smooth = False
    title = "corner"

    def value(self, z, y):
        return abs(z[y])


@pytest.fixture(autouse=True)
def fresh_gate(no_worker_is_left_behind: None) -> Iterator[None]:  # it is opened before workers are waited for
    GATE.reset()
    GIVE_UP[0] = time.monotonic() + LONG
    yield
    GATE.open.set()


@pytest.fixture(autouse=True)
def no_worker_is_left_behind() -> Iterator[None]:
    yield
    workers = [t for t in threading.enumerate() if t.name == "sparsescope-session"]
    for worker in workers:
        worker.join(LONG)
    assert not any(w.is_alive() for w in workers)


@pytest.fixture
def problem() -> ss.Problem:
    X, y = iris()
    return ss.Problem(X, y, lam=1e-3)


@pytest.fixture
def session(problem: ss.Problem) -> Iterator[Session]:
    with Session(problem, "ista") as made:
        yield made


def rest(session: Session) -> None:
    assert session.wait_idle(LONG), session.status()


def step(session: Session, count: int = 1) -> None:
    session.step(count)
    rest(session)


def pause(session: Session) -> None:
    session.pause()
    rest(session)


# ------------------------------------------------------------------------------------------------ playing and pausing
def test_nothing_happens_before_the_first_command(session: Session) -> None:
    assert session.status().mode == "idle" and len(session.trace) == 0
    assert session.generation == 0 and session.picture().count == 0
    session.open()
    rest(session)
    assert session.status().mode == "paused" and len(session.trace) == 1 and session.status().iteration == 0


def test_play_runs_until_pause(session: Session) -> None:
    session.play()
    until(lambda: session.status().iteration >= 20)
    assert session.status().mode == "running" and session.status().rate > 0
    pause(session)
    status, size = session.status(), len(session.trace)
    assert status.mode == "paused" and status.error is None
    time.sleep(0.05)
    assert len(session.trace) == size
    seen = session.trace["iteration"]
    assert np.unique(seen).tolist() == list(range(status.iteration + 1)) and len(seen) <= status.iteration + 2
    assert np.isfinite(session.trace["gap"][-1]), "a run at rest ends on an event with a certificate"


def test_a_session_can_begin_playing(problem: ss.Problem) -> None:
    with Session(problem, "ista", paused=False) as session:
        until(lambda: session.status().iteration >= 3)


def test_step_does_exactly_so_many_iterations(session: Session) -> None:
    step(session)
    assert session.status().iteration == 1
    session.step(7)
    step(session, 2)
    assert session.status().iteration == 10 and session.status().mode == "paused"
    for n in (0, -1, 1.5):
        with pytest.raises(ValueError, match="at least 1"):
            session.step(n)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [0, 3])
def test_what_arrives_just_before_a_step_is_decided_makes_no_step(
    steps: int, problem: ss.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wish for a picture, or a command, that comes after the worker has obeyed and before it looks what to do."""
    obey, answer, obeyed, late = SessionWork._obey, SessionWork._answer, threading.Event(), threading.Event()

    sessions: list[Session] = []

    def noted(self: SessionWork) -> None:
        obey(self)
        obeyed.set()

    def interrupted(self: SessionWork) -> None:
        answer(self)
        resting = obeyed.is_set() and not (self._playing or self._steps)
        obeyed.clear()
        if resting and not late.is_set() and self.status.iteration == steps:
            late.set()
            sessions[0].request(lambda problem, state: state.iteration)
            sessions[0].set_speed(None)

    monkeypatch.setattr(SessionWork, "_obey", noted)
    monkeypatch.setattr(SessionWork, "_answer", interrupted)
    with Session(problem, "ista") as session:
        sessions.append(session)
        session.step(steps) if steps else session.open()
        until(late.is_set, "for the last moment")
        rest(session)
        until(lambda: session.picture().count > 0, "for the picture")
        rest(session)
        assert session.status().iteration == session.trace["iteration"][-1] == steps


def test_a_session_takes_the_same_way_as_a_run(problem: ss.Problem) -> None:
    for name in ("bcd-ls", "bcd-cst", "fista-ls"):
        run = Run(problem, name, stop=Iterations(40))
        events = list(run)
        with Session(problem, name, certify_every=1) as session:
            step(session, 15)
            session.play()
            until(lambda s=session: s.status().iteration >= 40)
            pause(session)
            np.testing.assert_array_equal(session.trace["objective"][:41], [e.objective for e in events])
            np.testing.assert_array_equal(session.trace["gap"][:41], [e.gap for e in events])


def close_the_gate(session: Session, after: int) -> None:
    """Do some steps and close the gate: the worker waits in the next one."""
    GATE.open.set()
    session.step(after)
    rest(session)
    GATE.open.clear()
    GATE.waiting.clear()


def test_pause_waits_for_one_step_at_most(problem: ss.Problem) -> None:
    with Session(problem, Gated()) as session:
        close_the_gate(session, after=3)
        session.play()
        assert GATE.waiting.wait(LONG)  # the worker is inside its fourth step
        session.pause()
        session.step(1)  # and what comes after the pause is not forgotten
        assert session.status().iteration == 3
        GATE.open.set()
        rest(session)
        assert session.status().iteration == 5 and session.status().mode == "paused"


def test_speed_is_a_cap_that_commands_interrupt(session: Session) -> None:
    session.set_speed(0.01)  # one iteration in 100 seconds
    session.play()
    until(lambda: session.status().iteration == 1)
    time.sleep(0.05)
    assert session.status().iteration == 1 and session.speed == 0.01
    session.set_speed(None)
    pause(session)
    assert session.speed is None
    session.set_speed(50.0)
    began, before = time.monotonic(), session.status().iteration
    session.play()
    until(lambda: session.status().iteration >= before + 10)
    assert time.monotonic() - began >= 9 / 50, "a cap: a busy machine is slower, never faster"
    for bad in (0, -3.0, "fast", float("nan")):
        with pytest.raises(ValueError, match="speed"):
            session.set_speed(bad)  # type: ignore[arg-type]


def test_a_certified_run_is_finished_until_something_changes(problem: ss.Problem) -> None:
    with Session(problem.with_lam(0.5), "bcd-ls", certify_every=1) as session:
        session.play()
        rest(session)
        status = session.status()
        assert status.mode == "finished" and "certified: relative gap" in status.message
        assert str(status.iteration) in status.message and session.trace["relative_gap"][-1] < 1.2e-12
        pause(session)
        assert session.status().mode == "finished", "a pause does not make it less finished"
        session.change(lam=0.3)
        rest(session)
        assert session.status().mode == "paused"
        session.play()
        rest(session)
        assert session.status().mode == "finished" and session.trace.segments == 2


def test_a_finished_run_that_is_changed_and_plays_on_is_not_paused_in_between(problem: ss.Problem) -> None:
    with Session(problem.with_lam(0.5), "bcd-ls", certify_every=1) as session:
        session.play()
        rest(session)
        said, say = [], session._work._say

        def noted(mode: str, *args: Any, **given: Any) -> None:
            said.append(mode)
            say(mode, *args, **given)

        session._work._say = noted  # type: ignore[method-assign]
        session.change(lam=0.3, play=True)
        rest(session)
        assert said[-1] == "finished" and "running" in said and "paused" not in said
        assert session.trace.segments == 2


@pytest.mark.parametrize("paused", [False, True])
def test_a_change_that_takes_the_place_of_another_plays_if_that_one_was_to(problem: ss.Problem, paused: bool) -> None:
    waiting = Commands()
    waiting.put(Command("change", problem=problem, play=True))
    if paused:
        waiting.put(Command("pause"))
    waiting.put(Command("change", problem=problem.with_lam(0.3)))
    assert [(command.name, command.play) for command in waiting][-1] == ("change", not paused)
    assert [command.name for command in waiting] == ["pause", "change"][not paused :]


# ------------------------------------------------------------------------------------------------------- live changes
def test_tweaks_are_applied_in_mid_run_with_a_mark_and_keep_the_weights(session: Session) -> None:
    session.play()
    until(lambda: session.status().iteration >= 5)
    session.change(lam=0.2)
    until(lambda: len(session.trace.marks) == 1 and session.trace["lam"][-1] == 0.2)
    session.change(loss="logistic", penalty=ss.penalties.SparseGroup(rho=0.25))
    session.change(solver="bcd-ls")
    session.change(solver=ss.solvers.BCD(selection="greedy"))
    until(lambda: session.solver == ss.solvers.BCD(selection="greedy"))
    pause(session)
    trace = session.trace
    # Changes that are given before the worker comes by are joined, so there may be fewer marks than tweaks.
    texts = {mark.text: mark for mark in trace.marks}
    assert "λ 0.001 → 0.2" in texts and texts["λ 0.001 → 0.2"].kind == "lam"
    assert texts["loss multiclass-squared-hinge → logistic (margin 0)"].kind == "loss"
    assert texts["penalty l1/l2 → sparse-group (rho 0.25)"].kind == "penalty"
    assert any(mark.kind == "solver" and mark.text.startswith("solver ista → bcd-ls") for mark in trace.marks)
    first = trace.marks[0].index
    assert (trace["lam"][:first] == 1e-3).all() and trace["lam"][first] == 0.2
    # The event right after the mark is the same point seen through the new problem: no step in between.
    assert trace["iteration"][first] == trace["iteration"][first - 1]
    assert trace["nonzero_rows"][first] == trace["nonzero_rows"][first - 1] and np.isfinite(trace["gap"][first])
    assert session.problem.penalty == ss.penalties.SparseGroup(rho=0.25)
    assert session.target == (session.problem, session.solver)
    assert (np.diff(trace["iteration"]) <= 1).all()


def test_of_many_changes_before_a_step_only_the_last_is_applied(problem: ss.Problem) -> None:
    with Session(problem, Gated()) as session:
        close_the_gate(session, after=2)
        session.play()
        assert GATE.waiting.wait(LONG)
        for lam in np.linspace(0.01, 0.5, 30):
            session.change(lam=float(lam))
        assert session.target[0].lam == 0.5 and session.problem.lam == 1e-3
        session.pause()
        GATE.open.set()
        rest(session)
        assert [m.text for m in session.trace.marks] == ["λ 0.001 → 0.5"]
        assert set(session.trace["lam"]) == {1e-3, 0.5}


def test_a_tweak_while_paused_answers_at_once(session: Session) -> None:
    step(session, 5)
    before = len(session.trace)
    session.change(lam=0.01)
    rest(session)
    assert len(session.trace) == before + 1 and session.trace["lam"][-1] == 0.01
    assert session.status().mode == "paused" and session.status().iteration == 5
    session.change(solver="fista-ls")  # the point is the same and so is what is to say about it
    session.change(lam=0.01)  # nothing new
    rest(session)
    assert len(session.trace) == before + 1 and len(session.trace.marks) == 2


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"lam": 0.0}, ValueError, "positive"),
        ({"lam": float("nan")}, ValueError, "positive"),
        ({"loss": "logstic"}, ValueError, "did you mean"),
        ({"penalty": "l1/l3"}, ValueError, "unknown penalty"),
        ({"solver": "bcd"}, ValueError, "unknown solver"),
        ({"solver": 3}, TypeError, "not a solver"),
        ({"loss": Corner()}, ValueError, "needs a smooth loss"),
        ({"lam": 0.1, "penalty": "none"}, ValueError, "penalty"),
    ],
)
def test_a_bad_tweak_raises_and_changes_nothing(
    session: Session, given: Any, error: type[Exception], message: str
) -> None:
    step(session, 2)
    target, generation, size = session.target, session.generation, len(session.trace)
    with pytest.raises(error, match=message):
        session.change(**given)
    rest(session)
    assert (session.target, session.generation, len(session.trace)) == (target, generation, size)
    assert session.status().mode == "paused" and not session.trace.marks


def test_a_solver_that_does_not_fit_is_refused_at_the_door(problem: ss.Problem) -> None:
    with pytest.raises(ValueError, match="not smooth"):
        Session(problem.with_(loss=Corner()), "bcd-ls")
    with pytest.raises(ValueError, match="speed"):
        Session(problem, speed=-1)


def test_every_command_makes_a_new_generation(session: Session) -> None:
    commands: list[Callable[[], None]] = [
        session.open,
        session.play,
        session.pause,
        session.step,
        session.reset,
        lambda: session.set_speed(5.0),
        lambda: session.change(lam=0.1),
    ]
    for k, command in enumerate(commands, 1):
        command()
        assert session.generation == k
    rest(session)
    assert session.status().generation == len(commands)


def test_reset_starts_again_from_zero_with_the_present_settings(session: Session) -> None:
    session.step(5)
    session.change(lam=0.05, solver="bcd-ls")
    rest(session)
    old = session.trace
    session.reset()
    rest(session)
    assert session.trace is not old and len(old) == 7
    status = session.status()
    assert (status.mode, status.iteration, status.epoch) == ("paused", 0, 1)
    assert len(session.trace) == 1 and session.trace["nonzero_rows"][0] == 0 and not session.trace.marks
    assert session.problem.lam == 0.05 and session.solver.name == "bcd-ls"
    step(session, 2)
    assert len(session.trace) == 3


# ------------------------------------------------------------------------------------------------------------- pictures
def test_pictures_are_made_by_the_worker_while_paused_and_while_running(session: Session) -> None:
    def look(problem: ss.Problem, state: State) -> tuple[int, int, str]:
        return state.iteration, int(np.count_nonzero(state.weights().any(axis=1))), threading.current_thread().name

    session.request(look)
    until(lambda: session.picture().count == 1)
    assert session.picture().value == (0, 0, "sparsescope-session") and session.picture().iteration == 0
    session.play()
    until(lambda: session.status().iteration >= 10)
    for count in range(2, 8):
        session.request(look)
        until(lambda count=count: session.picture().count == count)
        found = session.picture()
        assert found.value[0] == found.iteration
        until(lambda found=found: len(session.trace) > found.iteration)
        assert session.trace["nonzero_rows"][found.iteration] == found.value[1]
    assert session.picture().iteration >= 10


def test_only_the_newest_wish_is_answered(problem: ss.Problem) -> None:
    with Session(problem, Gated()) as session:
        close_the_gate(session, after=1)
        session.step(1)
        assert GATE.waiting.wait(LONG)
        for k in range(20):
            session.request(lambda problem, state, k=k: k)
        GATE.open.set()
        rest(session)
        assert session.picture().value == 19 and session.picture().count == 1


# --------------------------------------------------------------------------------------------------------------- errors
def test_an_error_of_the_worker_is_shown_and_can_be_left(problem: ss.Problem) -> None:
    with Session(problem, Broken()) as session:
        session.play()
        until(lambda: session.status().mode == "error")
        status = session.status()
        assert "the third step fails" in status.message and "ArithmeticError" in status.message
        assert status.error is not None and "Traceback" in status.error and "in step" in status.error
        rest(session)
        session.change(solver="bcd-ls")
        step(session, 2)
        assert session.status().mode == "paused" and session.status().error is None
        assert session.status().iteration >= 4


@part
class Misspelt(ss.penalties.L1):
    """A penalty whose prox cannot be compiled."""

    def prox(self, v, tau, out):
        for k in range(v.size):
            out[k] = shrinks(v[k], tau)  # noqa: F821


def test_an_error_in_a_part_of_a_user_ends_its_run_and_names_it(problem: ss.Problem) -> None:
    with Session(problem, "ista") as session:
        step(session, 1)
        session.change(penalty=Misspelt())
        until(lambda: session.status().mode == "error")
        status = session.status()
        assert status.error is not None and "Traceback" in status.error and "'shrinks' is not defined" in status.error
        rest(session)
        session.change(penalty="l1")
        step(session, 1)
        assert session.status().mode == "paused" and session.status().error is None


def test_a_change_that_fails_is_not_hidden_by_the_step_behind_it(problem: ss.Problem) -> None:
    with Session(problem, "ista") as session:
        step(session, 1)
        session.change(penalty=Misspelt())
        session.step(2)  # comes while the change is compiling
        rest(session)
        session.step(2)  # and one more after it has failed
        pause(session)
        status = session.status()
        assert status.mode == "error" and "'shrinks' is not defined" in status.message
        assert status.iteration == 1 and status.generation == session.generation
        session.change(penalty="l1")
        step(session, 1)
        assert session.status().mode == "paused" and session.status().error is None
        assert session.status().iteration == 2


def test_who_waits_for_rest_sees_the_error(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session(problem, BrokenAtOnce()) as session:
        say = session._work._say

        def slowly(mode: str, *words: Any, **more: Any) -> None:
            if mode == "error":
                time.sleep(0.1)
            say(mode, *words, **more)

        monkeypatch.setattr(session._work, "_say", slowly)
        monkeypatch.setattr(session._work, "_compile", lambda *_: None)  # so that it says nothing before its first step
        session.play()
        rest(session)
        assert session.status().mode == "error"


def test_a_picture_that_fails_is_an_error_too(session: Session) -> None:
    step(session, 1)
    session.request(lambda problem, state: 1 / 0)
    until(lambda: session.status().mode == "error")
    assert "ZeroDivisionError" in session.status().message
    session.reset()
    step(session, 1)
    assert session.status().mode == "paused" and session.status().error is None


def test_a_session_says_that_it_compiles(problem: ss.Problem) -> None:
    @settings
    class Unseen(Gated):
        """A solver that nothing has compiled for yet."""

    with Session(problem, Unseen()) as session:
        session.step(1)
        until(lambda: session.status().mode == "compiling")
        assert session.status().message == "compiling the kernels of Unseen for multiclass-squared-hinge × l1/l2"
        GATE.open.set()
        rest(session)
        assert session.status().mode == "paused" and session.status().iteration == 1


# ------------------------------------------------------------------------------------------------------ forks and ends
def test_a_fork_goes_on_alone_from_the_same_point(problem: ss.Problem) -> None:
    X, y = iris()
    with Session(problem, "bcd-cst", test=(X[:30], y[:30]), certify_every=1) as session:
        session.step(12)
        session.change(lam=0.01)
        rest(session)
        with session.fork() as other:
            assert other.status().mode == "paused" and other.status().iteration == 12
            assert len(other.trace) == len(session.trace) and other.trace is not session.trace
            assert [m.text for m in other.trace.marks] == ["λ 0.001 → 0.01"]
            for one in (session, other):
                one.step(10)
                rest(one)
            np.testing.assert_array_equal(session.trace["objective"], other.trace["objective"])
            np.testing.assert_array_equal(session.trace["test_accuracy"], other.trace["test_accuracy"])
            other.change(lam=0.3)
            other.step(5)
            rest(other)
            assert session.problem.lam == 0.01 and session.status().iteration == 22
            assert other.trace.support().size <= session.trace.support().size


def test_a_running_session_can_be_forked(session: Session) -> None:
    session.play()
    until(lambda: session.status().iteration >= 5)
    for _ in range(5):
        with session.fork() as other:
            size = len(other.trace)
            assert other.trace["iteration"][-1] == size - 1 == other.trace.since(0)["iteration"].size - 1
            other.step(1)
            rest(other)
            assert other.trace["iteration"][-1] == size
    assert session.status().mode == "running"


def test_close_ends_the_worker_and_the_session(problem: ss.Problem) -> None:
    session = Session(problem, "ista")
    session.play()
    until(lambda: session.status().iteration >= 3)
    worker = session._worker.thread
    assert worker is not None and worker.is_alive() and worker.daemon
    session.close()
    assert not worker.is_alive() and session.status().mode == "closed"
    session.close()
    assert len(session.trace) >= 4, "the trace can still be read"
    commands: list[Callable[[], None]] = [session.play, session.pause, session.reset, lambda: session.change(lam=0.1)]
    for command in commands:
        with pytest.raises(RuntimeError, match="closed"):
            command()
    assert session.wait_idle(LONG) and session.target[0].lam == 1e-3
    Session(problem).close()  # one that never began has nothing to end


def test_a_session_that_its_own_worker_closes_stays_closed(problem: ss.Problem) -> None:
    session = Session(problem, "ista")
    session.play()
    session.request(lambda problem, state: session.close())
    until(lambda: session.status().mode == "closed")
    worker = session._worker.thread
    assert worker is not None
    worker.join(LONG)
    assert not worker.is_alive() and session.status().mode == "closed"


def test_the_status_says_which_command_it_takes_into_account(problem: ss.Problem) -> None:
    with Session(problem.with_lam(0.5), "bcd-ls", certify_every=1) as session:
        session.play()
        rest(session)
        assert session.status().mode == "finished" and session.status().generation == session.generation == 1
        with session._work.stepping:  # the worker cannot obey
            session.change(lam=0.3)
            status = session.status()
            assert status.mode == "finished" and status.generation == 1 < session.generation == 2
        rest(session)
        assert session.status().mode == "paused" and session.status().generation == 2
        session.play()
        rest(session)
        session.set_speed(1000.0)  # changes nothing about a run that is finished
        until(lambda: session.status().generation == session.generation)
        assert session.status().mode == "finished" and "certified" in session.status().message


@pytest.mark.parametrize("how", ["pause", "step"])
def test_a_run_at_rest_ends_on_an_event_with_a_certificate(problem: ss.Problem, how: str) -> None:
    with Session(problem.with_lam(1e-5), "fista-cst", certify_every=1000) as session:
        if how == "step":
            session.step(7)
        else:
            session.play()
            until(lambda: session.status().iteration >= 7)
            session.pause()
        rest(session)
        trace = session.trace
        assert session.status().mode == "paused" and np.isfinite(trace["gap"][-1]), trace["gap"]
        assert np.isnan(trace["gap"][1:-1]).any(), "in between nobody asked for one"
        assert trace["iteration"][-1] == session.status().iteration


def test_waiting_for_rest_gives_up_in_time(problem: ss.Problem) -> None:
    with Session(problem, Gated()) as session:
        session.play()
        assert not session.wait_idle(0.05)
        GATE.open.set()


def test_waiting_for_rest_gives_up_in_time_when_a_step_begins_meanwhile(problem: ss.Problem) -> None:
    with Session(problem, "bcd-ls") as session:
        assert session.wait_idle(LONG)
        answers: list[bool] = []
        with session._work.stepping:  # as a worker does within a step, before the status says that it works
            waiting = threading.Thread(target=lambda: answers.append(session.wait_idle(0.05)))
            waiting.start()
            waiting.join(LONG)
            assert answers == [False]


def test_adaptive_certificates_come_and_the_test_set_is_scored(problem: ss.Problem) -> None:
    X, y = iris()
    with Session(problem.with_lam(0.3), "bcd-ls", test=(X, y)) as session:
        session.play()
        rest(session)
        assert session.status().mode == "finished"
        evaluated = np.isfinite(session.trace["gap"])
        assert evaluated[0] and evaluated[-1]
        np.testing.assert_array_equal(np.isfinite(session.trace["test_accuracy"]), evaluated)
        np.testing.assert_array_equal(session.trace["test_accuracy"], session.trace["train_accuracy"])
