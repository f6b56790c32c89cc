"""Most that gap-safe screening could save in ``working-set``: gradients of rows outside the working set.

Those are computed when a working set is chosen; the sweeps and Newton steps never look at the other rows. So the most
that screening can save is the share of the time spent on choosing, times the share of rows that it could leave out: a
row is out for good if Ω°(V_j) + ‖X_j‖/n·√(2nc·gap) < λ for the dual point V of the gap (Ndiaye et al. 2017). Both
shares are measured when the relative sub-optimality first is below 1e-2, 1e-4 and 1e-6; the cost of the gaps is not
counted.

    python benchmarks/bench_screening.py [--only "news20 0.9 %"] [--quick]
"""

from __future__ import annotations

from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from problems import PAPER1, Case, Missing
from race import optimum

import sparsescope as ss
from sparsescope.runs.run import warm_up
from sparsescope.solvers import WorkingSet

CASES = ("MNIST-10k 5 %", "news20 0.9 %", "news20 4.8 %")
LEVELS = (1e-2, 1e-4, 1e-6)
MOST = 200  # iterations


class Watched(WorkingSet):
    """The working-set solver with a clock around the choice of its rows."""

    spent = 0.0

    def _choose(self, problem: ss.Problem, state: Any) -> None:
        began = common.clock()
        super()._choose(problem, state)
        type(self).spent += common.clock() - began


def screened(problem: ss.Problem, W: np.ndarray) -> float:
    """Share of the rows that the gap at W proves to be zero at the optimum (norms ‖·‖₂ of rows)."""
    gap = max(problem.gap(W), 0.0)
    norms = np.linalg.norm(problem.gradient(W), axis=1)
    norms *= min(1.0, problem.lam / float(norms.max()))
    radius = np.sqrt(2.0 * problem.n * problem.loss.curvature(problem.m) * gap)
    return float(np.mean(norms + np.sqrt(problem.design.squared_norms) / problem.n * radius < problem.lam))


def measure(case: Case) -> list[dict[str, Any]]:
    """The lines of one problem."""
    problem, best = case.problem(), optimum(case)["F*"]
    solver = Watched()
    warm_up(problem, solver)
    state, total, rows = solver.init(problem), 0.0, []
    Watched.spent = 0.0
    while len(rows) < len(LEVELS) and state.iteration < MOST:
        began = common.clock()
        solver.step(problem, state)
        total += common.clock() - began
        W = np.array(state.weights())
        if (problem.objective(W) - best) / best <= LEVELS[len(rows)]:
            out, choosing = screened(problem, W), Watched.spent / total
            rows.append(
                {
                    "case": case.name,
                    "level": LEVELS[len(rows)],
                    "screened %": 100.0 * out,
                    "choosing %": 100.0 * choosing,
                    "could save %": 100.0 * out * choosing,
                }
            )
    return rows


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, quick="the first problem only, nothing is stored")
    parser.add_argument("--only", nargs="+", help="parts of problem names")
    args = parser.parse_args()
    rows = []
    for name in CASES[:1] if args.quick else CASES:
        if args.only and not any(part in name for part in args.only):
            continue
        try:
            rows += measure(next(case for case in PAPER1 if case.name == name))
        except Missing as reason:
            print(f"{name} is left out: {reason}")
    common.show(rows)
    if not args.quick:
        common.store("screening", rows, most=max((row["could save %"] for row in rows), default=None))


if __name__ == "__main__":
    main()
