"""Every figure that a class has to reach, one after the other: an hour of thirty pages, a driven board, and the rest.

    make bench ONLY=class_hour                            a minute of everything
    make bench ONLY=class_hour ARGS='--minutes 60'        the hour: 60 minutes of thirty pages, 30 of the board, and a
                                                          quarter of an hour for the others; the machine must be quiet

Stages, in this order: thirty pages (`bench_class.py`); the same with the server on one core, for a twelfth of the time;
60 and 120 pages for a minute, to see where it bends; 200 pages one after another; ten browser pages and a board with a
restart in the middle (`bench_board.py`), for half the time; a fresh clone, `make explore` and the first iterate there,
which installs packages and so asks the package index.

What was measured is written down after each stage and every five minutes within one, with each bar and whether it is
met. A stage that fails is noted with its error, and the next one begins; `--only` repeats some of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bench_board
import bench_class
from bench_class import MINUTE, MOST_SECONDS, QUIET, Lesson, Tell, held, turned_over
from common import HERE, judged, parser, store, stored
from page_client import PageClient

CLASS, BEND, IN_TURN, BROWSERS, PHONES = 30, (60, 120), 200, 10, 3
SHORT = 5.0  # minutes below which fewer pages come one after another
FEW_IN_TURN = 20
INSTALLING = 1800.0  # seconds that a fresh clone may take until it answers
Row = dict[str, Any]
Stage = tuple[Callable[[float, int, Tell], Row], Callable[[Row], list[Row]]]


def _one_core(minutes: float, seed: int, tell: Tell) -> Row:
    """Thirty pages, with the server on one core and the pages on the others."""
    before = os.sched_getaffinity(0)
    try:
        return held(Lesson(CLASS, MINUTE * min(minutes, max(1.0, minutes / 12)), seed, tell=tell), bench_class.pin())
    finally:
        os.sched_setaffinity(0, before)


def _bend(minutes: float, seed: int, tell: Tell) -> Row:
    """More pages than a class has."""
    row: Row = {}
    for size in BEND:
        found = held(Lesson(size, MINUTE * min(1.0, minutes), seed))
        row |= {
            f"{name}, {size} pages": found[name] for name in ("frames/s while running", "knob ms, p50", "knob ms, p95")
        }
        row |= {f"errors, {size} pages": found["errors"] + found["lost"] + found["tracebacks in the log"]}
        tell(row)
    return row


def _board(minutes: float, seed: int, tell: Tell) -> Row:
    """Browser pages and a board."""
    return bench_board.drive(minutes / 2, BROWSERS, PHONES, seed, tell=tell)


@contextlib.contextmanager
def fresh_clone() -> Iterator[int]:
    """The port of an explorer that `make explore` has installed and started in a clone of this repository's last
    commit, with an empty kernel cache."""
    with tempfile.TemporaryDirectory(prefix="sparsescope-clone-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        clone, said = Path(folder) / "clone", Path(folder) / "said.txt"
        subprocess.run(["git", "clone", "--quiet", str(HERE.parent), str(clone)], check=True)
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS")}
        environment["SPARSESCOPE_CACHE"] = str(Path(folder) / "kernels")
        with said.open("w") as told:
            process = subprocess.Popen(
                ["make", "explore", f"PORT={port}", "ARGS=--no-browser"],
                cwd=clone,
                env=environment,
                stdout=told,
                stderr=told,
                start_new_session=True,
            )
        try:
            _until_it_answers(process, port, said)
            yield port
        finally:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def _until_it_answers(process: subprocess.Popen[bytes], port: int, said: Path) -> None:
    end = time.perf_counter() + INSTALLING
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            return
        except OSError as error:
            if process.poll() is not None or time.perf_counter() > end:
                raise RuntimeError(f"make explore does not answer; it said: {said.read_text()[-500:]}") from error
            time.sleep(0.2)


def first_iterate(_minutes: float, _seed: int, _tell: Tell) -> Row:
    """Seconds from Run to the first iterate on a fresh clone, whose kernels `make explore` has compiled."""
    began = time.perf_counter()
    with fresh_clone() as port:
        installed = time.perf_counter() - began
        return {"s to install and answer": installed, "first iterate s": asyncio.run(from_run_to_iterate(port))}


async def from_run_to_iterate(port: int) -> float:
    """Seconds from Run to the first frame with an iterate, of a page that was opened a moment ago."""
    page = await PageClient(port, {"speed": QUIET["speed"]}).open()
    await page.until(lambda: page.frame.get("mode") == "paused", 300.0)
    began = time.perf_counter()
    await page.do("run")
    await page.until(lambda: (page.frame.get("status", {}).get("iteration") or 0) >= 1, 300.0)
    seconds = time.perf_counter() - began
    await page.close()
    return seconds


STAGES: dict[str, Stage] = {
    "thirty pages": (
        lambda minutes, seed, tell: held(Lesson(CLASS, min(MINUTE * minutes, MOST_SECONDS), seed, tell=tell)),
        bench_class.judge,
    ),
    "one core": (_one_core, lambda row: bench_class.judge(row, one_core=True)),
    "bend": (
        _bend,
        lambda row: [judged(f"errors with {size} pages", row.get(f"errors, {size} pages"), 0) for size in BEND],
    ),
    "in turn": (
        lambda minutes, seed, tell: turned_over(IN_TURN if minutes >= SHORT else FEW_IN_TURN),
        lambda row: [judged("memory left by a page", row.get("kB left by a session"), 50, unit=" kB")],
    ),
    "board": (_board, bench_board.judge),
    "fresh clone": (
        first_iterate,
        lambda row: [judged("first iterate after Run, fresh clone", row.get("first iterate s"), 1, unit=" s")],
    ),
}


class Book:
    """Measurements of each stage, and their bars, written down whenever there is news."""

    def __init__(self, options: Row, quick: bool) -> None:
        self.options, self.quick = options, quick
        earlier = {} if quick else (stored("class_hour") or {}).get("summary", {})
        self.stages: dict[str, Row] = dict(earlier.get("stages", {}))

    def keep(self, name: str, row: Row, state: str) -> None:
        """Write down what a stage has found; ``state``: "going on", "done", or why it failed."""
        self.stages[name] = {"state": state, **self.options, **row}
        if self.quick:
            return
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            bars = [
                {"stage": stage, **bar}
                for stage, (_, judge) in STAGES.items()
                for bar in judge(self.stages.get(stage, {}))
                if stage in self.stages
            ]
        store("class_hour", bars, say=False, kept=len(self.stages) > 1, stages=self.stages)


def main() -> None:
    """Measure and store."""
    command = parser(__doc__, quick="a few seconds of each but the clone; stores nothing", seed=0)
    command.add_argument("--minutes", type=float, default=1.0, help="of thirty pages, at most 60")
    command.add_argument("--only", nargs="+", choices=list(STAGES), default=list(STAGES), help="these stages alone")
    command.add_argument("--no-clone", action="store_true", help="leave out the fresh clone, which needs the network")
    args = command.parse_args()
    if not 0.0 < args.minutes <= MOST_SECONDS / MINUTE:
        command.error("minutes: more than 0, at most 60")
    names = [name for name in args.only if name != "fresh clone" or not (args.no_clone or args.quick)]
    minutes = 0.1 if args.quick else args.minutes
    book, failed = Book({"minutes asked": minutes, "seed": args.seed}, args.quick), []
    for name in names:
        print(f"\n{name} ({time.strftime('%H:%M:%S')})", flush=True)
        measure, judge = STAGES[name]
        last: Row = {}

        def tell(row: Row, name: str = name, last: Row = last) -> None:
            last.clear()
            last.update(row)
            book.keep(name, row, "going on")

        try:
            row, state = measure(minutes, args.seed, tell), "done"
        except Exception as error:  # the other stages are still worth their time; this one is stored as failed
            traceback.print_exc()
            row, state = dict(last), f"{type(error).__name__}: {error}"
            failed.append(name)
        judge(row)
        book.keep(name, row, state)
    if failed:
        raise SystemExit(f"These stages failed, and their errors are stored: {', '.join(failed)}")


if __name__ == "__main__":
    main()
