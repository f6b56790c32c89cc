"""Runs of lessons for another process: what a run shows and finds, one after the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from .base import no_show

SHOWN, RESULT, FAILED = "shown", "result", "failed"
MOST_WAITING = 8  # pictures that nobody has taken yet; the run waits beyond them
LOOK = 0.1  # seconds between two looks whether somebody still takes them


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
        """Do the run, which waits while nobody takes its pictures, and ends at the next one when nobody iterates.

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
        news: queue.Queue[tuple[str, Any]] = queue.Queue(MOST_WAITING)
        left = threading.Event()

        def put(kind: str, value: Any) -> None:
            while not left.is_set():
                try:
                    return news.put((kind, value), timeout=LOOK)
                except queue.Full:
                    continue
            raise CancelledError

        def work() -> None:
            try:
                try:
                    put(RESULT, self.call(*self.arguments, lambda picture: put(SHOWN, picture)))
                except Exception as error:  # raised where the run is iterated over
                    put(FAILED, error)
            except CancelledError:
                return  # nobody iterates any more

        threading.Thread(target=work, daemon=True, name="sparsescope-shown").start()
        try:
            while True:
                kind, value = news.get()
                if kind == FAILED:
                    raise value
                yield kind, value
                if kind == RESULT:
                    return
        finally:
            left.set()
