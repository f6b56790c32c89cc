"""The papers' experiments: measured tables, figures, and a verdict on every claim.

    sparsescope paper 1 --quick

or from Python, one measurement at a time, each a function that returns a tidy data frame:

>>> from sparsescope.experiments import Settings, load_data, paper1
>>> table = paper1.compare_solvers(load_data("digits"), lam=1e-3, settings=Settings(quick=True))

A paper is a sub-package that ends in a :class:`Paper`: its measurements, the experiments made from them and its claims.
Nothing here is loaded before it is asked for: pandas and plotly take a while.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .base import PAPERS, load_paper

if TYPE_CHECKING:
    from . import paper1, paper2, paper3, paper4, paper5
    from .base import Case, Claim, Experiment, Finding, Measurement, Paper, Settings
    from .pools import Pool, load_data
    from .study import Study
    from .verdicts import Verdict

__all__ = ["PAPERS", "Case", "Claim", "Experiment", "Finding", "Measurement", "Paper", "Pool", "Settings", "Study",
           "Verdict", "load_data", "load_paper", "paper1", "paper2", "paper3", "paper4", "paper5"]  # fmt: skip

_HOME = {
    "Case": "base", "Claim": "base", "Experiment": "base", "Measurement": "base", "Paper": "base", "Settings": "base",
    "Pool": "pools", "load_data": "pools", "Study": "study", "Finding": "base", "Verdict": "verdicts",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOME:
        return importlib.import_module(f".{name}", __name__)
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
