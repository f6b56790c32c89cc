"""Fig. 5, Table 2 and the count of outer iterations: three objectives, by block coordinate descent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...runs.stopping import Iterations, PaperViolation, Seconds, Stop
from ..base import Settings
from ..pools import Pool, Split
from ..progress import Report, gather
from ..runs import follow, labelled
from . import protocol

if TYPE_CHECKING:
    import pandas as pd

# objective -> the variant of block coordinate descent that the paper minimises it with (Sec. 5.3)
SOLVER_OF = {protocol.MULTICLASS: "BCD (LS)", protocol.MULTITASK: "BCD (LS)", protocol.LOGISTIC: "BCD (CST)"}
COUNTED = (protocol.MULTICLASS, protocol.MULTITASK)
PATIENCE = 20 * protocol.K  # iterations at most where the count of iterations is the question


def compare_objectives(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """The three objectives over log-spaced λ and several splits: a row for each model.

    Columns: data, split, lam, loss, solver, seconds, seconds_low and seconds_high (quartiles of repeated runs),
    iterations, stopped (``criterion``, ``iterations`` or ``time``), nonzero_rows, nonzero_percent, test_accuracy,
    features, samples. The logistic loss is fitted with line search as well, on the first split (Sec. 5.3.1 compares
    the two).
    """
    limit = protocol.limits(settings)
    lams = np.geomspace(*protocol.lam_range(pool.name), limit.lams)
    cases = [(k, loss, name) for k in range(limit.splits) for loss, name in SOLVER_OF.items()]
    cases += [(k, protocol.LOGISTIC, "BCD (LS)") for k in range(min(limit.ls_splits, limit.splits))]
    # A limit for the whole fit would cut off the slow objective: only --seconds sets one.
    seconds = settings.seconds
    jobs = [
        (
            f"split {k + 1}, {loss}, {name}, λ = {lam:.1e}",
            partial(_fit, pool, settings.seed + k, k, loss, name, float(lam), seconds),
        )
        for k, loss, name in cases
        for lam in lams
    ]
    return gather(jobs, report or Report())


def _fit(pool: Pool, seed: int, number: int, loss: str, name: str, lam: float, seconds: float | None) -> pd.DataFrame:
    split = pool.split(seed, protocol.TEST_SIZE)
    table = _by_criterion(split, loss, name, lam, seed, protocol.K, seconds)
    last = table.iloc[[-1]].rename(columns={"iteration": "iterations"})
    stopped = _reason(str(last["message"].iloc[0]))
    times = ["seconds", "seconds_low", "seconds_high"]
    found = last[[*times, "iterations", "nonzero_rows", "nonzero_percent", "test_accuracy"]]
    found = found.assign(stopped=stopped, features=split.problem.d, samples=split.problem.n)
    return labelled(found, data=pool.name, split=number, lam=lam, loss=loss, solver=name)


def count_iterations(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Outer iterations until the stopping criterion at λ = 1e-3, multiclass against multitask squared hinge.

    A row for each kept point: data, lam, loss, those of :func:`sparsescope.experiments.runs.follow`, criterion
    (Σ v of this outer iteration over that of the first, Eq. 10), stopped.
    """
    limit = protocol.limits(settings)
    lam = protocol.LAMS[0]
    seconds = 10.0 * limit.seconds
    jobs = [(loss, partial(_count, pool, loss, lam, settings.seed, seconds)) for loss in COUNTED]
    return gather(jobs, report or Report())


def _count(pool: Pool, loss: str, lam: float, seed: int, seconds: float) -> pd.DataFrame:
    split = pool.split(seed, protocol.TEST_SIZE)
    table = _by_criterion(split, loss, "BCD (LS)", lam, seed, PATIENCE, seconds)
    seen = table["seen_violation_sum"]
    table["criterion"] = seen / seen.iloc[1]  # entry 0 is the start, before any row was visited
    table["stopped"] = _reason(str(table["message"].iloc[-1]))
    return labelled(table, data=pool.name, lam=lam, loss=loss)


def _by_criterion(
    split: Split, loss: str, name: str, lam: float, seed: int, most: int, seconds: float | None
) -> pd.DataFrame:
    problem = split.problem.with_(loss=loss, penalty="l1/l2", lam=lam)
    stop: Stop = PaperViolation(protocol.TAU) | Iterations(most)
    if seconds is not None:
        stop = stop | Seconds(seconds)
    return follow(split, problem, protocol.make_solver(name, seed), stop, {})


def _reason(message: str) -> str:
    return "criterion" if "Eq. 10" in message else "time" if "seconds" in message else "iterations"


def table2(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 2: minimum, median and maximum over λ of the training times, means over the splits first.

    A row for each data set and statistic, a column (seconds) for each objective; ``logistic (LS)`` where it was fitted
    with line search, from the splits that have it.
    """
    import pandas as pd

    named = table.assign(column=[column_name(o, s) for o, s in zip(table["loss"], table["solver"], strict=True)])
    means = named.groupby(["data", "column", "lam"], sort=False)["seconds"].mean()
    order = list(dict.fromkeys(named["column"]))
    rows = []
    for data in dict.fromkeys(named["data"]):
        for word, of in (("minimum", np.min), ("median", np.median), ("maximum", np.max)):
            found = {c: float(of(means[data, c])) for c in order if (data, c) in means.index.droplevel("lam")}
            rows.append({"data": data, "seconds": word, **found})
    return pd.DataFrame(rows, columns=["data", "seconds", *order])


def column_name(loss: str, solver: str) -> str:
    """The column of Table 2 that a fit belongs to."""
    return f"{loss} (LS)" if loss == protocol.LOGISTIC and solver == "BCD (LS)" else loss
