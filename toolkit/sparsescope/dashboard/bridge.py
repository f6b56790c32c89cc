"""Joins one page in the browser with one `Explorer`: messages up, messages with binary blocks down, and a timer.

Bokeh sends `bytes` inside an event as raw websocket frames (no base64), two frames for each block; explorers therefore
put all arrays of a message into one block. Everything here runs on the server's event loop with the document's lock:
the solver's thread never touches a widget.
"""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import panel as pn
import param
from panel.custom import JSComponent
from panel.io.state import set_curdoc

from ..live.saying import without_paths
from .assets import module_address

logger = logging.getLogger(__name__)

POLL_MS = 20
"""How often the explorer is asked for news. A call without news costs a small fraction of a millisecond."""

QUICK_POLLS_MS = (3, 8, 14)
"""Extra polls after a message: the worker applies a change between two steps, a few milliseconds later."""

Message = dict[str, Any]


class ExplorerPane(JSComponent):
    """The whole body of the page, drawn by the explorer's module."""

    dark = param.Boolean(default=False, doc="Whether the page is dark.")

    module_address = param.String(doc="Where the browser finds the module.")

    _esm = Path(__file__).with_name("shell.js")

    def __init__(self, **params: Any) -> None:
        params.setdefault("module_address", module_address())
        super().__init__(sizing_mode="stretch_width", **params)

    def _process_bokeh_event(self, doc: Any, event: Any) -> None:
        # Panel's version counts the server as busy around every event. The counter is a parameter with watchers, and
        # setting it took more time than all else that happens for a message.
        with set_curdoc(doc):
            self._process_event(event)


def summary(problem: Message) -> str:
    """The data in one line for the page's top bar, from the explorer's `problem` message."""
    sizes = (f"{letter} {problem[letter]:,}".replace(",", "\u202f") for letter in problem["letters"])
    return " · ".join([str(problem["name"]), *sizes])


def public(header: Message) -> Message:
    """A message as strangers may see it: sentences without paths, errors without tracebacks. What is left out is
    logged."""
    told = dict(header)
    if told.get("detail"):
        logger.error(
            "not shown on a page that others see: %s\n%s", told.get("text", told.get("error", "")), told["detail"]
        )
        told["detail"] = ""
    for key in ("text", "error", "message"):
        if (
            header["type"] in ("error", "answer", "frame")
            and isinstance(told.get(key), str)
            and told.get("kind") != "snippet"
        ):
            told[key] = without_paths(told[key])
    if header["type"] == "notices":
        told["notices"] = [without_paths(text) for text in header["notices"]]
    return told


def _send_without_delay() -> None:
    """Switch off Nagle's algorithm for this session's websocket.

    Bokeh sends a message as five small frames. With Nagle's algorithm the last of them waits for the browser's delayed
    acknowledgement, which costs 40 ms a message on Linux: measured, 40 ms against 3 ms from packing to receiving.
    """
    context = pn.state.curdoc.session_context if pn.state.curdoc is not None else None
    session = getattr(context, "session", None)
    for connection in getattr(session, "_subscribed_connections", ()):
        socket: Any = getattr(connection, "_socket", None)
        if hasattr(socket, "set_nodelay") and getattr(socket, "ws_connection", None) is not None:
            socket.set_nodelay(True)


class Bridge:
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
    """

    def __init__(
        self,
        pane: ExplorerPane,
        make_explorer: Callable[[], Any],
        admit: Callable[[], str] = lambda: "",
        local: bool = True,
        left_behind: Callable[[str], Any] = lambda token: None,
    ) -> None:
        self.pane = pane
        self.name = ""  # of the page, as it is registered
        self.explorer: Any = None  # what answers for the page: an Explorer, or another page of the app
        self.on_summary: Callable[[str], None] | None = None
        self._make_explorer = make_explorer
        self._admit, self._local, self._left_behind = admit, local, left_behind
        self._document: Any = None
        # Known to this page only. Who has it may go on with the run after a reload, so it cannot be guessed.
        self.token = secrets.token_urlsafe(24)
        self._closed = False
        self._last_error = ""
        pane.on_msg(lambda event: self.receive(event.data))

    def receive(self, message: Message) -> None:
        """A message from the page."""
        if self._closed:
            return
        if not isinstance(message, dict):
            logger.warning("a message of type %s was dropped; messages are objects", type(message).__name__)
            return
        try:
            if message.get("type") == "ready":
                _send_without_delay()
                if self.explorer is None:
                    old = self._left_behind(str(message.get("rejoin") or ""))
                    refusal = "" if old is not None else self._admit()
                    if refusal:
                        self._send({"type": "error", "text": refusal, "detail": ""})
                        return
                    self.explorer = self._adopt(self._make_explorer() if old is None else old)
                    self._send({"type": "rejoin", "token": self.token})
            if self.explorer is not None:
                self.explorer.on_message(message)
        except Exception as error:  # every error is shown on the page: it is visible nowhere else
            self._fail(error)
        self.poll()
        document = pn.state.curdoc
        if document is not None and message.get("type") != "credit":
            for delay in QUICK_POLLS_MS:
                document.add_timeout_callback(self.poll, delay)

    def poll(self) -> None:
        """Send what the explorer has to say now."""
        if self.explorer is None or self._closed:
            return
        try:
            for header, buffers in self.explorer.poll():
                self._send(header, buffers)
        except Exception as error:
            self._fail(error)

    def close(self, *_: object) -> None:
        """End the worker. Safe to call twice, and for a page that was never connected."""
        if self._closed:
            return
        self._closed = True
        if self.explorer is not None:
            self.explorer.close()

    @property
    def connected(self) -> bool:
        """Whether a browser holds a websocket to this page's session."""
        context = None if self._document is None else self._document.session_context
        session = getattr(context, "session", None)
        return session is not None and session.connection_count > 0

    def hand_over(self) -> Any:
        """Give the explorer away, to the page that comes after this one."""
        explorer, self.explorer = self.explorer, None
        self._closed = True
        return explorer

    def _adopt(self, explorer: Any) -> Any:
        explorer.settings_changed = self._write_address
        document = self._document = pn.state.curdoc
        if document is not None:
            # Bokeh's own timer: Panel's counts the server as busy around each call, see ExplorerPane. It ends with the
            # session, and a closed bridge has nothing to say.
            document.add_periodic_callback(self.poll, POLL_MS)
        return explorer

    def _write_address(self, settings: Message) -> None:
        self._send({"type": "address", "query": urlencode(type(self.explorer).query_from_settings(settings))})

    def _send(self, header: Message, buffers: list[bytes] | None = None) -> None:
        if header["type"] == "problem" and self.on_summary is not None:
            self.on_summary(summary(header))
        if not self._local:
            header = public(header)
        block = b"".join(buffers) if buffers else None
        self.pane._send_msg({"header": header, "block": block})

    def _fail(self, error: Exception) -> None:
        detail = "".join(traceback.format_exception(error))
        if detail == self._last_error:  # the timer comes back every few milliseconds: say it once
            return
        self._last_error = detail
        logger.error("the explorer failed: %s", error, exc_info=error)
        self._send({"type": "error", "text": f"{type(error).__name__}: {error}", "detail": detail})
