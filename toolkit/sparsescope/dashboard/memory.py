"""Memory of pages that have gone, given back to the system.

The allocator keeps what is freed for those who come next. After a lesson of thirty pages that was 170 MB of a server
that nobody used.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable

EVERY = 1.0  # seconds between two times while pages go
AFTER = 5.0  # seconds for which memory is given back after a page has gone: its thread and its objects end later
BUSY_EVERY = 60.0  # seconds between two times while other pages are there: nobody is to wait for it


def give_back() -> None:
    """Give freed memory back to the system, where the C library can (glibc)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


class Memory:
    """Decides when memory is given back.

    Parameters
    ----------
    give_back : callable
        does it
    clock : callable
        seconds
    """

    def __init__(self, give_back: Callable[[], None] = give_back, clock: Callable[[], float] = time.monotonic) -> None:
        self._give_back, self._clock = give_back, clock
        self._pages = 0
        self._last = self._gone = float("-inf")
        self._due = False

    def look(self, pages: int) -> None:
        """Note how many pages there are, and give memory back if some have gone.

        Parameters
        ----------
        pages : int
            explorers at present
        """
        now = self._clock()
        if pages < self._pages:
            self._gone, self._due = now, True
        self._pages = pages
        if self._due and now - self._last >= (BUSY_EVERY if pages else EVERY):
            self._last, self._due = now, pages == 0 and now - self._gone < AFTER
            self._give_back()
