"""The multiclass hinge with ridge: `dual-cd` beside our other solvers of it and liblinear's `-s 4`.

Processor seconds on one thread until the objective is within 1e-2, 1e-4 and 1e-6 of the optimum, which is certified;
medians of turns in which each contestant has one run. Ours count from a prepared problem on, without certificates, the
copy of X by rows included; liblinear (scikit-learn's LinearSVC) from the arrays on, at the largest of its tolerances
whose weights are that good. λ = 1/(nC).

    python benchmarks/bench_crammer_singer.py [--cases …] [--solvers …] [--repeats 3] [--limit 10] [--fresh] [--print]
"""

from __future__ import annotations

import time
from functools import partial
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from problems import dataset

import sparsescope as ss
from sparsescope.experiments import peers
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Objective, Seconds

NAME = "crammer_singer"
LEVELS = (1e-2, 1e-4, 1e-6)
CERTIFIED = 1e-8
TOLERANCES = (1.0, 0.5, 0.2, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)  # of liblinear
OWN = ("dual-cd", "pd-sparse", "ssnal", "fbpd")
CASES = {
    "iris, C = 1": ("iris", 1.0),
    "wine, C = 1": ("wine", 1.0),
    "digits, C = 1": ("digits", 1.0),
    "pydocs, C = 1": ("pydocs", 1.0),
    "bands (36 features), C = 0.1": ("bands", 0.1),
    "bands (36 features), C = 1": ("bands", 1.0),
    "letter, C = 1": ("letter", 1.0),
    "MNIST-10k, C = 0.1": ("mnist10k", 0.1),
    "news20, C = 0.1": ("news20", 0.1),
    "news20, C = 1": ("news20", 1.0),
}


def bands() -> Any:
    """4435 samples of six classes, nine pixels in four bands: generated in the shape of satellite images."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.sort(rng.integers(0, 6, 4435)))
    spread = np.array([0.5, 0.6, 0.7, 0.5, 0.6, 0.8])
    tied = np.array([[1.0, 0.8, 0.2, 0.1], [0.0, 0.6, 0.1, 0.1], [0.0, 0.0, 1.0, 0.9], [0.0, 0.0, 0.0, 0.4]])
    middle = 0.9 * rng.standard_normal((6, 4))
    pixel = middle[y] + spread[y][:, None] * (rng.standard_normal((y.size, 4)) @ tied)
    X = np.repeat(pixel[:, None, :], 9, axis=1) + 0.25 * rng.standard_normal((y.size, 9, 4))
    return ss.datasets.from_arrays(X.reshape(y.size, 36), y, name="bands", scale="standard")


def problem_of(case: str) -> ss.Problem:
    """The problem of a case; :class:`Missing` if its data are not here."""
    name, C = CASES[case]
    bundled = name in ("iris", "wine", "pydocs")
    data = bands() if name == "bands" else ss.datasets.load(name) if bundled else dataset(name)
    return ss.Problem(data.X, data.y, loss="crammer-singer", penalty="ridge", lam=1.0 / (C * len(data.y)))


def optimum(problem: ss.Problem, limit: float) -> tuple[float, float]:
    """The largest dual value found, and the relative gap."""
    run = ss.Run(problem, "dual-cd", stop=Gap(CERTIFIED) | Seconds(6.0 * limit), clock=time.thread_time)
    best = max(event.dual for event in run)
    return best, run.certificate().relative_gap


def own(problem: ss.Problem, name: str, values: list[float], limit: float) -> list[float | None]:
    """Seconds of one of our solvers to each value."""
    run = ss.Run(
        problem.fresh(),
        name,
        clock=time.thread_time,
        certify_every=10**9,
        stop=Objective(min(values)) | Seconds(limit),
    )
    found: list[float | None] = [None] * len(values)
    for event in run:
        for k, value in enumerate(values):
            if found[k] is None and event.objective <= value:
                found[k] = event.seconds
    return found


def liblinear(problem: ss.Problem, values: list[float], limit: float, settings: list[float]) -> list[float | None]:
    """Seconds of liblinear to each value: of the first of its tolerances, from the largest on, that reaches it.

    ``settings`` : the tolerances worth trying; those that reach nothing new are taken off in the first turn.
    """
    X = problem.design.matrix
    X = X.tocsr() if problem.design.is_sparse else np.ascontiguousarray(X)
    found: list[float | None] = [None] * len(values)
    for tol in list(settings):
        fit = peers.crammer_singer(X, problem.y, problem.m, C=1.0 / (problem.n * problem.lam), tol=tol, passes=10**6)
        objective = problem.objective(fit.W)
        new = [k for k, value in enumerate(values) if found[k] is None and objective <= value]
        for k in new:
            found[k] = fit.seconds if fit.seconds <= limit else None
        if not new and len(settings) > 1:
            settings.remove(tol)
        if fit.seconds > limit or found[-1] is not None:
            settings[:] = [kept for kept in settings if kept >= tol]
            break
    return found


def measure(case: str, names: list[str], repeats: int, limit: float) -> dict[str, Any]:
    """The row of one case."""
    problem = problem_of(case)
    best, gap = optimum(problem, limit)
    values = [best + level * abs(best) for level in LEVELS]
    took: dict[str, list[list[float | None]]] = {"liblinear": []}
    took |= {name: [] for name in names if solvers.create(name).solves(problem) is None}
    settings = list(TOLERANCES)
    for turn in range(repeats):
        for name, runs in took.items():
            if turn and runs[0][-1] is None and name != "liblinear":
                runs.append(runs[0])  # out of time in its first turn: that is not measured again
            else:
                runs.append(
                    liblinear(problem, values, limit, settings)
                    if name == "liblinear"
                    else own(problem, name, values, limit)
                )
    contestants = {}
    for name, runs in took.items():
        levels: dict[str, Any] = {}
        for k, level in enumerate(LEVELS):
            reached = [run[k] for run in runs if run[k] is not None]
            done = len(reached) > repeats // 2
            levels[f"{level:.0e}"] = {"cpu": median(reached)} if done else None  # type: ignore[type-var]
        contestants[name] = {"levels": levels}
    began = common.clock()
    ss.Problem(problem.design.matrix, problem.y, loss="crammer-singer", penalty="ridge", lam=problem.lam)
    return {
        "case": case,
        "n": problem.n,
        "d": problem.d,
        "m": problem.m,
        "contestants": contestants,
        "gap of the optimum": gap,
        "problem s": common.clock() - began,
        "repeats": repeats,
        "limit": limit,
    }


def ratios(rows: list[dict[str, Any]], name: str = "dual-cd", other: str = "liblinear") -> list[float | None]:
    """The largest ratio of a contestant's seconds to another's at each level, over the rows where both got there."""
    found: list[float | None] = []
    for level in LEVELS:
        pairs = [
            [row["contestants"].get(n, {"levels": {}})["levels"].get(f"{level:.0e}") for n in (name, other)]
            for row in rows
        ]
        both = [a["cpu"] / b["cpu"] for a, b in pairs if a and b]
        found.append(max(both, default=None))
    return found


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars."""
    return {"largest ratio to liblinear": ratios(rows), "largest ratio to pd-sparse": ratios(rows, other="pd-sparse")}


def report(rows: list[dict[str, Any]]) -> None:
    """Tables and bars."""
    for row in rows:
        print(f"\n{row['case']} (n = {row['n']}, d = {row['d']}, m = {row['m']})")
        common.show(
            [
                {"solver": name} | {level: entry and entry["cpu"] for level, entry in found["levels"].items()}
                for name, found in row["contestants"].items()
            ]
        )
    for other in ("liblinear", "pd-sparse"):
        for level, ratio in zip(LEVELS, ratios(rows, other=other), strict=True):
            common.bar(f"dual-cd ÷ {other} to {level:.0e}, worst case", ratio, 1.0)


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "fresh", "print", quick="iris only", repeats=3, limit=10.0)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--solvers", nargs="+", default=list(OWN))
    args = parser.parse_args()
    if args.print:
        report(common.rows_of(NAME))
        return
    common.quiet()
    cases = ["iris, C = 1"] if args.quick else args.cases
    kept = common.Rows(NAME, {"solvers": args.solvers, "repeats": args.repeats, "limit": args.limit}, args.fresh)
    kept.measure({case: partial(measure, case, args.solvers, args.repeats, args.limit) for case in cases})
    report(kept.finish(CASES, summary=summary))


if __name__ == "__main__":
    main()
