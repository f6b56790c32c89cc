"""Fig. 2, 3 and 4: six solvers on the same objective."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...problems.prediction import Problem
from ...runs.stopping import Objective, Seconds, Stop
from ..base import Settings
from ..pools import Pool, Split
from ..progress import Report, gather
from ..runs import Reference, follow, reference
from . import protocol
from .eta0 import chosen_eta0

if TYPE_CHECKING:
    import pandas as pd


def compare_solvers(pool: Pool, lam: float, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """The six solvers of Sec. 5.2 on the multiclass squared hinge with ℓ1/ℓ2 at one λ: a row for each kept point.

    FOBOS starts with the step that :func:`sparsescope.experiments.paper1.choose_eta0` finds. Columns: data, lam,
    solver, those of :func:`sparsescope.experiments.runs.follow`, relative = (F − F*)/F*, and what is the same in all
    rows: best (F*, the best value known), dual (a proved lower bound), gap = (F* − dual)/F*, best_rows, usable_rows,
    best_accuracy, lam_max, features, samples.
    """
    limit = protocol.limits(settings)
    split = pool.split(settings.seed, protocol.TEST_SIZE)
    problem = split.problem.with_(loss=protocol.MULTICLASS, penalty="l1/l2", lam=lam)
    best = optimum(split, problem, limit)

    def run(name: str) -> pd.DataFrame:
        first = {}
        if name == "FOBOS":
            first["eta0"] = chosen_eta0(pool, lam, settings)
            _ = problem.design.samples  # the copy of X by rows: made before the clock starts, as the one by columns is
        solver = protocol.make_solver(name, settings.seed, **first)
        table = follow(split, problem, solver, stop_rule(best, limit), {"data": split.name, "lam": lam, "solver": name})
        return with_reference(table, problem, best)

    return complete(gather([(name, partial(run, name)) for name in protocol.SOLVERS], report or Report()))


def optimum(split: Split, problem: Problem, limit: protocol.Limits) -> Reference:
    """The certified optimum."""
    return reference(split, problem, tol=limit.reference_tol, seconds=limit.reference_seconds)


def stop_rule(best: Reference, limit: protocol.Limits) -> Stop:
    """Close to the optimum, or out of time."""
    return Objective(best.objective * (1.0 + limit.target)) | Seconds(limit.seconds)


def with_reference(table: pd.DataFrame, problem: Problem, best: Reference) -> pd.DataFrame:
    """The table with what is known of the optimum as further columns, the same in all rows."""
    return table.assign(
        best=best.objective, dual=best.dual, best_rows=best.nonzero_rows, usable_rows=best.usable_rows,
        best_accuracy=best.accuracy, lam_max=problem.lam_max, features=problem.d, samples=problem.n,
    )  # fmt: skip


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Columns ``best`` (a run may have found a better value than the reference), ``gap`` and ``relative``."""
    groups = table.groupby(["data", "lam"])
    best = groups["objective"].transform("min").clip(upper=table["best"])
    return table.assign(best=best, gap=(best - table["dual"]) / best, relative=(table["objective"] - best) / best)
