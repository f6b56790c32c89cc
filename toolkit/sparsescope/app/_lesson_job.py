"""Job of a lesson: a run in a thread, its pictures, and what it found."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from ..lessons.base import Show, no_show
from ..lessons.running import RESULT, ShownRun
from ..pauses import pausing
from ..runs.processes import Helpers, Job
from ..runs.turns import TURNS
from .base import Message

FRAME = 0.06  # seconds for which a picture of a run is shown at least, so that people can follow it
LONGEST_WAIT = 3.0  # seconds that a run may wait for its pictures altogether
LOOK = 0.1  # seconds between two looks whether somebody still waits for a run in another process
RUNNERS = Helpers(1)  # apart from those of long computations, behind which a lesson would wait


class LessonJob:
    """A run in a separate thread, in turns with the others of the process, whose messages the page reads.

    ``apart``: its runs are done in another process, as on a server with other pages.
    """

    def __init__(self, work: Callable[[LessonJob], None], apart: bool = False) -> None:
        self._work, self._apart = work, apart
        self._said: list[Message] = [{"type": "running", "running": True}]
        self._reported: list[Message] = []
        self._frame: Message | None = None
        self._lock = threading.Lock()
        self._end = threading.Event()
        self.turn = TURNS.place()
        self._last = self._waited = 0.0
        self.running = True
        threading.Thread(target=self._run, daemon=True, name="sparsescope-lesson").start()

    @property
    def stopped(self) -> bool:
        """True if nobody waits any more."""
        return self._end.is_set()

    def stop(self) -> None:
        """End the run between two of its kernels, or at its next picture."""
        self._end.set()
        self.turn.give_up()

    def show(self, about: Message) -> Show:
        """Return a function that takes pictures of the run; it waits a little, so that people can follow."""

        def show(picture: Message) -> None:
            if self._end.is_set():
                raise CancelledError
            with self._lock:
                self._frame = {"type": "frame", **about, "picture": picture}
            # A run that takes long between two pictures shows each of them long enough by itself.
            wait = self._last + FRAME - time.monotonic()
            if wait > 0 and self._waited < LONGEST_WAIT:
                with self.turn.aside():
                    self._end.wait(wait)
                self._waited += wait
            self._last = time.monotonic()

        return show

    def run(self, call: Callable[..., Any], *arguments: Any, about: Message | None = None) -> Any:
        """Return what a run finds; its pictures are shown with what they are about, if that is given."""
        show = no_show if about is None else self.show(about)
        job = RUNNERS.job(ShownRun(call, arguments, about is not None)) if self._apart else None
        if job is None:
            return call(*arguments, show)
        with self.turn.aside(), job:
            return self._follow(job, show)

    def _follow(self, job: Job, show: Show) -> Any:
        """Show the pictures that another process sends, and return its result."""
        job.put("run")
        result = None
        while not self._end.is_set():
            found = job.get(LOOK)
            if found is not None and found[1]:
                return result
            if found is not None:
                kind, value = found[2]
                if kind == RESULT:
                    result = value
                else:
                    show(value)
        raise CancelledError

    def tell(self, message: Message) -> None:
        """Say what was found."""
        with self._lock:
            self._frame = None
            self._said.append(message)

    def report(self, message: Message) -> None:
        """Say something to the teacher's board."""
        with self._lock:
            self._reported.append(message)

    def reports(self) -> list[Message]:
        """Return what was not yet reported."""
        with self._lock:
            reported, self._reported = self._reported, []
        return reported

    def news(self) -> list[Message]:
        """Return what was not yet returned, the newest picture only."""
        with self._lock:
            said, self._said = self._said, []
            frame, self._frame = self._frame, None
        return [*said, *([frame] if frame is not None else [])]

    def _rest(self) -> None:
        if self._end.is_set():
            raise CancelledError
        self.turn.rest()

    def _compute(self) -> None:
        try:
            if self.turn.take(urgent=True):  # somebody has pressed a button and waits
                with pausing(self._rest):
                    self._work(self)
        finally:
            self.turn.give_back()

    def _run(self) -> None:
        try:
            self._compute()
        except CancelledError:
            return  # nobody waits for this run any more
        except (ValueError, TypeError) as error:
            self.tell({"type": "error", "text": str(error), "detail": ""})
        except Exception as error:  # whatever goes wrong is said on the page
            text = f"{type(error).__name__}: {error}"
            self.tell({"type": "error", "text": text, "detail": traceback.format_exc()})
        finally:
            self.running = False
            self.tell({"type": "running", "running": False})
