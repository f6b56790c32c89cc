"""Sending: the messages that are on their way to a page, over Bokeh's channel or the page's own websocket."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from panel.io.state import set_curdoc

from .pane import ExplorerPane, Message, public, summary
from .parcel import Parcel

logger = logging.getLogger(__name__)


class Sending:
    """Messages of one page on their way down, in order; see :class:`sparsescope.dashboard.bridge.Bridge`."""

    pane: ExplorerPane
    explorer: Any
    on_summary: Callable[[str], None] | None
    _local: bool
    _closed: bool
    _document: Any
    _out: list[Parcel]
    _joining: Any
    _wire: Any
    _mute: bool
    _writing: asyncio.Future[None] | None
    _showing: asyncio.Future[None] | None
    _last_error: str

    def look(self) -> None:
        """Look for news and send them by the page's link."""
        raise NotImplementedError

    def _look_soon(self, delays: Sequence[int]) -> None:
        if self._document is None:
            return
        for delay in delays:
            asyncio.get_running_loop().call_later(delay / 1000, self.look)

    @property
    def _session(self) -> Any:
        return getattr(getattr(self._document, "session_context", None), "session", None)

    def _carry(self, parcel: Parcel) -> None:
        self._out.append(parcel)
        self._flush()

    def _send(self, header: Message, buffers: list[bytes] | None = None) -> None:
        """Put a message on its way; it goes with the next :meth:`_flush`."""
        self._out.append(self.parcel(header, buffers))

    def parcel(self, header: Message, buffers: list[bytes] | None = None) -> Parcel:
        """Return a message as this server's pages may see it."""
        return Parcel(header if self._local else public(header), buffers)

    def join(self, wire: Any) -> bool:
        """Begin to change over to a websocket; whether that can be done."""
        if self._closed or self.explorer is None or self._joining is not None:
            return False
        self._joining = wire
        self._send({"type": "wire"})
        self._look_soon((0,))
        return True

    def _change_over(self) -> None:
        """Go on with the other websocket: everything that the page sent on Bokeh's channel has come."""
        if self._joining is not None and self._mute:
            self._wire, self._mute = self._joining, False
            self._wire.send(Parcel({"type": "open"}))
            self._flush()

    def part(self, wire: Any) -> None:
        """Go back to Bokeh's channel: the page begins anew there if it is still open."""
        if wire is not None and wire is self._joining:
            self._joining = self._wire = None
            self._mute = False
            self._out = [entry for entry in self._out if entry.type != "wire"]

    def _summarise(self, header: Message) -> None:
        """Show what data the page has in its bar, a model of Bokeh's: that needs the document's lock."""
        session, show = self._session, self.on_summary
        if show is None:
            return
        text = summary(header)
        if session is None:
            show(text)
        elif not session.destroyed:
            self._showing = asyncio.ensure_future(self._show_locked(session, lambda: show(text)))

    async def _show_locked(self, session: Any, show: Callable[[], None]) -> None:
        try:
            with set_curdoc(self._document):
                await session.with_document_locked(show)
        finally:
            self._showing = None  # a task holds its context, and with it the document of a page that may be gone

    def _flush(self) -> None:
        """Send what is on its way, over Bokeh's channel one message after the other."""
        session = self._session
        if session is not None and self._wire is None:
            if self._out and self._writing is None and not self._mute and not session.destroyed:
                self._writing = asyncio.ensure_future(self._write_all(session))
            return
        while self._out and not self._mute:
            parcel = self._next()
            if parcel is None:
                continue
            if self._wire is not None:
                self._wire.send(parcel)
            else:
                self.pane._send_msg({"header": parcel.text, "block": parcel.block})

    async def _write_all(self, session: Any) -> None:
        try:
            while self._out and not self._mute and not session.destroyed:
                parcel = self._next()
                if parcel is not None:
                    await self.pane.write(session, {"header": parcel.text, "block": parcel.block})
        finally:
            self._writing = None

    def _next(self) -> Parcel | None:
        """Take the first message that is on its way; None if it is no JSON, which the page hears."""
        parcel = self._out.pop(0)
        if parcel.type == "wire":  # the last word on Bokeh's channel
            self._mute = True
        if parcel.type == "problem":
            self._summarise(parcel.header)
        try:
            _ = parcel.text
        except (ValueError, TypeError) as error:
            self._fail(error)
            return None
        return parcel

    def _fail(self, error: Exception) -> None:
        detail = "".join(traceback.format_exception(error))
        if detail == self._last_error:  # the timer comes back every few milliseconds: say it once
            return
        self._last_error = detail
        logger.error("the explorer failed: %s", error, exc_info=error)
        self._send({"type": "error", "text": f"{type(error).__name__}: {error}", "detail": detail})
