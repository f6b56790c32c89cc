"""Tables of paper 1 made by hand, as its measurements would give them: for tests of claims and figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sparsescope.experiments.paper1 import protocol
from sparsescope.experiments.paper1.comparison import complete

BEST = 2.0
FEATURES = 1000
BEST_ROWS = 50
# Like the paper says: seconds in which the relative distance falls tenfold, and the rows at each point but the last.
AS_CLAIMED = {"BCD (LS)": 1.0, "BCD (CST)": 1.3, "FISTA (LS)": 4.0, "FISTA (CST)": 20.0, "SpaRSA": 5.0, "FOBOS": 6.0}
POINTS = 30


def run_table(solver: str, decade: float, lam: float = 1e-3, **changes: Any) -> pd.DataFrame:
    """A run whose relative distance falls tenfold in ``decade`` seconds; ``changes`` replace columns."""
    iteration = np.arange(POINTS)
    seconds = decade * iteration * 0.2
    relative = 10.0 ** (-seconds / decade)
    rows = np.r_[0, np.full(POINTS - 2, 400), 400 if solver == "FOBOS" else BEST_ROWS]
    if solver.startswith("BCD"):
        rows = np.r_[0, 400, np.full(POINTS - 2, BEST_ROWS)]
    table = pd.DataFrame({
        "data": "hand", "lam": lam, "solver": solver, "iteration": iteration, "passes": iteration.astype(float),
        "seconds": seconds, "objective": BEST * (1 + relative), "nonzero_rows": rows, "trials": 1.05,
        "test_accuracy": 0.9 - 0.5 * relative, "best": BEST, "dual": BEST * (1 - 1e-6), "best_rows": BEST_ROWS,
        "usable_rows": FEATURES, "best_accuracy": 0.9, "lam_max": 0.5, "features": FEATURES, "samples": 500,
    })  # fmt: skip
    table = table.assign(nonzero_percent=100 * table["nonzero_rows"] / FEATURES)
    return table.assign(**changes)


def solvers(
    decades: dict[str, float] | None = None,
    edit: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    lams: tuple[float, ...] = (1e-3,),
) -> dict[str, pd.DataFrame]:
    """The table of a comparison of solvers."""
    chosen = {**AS_CLAIMED, **(decades or {})}
    table = pd.concat([run_table(s, d, lam) for lam in lams for s, d in chosen.items()], ignore_index=True)
    return {"solvers": complete(table if edit is None else edit(table))}


def where(solver: str, **columns: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """An edit: set columns of one solver."""

    def edit(table: pd.DataFrame) -> pd.DataFrame:
        chosen = table["solver"] == solver
        for name, value in columns.items():
            table.loc[chosen, name] = value(table.loc[chosen]) if callable(value) else value
        return table

    return edit


def everywhere(**columns: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """An edit: set columns of all rows."""
    return lambda table: table.assign(**columns)


def slower_at_small(table: pd.DataFrame) -> pd.DataFrame:
    """The runs at the smaller λ get half as far."""
    small = table["lam"] < 1e-4
    relative = table.loc[small, "objective"] / BEST - 1
    table.loc[small, "objective"] = BEST * (1 + np.sqrt(relative))
    return table


def patterns(**changes: float) -> dict[str, pd.DataFrame]:
    """The table of penalties, as the paper draws them; ``changes`` of the group lasso's columns."""
    rows = [
        ("ridge", 100.0, 100.0, 100.0),
        ("l1", 60.0, 10.0, 17.0),
        ("elastic-net", 70.0, 20.0, 29.0),
        ("l1/l2", 40.0, 40.0, 100.0),
    ]
    names = ["penalty", "nonzero_rows_percent", "nonzero_percent", "inside_percent"]
    table = pd.DataFrame(rows, columns=names).assign(data="hand")
    for name, value in changes.items():
        table.loc[table["penalty"] == "l1/l2", name] = value
    return {"patterns": table}


def eta0(losses: list[float]) -> dict[str, pd.DataFrame]:
    """The table of candidate steps."""
    table = pd.DataFrame({"data": "hand", "lam": 1e-3, "eta0": protocol.ETA0, "heldout_loss": losses,
                          "heldout_accuracy": 0.8, "objective": 1.0})  # fmt: skip
    return {"eta0": table.assign(chosen=table.index == int(np.nanargmin(losses)))}


def shrinking(on: float, off: float) -> dict[str, pd.DataFrame]:
    """The table of runs with and without shrinking; the numbers are seconds for each decade."""
    parts = [
        run_table(s, off if not flag else on).assign(shrinking=flag)
        for s in ("BCD (LS)", "BCD (CST)")
        for flag in (False, True)
    ]
    return {"shrinking": complete(pd.concat(parts, ignore_index=True))}


LOSSES = (protocol.MULTICLASS, protocol.MULTITASK, protocol.LOGISTIC, protocol.LOGISTIC)
SOLVERS = ("BCD (LS)", "BCD (LS)", "BCD (CST)", "BCD (LS)")


def objectives(
    seconds: tuple[float, float, float, float] = (1.0, 2.0, 5.0, 8.0),
    accuracy: tuple[float, float, float] = (0.0, -0.02, 0.0),
    percent: float = 1.0,
    iterations: int = 10,
) -> dict[str, pd.DataFrame]:
    """The table of fits: seconds of multiclass, multitask, logistic and logistic (LS) at the middle λ, offsets of the
    accuracies, and the factor between the multitask and the multiclass hinge's rows."""
    rows = []
    for k, (loss, solver) in enumerate(zip(LOSSES, SOLVERS, strict=True)):
        for split in (0, 1):
            for step, lam in enumerate((1e-3, 1e-4, 1e-5)):
                share = (2.0, 8.0, 32.0)[step] * (percent if loss == protocol.MULTITASK else 1.0)
                rows.append({
                    "data": "hand", "split": split, "lam": lam, "loss": loss, "solver": solver,
                    "seconds": seconds[k] * (0.5, 1.0, 3.0)[step] + 0.2 * split, "iterations": iterations,
                    "stopped": "criterion", "nonzero_rows": 10 * share, "nonzero_percent": share,
                    "test_accuracy": 0.7 + 0.1 * step + accuracy[min(k, 2)], "features": 1000, "samples": 500,
                })  # fmt: skip
    return {"objectives": pd.DataFrame(rows)}


def without_logistic() -> dict[str, pd.DataFrame]:
    """The table of fits, interrupted before the logistic loss."""
    table = objectives()["objectives"]
    return {"objectives": table[table["loss"] != protocol.LOGISTIC]}


def iterations(multiclass: int, multitask: int, stopped: tuple[str, str] = ("criterion",) * 2) -> dict[str, Any]:
    """The table of the counts of outer iterations."""
    rows = []
    for loss, last, why in zip(LOSSES[:2], (multiclass, multitask), stopped, strict=True):
        rows += [{"data": "hand", "lam": 1e-3, "loss": loss, "iteration": k, "stopped": why} for k in (0, last)]
    return {"iterations": pd.DataFrame(rows)}
