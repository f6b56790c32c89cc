"""Run: the loop that owns a solver's state, the clock and the events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..pauses import pause, rested
from ..problems.base import BaseProblem
from ..registry import NotAllowed, check_whole
from ..solvers.base import Solver, State
from .arguments import EVERY, as_functions, as_problem, as_solver, rows_between
from .bounds import Bounds, Kept, Schedule
from .event import NAN, Event
from .handover import Met
from .observing import CLOCK, RunObserving
from .result import Result
from .stopping import Stop
from .watching import is_warm, warm_up

__all__ = [
    "CLOCK",
    "EVERY",
    "Result",
    "Run",
    "as_problem",
    "as_solver",
    "is_warm",
    "rows_between",
    "warm_up",
]


def _computing() -> float:
    """Seconds, without those in which the run left its turn to others."""
    return CLOCK() - rested()


class Run(RunObserving):
    """Iterator of events: the starting point first, then one event after each iteration.

    The message of the event that ends the run gives the reason; it is also in ``run.message``. ``run.notice`` says what
    the last change did to the point: empty if the run goes on from where it was.

    Parameters
    ----------
    problem
        a Problem, SequenceProblem or CovarianceProblem.
    solver
        registry name, class or Solver; ``None`` takes the default of the kind of problem.
    stop
        a stopping rule; ``None``: only the caller ends the run.
    callbacks
        functions of an event; one that returns True ends the run.
    W, b
        starting point, (d, m) and (m,).
    state
        a state to resume (a fork, or a paused run), in place of ``W`` and ``b``.
    certify_every
        evaluate certificates and accuracies at every k-th iteration. ``None``: as often as they take a fifth of the
        elapsed time at most, and on a logarithmic grid of iterations where they cost less than a second (the default
        of live sessions; not reproducible to the event).
    test
        held-out data (X, y), for the test accuracy (or the measures of label sets).
    clock
        function without arguments that solver seconds are counted with; ``None``: wall time. With
        ``time.thread_time`` they are CPU seconds of the calling thread, which other programs do not disturb.
    every
        ``"rows:64"``: an event after every 64 rows of a sweep too, for solvers that sweep over the rows of W. Such an
        event has a fraction of an iteration, ``row_cursor``, and no certificate; no stopping rule judges it, and the
        iterates are the same. The gradient steps that ``working-set`` takes on dense X and on few features have none.
        ``None``: one event an iteration.

    Raises
    ------
    ValueError
        if the solver cannot solve the problem, or an argument is not allowed.
    TypeError
        if the problem or the solver is something else.

    Examples
    --------
    >>> data = ss.datasets.load("iris")
    >>> run = ss.Run(ss.Problem(data, lam_ratio=0.1), "bcd-ls", stop=ss.stopping.Gap(1e-6))
    >>> events = [event.objective for event in run]
    """

    def __init__(
        self,
        problem: BaseProblem,
        solver: str | Solver | None = None,
        *,
        stop: Stop | None = None,
        callbacks: Iterable[Callable[[Event], Any]] = (),
        W: Any = None,
        b: Any = None,
        state: State | None = None,
        certify_every: int | None = 1,
        test: Any = None,
        clock: Callable[[], float] | None = None,
        every: str | None = None,
    ) -> None:
        self.problem: Any = as_problem(problem)
        self.solver = as_solver(solver, self.problem)
        self.solver.require(self.problem)
        self.solver.require(self.problem.natural)
        if not (stop is None or isinstance(stop, Stop)):
            raise TypeError(f"stop is {stop!r}; a stop rule, such as sparsescope.stopping.Gap(1e-6), or None is needed")
        self._stop = stop
        self.callbacks = as_functions(callbacks)
        self.certify_every = None if certify_every is None else check_whole("certify_every", certify_every, 1)
        self.every = every
        if self._rows is not None and (refused := self.solver.refuses_parts()) is not None:
            raise NotAllowed(refused)
        self._parts, self._visited = None, 0.0
        self.message = ""
        self.seconds = 0.0
        self._clock = _computing if clock is None else clock
        self._start = (W, b)
        self.state = state
        self._measuring = self.problem.measuring(test)
        self._work: Any = None  # arrays for certificates
        self._bounds, self._schedule, self._kept, self._met = Bounds(), Schedule(), Kept(), Met()
        self._objective = NAN
        self.notice = ""
        self._opened = False
        if stop is not None:
            stop.reset()

    # ---------------------------------------------------------------------------------------------------- stepping
    def warm_up(self) -> None:
        """Run one iteration on a tiny problem of the same types, so that compilation is not charged to the solver."""
        warm_up(self.problem, self.solver)

    def advance(self, certify_now: bool = False) -> Event:
        """Return the next event: the starting point the first time, then one iteration further each time.

        Parameters
        ----------
        certify_now
            evaluate a certificate in any case.

        Returns
        -------
        Event
            the event.
        """
        if not self._opened:
            return self._open()
        self._iterate()
        pause()
        if self._visited:
            return self._shown(self._event(certify_now))
        return self.observe(certify_now)

    def _iterate(self) -> None:
        """An iteration, or with ``every`` its part up to the next event, on the solver's clock."""
        assert self.state is not None
        self.state.aim = 0.0 if self._stop is None else self._stop.aim
        began = self._clock()
        self._step()
        self.seconds += self._clock() - began
        if not self._visited:
            self._hand_on()

    def _step(self) -> None:
        """An iteration; with ``every`` its part up to the next event."""
        if self._parts is None and self._rows is None:
            self.solver.step(self.problem.natural, self.state)
            return
        if self._parts is None:
            self._parts = self.solver.step_in_parts(self.problem.natural, self.state, self._rows)
        visited = next(self._parts, None) if self._rows is not None else None
        if visited is None:
            self._end_parts()
        else:
            self._visited = visited[0] / visited[1]

    @property
    def every(self) -> str | None:
        """Events within an iteration, such as ``"rows:64"``; ``None``: none. It may be changed at any time."""
        return None if self._rows is None else f"{EVERY}{self._rows}"

    @every.setter
    def every(self, wanted: str | None) -> None:
        self._rows = None if wanted is None else rows_between(wanted)

    def _hand_on(self) -> None:
        """Go on with the solver that the present one names (``auto`` does); the point is kept while it is better."""
        old = self.state
        assert old is not None
        found = self.solver.successor(self.problem.natural, old)
        if found is None:
            return
        solver, reason = found
        warm_up(self.problem, solver)
        self._kept.keep(self.solver.target(self.problem), self._value(self.problem, self.solver, old), old)
        began = self._clock()
        state = self._start_over(solver, self.problem, old)
        where = "" if state is None else f"; {self.notice}"
        state = state or solver.warm_start_from(self.problem.natural, old)
        self.seconds += self._clock() - began
        state.iteration, state.passes, state.aim = old.iteration, old.passes, old.aim
        state.step_size, state.trials, state.working_set = old.step_size, old.trials, old.working_set  # of this step
        state.delegate, state.reason, state.chosen_at = solver, f"{solver.name}: {reason}", old.iteration
        self.state, self.notice = state, f"{self.solver.name} goes on with {solver.name}: {reason}{where}"
        self._schedule.restart(state.iteration)

    @property
    def stop(self) -> Stop | None:
        """The stop rule in force. A new one lets a run that has ended go on."""
        return self._stop

    @stop.setter
    def stop(self, rule: Stop | None) -> None:
        self._stop = rule
        self.message = ""

    @property
    def reason(self) -> str:
        """Solver that ``auto`` chose, with the reason; empty for every other solver, and before the run began."""
        return "" if self.state is None else self.state.reason

    @property
    def opened(self) -> bool:
        """True if the starting point has been evaluated."""
        return self._opened

    def resume(self, state: State, seconds: float) -> None:
        """Go on from a state that another run left, with its solver seconds; the state itself makes no event.

        Parameters
        ----------
        state
            the state; it is taken over, not copied.
        seconds
            solver seconds spent so far.
        """
        self.warm_up()
        self.state, self.seconds, self._opened = state, seconds, True

    def follow(self, other: Run) -> None:
        """Go on from the present point of another run, with a copy of its state (a fork).

        Parameters
        ----------
        other
            the run to follow; it is not changed.
        """
        if other.state is not None:
            self.problem, self.solver, self._bounds = other.problem, other.solver, other._bounds.copy()
            self._kept, self._met, self._objective = other._kept.copy(), other._met.copy(), other._objective
            self.resume(other.state.copy(), other.seconds)

    def _open(self) -> Event:
        self.warm_up()
        if self.state is None:
            began = self._clock()
            self.state = self.solver.init(self.problem.natural, *self._start)
            self.seconds += self._clock() - began
        self._opened = True
        return self.observe(certify_now=True)

    def __iter__(self) -> Iterator[Event]:
        while not self.message:  # a run that has ended goes on after a change only
            event = self.advance()
            yield event
            if event.message:
                return
