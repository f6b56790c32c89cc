"""Quantities that the claims take from the tables: times to a level, ratios of times, positions of curves.

All are pure functions of a table of one case (one data set, one λ).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..base import Case
from ..verdicts import power

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
NEAR = 0.1  # a number of rows counts as the optimum's within this share of it
MOST_ROWS = 0.9  # where the optimum uses more of the features that occur, there is no sparsity to reach
SETTLED = 1e-3  # the support of a point with a larger relative gap may differ much from the optimum's
ONE_POINT = 0.01
INFINITY = float("inf")


def cases(table: pd.DataFrame) -> Iterator[tuple[Case, pd.DataFrame]]:
    """(case, part) of each data set and λ."""
    for (data, lam), part in table.groupby(["data", "lam"], sort=False):
        yield Case.on(data, f"λ = {power(lam)}"), part


def run_of(part: pd.DataFrame, solver: str) -> pd.DataFrame:
    """The rows of one solver; empty if it did not run."""
    return part[part["solver"] == solver]


def is_trivial(part: pd.DataFrame) -> bool:
    """Return whether λ is so large that W = 0 is the optimum: nothing can be compared."""
    return bool((part["lam"] >= part["lam_max"]).all())


def certified(part: pd.DataFrame) -> float:
    """Accuracy of F*: levels of (F − F*)/F* below it are not meaningful."""
    return float(part["gap"].max())


def time_to(run: pd.DataFrame, level: float, column: str = "relative", clock: str = "seconds") -> float:
    """Solver seconds at which ``column`` first is at most ``level``; infinity if it never is.

    clock : ``seconds``, or a quartile of repeated runs, ``seconds_low`` or ``seconds_high``
    """
    reached = run.loc[run[column] <= level, clock]
    return float(reached.min()) if len(reached) else INFINITY


def time_to_accuracy(run: pd.DataFrame, part: pd.DataFrame) -> float:
    """Solver seconds until the test accuracy first is within one point of the optimum's."""
    reached = run.loc[run["test_accuracy"] >= part["best_accuracy"].iloc[0] - ONE_POINT, "seconds"]
    return float(reached.min()) if len(reached) else INFINITY


def time_to_rows(run: pd.DataFrame, part: pd.DataFrame) -> float:
    """Solver seconds from which on the number of non-zero rows stays within 10 % of the optimum's (at least one)."""
    best = float(part["best_rows"].iloc[0])
    away = np.abs(run["nonzero_rows"].to_numpy() - best) > max(1.0, NEAR * best)
    if away[-1]:
        return INFINITY
    first = 0 if not away.any() else int(np.flatnonzero(away)[-1]) + 1
    return float(run["seconds"].iloc[first])


def has_sparsity(part: pd.DataFrame) -> str:
    """Return why the sparsity of the optimum cannot be compared in this case; empty if it can."""
    if is_trivial(part):
        return "λ is above λ_max: the optimum is W = 0"
    if certified(part) > SETTLED:
        return f"the optimum is certified to {power(certified(part))} only: its rows are not known"
    share = float(part["best_rows"].iloc[0] / part["usable_rows"].iloc[0])
    return f"the optimum uses {100 * share:.0f} % of the features: no sparsity to reach" if share > MOST_ROWS else ""


def speed_ratios(part: pd.DataFrame, fast: str, slow: str, levels: tuple[float, ...] = LEVELS,
                 clocks: tuple[str, str] = ("seconds", "seconds")) -> dict[float, float]:  # fmt: skip
    """level -> (time of ``slow``)/(time of ``fast``) for the levels that at least one of the two reaches.

    ``clocks`` of ``fast`` and of ``slow`` are as for :func:`time_to`.

    A solver that does not reach a level is given the whole time it ran: the ratio is then a bound in favour of it.
    Levels below what the optimum is certified to are left out.
    """
    a, b = run_of(part, fast), run_of(part, slow)
    if not len(a) or not len(b) or is_trivial(part):
        return {}
    found = {}
    for level in levels:
        if level < certified(part):
            continue
        ta, tb = time_to(a, level, clock=clocks[0]), time_to(b, level, clock=clocks[1])
        if ta == INFINITY and tb == INFINITY:
            continue
        ta, tb = min(ta, float(a[clocks[0]].max())), min(tb, float(b[clocks[1]].max()))
        if ta > 0:
            found[level] = tb / ta
    return found


def ratio_spread(part: pd.DataFrame, fast: str, slow: str) -> tuple[float, float] | None:
    """The median ratio with the quartiles of repeated runs that suit ``fast`` least, and most; None: not repeated."""
    if "seconds_low" not in part or (part["seconds_low"] == part["seconds_high"]).all():
        return None
    low = speed_ratios(part, fast, slow, clocks=("seconds_high", "seconds_low"))
    return median(low), median(speed_ratios(part, fast, slow, clocks=("seconds_low", "seconds_high")))


def median(ratios: dict[float, float]) -> float:
    """The median of the ratios; NaN if there is none."""
    return float(np.median(list(ratios.values()))) if ratios else float("nan")


def curve_difference(a: pd.DataFrame, b: pd.DataFrame) -> float:
    """Mean of accuracy(a) − accuracy(b) at equal percentages of rows, over the range both curves cover; NaN if none.

    a, b : columns nonzero_percent, test_accuracy. Curves are read linearly in the logarithm of the percentage.
    """
    (xa, ya), (xb, yb) = _curve(a), _curve(b)
    if len(xa) < 2 or len(xb) < 2:
        return float("nan")
    low, high = max(xa[0], xb[0]), min(xa[-1], xb[-1])
    if high <= low:
        return float("nan")
    x = np.linspace(low, high, 50)
    return float(np.mean(np.interp(x, xa, ya) - np.interp(x, xb, yb)))


def rows_for(curve: pd.DataFrame, accuracy: float) -> float:
    """The smallest percentage of rows at which a curve has this accuracy; infinity if it never has."""
    x, y = _curve(curve)
    if not len(x) or y.max() < accuracy:
        return INFINITY
    k = int(np.argmax(y >= accuracy))
    if k == 0:
        return float(np.exp(x[0]))
    share = (accuracy - y[k - 1]) / (y[k] - y[k - 1])
    return float(np.exp(x[k - 1] + share * (x[k] - x[k - 1])))


def _curve(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """log percentage (ascending, without repeats) and accuracy."""
    some = table[table["nonzero_percent"] > 0]
    means = some.groupby("nonzero_percent")["test_accuracy"].mean().sort_index()
    return np.log(means.index.to_numpy(dtype=float)), means.to_numpy(dtype=float)
