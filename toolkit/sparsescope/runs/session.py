"""Session: a run in a worker thread that obeys commands between two steps. It does not depend on any display.

Commands go into an inbox and return at once; readers look at ``status()``, ``trace`` and ``picture()``. Whoever draws
never waits for a step to end, and the worker never touches a widget. What the worker does stands in session_work.py.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..problems.base import BaseProblem
from ..registry import check_whole
from ..solvers.base import Solver, State
from .commands import Command, Inbox, Picture, Status
from .run import EVERY, Run, as_problem, as_solver, rows_between
from .session_work import RESTING, SessionWork
from .stopping import Stop
from .trace import Trace
from .turns import Turn
from .worker import Worker

CLOCK = time.monotonic


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
        problem = as_problem(problem)
        solver = as_solver(solver, problem)
        solver.require(problem)
        self._inbox = Inbox((problem, solver))
        self._worker = Worker()
        self._work = SessionWork(
            self._inbox,
            self._worker.turn,
            make_run,
            past=past,
            test=test,
            certify_every=certify_every,
            speed=_check_speed(speed),
            every=None if every is None else f"{EVERY}{rows_between(every)}",
        )
        if not paused:
            self.play()

    # ------------------------------------------------------------------------------------------------------ reading
    @property
    def trace(self) -> Trace:
        """The trace of the current epoch; replaced by a new one on reset."""
        return self._work.trace

    @property
    def run(self) -> Run:
        """The run at work, to read from (a ``PathRun``'s path so far, say); replaced by a new one on reset."""
        return self._work.run

    @property
    def history(self) -> list[tuple[int, Any, Solver]]:
        """Problem and solver at the start of the run and after each change, with the iteration of the change."""
        return list(self._work.history)

    @property
    def problem(self) -> Any:
        """The problem being solved, as applied."""
        return self._work.run.problem

    @property
    def solver(self) -> Solver:
        """The solver at work, as applied."""
        return self._work.run.solver

    @property
    def target(self) -> tuple[Any, Solver]:
        """Problem and solver as they will be once all commands given so far are applied."""
        return self._inbox.target

    @property
    def generation(self) -> int:
        """Grows with every command."""
        return self._inbox.generation

    @property
    def speed(self) -> float | None:
        """Cap on iterations a second, or ``None``."""
        return self._work.speed

    def status(self) -> Status:
        """Return the newest status.

        Returns
        -------
        Status
            the status.
        """
        return self._work.status

    def picture(self) -> Picture:
        """Return the newest answer to :meth:`request`.

        Returns
        -------
        Picture
            the answer; its ``count`` is 0 as long as there is none.
        """
        return self._work.picture

    def point(self) -> tuple[int, dict[str, Any]]:
        """Copy the newest weights between two steps; after a switch to a worse point those before it, while better.

        Returns
        -------
        tuple[int, dict[str, Any]]
            the iteration that they are of, and W, b, support and model by name.
        """
        with self._work.stepping:
            return self._work.point()

    def standing(self) -> tuple[Trace, int, dict[str, Any]]:
        """Copy the trace and the newest weights together, between two steps.

        Returns
        -------
        tuple[Trace, int, dict[str, Any]]
            the trace, and what :meth:`point` returns.
        """
        with self._work.stepping:
            return (self.trace.copy(), *self._work.point())

    @property
    def test(self) -> Any:
        """(X, y) held out, or ``None``."""
        return self._work.settings["test"]

    def request(self, make: Callable[[Any, State], Any]) -> None:
        """Ask the worker to call a function between two steps; only the newest request is kept.

        Parameters
        ----------
        make
            called as ``make(problem, state)``. It must not change the state and must return something that shares
            no memory with it.
        """
        with self._inbox.lock:
            self._inbox.wish = make
        self._worker.call(self._work, urgent=False)

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
        self,
        *,
        problem: BaseProblem | None = None,
        solver: str | Solver | type[Solver] | None = None,
        play: bool = False,
        **parts: Any,
    ) -> None:
        """Change the problem or the solver during a run; the weights stay (warm start), and a mark is recorded.

        Parameters
        ----------
        problem
            as for :meth:`sparsescope.Run.change`.
        solver
            as for :meth:`sparsescope.Run.change`.
        play
            run on afterwards, whatever the mode was; it is not paused in between, as before a call of :meth:`play`.
        **parts
            as for :meth:`sparsescope.Run.change`.

        Raises
        ------
        ValueError, TypeError
            at once, and nothing changes, for a value that is not allowed, or if the solver cannot solve the
            problem.
        """
        self._inbox.require_open()
        with self._inbox.lock:
            before, chosen = self._inbox.target
            old = problem or before
            given = {name: part for name, part in parts.items() if part is not None}
            wanted = old.with_(**given) if given else old
            self._work.run.changed(wanted, chosen if solver is None else solver)  # raises what is not allowed
            chosen = chosen if solver is None else as_solver(solver)
            self._inbox.target = wanted, chosen
        self._send(Command("change", problem=wanted, solver=chosen, play=play))

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
        work = self._work
        with work.stepping:
            run = work.run
            other = Session(run.problem, run.solver, speed=work.speed, make_run=work.make_run, **work.settings)
            other._work.follow(work)
        return other

    def close(self, timeout: float = 5.0) -> None:
        """End the worker; the session cannot be used afterwards. A second call has no effect.

        Parameters
        ----------
        timeout
            seconds to wait for the worker.
        """
        self._inbox.closed = True
        self._worker.end(timeout)
        self._work.status = replace(self._work.status, mode="closed", message="closed")

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
        end, work = CLOCK() + timeout, self._work
        while CLOCK() < end:
            if self._inbox.closed:
                return True
            with self._inbox.lock:
                busy = self._inbox.busy
            # With the lock the worker is between two steps: its state holds until the next command.
            # It may have begun a long step since, hence the limit.
            if not busy and work.status.mode in RESTING and work.stepping.acquire(timeout=max(end - CLOCK(), 0.0)):
                try:
                    if work.resting():
                        return True
                finally:
                    work.stepping.release()
            time.sleep(0.002)
        return False

    def _send(self, command: Command) -> None:
        self._inbox.put(command)
        self._worker.call(self._work)


def _check_speed(rate: float | None) -> float | None:
    if rate is None:
        return None
    if not (isinstance(rate, int | float) and rate > 0):
        raise ValueError(f"speed is {rate!r}; a positive number of iterations a second, or None, is needed")
    return float(rate)
