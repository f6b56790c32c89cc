"""Processor seconds that `auto` needs to certify a relative gap of 1e-6: every loss with every penalty.

With and without intercept, at λ = 0.1 and 0.02 of λ_max, on the bundled data (digits: the first 300) and on data whose
features are correlated and of very different sizes (300 × 64, ten classes); and at 0.01 and 0.002 of λ_max on such
features with labels that nothing predicts, few samples and many weights (90x220x10: samples × features × classes). A
problem is met once before it is timed, so that everything is compiled. The bar is 10 processor seconds where n·d·m is
at most 200 000. ``--name`` stores another result beside the first.

    python benchmarks/bench_reach.py [--data factors digits wine iris 90x220x10 …] [--losses …] [--penalties …]
                                     [--tol 1e-6] [--limit 20] [--name reach]
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from common import clock, show, store

import sparsescope as ss
from sparsescope.registry import losses, penalties
from sparsescope.runs.run import warm_up

BAR, SIZE = 10.0, 200_000
SHARES, SMALL_SHARES = (0.1, 0.02), (0.01, 0.002)
WIDE = ("90x220x10", "150x130x10", "100x1000x2", "60x64x50", "40x500x10")
FEW = 300  # digits that are taken


def factors() -> tuple[np.ndarray, np.ndarray]:
    """Eight factors and a little noise; see the same problem in tests/contracts/test_reach.py."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((FEW, 8)) @ rng.standard_normal((8, 64)) + 0.1 * rng.standard_normal((FEW, 64))
    X = F * np.exp(rng.standard_normal(64))
    T = rng.standard_normal((64, 10)) * (rng.random((64, 1)) < 0.3)
    return X, (X @ T + 0.1 * rng.standard_normal((FEW, 10))).argmax(axis=1)


def unpredictable(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features of very different sizes, and labels that nothing predicts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + 0.1 * rng.standard_normal((n, d))
    X, y = X * np.exp(rng.standard_normal(d)), rng.integers(0, m, n)
    y[:m] = np.arange(m)
    return X, y


def data_of(name: str) -> tuple[Any, np.ndarray]:
    """Features and classes of a data set by name."""
    if name == "factors":
        return factors()
    if name in WIDE:
        return unpredictable(*map(int, name.split("x")))
    found = ss.datasets.load(name, test_size=0.0)
    return found.X[:FEW], found.y[:FEW]


def seconds_to(problem: ss.Problem, tol: float, limit: float) -> dict[str, Any]:
    """Processor seconds and iterations of `auto` to a relative gap, or to the limit."""
    warm_up(problem, ss.solvers.Auto())
    begin = clock()
    found = ss.solve(
        problem,
        "auto",
        tol=0.0,  # the rule below alone: that of ``tol`` also ends at a gap that is small beside F at zero weights
        max_iter=10**7,
        max_seconds=limit,
        stop=ss.stopping.Gap(tol, of_null=0.0),
        certify_every=10,
        record=False,
        clock=clock,
    )
    return {
        "solver": found.reason.split(":")[0],
        "seconds": clock() - begin,
        "iterations": found.iterations,
        "gap": found.relative_gap,
    }


def measure(args: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each problem."""
    rows = []
    for data, loss, penalty in itertools.product(args.data, args.losses, args.penalties):
        X, y = data_of(data)
        if "classes" not in losses[loss].target_types:
            continue
        if losses[loss].one_score:
            y = np.minimum(y, 1)
        for intercept, share in itertools.product((False, True), SMALL_SHARES if data in WIDE else SHARES):
            problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept, lam_ratio=share)
            found = seconds_to(problem, args.tol, args.limit)
            size = problem.n * problem.d * problem.m
            rows.append(
                {"data": data, "loss": loss, "penalty": penalty, "intercept": intercept, "share": share, "size": size}
                | found
            )
            print(
                f"{data} {loss} × {penalty}, intercept {intercept}, {share:g} λ_max: {found['seconds']:.2f} s "
                f"({found['solver']}, {found['iterations']} iterations), gap {found['gap']:.1e}",
                flush=True,
            )
    return rows


def main() -> None:
    """Measure, store and show."""
    parser = common.parser(__doc__, limit=20.0)
    parser.add_argument("--data", nargs="+", default=["factors", "digits", "wine", "iris", *WIDE])
    parser.add_argument("--losses", nargs="+", default=list(losses))
    parser.add_argument("--penalties", nargs="+", default=list(penalties))
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--name", default="reach", help="of the result")
    args = parser.parse_args()
    load = common.OtherLoad()
    rows = measure(args)
    judged = [row for row in rows if row["size"] <= SIZE]
    missed = [row for row in judged if row["seconds"] > BAR or row["gap"] > args.tol]
    show(rows)
    store(
        args.name,
        rows,
        tol=args.tol,
        problems=len(rows),
        slowest=max((row["seconds"] for row in judged), default=float("nan")),
        missed=len(missed),
        others=load.share(),
        bars={"seconds": BAR, "gap": args.tol},
    )


if __name__ == "__main__":
    main()
