"""The search for FOBOS's first step η0 (Sec. 5.2): candidates from 1e-3 to 1e3, compared on held-out data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...solvers import search_eta0
from ..base import Settings
from ..pools import Pool
from ..progress import Report, gather
from . import protocol

if TYPE_CHECKING:
    import pandas as pd


def choose_eta0(pool: Pool, lam: float, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """FOBOS with each first step, a few passes over 4/5 of the training part, judged on the other 1/5.

    A row for each candidate: data, lam, eta0, heldout_accuracy, heldout_loss, objective (NaN where the method
    diverged), chosen: the smallest held-out loss. (The accuracy alone does not tell: weights near divergence can
    still rank the classes well.)
    """
    return gather([("candidates", partial(_search, pool, lam, settings))], report or Report())


def chosen_eta0(pool: Pool, lam: float, settings: Settings) -> float:
    """The winner of the search."""
    table = _search(pool, lam, settings)
    return float(table.loc[table["chosen"], "eta0"].iloc[0])


def _search(pool: Pool, lam: float, settings: Settings) -> pd.DataFrame:
    """The table, made once for each split and λ."""
    import pandas as pd

    split = pool.split(settings.seed, protocol.TEST_SIZE)
    key = ("eta0", lam, settings)
    if key not in split.references:
        inner = split.inner(settings.seed, protocol.TEST_SIZE)
        problem = inner.problem.with_(loss=protocol.MULTICLASS, penalty="l1/l2", lam=lam)
        found = search_eta0(
            problem,
            (inner.test, inner.y_test),
            candidates=protocol.ETA0,
            seed=settings.seed,
            iterations=protocol.limits(settings).eta0_passes,
            by="loss",
            **protocol.SOLVERS["FOBOS"][1],
        )
        table = pd.DataFrame(found.table).rename(columns={"accuracy": "heldout_accuracy", "loss": "heldout_loss"})
        table = table.drop(columns="diverged").assign(chosen=table["eta0"] == found.eta0)
        split.references[key] = pd.concat([pd.DataFrame({"data": [pool.name] * len(table), "lam": lam}), table], axis=1)
    made: pd.DataFrame = split.references[key]
    return made
