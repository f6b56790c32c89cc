"""Theorem 1 beside what `gls` does: F(W_t) − F(W*) of plain and accelerated steps, and the bound (Sec. 2.3)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...problems.prediction import Problem
from ...problems.spectrum import theorem1
from ...registry import solvers
from ...runs.run import Run
from ...runs.solving import solve
from ...runs.stopping import Iterations, Seconds
from ..base import Settings, Tables
from ..pools import Pool
from ..progress import Report, gather
from . import protocol, samples

if TYPE_CHECKING:
    import pandas as pd

PLAIN, ACCELERATED = "plain", "accelerated"
BOUND = "Theorem 1"
EXACT = 1e-10  # relative gap to which W* is known
SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def measure_rates(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """Both variants from W = 0 on the raw features, logistic loss: a row for each iteration of each."""
    import pandas as pd

    limit, part = protocol.limits(settings), samples.parts(data, settings.seed)
    X = np.asarray(part.X[: limit.rate_samples], dtype=np.float64)
    problem = Problem(X, part.y[: limit.rate_samples], loss="logistic", penalty="ridge", lam=protocol.RATE_LAM)
    best = solve(problem, "gls", tol=EXACT, max_seconds=limit.seconds, record=False)

    def follow(method: str) -> pd.DataFrame:
        rule = Iterations(limit.rate_steps) | Seconds(limit.seconds)
        solver = solvers.create("gls", accelerated=method == ACCELERATED)
        events = list(Run(problem, solver, stop=rule, certify_every=10**6))
        t = np.array([e.iteration for e in events])
        excess = np.maximum([e.objective - best.objective for e in events], 0.0)
        return pd.DataFrame({
            "data": data.name, "method": method, "iteration": t, "samples": problem.n, "dims": problem.d,
            "excess": excess, "bound": theorem1(problem, best.W, t), "known_to": best.gap,
        })  # fmt: skip

    return gather([(f"{method} steps", partial(follow, method)) for method in (PLAIN, ACCELERATED)], report)


def side_by_side(tables: Tables) -> pd.DataFrame:
    """A line for each data set and some iterations: the bound, and both variants."""
    import pandas as pd

    lines = []
    for data, part in tables["rates"].groupby("data", sort=False):
        at = {str(name): run.set_index("iteration") for name, run in part.groupby("method")}
        for t in SHOWN:
            line: dict[str, Any] = {"data": data, "iteration": t}
            for name, run in at.items():
                if t in run.index:
                    line.setdefault(BOUND, run.loc[t, "bound"])
                    line[f"{name} steps"] = run.loc[t, "excess"]
            if BOUND in line:
                lines.append(line)
    return pd.DataFrame(lines)
