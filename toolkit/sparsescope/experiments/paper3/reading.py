"""Quantities that the claims take from the tables: the best α, the width of its neighbourhood, the time to reach x∞.

All are pure functions of a table of one case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..base import Case
from ..verdicts import Time
from . import protocol

if TYPE_CHECKING:
    import pandas as pd

INFINITY = float("inf")
WITHIN = 2.0  # points of error: values of α that do not lose more are as good as the best
SURE = 1e-2  # a relative gap above this shows that a fit was far from its end: its error is not the model's


def cases(table: pd.DataFrame) -> Iterator[tuple[Case, pd.DataFrame]]:
    """(case, part) of each data set, kind of features and size of the training subsets."""
    for (data, kind, size), part in table.groupby(["data", "kind", "per_class"], sort=False):
        yield Case.on(data, str(kind), f"{size} a class"), part


def curves(part: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """objective -> its means over the subsets at each α, falling: error_percent, zero_percent, gap (the largest).

    The two forms of the hinge stay apart.
    """
    found = {}
    for objective, runs in part.dropna(subset=["error_percent"]).groupby("objective", sort=False):
        means = (
            runs.groupby("alpha")
            .agg(error_percent=("error_percent", "mean"), gap=("gap", "max"), zero_percent=("zero_percent", "mean"))
            .reset_index()
        )
        found[str(objective)] = means.sort_values("alpha", ascending=False, ignore_index=True)
    return found


def best(curve: pd.DataFrame) -> pd.Series:
    """The point of the smallest mean error; of several the one with the most zeros."""
    order = curve.sort_values(["error_percent", "zero_percent"], ascending=[True, False], kind="stable")
    return order.iloc[0]


def decades(curve: pd.DataFrame) -> float:
    """Number of powers of ten of α around the best one that lose at most two points of accuracy, linear in log α."""
    ordered = curve.sort_values("alpha")
    x, y = np.log10(ordered["alpha"].to_numpy()), ordered["error_percent"].to_numpy()
    at = int(np.argmin(y))
    limit = y[at] + WITHIN
    low = high = x[at]
    for k in range(at, len(x) - 1):
        if y[k + 1] > limit:
            high = x[k] + (x[k + 1] - x[k]) * (limit - y[k]) / (y[k + 1] - y[k])
            break
        high = x[k + 1]
    for k in range(at, 0, -1):
        if y[k - 1] > limit:
            low = x[k] - (x[k] - x[k - 1]) * (limit - y[k]) / (y[k - 1] - y[k])
            break
        low = x[k - 1]
    return float(high - low)


def time_near(run: pd.DataFrame, distance: float = protocol.NEAR) -> Time:
    """Solver seconds from which on a run stays within this relative distance of x∞; infinity if it never settled."""
    if not len(run) or not bool(run["settled"].iloc[0]):
        return Time(INFINITY, INFINITY, INFINITY)
    away = run["distance"].to_numpy() > distance
    first = 0 if not away.any() else int(np.flatnonzero(away)[-1]) + 1
    return Time.of(run.iloc[first])


def times_near(part: pd.DataFrame, distance: float = protocol.NEAR) -> dict[str, Time]:
    """method -> :func:`time_near`."""
    return {str(name): time_near(run, distance) for name, run in part.groupby("method", sort=False)}


def ran(part: pd.DataFrame) -> dict[str, float]:
    """method -> all the solver seconds its run took: a lower bound of what it would have needed."""
    return {str(name): float(run["seconds"].max()) for name, run in part.groupby("method", sort=False)}
