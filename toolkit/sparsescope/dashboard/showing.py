"""The run that the teacher shows to the class: who watches it, who has left, and what happens when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ..classroom import Refused
from .bridge import Bridge
from .relay import Relay

WHOSE = "your teacher"
AWAY = "Your teacher's page is away; the run rests until it is back."
LEFT = "You go on by yourself, from the settings of your teacher's run."
ENDED = "Your teacher shows no run any more. You go on by yourself, from its settings."
NONE = "Your teacher shows no run at present."
NO_RUN = "open the explorer in this browser first: its run can be shown"

Message = dict[str, Any]


class Guest(Protocol):
    """One page of the class in the hub; ``student`` is empty for the teacher."""

    student: str

    def say(self, text: str) -> None:
        """Send a text."""


class Showing:
    """The run that is shown.

    Parameters
    ----------
    pages : callable
        the pages of the class that have an explorer, each with its connection
    follows : callable
        whether the class follows the teacher
    changed : callable
        called when there is something new to tell
    """

    def __init__(
        self,
        pages: Callable[[], Iterable[tuple[Guest, Bridge]]],
        follows: Callable[[], bool],
        changed: Callable[[], None],
    ) -> None:
        self._pages, self._follows, self._changed = pages, follows, changed
        self._relay: Relay | None = None
        self._wish: dict[str, bool] = {}  # of students who said that they watch, or that they do not

    @property
    def on(self) -> bool:
        """True if a run is shown."""
        return self._relay is not None

    def is_apart(self, student: str) -> bool:
        """Return whether a student has left to go on alone."""
        return self._wish.get(student) is False

    def invite(self) -> None:
        """Forget who has left: the teacher invites everybody anew."""
        self._wish.clear()
        for guest, bridge in list(self._pages()):
            self.attach(guest, bridge)

    def begin(self, guest: Guest) -> None:
        """Show the run of the teacher's page that asks, or of one that is open.

        Raises
        ------
        Refused
            if the teacher has no page with a run.
        """
        mine = [(other, bridge) for other, bridge in self._pages() if not other.student and can_show(bridge)]
        own = [bridge for other, bridge in mine if other is guest]
        if not mine:
            raise Refused(NO_RUN)
        bridge = own[0] if own else mine[-1][1]
        if self._relay is not None and self._relay.explorer is bridge.explorer:
            return
        self.end()
        bridge.go_on(LEFT)  # in case this page watched another one
        self._relay = bridge.explorer.relay = Relay(bridge.explorer, WHOSE, bridge.parcel)
        self._relay.on_end = self._ended
        self.invite()
        self._changed()

    def end(self) -> None:
        """Show no run any more. Safe to call twice."""
        if self._relay is not None:
            self._relay.end()

    def attach(self, guest: Guest, bridge: Bridge) -> None:
        """Let a page watch that has come, if its student does."""
        if guest.student and self._wish.get(guest.student, self._follows()):
            self._watch(guest, bridge)

    def choose(self, guest: Guest, bridge: Bridge | None, on: bool) -> bool:
        """Watch, or go on alone; whether the page has to be the explorer's for that and is not.

        Raises
        ------
        Refused
            if no run is shown.
        """
        if on and self._relay is None:
            raise Refused(NONE)
        if guest.student:
            self._wish[guest.student] = on
        if bridge is None or not can_show(bridge):
            return on
        if on:
            self._watch(guest, bridge)
        else:
            bridge.go_on(LEFT)
        self._changed()
        return False

    def state(self, bridge: Bridge | None) -> Message:
        """Return what a page of the class hears of the run that is shown."""
        relay = self._relay
        return {
            "on": relay is not None,
            "mine": relay is not None and bridge is not None and bridge.explorer is relay.explorer,
            "watching": bridge is not None and bridge.watching is not None,
            "watchers": 0 if relay is None else len(relay),
            "away": "" if relay is None else relay.away,
        }

    def look(self, bridges: Iterable[Bridge]) -> None:
        """Note whether the page is there whose run is shown; to be called from time to time."""
        relay = self._relay
        if relay is not None:
            there = any(bridge.explorer is relay.explorer and bridge.connected for bridge in bridges)
            away = "" if there else AWAY
            if away != relay.away:
                relay.rest(away)
                self._changed()

    def _watch(self, guest: Guest, bridge: Bridge) -> None:
        if self._relay is None or not can_show(bridge):
            return

        def leave() -> None:
            self.choose(guest, bridge, False)

        bridge.watch(self._relay, leave)

    def _ended(self) -> None:
        relay, self._relay = self._relay, None
        for _, bridge in list(self._pages()):
            if bridge.watching is not None and bridge.watching.relay is relay:
                bridge.go_on(ENDED)
        self._changed()


def can_show(bridge: Bridge) -> bool:
    """Return whether the page has a run of the kind that others can watch."""
    return hasattr(bridge.explorer, "so_far")
