"""Backtracking by Armijo's rule, the line search of the second-order methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

SIGMA, BACKTRACK = 0.01, 0.5


class Search(NamedTuple):
    """Outcome of a line search: the size accepted (or the next one, had there been a further trial), the number of
    trials, and whether a size was accepted."""

    size: float
    trials: int
    taken: bool


def backtrack(
    value: Callable[[float], float], slope: float, slack: float, most: int, before: float = 0.0, sigma: float = SIGMA
) -> Search:
    """Try the sizes 1, ½, ¼ … until value(size) ≤ before + sigma·size·slope + slack.

    Parameters
    ----------
    value
        the objective at a trial of this size, or what it has risen by (``before`` is then 0); NaN where there is none.
        The last trial is the accepted one.
    slope
        derivative of the objective, or of its model, along the step at size 0.
    slack
        what rounding may add.
    most
        largest number of trials.
    before
        objective at size 0.
    sigma
        share of the descent promised by ``slope`` that a trial has to reach.

    Returns
    -------
    Search
        size, trials, and whether the size was accepted.
    """
    size = 1.0
    for trial in range(1, most + 1):
        if value(size) <= before + sigma * size * slope + slack:
            return Search(size, trial, True)
        size *= BACKTRACK
    return Search(size, most, False)
