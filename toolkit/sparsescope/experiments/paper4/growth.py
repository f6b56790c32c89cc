"""Growth with the number of classes: generated data of one size, 10² to 10⁵ classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ... import datasets
from ...inputs.design import Design
from ...problems.prediction import Problem
from ...runs.stopping import Iterations
from .. import peers
from ..base import Settings
from ..pools import Pool
from ..progress import Job, Report, gather
from ..runs import NEVER, ended, timed
from . import protocol
from .scores import nonzeros, predict_times, size, stored
from .sparsity import densities

if TYPE_CHECKING:
    import pandas as pd

TESTS = 0.1  # of the documents
UNIT = 1000  # documents whose prediction is timed


def measure_growth(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """PD-Sparse, and liblinear's Crammer–Singer where its arrays fit, on generated documents: a row each.

    The numbers of documents and words stay, the number of classes grows. Columns: data (``generated``), method,
    classes, seen (classes that have a training document), iterations, iteration_seconds (mean of them),
    predict_seconds (of 1000 documents), bytes, nonzeros, k_a, k_w, accuracy, entries (non-zeros of X), features,
    samples.
    """
    limit = protocol.limits(settings)
    jobs: list[Job] = []
    for m in limit.growth_m:
        jobs += [
            (f"{m} classes, {name}", partial(measure_one, name, m, settings, limit))
            for name in (protocol.PD, protocol.MULTI)
            if name == protocol.PD or fits(limit, m)
        ]
    return gather(jobs, report or Report())


def fits(limit: protocol.Limits, m: int) -> bool:
    """Return whether liblinear's weights and dual variables, all of them in memory, fit."""
    return 8 * m * (limit.growth_n + limit.growth_d) <= protocol.BYTES


def measure_one(name: str, m: int, settings: Settings, limit: protocol.Limits) -> pd.DataFrame:
    """One method at one number of classes, see :func:`measure_growth`."""
    import pandas as pd

    data = datasets.make_extreme(limit.growth_n, limit.growth_d, m, test_size=0.0, seed=settings.seed)
    # Its rows are in random order. A split by classes would keep more of them for training, the more classes there are.
    first = round(TESTS * data.n)
    X, y = sp.csr_array(data.X[first:]), data.y[first:]
    problem = Problem(
        sp.csc_array(X), y, loss=protocol.loss(False), penalty="elastic-net", class_names=data.class_names
    )
    problem = protocol.at(problem, limit.growth_lam4)
    found: dict[str, Any]
    if name == protocol.PD:
        solver, rule = protocol.solver(settings.seed), Iterations(limit.growth_iterations)
        run = ended(problem, solver, rule, certify_every=NEVER)
        assert run.state is not None
        W, sparse = run.state.weights(), densities(run)
        seconds = timed(run.seconds, lambda: ended(problem, solver, rule, certify_every=NEVER).seconds)["seconds"]
        found = {"k_a": sparse["k_a"], "k_w": sparse["k_w"]}
    else:
        fit = peers.repeated(lambda: peers.crammer_singer(X, y, m, C=protocol.C, passes=limit.growth_iterations))
        W, seconds, found = fit.W, fit.seconds, {"k_a": float("nan"), "k_w": float("nan")}
    kept, tests = stored(W), Design(sp.csr_array(data.X[:first]))
    predicted = problem.predict(kept, X=tests)
    return pd.DataFrame([{
        "data": "generated", "method": name, "classes": m, "seen": len(np.unique(y)),
        "iterations": limit.growth_iterations, "iteration_seconds": seconds / limit.growth_iterations,
        "predict_seconds": predict_times(problem, kept, tests)["predict_seconds"] * UNIT / tests.n, "bytes": size(kept),
        "nonzeros": nonzeros(kept), **found,
        "accuracy": float((predicted == data.y[:first]).mean()), "entries": int(X.nnz), "features": problem.d,
        "samples": problem.n,
    }])  # fmt: skip
