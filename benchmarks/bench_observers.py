"""Cost of watching: solver seconds with the full recorder against solver seconds without any observer.

Both runs do the same iterations; repetitions alternate so that a busy machine slows both alike; the ratio of medians is
reported. The wall time of the watched run is shown as well: it is what certificates at every iteration cost in all.

Then what proving every iterate costs: processor seconds of ``for event in ss.Run(…)``, a certificate at every
iteration, over those of the same iterations alone, up to certified gaps of 1e-2 to 1e-6.

    python benchmarks/bench_observers.py [--repeats 9]
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from common import clock, parser, shared_data, show, store

import sparsescope as ss
from sparsescope.runs.stopping import Gap
from sparsescope.runs.trace import Recorder

SHARE, NEVER = 0.05, 10**9
LOSSES, LEVELS = ("multiclass-squared-hinge", "logistic"), (1e-2, 1e-6)


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


def iterate(problem: ss.Problem, solver: str, every: int, count: int | None, tol: float) -> tuple[float, int]:
    """Processor seconds and iterations of a run: ``count`` iterations, or up to a certified gap."""
    run = ss.Run(problem, solver, certify_every=every, stop=None if count else Gap(tol), clock=clock)
    run.warm_up()
    began = clock()
    run.advance()
    while not run.message and (count is None or run.iteration < count):
        run.advance()
    return clock() - began, int(run.iteration)


def prove(name: str, solver: str, loss: str, tol: float, repeats: int) -> dict[str, Any]:
    """Median ratio of an iteration with its certificate over one without."""
    problem = ss.Problem(ss.datasets.load(name), loss=loss)
    problem = problem.with_lam(SHARE * problem.lam_max)
    count = iterate(problem, solver, 1, None, tol)[1]
    pairs = [
        tuple(iterate(problem, solver, every, count, tol)[0] for every in (NEVER, 1)) for _ in range(max(3, repeats))
    ]
    bare, seen = median(p[0] for p in pairs), median(p[1] for p in pairs)
    ratios = sorted(watched / alone for alone, watched in pairs)
    return {
        "part": "events",
        "data": name,
        "loss": loss,
        "solver": solver,
        "tol": tol,
        "iterations": count,
        "bare s": bare,
        "proved s": seen,
        "ratio": seen / bare,
        "lowest": ratios[0],
        "highest": ratios[-1],
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
    names = ["digits", "pydocs"] + ([] if folder is None else [str(folder / "news20_bydate_tfidf.npz")])
    proved = [prove(name, "auto", loss, tol, args.repeats) for name in names for loss in LOSSES for tol in LEVELS]
    for row in proved:
        row["data"] = row["data"].split("/")[-1]
    show(proved)
    rows += proved
    store("observers", rows, median_ratio=median(r["ratio"] for r in rows if "part" not in r), bar=1.05)


if __name__ == "__main__":
    main()
