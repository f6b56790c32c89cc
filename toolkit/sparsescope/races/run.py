"""RaceRun: lanes that take turns, so that each has had the same share of the clock whenever one looks."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..problems.base import BaseProblem
from ..registry import check_whole
from ..runs.event import Event
from ..runs.optima import Reference
from ..runs.reference import reference
from ..runs.run import as_problem
from .apart import entries
from .lanes import CLOCK, UNITS, Lane, entered, with_seeds
from .table import LEVELS, Entry, Race

DEFAULT_BUDGET = {"seconds": 5.0, "passes": 1000.0, "iterations": 1000.0}
OPTIMUM_TOL = 1e-9  # relative gap that is aimed at for F*, and the seconds that are spent on it at most
OPTIMUM_SECONDS = 60.0
# Entries of W up to which iterations are rehearsed: an array of more than 32 MB goes back to the system whenever it is
# given up, so that a rehearsal would only take time.
MOST_REHEARSED = 4_000_000
ROUNDS = 2  # of the rehearsal: after the first the allocator keeps blocks of this size, after the second it has them


class RaceRun:
    """Race that is under way: an iterator of (lane, event).

    The lane that has spent least of the clock makes the next iteration. All lanes start at the same point and are
    measured against the same F*. Objectives, certificates and recording are not on the clock; their cost is counted
    separately (``lane.observing``).

    Parameters
    ----------
    problem
        a Problem or CovarianceProblem.
    solvers
        registry names, solver classes or solvers; in a list, or as a mapping of labels to them.
    budget
        seconds, passes or iterations that each lane may spend; ``None``: 5 s, 1000 passes or 1000 iterations.
    unit
        ``"seconds"`` (CPU seconds of the calling thread), ``"passes"`` or ``"iterations"``.
    goal
        a lane ends at ``F − F* ≤ goal·|F*|``.
    seeds
        number of seeds for each randomised solver, counted up from its own.
    W, b
        starting point of all lanes; zero weights if left out.
    reference
        :class:`sparsescope.Reference` of the problem; ``None``: it is computed before the clocks start.
    clock
        function without arguments that seconds are counted with.
    test
        held-out data (X, y), for the test accuracy at the end of each lane.
    looks
        measure the accuracy of each lane now and then, beside its clock (``lane.looks``).
    n_jobs
        processes of this machine in which :meth:`run` lets the lanes run side by side, as in joblib: for many seeds.
        ``None``: one after the other, in turns. What shares a machine also shares its memory bus, so seconds of lanes
        side by side are less alike than those of turns.
    client
        a client of dask.distributed, whose workers run the lanes.

    Raises
    ------
    TypeError, ValueError
        for arguments that are not allowed, a solver that does not take the problem, or solvers that minimise
        different functions.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> run = ss.RaceRun(problem, ["bcd-ls", "fista-ls"], budget=3, unit="iterations")
    >>> run.run().names
    ('bcd-ls', 'fista-ls')
    """

    def __init__(
        self,
        problem: BaseProblem,
        solvers: Any,
        *,
        budget: float | None = None,
        unit: str = "seconds",
        goal: float = LEVELS[-1],
        seeds: int = 1,
        W: Any = None,
        b: Any = None,
        reference: Reference | None = None,
        clock: Callable[[], float] = CLOCK,
        test: Any = None,
        looks: bool = False,
        n_jobs: int | None = None,
        client: Any = None,
    ) -> None:
        if n_jobs is not None and client is not None:
            raise ValueError("n_jobs is for this machine and client for a cluster; give one of them")
        if looks and (n_jobs is not None or client is not None):
            raise ValueError("looks=True watches lanes in turns; leave n_jobs and client out")
        self.problem: Any = as_problem(problem)
        self._n_jobs, self._client = n_jobs, client
        self._options = {"W": W, "b": b, "test": test, "clock": clock}
        self._entries: tuple[Entry, ...] | None = None  # of lanes that ran elsewhere
        if not self.problem.proves:
            raise ValueError("a sequence of models has no optimum to race to; compare its predictions instead")
        if unit not in UNITS:
            raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(UNITS)}")
        self.unit = unit
        self.budget = _positive("budget", DEFAULT_BUDGET[unit] if budget is None else budget)
        self.goal = _positive("goal", goal)
        seeds = check_whole("seeds", seeds, 1)
        chosen = entered(solvers, self.problem)
        self.lanes = [
            Lane(name, made, seed, self.problem, clock, W=W, b=b, test=test, looks=looks)
            for name, solver in chosen.items()
            for seed, made in with_seeds(solver, seeds)
        ]
        self.reference = reference
        self._warm = False
        self._lid: Any = None  # memory above that of the rehearsal

    def prepare(self, in_turns: bool = False) -> None:
        """Compile the kernels of all lanes, find the reference and rehearse an iteration, before any clock starts.

        Parameters
        ----------
        in_turns
            let the reference take turns with the live sessions and pages of this process.
        """
        warm, self._warm = self._warm, True
        if not warm:
            for lane in self.lanes:
                lane.warm_up()
        if self.reference is None:
            self.reference = reference(self.problem, tol=OPTIMUM_TOL, max_seconds=OPTIMUM_SECONDS, in_turns=in_turns)
        if not warm and self.unit == "seconds":
            self._rehearse()

    def _rehearse(self) -> None:
        """Make an iteration of each lane that is not counted, and leave its memory to the lanes."""
        rows, columns = self.problem.d + 1, self.problem.m
        if rows * columns > MOST_REHEARSED:
            return
        for _ in range(ROUNDS):
            held: list[Any] = [lane.rehearse() for lane in self.lanes]
            self._lid = np.ones((rows, columns))  # what is free below it stays here
            held.clear()
            gc.collect()

    @property
    def done(self) -> bool:
        """True if all lanes have ended."""
        return all(lane.message for lane in self.lanes)

    def step(self) -> tuple[Lane, Event] | None:
        """Let the lane that has spent least make one iteration.

        Returns
        -------
        tuple[Lane, Event] | None
            the lane and its event; ``None`` once all lanes have ended.
        """
        self.prepare()
        while True:
            running = [lane for lane in self.lanes if not lane.message]
            if not running:
                return None
            lane = min(running, key=lambda lane: lane.spent(self.unit))
            event = lane.advance()
            if event is None:  # it diverged, with a message
                continue
            message = self._verdict(lane, event)
            if message:
                lane.end(message)
            return lane, event

    def __iter__(self) -> Iterator[tuple[Lane, Event]]:
        while (made := self.step()) is not None:
            yield made

    def run(self) -> Race:
        """Run all lanes to their ends.

        Returns
        -------
        Race
            the results.
        """
        if self._n_jobs is not None or self._client is not None:
            self._run_apart()
        else:
            for _ in self:
                pass
        return self.result()

    def _run_apart(self) -> None:
        """Let each lane run to its end in another process; the optimum is found here before."""
        if self.reference is None:
            self.reference = reference(self.problem, tol=OPTIMUM_TOL, max_seconds=OPTIMUM_SECONDS)
        rules = {"budget": self.budget, "unit": self.unit, "goal": self.goal, "reference": self.reference}
        works = [
            (_alone, (self.problem, lane.name, lane.solver, lane.seed, {**self._options, **rules}))
            for lane in self.lanes
        ]
        self._entries = tuple(entries(works, self._n_jobs, self._client))

    def result(self) -> Race:
        """Return the results so far.

        Returns
        -------
        Race
            the results.
        """
        return Race(
            problem=self.problem,
            entries=self._entries
            or tuple(
                Entry(lane.name, lane.seed, lane.trace, lane.message or "under way", lane.observing)
                for lane in self.lanes
            ),
            unit=self.unit,
            budget=self.budget,
            reference=self.reference,
        )

    def end(self, message: str = "ended by the caller") -> Race:
        """End all lanes.

        Parameters
        ----------
        message
            reason, for the results.

        Returns
        -------
        Race
            the results.
        """
        for lane in self.lanes:
            if not lane.message:
                lane.end(message)
        return self.result()

    def _verdict(self, lane: Lane, event: Event) -> str:
        assert self.reference is not None
        best = self.reference.objective
        if event.objective - best <= self.goal * abs(best):
            return f"goal: within {self.goal:g} of the optimum"
        if lane.spent(self.unit) >= self.budget:
            return f"budget: {self.budget:g} {self.unit} are spent"
        return ""


def _alone(problem: Any, name: str, solver: Any, seed: int | None, options: dict[str, Any]) -> Entry:
    """Run one lane to its end in this process, and return its entry."""
    found = RaceRun(problem, {name: solver}, **options).run().entries[0]
    return replace(found, seed=seed)


def race(problem: BaseProblem, solvers: Any, *, budget: float | None = None, **options: Any) -> Race:
    """Race solvers on one problem: same start, equal shares of the clock in turns, one certified F*.

    Parameters
    ----------
    problem, solvers, budget, **options
        as for :class:`RaceRun`.

    Returns
    -------
    Race
        the points of all lanes (:meth:`Race.to_frame`) and the times to 1e-2, 1e-4 and 1e-6 (:meth:`Race.times`).

    Raises
    ------
    TypeError, ValueError
        as for :class:`RaceRun`.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), penalty="l1/l2", lam_ratio=0.1)
    >>> found = ss.race(problem, ["bcd-ls", "fista-ls"], budget=200, unit="iterations")
    >>> sorted(found.names)
    ['bcd-ls', 'fista-ls']
    """
    return RaceRun(problem, solvers, budget=budget, **options).run()


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not (0.0 < float(value) < math.inf):
        raise ValueError(f"{name} is {value!r}; it must be a finite number above 0")
    return float(value)
