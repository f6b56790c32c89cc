"""Speed of solvers on two threads beside that on one: ``working-set`` and ``bcd-parallel``.

Threads are the subject here, so wall time counts, and the machine should be quiet: with another job on one of two cores
the second thread has nothing to run on.

``working-set`` on one thread and on two, in turns, until a relative gap is certified. Threads add in another order, and
where rounding decides which rows end at zero a run then takes another way, longer or shorter. So each turn puts the
samples in another random order, the same for both; the ratio of times is given as the median over the turns, with the
least and the largest.

``bcd-parallel`` on 1, 2, … threads, bcd-cst (permuted, the serial form of the same method) and bcd-ls, in turns:
the wall time to a relative sub-optimality, and the ratio of the best serial time (one thread of any of these) to that
of two threads. The optimum is certified.

    python benchmarks/bench_parallel.py [--only "news20 0.9 %"] [--sweeps "news20 0.9 %"] [--turns 5] [--quick]
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import problems
import race

import sparsescope as ss
from sparsescope.runs.stopping import Objective, Seconds
from sparsescope.solvers import BCD, BCDConstant, ParallelBCD, WorkingSet
from sparsescope.threads import cores

CASES = ("news20 0.9 %", "news20 4.8 %", "MNIST-10k 5 %")
SWEEPS = ("news20 0.9 %",)
QUICK = ("digits 30 %",)
LEVELS = (1e-2, 1e-3, 1e-4)
GAPS = (1e-2, 1e-4, 1e-6)
BAR = 1.6


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


def mixed(problem: ss.Problem, seed: int) -> ss.Problem:
    """The same problem with its samples in another order."""
    order = np.random.default_rng(seed).permutation(problem.n)
    matrix = problem.design.matrix
    rows = matrix.tocsr()[order] if problem.design.is_sparse else matrix[order]
    return problem.on(rows, np.asarray(problem.y)[order]).with_lam(problem.lam)


def certified(problem: ss.Problem, threads: int, gap: float) -> float | None:
    """Wall seconds of ``working-set`` until a relative gap is certified; ``None`` if it was not."""
    began = time.perf_counter()
    found = ss.solve(problem, WorkingSet(threads=threads), tol=gap, max_iter=10**5, max_seconds=60.0, record=False)
    return time.perf_counter() - began if found.converged else None


def measure_working_set(name: str, turns: int) -> list[dict[str, Any]]:
    """A line for each gap of one problem."""
    problem, load = problems.case(name).problem(), common.OtherLoad()
    spent: dict[tuple[float, int], list[float | None]] = {(gap, count): [] for gap in GAPS for count in (1, 2)}
    certified(problem, 2, GAPS[0])  # kernels and threads are there
    for turn in range(turns):
        this = mixed(problem, turn)
        for (gap, count), seconds in spent.items():
            seconds.append(certified(this, count, gap))
    rows = []
    for gap in GAPS:
        pairs = [(one, two) for one, two in zip(spent[gap, 1], spent[gap, 2], strict=True) if one and two]
        ratios = [one / two for one, two in pairs]
        row = {"case": name, "gap": gap, "turns": turns, "certified": len(pairs)}
        row |= {"working-set": median(one for one, _ in pairs), "working-set on 2": median(two for _, two in pairs)}
        row |= {"ratio": median(ratios), "least ratio": min(ratios), "largest ratio": max(ratios)}
        rows.append({**row, "load of others": load.share()})
    return rows


def measure(name: str, turns: int, limit: float) -> list[dict[str, Any]]:
    """A line for each level of one problem, for sweeps."""
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
    parser.add_argument("--only", nargs="*", default=list(CASES), help="problems for working-set")
    parser.add_argument("--sweeps", nargs="*", default=list(SWEEPS), help="problems for bcd-parallel")
    args = parser.parse_args()
    if cores() < 2:
        print("This process may use one core only: there is nothing to compare.")
        return
    common.quiet()
    began, rows = time.perf_counter(), []
    for _, found in common.there(
        QUICK if args.quick else args.only, lambda name: measure_working_set(name, args.turns)
    ):
        rows += found
    common.show(rows)
    value = median(row["ratio"] for row in rows) if rows else None
    sweeps: list[dict[str, Any]] = []
    for _, found in common.there(
        QUICK if args.quick else args.sweeps, lambda name: measure(name, args.turns, args.limit)
    ):
        sweeps += found
    common.show(sweeps)
    common.bar("time of working-set on one thread ÷ on two, median over problems and gaps", value, BAR, at_least=True)
    if not args.quick:
        common.store("parallel", rows + sweeps, bar=BAR, median=value, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
