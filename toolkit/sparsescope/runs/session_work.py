"""Work of a session: it obeys the commands, answers the requests and steps the run, in the worker's thread."""

from __future__ import annotations

import copy
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..jit import callbacks, note
from ..pauses import pausing, rested
from ..problems.base import BaseProblem
from ..solvers.base import Solver
from .changes import marks_between, part_name
from .commands import Command, Inbox, Picture, Status
from .event import Event
from .result import point_of
from .run import Run, is_warm, warm_up
from .stopping import Gap, Precision, Stop
from .trace import Recorder, Trace
from .turns import Turn

# A run without a stop rule is finished when the relative gap is at rounding level: this many units in the last place of
# double precision, in which certificates are evaluated; or where the precision of the data carries no further.
FINISH_ULPS = 5_000.0
RECENT_BYTES = 8_000_000  # for W after each of the newest events
IDLE_WAIT = 1.0  # seconds; a worker without work looks up this often, so that none is left behind for ever
RESTING = ("idle", "paused", "finished", "error", "closed")  # modes in which the worker waits for a command
CLOCK = time.monotonic


def finish_gap() -> float:
    """Return the relative gap at which a run cannot improve further.

    Returns
    -------
    float
        the relative gap.
    """
    return FINISH_ULPS * float(np.finfo(np.float64).eps)


class SessionWork:
    """Run of a session, and what its worker does with it between two steps.

    Only the worker changes it, and holds ``stepping`` meanwhile; ``status`` and ``picture`` are replaced as a whole, so
    that other threads read them without a lock.

    Parameters
    ----------
    inbox
        commands and requests of the session, and the problem and the solver that they ask for.
    turn
        the worker's place among the workers of the process.
    make_run
        function that makes the run, called as ``make_run(problem, solver, callbacks=…, test=…, certify_every=…)``.
    past
        events before the first one of the session, which are copied; a reset drops them.
    test
        held-out data (X, y), or ``None``.
    certify_every
        evaluate certificate and accuracies at every k-th iteration; ``None`` adapts to their cost.
    speed
        largest number of iterations a second; ``None``: no cap.
    every
        when there are events within an iteration, as :attr:`Run.every` takes it.
    """

    def __init__(
        self,
        inbox: Inbox,
        turn: Turn,
        make_run: Callable[..., Run],
        *,
        past: Trace | None = None,
        test: Any = None,
        certify_every: int | None = None,
        speed: float | None = None,
        every: str | None = None,
    ) -> None:
        self.inbox, self.turn, self.make_run = inbox, turn, make_run
        self.settings = {"test": test, "certify_every": certify_every}
        self.every, self.speed = every, speed
        self.stepping = threading.Lock()  # held while the state changes
        self.recorder = Recorder(Trace() if past is None else past.copy())
        self.recorder.trace.recent_bytes = RECENT_BYTES
        self.history: list[tuple[int, Any, Solver]] = []
        self._stop: Stop | None = None
        self._finest = Gap(finish_gap(), of_null=0.0) | Precision()
        self.run = self._new_run()
        self.status, self.picture = Status(), Picture()
        self._began = float("-inf")  # of the last step
        self._playing, self._steps = False, 0
        self._refused: Exception | None = None  # of the last change, as long as its parts are those asked for
        self._taken = 0  # the newest command that was obeyed
        self._epoch = 0

    def _new_run(self) -> Run:
        problem, solver = self.inbox.target
        run = self.make_run(problem, solver, callbacks=[self.recorder], **self.settings)
        self._apply_stop(run)
        run.every = self.every
        self.history = [(0, run.problem, run.solver)]
        return run

    def _apply_stop(self, run: Run) -> None:
        if self._stop is not None:
            self._stop.reset()
            run.stop = self._stop

    def follow(self, other: SessionWork) -> None:
        """Go on from the present state and past of another work, paused.

        Parameters
        ----------
        other
            work of the session that is forked; the caller holds its ``stepping``.
        """
        self.recorder.trace = other.trace.copy()
        self.run.follow(other.run)
        self.history = other.history
        self._stop = copy.deepcopy(other._stop)
        self._apply_stop(self.run)
        self.status = replace(self.status, mode="paused", iteration=other.status.iteration)

    @property
    def trace(self) -> Trace:
        """Trace of the current epoch."""
        return self.recorder.trace

    def point(self) -> tuple[int, dict[str, Any]]:
        """Copy the newest weights; the caller holds ``stepping``.

        Returns
        -------
        tuple[int, dict[str, Any]]
            the iteration that they are of, and W, b, support and model by name.
        """
        self._open()
        assert self.run.state is not None
        return self.run.best.iteration, point_of(self.run)

    def resting(self) -> bool:
        """Return whether the work rests with no command before it; the caller holds ``stepping``.

        Returns
        -------
        bool
            True if it does.
        """
        return self.status.mode in RESTING and not (self._playing or self._steps or self.inbox.commands)

    # ------------------------------------------------------------------------------------------- what the worker calls
    @property
    def ended(self) -> bool:
        """True once the session is closed."""
        return self.inbox.closed

    def asked(self) -> bool:
        """Return whether a command waits; called by the worker.

        Returns
        -------
        bool
            True if one does.
        """
        return bool(self.inbox.commands)

    def due(self) -> float:
        """Return the time until the next work; called by the worker.

        Returns
        -------
        float
            seconds; 0: there is work now.
        """
        return 0.0 if self.inbox.busy else self._rest()

    def _rest(self) -> float:
        """The time until the next step; a command or a wish does not bring it nearer."""
        if not (self._playing or self._steps):
            return IDLE_WAIT
        # From the speed in force now: a run that is let go does not first sit out its old, slower beat.
        return max(self._began + 1.0 / self.speed - CLOCK(), 0.0) if self.speed else 0.0

    def serve(self, turn: Turn) -> None:
        """Obey, answer and step until the turn is over or there is no work; called by the worker.

        Parameters
        ----------
        turn
            the turn of the worker.
        """
        try:
            with pausing(lambda: turn.rest(self.asked())):
                self._serve(turn)
        except Exception as error:  # whatever goes wrong must reach the screen of whoever watches
            with self.stepping:  # nobody sees a session that has ended and does not say yet that it failed
                self._fail(error)

    def _serve(self, turn: Turn) -> None:
        while not self.inbox.closed:
            with self.stepping:
                self._obey()
                self._answer()
            if self._rest() > 0:  # a command interrupts this wait, so that a slow run still answers at once
                return
            began = self._began = CLOCK()
            with self.stepping:
                self._advance(began)
                self._answer()
            if turn.over():
                return

    def _fail(self, error: Exception) -> None:
        text = "".join(traceback.format_exception(error))
        # A ValueError is an answer to what was asked for, in a sentence; of others the kind matters too.
        said = str(error) if isinstance(error, ValueError) else text.strip().splitlines()[-1]
        self._playing, self._steps = False, 0
        self._say("error", said, error=text)

    def _obey(self) -> None:
        while (command := self.inbox.take()) is not None:
            if command.name == "change":
                self._try_change(command)
                if command.play:
                    self._playing, self._steps = True, 0
            elif command.name == "reset":
                self._reset()
            elif command.name == "speed":
                self.speed = command.number
            elif command.name == "every":
                self.every = self.run.every = command.text
            elif command.name == "stop":
                self._stop = self.run.stop = command.rule
                self._apply_stop(self.run)
            elif command.name == "pause":
                self._playing, self._steps = False, 0
            elif command.name == "play":
                self._playing, self._steps = True, 0
            elif command.name == "step":
                self._playing, self._steps = False, self._steps + command.number
            if self._refused is not None:  # no step on another problem than the one asked for: the error stays in sight
                self._taken = command.turn
                self._fail(self._refused)
                continue
            self._open()
            moving = self._playing or self._steps
            self._taken = command.turn
            if self.status.mode != "finished" or moving or command.name in ("change", "reset"):
                if not moving and self._certify_last():
                    continue  # that ended the run
                self._say("running" if moving else "paused", self.run.standing)
            else:
                self._say("finished", self.status.message)

    def _certify_last(self) -> bool:
        """See to it that a run at rest ends on an event with a certificate; returns whether that ended the run."""
        last = self.trace["violation"][-1:]
        if not np.isnan(last).any():
            return False
        event = self.run.observe(certify_now=True)
        return self._finished(event)

    def _open(self) -> None:
        if self.run.opened:
            return
        self._compile(self.run.problem, self.run.solver)
        self.run.advance()

    def _compile(self, problem: BaseProblem, solver: Solver) -> None:
        if not is_warm(problem, solver):
            parts = " × ".join(part_name(part) for part in problem.parts.values())
            self._say("compiling", f"compiling the kernels of {solver.name} for {parts}")
            with self.turn.aside():  # others go on meanwhile
                warm_up(problem, solver)
        for kind in {type(part) for part in problem.parts.values()}:
            said = note(kind, callbacks(kind)) if callbacks(kind) else ""
            if said and not any(mark.text == said for mark in self.trace.marks):
                self.trace.mark(said)

    def _advance(self, began: float) -> None:
        self._open()
        before, waited = self.run.notice, rested()
        event = self.run.advance(certify_now=self._steps == 1)  # a run at rest shows what is proved
        if self.run.notice is not before:  # auto chose another solver
            self.trace.mark(self.run.notice)
        spent = max(CLOCK() - began - (rested() - waited), 1.0 / self.speed if self.speed else 1e-9)
        rate = self.status.rate
        rate = 1.0 / spent if rate != rate else 0.8 * rate + 0.2 / spent
        if self._steps:
            self._steps -= 1
        if not self._finished(event, rate):
            self._say("running" if self._playing or self._steps else "paused", self.run.standing, rate=rate)

    def _finished(self, event: Event, rate: float | None = None) -> bool:
        """Return whether the run ends with this event; then the status has the reason."""
        message, run = event.message, self.run
        if not message and (run.stop is None or run.stop is self._stop):
            reason = self._finest.check(event)
            message = f"{reason} at iteration {event.iteration}" if reason else ""
            if message and run.conclude():
                run.observe(certify_now=True)
            message = run.ending(message) if message else ""
        if message:
            self._playing, self._steps = False, 0
            self._say("finished", message, rate=rate)
        return bool(message)

    def _try_change(self, command: Command) -> None:
        self._refused = None
        try:
            self._change(command.problem, command.solver)
        except Exception as error:
            self._refused, self._taken = error, command.turn
            raise

    def _change(self, problem: Any, solver: Solver) -> None:
        run = self.run
        problem = run.settle(problem)
        marks = marks_between(run.problem, run.solver, problem, solver)
        if not marks:
            return
        self._open()
        self._compile(problem, solver)
        same_problem = run.problem.key == problem.key
        run.change(problem=problem, solver=solver)
        assert run.state is not None
        self.history = [*self.history, (run.state.iteration, run.problem, run.solver)]
        for kind, text in marks:
            self.trace.mark(text, kind)
        if run.notice:
            self.trace.mark(run.notice)
        self._finest.reset()
        if not same_problem:
            run.observe(certify_now=True)  # what was touched answers at once, also while paused

    def _reset(self) -> None:
        self._refused = None
        self.recorder = Recorder(Trace(recent_bytes=RECENT_BYTES))
        self.run = self._new_run()
        self._finest.reset()
        self._playing, self._steps = False, 0
        self._epoch += 1
        self.status = replace(self.status, error=None, rate=float("nan"), iteration=0)

    def _answer(self) -> None:
        make = self.inbox.take_wish()
        if make is None:
            return
        self._open()
        assert self.run.state is not None
        value = make(self.run.problem, self.run.state)
        self.picture = Picture(self.picture.count + 1, self.run.iteration, value)

    def _say(self, mode: str, message: str, *, error: str | None = None, rate: float | None = None) -> None:
        if self.inbox.closed:  # "closed" is the last word, also when the worker is still busy with a long step
            return
        state = self.run.state
        self.status = Status(
            mode,
            message,
            error,
            state.iteration if state is not None else 0,
            self.status.rate if rate is None else rate,
            self._epoch,
            self._taken,
        )
