"""Joins one page in the browser with one `Explorer`: messages up, messages with binary blocks down, and a timer.

Bokeh sends `bytes` inside an event as raw websocket frames (no base64), two frames for each block; explorers therefore
put all arrays of a message into one block. Everything here runs on the server's event loop: the solver's thread never
touches a widget. Messages are written one after the other, in order, whatever Panel does with the document meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import panel as pn

from ..datasets.uploads import Shelf, visible
from ..live.inbox import Inbox
from .lateness import Lateness
from .pane import ExplorerPane as ExplorerPane
from .pane import Message, send_without_delay, websocket_request
from .pane import public as public
from .pane import summary as summary
from .parcel import Parcel
from .relay import Relay, Watcher
from .sending import Sending

logger = logging.getLogger(__name__)

POLL_MS = 20
"""How often the explorer is asked for news. A call without news costs a small fraction of a millisecond."""

CROWDED_MS = 10
"""The least time between two of these calls where several pages share the server."""

QUICK_POLLS_MS = (3, 8, 14)
"""Extra polls after a message: the worker applies a change between two steps, a few milliseconds later."""

GATHER_MS = 15
"""Commands that come within this time of each other are merged: of a slider's values only the last one is applied."""

ALONE_SECONDS = 2.0
"""After this time without a page a run rests; it goes on when the page is loaded again."""

RETRY_MS, RETRIES, RETRIES_FULL = 200, 5, 50
"""How often a page that was loaded again looks whether the websocket of its past is closed; longer on a full server,
where there is no other place for it."""

AT_ONCE = ("ready", "credit")
"""Messages that are no commands."""

PLACE_LENGTH = 16


class Bridge(Sending):
    """One page's link to its explorer.

    Parameters
    ----------
    pane: the component that carries the messages.
    make_explorer: called without arguments when the page is ready, so that pages which are fetched but never
        opened (robots, link previews) cost no solver work.
    admit: called before that; a sentence why there is no place, or the empty text.
    local: whether only people at this machine see the page; others see an error without paths and lines of
        code, which are in the log.
    left_behind: the explorer that a page with this token had before it was loaded again, or None.
    held: whether the page with this token is still connected: a page that was just loaded again may come before the
        server hears that its old websocket is closed.
    lateness: of the server's event loop, if it is measured.
    has_wire: whether the server has the websocket of `wire.py`, to which the page then changes over.
    shelf_of: the uploads of the browser that made a request (of its websocket).
    crowded: whether the server has other pages.
    """

    def __init__(
        self,
        pane: ExplorerPane,
        make_explorer: Callable[[], Any],
        admit: Callable[[], str] = lambda: "",
        local: bool = True,
        left_behind: Callable[[str], Any] = lambda token: None,
        held: Callable[[str], bool] = lambda token: False,
        lateness: Lateness | None = None,
        has_wire: bool = False,
        shelf_of: Callable[[Any], Shelf] = lambda request: Shelf(),
        crowded: Callable[[], bool] = lambda: False,
    ) -> None:
        self.pane = pane
        self.shelf = Shelf()  # of the browser, known when its websocket is there
        self._shelf_of, self._crowded = shelf_of, crowded
        self.name = ""  # of the page, as it is registered
        self.fixed: frozenset[str] = frozenset()  # settings that the page's place stands for: not in its query
        self.explorer: Any = None  # what answers for the page: an Explorer, or another page of the app
        self.on_summary: Callable[[str], None] | None = None
        self.on_settings: Callable[[], None] = lambda: None  # after the page's settings have changed
        self._make_explorer = make_explorer
        self._admit, self._local, self._left_behind = admit, local, left_behind
        self._held, self._lateness = held, lateness
        self._has_wire = has_wire
        self._joining: Any = None  # the websocket to which the page is changing over
        self._wire: Any = None  # the websocket on which the page is; None: on Bokeh's channel
        self._mute = False  # between the last message on Bokeh's channel and the first one on the other
        self._tries = 0
        self._document: Any = None
        self._inbox = Inbox()
        self._obeyed = self._seen = float("-inf")  # when commands were handed on, and when a page was there
        self._out: list[Parcel] = []
        self.watching: Watcher | None = None  # the run that the page shows instead of its own
        self._writing: asyncio.Future[None] | None = None  # on Bokeh's channel
        self._showing: asyncio.Future[None] | None = None
        # Known to this page only. Who has it may go on with the run after a reload, so it cannot be guessed.
        self.token = secrets.token_urlsafe(24)
        self._closed = False
        self._last_error = ""
        pane.on_msg(lambda event: self.receive(event.data))

    def receive(self, message: Message) -> None:
        """Take a message from the page; called with the document's lock."""
        if self._closed:
            return
        if not isinstance(message, dict):
            logger.warning("a message of type %s was dropped; messages are objects", type(message).__name__)
            return
        if message.get("type") == "wired":
            self._change_over()
            return
        try:
            if message.get("type") == "ready":
                with visible(self._find_shelf()):
                    if not self._begin(message):
                        return
            if self.watching is not None:
                self.watching.receive(message)
            elif self.explorer is not None:
                if message.get("type") in AT_ONCE:
                    with visible(self.shelf):
                        self.explorer.on_message(message)
                else:
                    self._inbox.put(message)
                    self._obey()
        except Exception as error:  # every error is shown on the page: it is visible nowhere else
            self._fail(error)
        self.poll()
        if message.get("type") != "credit":
            self._look_soon(QUICK_POLLS_MS)

    def _begin(self, message: Message) -> bool:
        """Find the explorer of a page that is ready, or make one; whether there is one."""
        send_without_delay()
        self._document = pn.state.curdoc
        self.part(self._joining)  # a page that begins anew begins on Bokeh's channel
        if self.explorer is None:
            token = str(message.get("rejoin") or "")
            old = self._left_behind(token)
            refusal = "" if old is not None else self._admit()
            if old is None and self._held(token) and self._later(message, RETRIES_FULL if refusal else RETRIES):
                return False
            if refusal:
                self._send({"type": "error", "text": refusal, "detail": ""})
                self._flush()
                return False
            self.explorer = self._adopt(self._make_explorer() if old is None else old)
            self._send({"type": "rejoin", "token": self.token, "place": self.place, "wire": self._has_wire})
        return True

    def _find_shelf(self) -> Shelf:
        """The shelf of the browser: its websocket brings the key, which is no part of the page."""
        if self.explorer is None:
            self.shelf = self._shelf_of(websocket_request())
        return self.shelf

    def _later(self, message: Message, most: int) -> bool:
        """Take the message once more in a moment, unless that was done often enough; whether it will be."""
        document = pn.state.curdoc
        if self._tries >= most or document is None:
            return False
        self._tries += 1
        document.add_timeout_callback(lambda: self.receive(message), RETRY_MS)
        return True

    def _obey(self) -> None:
        """Hand on what the page asked for, unless the last time is a moment ago: more may come, and is merged."""
        now = time.monotonic()
        if self._document is not None and now - self._obeyed < GATHER_MS / 1000:
            self._look_soon((GATHER_MS,))
            return
        self._obeyed = now
        messages, shed = self._inbox.take()
        if self.explorer is None:
            return
        if shed:
            self.explorer.tell(shed)
        with visible(self.shelf):
            for message in messages:
                self.explorer.on_message(message)

    def poll(self) -> None:
        """Send what the explorer has to say now."""
        self._collect()
        self._flush()

    def _tick(self) -> None:
        """Look again and again, a late server less often; ends with the page."""
        if self._closed:
            return
        self.look()
        asyncio.get_running_loop().call_later(self._pause(), self._tick)

    def _pause(self) -> float:
        """Seconds until the next look: when a frame is due, and no more than :data:`POLL_MS`."""
        soon = math.inf if self.explorer is None else self.explorer.soon()
        if not self._crowded():
            return min(soon, POLL_MS / 1000)
        late = 0.0 if self._lateness is None else self._lateness.mean
        return min(max(soon, CROWDED_MS / 1000), POLL_MS / 1000) + late

    def look(self) -> None:
        """Hand on what the page asked for, and send what the explorer has to say."""
        if self._closed or self.explorer is None:
            return
        if len(self._inbox) and self.watching is None:
            self._obey()
        self._rest_alone()
        self._collect()
        self._flush()

    def _rest_alone(self) -> None:
        """Let the run rest when its page has been away for a while."""
        now = time.monotonic()
        if self.connected:
            self._seen = now
        elif now - self._seen > ALONE_SECONDS and self.explorer is not None:
            self.explorer.suspend()

    def _collect(self) -> None:
        if self.explorer is None or self._closed or self.watching is not None:
            return
        try:
            if self._lateness is not None:
                self.explorer.loop_is_late(self._lateness.mean)
            self.explorer.crowded = self._crowded()
            with visible(self.shelf):
                parcels = [self.parcel(header, buffers) for header, buffers in self.explorer.poll()]
            self._out += parcels
            if (relay := getattr(self.explorer, "relay", None)) is not None:
                relay.tell(parcels)
        except Exception as error:
            self._fail(error)

    def close(self, *_: object) -> None:
        """End the worker. Safe to call twice, and for a page that was never connected."""
        if self._closed:
            return
        self._closed = True
        if self._joining is not None:
            self._joining.close()
        self._stop_watching()
        # Panel keeps models of a page that is gone for a while: they must not keep its data and its run.
        explorer, self.explorer = self.explorer, None
        self._out.clear()
        self.on_settings, self.on_summary = (lambda: None), None
        if explorer is not None:
            explorer.settings_changed = None
            if getattr(explorer, "relay", None) is not None:
                explorer.relay.end()
            explorer.close()

    @property
    def place(self) -> str:
        """A name of this page's place that may be kept in a cookie: the token cannot be derived from it."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:PLACE_LENGTH]

    @property
    def connected(self) -> bool:
        """True if a browser holds a websocket to this page's session."""
        session = self._session
        return session is not None and session.connection_count > 0

    def hand_over(self) -> Any:
        """Give the explorer away, to the page that comes after this one."""
        self._stop_watching()
        explorer, self.explorer = self.explorer, None
        self._closed = True
        return explorer

    def _adopt(self, explorer: Any) -> Any:
        explorer.settings_changed = self._write_address
        if self._document is not None:
            self._seen = time.monotonic()
            # A timer of the loop itself: Bokeh's and Panel's do a hundred times as much around each call.
            asyncio.get_running_loop().call_later(POLL_MS / 1000, self._tick)
        return explorer

    def _write_address(self, settings: Message) -> None:
        query = type(self.explorer).query_from_settings(settings)
        written = {key: value for key, value in query.items() if key not in self.fixed}
        self._send({"type": "address", "query": urlencode(written)})
        self.on_settings()

    def query(self) -> str:
        """Return the settings of the page as they stand in its address."""
        return urlencode(type(self.explorer).query_from_settings(self.explorer.settings))

    def change(self, changes: Message, notice: str) -> None:
        """Change settings from outside the page, and say so on it; no lock is needed."""
        if self._closed or self.explorer is None or self.watching is not None or not changes:
            return
        self.explorer.tell(notice)
        self._inbox.put({"type": "set", "changes": changes})
        self._look_soon((0,))

    def watch(self, relay: Relay, leave: Callable[[], None]) -> None:
        """Show another page's run; the page's own rests meanwhile.

        Parameters
        ----------
        relay : Relay
            the run
        leave : callable
            called when the page asks for its own run; it is to call :meth:`go_on`
        """
        if self._closed or self.explorer is None or self.watching is not None or self.explorer is relay.explorer:
            return
        self.explorer.suspend()
        self._inbox.take()  # what was asked for a moment ago does not begin while the page shows something else
        self.watching = relay.join(self._carry, leave)

    def go_on(self, notice: str) -> None:
        """Show the page's own run again, from the settings of the run that it watched, and say so."""
        watched = self._stop_watching()
        if watched is None or self._closed or self.explorer is None:
            return
        mine, theirs = self.explorer.settings, watched.relay.explorer.settings
        self._send({"type": "watching", "on": False, "whose": "", "away": ""})
        with visible(self.shelf):
            self.explorer.on_message({"type": "ready", "version": 1})
        changes = {key: value for key, value in theirs.items() if mine.get(key) != value}
        self.explorer.tell(notice)
        if changes:
            self._inbox.put({"type": "set", "changes": changes})
        self._look_soon((0,))

    def _stop_watching(self) -> Watcher | None:
        watched, self.watching = self.watching, None
        if watched is not None:
            watched.relay.part(watched)
        return watched
