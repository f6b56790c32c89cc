"""Lanes of a race: who runs, what each has spent, and how names and seeds are made of what the user gave."""

from __future__ import annotations

import cProfile
import dataclasses
import math
import pstats
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ..registry import solvers as known
from ..runs.event import Event
from ..runs.run import Run, as_solver
from ..runs.trace import Recorder, Trace
from ..solvers.base import Solver

UNITS = ("seconds", "passes", "iterations")
MOST_LANES = 64
LOOK_GROWTH = 1.3  # from one iteration whose accuracy is measured to the next
ACCURACIES = ("test_accuracy", "test_precision_at_1", "train_accuracy", "train_precision_at_1")
PROFILED = 0.15  # seconds of iterations under the profiler
PRODUCTS, PYTHON = "products with X", "Python and numpy"
CLOCK = time.thread_time
# A certificate costs a product with the data, and only the last one is used in a race.
ONLY_AT_THE_ENDS = 2**62


class Lane:
    """One solver in a race, with one seed.

    Attributes
    ----------
    name : label of the solver, the same for all its seeds
    solver, seed : what runs; ``seed`` is ``None`` for a solver without one
    trace : what it has left behind so far
    observing : CPU seconds spent beside the solver: objective, certificates, recording
    message : why it ended; empty while it runs
    looks : with ``looks=True`` (number of the event, accuracy) at ever fewer iterations: 0, 1, 2, 3, 4, 5, 6, 7, 9, …;
        of held-out samples where there are any
    """

    def __init__(
        self,
        name: str,
        solver: Solver,
        seed: int | None,
        problem: Any,
        clock: Callable[[], float],
        looks: bool = False,
        **start: Any,
    ) -> None:
        self.name, self.solver, self.seed = name, solver, seed
        self.looks: list[tuple[int, float]] = []
        self._looks_at = 0 if looks else math.inf  # iteration
        self.message = ""
        self.observing = 0.0
        self._clock = clock
        self._recorder = Recorder(Trace())
        self._run = Run(
            problem.fresh(), solver, callbacks=[self._recorder], certify_every=ONLY_AT_THE_ENDS, clock=clock, **start
        )

    @property
    def trace(self) -> Trace:
        """Trace of this lane so far."""
        return self._recorder.trace

    def spent(self, unit: str) -> float:
        """Seconds, passes or iterations so far; in seconds what a step under way has cost counts from its start."""
        if unit == "seconds":
            return self._run.seconds
        state = self._run.state
        return 0.0 if state is None else float(state.passes if unit == "passes" else state.iteration)

    def warm_up(self) -> None:
        """Compile or load the kernels of this lane, before any clock starts."""
        self._run.warm_up()

    def rehearse(self) -> Any:
        """Return the state after an iteration on a sibling of the problem, before any clock starts.

        The first time that a process writes to memory, the system makes the pages: for large W that takes as long as
        several iterations, it falls on whoever comes first, and it is no cost of the method.
        """
        problem = self._run.problem.fresh().natural
        state = self.solver.init(problem)
        with suppress(FloatingPointError):  # a method that diverges says so in the race
            self.solver.step(problem, state)
        return state

    def advance(self) -> Event | None:
        """Make one iteration (the first time: the starting point); ``None`` if the solver diverged at it."""
        began, spent = self._clock(), self._run.seconds
        try:
            event = self._run.advance()
            if event.iteration >= self._looks_at:
                self._look(event.iteration)
        except FloatingPointError as error:  # a method that diverges is a result, too
            self.message = str(error)
            return None
        finally:
            self.observing += max(self._clock() - began - (self._run.seconds - spent), 0.0)
        return event

    def _look(self, iteration: float) -> None:
        found = self._run.measure()
        value = next((found[name] for name in ACCURACIES if name in found), math.nan)
        self.looks.append((len(self.trace) - 1, float(value)))
        self._looks_at = max(iteration + 1, int(LOOK_GROWTH * iteration))

    def end(self, message: str) -> None:
        """End the lane; its last point gets a certificate."""
        self.message = message
        if self._run.opened:
            began = self._clock()
            self._run.observe(certify_now=True)
            if self._looks_at < math.inf:
                self._look(self._looks_at)
            self.observing += self._clock() - began

    def profile(self, seconds: float = PROFILED) -> list[tuple[str, float]]:
        """Return the parts of further iterations with their shares of the time, the largest first.

        They are made from a copy of the last point, under Python's profiler, which makes the share of Python code
        larger than it is. Kernels go by their names, and all products with the data together.

        Parameters
        ----------
        seconds
            time for which iterations are made.

        Returns
        -------
        list of tuple
            name and share in [0, 1]; empty before the first iteration.
        """
        if self._run.state is None:
            return []
        state, inner = self._run.state.copy(), self._run.problem.natural
        profiler = cProfile.Profile()
        until = time.perf_counter() + seconds
        profiler.enable()
        try:
            while time.perf_counter() < until:
                self.solver.step(inner, state)
        except FloatingPointError as error:  # what was measured until then stands
            self.message = self.message or str(error)
        finally:
            profiler.disable()
        spent: Counter[str] = Counter()
        stats: Any = pstats.Stats(profiler)
        for (file, _, function), (_, _, own, _, _) in stats.stats.items():
            spent[_part(file, function)] += own
        whole = sum(spent.values()) or 1.0
        return [(name, own / whole) for name, own in spent.most_common()]


def _part(file: str, function: str) -> str:
    """Return the part of an iteration that a function belongs to."""
    place = file.replace("\\", "/")
    if "/sparsescope/inputs/" in place:
        return PRODUCTS
    return function.replace("_", " ") if "/sparsescope/kernels/" in place else PYTHON


def label(solver: Solver) -> str:
    """Return the registry name of a solver with the settings that are not the default ones."""
    own = [(f.name, getattr(solver, f.name)) for f in solver.fields if f.name != "seed"]
    default = {f.name: f.default for f in solver.fields}
    changed = [f"{name}={value}" for name, value in own if value != default[name]]
    return f"{solver.name} ({', '.join(changed)})" if changed else solver.name


def entered(solvers: Any, problem: Any) -> dict[str, Solver]:
    """Return label → solver of what the user gave: names, classes or solvers, in a list or by labels.

    Raises
    ------
    TypeError, ValueError
        for something that is not a solver, an empty or too long list, two equal entries, a solver that does not take
        the problem, or solvers that solve different problems.
    """
    if isinstance(solvers, str | Solver) or not isinstance(solvers, Iterable):
        raise TypeError(f"solvers is {solvers!r}; a list such as ['bcd-ls', 'fista-ls'] is needed, or label → solver")
    if isinstance(solvers, Mapping):
        found = {str(name): as_solver(given, problem) for name, given in solvers.items()}
    else:
        found = {}
        for given in solvers:
            made = as_solver(given, problem)
            if label(made) in found:
                raise ValueError(f"{label(made)} is entered twice; give two labels for it: {{'first': …, 'second': …}}")
            found[label(made)] = made
    if not 1 <= len(found) <= MOST_LANES:
        raise ValueError(f"{len(found)} solvers are entered; 1 to {MOST_LANES} can race (known: {', '.join(known)})")
    for made in found.values():
        made.require(problem)
        if made.target(problem) != problem.key:
            raise ValueError(f"{made.name} minimises another function than the problem's objective and cannot race")
    return found


def with_seeds(solver: Solver, seeds: int) -> list[tuple[int | None, Solver]]:
    """Return (seed, solver) for each seed; a solver without a seed runs once."""
    if seeds == 1 or not any(f.name == "seed" for f in solver.fields):
        return [(getattr(solver, "seed", None), solver)]
    first = int(solver.seed)  # type: ignore[attr-defined]
    made: Any = solver
    return [(first + k, dataclasses.replace(made, seed=first + k)) for k in range(seeds)]
