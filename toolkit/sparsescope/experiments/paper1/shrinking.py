"""Sec. 5.2.4: both variants of block coordinate descent with and without shrinking."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..base import Settings
from ..pools import Pool
from ..progress import Report, gather
from ..runs import follow
from . import protocol
from .comparison import complete, optimum, stop_rule, with_reference

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = ("BCD (LS)", "BCD (CST)")


def compare_shrinking(pool: Pool, lam: float, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """BCD (LS) and BCD (CST) with shrinking off and on, at one λ: a row for each kept point.

    Columns as of :func:`sparsescope.experiments.paper1.compare_solvers`, and shrinking (bool).
    """
    limit = protocol.limits(settings)
    split = pool.split(settings.seed, protocol.TEST_SIZE)
    problem = split.problem.with_(loss=protocol.MULTICLASS, penalty="l1/l2", lam=lam)
    best = optimum(split, problem, limit)

    def run(name: str, on: bool) -> pd.DataFrame:
        solver = protocol.make_solver(name, settings.seed, shrinking=on)
        table = follow(
            split,
            problem,
            solver,
            stop_rule(best, limit),
            {"data": split.name, "lam": lam, "solver": name, "shrinking": on},
        )
        return with_reference(table, problem, best)

    jobs = [
        (f"{name}, shrinking {'on' if on else 'off'}", partial(run, name, on))
        for name in VARIANTS
        for on in (False, True)
    ]
    return complete(gather(jobs, report or Report()))
