"""Flow control: frames are sent on credit, never queued (protocol.md, *Credits*)."""

from __future__ import annotations

import time
from collections.abc import Callable

WINDOW = 2  # credits in flight: one frame on its way while the page draws the other
SILENCE = 1.0  # seconds without a credit after which the page counts as hidden
HIDDEN_PERIOD = 1.0  # seconds between frames to a page that does not draw


class Credits:
    """Number of frames that the page can take at present. ``clock`` returns seconds and can be replaced in tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._credits = 0
        self._ready = False
        self._heard = 0.0
        self._sent = -1e9

    @property
    def ready(self) -> bool:
        """True once the page has reported that it is ready."""
        return self._ready

    @property
    def silent(self) -> bool:
        """True when frames are out and the page has drawn none of them for a while (a hidden tab)."""
        return self._ready and self._credits <= 0 and self._clock() - self._heard >= SILENCE

    @property
    def left(self) -> bool:
        """True if the page has asked for a frame that it did not get yet."""
        return self._ready and self._credits > 0

    def start(self) -> None:
        """The page is ready: whatever was in flight is lost."""
        self._ready = True
        self._credits = WINDOW
        self._heard = self._clock()
        self._sent = -1e9

    def give(self, n: int) -> None:
        """The page has drawn ``n`` frames. A page can never hold more than the window."""
        if not self._ready:
            return
        self._credits = min(WINDOW, self._credits + max(0, n))
        self._heard = self._clock()

    def stop(self) -> None:
        """The page is gone."""
        self._ready = False
        self._credits = 0

    def since_sent(self) -> float:
        """Seconds since the last frame."""
        return self._clock() - self._sent

    def may_send(self, answer: bool = False) -> bool:
        """Return whether a frame may be sent now; an answer to a command may exceed the credits by one."""
        if not self._ready:
            return False
        if self._credits > (-1 if answer else 0):
            return True
        return self.silent and self.since_sent() >= HIDDEN_PERIOD

    def spend(self) -> None:
        """A frame goes out."""
        self._credits = max(-1, self._credits - 1)
        self._sent = self._clock()
