"""Models along the values of α: certified, each started where the one before ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...problems.prediction import Problem
from ...runs.run import Run
from ...runs.stopping import Gap, Iterations, Seconds
from ..pools import Pool, Split
from ..runs import CLOCK
from . import protocol, samples

if TYPE_CHECKING:
    import pandas as pd

CERTIFY_EVERY = 20
ONE_POINT = 1.0  # percent of error
READ = ("error_percent", "errors", "zero_percent", "nonzero_entries", "gap")  # what the claims need, also of failures


def sparse_alphas(split: Split, penalty: Any, limit: protocol.Limits) -> list[float]:
    """Values of α for all losses alike, falling: powers of √10 below where all of them have W = 0."""
    lams = [
        split.problem.with_(loss=protocol.loss(name), penalty=penalty).lam_reference for name in protocol.OBJECTIVES
    ]
    return _powers(split.problem.n * max(lams), limit.decades, limit.alphas)


def ridge_alphas(split: Split, limit: protocol.Limits) -> list[float]:
    """The same for ridge, which has no such α: up to the mean squared length of a sample."""
    return _powers(squared_length(split), limit.decades, limit.ridge_alphas)


def squared_length(split: Split) -> float:
    """The mean squared length of a sample."""
    X = split.problem.design
    return float(X.squared_norms[: X.d].sum()) / X.n


def _powers(top: float, decades: float, count: int) -> list[float]:
    last = int(np.floor(2.0 * np.log10(top))) - 1
    exponents = np.linspace(last, last - 2.0 * decades, count).round()
    return [float(10.0 ** (e / 2.0)) for e in exponents]


def fit_along(
    split: Split, objective: str, penalty: Any, alphas: Sequence[float], limit: protocol.Limits, labels: dict[str, Any]
) -> pd.DataFrame:
    """Models of one objective at falling α, a row each.

    A fit that fails (it diverges, or no weights keep the budget η) is the last one, with NaN for what is not known and
    the reason in ``stopped``. Columns: ``labels``, objective, alpha (λ₃ = 1/α, or η = αL of the constrained form), lam
    (ours), error_percent and errors (on the test part), tests, hinge (mean, on the training part), zero_percent (of
    the d·m weights), nonzeros (a class, as ``13+3+10``), nonzero_entries, features, samples, gap (relative), seconds,
    iterations, stopped.
    """
    import pandas as pd

    base = split.problem.with_(loss=protocol.loss(objective), penalty=penalty)
    run: Run | None = None
    rows = []
    for alpha in alphas:
        problem, solver = base, None
        if objective == protocol.CONSTRAINED:
            solver = protocol.solver(objective, alpha)
        else:
            problem = protocol.with_alpha(base, alpha)
        before = (0.0, 0)
        if run is None:
            run = Run(problem, solver or protocol.solver(objective), certify_every=CERTIFY_EVERY, clock=CLOCK)
        else:
            assert run.state is not None
            run.change(problem=problem, solver=solver)
            before = (run.seconds, run.state.iteration)
        run.stop = Gap(limit.tol) | Seconds(before[0] + limit.seconds) | Iterations(before[1] + limit.iterations)
        message = _finish(run)
        failed = message.startswith("failed")
        rows.append(
            {
                **labels,
                "objective": objective,
                "alpha": alpha,
                "lam": problem.lam,
                **({} if failed else _facts(split, run, before)),
                "stopped": message,
            }
        )
        if failed:  # smaller values would fail as well
            break
    return pd.DataFrame([{**dict.fromkeys(READ, float("nan")), **row} for row in rows])


def fit_subset(
    data: Pool,
    features: str,
    per_class: int,
    penalty: str,
    objective: str,
    alphas: Sequence[float],
    limit: protocol.Limits,
    seed: int,
) -> pd.DataFrame:
    """Models of one objective on one random subset at falling α, see :func:`fit_along`; made once for a case."""
    key = ("fits", features, per_class, penalty, objective, tuple(alphas), limit, seed)
    if key not in data.cache:
        part = protocol.penalty(penalty, samples.blocks(data, features))
        data.cache[key] = fit_along(samples.draw(data, features, per_class, seed), objective, part, alphas, limit, {})
    found: pd.DataFrame = data.cache[key]
    return found


def _finish(run: Run) -> str:
    """Run until the rule is met; the reason in a word. A method that cannot go on is a result too."""
    try:
        while not run.advance().message:
            pass
    except (ArithmeticError, ValueError) as error:  # it diverges, or η is below the smallest reachable hinge
        return f"failed: {error}"
    return "gap" if "certified" in run.message else "time" if "seconds" in run.message else run.message


def _facts(split: Split, run: Run, before: tuple[float, int]) -> dict[str, Any]:
    problem, state = run.problem, run.state
    assert state is not None
    W, b = np.asarray(state.weights()), state.intercept()
    wrong = int(np.count_nonzero(problem.predict(W, b, X=split.test) != split.y_test))
    per_class = np.count_nonzero(W, axis=0)
    return {
        "error_percent": 100.0 * wrong / len(split.y_test), "errors": wrong,
        "tests": len(split.y_test), "hinge": mean_hinge(problem, W, b),
        "zero_percent": 100.0 * (1.0 - per_class.sum() / W.size), "nonzeros": "+".join(map(str, per_class)),
        "nonzero_entries": int(per_class.sum()), "features": problem.d, "samples": problem.n,
        "gap": run.certificate().relative_gap, "seconds": run.seconds - before[0],
        "iterations": state.iteration - before[1],
    }  # fmt: skip


def mean_hinge(problem: Problem, W: np.ndarray, b: np.ndarray | None) -> float:
    """The exact hinge a sample on the training part: what η bounds."""
    Z, own = problem.scores(W, b), (np.arange(problem.n), problem.y)
    shortfall = Z - Z[own][:, None] + 1.0
    shortfall[own] = 0.0
    return float(shortfall.max(axis=1).mean())


def chosen_alpha(
    data: Pool, features: str, per_class: int, penalty: str, objective: str, limit: protocol.Limits, seed: int
) -> float:
    """The largest α whose test error on one random subset is within a point of the smallest."""
    split = samples.draw(data, features, per_class, seed)
    alphas = (
        ridge_alphas(split, limit)
        if penalty == protocol.RIDGE
        else sparse_alphas(split, protocol.penalty(penalty, samples.blocks(data, features)), limit)
    )
    found = fit_subset(data, features, per_class, penalty, objective, alphas, limit, seed)
    good = found["error_percent"] <= found["error_percent"].min() + ONE_POINT
    return float(found.loc[good, "alpha"].max())
