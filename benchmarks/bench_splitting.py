"""The splitting methods for the exact multiclass hinge: iterations, projections, gaps, and races.

cost         one step of fbpd beside its two products with X and the projection of the same rows; the bar is a step of
             at most 1.5 times the products plus the projection (medians over turns, processor time of this thread)
projections  on simplices and epigraphs, 60 000 rows of 20, on one and on two threads (wall time); bar 60 ms each on one
gaps         seconds and iterations to a relative duality gap of 1e-4 and 1e-6: fbpd, and fbpd-constrained with the η
             of the same solution; and how far the two objectives are from each other (bar 1e-6)
races        MNIST subsets, ℓ1,∞ on blocks: time to a relative distance of 1e-3 from x∞ for the five methods of Fig. 3
             of Chierchia et al. (2015), and for both algorithms as they are by default; medians over random subsets

    python benchmarks/bench_splitting.py [--only cost projections gaps races] [--repeats 3] [--limit 30]
                                         [--race-limit 8] [--fresh]
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp
from common import cpu
from problems import dataset, file_of

import sparsescope as ss
from sparsescope.kernels.projections import project_epigraph, project_simplex
from sparsescope.runs.stopping import Gap, Seconds
from sparsescope.solvers.parallel_bcd import cores, together

PARTS = ("cost", "projections", "gaps", "races")
COST_BAR, MILLISECONDS_BAR, GAP_BAR = 1.5, 60.0, 1e-6
ROWS, CLASSES = 60_000, 20
LEVELS = (1e-4, 1e-6)
HINGE = "crammer-singer"
# case -> (data, storage, steps before the first that is timed)
COST = {
    "digits": ("digits", "dense", 60), "leukemia": ("leukemia", "dense", 60), "MNIST-10k": ("mnist10k", "dense", 20),
    "MNIST-10k, CSR": ("mnist10k", "csr", 20), "news20, CSR": ("news20", "csr", 20),
}  # fmt: skip
COST_RATIO = 0.05  # λ/λ_max
# case -> (data, penalty, λ/λ_max, intercept)
GAPS = {
    "iris": ("iris", "l1/l2", 0.1, False), "wine": ("wine", "l1/l2", 0.1, False),
    "wine, intercept": ("wine", "l1/l2", 0.1, True), "digits": ("digits", "l1/l2", 0.1, False),
    "digits, l1": ("digits", "l1", 0.1, False),
    "leukemia, l1/l2": ("leukemia", "l1/l2", 0.1, False), "leukemia, l1": ("leukemia", "l1", 0.1, False),
    "leukemia, block-l1/l2": ("leukemia", "block-l1/l2", 0.1, False),
    "leukemia, block-l1/linf": ("leukemia", "block-l1/linf", 0.1, False),
    "leukemia, l1, intercept": ("leukemia", "l1", 0.1, True),
}  # fmt: skip
RACES = (("pixels", 3), ("random filters", 10))
PLACE = 2  # of the seven values of α of the paper's experiments: a tenth of the first


@functools.cache
def data_of(name: str) -> Any:
    """A data set; the leukemia data as the experiments of paper 3 prepare them. :class:`Missing` without its file."""
    if name == "leukemia":
        from sparsescope.experiments.paper3 import samples

        pool = samples.load(str(file_of("golub_leukemia.npz")))
        return ss.datasets.from_arrays(pool.X[: pool.training], pool.y[: pool.training], name=name)
    return ss.datasets.load(name, test_size=0.0) if name in ("iris", "wine") else dataset(name)


# ----------------------------------------------------------------------------------------------------------------- cost
def cost(name: str, turns: int) -> dict[str, Any]:
    """A step, its two products, and the projection of its rows."""
    source, storage, first = COST[name]
    data = data_of(source)
    X = data.X.toarray() if sp.issparse(data.X) and storage == "dense" else data.X
    problem = ss.Problem(X, data.y, loss=HINGE)
    problem = problem.with_lam(COST_RATIO * problem.lam_max)
    solver = ss.registry.solvers.create("fbpd")
    state = solver.init(problem)
    for _ in range(first):
        solver.step(problem, state)
    G, Z, out = np.empty_like(state.coef), np.empty_like(state.Z), np.empty_like(state.Z)
    project_simplex(state.Q, 1.0, out, 0, problem.n)
    table = []
    for _ in range(turns):
        # What the dual half projects, as near as it can be had from outside: rows around a simplex.
        V = state.Q + state.Z
        W = state.coef.copy()
        step = cpu(lambda: solver.step(problem, state))
        products = cpu(lambda: problem.design.rmatmul(state.Q, G)) + cpu(lambda: problem.design.matmul(W, Z))  # noqa: B023
        projection = cpu(lambda: project_simplex(V, 1.0, out, 0, problem.n))  # noqa: B023
        table.append((step, products, projection, (step - projection) / products))
    step, products, projection, ratio = (median(column) for column in zip(*table, strict=True))
    return {
        "part": "cost",
        "case": f"cost: {name}",
        "rows %": 100.0 * float(state.coef.any(axis=1).mean()),
        "step ms": 1e3 * step,
        "products ms": 1e3 * products,
        "projection ms": 1e3 * projection,
        "ratio": ratio,
    }


# ---------------------------------------------------------------------------------------------------------- projections
def projections(kind: str, threads: int, repeats: int) -> dict[str, Any]:
    """Milliseconds of one kind of projection of all rows (wall time: threads are the subject)."""
    rng = np.random.default_rng(0)
    V, y = rng.standard_normal((ROWS, CLASSES)), rng.integers(0, CLASSES, ROWS)
    zeta, out, theta = rng.standard_normal(ROWS), np.empty((ROWS, CLASSES)), np.empty(ROWS)
    ends = [int(i) for i in np.linspace(0, ROWS, threads + 1)]

    def share(t: int) -> None:
        if kind == "simplex":
            project_simplex(V, 1.0, out, ends[t], ends[t + 1])
        else:
            project_epigraph(V, zeta, y, 1.0, out, theta, ends[t], ends[t + 1])

    def work() -> None:
        together([functools.partial(share, t) for t in range(threads)])

    seconds = common.timed(work, max(5, repeats), time.perf_counter)
    return {
        "part": "projections",
        "case": f"{kind}, {threads} thread{'s' if threads > 1 else ''}",
        "rows": ROWS,
        "classes": CLASSES,
        "ms": 1e3 * seconds,
    }


# ----------------------------------------------------------------------------------------------------------------- gaps
def to_levels(problem: ss.Problem, solver: ss.solvers.Solver, limit: float) -> tuple[dict[float, Any], ss.Run]:
    """(processor seconds, iterations) at each level of the relative gap; levels that are not reached are left out."""
    run = ss.Run(problem, solver, stop=Gap(min(LEVELS)) | Seconds(limit), certify_every=10, clock=time.thread_time)
    run.warm_up()
    found: dict[float, Any] = {}
    for event in run:
        for level in LEVELS:
            if event.relative_gap <= level:
                found.setdefault(level, (event.seconds, event.iteration))
    return found, run


def gaps(name: str, repeats: int, limit: float) -> dict[str, Any]:
    """Both formulations of one problem."""
    source, penalty, ratio, intercept = GAPS[name]
    data = data_of(source)
    problem = ss.Problem(data.X, data.y, loss=HINGE, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(ratio * problem.lam_max)
    row: dict[str, Any] = {"part": "gaps", "case": f"gaps: {name}", "limit": limit}
    first = to_levels(problem, ss.registry.solvers.create("fbpd"), limit)
    eta = first[1].certificate().loss
    objectives = {}
    for key, solver in (
        ("fbpd", ss.registry.solvers.create("fbpd")),
        ("fbpd-constrained", ss.registry.solvers.create("fbpd-constrained", eta=eta)),
    ):
        begun = [first] if key == "fbpd" else []
        tried = begun + [to_levels(problem, solver, limit) for _ in range(repeats - len(begun))]
        for level in LEVELS:
            reached = [found[level] for found, _ in tried if level in found]
            done = len(reached) == repeats
            row[f"{key} {level:.0e} s"] = median(r[0] for r in reached) if done else None
            row[f"{key} {level:.0e} steps"] = int(median(r[1] for r in reached)) if done else None
        run = tried[-1][1]
        assert run.state is not None
        b = run.state.intercept()
        objectives[key] = problem.objective(np.array(run.state.weights()), None if b is None else np.array(b))
        row[f"{key} gap"] = run.certificate().relative_gap
    row["difference"] = abs(objectives["fbpd"] - objectives["fbpd-constrained"]) / objectives["fbpd"]
    return row


# ---------------------------------------------------------------------------------------------------------------- races
def races(kind: str, size: int, repeats: int, limit: float) -> dict[str, Any]:
    """Median seconds to x∞ on random subsets of MNIST."""
    from sparsescope.experiments.paper3 import fitting, protocol, races, samples

    pool = mnist()
    penalty = protocol.penalty(protocol.BLOCKINF, samples.blocks(pool, kind))
    limits = dataclasses.replace(protocol.FULL, race_seconds=limit)
    row: dict[str, Any] = {"part": "races", "case": f"races: {kind}, {size} a class", "limit": limit}
    spent: dict[str, list[float]] = {name: [] for name in protocol.METHODS}
    for k in range(repeats):
        split = samples.draw(pool, kind, size, k)
        alpha = fitting.sparse_alphas(split, penalty, limits)[PLACE]
        for name in protocol.METHODS:
            path, run, _ = races.race(split, name, alpha, penalty, limits, limits.settle)
            far = np.flatnonzero(path.distances() > protocol.NEAR)
            gap = races.last_gap(run)
            rest = races.settled(path, gap, limits)
            spent[name].append(path.seconds[int(far[-1]) + 1] if rest else float("inf"))
            row[f"{name} gap"] = gap
    for name, seconds in spent.items():
        middle = median(seconds)
        row[name] = middle if middle < float("inf") else None
    return row


@functools.cache
def mnist() -> Any:
    """MNIST with its test part cut to 100 images: nothing is tested here."""
    from sparsescope.experiments.paper3 import samples

    pool = samples.load(str(file_of("mnist.npz")))
    keep = pool.training + 100
    return dataclasses.replace(pool, X=pool.X[:keep], y=pool.y[:keep])


# ----------------------------------------------------------------------------------------------------------------- main
def jobs(part: str, args: argparse.Namespace) -> dict[str, Callable[[], dict[str, Any]]]:
    """case -> its measurement."""
    if part == "cost":
        return {f"cost: {name}": functools.partial(cost, name, args.turns) for name in COST}
    if part == "projections":
        made = {}
        for kind in ("simplex", "epigraph"):
            for threads in (1, 2) if cores() > 1 else (1,):
                key = f"{kind}, {threads} thread{'s' if threads > 1 else ''}"
                made[key] = functools.partial(projections, kind, threads, args.repeats)
        return made
    if part == "gaps":
        return {f"gaps: {name}": functools.partial(gaps, name, args.repeats, args.limit) for name in GAPS}
    return {
        f"races: {kind}, {size} a class": functools.partial(races, kind, size, args.repeats, args.race_limit)
        for kind, size in RACES
    }


def report(rows: list[dict[str, Any]]) -> None:
    """Tables and bars."""
    for part in PARTS:
        some = [{k: v for k, v in row.items() if k != "part"} for row in rows if row["part"] == part]
        if some:
            print(f"\n{part}")
            common.show(some)
    print()
    facts = summary(rows)
    common.bar("(step − projection) ÷ two products, worst case", facts["cost ratio"], COST_BAR)
    for kind in ("simplex", "epigraph"):
        common.bar(f"{kind} projections, one thread", facts[f"{kind} ms"], MILLISECONDS_BAR, unit=" ms")
        gain = facts[f"{kind} gain"]
        print(
            f"  two threads do the {kind} projections {gain:.2f} times as fast (wall time)"
            if gain
            else f"  not measured  {kind} projections on two threads"
        )
    common.bar("problems × formulations that miss a gap of 1e-6", facts["gaps missed"], 0)
    common.bar("difference of the two formulations, worst case", facts["difference"], GAP_BAR)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that have a bar; ``None`` for what was not measured."""
    by_part = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    found = [row[f"{key} 1e-06 s"] for row in by_part["gaps"] for key in ("fbpd", "fbpd-constrained")]
    ms = {row["case"]: row["ms"] for row in by_part["projections"]}
    gains = {
        f"{kind} gain": ms[f"{kind}, 1 thread"] / ms[f"{kind}, 2 threads"]
        if {f"{kind}, 1 thread", f"{kind}, 2 threads"} <= set(ms)
        else None
        for kind in ("simplex", "epigraph")
    }
    return {
        **gains, "cost ratio": max((row["ratio"] for row in by_part["cost"]), default=None),
        "simplex ms": ms.get("simplex, 1 thread"), "epigraph ms": ms.get("epigraph, 1 thread"),
        "gaps missed": sum(value is None for value in found) if found else None,
        "difference": max((row["difference"] for row in by_part["gaps"]), default=None),
    }  # fmt: skip


def main() -> None:
    """Measure what is asked for, and store the rows as they come."""
    parser = common.parser(__doc__, "fresh", repeats=3, turns=15, limit=30.0)
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--race-limit", type=float, default=8.0, help="the same for a method of the races")
    args = parser.parse_args()
    common.quiet()
    rows = common.Rows(
        "splitting",
        {"repeats": args.repeats, "turns": args.turns, "limit": args.limit, "race_limit": args.race_limit},
        args.fresh,
    )
    found = {(part, case): work for part in PARTS for case, work in jobs(part, args).items()}
    part_of = {case: part for part, case in found}

    def job(work: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        return lambda: {**work(), "repeats": args.repeats}

    rows.measure({case: job(work) for (_, case), work in found.items()}, lambda case: part_of[case] in args.only)
    report(rows.finish(part_of, summary=summary))


if __name__ == "__main__":
    main()
