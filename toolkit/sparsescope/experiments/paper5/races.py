"""Sec. 4.1: FISTA, newGLMNET and LHAC on the ℓ1 logistic loss, over the number of samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...registry import solvers
from ...runs.event import Event
from ...runs.run import Run
from ...runs.stopping import Seconds, Violation
from ..base import Settings
from ..pools import Pool
from ..progress import Job, Report, gather
from ..runs import clocked, ended, labelled, repeat_times
from ..verdicts import Time
from . import protocol, samples

if TYPE_CHECKING:
    import pandas as pd


def race_solvers(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Each method on each number of samples: a row for each iteration.

    Columns: data, samples, features, solver, iteration, seconds, violation (its largest entry, relative to that at zero
    weights: the paper's ε), objective, message (why the run ended, in its last row).
    """
    limit = protocol.limits(settings)
    jobs: list[Job] = [
        (f"{size} samples, {name}", partial(_follow, pool, size, name, settings, limit))
        for size in samples.sizes(pool, limit)
        for name in protocol.RACERS
    ]
    return gather(jobs, report or Report())


def _follow(pool: Pool, size: int, name: str, settings: Settings, limit: protocol.Limits) -> pd.DataFrame:
    import pandas as pd

    problem = samples.races_problem(pool, size, settings.seed)
    points: list[tuple[int, float, float, float]] = []

    def race(watch: Callable[[Event], None]) -> Run:
        stop = Violation(min(protocol.EPSILONS)) | Seconds(limit.seconds)
        solver = solvers.create(protocol.RACERS[name], **protocol.PUBLISHED.get(name, {}))
        return ended(problem, solver, stop, callbacks=[watch])

    run = race(lambda event: points.append((int(event.iteration), event.seconds, event.violation, event.objective)))
    table = pd.DataFrame(points, columns=["iteration", "seconds", "violation", "objective"])
    repeat_times(table, clocked(race))
    table["violation"] /= table["violation"].iloc[0]
    table["message"] = [""] * (len(table) - 1) + [run.message]
    return labelled(table, data=pool.name, samples=problem.n, features=problem.d, solver=name)


def time_to(run: pd.DataFrame, epsilon: float) -> Time:
    """Seconds at which a run was first at ε; infinity: never."""
    return Time.first(run, run["violation"] <= epsilon)


def times_to(races: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each data set, number of samples and ε, with the time of each method."""
    return [
        {
            "data": data,
            "samples": size,
            "epsilon": epsilon,
            **{name: time_to(part[part["solver"] == name], epsilon) for name in protocol.RACERS},
        }
        for (data, size), part in races.groupby(["data", "samples"], sort=False)
        for epsilon in protocol.EPSILONS
    ]


def table1(races: pd.DataFrame) -> pd.DataFrame:
    """Table 1: a row for each data set, number of samples and ε, with the seconds of each method (infinity: never)."""
    import pandas as pd

    names = dict.fromkeys(protocol.RACERS)
    rows = times_to(races)
    return pd.DataFrame({key: value.middle if key in names else value for key, value in row.items()} for row in rows)


def exponent(table: pd.DataFrame, name: str) -> float:
    """The slope of log time over log samples at the smallest ε; NaN with fewer than two sizes that got there."""
    part = table[(table["epsilon"] == min(protocol.EPSILONS)) & np.isfinite(table[name]) & (table[name] > 0.0)]
    if part["samples"].nunique() < 2:
        return float("nan")
    return float(np.polyfit(np.log(part["samples"].to_numpy(float)), np.log(part[name].to_numpy(float)), 1)[0])
