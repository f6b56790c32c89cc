"""Uploads: files that a page sends with a plain request, kept for the browser they came from.

The gate judges these requests like all others (Host, Origin, token). Beyond that a request has to bring the secret of a
page that is connected now, which no other page can know; the file is written to a private folder under a name of ours,
read within limits, and deleted. What was read lies on the shelf of the browser, which a cookie of this server names:
session-long, out of reach of scripts, sent by this server's own pages only.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tornado.web import Finish, RequestHandler, stream_request_body

from ..datasets.uploads import LIMITS, Limits, Shelf, Upload, UploadReader, read_upload, suffix_of
from ..live.saying import without_paths
from ..runs.processes import Helpers
from ..runs.turns import TURNS

PAGE_HEADER, NAME_HEADER = "X-Sparsescope-Page", "X-Sparsescope-Name"
LONGEST_NAME = 400  # characters of a file's name
ADDRESS = "upload"
MOST_SHELVES = 200
MOST_BYTES = 8 * 2**30  # of all files of all browsers
MOST_READING = 2  # files that are read at a time; others wait
LARGE = 4 * 2**20  # bytes from which a file is read in another process: text of that size takes about a second
LOOK = 0.1  # seconds between two looks whether the page is still there
READERS = Helpers(1)  # apart from those of long computations, behind which a file would wait
KEPT = 30  # times the linger time for which the files of a browser without a page are kept

logger = logging.getLogger(__name__)


def cookie_name(port: int) -> str:
    """Name of the cookie with the key of a shelf. Cookies do not tell ports apart, names have to."""
    return f"sparsescope-uploads-{port}"


class Shelves:
    """The shelves of all browsers of a server."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.reading = asyncio.Semaphore(MOST_READING)
        self._shelves: dict[str, tuple[Shelf, float]] = {}  # by key, with the time of the last use

    def of(self, key: str | None) -> Shelf:
        """Return the shelf of a key; without a known one an empty shelf with a new key."""
        for known, (shelf, _) in self._shelves.items():
            if key and hmac.compare_digest(known.encode(), key.encode()):
                self._shelves[known] = (shelf, time.monotonic())
                return shelf
        return Shelf(self.limits)

    def keep(self, shelf: Shelf) -> None:
        """Keep a shelf that holds something. Raises ValueError where the server has no room."""
        others = [other for other, _ in self._shelves.values() if other is not shelf]
        if len(others) >= MOST_SHELVES or sum(other.size for other in others) + shelf.size > MOST_BYTES:
            raise ValueError("the server's space for uploaded files is full; try again later")
        self._shelves[shelf.key] = (shelf, time.monotonic())

    def sweep(self, in_use: Iterable[Shelf], seconds: float) -> None:
        """Forget the shelves that no page has used for a number of seconds."""
        now, used = time.monotonic(), {shelf.key for shelf in in_use}
        for key, (shelf, last) in list(self._shelves.items()):
            if key in used:
                self._shelves[key] = (shelf, now)
            elif now - last > seconds:
                del self._shelves[key]

    def __len__(self) -> int:
        return len(self._shelves)


@stream_request_body
class UploadHandler(RequestHandler):
    """Takes one file; answers with its name, or with a sentence why it is not taken."""

    def initialize(self, site: Any) -> None:
        """Called by Tornado with what the route holds."""
        self.site = site
        self.folder: Path | None = None
        self.file: Any = None
        self.taken = 0
        self.gone = threading.Event()

    def prepare(self) -> None:
        """Judge the request before a byte of the file is taken."""
        self.set_header("Cache-Control", "no-store")
        if self.request.method != "POST":
            self._refuse(405, "Files are sent with POST.")
        self.bridge = self.site.connected_bridge(self.request.headers.get(PAGE_HEADER, ""))
        if self.bridge is None:
            self._refuse(403, "Files are taken from open pages of this server only. Reload the page and try again.")
        if self.request.headers.get("Content-Type", "") != "application/octet-stream":
            self._refuse(415, "The file has to be sent as application/octet-stream.")
        self.given = unquote(self.request.headers.get(NAME_HEADER, "")[: 3 * LONGEST_NAME])[:LONGEST_NAME]
        self.shelf: Shelf = self.bridge.shelf
        most = self.site.shelves.limits.bytes
        announced = self.request.headers.get("Content-Length", "")
        if announced.isdecimal() and int(announced[:20]) > most:
            self._too_large(most)
        if reason := self.shelf.room():
            self._refuse(409, f"{reason[0].upper()}{reason[1:]}.")
        self.request.connection.set_max_body_size(most + 1)  # type: ignore[union-attr]
        self.folder = Path(tempfile.mkdtemp(prefix="sparsescope-upload-"))  # 0700
        self.path = self.folder / f"{secrets.token_hex(8)}{suffix_of(self.given)}"
        self.file = open(self.path, "xb")  # noqa: SIM115  (closed in `on_finish` or when it is read)

    def data_received(self, chunk: bytes) -> None:
        """Write a part of the file down."""
        self.taken += len(chunk)
        if self.taken > self.site.shelves.limits.bytes:
            self._too_large(self.site.shelves.limits.bytes)
        self.file.write(chunk)

    async def post(self) -> None:
        """Read the file and keep what was read."""
        self.file.close()
        try:
            async with self.site.shelves.reading:
                upload = await asyncio.to_thread(_read, self.path, self.given, self.site.shelves.limits, self.gone)
            upload = self.shelf.put(upload)
            try:
                self.site.shelves.keep(self.shelf)
            except ValueError:
                self.shelf.remove(upload.name)
                raise
        except ValueError as error:
            text = str(error) if self.site.local else without_paths(str(error))
            self._refuse(422, f"{text}.")
        except Exception:
            logger.exception("an upload could not be read")
            self._refuse(422, "The file could not be read: it is damaged, or of another format.")
        self.set_cookie(cookie_name(self.site.port), self.shelf.key, httponly=True, samesite="Strict", path="/")
        self.finish({"name": upload.name})

    def on_finish(self) -> None:
        """Delete the file, whatever has happened."""
        self._clear()

    def on_connection_close(self) -> None:
        """Delete the file of a page that went away, and end the process that reads it."""
        self.gone.set()
        self._clear()

    def _clear(self) -> None:
        if self.file is not None:
            self.file.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _too_large(self, most: int) -> None:
        self._refuse(
            413, f"The file is larger than {most / 2**20:.0f} MB, the most that is taken here. Load it in Python."
        )

    def _refuse(self, status: int, text: str) -> None:
        self.set_status(status)
        self.finish({"error": text})
        raise Finish


def _read(path: Path, given: str, limits: Limits, gone: threading.Event) -> Upload:
    """Read a file: a large one in another process, a small one here, in turn with the other computations."""
    if path.stat().st_size >= LARGE and (upload := _read_elsewhere(path, given, limits, gone)) is not None:
        return upload
    turn = TURNS.place()
    try:
        turn.take(urgent=True)
        return read_upload(path, given, limits)
    finally:
        turn.give_back()


def _read_elsewhere(path: Path, given: str, limits: Limits, gone: threading.Event) -> Upload | None:
    """Read a file in another process, which ends when its page is gone; None where that cannot be."""
    job = READERS.job(UploadReader(path, given, limits))
    if job is None:
        return None
    with job:
        job.put("read")
        upload: Upload | None = None
        while not gone.is_set():
            found = job.get(LOOK)
            if found is not None:
                upload = upload or found[2]
                if found[1]:
                    return upload
    raise ValueError("the page that sent the file is closed")


def patterns(site: Any) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Routes for the server."""
    return [(rf"/{ADDRESS}", UploadHandler, {"site": site})]
