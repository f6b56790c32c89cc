"""Python's search for unreachable circles, put off while much is made that stays."""

from __future__ import annotations

import gc
import threading


class Uncollected:
    """While something is compiled or imported, Python does not search for unreachable circles.

    A compiler makes a million small objects and keeps most of them to its end, an import keeps all: each search looks
    at all of them, and at everything that was imported before, for next to nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._resume = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._resume = gc.isenabled()
                gc.disable()
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth and self._resume:
                gc.enable()


uncollected = Uncollected()
