"""Work that would block the page for long (reading data, preparing a problem) in threads."""

from __future__ import annotations

import contextvars
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..pauses import pausing
from ..runs.turns import TURNS

MOST = 3  # threads of one page: two wishes that were overtaken, and the newest


@dataclass(frozen=True)
class Outcome:
    """Result of a job: ``value``, or ``error`` (one sentence) and ``detail`` (traceback)."""

    value: Any = None
    error: str = ""
    detail: str = ""


class Jobs:
    """Runs the newest wish at once, beside older ones, which nobody can stop; their results are dropped. At most
    :data:`MOST` jobs run at a time: the newest wish then waits until one of them ends."""

    def __init__(self, name: str = "sparsescope-prepare") -> None:
        self._name = name  # of the threads
        self._lock = threading.Lock()
        self._wish: Callable[[], Any] | None = None  # what waits for a thread
        self._outcome: Outcome | None = None
        self._threads: list[threading.Thread] = []
        self._running = 0
        self._ticket = 0  # grows with every wish, so that the result of an older one is known as such

    @property
    def busy(self) -> bool:
        """True while a job is waiting, running, or done but not collected."""
        with self._lock:
            return self._wish is not None or self._running > 0 or self._outcome is not None

    def start(self, job: Callable[[], Any]) -> None:
        """Run ``job`` in a thread. It replaces a job that has not begun; the results of running ones will be void."""
        context = contextvars.copy_context()  # who asks, and so which uploads can be seen
        with self._lock:
            self._wish, self._outcome = (lambda: context.run(job)), None
            self._ticket += 1
            if self._running < MOST:
                self._running += 1
                self._threads = [thread for thread in self._threads if thread.is_alive()]
                self._threads.append(threading.Thread(target=self._work, name=self._name, daemon=True))
                self._threads[-1].start()

    def cancel(self) -> None:
        """Forget all jobs. Running ones end by themselves; nobody collects their results."""
        with self._lock:
            self._wish = self._outcome = None
            self._ticket += 1

    def collect(self) -> Outcome | None:
        """The result of the newest job, once; None while there is none."""
        with self._lock:
            outcome, self._outcome = self._outcome, None
            return outcome

    def wait(self, timeout: float) -> bool:
        """Block until no job is running (for tests). False after ``timeout`` seconds."""
        end = time.monotonic() + timeout
        for thread in list(self._threads):
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while True:
            with self._lock:
                job, self._wish = self._wish, None
                ticket = self._ticket
                if job is None:
                    self._running -= 1
                    return
            turn = TURNS.place()
            try:
                turn.take(urgent=True)  # preparing is a computation like any other
                with pausing(turn.rest):
                    outcome = Outcome(job())
            except Exception as error:  # whatever went wrong belongs on the page, not in a dead thread
                outcome = Outcome(error=_sentence(error), detail=traceback.format_exc())
            finally:
                turn.give_back()
            with self._lock:
                if ticket == self._ticket:
                    self._outcome = outcome


def _sentence(error: Exception) -> str:
    text = str(error).strip()
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"
