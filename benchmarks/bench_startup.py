"""Seconds until something can be used: import, dashboard with a warm cache, dashboard with a cold cache.

* import: a fresh process, ``import sparsescope`` (median of 9), and for comparison the same with numba.
* first solve: a fresh process with a warm cache, import, problem and a solve by ``auto`` to a certified gap of 1e-6, in
  wall and processor seconds (medians of 9), and for comparison what numba and SciPy take by themselves: their import
  and the first compiled function from numba's own cache.
* warm: from starting ``sparsescope explore`` to the first answer of the server, and from opening the page in headless
  Chromium to a Run button that can be pressed and F(0) on the screen (median of 3).
* cold: with an empty kernel cache, from opening the page to the page's first paint, to the words that say what is being
  compiled, and from pressing Run to the first iterate.

    python benchmarks/bench_startup.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from common import parser, show, store
from explorer_driver import Explorer, browser


def import_seconds(statement: str, repeats: int) -> float:
    """Median wall seconds of a statement in fresh processes, without the interpreter's own start."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        for _ in range(repeats)
    ]
    return median(float(r) for r in runs)


FIRST_SOLVE = """
import numpy as np, sparsescope as ss
rng = np.random.default_rng(0)
result = ss.solve(ss.Problem(rng.normal(size=(200, 30)), rng.integers(0, 4, 200), lam_ratio=0.1))
assert result.converged
"""
WITHOUT_US = """
import sys
sys.path.insert(0, {folder!r})
import numba, numpy as np, scipy.sparse
import one_kernel
one_kernel.total(np.ones(3))
"""
ONE_KERNEL = "import numba\n\n@numba.njit(cache=True)\ndef total(x):\n    return (x * 2).sum()\n"


def fresh_seconds(code: str, repeats: int) -> tuple[float, float]:
    """Median wall and processor seconds of a program in fresh processes, the first of them not counted."""
    before = "import time; w, c = time.perf_counter(), time.process_time()\n"
    after = "\nprint(time.perf_counter() - w, time.process_time() - c)"
    runs = [
        subprocess.run([sys.executable, "-c", before + code + after], check=True, capture_output=True, text=True).stdout
        for _ in range(1 + repeats)
    ][1:]
    wall, processor = zip(*(map(float, run.split()) for run in runs), strict=True)
    return median(wall), median(processor)


def first_solve(repeats: int) -> dict[str, float]:
    """Seconds of a first solve with a warm cache, and of what it cannot do without."""
    with tempfile.TemporaryDirectory(prefix="sparsescope-floor-") as folder:
        (Path(folder) / "one_kernel.py").write_text(ONE_KERNEL)
        floor = fresh_seconds(WITHOUT_US.format(folder=folder), repeats)
    ours = fresh_seconds(FIRST_SOLVE, repeats)
    named = {"first solve": ours, "numba and SciPy alone": floor}
    return {f"{name} {kind}": v for name, pair in named.items() for kind, v in zip(("s", "CPU s"), pair, strict=True)}


def page_seconds(cache: str | None) -> dict[str, Any]:
    """Start a server and open its page; with an empty cache folder the kernels are compiled from nothing."""
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
    command = parser(__doc__, repeats=3)
    command.add_argument("--imports", action="store_true", help="no page: imports and the first solve; not stored")
    args = command.parse_args()
    imports = {
        "import sparsescope s": import_seconds("import sparsescope", 9),
        "import numba s": import_seconds("import numba", 3),
        **first_solve(9),
    }
    print(", ".join(f"{name}: {value:.3f}" for name, value in imports.items()))
    if args.imports:
        return
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
    store(
        "startup",
        rows,
        **imports,
        bars={"import s": 1.0, "first solve s": 0.5, "warm, all s": 5.0, "cold, first iterate s": 10.0},
    )


if __name__ == "__main__":
    main()
