"""Sparse inverse covariance of thousands of features: processor seconds to gaps, and the memory of the process.

Generated correlations: n samples of p features in chains of ten, so few of them that chance connects nearly all chains
at the λ given, and thresholds do not take the problem apart. One process for each size and solver, one thread.

    python benchmarks/bench_large_covariance.py [--sizes 1000 2000 5000] [--limit 300] [--quick] [--print]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np

import sparsescope as ss
from sparsescope.runs.run import warm_up
from sparsescope.runs.stopping import Gap, Seconds

NAME = "large_covariance"
SIZES = (1000, 2000, 5000)
SOLVERS = ("quic", "lhac-covariance")
LEVELS = (1e-2, 1e-4, 1e-6)
SAMPLES, CHAIN, LAM = 0.3, 10, 0.1  # samples a feature, features of a chain, λ
MEMORY = 24.0  # GB: the bar


def correlations(p: int) -> np.ndarray:
    """The empirical correlations, (p, p)."""
    X = np.random.default_rng(0).standard_normal((int(SAMPLES * p), p))
    for j in range(p):
        if j % CHAIN:
            X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    return np.corrcoef(X, rowvar=False)


def child(p: int, name: str, limit: float) -> None:
    """The process that is measured: prints one line of JSON."""
    S = correlations(p)
    warm_up(ss.CovarianceProblem(S[:50, :50], lam=LAM), ss.registry.solvers.create(name))
    began = common.clock()
    problem = ss.CovarianceProblem(S, lam=LAM)
    made = common.clock() - began
    left, reached = list(LEVELS), dict.fromkeys(map(str, LEVELS))
    for event in ss.Run(problem, name, stop=Gap(LEVELS[-1]) | Seconds(limit), clock=common.clock):
        while left and event.relative_gap <= left[0]:
            reached[str(left.pop(0))] = made + event.seconds
    row = {
        "components": int(problem.components.max()) + 1,
        "edges": (event.nonzero_entries - p) // 2,
        "iterations": event.iteration,
        "gap": event.relative_gap,
        "reached": reached,
        "all s": common.clock() - began,
        "GB": common.peak(),
    }
    print(json.dumps(row))


def measure(p: int, name: str, limit: float) -> dict[str, Any]:
    """Row of one size and solver, measured in a separate process."""
    command = [sys.executable, __file__, "--child", str(p), name, "--limit", repr(limit)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"case": f"p = {p}, {name}", "p": p, "solver": name, "lam": LAM, **json.loads(said.splitlines()[-1])}


def report(rows: list[dict[str, Any]]) -> None:
    """The table, and the bars."""
    common.show([{k: v for k, v in row.items() if k not in ("reached", "case")} | row["reached"] for row in rows])
    for row in rows:
        common.bar(f"relative gap, {row['case']}", row["gap"], LEVELS[-1])
        common.bar(f"memory, {row['case']}", row["GB"], MEMORY, unit=" GB")


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "print", quick="p = 200, and nothing is stored", limit=300.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(int(args.child[0]), args.child[1], args.limit)
        return
    if args.print:
        report(common.rows_of(NAME))
        return
    common.quiet()
    rows = [measure(p, name, args.limit) for p in ([200] if args.quick else args.sizes) for name in SOLVERS]
    report(rows)
    if not args.quick:
        common.store(NAME, rows)


if __name__ == "__main__":
    main()
