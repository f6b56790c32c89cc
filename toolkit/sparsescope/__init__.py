"""sparsescope: sparse multiclass optimisation that can be watched.

>>> import sparsescope as ss
>>> data = ss.datasets.load("digits")
>>> problem = ss.Problem(data, loss="multiclass-squared-hinge", penalty="l1/l2", lam=1e-3)
>>> result = ss.solve(problem, solver="bcd-ls", tol=1e-6)

Importing the package is quick: parts are loaded when they are first used, and nothing that draws is loaded before a view
or a shell is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from . import datasets, losses, penalties, registry, scalings, solvers, stopping, views
    from .design import Design
    from .problem import Problem
    from .registry import field
    from .run import Event, Result, Run, solve
    from .session import Session
    from .trace import Recorder, Trace
    from .widgets import explore

# Public name -> module it comes from ("" : the name is a submodule).
_PUBLIC = {
    "datasets": "", "losses": "", "penalties": "", "registry": "", "scalings": "", "solvers": "", "stopping": "",
    "views": "", "Design": "design", "Problem": "problem", "field": "registry", "part": "jit", "Event": "run",
    "Result": "run", "Run": "run", "solve": "run", "Session": "session", "Recorder": "trace", "Trace": "trace",
    "explore": "widgets",
}

__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    where = _PUBLIC[name]
    value = importlib.import_module(f".{where or name}", __name__)
    value = getattr(value, name) if where else value
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
