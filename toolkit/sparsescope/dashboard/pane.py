"""The component that carries a page's messages, and what it takes to write them to Bokeh's websocket at once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import panel as pn
import param
from bokeh.document.events import MessageSentEvent
from panel.custom import JSComponent
from panel.io.state import set_curdoc
from panel.models.esm import ESMEvent

from ..live.saying import without_paths
from .assets import module_address

logger = logging.getLogger(__name__)

Message = dict[str, Any]


class ExplorerPane(JSComponent):
    """The whole body of the page, drawn by the explorer's module."""

    dark = param.Boolean(default=False, doc="Whether the page is dark.")

    module_address = param.String(doc="Where the browser finds the module.")

    home = param.String(default="./", doc="Where the explorer is, from this page.")

    _esm = Path(__file__).with_name("shell.js")

    def __init__(self, **params: Any) -> None:
        params.setdefault("module_address", module_address())
        super().__init__(sizing_mode="stretch_width", **params)

    def _process_bokeh_event(self, doc: Any, event: Any) -> None:
        # Panel's version counts the server as busy around every event. The counter is a parameter with watchers, and
        # setting it took more time than all else that happens for a message.
        with set_curdoc(doc):
            self._process_event(event)

    async def write(self, session: Any, data: Message) -> None:
        """Send a message to the browsers of a session; done when it is written.

        Panel's own way holds messages while a page loads and writes those past the lock of the document. Where two of
        its writes overlap, the second waits until something else is sent, and one that a thread holds is dropped. This
        is Bokeh's way to the websocket: in order, one message after the other.
        """
        for model, _ in list(self._models.values()):
            if model.document is None:
                continue
            event = MessageSentEvent(model.document, "bokeh_event", ESMEvent(model=model, data=data))
            for connection in list(session._subscribed_connections):
                await connection.send_patch_document(event)


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


def send_without_delay() -> None:
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


def websocket_request() -> Any:
    """The request with which the present session's websocket was opened; ``None`` without one."""
    context = pn.state.curdoc.session_context if pn.state.curdoc is not None else None
    session = getattr(context, "session", None)
    sockets = [getattr(connection, "_socket", None) for connection in getattr(session, "_subscribed_connections", ())]
    return next((socket.request for socket in sockets if socket is not None and hasattr(socket, "request")), None)
