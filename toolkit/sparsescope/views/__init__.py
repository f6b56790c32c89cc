"""Pictures of a run: importing this package registers every view, and :func:`draw` draws one by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from .base import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..problems.prediction import Problem
    from ..runs.trace import Trace

__all__ = ["View", "draw"]

_found = registry.discover(__name__, View)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})


def draw(view: str, trace: Trace, problem: Problem | None = None, **options: Any) -> go.Figure:
    """A plotly figure of a trace: ``draw("convergence", result.trace, problem, x="seconds", theme="dark")``.

    ``view`` is a registered name (``UnknownName`` suggests the nearest one otherwise); ``options`` are the view's own,
    listed in its ``fields``.
    """
    return registry.views.create(view).figure(trace, problem, **options)
