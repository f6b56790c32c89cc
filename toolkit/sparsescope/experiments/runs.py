"""Runs of solvers as tidy tables, and certified optima to compare them with.

Times are CPU seconds of the solving thread, without compilation and without anything an observer does: other programs
on the machine do not count. One thread is used, the linear algebra libraries' included.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.event import Event
from ..runs.run import Run
from ..runs.stopping import Gap, Iterations, Seconds, Stop
from ..solvers.base import Solver
from .pools import Split

if TYPE_CHECKING:
    import pandas as pd

CLOCK = time.thread_time
# Points of a run that are kept: the first ones, then one for each 4 % more time; a curve over log time shows no more.
FIRST_POINTS = 12
GROWTH = 1.04
NEVER = 2**62  # certificates only at the first and the last event: their cost is large, and nothing here reads them
# Solvers that find the optimum best, in this order; the first that is registered and takes the problem is used.
REFERENCE_SOLVERS = ("working-set", "bcd-ls")

POINT = ("iteration", "passes", "seconds", "objective", "nonzero_rows", "trials", "seen_violation_sum",
         "seen_violation")  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """The best known optimum of a problem, and its distance bound by a certificate.

    objective : F of W (d, m), an upper bound of F* · dual : a proved lower bound of F* · gap : (F − dual)/F
    accuracy : on the held-out part · nonzero_rows of W · usable_rows : features that are not zero in all samples
    """

    objective: float
    dual: float
    gap: float
    accuracy: float
    nonzero_rows: int
    usable_rows: int
    seconds: float
    solver: str


def reference(split: Split, problem: Problem, *, tol: float, seconds: float) -> Reference:
    """The optimum to relative duality gap ``tol``, or what ``seconds`` of the solver reach; kept with the split."""
    key = (*problem.key, tol, seconds)
    if key not in split.references:
        solver = reference_solver(problem)
        run = Run(
            problem, solver, stop=Gap(tol) | Seconds(seconds) | Iterations(1_000_000), certify_every=10, clock=CLOCK
        )
        for _ in run:
            pass
        assert run.state is not None
        found = run.certificate()
        split.references[key] = Reference(
            objective=found.objective, dual=found.dual, gap=found.relative_gap,
            accuracy=split.accuracy(problem, run.state.weights()), nonzero_rows=found.nonzero_rows,
            usable_rows=int(np.count_nonzero(problem.design.squared_norms)), seconds=run.seconds,
            solver=run.solver.name,
        )  # fmt: skip
    return split.references[key]


def reference_solver(problem: Problem) -> Solver:
    """The best solver for a certified optimum of this problem."""
    for name in REFERENCE_SOLVERS:
        if name in registry.solvers:
            made: Solver = registry.solvers.create(name)
            if made.solves(problem) is None:
                return made
    raise ValueError(f"no solver for a certified optimum of {problem!r}")


class Recorder:
    """An observer that keeps thinned points of a run, with the held-out accuracy at each of them."""

    def __init__(self, split: Split, growth: float = GROWTH) -> None:
        self.split, self.growth = split, growth
        self.points: list[dict[str, Any]] = []
        self._last: Event | None = None
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        self._last = event
        if event.message or event.iteration < FIRST_POINTS or event.seconds >= self._due:
            self._due = event.seconds * self.growth
            accuracy = self.split.accuracy(event.problem, event.state.weights())
            self.points.append({**{name: getattr(event, name) for name in POINT}, "test_accuracy": accuracy})


def fresh(problem: Problem) -> Problem:
    """The same problem without the constants that others computed before: each solver pays for what it needs."""
    return Problem(problem.design, problem.y, loss=problem.loss, penalty=problem.penalty, lam=problem.lam,
                   class_names=problem.class_names, feature_names=problem.feature_names)  # fmt: skip


def follow(split: Split, problem: Problem, solver: Solver | str, stop: Stop, labels: Mapping[str, Any]) -> pd.DataFrame:
    """Run a solver from zero weights and return its points, a row each, with ``labels`` as further columns.

    Columns: iteration, passes, seconds (see the module), objective, nonzero_rows, nonzero_percent (of all d rows),
    trials (line-search trials for each row that moved), seen_violation_sum and seen_violation (Eq. 9 of paper 1 as the
    sweep saw it), test_accuracy, and message, why the run ended (divergence included).
    """
    import pandas as pd

    recorder = Recorder(split)
    run = Run(fresh(problem), solver, stop=stop, callbacks=[recorder], certify_every=NEVER, clock=CLOCK)
    try:
        for _ in run:
            pass
        message = run.message
    except FloatingPointError as error:  # a method that diverges is a result too; its finite points are kept
        message = str(error)
    table = pd.DataFrame(recorder.points)
    table["nonzero_percent"] = 100.0 * table["nonzero_rows"] / problem.d
    table["message"] = message
    for place, (name, value) in enumerate(labels.items()):
        table.insert(place, name, value)
    return table
