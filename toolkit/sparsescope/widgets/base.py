"""Base of the notebook widgets: a page's module, and the object that answers for the page, carried by anywidget."""

from __future__ import annotations

import asyncio
import html
from pathlib import Path
from typing import Any

import anywidget
import traitlets

POLL_SECONDS = 0.03
QUICK_POLL_SECONDS = 0.006  # after a message: the worker applies a change between two steps
LEAST_HEIGHT, MOST_HEIGHT = 320, 2000  # pixels of a compact page
SHELL = Path(__file__).with_name("shell.js").read_text(encoding="utf-8")

Message = dict[str, Any]


def checked_height(height: Any) -> int:
    """Return the height of a widget in pixels.

    Parameters
    ----------
    height
        0, or a number of pixels.

    Returns
    -------
    int
        the height.

    Raises
    ------
    ValueError
        for another value.
    """
    if not (isinstance(height, int) and (height == 0 or LEAST_HEIGHT <= height <= MOST_HEIGHT)):
        raise ValueError(f"height is {height!r}; 0 or from {LEAST_HEIGHT} to {MOST_HEIGHT} pixels are needed")
    return int(height)


class LiveWidget(anywidget.AnyWidget):
    """A page in a notebook cell. The last expression of a cell shows it; ``close()`` ends its work.

    What answers for the page is made when a view is ready, and everything that touches it runs on the event loop that
    handles the widget's messages (JupyterLab may give widgets their own loop, so that they live while a cell runs).
    """

    height = traitlets.Int(0).tag(sync=True)

    def __init__(self, height: int = 0) -> None:
        self._explorer: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._views = 0
        self._last = ""  # the picture that stays when the widget is closed
        super().__init__(height=height)
        self.on_msg(self._receive)

    # ------------------------------------------------------------------------------------------------- for subclasses
    def _made(self) -> Any:
        """Return what answers for the page; called when the first view is ready."""
        raise TypeError(f"{type(self).__name__} does not define _made")

    def _rest(self) -> None:
        """Let the work rest: no view is open."""

    def _repr_text(self) -> str:
        """Return what stands where no widget can be shown."""
        raise TypeError(f"{type(self).__name__} does not define _repr_text")

    def _drawn(self) -> str:
        """Return the present picture of the page as HTML without a kernel; empty if there is none."""
        return ""

    def _picture(self) -> str:
        return self._last or self._drawn()

    # -------------------------------------------------------------------------------------------------------- messages
    def close(self) -> None:
        """End the work and remove the views. Safe to call twice."""
        if self._explorer is not None:
            self._last = self._picture()
        explorer, self._explorer = self._explorer, None
        if self._task is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._task = None
        if explorer is not None:
            explorer.close()
        super().close()

    def _receive(self, _widget: Any, message: Message, _buffers: Any) -> None:
        if message.get("type") == "ping":
            self.send({"type": "pong"})  # the kernel lives
            return
        if message.get("type") == "view":
            self._count_views(1 if message.get("open") else -1)
            return
        if self._explorer is None:
            if message.get("type") != "ready":
                return  # a view of a widget that is closed
            self._start()
        assert self._explorer is not None and self._loop is not None
        self._explorer.on_message(message)
        self._poll()
        if message.get("type") != "credit":
            self._loop.call_later(QUICK_POLL_SECONDS, self._poll)

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._explorer = self._made()
        self._task = self._loop.create_task(self._keep_polling())

    def _poll(self) -> None:
        if self._explorer is not None:
            for header, buffers in self._explorer.poll():
                self.send(header, buffers)

    async def _keep_polling(self) -> None:
        while True:
            soon = POLL_SECONDS if self._explorer is None else self._explorer.soon()
            await asyncio.sleep(min(soon, POLL_SECONDS))
            self._poll()

    def _count_views(self, change: int) -> None:
        """Count the views: without one the work rests, and goes on with the next."""
        self._views = max(0, self._views + change)
        if self._views == 0:
            self._rest()

    # ----------------------------------------------------------------------------------------------------------- texts
    def __repr__(self) -> str:
        return self._repr_text()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget where it can be shown, and a sentence where it cannot (a terminal, a saved page)."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        text = self._repr_text()
        said = f"<p><em>{html.escape(text.strip('<>'))}</em></p>"
        return {**data, "text/plain": text, "text/html": self._picture() + said}, metadata
