"""Cost of one iteration of a proximal gradient method beside its two products with X.

A few iterations bring the state to where the method spends its time. Then, turn by turn, one iteration is timed, the
two products of the same state (``design.rmatmul(U, G)``, and ``design.matmul(coef, Z)`` once for each line-search
trial), and the same two products by scipy (CSR times W and CSC transposed times U) or, for dense data, by BLAS. Each
turn gives a ratio; the median over the turns is reported, in CPU time of this thread.

The bar is 1.3: against the two products of the same state for sparse data, against BLAS for dense data (whose own
products are faster than BLAS on all of X once W has zero rows).

    python benchmarks/bench_iteration_cost.py [--turns 15] [--data digits mnist mnist-csr news20 news20-float32]
"""

from __future__ import annotations

from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp
from common import cpu
from problems import dataset

import sparsescope as ss

BAR = 1.3
RATIO = 0.05  # λ/λ_max
SOLVERS = ("ista", "fista-cst", "fista-ls", "sparsa")
LOSSES = ("multiclass-squared-hinge", "logistic")
# name -> (data set, storage, precision, iterations before the first that is timed)
DATA = {
    "digits": ("digits", "dense", "float64", 60),
    "mnist": ("mnist10k", "dense", "float64", 20),
    "mnist-csr": ("mnist10k", "csr", "float64", 20),
    "news20": ("news20", "csr", "float64", 30),
    "news20-float32": ("news20", "csr", "float32", 30),
}


def arrays(name: str) -> tuple[Any, np.ndarray]:
    """X and y of a case, stored as it asks."""
    source, storage, precision, _ = DATA[name]
    data = dataset(source)
    X = data.X.astype(precision)
    if storage == "dense":
        return (X.toarray() if sp.issparse(X) else X), data.y
    return sp.csr_array(X), data.y


def measure(name: str, X: Any, y: np.ndarray, loss: str, solver_name: str, turns: int) -> dict[str, Any]:
    """One line of the table: medians of times and ratios over the turns."""
    problem = ss.Problem(X, y, loss=loss)
    problem = problem.with_lam(RATIO * problem.lam_max)
    solver = ss.registry.solvers.create(solver_name)
    state = solver.init(problem)
    for _ in range(DATA[name][3]):
        solver.step(problem, state)
    by_rows, by_columns = (X, sp.csc_array(X)) if sp.issparse(X) else (X, np.asfortranarray(X))
    G, Z = np.empty_like(state.coef), np.empty_like(state.Z)
    table = []
    for _ in range(turns):
        step = cpu(lambda: solver.step(problem, state))
        trials = max(1.0, np.nan_to_num(state.trials))
        W = state.coef.copy()
        ours = cpu(lambda: problem.design.rmatmul(state.U, G)) + trials * cpu(lambda: problem.design.matmul(W, Z))  # noqa: B023
        theirs = cpu(lambda: by_columns.T @ state.U) + trials * cpu(lambda: by_rows @ W)  # noqa: B023
        table.append((step, ours, theirs, step / ours, step / theirs, trials))
    columns = [median(column) for column in zip(*table, strict=True)]
    kind = "scipy" if sp.issparse(X) else "BLAS"
    judged = columns[4] if kind == "BLAS" else columns[3]
    return {
        "data": name,
        "loss": loss,
        "solver": solver_name,
        "rows %": 100.0 * float(state.coef.any(axis=1).mean()),
        "trials": columns[5],
        "step ms": 1e3 * columns[0],
        "products ms": 1e3 * columns[1],
        "ratio": columns[3],
        "peer": kind,
        "peer ms": 1e3 * columns[2],
        "ratio to peer": columns[4],
        "judged by": judged,
    }


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, turns=15)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    parser.add_argument("--losses", nargs="+", default=list(LOSSES))
    args = parser.parse_args()
    rows = []
    for name, (X, y) in common.there(args.data, arrays):
        rows += [measure(name, X, y, loss, solver, args.turns) for loss in args.losses for solver in args.solvers]
    common.show(rows)
    worst = {loss: max((r["judged by"] for r in rows if r["loss"] == loss), default=None) for loss in args.losses}
    common.store("iteration_cost", rows, bar=BAR, worst=worst)


if __name__ == "__main__":
    main()
