"""What does watching cost? Solver seconds with the full recorder against solver seconds without any observer.

Both runs do the same iterations; repetitions alternate so that a busy machine slows both alike; the ratio of medians is
reported. The wall time of the watched run is shown as well: it is what certificates at every iteration cost in all.

    python benchmarks/bench_observers.py [--repeats 9]
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from common import parser, shared_data, show, store

import sparsescope as ss
from sparsescope.runs.trace import Recorder


def once(problem: ss.Problem, solver: str, iterations: int, watched: bool) -> tuple[float, float]:
    """Solver seconds and wall seconds of one run."""
    recorder = [Recorder()] if watched else []
    run = ss.Run(problem, solver, callbacks=recorder, certify_every=1 if watched else 10**9)
    run.warm_up()
    began = time.perf_counter()
    run.advance()
    for _ in range(iterations):
        run.advance()
    return run.seconds, time.perf_counter() - began


def measure(name: str, solver: str, iterations: int, repeats: int) -> dict[str, Any]:
    """Median ratio for one data set and solver."""
    problem = ss.Problem(ss.datasets.load(name))
    problem = problem.with_lam(0.05 * problem.lam_max)
    once(problem, solver, 2, True)
    pairs = [tuple(once(problem, solver, iterations, watched) for watched in (False, True)) for _ in range(repeats)]
    bare, seen = median(p[0][0] for p in pairs), median(p[1][0] for p in pairs)
    return {
        "data": name,
        "solver": solver,
        "iterations": iterations,
        "solver s": bare,
        "solver s, watched": seen,
        "ratio": seen / bare,
        "wall s, watched": median(p[1][1] for p in pairs),
    }


def main() -> None:
    """Measure small and large data, and store the table."""
    command = parser(__doc__, repeats=9)
    args = command.parse_args()
    cases = [
        ("digits", "bcd-ls", 100),
        ("digits", "fista-ls", 200),
        ("pydocs", "bcd-ls", 40),
        ("pydocs", "fista-ls", 100),
    ]
    folder = shared_data()
    if folder is not None:
        cases += [(str(folder / "news20_bydate_tfidf.npz"), "bcd-ls", 8)]
    rows = [measure(*case, args.repeats) for case in cases]
    for row in rows:
        row["data"] = row["data"].split("/")[-1]
    show(rows)
    store("observers", rows, median_ratio=median(r["ratio"] for r in rows), bar=1.05)


if __name__ == "__main__":
    main()
