"""Places to stop within a step: between two kernels of an iteration others may compute, where computing is shared.

A solver calls :func:`pause` where nothing is half done. By itself that does nothing; a live session, which takes turns
with others (``runs/turns.py``), hands its turn on there if its time is up, and goes on later at the same place. So an
iteration is the same, bit for bit, whether it was interrupted or not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_thread = threading.local()


def pause() -> None:
    """Let others compute, if somebody in this thread's calls shares with them."""
    rest = getattr(_thread, "rest", None)
    if rest is not None:
        began = time.perf_counter()
        rest()
        _thread.rested = rested() + time.perf_counter() - began


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
