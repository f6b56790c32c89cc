"""sparsescope: sparse multiclass optimisation that can be watched.

>>> import sparsescope as ss
>>> data = ss.datasets.load("digits")
>>> problem = ss.Problem(data, loss="multiclass-squared-hinge", penalty="l1/l2", lam=1e-3)
>>> result = ss.solve(problem, solver="bcd-ls", tol=1e-6)

Importing the package is quick: parts are loaded when they are first used, and nothing that draws is loaded before a
view or a shell is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from . import (
        datasets,
        losses,
        objectives,
        penalties,
        registry,
        scalings,
        solvers,
        spectrum,
        stopping,
        transformers,
        views,
    )
    from .covariance import CovarianceProblem
    from .design import Design
    from .event import Event
    from .jit import part
    from .paths import Path, PathRun, path
    from .problem import Problem
    from .registry import field
    from .run import Result, Run, solve
    from .sequences import SequenceProblem
    from .session import Session
    from .trace import Recorder, Trace
    from .widgets.explore import explore

__all__ = [
    "CovarianceProblem",
    "Design",
    "Event",
    "Path",
    "PathRun",
    "Problem",
    "Recorder",
    "Result",
    "Run",
    "SequenceProblem",
    "Session",
    "Trace",
    "__version__",
    "datasets",
    "explore",
    "field",
    "losses",
    "objectives",
    "part",
    "path",
    "penalties",
    "registry",
    "scalings",
    "solve",
    "solvers",
    "spectrum",
    "stopping",
    "transformers",
    "views",
]

# Where a public name lives; the names that are not here are submodules.
_HOME = {
    "CovarianceProblem": "covariance", "Design": "design", "Event": "event", "Path": "paths", "PathRun": "paths",
    "Problem": "problem", "Recorder": "trace", "Result": "run", "Run": "run", "SequenceProblem": "sequences",
    "Session": "session", "Trace": "trace", "explore": "widgets", "field": "registry", "part": "jit",
    "path": "paths", "solve": "run",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = importlib.import_module(f".{_HOME.get(name, name)}", __name__)
    if name in _HOME:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
