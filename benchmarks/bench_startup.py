"""How long until something can be used? Import, dashboard with a warm cache, dashboard with a cold cache.

* import: a fresh process, ``import sparsescope`` (median of 9), and for comparison the same with numba.
* warm: from starting ``sparsescope explore`` to the first answer of the server, and from opening the page in headless
  Chromium to a Run button that can be pressed and F(0) on the screen (median of 3).
* cold: with an empty kernel cache, from opening the page to the page's first paint, to the words that say what is being
  compiled, and from pressing Run to the first iterate.

    python benchmarks/bench_startup.py
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

from common import show, store
from explorer_driver import Explorer, browser


def import_seconds(statement: str, repeats: int) -> float:
    """Median wall seconds of a statement in fresh processes, without the interpreter's own start."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        for _ in range(repeats)
    ]
    return median(float(r) for r in runs)


def page_seconds(cache: str | None) -> dict[str, Any]:
    """Start a server and open its page; with a cache folder of its own the kernels are compiled from nothing."""
    environment = dict(os.environ)
    if cache is not None:
        environment["SPARSESCOPE_CACHE"] = cache
    with Explorer(environment) as server, browser() as page:
        began = time.perf_counter()
        page.goto(server.url)
        page.locator("[data-testid=explorer-root]").wait_for()
        shown = time.perf_counter() - began
        words = None
        if cache is not None:
            page.wait_for_function("() => window.__sparsescope && window.__sparsescope.status.mode === 'compiling'")
            words = time.perf_counter() - began
            message = page.evaluate("() => window.__sparsescope.status.message")
            page.locator("[data-testid=run-button]").click()
            page.wait_for_function("() => window.__sparsescope.status.iteration >= 1", timeout=120_000)
            return {
                "case": "cold cache",
                "server s": server.seconds,
                "page s": shown,
                "words s": words,
                "first iterate s": time.perf_counter() - began,
                "message": message,
            }
        page.wait_for_function("() => window.__sparsescope && window.__sparsescope.points >= 1")
        ready = time.perf_counter() - began
        page.locator("[data-testid=run-button]").click()
        page.wait_for_function("() => window.__sparsescope.status.iteration >= 1")
        return {
            "case": "warm cache",
            "server s": server.seconds,
            "page s": shown,
            "ready s": ready,
            "first iterate s": time.perf_counter() - began,
        }


def main() -> None:
    """Measure and store the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    imports = {
        "import sparsescope s": import_seconds("import sparsescope", 9),
        "import numba s": import_seconds("import numba", 3),
    }
    print(", ".join(f"{name}: {value:.3f}" for name, value in imports.items()))
    page_seconds(None)  # fills the cache
    warm = [page_seconds(None) for _ in range(args.repeats)]
    rows = [{name: (median(r[name] for r in warm) if name != "case" else "warm cache") for name in warm[0]}]
    rows[0]["all s"] = median(r["server s"] + r["ready s"] for r in warm)
    folder = tempfile.mkdtemp(prefix="sparsescope-cold-")
    try:
        rows.append(page_seconds(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for row in rows:
        print(row)
    show(
        [
            {
                name: row.get(name)
                for name in ("case", "server s", "page s", "words s", "ready s", "all s", "first iterate s")
            }
            for row in rows
        ]
    )
    store("startup", rows, **imports, bars={"import s": 1.0, "warm, all s": 5.0, "cold, first iterate s": 10.0})


if __name__ == "__main__":
    main()
