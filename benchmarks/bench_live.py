"""Liveliness of the explorer: painted frames a second, time from a knob to the first painted change, time to pause.

Server, solver and browser share the machine's cores. The page shows ``pydocs`` with all four views visible (a tall
window), speed at the maximum, a λ small enough that the run does not end meanwhile.

* frames/s: frames painted by the page in windows of 5 s (the page counts a frame after it has drawn).
* knob: λ is moved 20 times during the run; from the change of the slider to the first painted frame that carries it.
* pause: 10 times run and pause; from the click until the page has heard that the solver rests, and how many iterations
  were done after the click.

    python benchmarks/bench_live.py
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from common import parser, show, store
from explorer_driver import Explorer, browser, moves

# Slow methods at a small λ, so that the run does not end while it is measured; an iteration of each is about one and a
# half passes over the data.
CASES = {
    "ista": "?dataset=pydocs&solver=ista&lam_ratio=0.01&speed=max",
    "bcd-cst": "?dataset=pydocs&solver=bcd-cst&solver.constants=paper&lam_ratio=0.01&speed=max",
}
PAUSED = "() => ['paused', 'finished'].includes(window.__sparsescope.status.mode)"
RUNNING = "() => window.__sparsescope.status.mode === 'running' && window.__sparsescope.status.iteration >= 5"


def frames(page: Any, seconds: float) -> dict[str, float]:
    """Painted frames and iterations a second over a window."""
    look = "() => [window.__sparsescope.frames, window.__sparsescope.status.iteration, performance.now()]"
    a = page.evaluate(look)
    time.sleep(seconds)
    b = page.evaluate(look)
    wall = (b[2] - a[2]) / 1000
    return {
        "frames/s": (b[0] - a[0]) / wall,
        "iterations/s": (b[1] - a[1]) / wall,
        "paint ms": page.evaluate("() => window.__sparsescope.paintMs"),
    }


def pauses(page: Any, times: int) -> list[float]:
    """Milliseconds from clicking Pause to the page knowing that the solver rests."""
    found = []
    for _ in range(times):
        page.locator("[data-testid=run-button]").click()
        page.wait_for_function("() => window.__sparsescope.status.mode === 'running'")
        time.sleep(0.7)
        found.append(
            page.evaluate("""() => new Promise((done) => {
            const root = window.__sparsescope.page.root;
            const began = performance.now();
            root.querySelector('[data-testid=pause-button]').click();
            const look = () => window.__sparsescope.status.mode !== 'running'
              ? done(performance.now() - began) : setTimeout(look, 1);
            look();
        })""")
        )
    return found


def main() -> None:
    """Measure and store the table."""
    command = parser(__doc__)
    command.add_argument("--windows", type=int, default=4)
    args = command.parse_args()
    rows = []
    with Explorer() as server, browser() as page:
        for solver, query in CASES.items():
            page.goto(server.url + query)
            page.wait_for_function("() => window.__sparsescope && window.__sparsescope.points >= 1")
            page.locator("[data-testid=run-button]").click()
            page.wait_for_function(RUNNING)
            time.sleep(2)
            windows = [frames(page, 5.0) for _ in range(args.windows)]
            latencies = moves(page, 20, 0.3)
            if page.evaluate(PAUSED) is False:
                page.locator("[data-testid=pause-button]").click()
                page.wait_for_function(PAUSED)
            rests = pauses(page, 10)
            row = {
                "solver": solver,
                **{name: median(w[name] for w in windows) for name in windows[0]},
                "knob ms, median": median(latencies),
                "knob ms, worst": max(latencies),
                "pause ms, median": median(rests),
                "pause ms, worst": max(rests),
            }
            rows.append(row)
            print(row)
    show(rows)
    store("live", rows, bars={"frames/s": 10, "knob ms": 200, "pause ms": 50})


if __name__ == "__main__":
    main()
