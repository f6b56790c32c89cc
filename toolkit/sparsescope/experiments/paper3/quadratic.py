"""Fig. 4: the quadratic penalty, beside liblinear's coordinate descent on the same problem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...problems.prediction import Problem
from ...runs.event import Event
from ...runs.stopping import Gap, Seconds
from ...solvers.base import Solver
from ..base import Settings
from ..peers import crammer_singer
from ..pools import Pool
from ..progress import Job, Report, gather
from ..runs import NEVER, ended, timed
from . import protocol, samples
from .fitting import mean_hinge, squared_length
from .races import Path

if TYPE_CHECKING:
    import pandas as pd

REFERENCE_TOL = 1e-6
PATIENCE = 3.0
NEAR = 1e-2  # of the objective: where times are compared
NONZERO = 1e-5  # the paper counts weights above this
METHODS = (protocol.ONE, protocol.TWO, protocol.LIBLINEAR)
SHARES = (1e-1, 1e-2, 1e-3)  # of the mean squared length of a sample: the values of α


def compare_quadratic(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """The exact hinge with ridge at several numbers of samples, no intercept: a row for each run.

    Alg. 1 and 2 stop in the paper's sense when two iterates in a row are within 1e-3 (Alg. 2 with the η of the same
    solution), LinearSVC at its ``tol=1e-3``. Columns: data, kind, per_class, draw, alpha, method, seconds (to that
    criterion), near_seconds (until the objective is within 1 % of the certified optimum; NaN for what did not come; the
    median of repeated runs where one takes little, with near_seconds_low and …_high, their quartiles),
    off (relative distance of the last objective from the optimum), gap (of the optimum), nonzero_percent (weights
    above 1e-5), error_percent, features, samples.
    """
    limit = protocol.limits(settings)
    jobs: list[Job] = []
    for size in limit.quadratic:
        split = samples.draw(pool, samples.PIXELS, size, settings.seed)
        top = squared_length(split)
        for k in range(limit.race_draws):
            for share in SHARES[: 1 if settings.quick else None]:
                labels = {"data": pool.name, "kind": samples.PIXELS, "per_class": size, "draw": k, "alpha": top * share}
                jobs += [
                    (
                        f"{size} a class, subset {k + 1}, α = {top * share:.2g}, {name}",
                        partial(_run, pool, settings.seed + k, name, limit, labels),
                    )
                    for name in METHODS
                ]
    return gather(jobs, report or Report())


def problem_at(pool: Pool, per_class: int, seed: int, alpha: float) -> tuple[Any, Problem]:
    """The subset, and its problem without an intercept: liblinear would penalise one."""
    split = samples.draw(pool, samples.PIXELS, per_class, seed)
    key = ("no intercept",)
    if key not in split.references:
        split.references[key] = Problem(
            split.X, split.problem.y, loss=protocol.loss(protocol.HINGE), penalty=protocol.RIDGE
        )
    return split, protocol.with_alpha(split.references[key], alpha)


def _run(pool: Pool, seed: int, name: str, limit: protocol.Limits, labels: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    split, problem = problem_at(pool, labels["per_class"], seed, labels["alpha"])
    best, gap, eta = _optimum(split, problem, limit)
    if name == protocol.LIBLINEAR:
        W, seconds, _ = liblinear(split.X, problem)
        near = seconds if problem.objective(W) <= best * (1.0 + NEAR) else float("nan")
        spread = timed(near, lambda: liblinear(split.X, problem)[1], "near_seconds") if near == near else {}
    else:
        W, seconds, near = _ours(problem, protocol.method(name, eta), best, limit.race_seconds)
        again = partial(_ours, problem, best=best, limit=limit.race_seconds)
        spread = timed(near, lambda: again(protocol.method(name, eta))[2], "near_seconds") if near == near else {}
    return pd.DataFrame([{
        **labels, "method": name, "seconds": seconds, "near_seconds": near, **spread,
        "off": problem.objective(W) / best - 1.0,
        "gap": gap, "nonzero_percent": 100.0 * float((np.abs(W) > NONZERO).mean()),
        "error_percent": 100.0 * (1.0 - split.accuracy(problem, W)), "features": problem.d, "samples": problem.n,
    }])  # fmt: skip


def _ours(problem: Problem, solver: Solver, best: float, limit: float) -> tuple[np.ndarray, float, float]:
    """W where both criteria are met (or the time is over), and the solver seconds to each (NaN: not met)."""
    path, near = Path(protocol.COARSE, 0.0), float("nan")

    def watch(event: Event) -> bool:
        nonlocal near
        path(event)
        # Of the problem with λ, whatever the solver's own objective is.
        if near != near and event.loss + problem.lam * event.penalty <= best * (1.0 + NEAR):
            near = event.seconds
        return near == near and path.reached is not None

    run = ended(problem, solver, Seconds(limit), callbacks=[watch], certify_every=NEVER)
    assert run.state is not None
    return np.array(run.state.weights()), path.reached[0] if path.reached else float("nan"), near


def _optimum(split: Any, problem: Problem, limit: protocol.Limits) -> tuple[float, float, float]:
    """Objective, relative gap and mean hinge of the certified optimum; found once for each problem."""
    key = ("quadratic", problem.key, limit)
    if key not in split.references:
        rule = Gap(REFERENCE_TOL) | Seconds(PATIENCE * limit.race_seconds)
        run = ended(problem, protocol.solver(protocol.HINGE), rule, certify_every=20)
        assert run.state is not None
        found = run.certificate()
        split.references[key] = (
            found.objective,
            found.relative_gap,
            mean_hinge(problem, np.asarray(run.state.weights()), None),
        )
    made: tuple[float, float, float] = split.references[key]
    return made


def liblinear(X: Any, problem: Problem, tol: float = protocol.COARSE) -> tuple[np.ndarray, float, str]:
    """W (d, m), CPU seconds and how it ended, of scikit-learn's LinearSVC on the same problem.

    It minimises ½‖W‖² + C Σℓ, so C = 1/(nλ).
    """
    fit = crammer_singer(X, problem.y, problem.m, C=1.0 / (problem.n * problem.lam), tol=tol)
    return fit.W, fit.seconds, fit.note or "tol"
