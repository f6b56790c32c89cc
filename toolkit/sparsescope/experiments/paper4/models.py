"""Tables 1 and 2: accuracy, model size, training and prediction time of PD-Sparse and of its rivals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runs.run import Run
from ...runs.stopping import Iterations, Seconds
from ...solvers.pd_sparse import PDSparse, PDSparseState
from .. import peers
from ..base import Settings
from ..pools import Pool, Split
from ..progress import Job, Report, gather
from ..runs import CLOCK, NEVER, ended, timed
from . import protocol, samples
from .scores import judged, nonzeros, predict_times, size, stored
from .sparsity import best_row, densities, kind_of

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("p_at_1", "p_at_3", "p_at_5", "micro_f1", "macro_f1", "train_seconds", "predict_seconds", "bytes",
           "nonzeros", "lam4", "iterations", "gap", "k_a", "k_w")  # fmt: skip


def compare_models(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """All methods at C = 1 on the whole training part, a row each.

    PD-Sparse runs at the λ₄, and for as many iterations, as were best on held-out data; its two rows are the weights
    before and after the post-solve, and ``chosen`` marks the one that was better on held-out data. Columns: data, kind,
    method, chosen, p_at_1 (accuracy for classes), p_at_3, p_at_5, micro_f1, macro_f1, train_seconds, predict_seconds
    (for all test samples), bytes, nonzeros, lam4, iterations, gap (relative), k_a, k_w, trained (classes that a method
    trained; where they are not all, times and sizes are extrapolated and there is no accuracy), classes, features,
    samples, tests, note (why something is missing). Seconds are medians of repeated runs where one takes little, and
    train_seconds_low, …_high and predict_seconds_low, …_high their quartiles.
    """
    split, limit = samples.whole(pool), protocol.limits(settings)
    jobs: list[Job] = [("PD-Sparse", partial(ours, pool, split, settings, limit))]
    for name in protocol.LIBLINEAR:
        jobs.append((name, partial(_liblinear, pool, split, name, settings, limit)))
    jobs.append((protocol.VW, partial(_vowpal, pool, split, limit)))
    return gather(jobs, report or Report())


def _frame(pool: Pool, split: Split, rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    problem = split.problem
    common = {"data": pool.name, "kind": kind_of(pool)}
    facts = {"classes": problem.m, "features": problem.d, "samples": problem.n, "tests": split.test.n}
    empty = dict.fromkeys(MISSING, float("nan"))
    return pd.DataFrame([{**common, "method": "", "chosen": False, **empty, "trained": problem.m, **facts, "note": "",
                          **row} for row in rows])  # fmt: skip


def ours(pool: Pool, split: Split, settings: Settings, limit: protocol.Limits) -> pd.DataFrame:
    """The two rows of PD-Sparse, see :func:`compare_models`."""
    best = best_row(pool, settings)
    problem = protocol.at(split.problem, float(best["lam4"])).fresh()
    rule = Iterations(max(1, int(best["best_iteration"]))) | Seconds(limit.seconds)

    def trained() -> Run:
        return ended(problem, protocol.solver(settings.seed), rule, certify_every=NEVER)

    run = trained()
    spent = timed(run.seconds, lambda: trained().seconds, "train_seconds")
    state, solver = run.state, run.solver
    assert isinstance(state, PDSparseState) and isinstance(solver, PDSparse)
    facts = {"lam4": float(best["lam4"]), "iterations": state.iteration, "gap": run.certificate().relative_gap}
    plain = state.weights().copy()
    solver.post_solve(problem, state, 1)  # compiled before the clock starts
    began = CLOCK()
    post = solver.post_solve(problem, state, protocol.POST_SWEEPS)
    after = CLOCK() - began
    better = bool(best["held_out_post"] > best["held_out"])
    sparse = densities(run)
    rows = [
        {
            "method": name,
            "chosen": chosen,
            **{column: value + more for column, value in spent.items()},
            **facts,
            "k_a": sparse["k_a"],
            "k_w": W.nnz / problem.d,
            **judged(split, problem, W),
        }
        for name, chosen, more, W in ((protocol.PD, not better, 0.0, plain), (protocol.POST, better, after, post))
    ]
    return _frame(pool, split, rows)


def _liblinear(pool: Pool, split: Split, name: str, settings: Settings, limit: protocol.Limits) -> pd.DataFrame:
    problem, multi = split.problem, name == protocol.MULTI
    if multi and samples.multilabel(pool):
        return _frame(pool, split, [{"method": name, "trained": 0, "note": "it is for one class a sample"}])
    # The dense weights, and for the multiclass method a dual variable for each sample and class.
    needed = 8 * problem.m * (problem.d + (problem.n if multi else 0))
    if needed > protocol.BYTES:
        why = f"its arrays would take {needed / 1e9:.0f} GB"
        return _frame(pool, split, [{"method": name, "trained": 0, "note": why}])
    y = samples.training_targets(pool)
    if multi:
        fit = peers.repeated(lambda: peers.crammer_singer(split.X, y, problem.m, C=protocol.C))
        return _frame(pool, split, [{"method": name, **fit.columns("train_"), **judged(split, problem, fit.W)}])
    fit = peers.repeated(
        lambda: peers.one_vs_rest(
            protocol.ONE_VS_REST[name],
            split.X,
            samples.indicator(y, problem.m),
            C=protocol.C,
            limit=limit.peer_seconds,
            seed=settings.seed,
        )
    )
    row = {"method": name, **fit.columns("train_"), "trained": len(fit.trained), "note": fit.note}
    if len(fit.trained) == problem.m:
        return _frame(pool, split, [{**row, **judged(split, problem, fit.W, zero=True)}])
    return _frame(pool, split, [{**row, **extrapolated(split, fit)}])


def extrapolated(split: Split, fit: peers.Fit) -> dict[str, Any]:
    """Time, bytes and non-zeros for all classes, from those that were trained, and nothing on accuracy.

    The time of prediction is that of a dense W, which has all its columns anyway; a sparse one is not measured.
    """
    share = split.problem.m / len(fit.trained)
    kept = stored(fit.W[:, fit.trained])
    dense = isinstance(kept, np.ndarray)
    return {
        **{column: share * value for column, value in fit.columns("train_").items()},
        "bytes": share * size(kept),
        "nonzeros": share * nonzeros(kept),
        **(predict_times(split.problem, fit.W, split.test) if dense else {"predict_seconds": float("nan")}),
    }


def _vowpal(pool: Pool, split: Split, limit: protocol.Limits) -> pd.DataFrame:
    name, problem = protocol.VW, split.problem
    why = "it is for one class a sample" if samples.multilabel(pool) else peers.vowpal_missing()
    if why is not None:
        return _frame(pool, split, [{"method": name, "trained": 0, "note": why}])
    fit = peers.vowpal(split.X, samples.training_targets(pool), split.test.matrix, problem.m, limit=limit.peer_seconds)
    note = "" if fit.passes == peers.VW_PASSES else f"{fit.passes} of {peers.VW_PASSES} passes were made"
    accuracy = float((fit.predicted == split.y_test).mean())
    return _frame(pool, split, [{"method": name, "p_at_1": accuracy, "micro_f1": accuracy,
                                 "train_seconds": fit.seconds, "predict_seconds": fit.predict_seconds,
                                 "bytes": fit.size, "note": note}])  # fmt: skip


def tables12(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's Tables 1 and 2: for each data set four lines, a column a method; – where there is no figure."""
    import pandas as pd

    lines = {
        "train time [s]": ("train_seconds", 1.0),
        "model size [MB]": ("bytes", 1e-6),
        "predict time [s]": ("predict_seconds", 1.0),
        "test accuracy [%]": ("p_at_1", 100.0),
        "micro F1 [%]": ("micro_f1", 100.0),
        "macro F1 [%]": ("macro_f1", 100.0),
    }
    rows = []
    for data, part in table.groupby("data", sort=False):
        by_method = part.set_index("method")
        first = part.iloc[0]
        for title, (column, unit) in lines.items():
            row: dict[str, Any] = {"data": f"{data} (K = {int(first['classes'])})", "": title}
            for name in protocol.METHODS:
                if name in by_method.index:
                    row[name] = _cell(by_method.loc[name], column, unit)
            rows.append(row)
    return pd.DataFrame(rows)


def _cell(found: Any, column: str, unit: float) -> str:
    value = unit * float(found[column])
    if value != value:
        return "–"
    estimate = "≈" if 0 < found["trained"] < found["classes"] and column in ("train_seconds", "bytes") else ""
    return f"{estimate}{value:.3g}"
