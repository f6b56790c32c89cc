"""Lateness of the event loop: measured by a heartbeat, reported to the workers and to the pages."""

from __future__ import annotations

import asyncio
from typing import Any

from ..runs.turns import TURNS, Turns

BEAT = 0.05  # seconds between two looks
WEIGHT = 0.2  # of the newest look in the mean
MOST = 1.0  # seconds; a longer delay (a suspended machine) counts as this


class Lateness:
    """Mean delay of timers in seconds, and the worst of the last seconds."""

    def __init__(self, turns: Turns = TURNS) -> None:
        self.mean = self.worst = 0.0
        self._turns = turns
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: Any) -> None:
        """Begin to measure; called on the loop."""
        self._beat(loop, loop.time())

    def stop(self) -> None:
        """End the heartbeat."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._turns.loop_is_late(0.0)

    def saw(self, delay: float) -> None:
        """Take one measured delay."""
        delay = min(max(delay, 0.0), MOST)
        self.mean += WEIGHT * (delay - self.mean)
        self.worst = max(delay, 0.98 * self.worst)
        self._turns.loop_is_late(self.mean)

    def _beat(self, loop: Any, due: float) -> None:
        self.saw(loop.time() - due)
        due = loop.time() + BEAT
        self._timer = loop.call_at(due, self._beat, loop, due)
