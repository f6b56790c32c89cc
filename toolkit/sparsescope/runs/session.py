"""Session: a run in a worker thread that obeys commands between two steps. It does not depend on any display.

Commands go into a queue and return at once; readers look at ``status()``, ``trace`` and ``picture()``. Whoever draws
never waits for a step to end, and the worker never touches a widget.
"""

from __future__ import annotations

import copy
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..jit import callbacks, note
from ..pauses import pausing, rested
from ..problems.base import BaseProblem
from ..registry import check_whole
from ..solvers.base import Solver, State
from .changes import marks_between, part_name
from .commands import Command, Commands, Picture, Status
from .event import Event
from .result import point_of
from .run import EVERY, Run, as_problem, as_solver, is_warm, rows_between, warm_up
from .stopping import Gap, Precision, Stop
from .trace import Recorder, Trace
from .turns import Turn
from .worker import Worker

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


class Session:
    """Live run in a worker thread, which obeys commands between two steps.

    Parameters
    ----------
    problem
        as for :class:`sparsescope.Run`.
    solver
        as for :class:`sparsescope.Run`.
    test
        held-out data (X, y), or ``None``.
    speed
        largest number of iterations a second; ``None``: no cap.
    certify_every
        evaluate certificate and accuracies at every k-th iteration; ``None`` adapts to their cost.
    paused
        start paused (default) or playing.
    every
        ``"rows:64"``: events within sweeps too, see :class:`sparsescope.Run`; solvers without sweeps have none.
    make_run
        function that makes the run; ``functools.partial(ss.PathRun, n_lams=30)`` lets the session step along a
        λ-path.
    past
        events before the first one of this session, which are copied; a reset drops them.

    Raises
    ------
    ValueError
        if the solver cannot solve the problem.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> session = ss.Session(problem, "bcd-ls")
    >>> session.step(3)
    >>> session.wait_idle(60)
    True
    >>> int(session.trace["iteration"][-1])
    3
    >>> session.close()
    """

    def __init__(
        self,
        problem: BaseProblem,
        solver: str | Solver | None = None,
        *,
        test: Any = None,
        speed: float | None = None,
        certify_every: int | None = None,
        paused: bool = True,
        every: str | None = None,
        make_run: Callable[..., Run] = Run,
        past: Trace | None = None,
    ) -> None:
        self._settings = {"test": test, "certify_every": certify_every}
        self._every = None if every is None else f"{EVERY}{rows_between(every)}"
        self._make_run = make_run
        self._target_problem: Any = as_problem(problem)
        self._target_solver = as_solver(solver, problem)
        self._target_solver.require(problem)
        self._history: list[tuple[int, Any, Solver]] = []
        self._recorder = Recorder(Trace() if past is None else past.copy())
        self._recorder.trace.recent_bytes = RECENT_BYTES
        self._stop: Stop | None = None
        self._finest = Gap(finish_gap(), of_null=0.0) | Precision()
        self._run = self._new_run()
        self._status = Status()
        self._speed = _check_speed(speed)
        self._commands = Commands()
        self._lock = threading.Lock()  # commands, target, wish and status
        self._stepping = threading.Lock()  # held while the state changes
        self._worker = Worker()
        self._began = float("-inf")  # of the last step
        self._playing, self._steps, self._closed = False, 0, False
        self._wish: Callable[[Any, State], Any] | None = None
        self._refused: Exception | None = None  # of the last change, as long as its parts are those asked for
        self._picture = Picture()
        self._generation = self._taken = 0  # commands given, and the newest of those that were obeyed
        self._epoch = 0
        if not paused:
            self.play()

    def _new_run(self) -> Run:
        run = self._make_run(self._target_problem, self._target_solver, callbacks=[self._recorder], **self._settings)
        self._apply_stop(run)
        run.every = self._every
        self._history = [(0, run.problem, run.solver)]
        return run

    def _apply_stop(self, run: Run) -> None:
        if self._stop is not None:
            self._stop.reset()
            run.stop = self._stop

    # ------------------------------------------------------------------------------------------------------ reading
    @property
    def trace(self) -> Trace:
        """The trace of the current epoch; replaced by a new one on reset."""
        return self._recorder.trace

    @property
    def run(self) -> Run:
        """The run at work, to read from (a ``PathRun``'s path so far, say); replaced by a new one on reset."""
        return self._run

    @property
    def history(self) -> list[tuple[int, Any, Solver]]:
        """Problem and solver at the start of the run and after each change, with the iteration of the change."""
        return list(self._history)

    @property
    def problem(self) -> Any:
        """The problem being solved, as applied."""
        return self._run.problem

    @property
    def solver(self) -> Solver:
        """The solver at work, as applied."""
        return self._run.solver

    @property
    def target(self) -> tuple[Any, Solver]:
        """Problem and solver as they will be once all commands given so far are applied."""
        with self._lock:
            return self._target_problem, self._target_solver

    @property
    def generation(self) -> int:
        """Grows with every command."""
        return self._generation

    @property
    def speed(self) -> float | None:
        """Cap on iterations a second, or ``None``."""
        return self._speed

    def status(self) -> Status:
        """Return the newest status.

        Returns
        -------
        Status
            the status.
        """
        return self._status

    def picture(self) -> Picture:
        """Return the newest answer to :meth:`request`.

        Returns
        -------
        Picture
            the answer; its ``count`` is 0 as long as there is none.
        """
        return self._picture

    def point(self) -> tuple[int, dict[str, Any]]:
        """Copy the newest weights between two steps; after a switch to a worse point those before it, while better.

        Returns
        -------
        tuple[int, dict[str, Any]]
            the iteration that they are of, and W, b, support and model by name.
        """
        with self._stepping:
            return self._point()

    def standing(self) -> tuple[Trace, int, dict[str, Any]]:
        """Copy the trace and the newest weights together, between two steps.

        Returns
        -------
        tuple[Trace, int, dict[str, Any]]
            the trace, and what :meth:`point` returns.
        """
        with self._stepping:
            return (self.trace.copy(), *self._point())

    def _point(self) -> tuple[int, dict[str, Any]]:
        self._open()
        assert self._run.state is not None
        return self._run.best.iteration, point_of(self._run)

    @property
    def test(self) -> Any:
        """(X, y) held out, or ``None``."""
        return self._settings["test"]

    def request(self, make: Callable[[Any, State], Any]) -> None:
        """Ask the worker to call a function between two steps; only the newest request is kept.

        Parameters
        ----------
        make
            called as ``make(problem, state)``. It must not change the state and must return something that shares
            no memory with it.
        """
        with self._lock:
            self._wish = make
        self._worker.call(self, urgent=False)

    @property
    def turn(self) -> Turn:
        """The worker's place among the workers of the process."""
        return self._worker.turn

    # ----------------------------------------------------------------------------------------------------- commands
    def open(self) -> None:
        """Compile and evaluate the starting point, without a step."""
        self._send(Command("open"))

    def play(self) -> None:
        """Run until paused or finished."""
        self._send(Command("play"))

    def pause(self) -> None:
        """Stop after the step that is under way."""
        self._send(Command("pause"))

    def step(self, n: int = 1) -> None:
        """Do some iterations and pause.

        Parameters
        ----------
        n
            number of iterations.
        """
        self._send(Command("step", number=check_whole("step: n", n, 1)))

    def reset(self) -> None:
        """Start again from zero with the current settings, paused, with a new trace."""
        self._send(Command("reset"))

    def set_speed(self, rate: float | None) -> None:
        """Set the largest number of iterations a second.

        Parameters
        ----------
        rate
            iterations a second; ``None`` removes the cap.
        """
        self._send(Command("speed", number=_check_speed(rate)))

    def set_every(self, every: str | None) -> None:
        """Set when there are events within an iteration.

        Parameters
        ----------
        every
            ``"rows:64"``: after every 64 rows of a sweep, for solvers that have sweeps; ``None``: none.

        Raises
        ------
        ValueError
            for anything else.
        """
        self._send(Command("every", text=None if every is None else f"{EVERY}{rows_between(every)}"))

    def set_stop(self, rule: Stop | None) -> None:
        """Set the rule that ends the run.

        Parameters
        ----------
        rule
            a stopping rule; ``None`` is the default: the run ends at the precision of the data's type.

        Raises
        ------
        TypeError
            if it is no stopping rule.
        """
        if not (rule is None or isinstance(rule, Stop)):
            raise TypeError(f"stop is {rule!r}; a stop rule, such as sparsescope.stopping.HeldOut(), or None is needed")
        self._send(Command("stop", rule=rule))

    def change(
        self, *, problem: BaseProblem | None = None, solver: str | Solver | type[Solver] | None = None, **parts: Any
    ) -> None:
        """Change the problem or the solver during a run; the weights stay (warm start), and a mark is recorded.

        Parameters
        ----------
        problem
            as for :meth:`sparsescope.Run.change`.
        solver
            as for :meth:`sparsescope.Run.change`.
        **parts
            as for :meth:`sparsescope.Run.change`.

        Raises
        ------
        ValueError, TypeError
            at once, and nothing changes, for a value that is not allowed, or if the solver cannot solve the
            problem.
        """
        self._require_open()
        with self._lock:
            old = problem or self._target_problem
            given = {name: part for name, part in parts.items() if part is not None}
            wanted = old.with_(**given) if given else old
            self._run.changed(wanted, self._target_solver if solver is None else solver)  # raises what is not allowed
            chosen = self._target_solver if solver is None else as_solver(solver)
            self._target_problem, self._target_solver = wanted, chosen
        self._send(Command("change", problem=wanted, solver=chosen))

    def tweak(self, **parts: Any) -> None:
        """Deprecated name of :meth:`change`; it will be removed in version 0.3.

        Parameters
        ----------
        **parts
            as for :meth:`change`.
        """
        warnings.warn("Session.tweak is now Session.change", DeprecationWarning, stacklevel=2)
        self.change(**parts)

    def fork(self) -> Session:
        """Return an independent session that goes on from the present state and past of this one, paused.

        Returns
        -------
        Session
            the new session.
        """
        with self._stepping:
            run = self._run
            other = Session(run.problem, run.solver, speed=self._speed, make_run=self._make_run, **self._settings)
            other._recorder.trace = self.trace.copy()
            other._run.follow(run)
            other._history = self._history
        other._stop = copy.deepcopy(self._stop)
        other._apply_stop(other._run)
        other._status = replace(other._status, mode="paused", iteration=self._status.iteration)
        return other

    def close(self, timeout: float = 5.0) -> None:
        """End the worker; the session cannot be used afterwards. A second call has no effect.

        Parameters
        ----------
        timeout
            seconds to wait for the worker.
        """
        self._closed = True
        self._worker.end(timeout)
        self._status = replace(self._status, mode="closed", message="closed")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def wait_idle(self, timeout: float = 30.0) -> bool:
        """Wait until all commands are done and the worker rests.

        Parameters
        ----------
        timeout
            seconds to wait.

        Returns
        -------
        bool
            False if that took longer than ``timeout``.
        """
        end = CLOCK() + timeout
        while CLOCK() < end:
            if self._closed:
                return True
            with self._lock:
                busy = bool(self._commands) or self._wish is not None
            # With the lock the worker is between two steps: its state holds until the next command.
            # It may have begun a long step since, hence the limit.
            if not busy and self._status.mode in RESTING and self._stepping.acquire(timeout=max(end - CLOCK(), 0.0)):
                try:
                    resting = self._status.mode in RESTING and not (self._playing or self._steps)
                    if resting and not self._commands:
                        return True
                finally:
                    self._stepping.release()
            time.sleep(0.002)
        return False

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("the session is closed")

    def _send(self, command: Command) -> None:
        self._require_open()
        with self._lock:
            self._generation += 1
            self._commands.put(replace(command, turn=self._generation))
        self._worker.call(self)

    # ------------------------------------------------------------------------------------------------------- worker
    @property
    def ended(self) -> bool:
        """Whether it is closed."""
        return self._closed

    def asked(self) -> bool:
        """Whether a command waits; called by the worker.

        Returns
        -------
        bool
            True if one does.
        """
        return bool(self._commands)

    def due(self) -> float:
        """Return the time until the next work; called by the worker.

        Returns
        -------
        float
            seconds; 0: there is work now.
        """
        return 0.0 if self._commands or self._wish is not None else self._rest()

    def _rest(self) -> float:
        """The time until the next step; a command or a wish does not bring it nearer."""
        if not (self._playing or self._steps):
            return IDLE_WAIT
        # From the speed in force now: a run that is let go does not first sit out its old, slower beat.
        return max(self._began + 1.0 / self._speed - CLOCK(), 0.0) if self._speed else 0.0

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
            with self._stepping:  # nobody sees a session that has ended and does not say yet that it failed
                self._fail(error)

    def _serve(self, turn: Turn) -> None:
        while not self._closed:
            with self._stepping:
                self._obey()
                self._answer()
            if self._rest() > 0:  # a command interrupts this wait, so that a slow run still answers at once
                return
            began = self._began = CLOCK()
            with self._stepping:
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
        while True:
            with self._lock:
                if not self._commands:
                    return
                command = self._commands.popleft()
            if command.name == "change":
                self._try_change(command)
            elif command.name == "reset":
                self._reset()
            elif command.name == "speed":
                self._speed = command.number
            elif command.name == "every":
                self._every = self._run.every = command.text
            elif command.name == "stop":
                self._stop = self._run.stop = command.rule
                self._apply_stop(self._run)
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
            if self._status.mode != "finished" or moving or command.name in ("change", "reset"):
                if not moving and self._certify_last():
                    continue  # that ended the run
                self._say("running" if moving else "paused", self._run.standing)
            else:
                self._say("finished", self._status.message)

    def _certify_last(self) -> bool:
        """See to it that a run at rest ends on an event with a certificate; returns whether that ended the run."""
        last = self.trace["violation"][-1:]
        if not np.isnan(last).any():
            return False
        event = self._run.observe(certify_now=True)
        return self._finished(event)

    def _open(self) -> None:
        if self._run.opened:
            return
        self._compile(self._run.problem, self._run.solver)
        self._run.advance()

    def _compile(self, problem: BaseProblem, solver: Solver) -> None:
        if not is_warm(problem, solver):
            parts = " × ".join(part_name(part) for part in problem.parts.values())
            self._say("compiling", f"compiling the kernels of {solver.name} for {parts}")
            with self._worker.turn.aside():  # others go on meanwhile
                warm_up(problem, solver)
        for kind in {type(part) for part in problem.parts.values()}:
            said = note(kind, callbacks(kind)) if callbacks(kind) else ""
            if said and not any(mark.text == said for mark in self.trace.marks):
                self.trace.mark(said)

    def _advance(self, began: float) -> None:
        self._open()
        before, waited = self._run.notice, rested()
        event = self._run.advance(certify_now=self._steps == 1)  # a run at rest shows what is proved
        if self._run.notice is not before:  # auto chose another solver
            self.trace.mark(self._run.notice)
        spent = max(CLOCK() - began - (rested() - waited), 1.0 / self._speed if self._speed else 1e-9)
        rate = self._status.rate
        rate = 1.0 / spent if rate != rate else 0.8 * rate + 0.2 / spent
        if self._steps:
            self._steps -= 1
        if not self._finished(event, rate):
            self._say("running" if self._playing or self._steps else "paused", self._run.standing, rate=rate)

    def _finished(self, event: Event, rate: float | None = None) -> bool:
        """Whether the run ends with this event; then the status has the reason."""
        message, run = event.message, self._run
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
        run = self._run
        problem = run.settle(problem)
        marks = marks_between(run.problem, run.solver, problem, solver)
        if not marks:
            return
        self._open()
        self._compile(problem, solver)
        same_problem = run.problem.key == problem.key
        run.change(problem=problem, solver=solver)
        assert run.state is not None
        self._history = [*self._history, (run.state.iteration, run.problem, run.solver)]
        for kind, text in marks:
            self.trace.mark(text, kind)
        if run.notice:
            self.trace.mark(run.notice)
        self._finest.reset()
        if not same_problem:
            run.observe(certify_now=True)  # what was touched answers at once, also while paused

    def _reset(self) -> None:
        self._refused = None
        self._recorder = Recorder(Trace(recent_bytes=RECENT_BYTES))
        self._run = self._new_run()
        self._finest.reset()
        self._playing, self._steps = False, 0
        self._epoch += 1
        self._status = replace(self._status, error=None, rate=float("nan"), iteration=0)

    def _answer(self) -> None:
        with self._lock:
            make, self._wish = self._wish, None
        if make is None:
            return
        self._open()
        assert self._run.state is not None
        value = make(self._run.problem, self._run.state)
        self._picture = Picture(self._picture.count + 1, self._run.iteration, value)

    def _say(self, mode: str, message: str, *, error: str | None = None, rate: float | None = None) -> None:
        if self._closed:  # "closed" is the last word, also when the worker is still busy with a long step
            return
        state = self._run.state
        self._status = Status(
            mode,
            message,
            error,
            state.iteration if state is not None else 0,
            self._status.rate if rate is None else rate,
            self._epoch,
            self._taken,
        )


def _check_speed(rate: float | None) -> float | None:
    if rate is None:
        return None
    if not (isinstance(rate, int | float) and rate > 0):
        raise ValueError(f"speed is {rate!r}; a positive number of iterations a second, or None, is needed")
    return float(rate)
