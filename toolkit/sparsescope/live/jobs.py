"""Work that would block the page for long (reading data, preparing a problem) in a thread of its own."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What a job gave: ``value``, or ``error`` (one sentence) and ``detail`` (traceback)."""

    value: Any = None
    error: str = ""
    detail: str = ""


class Jobs:
    """Runs one job at a time; only the newest wish counts, and results of older ones are dropped."""

    def __init__(self, name: str = "sparsescope-prepare") -> None:
        self._name = name  # of the thread
        self._lock = threading.Lock()
        self._wish: Callable[[], Any] | None = None
        self._outcome: Outcome | None = None
        self._thread: threading.Thread | None = None
        self._running = False
        self._ticket = 0  # grows with every wish, so that the result of an older one is known as such

    @property
    def busy(self) -> bool:
        """True while a job is waiting, running, or done but not collected."""
        with self._lock:
            return self._wish is not None or self._running or self._outcome is not None

    def start(self, job: Callable[[], Any]) -> None:
        """Run ``job`` in the thread. It replaces a job that has not begun; the result of a running one will be void."""
        with self._lock:
            self._wish, self._outcome = job, None
            self._ticket += 1
            if not self._running:
                self._running = True
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def cancel(self) -> None:
        """Forget all jobs. A running one ends by itself; nobody collects its result."""
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
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._lock:
                job, self._wish = self._wish, None
                ticket = self._ticket
                if job is None:
                    self._running = False
                    return
            try:
                outcome = Outcome(job())
            except Exception as problem:  # whatever went wrong belongs on the page, not in a dead thread
                outcome = Outcome(error=_sentence(problem), detail=traceback.format_exc())
            with self._lock:
                if ticket == self._ticket:
                    self._outcome = outcome


def _sentence(problem: Exception) -> str:
    text = str(problem).strip()
    return text if isinstance(problem, ValueError) and text else f"{type(problem).__name__}: {text}"
