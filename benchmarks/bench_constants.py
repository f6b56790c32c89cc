"""Worth of a better constant: iterations of ``bcd-cst`` to a relative sub-optimality of 1e-4, by the constant K_j.

``paper`` is printed in Blondel et al. (2013), 4(m−1)/n·Σx²; ``tight`` is the exact bound of a sample, 2m/n·Σx²;
``class-aware`` knows how the weight of a feature is spread over the classes (docs/mathematics.md). The step of a row is
1/K_j, so a constant twice as large makes half the step. An iteration is d random rows, as in the paper, from W = 0; the
same seed draws the same rows for all three. The optimum is certified by a duality gap of 1e-7.

    python benchmarks/bench_constants.py [--data digits mnist10k news20] [--quick]
"""

from __future__ import annotations

from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from problems import dataset

import sparsescope as ss
from sparsescope.runs.stopping import Iterations, Objective

LEVEL = 1e-4
KINDS = ("class-aware", "tight", "paper")
RATIOS = {"digits": (0.3, 0.03), "mnist10k": (0.3, 0.03), "news20": (0.1, 0.03)}  # λ/λ_max
MOST = 3000  # iterations


def iterations(problem: ss.Problem, kind: str, target: float) -> tuple[int | None, float, float]:
    """Iterations until the objective is at most ``target`` (``None``: not within the limit), solver seconds, passes."""
    solver = ss.solvers.BCDConstant(constants=kind)
    run = ss.Run(problem, solver, stop=Objective(target) | Iterations(MOST), certify_every=10**9)
    last = run.advance()
    while not last.message:
        last = run.advance()
    return (last.iteration if last.objective <= target else None), last.seconds, last.passes


def measure(name: str, base: ss.Problem, ratio: float) -> dict[str, Any]:
    """One line of the table."""
    problem = base.with_lam(ratio * base.lam_max)
    best = ss.solve(problem, "auto", tol=1e-7, max_seconds=600, record=False)
    used = 100.0 * float(np.asarray(best.W).any(axis=1).mean())
    row: dict[str, Any] = {"data": name, "λ/λ_max": ratio, "rows %": used, "gap of F*": best.relative_gap}
    target = best.objective + LEVEL * abs(best.objective)
    for kind in KINDS:
        row[kind], row[f"{kind} s"], row[f"{kind} passes"] = iterations(problem, kind, target)
    row["mean K class-aware/tight"] = float(np.mean(ratios(problem)))
    for kind in KINDS[1:]:
        row[f"{kind} ÷ class-aware"] = row[kind] / row["class-aware"] if row[kind] and row["class-aware"] else None
    return row


def ratios(problem: ss.Problem) -> np.ndarray:
    """Class-aware over tight constant of every row that is not empty."""
    tight = problem.block_constants("tight")
    used = tight > 0.0
    return np.asarray(problem.block_constants("class-aware")[used] / tight[used])


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, quick="digits only, nothing is stored")
    parser.add_argument("--data", nargs="+", default=list(RATIOS), choices=list(RATIOS))
    args = parser.parse_args()
    rows = []
    for name, data in common.there(["digits"] if args.quick else args.data, dataset):
        problem = ss.Problem(data)
        rows += [measure(name, problem, ratio) for ratio in RATIOS[name]]
    common.show([{key: row[key] for key in row if not key.endswith((" s", " passes"))} for row in rows])
    if not args.quick:
        common.store("constants", rows, level=LEVEL, most=MOST)


if __name__ == "__main__":
    main()
