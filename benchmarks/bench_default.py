"""`auto` beside every own solver: processor seconds of `ss.solve` to certified relative gaps of 1e-2, 1e-4 and 1e-6.

Bundled and seven generated data sets × losses × penalties × λ. A call is timed as a whole, certificates included, on a
new problem (made beside the clock), so that everybody makes on the clock what it needs to know of X; kernels are
compiled. `auto` goes first; the others get a little more than its time, and those that certify the gap within it are
timed again, in turns with `auto`, problems of milliseconds up to nine times; medians count. The regret is `auto`'s time
over the smallest one. It is 1 where the best is the solver that `auto` has chosen, and where the difference is below a
millisecond. The bars are a median of 1.02 and a largest regret of 1.15. The stored rows have the rivals of one run
(``--solvers``).

    python benchmarks/bench_default.py [--data digits pydocs] [--losses …] [--penalties …] [--solvers …] [--tols 1e-4]
                                       [--shares 0.1 0.02] [--limit 10] [--repeats 3] [--fresh] [--print]
"""

from __future__ import annotations

import argparse
import functools
import itertools
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from bench_crammer_singer import bands
from bench_ridge import words

import sparsescope as ss
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.run import warm_up

NAME = "default"
DATA = (
    "iris",
    "wine",
    "breast_cancer",
    "digits",
    "pydocs",
    "bands",
    "letters",
    "genes",
    "tables",
    "sensors",
    "profiles",
    "documents",
)
SHARES = (0.1, 0.02)
LEVELS = (1e-2, 1e-4, 1e-6)
MEDIAN, WORST = 1.02, 1.15
HEADROOM, LEAST = 1.5, 0.02  # a rival gets this many times `auto`'s seconds, and these more
SHORT, MOST_REPEATS = 0.05, 9  # seconds of `auto` in all up to which short problems are repeated more often; how often
TIE = 1e-3  # seconds


def letters() -> Any:
    """3000 samples of 26 classes in 16 correlated features: many classes for few features."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 26
    X = 2.0 * rng.standard_normal((26, 16))[y] + rng.standard_normal((3000, 16)) @ rng.standard_normal((16, 16))
    return ss.datasets.from_arrays(X, y, name="letters", scale="standard")


def genes() -> Any:
    """80 samples of four classes in 2000 correlated features, one in twenty of which differs between classes."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    means = 1.5 * rng.standard_normal((4, 2000)) * (rng.random(2000) < 0.05)
    X = means[y] + rng.standard_normal((80, 2000)) + rng.standard_normal((80, 10)) @ rng.standard_normal((10, 2000))
    return ss.datasets.from_arrays(X, y, name="genes", scale="standard")


def tables() -> Any:
    """3000 samples of six classes in 300 features, neighbours of which go together and all of which tell."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 300))
    X[:, 1:] += 0.8 * X[:, :-1]
    scores = X @ rng.standard_normal((300, 6)) * 0.1 + rng.gumbel(size=(3000, 6))
    return ss.datasets.from_arrays(X, scores.argmax(axis=1), name="tables", scale="standard")


def neighbours(name: str, n: int, d: int, m: int, telling: float) -> Any:
    """Samples (n, d) of m classes; neighbours of the features go together, and this share of them tells."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.7 * X[:, :-1]
    effects = rng.standard_normal((d, m)) * (rng.random(d) < telling)[:, None]
    scores = 0.5 * X @ effects + rng.gumbel(size=(n, m))
    return ss.datasets.from_arrays(X, scores.argmax(axis=1), name=name, scale="standard")


def documents() -> Any:
    """1500 documents of twelve classes, 6000 words with Zipf's frequencies; CSR."""
    return ss.datasets.from_arrays(*words(1500, 6000, 12), name="documents")


GENERATED = {
    "bands": bands,
    "letters": letters,
    "genes": genes,
    "tables": tables,
    "sensors": functools.partial(neighbours, "sensors", 4000, 200, 5, 0.1),
    "profiles": functools.partial(neighbours, "profiles", 2000, 60, 10, 0.2),
    "documents": documents,
}


@functools.lru_cache(maxsize=1)
def data_of(data: str) -> Any:
    """The data set of this name."""
    return GENERATED[data]() if data in GENERATED else ss.datasets.load(data)


def classes_for(loss: str, y: np.ndarray) -> np.ndarray:
    """The classes; for a loss of one score whether they are another one than the most frequent."""
    return (y != np.bincount(y).argmax()).astype(int) if losses[loss].one_score else y


def problem_of(data: str, loss: str, penalty: str, share: float) -> ss.Problem | None:
    """The problem without intercept; ``None`` if the loss is not for classes."""
    if "classes" not in losses[loss].target_types:
        return None
    found = data_of(data)
    return ss.Problem(found.X, classes_for(loss, found.y), loss=loss, penalty=penalty, lam_ratio=share)


def seconds(make: Callable[[], Any], solver: str, tol: float, limit: float) -> tuple[float, str] | None:
    """Processor seconds to the gap and the solver that `auto` chose; ``None`` if it was not certified in time.

    make : makes the problem, which knows nothing of X yet
    """
    problem = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = common.clock()
        try:
            found = ss.solve(
                problem, solver, tol=tol, max_iter=10**6, max_seconds=limit, record=False, clock=common.clock
            )
        except FloatingPointError:  # a constant step too long: it diverged
            return None
        spent = common.clock() - began
    return (spent, found.reason.split(":")[0]) if found.converged else None


def regret(make: Callable[[], Any], rivals: list[str], tol: float, limit: float, repeats: int) -> dict[str, Any]:
    """The times of one problem and tolerance."""
    first = seconds(make, "auto", tol, limit)
    bound = limit if first is None else min(limit, HEADROOM * first[0] + LEAST)
    quick = [name for name in rivals if seconds(make, name, tol, bound) is not None]
    spent: dict[str, list[float]] = {name: [] for name in ("auto", *quick)}
    if first is not None:
        repeats = max(repeats, min(MOST_REPEATS, round(SHORT / max(first[0], TIE))))
    for turn in range(repeats):
        for name, times in spent.items():
            if name == "auto" and first is None:
                continue
            if turn and spent["auto"] and median(times) > HEADROOM * median(spent["auto"]) + LEAST:
                continue  # no longer a rival
            found = seconds(make, name, tol, limit)
            if found is not None:
                times.append(found[0])
    times_of = {name: median(times) for name, times in spent.items() if times}
    best = min(times_of, key=lambda name: times_of[name]) if times_of else ""
    own = times_of.get("auto")
    chosen = "" if first is None else first[1]
    tied = own is not None and (best in ("auto", chosen) or own - times_of[best] <= TIE)
    ratio = None if own is None else 1.0 if tied else own / times_of[best]
    return {
        "chosen": chosen,
        "auto": own,
        "best": best,
        "best seconds": times_of.get(best),
        "regret": ratio,
    }


def measure(args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each problem and tolerance."""
    options = {name: value for name, value in vars(args).items() if name not in ("fresh", "print")}
    kept = common.Rows(NAME, options, args.fresh)
    order = []
    for data, loss, penalty, share in itertools.product(args.data, args.losses, args.penalties, args.shares):
        case = f"{data}, {loss}, {penalty}, {share:g} λ_max"
        wanted = [f"{case}, {tol:.0e}" for tol in args.tols]
        if all(name in kept for name in wanted):
            order += wanted
            continue
        make = functools.partial(problem_of, data, loss, penalty, share)
        problem = make()
        if problem is None:
            continue
        order += wanted
        rivals = [name for name in args.solvers if name != "auto" and solvers.create(name).solves(problem) is None]
        for name in ("auto", *rivals):
            warm_up(problem, solvers.create(name))
        for tol, name in zip(args.tols, wanted, strict=True):
            if name not in kept:
                row = {"case": name} | regret(make, rivals, tol, args.limit, args.repeats)
                kept.keep(name, row)
                common.show([row])
    stored = [row["case"] for row in common.rows_of(NAME)]  # a part that is measured anew leaves the others
    return kept.finish(dict.fromkeys([*stored, *order]), summary=summary)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars."""
    found = [row["regret"] for row in rows if row["regret"] is not None]
    return {
        "cases": len(rows),
        "not certified": sum(row["regret"] is None for row in rows),
        "median regret": median(found) if found else None,
        "largest regret": max(found, default=None),
        f"above {WORST}": sum(value > WORST for value in found),
    }


def report(rows: list[dict[str, Any]]) -> None:
    """The worst cases, and the bars."""
    print()
    judged = [row for row in rows if row["regret"] is not None]
    common.show(sorted(judged, key=lambda row: -row["regret"])[:20])
    found = summary(rows)
    common.bar("median regret of auto", found["median regret"], MEDIAN)
    common.bar("largest regret of auto", found["largest regret"], WORST)


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "fresh", "print", quick="iris only", repeats=3, limit=10.0)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--losses", nargs="+", default=list(losses))
    parser.add_argument("--penalties", nargs="+", default=list(penalties))
    parser.add_argument(
        "--solvers",
        nargs="+",
        default=[name for name in solvers if solvers[name].converges and solvers[name].follows_lam],
    )
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="λ as shares of λ_max")
    parser.add_argument("--tols", nargs="+", type=float, default=list(LEVELS))
    args = parser.parse_args()
    if args.quick:
        args.data = ["iris"]
    report(common.rows_of(NAME) if args.print else measure(args))


if __name__ == "__main__":
    main()
