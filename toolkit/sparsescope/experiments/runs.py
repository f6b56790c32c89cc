"""Runs of solvers as tidy tables, and certified optima to compare them with.

Times are CPU seconds of the solving thread, without compilation and without anything an observer does: other programs
on the machine do not count. One thread is used, the linear algebra libraries' included.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problems.base import BaseProblem
from ..problems.prediction import Problem
from ..runs.event import Event
from ..runs.optima import Reference as Optimum
from ..runs.reference import reference as find_optimum
from ..runs.run import Run
from ..runs.stopping import Stop
from ..solvers.base import Solver
from .pools import Split

if TYPE_CHECKING:
    import pandas as pd

CLOCK = time.thread_time
# Points of a run that are kept: the first ones, then one for each 4 % more time; a curve over log time shows no more.
FIRST_POINTS = 12
GROWTH = 1.04
# Runs that take less than SHORT solver seconds, all repeats together, are run up to REPEATS times.
SHORT, REPEATS = 0.3, 5
SHARES = {"": 0.5, "_low": 0.25, "_high": 0.75}  # of repeated runs: columns of their median and quartiles
NEVER = 2**62  # certificates only at the first and the last event: their cost is large, and nothing here reads them

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
    solver: str


def reference(split: Split, problem: Problem, *, tol: float, seconds: float) -> Reference:
    """The optimum to relative duality gap ``tol``, or what ``seconds`` of the solver reach; kept with the split."""
    key = (*problem.key, tol, seconds)
    if key not in split.references:
        found = certified_optimum(problem, tol, seconds)
        split.references[key] = Reference(
            objective=found.objective, dual=found.dual, gap=found.relative_gap,
            accuracy=split.accuracy(problem, found.W), nonzero_rows=int(np.any(found.W != 0.0, axis=1).sum()),
            usable_rows=int(np.count_nonzero(problem.design.squared_norms)), solver=found.solver,
        )  # fmt: skip
    return split.references[key]


def certified_optimum(problem: Problem, tol: float, seconds: float) -> Optimum:
    """The optimum to relative duality gap ``tol``, or what ``seconds`` of the solver reach, without a warning then."""
    from sklearn.exceptions import ConvergenceWarning  # only here: it takes a moment to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: Optimum = find_optimum(problem, tol=tol, max_seconds=seconds)
    return found


class Recorder:
    """An observer that keeps thinned points of a run, with the held-out accuracy at each of them."""

    def __init__(self, split: Split, growth: float = GROWTH) -> None:
        self.split, self.growth = split, growth
        self.points: list[dict[str, Any]] = []
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        if event.message or event.iteration < FIRST_POINTS or event.seconds >= self._due:
            self._due = event.seconds * self.growth
            accuracy = self.split.accuracy(event.problem, event.state.weights())
            self.points.append({**{name: getattr(event, name) for name in POINT}, "test_accuracy": accuracy})


def labelled(table: pd.DataFrame, **labels: Any) -> pd.DataFrame:
    """The table with the same values in all rows as its first columns."""
    return table.assign(**labels)[[*labels, *(name for name in table if name not in labels)]]


def repeat_times(table: pd.DataFrame, again: Callable[[], Mapping[float, float]]) -> None:
    """Replace the seconds of a short run by medians over repeated runs at the same iterations.

    ``again`` runs once more and returns the seconds of each iteration. Columns seconds_low and seconds_high are the
    quartiles; of a run that took long, which is not repeated, they are its seconds.
    """
    import pandas as pd

    columns = _repeated(table["seconds"], lambda: table["iteration"].map(again()), lambda column: float(column.max()))
    times = pd.concat(columns, axis=1).ffill().cummax()  # another run may have met its limit of time earlier
    for end, share in SHARES.items():
        table[f"seconds{end}"] = times.quantile(share, axis=1)


def _repeated(first: Any, again: Callable[[], Any], seconds: Callable[[Any], float] = float) -> list[Any]:
    """The first run and further ones, while they are few and take little."""
    found = [first]
    while len(found) < REPEATS and sum(map(seconds, found)) < SHORT:
        found.append(again())
    return found


def ended(problem: BaseProblem, solver: Solver | str, stop: Stop, **options: Any) -> Run:
    """Run from zero weights until ``stop``, on the clock of the experiments; the run when it has ended."""
    run = Run(problem.fresh(), solver, stop=copy.deepcopy(stop), clock=CLOCK, **options)
    for _ in run:
        pass
    return run


def clocked(race: Callable[[Callable[[Event], None]], Any]) -> Callable[[], dict[float, float]]:
    """A function that runs ``race`` with an observer and returns the seconds of each iteration."""

    def again() -> dict[float, float]:
        seconds: dict[float, float] = {}
        race(lambda event: seconds.__setitem__(event.iteration, event.seconds))
        return seconds

    return again


def timed(first: float, again: Callable[[], float], column: str = "seconds") -> dict[str, float]:
    """Median and quartiles of the seconds of a run, which is run again where it takes little, as columns."""
    found = _repeated(first, again)
    return {column + end: float(np.nanquantile(found, share)) for end, share in SHARES.items()}


def follow(split: Split, problem: Problem, solver: Solver | str, stop: Stop, labels: Mapping[str, Any]) -> pd.DataFrame:
    """Run a solver from zero weights and return its points, a row each, with ``labels`` as further columns.

    Columns: iteration, passes, seconds (see the module), objective, nonzero_rows, nonzero_percent (of all d rows),
    seconds_low, seconds_high (quartiles of repeated runs),
    trials (line-search trials for each row that moved), seen_violation_sum and seen_violation (Eq. 9 of paper 1 as the
    sweep saw it), test_accuracy, and message, why the run ended (divergence included).
    """
    import pandas as pd

    def run_once(recorder: Callable[[Event], None]) -> str:
        try:
            return ended(problem, solver, stop, callbacks=[recorder], certify_every=NEVER).message
        except FloatingPointError as error:  # a method that diverges is a result too; its finite points are kept
            return str(error)

    recorder = Recorder(split)
    message = run_once(recorder)
    table = pd.DataFrame(recorder.points)
    repeat_times(table, clocked(run_once))
    table["nonzero_percent"] = 100.0 * table["nonzero_rows"] / problem.d
    table["message"] = message
    return labelled(table, **labels)
