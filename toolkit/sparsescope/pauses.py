"""Places to stop within a step: between two kernels of an iteration others may compute, where computing is shared.

A solver calls :func:`pause` where nothing is half done. By itself that does nothing; a live session, which takes turns
with others (``runs/turns.py``), hands its turn on there if its time is up, and goes on later at the same place. So an
iteration is the same, bit for bit, whether it was interrupted or not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

_thread = threading.local()


def pause() -> None:
    """Give way to other sessions, if a caller in this thread takes turns with them."""
    rest = getattr(_thread, "rest", None)
    if rest is not None:
        began = time.perf_counter()
        rest()
        _thread.rested = rested() + time.perf_counter() - began


def takes_turns() -> bool:
    """Return whether a caller in this thread takes turns with others: else nobody waits for a pause.

    Returns
    -------
    bool
        True within :func:`pausing`
    """
    return getattr(_thread, "rest", None) is not None


def rested() -> float:
    """Return the seconds that this thread has spent in pauses so far; a solver's clock leaves them out.

    Returns
    -------
    float
        seconds
    """
    return float(getattr(_thread, "rested", 0.0))


@contextmanager
def pausing(rest: Callable[[], None]) -> Iterator[None]:
    """Call a function at each :func:`pause` of this thread.

    Parameters
    ----------
    rest : callable
        hands the turn on and returns when it is there again; it is quick if there is nothing to do
    """
    before = getattr(_thread, "rest", None)
    _thread.rest = rest
    try:
        yield
    finally:
        _thread.rest = before


# --------------------------------------------------------------------------------------- long work, cut where it can be
def to_the_end(advance: Callable[[], bool]) -> None:
    """Call what does a part of its work at each call until it returns that it is done, with a pause after each.

    Parameters
    ----------
    advance : callable
        does the next part; returns whether that was the last one
    """
    done = False
    while not done:
        done = advance()
        pause()


def even_parts(count: int, each: float, most: float) -> Sequence[tuple[int, int]]:
    """Cut things of equal cost into parts.

    Parameters
    ----------
    count : int
        how many there are
    each : float
        cost of one
    most : float
        cost of a part, about

    Returns
    -------
    Sequence
        first and stop of each part; one empty part if there is nothing
    """
    size = max(1, int(most // max(each, 1.0)))
    if count <= size:
        return ((0, count),)
    return [(first, min(first + size, count)) for first in range(0, count, size)]


def parts_of(costs: np.ndarray, most: float) -> Sequence[tuple[int, int]]:
    """Cut things of different cost into parts.

    Parameters
    ----------
    costs : np.ndarray
        cost of each
    most : float
        cost of a part, about

    Returns
    -------
    Sequence
        first and stop of each part; one empty part if there is nothing
    """
    if np.add.reduce(costs, dtype=np.float64) < most:
        return ((0, len(costs)),)
    cuts = 1 + np.flatnonzero(np.diff(np.cumsum(costs, dtype=np.float64) // most))
    return list(pairwise([0, *cuts.tolist(), len(costs)]))
