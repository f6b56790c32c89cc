"""Multinomial logistic loss + ridge: processor seconds of `auto` and of scikit-learn to 1e-2, 1e-4 and 1e-6.

Without intercept, one thread. Ours is the whole of `ss.solve(ss.Problem(X, y, …), tol=level)`: data checked, problem
made, solved, and the gap certified. scikit-learn's is the whole of `LogisticRegression(C, solver, tol).fit(X, y)` with
the quickest of its solvers lbfgs, newton-cg and newton-cholesky (this where the Hessian has at most 1000 rows), each
with the largest tolerance out of 1e-1, 1e-2, … 1e-8 whose weights are as good as asked: relative sub-optimality of the
same objective, evaluated by the same code. With two classes scikit-learn has one vector w where we have (−w/2, w/2), so
its C is twice as large for the same problem. λ = 1/(C·n).

    python benchmarks/bench_ridge.py [--only digits] [--repeats 5] [--quick] [--print]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import sparsescope as ss
from sparsescope.registry import solvers
from sparsescope.runs.run import warm_up

NAME = "ridge"
CS = (0.01, 1.0, 100.0)
LEVELS = (1e-2, 1e-4, 1e-6)
SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")
LARGEST_HESSIAN = 1000
TOLERANCES = tuple(10.0**-k for k in range(1, 9))
EXACT = 1e-10  # relative gap of the reference


def correlated(n: int, d: int, m: int) -> tuple[Any, np.ndarray]:
    """Dense samples of neighbouring features that go together, with labels drawn from a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    B = 1.5 / np.sqrt(d) * rng.standard_normal((d, m))
    return X, (X @ B + rng.gumbel(size=(n, m))).argmax(axis=1)


def words(n: int, d: int, m: int) -> tuple[Any, np.ndarray]:
    """Normed documents with Zipf's frequencies and some words of their class; CSR."""
    rng = np.random.default_rng(0)
    often = np.arange(1, d + 1) ** -0.9
    own = [rng.permutation(d)[: d // 20] for _ in range(m)]
    y = rng.integers(0, m, n)
    columns, lengths = [], []
    for label in y:
        length = rng.integers(20, 120)
        drawn = np.concatenate([rng.choice(d, length, p=often / often.sum()), rng.choice(own[label], length // 6)])
        columns.append(np.unique(drawn))
        lengths.append(columns[-1].size)
    values = rng.random(sum(lengths)) + 0.2
    X = sp.csr_array((values, np.concatenate(columns), np.append(0, np.cumsum(lengths))), shape=(n, d))
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    return sp.csr_array(X.multiply(1.0 / norms[:, None])), y


def bundled(name: str) -> tuple[Any, np.ndarray]:
    """A data set that comes with the package."""
    found = ss.datasets.load(name)
    return found.X, found.y


CASES: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "breast_cancer": lambda: bundled("breast_cancer"),
    "digits": lambda: bundled("digits"),
    "pydocs": lambda: bundled("pydocs"),
    "dense 20000 × 50 × 2": lambda: correlated(20_000, 50, 2),
    "dense 20000 × 50 × 5": lambda: correlated(20_000, 50, 5),
    "dense 5000 × 300 × 4": lambda: correlated(5000, 300, 4),
    "words 4000 × 20000 × 2": lambda: words(4000, 20_000, 2),
    "words 8000 × 20000 × 6": lambda: words(8000, 20_000, 6),
}


def theirs(problem: ss.Problem, X: Any, y: np.ndarray, best: float) -> dict[float, Callable[[], Any]]:
    """For each level the quickest call of scikit-learn that reaches it."""
    C = (2.0 if problem.m == 2 else 1.0) / (problem.lam * problem.n)
    found: dict[float, tuple[float, Callable[[], Any]]] = {}
    for solver in SOLVERS:
        if solver == "newton-cholesky" and problem.d * problem.m > LARGEST_HESSIAN:
            continue
        open_levels = list(LEVELS)
        for tol in TOLERANCES:
            model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=2000, fit_intercept=False)
            seconds = min(common.cpu(lambda model=model: model.fit(X, y)) for _ in range(2))
            W = model.coef_.T if problem.m > 2 else 0.5 * np.hstack([-model.coef_.T, model.coef_.T])
            reached = (problem.objective(W) - best) / best
            for level in [level for level in open_levels if reached <= level]:
                open_levels.remove(level)
                if level not in found or seconds < found[level][0]:
                    found[level] = seconds, lambda model=model: model.fit(X, y)
            if not open_levels:
                break
    return {level: call for level, (_, call) in found.items()}


def measure(name: str, C: float, repeats: int) -> list[dict[str, Any]]:
    """The rows of one data set and C."""
    X, y = CASES[name]()
    settings = {"loss": "logistic", "penalty": "ridge", "lam": 1.0 / (C * X.shape[0])}
    problem = ss.Problem(X, y, **settings)
    warm_up(problem, solvers.create("auto"))
    best = ss.reference(problem, tol=EXACT).objective
    peers = theirs(problem, X, y, best)
    rows = []
    for level in LEVELS:

        def ours(level: float = level) -> Any:
            return ss.solve(ss.Problem(X, y, **settings), tol=level, record=False)

        calls = {"auto": ours, **({"scikit-learn": peers[level]} if level in peers else {})}
        spent = common.interleaved(calls, repeats)
        reached = (ours().objective - best) / best
        rows.append(
            {
                "case": name,
                "C": C,
                "level": level,
                "auto": spent["auto"],
                "scikit-learn": spent.get("scikit-learn"),
                "ratio": spent["auto"] / spent["scikit-learn"] if level in peers else None,
                "sub-optimality": reached,
            }
        )
    return rows


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, "print", repeats=5, quick="digits only, nothing is stored")
    parser.add_argument("--only", nargs="+", help="parts of names")
    args = parser.parse_args()
    if args.print:
        common.show(common.rows_of(NAME))
        return
    names = [name for name in CASES if not args.only or any(part in name for part in args.only)]
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits of iterations that a small tolerance meets
        busy = common.OtherLoad()
        for name in ["digits"] if args.quick else names:
            for C in CS:
                rows += measure(name, C, args.repeats)
                common.show(rows[-len(LEVELS) :])
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    print(f"median ratio {np.median(ratios):.2f}, largest {max(ratios):.2f}")
    if not (args.quick or args.only):
        common.store(NAME, rows, others=busy.share())


if __name__ == "__main__":
    main()
