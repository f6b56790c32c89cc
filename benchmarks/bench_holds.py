"""How long does a run hold its turn? Processor time of a step, and of its longest piece between two places to stop.

On a shared server runs compute in turns of 8 ms at most (``runs/turns.py``), which can change hands at certain places
of a step only (``pauses.py``). Both figures are processor time of the thread, so other programs do not disturb them.

    python benchmarks/bench_holds.py                    digits and pydocs, as on the pages
    python benchmarks/bench_holds.py --data news20 --steps 8 --solvers all
"""

from __future__ import annotations

import time
from typing import Any

from bench_class import LOSSES, PENALTIES
from common import bar, parser, rows_of, show, store
from problems import dataset

import sparsescope as ss
from sparsescope.pauses import pausing
from sparsescope.registry import solvers
from sparsescope.runs.turns import SLICE

DATA = ("digits", "pydocs")
SOLVERS = ("auto", "bcd-ls", "fista-ls")
REAL = ("news20", "mnist10k")  # where the files are, see problems.py
STEPS = 40
MS = 1000.0


def holds(problem: Any, solver: str, steps: int) -> tuple[list[float], list[float]]:
    """Seconds of each step with its certificate, and of the longest piece of each."""
    run = ss.Run(problem, solver, certify_every=None)
    run.advance()  # compiles, and evaluates the starting point
    run.advance()
    whole, longest = [], []
    last = most = 0.0

    def look() -> None:
        nonlocal last, most
        now = time.thread_time()
        last, most = now, max(most, now - last)

    with pausing(look):
        while len(whole) < steps and not run.message:
            began = last = time.thread_time()
            most = 0.0
            run.advance()
            look()
            whole.append(last - began)
            longest.append(most)
    return whole, longest


def measure(name: str, steps: int, wanted: list[str]) -> list[dict[str, Any]]:
    """A row for each loss, penalty and solver on a data set; solvers that cannot solve a problem are left out."""
    rows, data = [], dataset(name) if name in REAL else ss.datasets.load(name)
    for loss in LOSSES:
        for penalty in PENALTIES:
            problem = ss.Problem(data, loss=loss, penalty=penalty, lam_ratio=0.02)
            for solver in wanted:
                if solvers.create(solver).solves(problem) is not None:
                    continue
                whole, longest = holds(problem, solver, steps)
                rows.append(
                    {
                        "data": name,
                        "loss": loss,
                        "penalty": penalty,
                        "solver": solver,
                        "steps": len(whole),
                        "longest step ms": MS * max(whole),
                        "steps over a turn": sum(value > SLICE for value in whole) / len(whole),
                        "longest hold ms": MS * max(longest),
                        "holds over a turn": sum(value > SLICE for value in longest) / len(longest),
                    }
                )
    return rows


def main() -> None:
    """Measure and store."""
    command = parser(__doc__, quick="iris, 5 steps; stores nothing")
    command.add_argument("--data", nargs="+", default=list(DATA), help=f"registered data sets, or {REAL}")
    command.add_argument("--solvers", nargs="+", default=list(SOLVERS), help="names, or all")
    command.add_argument("--steps", type=int, default=STEPS)
    args = command.parse_args()
    names, steps = (["iris"], 5) if args.quick else (args.data, args.steps)
    kept = [row for row in rows_of("holds") if row["data"] not in names]
    for name in names:
        rows = measure(name, steps, list(solvers) if args.solvers == ["all"] else args.solvers)
        show(rows)
        bar(f"longest hold on {name}", max(row["longest hold ms"] for row in rows), MS * SLICE, unit=" ms")
        kept += rows
    if not args.quick:
        store("holds", kept)


if __name__ == "__main__":
    main()
