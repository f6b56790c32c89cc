"""Sec. 3.2: what the bi-stochastic search is worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ...runs.event import Event
from ...runs.run import Run
from ...runs.stopping import Gap, Seconds
from ..base import Settings
from ..pools import Pool
from ..progress import Job, Report, gather
from ..runs import clocked, ended, labelled, repeat_times
from . import protocol, samples
from .sparsity import best_row, densities, kind_of

if TYPE_CHECKING:
    import pandas as pd


def compare_searches(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """PD-Sparse with each form of its search, on the whole training part at the best λ₄: a row for each iteration.

    Columns: data, kind, search, iteration, seconds, gap (relative), search_share (of the iteration's work), wanted (the
    gap at which runs end), k_a, k_w (of the last point), lam4, classes, features, samples.
    """
    limit = protocol.limits(settings)
    jobs: list[Job] = [(name, partial(_follow, pool, name, settings, limit)) for name in protocol.SEARCHES]
    return gather(jobs, report or Report())


def _follow(pool: Pool, name: str, settings: Settings, limit: protocol.Limits) -> pd.DataFrame:
    import pandas as pd

    lam4 = float(best_row(pool, settings)["lam4"])
    problem = protocol.at(samples.whole(pool).problem, lam4).fresh()
    points: list[tuple[int, float, float, float]] = []

    def race(watch: Callable[[Event], None]) -> Run:
        solver = protocol.solver(settings.seed, **protocol.SEARCHES[name])
        return ended(problem, solver, Gap(limit.search_gap) | Seconds(limit.search_seconds), callbacks=[watch])

    run = race(lambda e: points.append((int(e.iteration), e.seconds, e.relative_gap, e.search_share)))
    sparse = densities(run)
    table = pd.DataFrame(points, columns=["iteration", "seconds", "gap", "search_share"])
    repeat_times(table, clocked(race))
    sizes = {"lam4": lam4, "classes": problem.m, "features": problem.d, "samples": problem.n}
    table = table.assign(wanted=limit.search_gap, k_a=sparse["k_a"], k_w=sparse["k_w"], **sizes)
    return labelled(table, data=pool.name, kind=kind_of(pool), search=name)
