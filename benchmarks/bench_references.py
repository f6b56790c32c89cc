"""Random problems solved by every solver that claims them, held against certified references.

A problem is drawn from its seed alone: loss × penalty × λ × intercept × weights of samples and features × dense or CSR,
with few and many features on both sides of the numbers at which solvers change their way (128, 200, 400). It is solved
from zero by every registered solver that takes it. Reported for each: whether anything that it announced is false
(its objective is not that of its weights; its bound lies above the optimum, or its gap below its distance to it), and
whether it was certified within the limit of processor seconds.

    python benchmarks/bench_references.py [--problems 60] [--seed 0] [--limit 4] [--minutes 30] [--tol 1e-6]
"""

from __future__ import annotations

import warnings
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp
from common import clock, show, store

import sparsescope as ss
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.run import warm_up

FEATURES = (20, 120, 136, 190, 210, 390, 410)
ROUNDING = 1e-11  # relative, of sums over samples in two orders
REFERENCE = 1e-9


def drawn(seed: int) -> tuple[ss.Problem, dict[str, Any]]:
    """A problem and what it is made of."""
    rng = np.random.default_rng(seed)
    loss, penalty = (str(rng.choice(list(registry))) for registry in (losses, penalties))
    n, d, m = int(rng.integers(40, 121)), int(rng.choice(FEATURES)), int(rng.integers(2, 6))
    intercept, sparse, weighs, scales = (bool(k) for k in rng.integers(0, 2, 4))
    sets = "classes" not in losses[loss].target_types or ("sets" in losses[loss].target_types and rng.random() < 0.5)
    X = rng.standard_normal((n, d)) @ np.diag(np.exp(0.5 * rng.standard_normal(d)))
    if sparse:
        X = X * (rng.random((n, d)) < 0.3)
    T = rng.standard_normal((d, m)) * (rng.random((d, 1)) < 0.2)
    scores = X @ T + 0.5 * rng.standard_normal((n, m)) * np.sqrt(d)
    if sets:
        y = (scores > np.quantile(scores, 0.6)).astype(np.uint8)
        y[:m], y[m] = np.eye(m, dtype=np.uint8), 1 - np.eye(m, dtype=np.uint8)[0]
    else:
        y = scores.argmax(axis=1)
        y[:m] = np.arange(m)
        y = np.minimum(y, 1) if losses[loss].one_score else y
    c = np.repeat(rng.uniform(0.5, 2.0, d // 5 + 1), 5)[:d]  # equal within blocks of the default size
    problem = ss.Problem(
        sp.csr_array(X) if sparse else X,
        y,
        loss=loss,
        penalty=penalty,
        intercept=intercept,
        sample_weight=rng.integers(0, 4, n) + 0.25 if weighs else None,
        feature_weights=c if scales else None,
    )
    share = float(10.0 ** rng.uniform(-2.0, -0.3))
    facts = {"loss": loss, "penalty": penalty, "n": n, "d": d, "m": problem.m, "intercept": intercept, "csr": sparse}
    facts |= {"sample weights": weighs, "feature weights": scales, "label sets": sets, "share": share}
    return problem.with_lam(share * problem.lam_reference), facts


def faults(problem: ss.Problem, known: Any, found: ss.Result) -> list[str]:
    """Return what a result announces that does not hold."""
    said = []
    size = max(abs(found.objective), abs(known.objective))
    slack = ROUNDING * size
    if abs(problem.objective(found.W, found.b) - found.objective) > slack:
        said.append("the objective is not that of the weights")
    if found.dual > known.objective + slack:
        said.append("the bound lies above the optimum")
    if found.objective < known.dual - slack:
        said.append("the objective lies below the reference's bound")
    if found.gap < found.objective - known.objective - slack:
        said.append("the gap is smaller than the distance to the optimum")
    return said


def judged(seed: int, tol: float, limit: float) -> list[dict[str, Any]]:
    """Every solver that claims the problem of a seed, one row each."""
    problem, facts = drawn(seed)
    known = ss.reference(problem, tol=REFERENCE, max_seconds=100 * limit)
    rows = []
    for name in solvers:
        solver = solvers.create(name)
        if solver.delegates or not (solver.converges and solver.follows_lam) or solver.solves(problem) is not None:
            continue
        warm_up(problem, solver)
        found = ss.solve(
            problem, solver, tol=tol, max_iter=10**7, max_seconds=limit, certify_every=20, record=False, clock=clock
        )
        rows.append(
            {"seed": seed, "solver": name, **facts, "reference gap": known.relative_gap}
            | {"converged": found.converged, "gap": found.relative_gap, "iterations": found.iterations}
            | {"seconds": found.seconds, "above": (found.objective - known.objective) / abs(known.objective)}
            | {"faults": faults(problem, known, found)}
        )
    return rows


def main() -> None:
    """Draw, solve, judge and store."""
    parser = common.parser(__doc__, limit=4.0, seed=0)
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--minutes", type=float, default=30.0, help="no further problem after these of wall time")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of runs that end at the limit: they are counted
    load, began, rows, problems = common.OtherLoad(), common.time.perf_counter(), [], 0
    for seed in range(args.seed, args.seed + args.problems):
        if common.time.perf_counter() - began > 60.0 * args.minutes:
            break
        fresh = judged(seed, args.tol, args.limit)
        rows, problems = rows + fresh, problems + 1
        wrong = [f"{row['solver']}: {'; '.join(row['faults'])}" for row in fresh if row["faults"]]
        late = [row["solver"] for row in fresh if not row["converged"]]
        facts = {key: fresh[0][key] for key in ("loss", "penalty", "d")} if fresh else {}
        print(
            seed, *facts.values(), f"{len(fresh)} solvers, late: {late or 'none'}, false: {wrong or 'none'}", flush=True
        )
    show([{k: v for k, v in row.items() if k in ("seed", "solver", "gap", "above")} for row in rows if row["faults"]])
    certified = [row for row in rows if row["converged"]]
    store(
        "references",
        rows,
        problems=problems,
        solves=len(rows),
        certified=len(certified),
        false=sum(bool(row["faults"]) for row in rows),
        worst_reference=max((row["reference gap"] for row in rows), default=float("nan")),
        farthest=max((row["above"] for row in certified), default=float("nan")),
        tol=args.tol,
        limit=args.limit,
        others=load.share(),
    )


if __name__ == "__main__":
    main()
