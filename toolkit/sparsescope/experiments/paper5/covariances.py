"""Sec. 4.2: the work of QUIC and LHAC on sparse inverse covariances, in flops of coordinate steps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ... import registry
from ...runs.event import Event
from ...runs.run import Run
from ...runs.stopping import Seconds, Violation
from ..base import Settings
from ..pools import Pool
from ..progress import Job, Report, gather
from ..runs import CLOCK, labelled
from . import protocol, samples

if TYPE_CHECKING:
    import pandas as pd


def count_flops(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Both methods on one matrix: a row for each iteration.

    Columns: data, features, solver, iteration (κ_o), sweeps (κ_i), steps (coordinates looked at), step_flops (T_CD),
    flops (of all coordinate steps so far: the paper's complexity, Eq. 28), seconds, violation (relative to that at the
    start), working_set (entries on and above the diagonal), size (such entries of Θ that are not zero), optimum (the
    same at the best point of both runs), screened (isolated features, which no method works on).
    """
    import pandas as pd

    limit = protocol.limits(settings)
    jobs: list[Job] = [(name, partial(_follow, pool, name, limit)) for name in protocol.METHODS]
    table = gather(jobs, report or Report())
    return pd.DataFrame(with_optimum(table))


def with_optimum(table: pd.DataFrame) -> pd.DataFrame:
    """The column ``optimum``: the size of Θ where the violation is smallest, for each data set."""
    best = {data: part.loc[part["violation"].idxmin(), "size"] for data, part in table.groupby("data")}
    return table.assign(optimum=table["data"].map(best))


def _follow(pool: Pool, name: str, limit: protocol.Limits) -> pd.DataFrame:
    import pandas as pd

    problem = samples.covariance_problem(pool, limit)
    assert problem is not None
    counts = np.bincount(problem.components)
    rows: list[dict[str, float]] = []
    total = 0.0

    def watch(event: Event) -> None:
        nonlocal total
        if event.iteration:
            total += event.coordinate_steps * event.step_flops
        rows.append(
            {
                "iteration": event.iteration,
                "sweeps": event.inner_sweeps,
                "steps": event.coordinate_steps,
                "step_flops": event.step_flops,
                "flops": total,
                "seconds": event.seconds,
                "violation": event.violation,
                "working_set": event.working_set,
                "size": (event.nonzero_entries + problem.d) // 2,
            }
        )

    solver, settings = protocol.METHODS[name]
    run = Run(
        problem,
        registry.solvers.create(solver, **settings),
        callbacks=[watch],
        clock=CLOCK,
        stop=Violation(min(protocol.PRECISIONS)) | Seconds(limit.seconds),
    )
    for _ in run:
        pass
    table = pd.DataFrame(rows)
    table["violation"] /= table["violation"].iloc[0]
    table["screened"] = int((counts == 1).sum())
    return labelled(table, data=pool.name, features=problem.d, solver=name)


def reached(run: pd.DataFrame, epsilon: float) -> pd.Series | None:
    """The first row of a run that is at ε, or ``None``."""
    there = run[run["violation"] <= epsilon]
    return there.iloc[0] if len(there) else None


def table2(covariances: pd.DataFrame) -> pd.DataFrame:
    """Table 2: a row for each matrix and ε, with the flops (10⁶), iterations and flops a step of both methods."""
    import pandas as pd

    rows = []
    for data, part in covariances.groupby("data", sort=False):
        for epsilon in protocol.PRECISIONS:
            row = {"data": data, "p": int(part["features"].iloc[0]), "epsilon": epsilon}
            for name in protocol.METHODS:
                at = reached(part[part["solver"] == name], epsilon)
                flops, iterations, step = (
                    (float("inf"), float("nan"), float("nan"))
                    if at is None
                    else (at["flops"] / 1e6, at["iteration"], at["step_flops"])
                )
                row |= {f"{name} Mflops": flops, f"{name} iterations": iterations, f"{name} flops a step": step}
            rows.append(row)
    return pd.DataFrame(rows)
