"""`auto` beside our other solvers on problems that its rules were not made with: data, loss, penalty, λ and gap drawn.

Each problem has its own seed: 150 to 6000 samples of 2 to 30 classes and 8 to 2000 features (of five kinds), a loss, a
penalty, λ between .005 and .3 λ_max, a gap of 1e-2, 1e-4 or 1e-6, and an intercept or none. Times and regret are those
of `bench_default.py`. After ``--count`` of them follow ``--wide``, with 100 to 3000 samples and up to 5000 features.
Other seeds are other problems: rules are judged by seeds that nobody has tuned them with.

    python benchmarks/bench_drawn.py [--count 120] [--wide 40] [--seed 0] [--repeats 3] [--limit 10] [--fresh] [--print]
"""

from __future__ import annotations

from typing import Any

import bench_default  # first: it sets the thread counts before numpy is imported
import common
import numpy as np
from bench_ridge import words

import sparsescope as ss
from sparsescope.registry import solvers
from sparsescope.runs.run import warm_up

NAME = "drawn"
KINDS = ("neighbours", "factors", "words", "rare", "long tails")
LOSSES = (
    "logistic",
    "multiclass-squared-hinge",
    "multitask-squared-hinge",
    "squared",
    "binary-logistic",
    "binary-squared-hinge",
)
PENALTIES = ("l1", "l1/l2", "elastic-net", "ridge", "l1/linf", "sparse-group")
RIVALS = (
    "newglmnet",
    "working-set",
    "sparsa",
    "newton-cg",
    "row-space",
    "bcd-ls",
    "fista-ls",
    "ssnal",
)
CLASSES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30)
MOST = 3_000_000  # entries of dense X
USUAL, WIDE = ((150, 6000), (8, 2000)), ((100, 3000), (10, 5000))  # samples and features, at least and at most


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def features(rng: np.random.Generator, kind: str, n: int, d: int) -> np.ndarray:
    """Dense features (n, d) of a kind."""
    if kind == "rare":
        return (rng.random((n, d)) < np.exp(rng.uniform(np.log(0.01), np.log(0.5), d))).astype(float)
    if kind == "long tails":
        return rng.standard_t(3, (n, d)) * np.exp(rng.normal(0.0, 0.3, d))
    X = rng.standard_normal((n, d))
    if kind == "neighbours":
        X[:, 1:] += rng.uniform(0.0, 0.95) * X[:, :-1]
    else:
        k = int(rng.integers(1, 6))
        X += rng.uniform(0.3, 2.0) * rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
    return X


def samples(rng: np.random.Generator, kind: str, sizes: Any = USUAL) -> tuple[Any, np.ndarray]:
    """X and classes of a kind, of which each has at least one sample."""
    n, d, m = int(between(rng, *sizes[0])), int(between(rng, *sizes[1])), int(rng.choice(CLASSES))
    m = min(m, max(2, n // 20))
    if kind == "words":
        return words(n, max(d, 300), m)
    n = min(n, MOST // d)
    X = features(rng, kind, n, d)
    effects = rng.standard_normal((d, m)) * (rng.random(d) < rng.uniform(0.05, 1.0))[:, None]
    scores = X @ effects
    scores *= rng.uniform(0.5, 4.0) / max(float(scores.std()), 1e-9)
    if rng.random() < 0.3:
        scores += rng.normal(0.0, 1.5, m)  # classes of different sizes
    y = np.unique((scores + rng.gumbel(size=scores.shape)).argmax(axis=1), return_inverse=True)[1]
    return X, y if y.any() else np.arange(n) % 2


def drawn(seed: int, number: int, wide: bool = False) -> tuple[str, dict[str, Any], float]:
    """A problem as the arguments of `ss.Problem`, its name and the gap."""
    rng = np.random.default_rng((seed, number, 1) if wide else (seed, number))
    kind = str(rng.choice(KINDS))
    X, y = samples(rng, kind, WIDE if wide else USUAL)
    found = ss.datasets.from_arrays(X, y, name=kind, **({} if kind == "words" else {"scale": "standard"}))
    loss, penalty = str(rng.choice(LOSSES)), str(rng.choice(PENALTIES))
    y = bench_default.classes_for(loss, found.y)
    share, tol, intercept = between(rng, 0.005, 0.3), float(rng.choice(bench_default.LEVELS)), bool(rng.random() < 0.5)
    n, d = found.X.shape
    size = f"{kind} {n} × {d} × {y.max() + 1}"
    case = f"{'wide ' if wide else ''}{number}, {size}, {loss}, {penalty}, {share:.3f} λ_max, {tol:.0e}"
    settings = {"loss": loss, "penalty": penalty, "lam_ratio": share, "intercept": intercept}
    return case, {"X": found.X, "y": y, **settings}, tol


def measure(args: Any) -> list[dict[str, Any]]:
    """One row for each problem."""
    kept = common.Rows(NAME, {"seed": args.seed, "repeats": args.repeats}, args.fresh)
    order = []
    wanted = [(number, False) for number in range(args.count)] + [(number, True) for number in range(args.wide)]
    for number, wide in wanted:
        case, arguments, tol = drawn(args.seed, number, wide)
        order.append(case)
        if case in kept:
            continue

        def make(arguments: dict[str, Any] = arguments) -> ss.Problem:
            return ss.Problem(**arguments)

        problem = make()
        rivals = [name for name in RIVALS if solvers.create(name).solves(problem) is None]
        for name in ("auto", *rivals):
            warm_up(problem, solvers.create(name))
        row = {"case": case} | bench_default.regret(make, rivals, tol, args.limit, args.repeats)
        kept.keep(case, row)
        common.show([row])
    part = not (args.count and args.wide)  # one of the two that is measured anew leaves the other
    stored = [row["case"] for row in common.rows_of(NAME)] if part else []
    return kept.finish(dict.fromkeys([*stored, *order]), summary=bench_default.summary, quick=args.quick)


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "fresh", "print", quick="five problems", repeats=3, limit=10.0)
    parser.add_argument("--count", type=int, default=120, help="number of problems")
    parser.add_argument("--wide", type=int, default=40, help="number of those with more features")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.quick:
        args.count, args.wide = 5, 0
    bench_default.report(common.rows_of(NAME) if args.print else measure(args))


if __name__ == "__main__":
    main()
