"""Pictures of a run: importing this package registers every view, and :func:`draw` draws one by its name."""

# ruff: noqa: I001  (the order of the views' imports is the order of menus)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from .base import View
from . import convergence
from . import accuracy
from . import active_set
from . import weights
from . import duality
from . import features
from . import theta
from . import network
from . import entries

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..problems.prediction import Problem
    from ..runs.trace import Trace

__all__ = ["View", "accuracy", "active_set", "convergence", "draw", "duality", "entries", "features", "network",
           "theta", "weights"]


def draw(view: str, trace: Trace, problem: Problem | None = None, **options: Any) -> go.Figure:
    """A plotly figure of a trace: ``draw("convergence", result.trace, problem, x="seconds", theme="dark")``.

    ``view`` is a registered name (``UnknownName`` suggests the nearest one otherwise); ``options`` are the view's own,
    listed in its ``fields``.
    """
    return registry.views.create(view).figure(trace, problem, **options)
