"""Bytes that a browser receives when it opens a page for the first time.

Every page of the app by its bare address, a lesson, and a page and the teacher's board of a class, each in a browser
that has seen nothing before. Counted is all that comes over the wire: answers with their headers as they are sent, and
the messages of both websockets. *First load* is until the page has everything it is made of and draws; *settled* is
until what its address asks for has been computed, with all that was drawn on the way. Nothing is timed, so a busy
machine does no harm.

    python benchmarks/bench_loads.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from common import store
from counted import COUNTS, Counted
from explorer_driver import Explorer, a_class, browser

from sparsescope.registry import app_pages

BAR = 1.5  # MB
WAIT = 120_000  # ms
DRAWN = "() => document.readyState === 'complete' && window.__sparsescope?.received > 0"
SETTLED = """() => {
  const { lam, page, status } = window.__sparsescope, { body } = page ?? {}
  return (!body?.settled || body.settled()) && (!status || (lam !== null && status.mode !== "preparing"))
}"""
LESSON = "lesson/01"


def draws(page: Any) -> None:
    """Wait until a page of the app is there and draws."""
    page.wait_for_function(DRAWN, timeout=WAIT)


def settles(page: Any) -> None:
    """Wait until it shows what its address asks for."""
    page.wait_for_function(SETTLED, timeout=WAIT)


def shows(page: Any) -> None:
    """Wait until a page of a class has its heading."""
    page.get_by_role("heading", level=1).wait_for(timeout=WAIT)
    page.wait_for_load_state("networkidle")


PAGE = {"first load MB": draws, "settled MB": settles}
CLASS = {"first load MB": shows}


def loaded(
    port: int, places: dict[str, str], states: dict[str, Callable[[Any], None]]
) -> Iterator[dict[str, str | float]]:
    """Open each place of a server in a separate browser; the megabytes that came until each state."""
    for name, place in places.items():
        with Counted(port) as way, browser(1280, 720) as page:
            page.goto(way.url + place)
            row: dict[str, str | float] = {"page": name}
            for state, reached in states.items():
                reached(page)
                row[state] = way.received / 1e6
            print(row, flush=True)
            yield row


def main() -> None:
    """Measure and store the table."""
    rows: list[dict[str, Any]]
    pages = {name: "" if name == "explorer" else name for name in app_pages} | {"a lesson": LESSON}
    with Explorer() as server:
        rows = list(loaded(server.port, pages, PAGE))
    with a_class() as server:
        board = server.teacher.removeprefix(server.url)
        rows += loaded(server.port, {"explorer in a class": ""}, PAGE)
        rows += loaded(server.port, {"a student's questions": "class", "the teacher's board": board}, CLASS)
    over = [row["page"] for row in rows if row["first load MB"] > BAR]
    print("Within the bar" if not over else f"Above {BAR} MB: " + ", ".join(over))
    store("loads", rows, bar=BAR, counts=COUNTS)


if __name__ == "__main__":
    main()
