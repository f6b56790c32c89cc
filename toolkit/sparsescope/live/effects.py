"""Commands of the page that have taken effect: a frame repeats their ids, so that the page can measure the delay.

A session's commands are queued, and that one was *taken* does not mean that anything changed yet. So each command comes
with a condition on the session that holds once there is something to see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

PATIENCE = 5.0  # seconds after which a command counts as applied whatever its condition
BUSY = ("running", "compiling")

Condition = Callable[[], bool]


class Effects:
    """Ids of commands that wait for their effect, and of those that have had it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: list[tuple[list[str], Condition, float]] = []
        self._done: list[str] = []

    def done(self, ids: Iterable[str]) -> None:
        """These have their effect now."""
        self._done += ids

    def expect(self, ids: list[str], condition: Condition) -> None:
        """These have their effect as soon as ``condition()`` holds."""
        if ids:
            self._waiting.append((ids, condition, self._clock() + PATIENCE))

    def give_up(self) -> None:
        """Count all commands as done: what they waited for no longer exists (a new problem)."""
        for ids, _, _ in self._waiting:
            self._done += ids
        self._waiting = []

    def settle(self) -> None:
        """Look at the conditions."""
        still = []
        for ids, condition, limit in self._waiting:
            if condition() or self._clock() > limit:
                self._done += ids
            else:
                still.append((ids, condition, limit))
        self._waiting = still

    @property
    def pending(self) -> bool:
        """True if there are ids to tell the page."""
        return bool(self._done)

    def collect(self) -> list[str]:
        """The ids for the next frame, once."""
        found, self._done = self._done, []
        return found


def of_command(session: Any, action: str) -> Condition:
    """The condition for ``run``, ``pause``, ``step`` or ``reset``; to be made *before* the command is given."""
    trace, events = session.trace, len(session.trace)
    if action == "run":
        return lambda: session.status().mode in (*BUSY, "finished", "error")
    if action == "pause":
        return lambda: session.status().mode not in BUSY
    if action == "reset":
        return lambda: session.trace is not trace and len(session.trace) > 0
    return lambda: session.trace is not trace or len(session.trace) > events or session.status().mode == "error"


def of_tweak(session: Any) -> Condition:
    """The condition for a tweak; to be made *before* it. It holds when the session's status takes the change into
    account: the point under the new problem then stands in the trace behind its mark. A change that a newer one
    replaced before it was obeyed has its effect with that one."""
    trace, marks, wanted = session.trace, len(session.trace.marks), session.generation + 1

    def holds() -> bool:
        status = session.status()
        if status.mode == "error" or session.trace is not trace:
            return True
        left_its_mark = len(session.trace.marks) > marks
        return status.generation >= (wanted if left_its_mark else session.generation)

    return holds


def of_nothing() -> Condition:
    """Return the condition of changes that have their effect at once."""
    return lambda: True
