"""Certified gaps of every smooth loss × penalty (aim: 1e-9), and how far the objectives of all solvers differ.

For each pair on iris, wine and digits: block coordinate descent runs to a relative gap of 1e-9, which certifies F*;
every other solver runs until its objective is within 5e-8 of F*, or to its limit, and the distance it reached is
reported.

    python benchmarks/bench_agreement.py [--data iris wine] [--ratio 0.1] [--seconds 60]
"""

from __future__ import annotations

import argparse
from typing import Any

from common import parser, show, store

import sparsescope as ss
from sparsescope.registry import losses, penalties, solvers

GAP = 1e-9
AGREE = 1e-7


def measure(problem: ss.Problem, seconds: float) -> dict[str, Any]:
    """One pair: the certified optimum, then each solver's distance to it."""
    best = ss.solve(problem, "bcd-ls", tol=GAP, max_iter=200_000, max_seconds=seconds, certify_every=20, record=False)
    row: dict[str, Any] = {"gap": best.relative_gap, "bcd-ls": best.iterations}
    floor = max(best.dual, 0.0)
    worst = 0.0
    for name in solvers:
        # Not the reference itself, methods for other problems, and one that only comes near an optimum.
        if name == "bcd-ls" or solvers.create(name).solves(problem) is not None or not solvers[name].converges:
            continue
        target = ss.stopping.Objective(best.objective * (1.0 + 0.5 * AGREE))
        found = ss.solve(
            problem, name, tol=GAP, max_iter=10**7, max_seconds=seconds, stop=target, certify_every=50, record=False
        )
        row[name] = found.iterations
        worst = max(worst, (found.objective - floor) / floor)
    row["disagreement"] = worst
    return row


def main() -> None:
    """Measure all pairs and store the table."""
    command = parser(__doc__)
    command.add_argument("--data", nargs="+", default=["iris", "wine", "digits"])
    command.add_argument("--ratio", type=float, default=0.1, help="λ/λ_max")
    command.add_argument("--seconds", type=float, default=120.0, help="limit for each solver")
    args = command.parse_args()
    rows = []
    for data in args.data:
        dataset = ss.datasets.load(data)
        for loss in losses:
            if not losses.create(loss).smooth:
                continue
            for penalty in penalties:
                problem = ss.Problem(dataset, loss=loss, penalty=penalty)
                problem = problem.with_lam(args.ratio * problem.lam_reference)
                row = {"data": data, "loss": loss, "penalty": penalty, **measure(problem, args.seconds)}
                rows.append(row)
                print(
                    f"{data} {loss} × {penalty}: gap {row['gap']:.1e}, disagreement {row['disagreement']:.1e}",
                    flush=True,
                )
                keep(rows, args)
    show(rows)


def keep(rows: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Store what there is so far: the whole table takes a while."""
    store(
        "agreement-" + "-".join(args.data),
        rows,
        say=False,
        ratio=args.ratio,
        seconds=args.seconds,
        worst_gap=max(r["gap"] for r in rows),
        worst_disagreement=max(r["disagreement"] for r in rows),
        pairs=len(rows),
        bars={"gap": GAP, "disagreement": AGREE},
    )


if __name__ == "__main__":
    main()
