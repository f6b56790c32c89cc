"""The search for FOBOS's first step η0 (Sec. 5.2): candidates from 1e-3 to 1e3, compared on held-out data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...stopping import Passes, Seconds
from ..base import Settings
from ..pools import Pool, Split
from ..progress import Report, gather
from ..runs import follow
from . import protocol

if TYPE_CHECKING:
    import pandas as pd


def choose_eta0(pool: Pool, lam: float, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """FOBOS with each first step, a few passes over 4/5 of the training part, judged on the other 1/5.

    A row for each candidate: data, lam, eta0, heldout_accuracy, objective (on the 4/5), seconds, passes, chosen. The
    best held-out accuracy wins, between equals the smaller objective. A step with which the method diverges keeps its
    last finite point.
    """
    limit = protocol.limits(settings)
    inner = pool.split(settings.seed, protocol.TEST_SIZE).inner(settings.seed, protocol.TEST_SIZE)
    jobs = [(f"η0 = {eta0:g}", partial(_try, inner, lam, eta0, limit, settings.seed))
            for eta0 in protocol.ETA0]
    table = choose(gather(jobs, report or Report()))
    _memory(pool, settings)[lam, settings] = float(table.loc[table["chosen"], "eta0"].iloc[0])
    return table


def _memory(pool: Pool, settings: Settings) -> dict[Any, Any]:
    found: dict[Any, Any] = pool.split(settings.seed, protocol.TEST_SIZE).references
    return found.setdefault("eta0", {})


def _try(split: Split, lam: float, eta0: float, limit: protocol.Limits, seed: int) -> pd.DataFrame:
    problem = split.problem.with_(loss=protocol.MULTICLASS, penalty="l1/l2", lam=lam)
    stop = Passes(limit.eta0_passes) | Seconds(limit.seconds)
    solver = protocol.make_solver("FOBOS", seed, eta0=eta0)
    table = follow(split, problem, solver, stop, {"data": split.name, "lam": lam, "eta0": eta0})
    last = table.iloc[[-1]].rename(columns={"test_accuracy": "heldout_accuracy"})
    return last[["data", "lam", "eta0", "heldout_accuracy", "objective", "seconds", "passes"]]


def choose(table: pd.DataFrame) -> pd.DataFrame:
    """The table of candidates with the column ``chosen``: one row of each data set and λ."""
    order = table.sort_values(["heldout_accuracy", "objective"], ascending=[False, True], kind="stable")
    best = order.groupby(["data", "lam"], sort=False).head(1).index
    return table.assign(chosen=table.index.isin(best))


def chosen_eta0(pool: Pool, lam: float, settings: Settings) -> float:
    """The winner of the search, which is made once for each split and λ."""
    memory = _memory(pool, settings)
    if (lam, settings) not in memory:
        choose_eta0(pool, lam, settings)
    return float(memory[lam, settings])
