"""Claims of Sec. 5.3 of the paper on the three objectives, and their checks on the tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..base import Claim
from ..verdicts import DISAGREE, Answer, Time, by_data, for_each, number, points, seconds, slower, times
from . import reading
from .figures import fits
from .objectives import column_name
from .protocol import LOGISTIC, MULTICLASS, MULTITASK

if TYPE_CHECKING:
    import pandas as pd

LOGISTIC_LS = f"{LOGISTIC} (LS)"
SUBSTANTIAL = 2.0
UP_TO = 10.0  # times faster, says the paper


def curves(part: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """loss -> its points of Fig. 5 (means over the splits)."""
    means = fits(part)
    return {str(name): curve for name, curve in means.groupby("loss", sort=False)}


def median_times(part: pd.DataFrame) -> dict[str, Time]:
    """Column of Table 2 -> median over λ of the training time (means over the splits), with its quartiles."""
    means = _by_column(part).groupby(["column", "lam"])[_seconds(part)].mean()
    return {str(name): Time.of(values.median()) for name, values in means.groupby(level="column")}


def _by_column(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(column=[column_name(o, s) for o, s in zip(part["loss"], part["solver"], strict=True)])


def _seconds(part: pd.DataFrame) -> list[str]:
    return [name for name in ("seconds", "seconds_low", "seconds_high") if name in part]


def _told(what: str, column: str, ours: Time, other: str, theirs: Time, holds: bool | None) -> str:
    ratio, low, high = theirs.over(ours)
    spread = f", {times(low)} to {times(high)} in repeated runs" if low != high else ""
    end = f": {DISAGREE}" if holds is None else ""
    return f"{what}: {column} {seconds(ours.middle)}, {other} {seconds(theirs.middle)} ({times(ratio)}{spread}){end}"


@for_each(by_data, "objectives")
def as_accurate(part: pd.DataFrame, other: str, least: float) -> Answer:
    """At equal percentages of rows, the multiclass hinge's accuracy minus the other's is above ``least`` (a share)."""
    lines = curves(part)
    if MULTICLASS not in lines or other not in lines:
        return None, "an objective is missing"
    difference = reading.curve_difference(lines[MULTICLASS], lines[other])
    best = ", ".join(f"{name} {100 * lines[name]['test_accuracy'].max():.1f} %" for name in (MULTICLASS, other))
    if np.isnan(difference):
        return None, f"the curves share no range of sparsity; best accuracies: {best}"
    return difference > least, f"accuracy at equal % of rows: {points(difference)} on average; best: {best}"


@for_each(by_data, "objectives")
def sparser(part: pd.DataFrame) -> Answer:
    """To half a point below the accuracy that both reach, the multiclass hinge needs fewer rows than the multitask."""
    lines = curves(part)
    if MULTICLASS not in lines or MULTITASK not in lines:
        return None, "an objective is missing"
    goal = min(float(lines[name]["test_accuracy"].max()) for name in (MULTICLASS, MULTITASK)) - 0.005
    ours, theirs = (reading.rows_for(lines[name], goal) for name in (MULTICLASS, MULTITASK))
    numbers = f"rows for {100 * goal:.1f} % accuracy: multiclass {number(ours)} %, multitask {number(theirs)} %"
    return ours < theirs if ours != theirs else None, numbers


@for_each(by_data, "objectives")
def faster(part: pd.DataFrame, column: str, than: str, least: float, claimed: float = math.inf) -> Answer:
    """Median time of ``than`` over that of ``column`` (both columns of Table 2) is above ``least``.

    A ratio above ``claimed`` exceeds the claim. Where repeated runs disagree, the case is not decided.
    """
    middle = median_times(part)
    if column not in middle or than not in middle:
        return None, "an objective is missing", False
    a, b = middle[column], middle[than]
    holds = slower(b, a, least)
    return holds, _told("median training time", column, a, than, b, holds), b.over(a)[0] > claimed


@for_each(by_data, "objectives")
def cheaper_iterations(part: pd.DataFrame) -> Answer:
    """An outer iteration of the multiclass hinge takes less time than one of the logistic loss (both with line search
    where that was measured)."""
    sums = _by_column(part).groupby("column")[[*_seconds(part), "iterations"]].sum()
    other = LOGISTIC_LS if LOGISTIC_LS in sums.index else LOGISTIC
    if MULTICLASS not in sums.index or other not in sums.index:
        return None, "an objective is missing"
    a, b = (Time.of(sums.loc[name, _seconds(part)] / sums.loc[name, "iterations"]) for name in (MULTICLASS, other))
    holds = slower(b, a)
    return holds, _told("an outer iteration", "multiclass", a, other, b, holds)


@for_each(reading.cases, "iterations")
def fewer_iterations(part: pd.DataFrame) -> Answer:
    """The multiclass objective meets the stopping criterion in fewer outer iterations (the paper: 73 against 108)."""
    last = part.groupby("loss", sort=False).last()
    if not {MULTICLASS, MULTITASK} <= set(last.index):
        return None, "an objective is missing"
    k = {name: int(last.loc[name, "iteration"]) for name in (MULTICLASS, MULTITASK)}
    done = {name: last.loc[name, "stopped"] == "criterion" for name in k}
    shown = {name: str(k[name]) if done[name] else f"more than {k[name]}" for name in k}
    numbers = f"outer iterations: multiclass {shown[MULTICLASS]}, multitask {shown[MULTITASK]}"
    if done[MULTICLASS] and (done[MULTITASK] or k[MULTITASK] >= k[MULTICLASS]):
        return k[MULTICLASS] < k[MULTITASK] or not done[MULTITASK], numbers
    elif done[MULTITASK] and k[MULTICLASS] >= k[MULTITASK]:
        return False, numbers
    else:
        return None, numbers


CLAIMS = (
    Claim("accuracy-logistic", "Sec. 5.3.1, Fig. 5", "Compared with multiclass logistic regression, the multiclass "
          "squared hinge has comparable accuracy (not over a point worse).", ("objectives",),
          lambda t: as_accurate(t, LOGISTIC, -reading.ONE_POINT)),
    Claim("time-logistic", "Sec. 5.3.1, Table 2", "The squared hinge is substantially faster to train than "
          "logistic regression (the "
          "paper: up to ten times in the median).", ("objectives",),
          lambda t: faster(t, MULTICLASS, LOGISTIC, SUBSTANTIAL, claimed=UP_TO)),
    Claim("iteration-logistic", "Sec. 5.3.1", "Iterations with the squared hinge are cheaper than with the "
          "logistic loss, which needs "
          "exponentials for all samples and classes.", ("objectives",), cheaper_iterations),
    Claim("logistic-without-ls", "Sec. 5.3.1", "For the logistic loss, BCD without line search is overall faster than "
          "with it.", ("objectives",), lambda t: faster(t, LOGISTIC, LOGISTIC_LS, 1.0)),
    Claim("accuracy-multitask", "Sec. 5.3.2, Fig. 5", "Compared with the multitask squared hinge, the multiclass one "
          "has overall better accuracy.", ("objectives",), lambda t: as_accurate(t, MULTITASK, 0.0)),
    Claim("rows-multitask", "Fig. 5", "The multiclass squared hinge needs fewer rows than the multitask one for the "
          "same accuracy.", ("objectives",), sparser),
    Claim("time-multitask", "Sec. 5.3.2, Table 2", "The multiclass squared hinge is overall faster to "
          "train than the multitask one.",
          ("objectives",), lambda t: faster(t, MULTICLASS, MULTITASK, 1.0)),
    Claim("iterations-multitask", "Sec. 5.3.2", "The multiclass squared hinge typically stops in fewer outer "
          "iterations than the multitask "
          "one (the paper: 73 against 108 on News20, λ = 1e-3).", ("iterations",), fewer_iterations),
)  # fmt: skip
