"""A server's address behind which every byte is counted as it goes over the wire, headers and websockets included."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from types import TracebackType

CHUNK = 1 << 16
COUNTS = "every byte from the server: answers with their headers and all websocket messages, as sent"


class Counted:
    """Passes connections on to a server of this machine, as a context.

    Parameters
    ----------
    port : of the server

    ``url`` is the address to go to instead, and ``received`` the bytes that have come from the server so far.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self.url, self.received = "", 0
        self._loop = asyncio.new_event_loop()
        self._bound = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True)

    def __enter__(self) -> Counted:
        self._thread.start()
        self._bound.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()

    async def _run(self) -> None:
        self._ended = asyncio.Event()
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.url = f"http://localhost:{server.sockets[0].getsockname()[1]}/"
        self._bound.set()
        await self._ended.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):  # a side that has gone has no more to say
            back, there = await asyncio.open_connection("localhost", self._port)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, there, False))
                group.create_task(self._pass(back, writer, True))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: bool) -> None:
        try:
            while data := await reader.read(CHUNK):
                self.received += len(data) * counts
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
