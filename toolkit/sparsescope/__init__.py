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

from . import moved
from .collecting import uncollected
from .version import __version__

if TYPE_CHECKING:
    from . import datasets, estimators, losses, penalties, registry, solvers, views
    from .checking import check
    from .estimators import (
        SparseClassifier,
        SparseClassifierCV,
        SparseInverseCovariance,
        SparseInverseCovarianceCV,
        StagewiseClassifier,
    )
    from .inputs import transformers
    from .inputs.design import Design
    from .inputs.partitioned import PartitionedDesign
    from .jit.parts import part
    from .lessons import lesson
    from .live.recordings import Recording, load_recording, record
    from .problems import objectives, scalings, spectrum
    from .problems.covariance import CovarianceProblem
    from .problems.judging import certify
    from .problems.prediction import Problem
    from .problems.sequence import SequenceProblem
    from .races import Race, RaceRun, race
    from .registry import SparsescopeError, field
    from .runs import stopping
    from .runs.event import Event
    from .runs.optima import Reference
    from .runs.paths import Path, PathRun, path
    from .runs.reference import reference
    from .runs.result import Result
    from .runs.run import Run
    from .runs.session import Session
    from .runs.solving import solve
    from .runs.trace import Recorder, Trace
    from .sweeps import Sweep, SweepRun, sweep
    from .watched import watch
    from .widgets.explore import explore
    from .widgets.pages import show

__all__ = [
    "CovarianceProblem",
    "Design",
    "Event",
    "PartitionedDesign",
    "Path",
    "PathRun",
    "Problem",
    "Race",
    "RaceRun",
    "Recorder",
    "Recording",
    "Reference",
    "Result",
    "Run",
    "SequenceProblem",
    "Session",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseInverseCovariance",
    "SparseInverseCovarianceCV",
    "SparsescopeError",
    "StagewiseClassifier",
    "Sweep",
    "SweepRun",
    "Trace",
    "__version__",
    "certify",
    "check",
    "datasets",
    "estimators",
    "explore",
    "field",
    "lesson",
    "load_recording",
    "losses",
    "objectives",
    "part",
    "path",
    "penalties",
    "race",
    "record",
    "reference",
    "registry",
    "scalings",
    "show",
    "solve",
    "solvers",
    "spectrum",
    "stopping",
    "sweep",
    "transformers",
    "views",
    "watch",
]

# Where a public name is defined; the names that are not here are submodules.
_HOME = {
    "CovarianceProblem": "problems.covariance",
    "Design": "inputs.design",
    "Event": "runs.event",
    "PartitionedDesign": "inputs.partitioned",
    "Path": "runs.paths",
    "PathRun": "runs.paths",
    "Problem": "problems.prediction",
    "Race": "races",
    "RaceRun": "races",
    "Recorder": "runs.trace",
    "Recording": "live.recordings",
    "Reference": "runs.optima",
    "Result": "runs.result",
    "Run": "runs.run",
    "SequenceProblem": "problems.sequence",
    "Session": "runs.session",
    "SparseClassifier": "estimators",
    "SparseClassifierCV": "estimators",
    "SparseInverseCovariance": "estimators",
    "SparseInverseCovarianceCV": "estimators",
    "StagewiseClassifier": "estimators",
    "SparsescopeError": "registry",
    "Sweep": "sweeps",
    "SweepRun": "sweeps",
    "Trace": "runs.trace",
    "certify": "problems.judging",
    "check": "checking",
    "explore": "widgets",
    "field": "registry",
    "lesson": "lessons",
    "load_recording": "live.recordings",
    "part": "jit",
    "path": "runs.paths",
    "race": "races",
    "record": "live.recordings",
    "reference": "runs.reference",
    "show": "widgets",
    "solve": "runs.solving",
    "sweep": "sweeps",
    "watch": "watched",
}
# Public submodules that do not stand at the top.
_ROOM = {
    "objectives": "problems",
    "scalings": "problems",
    "spectrum": "problems",
    "stopping": "runs",
    "transformers": "inputs",
}

moved.install()


if not TYPE_CHECKING:  # a type checker would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with uncollected:
            if name in _HOME:
                value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
            else:
                value = importlib.import_module(f".{_ROOM[name]}.{name}" if name in _ROOM else f".{name}", __name__)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
