"""A run that other pages watch: each message of its page is made once, and the same bytes go to everybody.

A page that comes later first gets what was sent so far (`Explorer.so_far`), and from then on the same frames as the
page whose run it is. Its credits are its own: while it draws nothing it gets nothing, and what waits for it is bounded;
a page that fell behind gets the present state in one piece. Nothing that a watching page sends reaches the run.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from ..live.credits import Credits
from .parcel import Parcel

logger = logging.getLogger(__name__)

TOLD = ("problem", "controls", "frame", "error")
"""Messages that go to those who watch. Answers and notices are for the page that asked."""

MOST_HELD = 40
"""Messages that wait for a page that draws slowly. One that needs more gets the present state instead of them."""

LOOKS = {"x", "xlog", "ylog"}
"""Settings of the charts' axes: the browser follows them by itself."""

NOT_YOURS = "This is not your run: go on by yourself to change something. What you tried changed nothing."

Message = dict[str, Any]


class Watcher:
    """A page that watches a run.

    Parameters
    ----------
    relay : Relay
        the run
    carry : callable
        puts a parcel on its way to the page
    leave : callable
        called when the page asks for its own run
    """

    def __init__(self, relay: Relay, carry: Callable[[Parcel], None], leave: Callable[[], None]) -> None:
        self.relay = relay
        self._carry, self._leave = carry, leave
        self._credits = Credits()
        self._held: deque[Parcel] = deque()
        self._behind = False

    def begin(self) -> None:
        """Bring a page that has seen nothing to the present state."""
        self._credits.start()
        self._held.clear()
        self._behind = True
        self.say()
        self._go_on()

    def say(self) -> None:
        """Tell the page whose run it sees, and whether that rests because its page is away."""
        self._carry(Parcel({"type": "watching", "on": True, "whose": self.relay.whose, "away": self.relay.away}))

    def take(self, parcel: Parcel) -> None:
        """Send a message of the run, now or when the page has drawn what it has."""
        if self._behind:
            return
        self._held.append(parcel)
        if len(self._held) > MOST_HELD:
            self._held.clear()
            self._behind = True
        self._go_on()

    def receive(self, message: Message) -> None:
        """Take a message of the page: it may draw and leave, and nothing else."""
        kind = message.get("type")
        if kind == "credit":
            n = message.get("n", 1)
            self._credits.give(n if isinstance(n, int) and 0 <= n <= 100 else 0)
            self._go_on()
        elif kind == "ready":
            self.begin()
        elif kind == "watch":
            self._leave()
        elif kind in ("do", "open", "turbo") or (kind == "set" and not _only_looks(message)):
            self._carry(Parcel({"type": "notices", "notices": [NOT_YOURS]}))

    def _go_on(self) -> None:
        if self._behind and self._credits.left:
            self._behind = False
            self._held.extendleft(reversed(self.relay.so_far()))
        while self._held and (self._held[0].type != "frame" or self._credits.left):
            parcel = self._held.popleft()
            if parcel.type == "frame":
                self._credits.spend()
            self._carry(parcel)


class Relay:
    """The run of one page, for others.

    Parameters
    ----------
    explorer : Explorer
        whose run it is
    whose : str
        whose run it is, for the page: "your teacher"
    prepare : callable
        makes parcels of an explorer's messages, as its own page has them

    Attributes
    ----------
    away : str
        why the run rests, while its page is away
    """

    def __init__(self, explorer: Any, whose: str, prepare: Callable[..., Parcel]) -> None:
        self.explorer, self.whose, self.away = explorer, whose, ""
        self._prepare = prepare
        self._watchers: list[Watcher] = []
        self._so_far: list[Parcel] | None = None  # of this moment: pages that come together share it
        self.on_end: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._watchers)

    def join(self, carry: Callable[[Parcel], None], leave: Callable[[], None]) -> Watcher:
        """Let one more page watch."""
        watcher = Watcher(self, carry, leave)
        self._watchers.append(watcher)
        self.explorer.watched = True
        watcher.begin()
        return watcher

    def part(self, watcher: Watcher) -> None:
        """Forget a page; nothing for one that is not there."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
        self.explorer.watched = bool(self._watchers)

    def tell(self, parcels: list[Parcel]) -> None:
        """Send what the run's own page gets."""
        for parcel in parcels:
            if parcel.type not in TOLD:
                continue
            self._so_far = None
            try:
                _ = parcel.text
            except (TypeError, ValueError):  # its own page is told
                logger.warning("a message of the type %s is no JSON, and was not shown to others", parcel.type)
                continue
            for watcher in list(self._watchers):
                watcher.take(parcel)

    def so_far(self) -> list[Parcel]:
        """Return what was sent so far, made once for pages that ask at the same time."""
        if self._so_far is None:
            self._so_far = [self._prepare(*sending) for sending in self.explorer.so_far()]
        return self._so_far

    def rest(self, away: str) -> None:
        """Tell everybody that the run's page is away, or (an empty text) back."""
        if away != self.away:
            self.away = away
            for watcher in list(self._watchers):
                watcher.say()

    def end(self) -> None:
        """Nobody watches any more. Safe to call twice."""
        self.explorer.relay, on_end, self.on_end = None, self.on_end, lambda: None
        on_end()


def _only_looks(message: Message) -> bool:
    changes = message.get("changes")
    return isinstance(changes, dict) and set(changes) <= LOOKS
