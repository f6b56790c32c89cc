"""RunChanges: how a run goes on with another λ, loss, penalty or solver, and which point it hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..problems.base import BaseProblem
from ..solvers.base import Solver, State
from .arguments import as_solver
from .bounds import Kept, Schedule, exceeds
from .event import NAN
from .handover import Met, start_from
from .stopping import Stop
from .watching import warm_up


class RunChanges:
    """Changes of a run between two iterations; see :class:`sparsescope.Run`.

    A change of solver may cost F: a solver that begins at a dual point makes other weights. The best point seen is
    kept until the run has found one as good, and is handed back if it never does. Where the weights of the last solver
    are far worse than others that are known, the next one starts from those (:mod:`.handover`).
    """

    problem: Any
    solver: Solver
    state: State | None
    message: str
    notice: str
    seconds: float
    _stop: Stop | None
    _clock: Callable[[], float]
    _schedule: Schedule
    _kept: Kept
    _met: Met
    _objective: float  # of the present state, where an event has evaluated it
    _opened: bool
    _parts: Iterator[tuple[int, int]] | None  # of the iteration under way
    _visited: float  # share of its rows

    def change(
        self, *, problem: BaseProblem | None = None, solver: str | Solver | type[Solver] | None = None, **parts: Any
    ) -> None:
        """Continue from the current weights with another λ, loss, penalty or solver.

        Parameters
        ----------
        problem
            a sibling of the problem (one that shares its data); ``None`` keeps the problem.
        solver
            registry name, class or Solver; ``None`` keeps the solver.
        **parts
            what ``problem.with_`` takes, as names or objects: ``lam``, ``lam_ratio``, ``loss``, ``penalty``;
            ``None`` keeps a part.

        Raises
        ------
        ValueError, TypeError
            for a value that is not allowed, or if the solver cannot solve the problem; the run is then unchanged.
        """
        self._go_on(*self.changed(problem or self.problem, self.solver if solver is None else solver, **parts))

    def changed(self, problem: Any, solver: str | Solver | type[Solver], **parts: Any) -> tuple[Any, Solver]:
        """Return the problem and the solver with which :meth:`change` would continue; raise what it would raise.

        Parameters
        ----------
        problem
            a sibling of the problem, or ``None``.
        solver
            registry name, class or Solver; ``None`` keeps the solver.
        **parts
            as for :meth:`change`.

        Returns
        -------
        tuple[Any, Solver]
            the problem and the solver.
        """
        given = {name: part for name, part in parts.items() if part is not None}
        new_problem = self.settle(problem.with_(**given) if given else problem)
        new_solver = as_solver(solver, new_problem)
        new_solver.require(new_problem)
        new_solver.require(new_problem.natural)
        return new_problem, new_solver

    def _go_on(self, new_problem: Any, new_solver: Solver) -> None:
        reason = self.problem.incompatibility_reason(new_problem)
        if reason is not None:
            raise ValueError(reason)
        kept = new_solver == self.solver
        if self._parts is not None:
            began = self._clock()
            self._end_parts()
            self.seconds += self._clock() - began
        best = None if self.state is None else self.best
        self.notice = ""
        if self._opened:
            warm_up(new_problem, new_solver)
        if self.state is not None:
            began = self._clock()
            old, inner = self.state, new_problem.natural
            before = old.delegate
            state = new_solver.adapt(inner, old) if kept else self._started(new_solver, new_problem)
            if kept and state is not None and state.delegate != before:  # auto has chosen another solver
                state = self._start_over(new_solver, new_problem, old) or state
            if state is not None:
                state.iteration, state.passes = old.iteration, old.passes
                self.state = state
            self.seconds += self._clock() - began
            self._compare(best or old, new_problem, new_solver)
        self.problem, self.solver = new_problem, new_solver
        self.message = ""
        if self._stop is not None:
            self._stop.reset()
        if self.state is not None:
            self._schedule.restart(self.state.iteration)

    def _started(self, solver: Solver, problem: Any) -> State:
        """The state of another solver; one that takes weights begins at the kept point while that is better."""
        assert self.state is not None
        best = self.best
        state = solver.warm_start_from(problem.natural, self.state)
        if state.sparse:
            return state
        better = self._start_over(solver, problem, best)
        if better is not None or best is self.state:
            return better or state
        return solver.warm_start_from(problem.natural, best)

    def _start_over(self, solver: Solver, problem: Any, left: State) -> State | None:
        """The state of a solver at far better weights than those of the state that is left; ``None``: none are
        known."""
        start, where = start_from(problem, solver, left, self._met)
        if start is left:
            return None
        state = solver.warm_start_from(problem.natural, start)
        self.notice = f"{(state.delegate or solver).name} starts from {where}"
        return state

    def _compare(self, best: State, problem: Any, solver: Solver) -> None:
        """Keep the best point so far if the one to go on from is worse, and say so in ``notice``."""
        assert self.state is not None
        target = solver.target(problem)
        left, self._objective = self._kept.state, NAN
        self._kept.forget_others(target)
        if target != self.solver.target(self.problem):
            points = [best] if left is None or left is best else [best, left]
            points = [point for point in points if point is not self.state]
            if self.state.sparse and points:  # what they are worth now
                values = [float(problem.objective(point.weights(), point.intercept())) for point in points]
                k = int(np.argmin(values))
                self._keep_better(points[k], values[k], problem, solver)
            return
        overtaken = self._kept.state is not None and best is not self._kept.state and best is not self.state
        if not (self.state.sparse or overtaken):
            return
        before = self._kept.objective if best is self._kept.state else self._value(self.problem, self.solver, best)
        if overtaken:  # the run has a better point by now
            self._kept.keep(target, before, best)
        if self.state.sparse:
            self._keep_better(best, before, problem, solver)

    def _keep_better(self, best: State, value: float, problem: Any, solver: Solver) -> None:
        """Keep a point if its value is below that of the point to go on from, which begins at a dual point."""
        assert self.state is not None
        self._objective = self._value(problem, solver, self.state)
        if not exceeds(self._objective, value):
            return
        self._kept.keep(solver.target(problem), value, best)
        name = (self.state.delegate or solver).name
        where = "weights of a larger F" if self.state.point(problem.natural)[3] else "zero weights"
        self.notice = (
            f"{name} begins at a dual point: it starts from {where}; the best point so far is kept and handed back"
        )

    @property
    def best(self) -> State:
        """The state to hand back: the present one, or the one before a switch of solver while that has a smaller F."""
        assert self.state is not None
        return self._kept.better(self._objective) or self.state

    @property
    def standing(self) -> str:
        """The notice as long as it holds: empty once the run has found a point as good as the one that is kept."""
        return "" if self.state is None or self.best is self.state else self.notice

    def ending(self, reason: str) -> str:
        """Return the reason why the run ends, and that an earlier point is handed back if it is better.

        Parameters
        ----------
        reason
            why it ends.

        Returns
        -------
        str
            the message.
        """
        if self.best is self.state:
            return reason
        return f"{reason}; the point before the switch of solver has a smaller F and is handed back"

    def _value(self, problem: Any, solver: Solver, state: State) -> float:
        """The objective at a state, in the user's units."""
        loss, omega, _, _ = state.point(problem.natural)
        return self._in_units(problem, solver, loss, omega)

    @staticmethod
    def _in_units(problem: Any, solver: Solver, loss: float, omega: float) -> float:
        factor = problem.natural.units[1]
        return float(solver.value(problem.natural, loss, omega) * (1.0 if solver.follows_lam else factor))

    def settle(self, problem: Any) -> Any:
        """Return the problem that :meth:`change` would continue with.

        Parameters
        ----------
        problem
            the problem asked for.

        Returns
        -------
        Any
            the problem itself; a path may replace it.

        Raises
        ------
        ValueError
            if this run does not accept the problem.
        """
        return problem

    def _end_parts(self) -> None:
        """Do what is left of the iteration under way: changes are made between two iterations."""
        if self._parts is not None:
            for _ in self._parts:
                pass
            self._parts, self._visited, self._objective = None, 0.0, NAN
