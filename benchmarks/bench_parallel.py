"""Speed of ``bcd-parallel`` on two threads beside that on one, to the same objective.

Threads are the subject here, so wall time counts, and the machine should be quiet: with another job on one of two cores
the second thread has nothing to run on. For each problem, in turns: bcd-parallel on 1, 2, … threads, bcd-cst (permuted,
the serial form of the same method) and bcd-ls. Reported is the wall time to a relative sub-optimality, and the ratio
of the best serial time (one thread of any of these) to that of two threads. The optimum is certified.

    python benchmarks/bench_parallel.py [--only "news20 0.9 %"] [--turns 5] [--quick]
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import problems
import race

import sparsescope as ss
from sparsescope.runs.stopping import Objective, Seconds
from sparsescope.solvers import BCD, BCDConstant, ParallelBCD
from sparsescope.solvers.parallel_bcd import cores

CASES = ("news20 0.9 %", "news20 4.8 %", "MNIST-10k 5 %", "text50k 1 %")
QUICK = ("digits 30 %",)
LEVELS = (1e-2, 1e-3, 1e-4)
BAR, BAR_DATA = 1.6, "news20"


def contestants() -> dict[str, ss.solvers.Solver]:
    """One thread and more of the same, and the two serial solvers."""
    counts = sorted({1, 2, cores()}) if cores() > 1 else [1]
    return {
        "bcd-ls": BCD(),
        "bcd-cst": BCDConstant(selection="permuted"),
        **{f"{count} thread{'s' if count > 1 else ''}": ParallelBCD(threads=count) for count in counts},
    }


def times(problem: ss.Problem, solver: ss.solvers.Solver, best: float, limit: float) -> dict[float, float]:
    """Wall seconds of the solver to each level; levels that are not reached within the limit are left out."""
    targets = {level: best + level * abs(best) for level in LEVELS}
    run = ss.Run(problem, solver, stop=Objective(min(targets.values())) | Seconds(limit), certify_every=10**9)
    run.warm_up()
    found: dict[float, float] = {}
    last = run.advance()
    while True:
        for level, target in targets.items():
            if last.objective <= target:
                found.setdefault(level, last.seconds)
        if last.message:
            return found
        last = run.advance()


def measure(name: str, turns: int, limit: float) -> list[dict[str, Any]]:
    """A line for each level of one problem."""
    case = problems.case(name)
    best = race.optimum(case)["F*"]
    problem = case.problem()
    solvers = contestants()
    load = common.OtherLoad()
    spent: dict[str, list[dict[float, float]]] = {who: [] for who in solvers}
    for _ in range(turns):
        for who, solver in solvers.items():
            spent[who].append(times(problem, solver, best, limit))
    rows = []
    for level in LEVELS:
        row: dict[str, Any] = {"case": name, "level": level}
        for who, found in spent.items():
            reached = [times[level] for times in found if level in times]
            row[who] = median(reached) if len(reached) == turns else None
        serial = [row[who] for who in ("bcd-ls", "bcd-cst", "1 thread") if row[who] is not None]
        two = row.get("2 threads")
        row["bcd-cst ÷ 2 threads"] = row["bcd-cst"] / two if two and row["bcd-cst"] else None
        row["best serial ÷ 2 threads"] = min(serial) / two if two and serial else None
        row["load of others"] = load.share()
        rows.append(row)
    return rows


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, quick="digits only, nothing is stored", turns=5, limit=60.0)
    parser.add_argument("--only", nargs="+", default=list(CASES))
    args = parser.parse_args()
    if cores() < 2:
        print("This process may use one core only: there is nothing to compare.")
        return
    common.quiet()
    began, rows = time.perf_counter(), []
    names = QUICK if args.quick else args.only
    for _, found in common.there(names, lambda name: measure(name, args.turns, args.limit)):
        rows += found
    common.show(rows)
    judged = [r["best serial ÷ 2 threads"] for r in rows if r["case"].startswith(BAR_DATA)]
    judged = [value for value in judged if value is not None]
    value = median(judged) if judged else None
    common.bar("best serial time ÷ two threads on 20 newsgroups, median over levels", value, BAR, at_least=True)
    if not args.quick:
        common.store("parallel", rows, bar=BAR, median=value, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
