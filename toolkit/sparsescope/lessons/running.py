"""Runs of lessons for another process: what a run shows and finds, one after the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .base import no_show

SHOWN, RESULT = "shown", "result"


class ShownRun:
    """A call whose last argument takes pictures, as an iterator of these pictures and of what it returns.

    Parameters
    ----------
    call
        the run of a prediction or a scene.
    arguments
        its arguments before the last one.
    pictures
        whether the pictures are wanted.
    """

    def __init__(self, call: Callable[..., Any], arguments: tuple[Any, ...], pictures: bool) -> None:
        self.call, self.arguments, self.pictures = call, arguments, pictures

    def run(self) -> Iterator[tuple[str, Any]]:
        """Do the run.

        Yields
        ------
        tuple of str and object
            ``"shown"`` with each picture, and at the end ``"result"`` with what the run returned.

        Raises
        ------
        Exception
            what the run raises.
        """
        if not self.pictures:
            yield RESULT, self.call(*self.arguments, no_show)
            return
        news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

        def work() -> None:
            try:
                news.put((RESULT, self.call(*self.arguments, lambda picture: news.put((SHOWN, picture)))))
            except Exception as error:  # raised where the run is iterated over
                news.put(("error", error))

        threading.Thread(target=work, daemon=True, name="sparsescope-shown").start()
        while True:
            kind, value = news.get()
            if kind == "error":
                raise value
            yield kind, value
            if kind == RESULT:
                return
