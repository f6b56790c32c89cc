"""Pictures of a run: importing this package registers every view, and :func:`draw` draws one by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import extras, registry

with extras.needed_by("Drawing a run"):
    from .base import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..problems.prediction import Problem
    from ..runs.trace import Trace

__all__ = ["View", "draw"]

_found = registry.discover(__name__, View)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})


def draw(
    view: str, trace: Trace | Sequence[Trace] | Mapping[str, Trace], problem: Problem | None = None, **options: Any
) -> go.Figure:
    """Draw a trace as a plotly figure: ``draw("convergence", result.trace, problem, x="seconds", theme="dark")``.

    Parameters
    ----------
    view
        registered name.
    trace
        the trace; or several, as a list or with their names as a dict, for views that compare runs
        (``View.compares``).
    problem
        the problem, for feature and class names.
    **options
        options of the view, listed in its ``fields``.

    Returns
    -------
    go.Figure
        the figure.

    Raises
    ------
    UnknownName
        for an unknown name; suggests the nearest one.
    ValueError
        for several traces and a view that draws one.

    Examples
    --------
    >>> result = ss.solve(ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1))
    >>> figure = ss.views.draw("convergence", result.trace)
    >>> other = ss.solve(ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1), "fista-ls")
    >>> both = ss.views.draw("convergence", {"auto": result.trace, "fista-ls": other.trace})
    """
    made = registry.views.create(view)
    if isinstance(trace, Mapping | list | tuple):
        from .comparing import figure_of

        return figure_of(made, trace, problem, **options)
    return made.figure(trace, problem, **options)
