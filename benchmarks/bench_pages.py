"""Speed of the pages beside the explorer: drags of geometry and prox, a race's frames and clock, a growing path.

The server, its computations and a headless Chromium share the machine.

* geometry, prox: a start (a vector) is dragged along a circle for ``--seconds``; painted frames a second, and
  milliseconds from a position to the picture that belongs to it.
* race: four lanes on 20 newsgroups (``--data`` names the file; digits without one): painted frames a second, the lanes'
  share of the server's processor time, and the seconds to 1e-2, 1e-4 and 1e-6 beside those that the race of this
  folder measures with each solver in a separate process.
* path: 50 values of λ on pydocs: painted frames a second while it grows.

    python benchmarks/bench_pages.py [--data news20_bydate_tfidf.npz] [--seconds 6] [--budget 4]
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import problems
import psutil
import race
from common import parser, show, store
from explorer_driver import DRAWN, SETTLED, Explorer, browser

TURN = 0.02  # seconds between two positions of a drag
RATIO = 0.0265  # λ/λ_max of the race: 0.9 % of the rows at the optimum (benchmarks/problems.py)
LANES = ("working-set", "bcd-ls", "fista-ls", "sparsa")
# Named by the issue on the pages: judged on a quiet machine, never asserted.
LEAST = {"geometry frames/s": 20, "prox frames/s": 20, "race frames/s": 12, "lanes' share": 0.85, "path frames/s": 15}
MOST = {"geometry ms": 60, "prox ms": 60, "largest difference": 0.15}

# Counts what is painted: a draw that the browser's next frame shows.
COUNT = """() => {
  const { body } = window.__sparsescope.page;
  const draw = body.draw.bind(body);
  window.__painted = 0;
  body.draw = (picture) => { window.__painted += 1; return draw(picture); };
}"""


def opened(page: Any, address: str) -> None:
    """Open a page, wait until it shows what was asked for, and count what it paints from then on."""
    page.goto(address)
    page.wait_for_function(DRAWN)
    page.evaluate(COUNT)


def painted(page: Any, seconds: float) -> float:
    """Painted frames a second, over a while."""
    before, began = page.evaluate("window.__painted"), time.perf_counter()
    time.sleep(seconds)
    return float((page.evaluate("window.__painted") - before) / (time.perf_counter() - began))


def dragged(page: Any, target: str, answers: str, seconds: float) -> dict[str, float]:
    """Drag what is at the middle of an element along a circle."""
    box = page.locator(target).first.bounding_box()
    x, y, radius = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 5
    known = len(page.evaluate(answers))
    page.mouse.move(x + radius, y)
    page.mouse.down()
    before, began, turns = page.evaluate("window.__painted"), time.perf_counter(), 0
    while (now := time.perf_counter() - began) < seconds:
        page.mouse.move(x + radius * math.cos(now), y + radius * math.sin(now))
        turns += 1
        time.sleep(max(0.0, TURN * turns - (time.perf_counter() - began)))
    frames = (page.evaluate("window.__painted") - before) / (time.perf_counter() - began)
    page.mouse.up()
    page.wait_for_function(SETTLED)
    found = [float(ms) for ms in page.evaluate(answers)[known:]]
    return {"frames/s": frames, "ms": median(found) if found else math.nan, "answers": len(found)}


def drags(seconds: float) -> dict[str, float]:
    """Geometry and prox."""
    row: dict[str, float] = {}
    plans = {
        "geometry": ("[data-testid=plane]", "window.__sparsescope.page.body.answers.slice()"),
        "prox": ("[data-testid=prox-grid] svg", "window.__sparsescope.latencies"),
    }
    with Explorer() as server, browser(1440, 900) as page:
        for name, (target, answers) in plans.items():
            opened(page, f"{server.url}{name}")
            page.wait_for_function(SETTLED)
            for key, value in dragged(page, target, answers, seconds).items():
                row[f"{name} {key}"] = value
    return row


def processor_seconds(pid: int) -> float:
    """Processor seconds of a process so far, without its children."""
    spent = psutil.Process(pid).cpu_times()
    return float(spent.user + spent.system)


def raced(data: str, budget: float) -> tuple[dict[str, float], dict[str, list[float | None]]]:
    """A race on the page, and the seconds of its lanes to the levels of its table."""
    lanes = "&".join(f"lane{k + 1}={name}" for k, name in enumerate(LANES))
    query = f"race?{lanes}&lam_ratio={RATIO}&budget={budget}" + ("" if data else "&dataset=digits")
    spent = "[...window.__sparsescope.page.body.lanes.values()].map((lane) => lane.seconds.at(-1) || 0)"
    table = """[...window.__sparsescope.page.body.table.querySelectorAll('tbody tr')].map((row) =>
        [...row.children].slice(0, 4).map((cell) => cell.textContent))"""
    with Explorer(None, *(["--data", data] if data else [])) as server, browser(1440, 900) as page:
        opened(page, server.url + query)
        page.wait_for_function(f"{spent}.filter((s) => s > 0).length === {len(LANES)}", timeout=600_000)
        lanes_before, before = sum(page.evaluate(spent)), processor_seconds(server.process.pid)
        frames = painted(page, budget)
        share = (sum(page.evaluate(spent)) - lanes_before) / (processor_seconds(server.process.pid) - before)
        page.wait_for_function(SETTLED, timeout=600_000)
        rows = page.evaluate(table)
    times = {
        name: [None if text.startswith("–") else float(text.split()[0]) for text in found] for name, *found in rows
    }
    return {"race frames/s": frames, "lanes' share": share}, times


def alone(case: problems.Case, limit: float, repeats: int = 3) -> dict[str, list[float | None]]:
    """Seconds of each lane to the levels of the table, in separate processes."""
    facts = race.optimum(case)
    task = {
        "data": str(race.export(case)),
        "loss": case.loss,
        "penalty": case.penalty,
        "lam": facts["lam"],
        "best": facts["F*"],
        "limit": limit,
        "setting": {},
        "levels": list(race.SHOWN),
        "touched": True,
    }
    found = {}
    for name in LANES:
        tries = [race.times(race.run(race.own(name), {**task, "setting": {"solver": name}})) for _ in range(repeats)]
        found[name] = [
            median(t[level] for t in tries) if all(level in t for t in tries) else None for level in race.SHOWN
        ]
    return found


def grown() -> dict[str, float]:
    """A path while it grows."""
    running = "window.__sparsescope.page.body.running === false"
    with Explorer() as server, browser(1440, 900) as page:
        opened(page, f"{server.url}path?dataset=pydocs&n_lams=50&folds=2&resamples=2")
        before, began = page.evaluate("window.__painted"), time.perf_counter()
        while time.perf_counter() - began < 4.0 and not page.evaluate(running):
            time.sleep(0.1)
        return {"path frames/s": (page.evaluate("window.__painted") - before) / (time.perf_counter() - began)}


def main() -> None:
    """Measure and store the table."""
    command = parser(__doc__)
    command.add_argument("--data", default="", help="the file of 20 newsgroups; digits without one")
    command.add_argument("--seconds", type=float, default=6.0, help="of each drag")
    command.add_argument("--budget", type=float, default=4.0, help="seconds of each lane")
    args = command.parse_args()
    load = os.getloadavg()[0]  # of others: figures of a busy machine say little
    row: dict[str, Any] = {"load average before": load, **drags(args.seconds), **grown()}
    path = str(Path(args.data).resolve()) if args.data else ""
    found, page = raced(path, args.budget)
    row |= found
    # The page holds samples of digits out, the measurements of this folder do not: no comparison without a file.
    bench = alone(problems.Case("news20 0.9 %", "news20", RATIO), args.budget) if path else {}
    clocks = [
        {
            "solver": name,
            "level": f"{level:.0e}",
            "page": page[name][k],
            "alone": bench[name][k],
            "difference": _difference(page[name][k], bench[name][k]),
        }
        for name in bench
        for k, level in enumerate(race.SHOWN)
    ]
    row["largest difference"] = max((c["difference"] for c in clocks if c["difference"] is not None), default=math.nan)
    show([row])
    show(clocks)
    missed = [f"{k} {row[k]:.3g} (at least {v})" for k, v in LEAST.items() if not row[k] >= v]
    missed += [f"{k} {row[k]:.3g} (at most {v})" for k, v in MOST.items() if not row[k] <= v]
    print("Within all bars" if not missed else "Not reached: " + "; ".join(missed))
    store("pages", [row], clocks=clocks, least=LEAST, most=MOST)


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else abs(a - b) / b


if __name__ == "__main__":
    main()
