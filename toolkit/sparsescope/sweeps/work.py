"""Work of one task, in whatever process it is done: a fit, and the numbers that its row shows."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..registry import SparsescopeError
from ..runs.event import MEASURED_NAMES
from ..runs.solving import solve
from ..version import __version__
from .tasks import Given, Order

CLOCK = time.thread_time  # CPU seconds of the solver's thread: other workers of the machine do not count
NUMBERS = (
    "objective", "dual", "gap", "relative_gap", "violation", "nonzero_rows", "nonzero_entries", "iterations", "passes",
    "seconds",
)  # fmt: skip
MEASURES = tuple(sorted(name for name in MEASURED_NAMES if name.startswith(("train_", "test_"))))

# What a task leaves: the numbers and texts of its row. `final` is false where another try may end otherwise.
Outcome = dict[str, Any]


def work(given: Given, order: Order, between: Callable[[], None] | None = None) -> Outcome | None:
    """Do a task.

    Parameters
    ----------
    given
        the problem and held-out samples.
    order
        λ, solver and limits.
    between
        called after each iteration; it may raise KeyboardInterrupt to end the task.

    Returns
    -------
    dict or None
        the outcome, with a sentence in ``error`` if the task failed; ``None`` if it was interrupted.
    """
    if order.version != __version__:
        return failed(
            f"this worker has sparsescope {__version__} and the sweep {order.version}; install the same", final=False
        )
    try:
        return _fit(given, order, between)
    except KeyboardInterrupt:
        return None
    except (ValueError, TypeError, ArithmeticError, SparsescopeError) as error:
        return failed(str(error), final=True)
    except Exception as error:  # it must not end the other tasks; the row names it, and a resumed sweep tries again
        return failed(f"{type(error).__name__}: {error}", final=False)


def failed(sentence: str, *, final: bool) -> Outcome:
    """Return the outcome of a task that failed, and whether it would fail again."""
    return {"error": sentence, "final": final, "converged": False}


def _fit(given: Given, order: Order, between: Callable[[], None] | None) -> Outcome:
    last: list[Any] = [None]

    def keep(event: Any) -> None:
        last[0] = event
        if between is not None:
            between()

    limits = order.limits
    with warnings.catch_warnings():
        # How the run ended is a column of the table.
        warnings.filterwarnings("ignore", message=".* ended before the tolerance")
        result = solve(
            given.problem.with_lam(order.lam).fresh(),  # constants of the data are on each solver's own clock
            order.solver,
            tol=limits.tol,
            max_iter=limits.max_iter,
            max_seconds=limits.max_seconds,
            test=given.test,
            callbacks=[keep],
            record=False,
            clock=CLOCK,
        )
    event = last[0]
    counted = {
        "nonzero_rows": result.support.size,
        "nonzero_entries": int(np.count_nonzero(result.W.data if hasattr(result.W, "indptr") else result.W)),
    }
    values = {name: float(counted.get(name, getattr(result, name, math.nan))) for name in NUMBERS}
    measures = {name: float(event.info[name]) for name in MEASURES if name in event.info}
    return {
        "converged": bool(result.converged),
        "message": result.message,
        **values,
        **{name: value for name, value in measures.items() if value == value},
        "error": "",
        "final": True,
    }
