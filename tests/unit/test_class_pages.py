"""The pages of a class over real connections: secret link, gate, messages of both sides, limits, restart, following."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from serving import serve
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from sparsescope.classroom import Keeper, Room
from sparsescope.commands import serve as serve_command
from sparsescope.dashboard import class_pages, invitation
from sparsescope.dashboard.gate import Gate
from sparsescope.dashboard.page import Site

LONG = 120.0
PATIENT: dict[str, Any] = {"connect_timeout": LONG, "request_timeout": LONG}
NASTY = "<img src=x onerror=alert(1)>"


class Class:
    """A server with a class, and visitors over the loopback."""

    def __init__(self, site: Site, port: int) -> None:
        assert site.hub is not None
        self.site, self.port, self.hub = site, port, site.hub

    async def get(self, path: str, cookie: str = "", **headers: str) -> HTTPResponse:
        named = {**({"Cookie": cookie} if cookie else {}), **headers}
        asked = HTTPRequest(f"http://127.0.0.1:{self.port}{path}", headers=named, follow_redirects=False, **PATIENT)
        return await AsyncHTTPClient().fetch(asked, raise_error=False)

    async def cookie(self, path: str = "/class/me") -> str:
        """The cookie that a browser gets."""
        return (await self.get(path)).headers["Set-Cookie"].partition(";")[0]

    async def teacher(self) -> Visitor:
        return await Visitor.come(self, await self.cookie(f"/class?key={self.hub.key}"))

    async def student(self, cookie: str = "") -> Visitor:
        return await Visitor.come(self, cookie or await self.cookie())


class Visitor:
    """One websocket, with the newest state."""

    def __init__(self, cookie: str, socket: WebSocketClientConnection) -> None:
        self.cookie, self.socket = cookie, socket
        self.state: dict[str, Any] = {}
        self.refused: list[str] = []
        self.others: list[dict[str, Any]] = []
        self.reading = asyncio.ensure_future(self._read())

    @classmethod
    async def come(cls, room: Class, cookie: str, **headers: str) -> Visitor:
        asked = HTTPRequest(f"ws://127.0.0.1:{room.port}/class/ws", headers={"Cookie": cookie, **headers}, **PATIENT)
        made = cls(cookie, await websocket_connect(asked))
        await made.say("hello", page="class")
        await made.until(lambda: made.state)
        return made

    async def _read(self) -> None:
        while (text := await self.socket.read_message()) is not None:
            message = json.loads(text)
            if message["type"] == "refused":
                self.refused.append(message["text"])
            elif message["type"] in ("class", "board"):
                self.state = message
            else:
                self.others.append(message)

    async def say(self, kind: str, **more: Any) -> None:
        await self.socket.write_message(json.dumps({"type": kind, **more}))

    async def until(self, holds: Callable[[], Any]) -> None:
        while not holds():
            await asyncio.sleep(0.01)

    async def refusal(self, kind: str, **more: Any) -> str:
        """Return the answer to a message that is not taken."""
        self.refused.clear()
        await self.say(kind, **more)
        await self.until(lambda: self.refused)
        return self.refused[0]


def attend(
    visit: Callable[[Class], Awaitable[Any]], gate: Gate | None = None, keep: Path | None = None, **options: Any
) -> Any:
    """Run a visitor against a server with a class."""

    def taught() -> Site:
        site = Site(**options)
        site.teach(Room(Keeper(keep)))
        return site

    return serve(lambda site, port: visit(Class(site, port)), gate, taught)


QUESTION = {"kind": "choice", "text": "More or fewer?", "choices": ["more", NASTY], "wrong": {"more": "No."}}


# --------------------------------------------------------------------------------------------------------- who comes in
def test_the_board_stands_behind_its_secret_link() -> None:
    async def visit(room: Class) -> None:
        for path in ("/class?key=", "/class?key=wrong", "/class?key=" + room.hub.key[:-1]):
            assert (await room.get(path)).code == 403
        came = await room.get(f"/class?key={room.hub.key}")
        assert came.code == 302 and came.headers["Location"] == "/class", "the secret leaves the address"
        assert "HttpOnly" in came.headers["Set-Cookie"] and "SameSite=Lax" in came.headers["Set-Cookie"]
        teacher = came.headers["Set-Cookie"].partition(";")[0]
        student = await room.cookie()
        for cookie, board in (("", False), (student, False), (teacher, True)):
            page = await room.get("/class", cookie)
            assert page.code == 200 and (b"board-" in page.body) is board
            assert room.hub.key.encode() not in page.body
            policy = page.headers["Content-Security-Policy"]
            assert "script-src 'self';" in policy and "default-src 'none'" in policy
            module = re.search(rb"src='([^']+)'", page.body)
            assert module is not None and (await room.get("/" + module[1].decode())).code == 200
            assert (await room.get("/class/answers.csv", cookie)).code == (200 if board else 403)
            room.hub.address = "http://example/class"
            assert (await room.get("/class/code.svg", cookie)).code == (200 if board else 403)
        forged = teacher.partition("=")[0] + "=x" * 16
        assert (await room.get("/class/answers.csv", forged)).code == 403
        assert json.loads((await room.get("/class/me", teacher)).body) == {"teacher": True}

    attend(visit)


def test_the_gate_judges_every_address_of_the_class() -> None:
    gate = Gate("0.0.0.0", token="secret")

    async def visit(room: Class) -> None:
        for path in ("/class", "/class/me", f"/class?key={room.hub.key}", "/class/answers.csv", "/class/code.svg"):
            assert (await room.get(path)).code == 403
            assert (await room.get(path, Authorization="token secret", Host="evil.example")).code == 403
        cookie = await room.get("/class/me", Authorization="token secret")
        named = {"Cookie": cookie.headers["Set-Cookie"].partition(";")[0], "Authorization": "token secret"}
        foreign = {**named, "Origin": "http://evil.example"}
        hosted = {**named, "Host": "evil.example"}
        nobody = {"Authorization": "token secret"}
        for headers in (foreign, hosted, nobody, {"Cookie": named["Cookie"]}):
            with pytest.raises(HTTPClientError, match="403"):
                await websocket_connect(HTTPRequest(f"ws://127.0.0.1:{room.port}/class/ws", headers=headers, **PATIENT))

    attend(visit, gate)


def test_a_server_without_a_class_has_none() -> None:
    async def visit(_: Site, port: int) -> None:
        for path in ("class", "class/me", "class/answers.csv"):
            asked = HTTPRequest(f"http://127.0.0.1:{port}/{path}", **PATIENT)
            answer = await AsyncHTTPClient().fetch(asked, raise_error=False)
            assert answer.code == 404

    serve(visit)


# ------------------------------------------------------------------------------------------------------------- messages
def test_a_question_goes_to_the_class_and_its_answers_to_the_board() -> None:
    async def visit(room: Class) -> None:
        teacher, first, second = await room.teacher(), await room.student(), await room.student()
        await teacher.say("ask", question=QUESTION, right=1)
        await first.until(lambda: first.state["questions"])
        (asked,) = first.state["questions"]
        assert asked["text"] == "More or fewer?" and asked["choices"] == ["more", NASTY], "text, written as text"
        assert "wrong" not in asked and "measured" not in asked
        await first.say("answer", question=asked["id"], answer=0, confidence=1, right=True)
        await second.say("answer", question=asked["id"], answer=1, confidence=3)
        await teacher.until(lambda: teacher.state["tiles"] and teacher.state["tiles"][0]["in"]["before"] == 2)
        (tile,) = teacher.state["tiles"]
        assert tile["right"] == 0.5 and tile["talk"] is True and teacher.state["connected"] == 2
        await teacher.say("reveal", question=asked["id"], on=True)
        await first.until(lambda: first.state["questions"][0]["revealed"])
        assert first.state["questions"][0]["sentence"] == "No." and first.state["questions"][0]["right"] is False
        assert "no more predictions" in await first.refusal("answer", question=asked["id"], answer=1)
        table = (await room.get("/class/answers.csv", teacher.cookie)).body.decode()
        assert table.count("student ") == 2
        assert "student 1" in (await room.teacher()).state["tiles"][0]["text"] + table
        await first.say("box", text=NASTY)
        await teacher.until(lambda: teacher.state["box"])
        assert not second.state["box"]
        await teacher.say("slip", id="s1", state="shown")
        await second.until(lambda: second.state["box"])
        assert second.state["box"] == [{"text": NASTY, "state": "shown", "mine": False}]
        assert "from 0 to 1" in await teacher.refusal("ask", question=QUESTION, right=7)
        assert len(room.hub.room.asked) == 1, "a question whose right answer is none is not asked"

    attend(visit)


TEACHERS = (
    "ask",
    "right",
    "lock",
    "reveal",
    "vote",
    "remove",
    "slip",
    "nickname",
    "everyone",
    "data",
    "follow",
    "show",
)


def test_students_have_no_word_in_what_is_the_teachers_and_no_message_ends_the_class() -> None:
    async def visit(room: Class) -> None:
        teacher, student = await room.teacher(), await room.student()
        assert set(TEACHERS) | {"hello", "watch"} == set(room.hub._TEACHER)
        for kind in TEACHERS:
            assert (
                await student.refusal(kind, question=QUESTION, on=True, name="iris")
                == "this page may not send this message"
            )
        nonsense: list[Any] = [None, 5, [], "x", {}, {"question": {}}, ["x"], True, 1e308, {"kind": []}]
        for kind in TEACHERS:
            for value in nonsense:
                room.hub.take(_Silent(""), {"type": kind, **dict.fromkeys(KEYS, value)})
        for kind in room.hub._STUDENT:
            for value in nonsense:
                room.hub.take(_Silent("k"), {"type": kind, **dict.fromkeys(KEYS, value)})
        for message in ([], {}, {"type": []}, {"type": "no"}, 5):
            room.hub.take(_Silent("k"), message)
        await teacher.say("ask", question=QUESTION)
        await student.until(lambda: student.state["questions"])

    attend(visit)


KEYS = ("question", "on", "name", "id", "state", "number", "address", "text", "answer", "confidence", "phase", "right",
        "value", "rejoin", "page", "running")  # fmt: skip


class _Silent:
    """A page that hears nothing; `student` is its key."""

    def __init__(self, student: str) -> None:
        self.student, self.page, self.rejoin, self.sent = student, "", "", ""

    def say(self, text: str) -> None:
        json.loads(text)


def test_messages_are_bounded_in_size_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_pages, "RATE", 0)
    monkeypatch.setattr(class_pages, "MOST_IGNORED", 20)

    async def visit(room: Class) -> None:
        for text in ("[" * 50 + "]" * 50, json.dumps({"type": "box", "text": "x" * 9000}), "no json"):
            student = await room.student()
            await student.socket.write_message(text)
            await student.reading  # ends when the connection does
        student = await room.student()
        with contextlib.suppress(WebSocketClosedError):
            for _ in range(class_pages.BURST + 60):
                await student.say("run", running=True)
        await student.reading

    attend(visit)


def test_connections_of_one_browser_and_of_all_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsescope.dashboard import hub

    monkeypatch.setattr(hub, "MOST_OF_ONE", 2)

    async def visit(room: Class) -> None:
        first = await room.student()
        await room.student(first.cookie)
        asked = HTTPRequest(f"ws://127.0.0.1:{room.port}/class/ws", headers={"Cookie": first.cookie}, **PATIENT)
        third = Visitor(first.cookie, await websocket_connect(asked))
        await third.reading
        assert "too many open pages" in third.refused[0]
        await room.student()

    attend(visit)


def test_a_kept_class_goes_on_after_a_restart_with_the_same_links_and_students(tmp_path: Path) -> None:
    file = tmp_path / "class.sqlite"

    async def before(room: Class) -> tuple[str, str, str]:
        teacher, student = await room.teacher(), await room.student()
        await teacher.say("ask", question=QUESTION, right=1)
        await student.until(lambda: student.state["questions"])
        await student.say("answer", question="teacher/1", answer=0, confidence=3)
        await teacher.until(lambda: teacher.state["tiles"] and teacher.state["tiles"][0]["in"]["before"])
        return room.hub.key, room.hub.secret("token"), student.cookie.partition("=")[2]

    async def after(room: Class) -> tuple[str, str, str]:
        # Cookies are named after the port, which another server has.
        student = await room.student(f"sparsescope-student-{room.port}={secret}")
        assert student.state["number"] == 1
        assert student.state["questions"][0]["mine"]["before"] == {"answer": 0, "confidence": 3}
        teacher = await room.teacher()
        assert teacher.state["tiles"][0]["in"]["before"] == 1 and teacher.state["kept"] is True
        return room.hub.key, room.hub.secret("token"), secret

    *secrets_before, secret = attend(before, keep=file)
    assert attend(after, keep=file)[:2] == tuple(secrets_before)

    async def forgotten(room: Class) -> None:
        assert not (await room.teacher()).state["tiles"] and room.hub.key != secrets_before[0]

    attend(forgotten)


# ------------------------------------------------------------------------------------------------------------ following
def page_of(name: str, token: str, **settings: Any) -> Any:
    """An open page, as far as the class knows it."""
    made = SimpleNamespace(name=name, token=token, connected=True, changed=[], watching=None, on_settings=lambda: None)
    made.explorer = SimpleNamespace(settings=settings, running=True, report=None)
    made.change = lambda changes, notice: made.changed.append(changes)
    made.query = lambda: "dataset=wine"
    return made


def test_everyone_to_this_state_follow_me_and_other_data() -> None:
    async def visit(room: Class) -> None:
        mine, theirs, race = (
            page_of("explorer", "t", dataset="wine", lam_ratio=0.5),
            page_of("explorer", "s", dataset="iris", lam_ratio=0.1),
            page_of("race", "r", dataset="iris"),
        )
        room.hub._bridges = lambda: [mine, theirs, race]
        teacher, student, racing, phone = await room.teacher(), *[await room.student() for _ in range(3)]
        await teacher.say("hello", page="explorer", rejoin="t")
        await student.say("hello", page="explorer", rejoin="s")
        await racing.say("hello", page="race", rejoin="r")
        await teacher.until(lambda: len(teacher.state["running"]) == 2)
        await teacher.say("everyone", address="/?dataset=digits&lam_ratio=0.2")
        await racing.until(lambda: racing.others)
        assert theirs.changed[0]["dataset"] == "digits" and theirs.changed[0]["lam_ratio"] == 0.2
        assert racing.others == [{"type": "go", "address": "/?dataset=digits&lam_ratio=0.2"}] and not race.changed
        await phone.until(lambda: phone.state["place"])
        assert not phone.others, "who answers on a phone stays there and has a link"
        for wrong in ("//evil.example/", "http://evil.example/", "/nowhere", "", "x" * 5000, 5, "javascript:alert(1)"):
            assert await teacher.refusal("everyone", address=wrong)
        await teacher.say("follow", on=True)
        await teacher.until(lambda: teacher.state["follow"])
        assert theirs.changed[-1] == {"dataset": "wine", "lam_ratio": 0.5}, "at once"
        mine.explorer.settings = {"dataset": "wine", "lam_ratio": 0.25}
        mine.on_settings()
        assert theirs.changed[-1]["lam_ratio"] == 0.25 and room.hub.room.place == "/?dataset=wine"
        count = len(theirs.changed)
        theirs.on_settings()
        assert len(theirs.changed) == count and not mine.changed, "a student's page leads nobody"
        await teacher.say("data", name="digits")
        await teacher.until(lambda: mine.changed)
        assert theirs.changed[-1] == race.changed[-1] == mine.changed[-1] == {"dataset": "digits"}
        assert "data sets are" in await teacher.refusal("data", name="nowhere")
        await teacher.say("follow", on=False)
        await teacher.until(lambda: not teacher.state["follow"])
        count = len(theirs.changed)
        mine.on_settings()
        assert len(theirs.changed) == count

    attend(visit)


def test_a_page_of_the_server_posts_predictions_of_its_student() -> None:
    async def visit(room: Class) -> None:
        lesson = page_of("explorer", "s", dataset="iris")
        room.hub._bridges = lambda: [lesson]
        teacher, student = await room.teacher(), await room.student()
        await student.say("hello", page="explorer", rejoin="s")
        await student.until(lambda: lesson.explorer.report is not None)
        say = lesson.explorer.report
        say({"type": "question", "question": {"id": "1/P1", "title": "Lesson 1", **QUESTION}})
        answer = {"type": "answer", "question": "1/P1", "answer": 0, "confidence": 3, "right": False}
        say({**answer, "sentence": "It shrinks.", "seconds": 12})
        say({"type": "measured", "question": "1/P1", "value": 1})
        say({"type": "answer", "question": "nowhere", "answer": 0})  # is logged, and the page goes on
        await teacher.until(lambda: teacher.state["tiles"] and teacher.state["tiles"][0]["measured"])
        (tile,) = teacher.state["tiles"]
        assert tile["wrong"] == [{"label": "more", "count": 1, "sentence": "It shrinks."}] and tile["seconds"] == 12
        assert tile["measured"] == [[NASTY, 1]] and tile["page"] == "explorer"
        assert not student.state["questions"] and student.state["pages"]["1/P1"]["locked"] is False

    attend(visit)


# ---------------------------------------------------------------------------------------------------------- the start
def test_what_is_printed_when_a_class_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    async def visit(room: Class) -> list[str]:
        said: list[str] = []
        gate = Gate("0.0.0.0", token="lasso & ridge")
        monkeypatch.setattr(invitation, "reachable_name", lambda address: "192.0.2.7")
        invitation.invite(room.hub, gate, "0.0.0.0", 5006, said.append)
        monkeypatch.setattr(class_pages, "segno", None)
        invitation.invite(room.hub, Gate("localhost"), "localhost", 5006, said.append)
        return [line.replace(room.hub.key, "KEY") for line in said]

    said = attend(visit)
    assert said[0] == "For students: http://192.0.2.7:5006/class?token=lasso+%26+ridge"
    assert "█" in said[1] or "▄" in said[1]
    assert said[2] == "For the teacher only: http://192.0.2.7:5006/class?token=lasso+%26+ridge&key=KEY"
    assert "--keep FILE" in said[3]
    assert said[5].startswith("(There is no QR code without the package segno")
    assert "Only this machine reaches" in said[7]


def test_the_address_of_this_machine_is_asked_of_the_system_only() -> None:
    assert invitation.reachable_name("192.0.2.5") == "192.0.2.5" and invitation.reachable_name("::1") == "[::1]"
    assert re.fullmatch(r"localhost|\d+\.\d+\.\d+\.\d+", invitation.reachable_name("0.0.0.0"))


def test_keep_is_for_a_class() -> None:
    with pytest.raises(ValueError, match="add --class"):
        serve_command.run(SimpleNamespace(keep="x", teach=False))  # type: ignore[arg-type]
