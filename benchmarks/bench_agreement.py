"""Certified gaps of every smooth loss × penalty (aim: 1e-9), and how far the objectives of all solvers differ.

For each pair on iris, wine and digits: `auto` runs to a relative gap of 1e-9, which certifies F*; every other solver
runs until its objective is within 5e-8 of F*, or to its limit, and the distance it reached is reported.

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
    """One pair: the certified optimum, then each solver's distance to it, relative, and the farthest of them."""
    best = ss.solve(problem, "auto", tol=GAP, max_iter=200_000, max_seconds=seconds, record=False)
    row: dict[str, Any] = {"gap": best.relative_gap}
    floor = max(best.dual, 0.0)
    found: dict[str, float] = {}
    for name in solvers:
        # Not the reference itself, methods for other problems, and one that only comes near an optimum.
        if name == "auto" or solvers.create(name).solves(problem) is not None or not solvers[name].converges:
            continue
        stop = ss.stopping.Objective(best.objective * (1.0 + 0.5 * AGREE)) | ss.stopping.Seconds(seconds)
        end = ss.solve(problem, name, tol=GAP, max_iter=10**7, stop=stop, certify_every=50, record=False)
        found[name] = (end.objective - floor) / floor
    farthest = max(found, key=lambda name: found[name])
    return row | found | {"disagreement": found[farthest], "farthest": farthest}


def main() -> None:
    """Measure all pairs and store the table."""
    command = parser(__doc__)
    command.add_argument("--data", nargs="+", default=["iris", "wine", "digits"])
    command.add_argument("--ratio", type=float, default=0.1, help="λ/λ_max")
    command.add_argument("--seconds", type=float, default=10.0, help="limit for each solver")
    args = command.parse_args()
    rows = []
    for data in args.data:
        dataset = ss.datasets.load(data)
        for loss in losses:
            if not losses[loss].smooth or losses[loss].one_score or "classes" not in losses[loss].target_types:
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
        "agreement",
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
