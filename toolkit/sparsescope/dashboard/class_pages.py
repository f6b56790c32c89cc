"""`/class`: the teacher's board behind a secret link, the students' page, their websocket, table and QR code.

All of it stands behind the gate of the server, which has judged Host, Origin and token before a handler is made.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import secrets
import time
from typing import Any

from tornado.web import HTTPError, RequestHandler
from tornado.websocket import WebSocketHandler

from ..classroom.tallies import as_csv
from .assets import module_address
from .gate import port_of
from .hub import Hub
from .limits import TooMuch, check_fragment
from .writing import write

try:
    import segno
except ImportError:  # an extra: sparsescope[class]
    segno = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

ENTRIES = BOARD, STUDENT, STRIP = "class/board.js", "class/student.js", "class/strip.js"
STYLE = "class.css"
MOST_MESSAGE = 8192  # characters
BURST, RATE = 40, 8  # messages at once, and a second
MOST_IGNORED = 200  # messages beyond that, then the connection ends
DAYS = 30  # for which a browser stays the same student
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = (
    "<!doctype html><html lang='en'><meta charset='utf-8'>"
    "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    "<meta name='referrer' content='no-referrer'><title>sparsescope: {title}</title><body>"
    "<script type='module' src='{module}'></script>"
)


def has_codes() -> bool:
    """Return whether QR codes can be made."""
    return segno is not None


def code_for_terminal(address: str) -> str:
    """Return a QR code of half blocks; empty without the package that makes it."""
    if segno is None:
        return ""
    out = io.StringIO()
    segno.make(address, error="l").terminal(out, compact=True, border=2)
    return out.getvalue()


class _Known(RequestHandler):
    """Handler with the student or teacher behind a request."""

    def initialize(self, hub: Hub) -> None:
        self.hub = hub

    def _name(self, who: str) -> str:
        return f"sparsescope-{who}-{port_of(self.request)}"  # cookies do not tell ports apart

    @property
    def teacher(self) -> bool:
        """True if the browser has the teacher's secret."""
        return self.hub.is_teacher(self.get_cookie(self._name("teacher")))

    def student_key(self, make: bool = False) -> str:
        """Return the key of the student with this browser; empty without a cookie and without leave to make one."""
        secret = self.get_cookie(self._name("student")) or ""
        if not 20 <= len(secret) <= 100:
            if not make:
                return ""
            secret = secrets.token_urlsafe(24)
            self.set_cookie(self._name("student"), secret, httponly=True, samesite="Lax", path="/", expires_days=DAYS)
        return hashlib.sha256(secret.encode()).hexdigest()[:32]

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")

    def refuse(self) -> None:
        """Answer that this is the teacher's."""
        raise HTTPError(403, reason="for the teacher only")


class ClassHandler(_Known):
    """`/class`: the board for the teacher, the page with questions for everybody else."""

    def get(self) -> None:
        """Answer; the secret of the link goes into a cookie and out of the address."""
        key = self.get_argument("key", None)
        if key is not None:
            if not self.hub.is_teacher(key):
                self.refuse()
            self.set_cookie(
                self._name("teacher"), self.hub.key, httponly=True, samesite="Lax", path="/", expires_days=DAYS
            )
            self.redirect("/class")
            return
        entry, title = (BOARD, "the class") if self.teacher else (STUDENT, "questions")
        self.set_header("Content-Security-Policy", POLICY)
        self.finish(PAGE.format(title=title, module=module_address(entry, STYLE)))


class WhoHandler(_Known):
    """`/class/me`: makes a browser a student, and returns whether it is the teacher's."""

    def get(self) -> None:
        """Answer."""
        if not self.teacher:
            self.student_key(make=True)
        self.finish({"teacher": self.teacher})


class TableHandler(_Known):
    """`/class/answers.csv`: all answers, for the teacher."""

    def get(self) -> None:
        """Answer."""
        if not self.teacher:
            self.refuse()
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", "attachment; filename=class-answers.csv")
        self.finish("\ufeff" + as_csv(self.hub.room))  # the mark lets spreadsheets read λ


class CodeHandler(_Known):
    """`/class/code.svg`: the students' address as a QR code, for the board."""

    def get(self) -> None:
        """Answer."""
        if not self.teacher:
            self.refuse()
        if segno is None or not self.hub.address:
            raise HTTPError(404, reason="no QR code")
        out = io.BytesIO()
        segno.make(self.hub.address, error="m").save(out, kind="svg", scale=8, border=2, light="white")
        self.set_header("Content-Type", "image/svg+xml")
        self.finish(out.getvalue())


class ClassSocket(_Known, WebSocketHandler):
    """`/class/ws`: one page of the class."""

    rejoin = page = sent = ""

    def check_origin(self, origin: str) -> bool:
        """Return True: the gate has judged the Origin of every request before a handler is made."""
        return True

    def prepare(self) -> None:
        """Refuse browsers that are neither a student's nor the teacher's."""
        self.student = "" if self.teacher else self.student_key()
        if not self.student and not self.teacher:
            self.refuse()

    def open(self, *_: str) -> None:
        """Enter the class."""
        self._left, self._at, self._ignored = float(BURST), time.monotonic(), 0
        refusal = self.hub.enter(self)
        if refusal:
            self.say(json.dumps({"type": "refused", "text": refusal}))
            self.close(1008, "no place")

    def on_message(self, text: str | bytes) -> None:
        """Take one message: bounded in length, depth and number."""
        now = time.monotonic()
        self._left, self._at = min(self._left + RATE * (now - self._at), float(BURST)), now
        if self._left < 1:
            self._ignored += 1
            if self._ignored > MOST_IGNORED:
                self.close(1008, "too many messages")
            return
        self._left -= 1
        try:
            check_fragment(text)
            if len(text) > MOST_MESSAGE:
                raise TooMuch(f"{len(text)} characters; at most {MOST_MESSAGE} are taken")
            message = json.loads(text)
        except ValueError as error:
            logger.warning("a message to the class was refused: %s", error)
            self.close(1009, "message beyond the limits")
            return
        self.hub.take(self, message)

    def on_close(self) -> None:
        """Leave the class."""
        self.hub.leave(self)

    def say(self, text: str) -> None:
        """Send a text; nobody hears it when the page was closed a moment ago."""
        write(self, text)


def patterns(hub: Hub) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Routes for the server."""
    given = {"hub": hub}
    return [
        (r"/class", ClassHandler, given),
        (r"/class/me", WhoHandler, given),
        (r"/class/ws", ClassSocket, given),
        (r"/class/answers\.csv", TableHandler, given),
        (r"/class/code\.svg", CodeHandler, given),
    ]
