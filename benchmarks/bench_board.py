"""Ten real pages and a teacher's board, half an hour if asked for: answers that are missed, and errors.

A class on the loopback, in Chromium: explorers that run, pause and change λ, phones that only answer, and
the board, from which a program asks, sends the class into a second round, reveals, shows the teacher's run and ends
that. In the middle the server is stopped and started. Measured are the seconds from a question to the page of every
student, from an answer to its tile on the board, and the server's memory every minute; counted are the answers that the
board misses at the end, errors of the pages and of the log, and requests that leave this machine.

    make bench ONLY=board                        5 minutes, 7 explorers and 3 phones
    make bench ONLY=board ARGS='--minutes 30'
"""

from __future__ import annotations

import contextlib
import csv
import io
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench_class import MINUTE, TELL_EVERY, Server, quantile
from common import OtherLoad, judged, parser, show, store
from explorer_driver import Explorer, browser
from playwright.sync_api import Error

MOST_MINUTES, MOST_PAGES = 60.0, 12
WAIT = 120_000.0  # ms; only turns an endless wait into a failure
CHOICES = ("more rows", "fewer rows", "as many")
DATA = ("iris", "wine", "digits")
LOST = "The connection is lost"  # what the board and a phone say while the server is away
MOST_FAILED = 3  # rounds in a row that may fail before a class is given up
SHOWN_EVERY = 4  # questions between two times that the teacher's run is shown


class Desk:
    """One page in a separate browser."""

    def __init__(self, chromium: Any, address: str, phone: bool) -> None:
        size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 720}
        self.context = chromium.new_context(viewport=size)
        self.page, self.phone = self.context.new_page(), phone
        self.page.set_default_timeout(WAIT)
        self.faults: list[str] = []
        self.outside: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.goto(address)

    def _note(self, address: str) -> None:
        if urlsplit(address).hostname not in ("localhost", "127.0.0.1", None):
            self.outside.append(address)

    def get(self, name: str) -> Any:
        """The element with this test id."""
        return self.page.get_by_test_id(name)

    def press(self, name: str) -> None:
        """Press a button by script: the strip of the class may lie over it."""
        self.get(name).evaluate("button => button.disabled || button.click()")

    def ready(self) -> None:
        """Wait until the explorer shows its problem."""
        self.page.wait_for_function(
            "() => ['paused', 'running', 'finished'].includes(window.__sparsescope?.status.mode)"
        )


class Room:
    """The board, the teacher's explorer, and the students' pages."""

    def __init__(self, chromium: Any, server: Explorer, pages: int, phones: int, seed: int) -> None:
        self.draw = random.Random(seed)
        self.board = Desk(chromium, server.teacher, False)
        self.shown = Desk.__new__(Desk)  # a second page of the teacher's browser
        self.shown.__dict__.update(self.board.__dict__)
        self.shown.page = self.board.context.new_page()
        self.shown.page.set_default_timeout(WAIT)
        self.shown.page.on("pageerror", lambda error: self.board.faults.append(str(error)))
        self.shown.page.goto(server.url + "?dataset=wine&speed=20")
        self.shown.ready()
        self.shown.get("class-fold").click()
        self.students = [
            Desk(chromium, server.url + ("class" if k < phones else f"?dataset={DATA[k % len(DATA)]}"), k < phones)
            for k in range(pages)
        ]
        self.asked = self.answered = 0
        self.to_students: list[float] = []
        self.to_board: list[float] = []

    def question(self, talk: bool) -> None:
        """Ask, let everybody answer (twice if they talk in between), reveal."""
        self.asked += 1
        began = time.perf_counter()
        self.board.get("ask-text").fill(f"Question {self.asked}: more rows or fewer?")
        self.board.get("ask-answers").fill("\n".join(("*" + CHOICES[0], f"{CHOICES[1]} | λ is a price.", CHOICES[2])))
        self.board.get("ask").click()
        tile = self.board.get("tile").first
        tile.get_by_text(f"Question {self.asked}:").wait_for()
        self._answers(tile, began, "before")
        if talk:
            tile.get_by_test_id("vote").click()
            self._answers(tile, time.perf_counter(), "after")
        tile.get_by_test_id("reveal").click()
        for student in self.students:
            self._card(student).get_by_test_id("class-verdict").wait_for(state="attached")

    def _card(self, student: Desk) -> Any:
        return student.get("class-question").first

    def _answers(self, tile: Any, began: float, phase: str) -> None:
        words = " in" if phase == "before" else " again after talking"
        for number, student in enumerate(self.students, 1):
            card = self._card(student)
            card.get_by_test_id("lock-in").wait_for(state="attached")
            self.to_students.append(time.perf_counter() - began)
            card.get_by_label(self.draw.choice(CHOICES), exact=True).evaluate("choice => choice.click()")
            card.get_by_test_id("lock-in").evaluate("button => button.click()")
            said = time.perf_counter()
            self.answered += 1  # when it is given: the board may miss it
            count = f"{number} of {len(self.students)}{words}" if phase == "before" else f"{number}{words}"
            tile.get_by_test_id("tile-facts").filter(has_text=count).wait_for()
            self.to_board.append(time.perf_counter() - said)

    def all_here(self) -> None:
        """Wait until the board counts all students."""
        self.board.get("board-count").filter(has_text=f"{len(self.students)} here now").wait_for()

    def work(self) -> None:
        """Do what students do between questions: run, pause, another λ."""
        for student in self.students:
            if student.phone or student.get("watching").is_visible():
                continue
            student.press(self.draw.choice(("run-button", "pause-button", "step10-button")))
            lam = 10 ** self.draw.uniform(-3, -0.3)
            student.page.evaluate(f"() => window.__sparsescope.page.setLam({lam})")

    def show_run(self) -> None:
        """Show the teacher's run, let it go on, and let one student leave it; then end it."""
        desks = [student for student in self.students if not student.phone]
        for name in ("follow", "show-run"):
            self.shown.press(name)
        for desk in desks:
            desk.get("watching").wait_for(state="visible")
        self.shown.press("step10-button")
        step = "() => window.__sparsescope.status.iteration > 0 || window.__sparsescope.status.mode === 'finished'"
        for desk in desks:
            desk.page.wait_for_function(step)
        desks[0].press("leave-button")
        desks[0].get("watching").wait_for(state="hidden")
        for name in ("show-run", "follow"):
            self.shown.press(name)
        for desk in desks:
            desk.get("watching").wait_for(state="hidden")

    def restart(self, server: Explorer) -> None:
        """Stop the server until every page has noticed that, start it again, and wait until all have come back.

        Explorers load themselves anew, the board and the phones open their connection again: what a page showed before
        is still there meanwhile, so it says nothing about who is back.
        """
        explorers = [desk for desk in (self.shown, *self.students) if not desk.phone]
        others = [self.board, *(student for student in self.students if student.phone)]
        for desk in explorers:
            desk.page.evaluate("() => { window.beforeRestart = true; }")
        server.stop()
        for desk in others:
            desk.page.get_by_text(LOST).wait_for()
        server.__enter__()
        for desk in others:
            desk.page.get_by_text(LOST).wait_for(state="hidden")
        for desk in explorers:
            desk.page.wait_for_function("() => !window.beforeRestart")
            desk.ready()
        self.all_here()

    def counted(self) -> int:
        """Answers in the table of the board."""
        table = self.board.context.request.get(self.board.page.url.replace("/class", "/class/answers.csv")).text()
        return len(list(csv.DictReader(io.StringIO(table.lstrip("\ufeff")))))

    @property
    def faults(self) -> list[str]:
        """Errors of all pages, and what they asked of other machines."""
        desks = (self.board, *self.students)
        return [text for desk in desks for text in (*desk.faults, *desk.outside)]


class Class:
    """A class that is being held, and what was measured of it so far."""

    def __init__(self, room: Room, server: Explorer, minutes: float) -> None:
        self.room, self.server, self.minutes = room, server, minutes
        self.load, self.memory = OtherLoad(), list[float]()
        self.began = time.perf_counter()
        self.failed: list[str] = []  # what ended a round too early
        self.restarted = False

    @property
    def past(self) -> float:
        """Minutes."""
        return (time.perf_counter() - self.began) / MINUTE

    def round(self) -> None:
        """Students work, answer a question, and now and then watch the teacher's run; once the server is restarted."""
        room = self.room
        room.work()
        room.question(talk=room.asked % 2 == 1)
        if room.asked % SHOWN_EVERY == 0:
            room.show_run()
        if not self.restarted and self.past > self.minutes / 2:
            self.restarted = True
            room.restart(self.server)

    def hold(self, say: Callable[[str], None], tell: Callable[[dict[str, Any]], None]) -> None:
        """Round after round. One that fails is noted as a fault, with its error; several in a row end the class."""
        looked, in_a_row = float("-inf"), 0
        while self.past < self.minutes and in_a_row < MOST_FAILED:
            if self.past - looked > 1.0:
                looked = self.past
                self.memory.append(round(Server(self.server.process.pid).memory(), 1))
                say(f"{looked:5.1f} min  {self.room.asked} questions  {self.memory[-1]} MB")
                if len(self.memory) % TELL_EVERY == 0:
                    tell(self.row(None))
            try:
                self.round()
                in_a_row = 0
            except Error as error:  # Playwright's: also what has waited in vain
                in_a_row += 1
                self.failed.append(f"round {self.room.asked}: {str(error).splitlines()[0]}")

    def row(self, missed: int | None) -> dict[str, Any]:
        """Measured row; ``missed``: answers that the board does not have."""
        room, faults = self.room, [*self.failed, *self.room.faults]
        return {
            "minutes": self.past,
            "pages": len(room.students),
            "phones": sum(student.phone for student in room.students),
            "date": time.strftime("%Y-%m-%d"),
            "questions": room.asked,
            "answers": room.answered,
            "answers missed": missed,
            "server restarted": int(self.restarted),
            "faults": len(faults),
            "fault texts": faults[:5],
            "tracebacks in the log": self.server.log().count("Traceback"),
            "to a page s, p50": quantile(room.to_students, 0.5),
            "to a page s, max": max(room.to_students, default=float("nan")),
            "to the board s, p50": quantile(room.to_board, 0.5),
            "to the board s, max": max(room.to_board, default=float("nan")),
            "MB every minute": self.memory,
            "load": self.load.share(),
        }


def drive(
    minutes: float,
    pages: int,
    phones: int,
    seed: int,
    say: Callable[[str], None] = print,
    tell: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, Any]:
    """Hold the class; what was measured, which ``tell`` is given every few minutes on the way."""
    with tempfile.TemporaryDirectory() as folder, browser() as first, contextlib.ExitStack() as stack:
        server = stack.enter_context(Explorer(None, "--linger", "2", keep=str(Path(folder) / "class.sqlite")))
        room = Room(first.context.browser, server, pages, phones, seed)
        room.all_here()
        held = Class(room, server, minutes)
        held.hold(say, tell)
        return held.row(room.answered - room.counted())


def judge(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The bars of a driven board."""
    faults = row["faults"] + row["tracebacks in the log"] if row else None
    return [
        judged("answers missed on the board", row.get("answers missed"), 0),
        judged("faults of pages, and in the log", faults, 0),
        judged("restarts of the server in the middle", row.get("server restarted"), 1, at_least=True),
    ]


def main() -> None:
    """Measure and store."""
    command = parser(__doc__, quick="2 pages, half a minute; stores nothing", seed=0)
    command.add_argument("--minutes", type=float, default=5.0, help=f"at most {MOST_MINUTES:g}")
    command.add_argument("--pages", type=int, default=10, help=f"of students, at most {MOST_PAGES}")
    command.add_argument("--phones", type=int, default=3, help="how many of them only answer")
    args = command.parse_args()
    if not 0 <= args.phones < args.pages <= MOST_PAGES or not 0 < args.minutes <= MOST_MINUTES:
        command.error(f"at most {MOST_PAGES} pages, one of them an explorer, and {MOST_MINUTES:g} minutes")
    minutes, pages, phones = (0.5, 2, 1) if args.quick else (args.minutes, args.pages, args.phones)
    row = drive(minutes, pages, phones, args.seed)
    show([{name: value for name, value in row.items() if name not in ("fault texts", "MB every minute")}])
    print(*row["fault texts"], row["MB every minute"])
    judge(row)
    if not args.quick:
        store("board", [row])


if __name__ == "__main__":
    main()
