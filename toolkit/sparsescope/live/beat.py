"""The beat of frames: the time at which the next one is due, later on a server that is late."""

from __future__ import annotations

import time
from collections.abc import Callable

FRAME_PERIOD = 0.045  # seconds between frames: the page and the solver share the machine
LATE_PERIOD = 0.2  # the same when the shell polls late
SLOWEST_PERIOD = 1.0  # the same on a server whose event loop is late, at most
LATE = 0.12  # mean seconds between polls from which the server counts as busy
LATE_LOOP = 0.03  # the same for the mean delay of the server's event loop
SLOWING = 3.0  # seconds that are added to the time between frames for a second of that delay
LEAST = 0.5  # of the time between frames, from a late frame to the next one


class Beat:
    """The beat of one page's frames. A frame that goes out a little late does not move the beat: the next one is due
    when it would have been. ``clock`` returns seconds and can be replaced in tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.lateness = 0.0  # of the server's event loop, the same for all its pages
        self.crowded = False  # whether other pages share the server
        self._clock = clock
        self._due = float("-inf")
        self._polled: float | None = None
        self._interval = 0.0

    @property
    def late(self) -> bool:
        """True if the server is so busy that its pages say so."""
        return self._interval > LATE or self.lateness > LATE_LOOP

    @property
    def period(self) -> float:
        """Seconds between two frames: a late server sends fewer, to all its pages alike.

        Where one page is alone, a loop that is a few milliseconds late only waits for its own solver: no other page
        gains by what this one leaves out.
        """
        if self._interval > LATE:
            return LATE_PERIOD
        free = 0.0 if self.crowded else LATE_LOOP
        return min(FRAME_PERIOD + SLOWING * max(0.0, self.lateness - free), SLOWEST_PERIOD)

    def polled(self) -> None:
        """Measure the interval between calls of the shell: a busy server calls late."""
        now = self._clock()
        if self._polled is not None:
            self._interval += 0.1 * (min(now - self._polled, 1.0) - self._interval)
        self._polled = now

    def wait(self) -> float:
        """Seconds until the next frame is due; 0: it is."""
        return max(0.0, self._due - self._clock())

    def start(self) -> None:
        """The page begins anew: the first frame is due at once."""
        self._due = float("-inf")

    def sent(self) -> None:
        """A frame went out, in time, late, or early because somebody waited for an answer."""
        now, period = self._clock(), self.period
        self._due = min(max(self._due + period, now + LEAST * period), now + period)
