"""`/wire`: the binary websocket of a page beside Bokeh's, for messages of the explorer and nothing else.

Bokeh's channel takes the document's lock, callbacks of the next tick and five frames for each message; that cost more
than half of a frame's processor time. A page begins on Bokeh's channel, where its session was checked, gets its secret
there, and shows it here. Both sides then change over one after the other, so that no message overtakes another:

    page   ── here: {"wire": secret} ─────▶ server
    page   ◀─ Bokeh: {"type": "wire"} ───── server    the last message of the server on Bokeh's channel
    page   ── Bokeh: {"type": "wired"} ───▶ server    the last message of the page there
    page   ◀─ here: {"type": "open"} ────── server

Messages of the page are JSON texts. Those of the server are JSON texts too, or, with a block of arrays, one binary
message: the length of the header (four bytes, the lowest first), the header padded with spaces so that the block begins
at a multiple of 8, and the block. Where this websocket is not to be had (``panel serve``, a proxy without it), the page
stays on Bokeh's channel.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from tornado.web import RequestHandler
from tornado.websocket import WebSocketHandler

from .limits import check_fragment
from .parcel import Parcel
from .writing import write

logger = logging.getLogger(__name__)

JOIN_SECONDS = 30.0  # within which a new websocket has to show its secret
PING_SECONDS = 25.0  # proxies close websockets that are silent for a minute


class WireHandler(WebSocketHandler):
    """One page's websocket. ``find`` returns the bridge with a secret, or None."""

    def initialize(self, find: Callable[[str], Any]) -> None:
        self.find = find
        self.bridge: Any = None
        self._waiting: asyncio.TimerHandle | None = None

    def check_origin(self, origin: str) -> bool:
        """Return True: the gate has judged the Origin of every request before a handler is made."""
        return True

    @property
    def ping_interval(self) -> float:
        """Seconds between two signs of life."""
        return PING_SECONDS

    def open(self, *_: str) -> None:
        """Wait for the secret, for a while."""
        self.set_nodelay(True)
        self._waiting = asyncio.get_running_loop().call_later(JOIN_SECONDS, self.close, 1008, "no secret")

    def on_message(self, text: str | bytes) -> None:
        """Take one message: the secret first, then those of the page."""
        try:
            check_fragment(text)
            message = json.loads(text)
        except ValueError as error:
            logger.warning("a message was refused: %s", error)
            self.close(1009, "message beyond the limits")
            return
        if self.bridge is not None:
            self.bridge.receive(message)
            return
        secret = message.get("wire") if isinstance(message, dict) else None
        bridge = self.find(secret) if isinstance(secret, str) else None
        if bridge is None or not bridge.join(self):
            self.close(1008, "no page has this secret")
            return
        self.bridge = bridge
        if self._waiting is not None:
            self._waiting.cancel()

    def on_close(self) -> None:
        """Give the page back to Bokeh's channel."""
        if self._waiting is not None:
            self._waiting.cancel()
        bridge, self.bridge = self.bridge, None  # Tornado's timers may hold this handler for a while
        if bridge is not None:
            bridge.part(self)

    def send(self, parcel: Parcel) -> None:
        """Send one message; a page that was closed a moment ago hears nothing."""
        write(self, parcel.packed)


def patterns(find: Callable[[str], Any]) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Routes for the server."""
    return [(r"/wire", WireHandler, {"find": find})]
