"""A page without a browser: fetches the explorer's page, opens its websocket and speaks the page's protocol.

It costs a fraction of a millisecond a frame, so that a class of them and their server fit on one machine. Only the
loopback is ever asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

PANE = "ExplorerPane"
MOST_LINES = 50  # errors and notices that are kept
SECONDS = 120.0  # for the page and for the handshake


def plain(value: Any) -> Any:
    """A value of Bokeh's messages as plain Python: its maps are lists of pairs."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        if value.get("type") == "map":
            return {key: plain(entry) for key, entry in value.get("entries", ())}
        return {key: plain(entry) for key, entry in value.items()}
    return value


def wrapped(value: Any) -> Any:
    """The inverse of :func:`plain`, as Bokeh's page writes it."""
    if isinstance(value, dict):
        return {"type": "map", "entries": [[key, wrapped(entry)] for key, entry in value.items()]}
    return [wrapped(entry) for entry in value] if isinstance(value, list) else value


def pane_of(document: Any) -> str | None:
    """The id of the explorer's pane in a document as Bokeh sends it."""
    waiting: deque[Any] = deque([document])
    while waiting:
        value = waiting.popleft()
        if isinstance(value, dict):
            attributes = value.get("attributes")
            if isinstance(attributes, dict) and attributes.get("class_name") == PANE:
                return str(value["id"])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return None


class PageClient:
    """One page.

    Parameters
    ----------
    port : of the server on the loopback
    settings : of the address
    rejoin : the secret of the page that was there before (a reload), or ``None``
    cookie, host : values of these headers, for servers that ask for them
    path : of the page, without slashes; empty for ``sparsescope explore``
    wire : whether the page changes over to the websocket beside Bokeh's, where the server has one

    ``headers`` counts the messages by their type; ``status`` is the newest frame's; ``answers`` are seconds from a
    change to the first frame that carries it; ``waiting`` are changes without an answer yet. ``lost`` is true once the
    connection is gone, and ``endings`` says why each websocket ended that this page did not close itself.
    """

    def __init__(
        self,
        port: int,
        settings: dict[str, Any] | None = None,
        rejoin: str | None = None,
        cookie: str = "",
        path: str = "",
        host: str = "",
        wire: bool = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.port, self.settings, self.rejoin = port, settings or {}, rejoin
        self._named = {name: value for name, value in (("Cookie", cookie), ("Host", host)) if value}
        self._path = path
        self._may_wire, self.on_wire = wire, False
        self._wire: WebSocketClientConnection | None = None
        self._held: list[dict[str, Any]] | None = None  # while the page changes over
        self._reading_wire: asyncio.Future[None] | None = None
        self._clock = clock
        self.headers: dict[str, int] = {}
        self.frame: dict[str, Any] = {}
        self.token: str | None = None
        self.place = ""
        self.watching: dict[str, Any] = {}  # the newest word on whose run the page shows
        self.errors: deque[str] = deque(maxlen=MOST_LINES)
        self.notices: deque[str] = deque(maxlen=MOST_LINES)
        self.answers: list[float] = []
        self.frames_at: list[float] = []
        self.running_seconds, self.running_frames = 0.0, 0  # between frames that said that the run goes on
        self.bytes = 0
        self.waiting: dict[str, float] = {}
        self.lost = self._leaving = False
        self.endings: list[str] = []
        self._socket: WebSocketClientConnection | None = None
        self._count = 0
        self._news = asyncio.Event()

    # ------------------------------------------------------------------------------------------------------- opening
    async def open(self) -> PageClient:
        """Fetch the page, open the websocket, and say that the page is ready."""
        query = urlencode(self.settings)
        where = f"127.0.0.1:{self.port}/"
        asked = HTTPRequest(f"http://{where}{self._path}?{query}", headers=self._named, request_timeout=SECONDS)
        page = (await AsyncHTTPClient(force_instance=True).fetch(asked)).body
        found = re.search(rb'"token":\s*"([^"]+)"', page)
        if not found:
            raise RuntimeError("the page has no session")
        ws = HTTPRequest(
            f"ws://{where}{self._path and self._path + '/'}ws", headers=self._named, request_timeout=SECONDS
        )
        self._socket = await websocket_connect(ws, subprotocols=["bokeh", found[1].decode()])
        await self._read_message()
        await self._send("PULL-DOC-REQ", {})
        content: Any = {}
        while "doc" not in content:
            content, _ = await self._read_message()
        pane = pane_of(content["doc"])
        if pane is None:
            refusal = re.search(r"All \d+ places are taken|does not go by the name", json.dumps(content["doc"]))
            self._socket.close()
            raise RuntimeError(refusal[0] if refusal else "the page shows no explorer")
        self._pane = pane
        self._reading = asyncio.ensure_future(self._read())
        await self.say({"type": "ready", "version": 1, "rejoin": self.rejoin})
        return self

    async def close(self) -> None:
        """Close the websocket, as a closed tab does."""
        self._leaving = True
        for socket in (self._wire, self._socket):
            if socket is not None:
                socket.close()
        if self._socket is not None:
            await self._reading
        if self._reading_wire is not None:
            await self._reading_wire

    def drop(self) -> None:
        """Lose the connection without a word: the server hears of it from the closed socket only."""
        self._leaving = True
        for socket in (self._wire, self._socket):
            if socket is not None and socket.stream is not None:  # type: ignore[attr-defined]
                socket.stream.close()  # type: ignore[attr-defined]

    # ------------------------------------------------------------------------------------------------------- talking
    async def say(self, message: dict[str, Any]) -> None:
        """Send a message of the page."""
        if self._held is not None:
            self._held.append(message)
            return
        if self.on_wire and self._wire is not None:
            await self._wire.write_message(json.dumps(message))
            return
        await self._say_through_bokeh(message)

    async def _say_through_bokeh(self, message: dict[str, Any]) -> None:
        values = wrapped({"model": None, "data": message})
        values["entries"][0][1] = {"id": self._pane}
        event = {"type": "event", "name": "data_event", "values": values}
        await self._send(
            "PATCH-DOC", {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}]}
        )

    async def set(self, **changes: Any) -> str:
        """Change settings; the id of the change."""
        return await self._command({"type": "set", "changes": changes})

    async def do(self, action: str, n: int = 1) -> str:
        """Run, pause, step, reset or cancel; the id of the command."""
        return await self._command({"type": "do", "action": action, "n": n})

    async def _command(self, message: dict[str, Any]) -> str:
        self._count += 1
        name = f"c{self._count}"
        self.waiting[name] = self._clock()
        await self.say({**message, "id": name})
        return name

    async def until(self, happened: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Wait for news until a condition holds; ``TimeoutError`` if it does not."""
        end = time.monotonic() + seconds
        while not happened():
            left = end - time.monotonic()
            if left <= 0 or self.lost:
                said = [*self.errors, *self.endings]
                raise TimeoutError(f"waited in vain for {self.waiting}; newest frame: {self.frame}, {said}")
            self._news.clear()
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), min(left, 1.0))

    # ------------------------------------------------------------------------------------------------------- reading
    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        assert self._socket is not None
        self._count += 1
        # All at once: the parts of two messages must not mix.
        parts = ({"msgid": f"m{self._count}", "msgtype": kind}, {}, content)
        await asyncio.gather(*[self._socket.write_message(json.dumps(part)) for part in parts])

    async def _read_part(self) -> Any:
        """One part of a message. A closed websocket says so once; who asked again would wait for ever."""
        assert self._socket is not None
        part = await self._socket.read_message()
        if part is None:
            raise ConnectionError("the websocket was closed")
        self.bytes += len(part)
        return part

    async def _read_message(self) -> tuple[Any, list[bytes]]:
        """Content and binary blocks of Bokeh's next message."""
        parts: list[Any] = []
        for _ in range(3):
            parts.append(json.loads(await self._read_part()))
        blocks = []
        for _ in range(int(parts[0].get("num_buffers", 0))):
            await self._read_part()  # the block's header
            block = await self._read_part()
            blocks.append(block if isinstance(block, bytes) else block.encode())
        return parts[2], blocks

    async def _read(self) -> None:
        try:
            while True:
                content, _ = await self._read_message()
                for event in content.get("events", ()):
                    values = plain(event.get("msg_data", {}).get("values", {}))
                    if event.get("kind") == "MessageSent" and "data" in values:
                        header = values["data"]["header"]
                        await self._take(json.loads(header) if isinstance(header, str) else header)
        except (ConnectionError, OSError, WebSocketClosedError) as error:
            self._ended("Bokeh's websocket", self._socket, error)
        finally:
            self.lost = True
            self._news.set()

    async def _change_over(self, token: str) -> None:
        """Read the other websocket, after the server's last word on Bokeh's (``dashboard/wire.py``)."""
        asked = HTTPRequest(f"ws://127.0.0.1:{self.port}/wire", headers=self._named, request_timeout=SECONDS)
        self._wire = await websocket_connect(asked)
        await self._wire.write_message(json.dumps({"wire": token}))
        try:
            while (message := await self._wire.read_message()) is not None:
                self.bytes += len(message)
                if isinstance(message, bytes):
                    length = int.from_bytes(message[:4], "little")
                    await self._take(json.loads(message[4 : 4 + length]))
                elif self.on_wire:
                    await self._take(json.loads(message))
                else:
                    self.on_wire, held, self._held = True, self._held or [], None
                    # All are written before anybody else gets a turn, whose message would overtake them.
                    await asyncio.gather(*[self._wire.write_message(json.dumps(waiting)) for waiting in held])
            self._ended("the page's own websocket", self._wire)
        except (ConnectionError, OSError, WebSocketClosedError) as error:
            self._ended("the page's own websocket", self._wire, error)
        self.on_wire = False

    def _ended(self, which: str, socket: Any, error: Exception | None = None) -> None:
        """Note why a websocket ended, unless this page has closed it."""
        if not self._leaving:
            code, reason = getattr(socket, "close_code", None), getattr(socket, "close_reason", None)
            # What was written to a websocket that had ended is an error too, which says less than the server's reason.
            told = (code, reason) if code else (error and f"{type(error).__name__}: {error}",)
            why = [str(part) for part in told if part]
            self.endings.append(f"{which} ended: {', '.join(why) or 'without a reason'}")

    async def _take(self, header: dict[str, Any]) -> None:
        kind = str(header["type"])
        self.headers[kind] = self.headers.get(kind, 0) + 1
        if kind == "frame":
            now = self._clock()
            if self.frame.get("mode") == "running" and self.frames_at:
                self.running_seconds += now - self.frames_at[-1]
                self.running_frames += 1
            self.frame = header
            self.frames_at.append(now)
            for name in header["applied"]:
                asked = self.waiting.pop(name, None)
                if asked is not None:
                    self.answers.append(now - asked)
            await self.say({"type": "credit", "n": 1, "seq": header["seq"], "paint_ms": 1})
        elif kind == "rejoin":
            self.token, self.place = header["token"], header["place"]
            if header.get("wire") and self._may_wire:
                self._reading_wire = asyncio.ensure_future(self._change_over(header["token"]))
        elif kind == "wire":
            self._held = []  # before anybody else gets a turn: the word that follows is the last one there
            await self._say_through_bokeh({"type": "wired"})
        elif kind == "watching":
            self.watching = header
        elif kind == "error":
            self.errors.append(header["text"])
        elif kind == "notices":
            self.notices.extend(header["notices"])
        self._news.set()
