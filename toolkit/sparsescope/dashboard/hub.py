"""Link between the pages of a class and its room: messages of students and teacher in, states out, pages that follow.

A student's or teacher's page holds its own websocket (``class_pages.py``). It names the explorer it belongs to by
the secret that only that page has, so the hub knows whose run is going on and whose page follows.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from .. import datasets
from ..classroom import Refused, Room
from ..classroom.tallies import board, own
from ..registry import app_pages
from .bridge import Bridge
from .showing import Showing

logger = logging.getLogger(__name__)

GATHER = 0.2  # seconds in which changes are gathered before states are sent
LOOK = 1.0  # seconds between two looks at who is running
MOST_CONNECTIONS, MOST_OF_ONE = 2000, 8
MOST_ADDRESS = 4000  # characters
BROUGHT = "Your teacher has changed this page: everybody is at this state now."

Message = dict[str, Any]


class Connection(Protocol):
    """One websocket of a page: ``student`` is its key, empty for the teacher."""

    student: str
    page: str
    rejoin: str
    sent: str

    def say(self, text: str) -> None:
        """Send a text."""


class Hub:
    """The class of one server.

    Parameters
    ----------
    room : Room
        its state
    bridges : callable
        the open pages of the server
    routes : mapping
        names of the pages by their paths on this server

    Attributes
    ----------
    key : str
        secret of the teacher's link; kept with the room
    address : str
        where students come; with the token, for the QR code
    """

    def __init__(self, room: Room, bridges: Callable[[], list[Bridge]], routes: Mapping[str, str]) -> None:
        self.room, self._bridges, self._routes = room, bridges, dict(routes)
        self.address = ""
        self.key = self.secret("key")
        self._connections: set[Connection] = set()
        self.showing = Showing(self._pages, lambda: room.follow, self._soon)
        self._sending: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        room.changed = self._soon

    def secret(self, name: str) -> str:
        """Return a secret of this class, the same after a restart if the class is kept."""
        kept = dict(self.room.keeper.all("secret"))
        if name not in kept:
            kept[name] = secrets.token_urlsafe(24)
            self.room.keeper.put("secret", name, kept[name])
            self.room.keeper.flush()
        return str(kept[name])

    def is_teacher(self, key: str | None) -> bool:
        """Return whether this is the teacher's secret."""
        return hmac.compare_digest((key or "").encode(), self.key.encode())

    # ----------------------------------------------------------------------------------------------------- connections
    def enter(self, connection: Connection) -> str:
        """Take a page in; a sentence if there is no place for it."""
        mine = sum(other.student == connection.student for other in self._connections)
        if len(self._connections) >= MOST_CONNECTIONS or mine >= MOST_OF_ONE:
            return "This browser has too many open pages of the class; close some."
        try:
            if connection.student:
                self.room.join(connection.student)
        except Refused as refusal:
            return str(refusal)
        self._connections.add(connection)
        self._soon()
        if self._looking is None:
            self._look()
        return ""

    def leave(self, connection: Connection) -> None:
        """Forget a page that was closed."""
        self._connections.discard(connection)
        if connection.student and not any(other.student == connection.student for other in self._connections):
            self.room.runs(connection.student, False)
        self._soon()

    def take(self, connection: Connection, message: Any) -> None:
        """Obey a message, or say in a sentence why not."""
        try:
            if not isinstance(message, dict) or not isinstance(message.get("type"), str):
                raise Refused("a message is an object with a type")
            known = self._STUDENT if connection.student else self._TEACHER
            if message["type"] not in known:
                raise Refused("this page may not send this message")
            known[message["type"]](self, connection, message)
        except Refused as refusal:
            connection.say(json.dumps({"type": "refused", "text": str(refusal), "id": _short(message)}))

    def bridge_of(self, connection: Connection) -> Bridge | None:
        """Return the open page that a connection belongs to."""
        if not connection.rejoin:
            return None
        given = connection.rejoin.encode()
        found = (b for b in self._bridges() if b.explorer is not None and hmac.compare_digest(b.token.encode(), given))
        return next(found, None)

    def _pages(self) -> list[tuple[Connection, Bridge]]:
        """The pages of the class that have an explorer; the order is that of the bridges."""
        found = [(connection, self.bridge_of(connection)) for connection in self._connections]
        return [(connection, bridge) for connection, bridge in found if bridge is not None]

    # ---------------------------------------------------------------------------------------------------- what is said
    def _hello(self, connection: Connection, message: Message) -> None:
        rejoin, page = message.get("rejoin"), message.get("page")
        connection.rejoin = rejoin if isinstance(rejoin, str) and len(rejoin) < 100 else ""
        connection.page = page if isinstance(page, str) and (page in app_pages or page == "class") else ""
        bridge = self.bridge_of(connection)
        if bridge is not None:
            self._attach(connection, bridge)
        connection.sent = ""
        self._soon()

    def _attach(self, connection: Connection, bridge: Bridge) -> None:
        bridge.on_settings = (lambda: self._led(bridge)) if not connection.student else lambda: None
        if connection.student and hasattr(bridge.explorer, "report"):
            student = connection.student
            bridge.explorer.report = lambda message: self.report(student, bridge.name, message)
        self.showing.attach(connection, bridge)

    def report(self, student: str, page: str, message: Message) -> None:
        """Take the message of a page of this server about its student; see docs/classroom.md for the messages."""
        kinds: dict[str, Callable[[], Any]] = {
            "question": lambda: self.room.ask(message["question"], page),
            "answer": lambda: self.room.answer(student, message, trusted=True),
            "verdict": lambda: self.room.judge(
                student, message["question"], message["right"] is True, message.get("sentence")
            ),
            "measured": lambda: self.room.measure(message["question"], student, message["value"]),
            "run": lambda: self.room.runs(student, message["running"] is True),
        }
        try:
            kinds[message["type"]]()
        except Refused as refusal:
            logger.warning("the class did not take a message of the page %s: %s", page, refusal)

    def _everyone(self, _connection: Connection, message: Message) -> None:
        address = message.get("address")
        if not isinstance(address, str) or len(address) > MOST_ADDRESS:
            raise Refused("the address of a page of this server is needed")
        parts = urlsplit(address)
        name = None if parts.scheme or parts.netloc else self._routes.get(parts.path)
        if name is None:
            raise Refused("everybody can be brought to the pages of this server only")
        query = dict(parse_qsl(parts.query)[:100])
        self.room.lead(place=address)
        self._bring(name, app_pages[name].settings_from_query(query)[0], address, lambda who: True)

    def _led(self, bridge: Bridge) -> None:
        """Let the pages of the class follow the teacher's."""
        if self.room.follow and bridge.explorer is not None:
            made = bridge.query()
            path = next(path for path, name in self._routes.items() if name == bridge.name)
            address = path + (f"?{made}" if made else "")
            self.room.lead(place=address)
            self._bring(bridge.name, bridge.explorer.settings, address, lambda who: not self.showing.is_apart(who))

    def _bring(self, name: str, settings: Mapping[str, Any], address: str, whom: Callable[[str], bool]) -> None:
        for connection in list(self._connections):
            if not connection.student or connection.page in ("", "class") or not whom(connection.student):
                continue  # a phone that only answers; it gets the address as a link
            bridge = self.bridge_of(connection)
            if bridge is not None and bridge.name == name:
                bridge.change({k: v for k, v in settings.items() if bridge.explorer.settings.get(k) != v}, BROUGHT)
            else:
                connection.say(json.dumps({"type": "go", "address": address}))

    def _data(self, _connection: Connection, message: Message) -> None:
        name = message.get("name")
        if not isinstance(name, str) or name not in datasets.names():
            raise Refused(f"the data sets are {', '.join(datasets.names())}")
        for connection in list(self._connections):
            bridge = self.bridge_of(connection)
            if bridge is not None and bridge.explorer.settings.get("dataset", name) != name:
                bridge.change({"dataset": name}, f"Your teacher has changed the data to {name}.")

    def _follow(self, connection: Connection, message: Message) -> None:
        on = message.get("on") is True
        self.room.lead(follow=on)
        bridge = self.bridge_of(connection)
        if on:
            self.showing.invite()
        if on and bridge is not None:
            self._led(bridge)

    def _show(self, connection: Connection, message: Message) -> None:
        if message.get("on") is True:
            self.showing.begin(connection)
        else:
            self.showing.end()

    def _watch(self, connection: Connection, message: Message) -> None:
        if self.showing.choose(connection, self.bridge_of(connection), message.get("on") is True):
            connection.say(json.dumps({"type": "go", "address": "/"}))

    def _ask(self, _connection: Connection, message: Message) -> None:
        given = message.get("question")
        if not isinstance(given, dict):
            raise Refused("a question is an object")
        asked = self.room.ask({**given, "id": self.room.free_name()})
        if message.get("right") is not None:
            try:
                self.room.measure(asked.question.id, "", message["right"])
            except Refused:
                self.room.remove(asked.question.id)
                raise

    _STUDENT: dict[str, Callable[[Any, Connection, Message], None]] = {
        "hello": _hello,
        "answer": lambda hub, who, m: hub.room.answer(who.student, m),
        "name": lambda hub, who, m: hub.room.call(who.student, m.get("text")),
        "box": lambda hub, who, m: hub.room.drop_in(who.student, m.get("text")),
        "run": lambda hub, who, m: hub.room.runs(who.student, m.get("running") is True),
        "watch": _watch,
    }
    _TEACHER: dict[str, Callable[[Any, Connection, Message], None]] = {
        "hello": _hello,
        "ask": _ask,
        "right": lambda hub, who, m: hub.room.measure(m.get("question"), "", m.get("value")),
        "lock": lambda hub, who, m: hub.room.lock(m.get("question"), m.get("on") is True),
        "reveal": lambda hub, who, m: hub.room.reveal(m.get("question"), m.get("on") is True),
        "vote": lambda hub, who, m: hub.room.vote(m.get("question"), m.get("phase")),
        "remove": lambda hub, who, m: hub.room.remove(m.get("question")),
        "slip": lambda hub, who, m: hub.room.judge_slip(m.get("id"), m.get("state")),
        "nickname": lambda hub, who, m: hub.room.judge_name(m.get("number"), m.get("state")),
        "everyone": _everyone,
        "data": _data,
        "follow": _follow,
        "show": _show,
        "watch": _watch,
    }

    # --------------------------------------------------------------------------------------------------------- sending
    def _soon(self) -> None:
        if self._sending is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:  # before the server runs, nobody is there to be told
                return
            self._sending = loop.call_later(GATHER, self._send)

    def _send(self) -> None:
        self._sending = None
        self.room.keeper.flush()
        students = {connection.student for connection in self._connections if connection.student}
        told: dict[str, Message] = {}
        for connection in list(self._connections):
            key = connection.student
            if key not in told:
                told[key] = own(self.room, key) if key else {**board(self.room, len(students)), **self._around()}
            state = {**told[key], "show": self.showing.state(self.bridge_of(connection))}
            text = json.dumps(state, ensure_ascii=False)
            if connection.sent != text:
                connection.sent = text
                connection.say(text)

    def _around(self) -> Message:
        return {"address": self.address, "datasets": datasets.names()}

    def _look(self) -> None:
        """Note whose runs are going on, as long as somebody is there."""
        self._looking = None
        if not self._connections:
            return
        self.showing.look(self._bridges())
        running: dict[str, bool] = {}
        for connection in self._connections:
            bridge = self.bridge_of(connection)
            if connection.student and bridge is not None:
                going = bool(getattr(bridge.explorer, "running", False)) and bridge.connected
                running[connection.student] = running.get(connection.student, False) or going
        for student, going in running.items():
            self.room.runs(student, going)
        self._looking = asyncio.get_running_loop().call_later(LOOK, self._look)

    def close(self) -> None:
        """Write what is kept, and end. Safe to call twice."""
        for timer in (self._sending, self._looking):
            if timer is not None:
                timer.cancel()
        self.room.keeper.close()


def _short(message: Any) -> Any:
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str | int) and len(str(name)) < 50 else None
