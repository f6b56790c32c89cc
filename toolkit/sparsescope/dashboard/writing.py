"""Writes on websockets whose page may be closed at any moment."""

from __future__ import annotations

import asyncio
import logging

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

logger = logging.getLogger(__name__)


def write(socket: WebSocketHandler, message: str | bytes) -> None:
    """Write a message without waiting for it; a page that was closed a moment ago, or is meanwhile, hears nothing."""
    try:
        written = asyncio.ensure_future(socket.write_message(message, binary=isinstance(message, bytes)))
    except (WebSocketClosedError, StreamClosedError):
        logger.debug("a page was closed before it was told")
    else:
        written.add_done_callback(_ended)


def _ended(written: asyncio.Future[None]) -> None:
    """Take note of how a write ended: asyncio reports errors that nobody looks at, with their traceback."""
    error = None if written.cancelled() else written.exception()
    if isinstance(error, WebSocketClosedError | StreamClosedError):
        logger.debug("a page was closed while a message was on its way to it")
    elif error is not None:
        logger.error("a message was not written: %s", error, exc_info=error)
