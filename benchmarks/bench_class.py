"""A class on one server: N pages over the loopback that all run and change things, as students do.

Each page speaks the explorer's own protocol (`page_client.py`), runs, and every 0.5 to 3 s moves λ or changes solver,
penalty, loss or data. Measured are frames a second of a page, also those of the time in which its run was going on (a
run that has ended sends none), seconds from a change to the first frame that carries it (p50, p95, and how many had no
answer at the end), milliseconds of the server's processor time a frame, those of its main thread (the event loop)
apart, memory a page, and how many threads and how much memory are left after the last page was closed.

    make bench ONLY=class                               30, 60 and 120 pages, 60 s each
    make bench ONLY=class ARGS='--sessions 30 --seconds 3600'
    make bench ONLY=class ARGS='--one-after-another 200'
    make bench ONLY=class ARGS='--sessions 30 --minutes 60'     memory and threads every minute beside that
    make bench ONLY=class ARGS='--sessions 30 --cores 1'        the server on one core, the pages on the others

The kernels of all combinations are compiled before the clock starts (`sparsescope warm` does that for a class). Pages,
seconds and everything a page remembers are bounded; nothing but the loopback is asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import OtherLoad, bar, judged, parser, rows_of, show, store
from explorer_driver import Explorer
from page_client import PageClient
from tornado.websocket import WebSocketClosedError

MOST_SESSIONS, MOST_SECONDS = 200, 3600
MINUTE = 60.0
TELL_EVERY = 5  # minutes after which what was measured so far is told
MOST_GROWTH = 0.05  # of the memory at half time by which it may have grown at the end
MOST_BACK = 0.15  # of the memory before the pages came that may be left when they have gone
LINGER = 1.0  # seconds: how long the server waits for a page that went away
SETTLING = 60  # pages one after another before those that are counted
LEFT_SECONDS = 5.0  # after the linger time: every thread has to be gone
DATA = ("iris", "wine", "digits", "breast_cancer")
SOLVERS = ("bcd-ls", "bcd-cst", "fista-ls", "ista", "auto")
PENALTIES = ("l1/l2", "l1", "elastic-net")
LOSSES = ("multiclass-squared-hinge", "logistic")
UNSHOWN = ("health", "error texts", "websockets ended", "MB every minute", "threads every minute")  # in the table
QUIET = {"dataset": "iris", "speed": "max"}


class Student:
    """One page and what its student does."""

    def __init__(self, port: int, seed: int, cookie: str = "", wire: bool = True) -> None:
        self.draw = random.Random(seed)
        self.page = PageClient(port, {**QUIET, "dataset": self.draw.choice(DATA)}, cookie=cookie, wire=wire)

    async def begin(self) -> None:
        """Open the page and run."""
        await self.page.open()
        await self.page.until(lambda: self.page.frame.get("mode") in ("paused", "finished", "running"))
        await self.page.do("run")

    async def work(self, end: float) -> None:
        """Change things until the clock says ``end``, or the page has lost its server, which it notes itself."""
        try:
            await self._change_things(end)
        except (WebSocketClosedError, ConnectionError, OSError) as error:
            self.page.lost = True
            self.page.endings.append(f"while the student changed something: {type(error).__name__}: {error}")

    async def _change_things(self, end: float) -> None:
        page, draw = self.page, self.draw
        while True:
            pause = draw.uniform(0.5, 3.0)
            if time.perf_counter() + pause >= end:
                await asyncio.sleep(max(0.0, end - time.perf_counter()))
                return
            await asyncio.sleep(pause)
            if page.lost:
                return
            what = draw.random()
            if what < 0.6:
                await page.set(lam_ratio=10.0 ** draw.uniform(-3.0, -0.3))
            elif what < 0.75:
                await page.set(solver=draw.choice(SOLVERS))
            elif what < 0.87:
                await page.set(penalty=draw.choice(PENALTIES))
            elif what < 0.95:
                await page.set(loss=draw.choice(LOSSES))
            else:
                await page.set(dataset=draw.choice(DATA))
            if page.frame.get("mode") in ("paused", "finished"):
                await page.do("run")


def compile_all(port: int) -> Any:
    """A coroutine that visits every combination once, on one page."""

    async def visit() -> None:
        page = await PageClient(port, {**QUIET, "lam_ratio": 0.5}).open()

        def still() -> bool:
            return page.frame.get("mode") in ("paused", "finished", "running") and not page.waiting

        for data in DATA:
            await page.set(dataset=data)
            for loss in LOSSES:
                for penalty in PENALTIES:
                    for solver in SOLVERS:
                        await page.set(loss=loss, penalty=penalty, solver=solver)
                        await page.until(still, 300.0)
        await page.close()

    return visit()


class Server:
    """Account that the operating system keeps of the server's process."""

    def __init__(self, pid: int) -> None:
        self.folder = Path(f"/proc/{pid}")

    def seconds(self) -> float:
        """Processor time."""
        numbers = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")

    def loop_seconds(self) -> float:
        """Processor time of the main thread, in which the event loop runs; NaN where the system does not say."""
        told = self.folder / "task" / self.folder.name / "schedstat"
        return int(told.read_text().split()[0]) / 1e9 if told.exists() else float("nan")

    def memory(self) -> float:
        """MB that are resident."""
        return int((self.folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def threads(self) -> int:
        """Number of threads."""
        return len(list((self.folder / "task").iterdir()))


def pin() -> int:
    """Keep the first core for the server, and this process off it; returns its number."""
    first, *others = sorted(os.sched_getaffinity(0))
    if others:
        os.sched_setaffinity(0, others)
    return first


def quantile(values: list[float], share: float) -> float:
    """A quantile of values, NaN if there are none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


class Reading:
    """Clocks and counters when the class began to work; what it has done since then."""

    def __init__(self, server: Server, pages: list[PageClient]) -> None:
        self.server, self.pages, self.load = server, pages, OtherLoad()
        self.began, self.spent, self.in_loop = time.perf_counter(), server.seconds(), server.loop_seconds()
        self.frames = [len(page.frames_at) for page in pages]
        self.seen = [(server.memory(), server.threads())]  # now, and every minute
        for page in pages:
            page.answers.clear()
            page.bytes = page.running_frames = 0
            page.running_seconds = 0.0

    @property
    def sent(self) -> int:
        """Frames so far."""
        return sum(len(page.frames_at) for page in self.pages) - sum(self.frames)

    def row(self) -> dict[str, Any]:
        """Row of the measurement until now."""
        pages, sessions = self.pages, len(self.pages)
        wall, spent = time.perf_counter() - self.began, self.server.seconds() - self.spent
        in_loop = self.server.loop_seconds() - self.in_loop
        counts = [len(page.frames_at) - before for page, before in zip(pages, self.frames, strict=True)]
        late = [time.perf_counter() - asked for page in pages for asked in page.waiting.values()]
        running = sum(page.running_seconds for page in pages)
        answers = [1000 * value for page in pages for value in page.answers]
        return {
            "sessions": sessions,
            "date": time.strftime("%Y-%m-%d"),
            "channel": "wire" if all(page.on_wire for page in pages) else "bokeh",
            "seconds": wall,
            "frames/s each": sum(counts) / wall / sessions,
            "frames/s, slowest": min(counts) / wall,
            "frames/s while running": sum(page.running_frames for page in pages) / max(running, 1e-9),
            "share of time running": running / wall / sessions,
            "knob ms, p50": quantile(answers, 0.5),
            "knob ms, p95": quantile(answers, 0.95),
            "changes": len(answers),
            "unanswered > 5 s": sum(value > 5.0 for value in late),
            "CPU ms a frame": 1000 * spent / max(sum(counts), 1),
            "loop ms a frame": 1000 * in_loop / max(sum(counts), 1),
            "cores": spent / wall,
            "kB/s each": sum(page.bytes for page in pages) / wall / sessions / 1000,
            "pages slowed": sum(bool(page.frame.get("late")) for page in pages),
            "errors": sum(len(page.errors) for page in pages),
            "error texts": sorted({text for page in pages for text in page.errors})[:5],
            "lost": sum(page.lost for page in pages),
            "websockets ended": sorted({text for page in pages for text in page.endings})[:5],
            "MB every minute": [round(memory, 1) for memory, _ in self.seen],
            "threads every minute": [threads for _, threads in self.seen],
            "others' load": self.load.share() - spent / (wall * (os.cpu_count() or 1)),
        }


Tell = Callable[[dict[str, Any]], None]


async def look(reading: Reading, end: float, tell: Tell) -> None:
    """Memory and threads of the server every minute until the clock says ``end``; every :data:`TELL_EVERY` minutes
    tell what was measured. A server that sends nobody a frame for a whole minute hangs; nobody has to wait for the end
    of the hour to hear of it."""
    frames = 0
    while (left := end - time.perf_counter()) > 0:
        await asyncio.sleep(min(MINUTE, left))
        reading.seen.append((reading.server.memory(), reading.server.threads()))
        minutes = len(reading.seen) - 1
        if minutes % TELL_EVERY == 0:
            tell(reading.row())
        before, frames = frames, reading.sent
        if frames == before and left >= MINUTE:
            tell(reading.row())
            raise RuntimeError(f"no page had a frame for a minute, after {minutes} minutes: the server hangs")


@dataclass
class Lesson:
    """One lesson: how many students, for how many seconds, and whom to tell on the way."""

    sessions: int
    seconds: float
    seed: int = 0
    wire: bool = True
    tell: Tell = lambda row: None

    async def hold(self, port: int, pid: int) -> dict[str, Any]:
        """Warm up, let the class work, send it home; what was measured."""
        server, load_before = Server(pid), os.getloadavg()[0]
        began = time.perf_counter()
        await compile_all(port)
        warm = time.perf_counter() - began
        await asyncio.sleep(LINGER + 2.0)
        empty_memory, empty_threads = server.memory(), server.threads()
        students = [Student(port, self.seed + k, wire=self.wire) for k in range(self.sessions)]
        pages = [student.page for student in students]
        began = time.perf_counter()
        await asyncio.gather(*(student.begin() for student in students))
        opened = time.perf_counter() - began
        reading = Reading(server, pages)
        end = reading.began + self.seconds
        await asyncio.gather(look(reading, end, self.tell), *(student.work(end) for student in students))
        row, full_memory, full_threads = reading.row(), server.memory(), server.threads()
        health = await _health(port)
        await asyncio.gather(*(page.close() for page in pages))
        await asyncio.sleep(LINGER + LEFT_SECONDS)
        return {
            **row,
            "load average before": load_before,
            "MB empty": empty_memory,
            "MB a session": (full_memory - empty_memory) / self.sessions,
            "MB left": server.memory(),
            "threads empty": empty_threads,
            "threads full": full_threads,
            "threads left": server.threads() - empty_threads,
            "s to compile all": warm,
            "s to open all": opened,
            "health": health,
        }


def held(lesson: Lesson, core: int | None = None) -> dict[str, Any]:
    """A lesson on a separate server, which may be kept on one core; what was measured."""
    with Explorer(None, "--linger", str(LINGER), core=core) as server:
        row = asyncio.run(lesson.hold(server.port, server.process.pid))
        return {**row, "tracebacks in the log": server.log().count("Traceback")}


def turned_over(count: int) -> dict[str, Any]:
    """:func:`one_after_another` on a separate server."""
    with Explorer(None, "--linger", str(LINGER)) as server:
        return asyncio.run(one_after_another(server.port, server.process.pid, count))


async def one_after_another(port: int, pid: int, count: int) -> dict[str, Any]:
    """Open, run and close pages one after another; what each of them leaves behind, after the first :data:`SETTLING`.

    With the first pages the process loads kernels, and tables of the interpreter and heaps of threads grow in steps of
    megabytes; they stay as they are then, and are no leak.
    """
    server = Server(pid)
    memory: list[float] = []
    spent = server.seconds()
    for k in range(SETTLING + count):
        page = await _visit(port, DATA[k % 2])
        await page.until(lambda page=page: page.headers["frame"] > 3)
        await page.close()
        if k + 1 in (SETTLING, SETTLING + count):
            await asyncio.sleep(LINGER + LEFT_SECONDS)
            memory.append(server.memory())
            threads = server.threads()
    return {
        "note": "one after another",
        "date": time.strftime("%Y-%m-%d"),
        "sessions": count,
        "kB left by a session": 1000 * (memory[-1] - memory[0]) / count,
        "CPU ms a session": 1000 * (server.seconds() - spent) / (SETTLING + count),
        "MB left": memory[-1],
        "threads left": threads,
    }


async def _visit(port: int, data: str) -> PageClient:
    """A page that runs."""
    page = await PageClient(port, {**QUIET, "dataset": data}).open()
    await page.until(lambda: page.frame.get("mode") in ("paused", "finished", "running"))
    await page.do("run")
    return page


async def _health(port: int) -> Any:
    from tornado.httpclient import AsyncHTTPClient

    answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/health", raise_error=False)
    return json.loads(answer.body) if answer.code == 200 else None


def judge(row: dict[str, Any], one_core: bool = False) -> list[dict[str, Any]]:
    """The bars of a lesson; what was not measured, as in one that broke off, is neither met nor missed."""
    broken = [row.get(name) for name in ("errors", "lost", "unanswered > 5 s", "tracebacks in the log")]
    left, empty = row.get("MB left"), row.get("MB empty")
    frames = ("frames a second of a page that runs", row.get("frames/s while running"), 6 if one_core else 12)
    return [
        judged(*frames, at_least=True),
        judged("from a change to its frame, p50", row.get("knob ms, p50"), 40, unit=" ms"),
        judged("from a change to its frame, p95", row.get("knob ms, p95"), 150, unit=" ms"),
        judged(
            "errors on pages and in the log, pages lost, changes unanswered",
            None if None in broken else sum(broken),
            0,
        ),
        judged("memory a page", row.get("MB a session"), 15, unit=" MB"),
        judged("memory at the end, of that at half time", flat(row.get("MB every minute", [])), 1 + MOST_GROWTH),
        judged(f"threads left {LEFT_SECONDS:g} s after the last page", row.get("threads left"), 0),
        judged("memory left when all have gone, of that before", left and left / empty, 1 + MOST_BACK),
    ]


def flat(memory: list[float]) -> float | None:
    """The last of the weighings as a share of that at half time; ``None`` for lessons of less than ten minutes, in
    which traces and recent weights still fill their bounds."""
    return memory[-1] / memory[len(memory) // 2] if len(memory) > 10 else None


def main() -> None:
    """Measure and store."""
    command = parser(__doc__, quick="4 pages, 5 s; stores nothing", seed=0)
    command.add_argument(
        "--sessions", type=int, nargs="+", default=[30, 60, 120], help=f"pages, at most {MOST_SESSIONS}"
    )
    command.add_argument("--seconds", type=float, default=60.0, help=f"at most {MOST_SECONDS}")
    command.add_argument("--minutes", type=float, default=0.0, help="in place of --seconds; a separate row")
    command.add_argument(
        "--cores", type=int, default=0, choices=(0, 1), help="1: the server has one core, the pages have the others"
    )
    command.add_argument("--bokeh", action="store_true", help="the pages stay on Bokeh's channel, as with panel serve")
    command.add_argument(
        "--one-after-another", type=int, default=0, metavar="N", help="open N pages in turn, and tell what each leaves"
    )
    command.add_argument("--note", default="", help="stored with the row, such as 'before'")
    args = command.parse_args()
    if args.one_after_another:
        row = turned_over(args.one_after_another)
        others = [old for old in rows_of("class") if (old["note"], old["sessions"]) != (row["note"], row["sessions"])]
        if not args.quick:
            store("class", [*others, row], kept=bool(others))
        show([row])
        bar("kB left by a session", row["kB left by a session"], 50)
        return
    sizes = [4] if args.quick else args.sessions
    seconds = 5.0 if args.quick else min(MINUTE * args.minutes or args.seconds, MOST_SECONDS)
    core = pin() if args.cores else None
    said = (args.note, "one core" if args.cores else "", f"{seconds / MINUTE:g} minutes" if args.minutes else "")
    note = ", ".join(filter(None, said))
    if not all(1 <= size <= MOST_SESSIONS for size in sizes):
        command.error(f"sessions: from 1 to {MOST_SESSIONS}")
    rows = [] if args.quick else rows_of("class")
    for size in sizes:
        row = {"note": note, **held(Lesson(size, seconds, args.seed, not args.bokeh), core)}
        rows = [old for old in rows if (old["note"], old["sessions"]) != (note, size)] + [row]
        show([{name: value for name, value in row.items() if name not in UNSHOWN}])
        print(*(row[name] for name in UNSHOWN))
        judge(row, one_core=bool(args.cores))
    if not args.quick:
        store("class", rows, kept=len(rows) > len(sizes))


if __name__ == "__main__":
    main()
