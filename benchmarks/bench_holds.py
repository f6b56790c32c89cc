"""Time for which a run holds its turn: processor time of a step, and of its longest piece between two places to stop.

On a shared server runs compute in turns of 8 ms at most (``runs/turns.py``), which can change hands at certain places
of a step only (``pauses.py``). Both figures are processor time of the thread, so other programs do not disturb them.

    python benchmarks/bench_holds.py                    digits and pydocs, as on the pages
    python benchmarks/bench_holds.py --data news20 --steps 8 --solvers all
    python benchmarks/bench_holds.py --covariance 1000 --steps 8      `quic` and `lhac-covariance` on p random variables
    python benchmarks/bench_holds.py --data news20 --cost             what the places to stop cost a run that is alone

The row *making the problem* is of what prepares one on a page. ``--cost`` runs the same steps in the same process in
pairs, with work cut as it is and with limits so large that next to nothing is cut; what is stored is the median of the
pairs' ratios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import numpy as np
from bench_class import LOSSES, PENALTIES
from classroom import MAKING
from common import OtherLoad, bar, parser, rows_of, show, store
from problems import dataset

import sparsescope as ss
from sparsescope.pauses import pausing
from sparsescope.registry import solvers
from sparsescope.runs.turns import SLICE

DATA = ("digits", "pydocs")
SOLVERS = ("auto", "bcd-ls", "fista-ls")
MORE_PENALTIES = ("ridge",)  # beside those of a class
REAL = ("news20", "mnist10k")  # where the files are, see problems.py
STEPS = 40
MS = 1000.0
COVARIANCE = ("quic", "lhac-covariance")
LIMITS = (
    "PART",
    "PRODUCT",
    "WORK",
    "DENSE_PART",
    "SCORES",
    "CELLS",
    "COPIED",
    "AT_ONCE",
    "SCANNED",
    "TURNED_AT_ONCE",
    "RANKED",
    "TOUCHED",
)
WITH_PARTS = ("sparsescope.inputs", "sparsescope.problems", "sparsescope.solvers")
PAIRS, MOST_COST = 7, 1.02


class Watch:
    """Processor time of this thread, and its longest piece between two places to stop."""

    def __init__(self) -> None:
        self.began = self.last = time.thread_time()
        self.most = 0.0

    def look(self) -> None:
        """At a place to stop, and at the end."""
        now = time.thread_time()
        self.last, self.most = now, max(self.most, now - self.last)

    @property
    def whole(self) -> float:
        """Seconds until the last look."""
        return self.last - self.began


def holds(problem: Any, solver: str, steps: int) -> tuple[list[float], list[float]]:
    """Seconds of each step with its certificate, and of the longest piece of each."""
    alone(problem, solver, steps)  # loads the kernels of all of them, which a page does ahead
    run = ss.Run(problem, solver, certify_every=None)
    run.advance()  # evaluates the starting point
    run.advance()
    watches = []
    while len(watches) < steps and not run.message:
        watches.append(Watch())
        with pausing(watches[-1].look):
            run.advance()
        watches[-1].look()
    return [watch.whole for watch in watches], [watch.most for watch in watches]


def row_of(named: dict[str, Any], whole: list[float], longest: list[float]) -> dict[str, Any]:
    """Row that is stored of these steps."""
    return {
        **named,
        "steps": len(whole),
        "longest step ms": MS * max(whole),
        "steps over a turn": sum(value > SLICE for value in whole) / len(whole),
        "longest hold ms": MS * max(longest),
        "holds over a turn": sum(value > SLICE for value in longest) / len(longest),
    }


def covariance(p: int, steps: int) -> list[dict[str, Any]]:
    """Rows for sparse inverse covariances of p random variables."""
    sample = np.random.default_rng(0).standard_normal((2 * p, p))
    problem = ss.CovarianceProblem(np.corrcoef(sample, rowvar=False), lam_ratio=0.3)
    named = {"data": f"covariance, p = {p}", "loss": "covariance", "penalty": problem.penalty.name}
    return [row_of({**named, "solver": solver}, *holds(problem, solver, steps)) for solver in COVARIANCE]


@contextmanager
def uncut() -> Iterator[None]:
    """Next to nothing is cut into parts."""
    cut = [
        (module, limit, getattr(module, limit))
        for name, module in list(sys.modules.items())
        if name.startswith(WITH_PARTS)
        for limit in LIMITS
        if isinstance(getattr(module, limit, None), int)
    ]
    try:
        for module, limit, _ in cut:
            setattr(module, limit, 10**12)
        yield
    finally:
        for module, limit, size in cut:
            setattr(module, limit, size)


def alone(problem: Any, solver: str, steps: int) -> float:
    """Processor seconds of some steps of a run that shares with nobody."""
    run = ss.Run(problem, solver, certify_every=None)
    run.advance()
    began = time.process_time()
    for _ in range(steps):
        run.advance()
    return time.process_time() - began


def cost(name: str, steps: int, wanted: list[str]) -> list[dict[str, Any]]:
    """For each loss, penalty and solver the processor time of steps with places to stop, as a share of that without."""
    rows = []
    for problem, named in problems_of(name):
        for solver in wanted:
            if solvers.create(solver).solves(problem) is not None:
                continue
            alone(problem, solver, 2)
            ratios = []
            for k in range(PAIRS):
                if k % 2:
                    cut = alone(problem, solver, steps)
                with uncut():
                    whole = alone(problem, solver, steps)
                if not k % 2:
                    cut = alone(problem, solver, steps)
                ratios.append(cut / whole)
            rows.append({**named, "solver": solver, "steps": steps, "CPU of uncut": median(ratios)})
            show(rows[-1:])
    return rows


def problems_of(name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The problems on a data set, each with its names; the first of them is made once in vain, for its kernels."""
    data = dataset(name) if name in REAL else ss.datasets.load(name)
    for loss in LOSSES:
        for penalty in (*PENALTIES, *MORE_PENALTIES):
            yield (
                ss.Problem(data, loss=loss, penalty=penalty, lam_ratio=0.02),
                {"data": name, "loss": loss, "penalty": penalty},
            )


def measure(name: str, steps: int, wanted: list[str]) -> list[dict[str, Any]]:
    """A row for each loss, penalty and solver on a data set; solvers that cannot solve a problem are left out."""
    rows, data = [], dataset(name) if name in REAL else ss.datasets.load(name)
    for problem, named in problems_of(name):
        watch = Watch()
        with pausing(watch.look):
            ss.Problem(data, loss=named["loss"], penalty=named["penalty"], lam_ratio=0.02)
        watch.look()
        rows.append(row_of({**named, "solver": MAKING}, [watch.whole], [watch.most]))
        for solver in wanted:
            if solvers.create(solver).solves(problem) is None:
                rows.append(row_of({**named, "solver": solver}, *holds(problem, solver, steps)))
    return rows


def main() -> None:
    """Measure and store."""
    command = parser(__doc__, quick="iris, 5 steps; stores nothing")
    command.add_argument("--data", nargs="+", default=list(DATA), help=f"registered data sets, or {REAL}")
    command.add_argument("--solvers", nargs="+", default=list(SOLVERS), help="names, or all")
    command.add_argument("--steps", type=int, default=STEPS)
    command.add_argument("--covariance", type=int, default=0, metavar="P", help="of P random variables, and no data")
    command.add_argument("--cost", action="store_true", help="what the places to stop cost a run that is alone")
    args = command.parse_args()
    names, steps = (["iris"], 5) if args.quick else (args.data, args.steps)
    wanted = list(solvers) if args.solvers == ["all"] else args.solvers
    load, found = OtherLoad(), []
    if args.cost:
        found = [{**row, "measured": "cost"} for name in names for row in cost(name, steps, wanted)]
        bar("CPU of a run alone, of that uncut", max(row["CPU of uncut"] for row in found), MOST_COST)
    elif args.covariance:
        found = covariance(args.covariance, steps)
    else:
        for name in names:
            found += measure(name, steps, wanted)
    show(found)
    if not args.cost:
        bar("longest hold", max(row["longest hold ms"] for row in found), MS * SLICE, unit=" ms")
    if args.quick:
        return
    said = {"date": time.strftime("%Y-%m-%d"), "load of the machine": load.share()}
    new = {key(row) for row in found}
    kept = [row for row in rows_of("holds") if key(row) not in new]
    store("holds", kept + [{**row, **said} for row in found], kept=bool(kept))


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    """Key of the row that a new measurement replaces."""
    return tuple(row.get(name) for name in ("measured", "data", "loss", "penalty", "solver"))


if __name__ == "__main__":
    main()
