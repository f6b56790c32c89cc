"""Several runs in one picture: each has its colour, and the dash still marks the quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from . import drawing, style
from .base import View

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

COLOURS = ("blue", "vermillion", "green", "purple", "orange", "sky", "ink")


def named(traces: Mapping[str, Trace] | Sequence[Trace]) -> dict[str, Trace]:
    """Return traces by their names; those of a list are called after their solvers.

    Parameters
    ----------
    traces
        The traces.

    Returns
    -------
    dict of str to Trace
        The same, by different names.
    """
    if isinstance(traces, Mapping):
        return dict(traces)
    found: dict[str, Trace] = {}
    for trace in traces:
        name = str(trace.info.get("solver", "run")).partition("(")[0]
        found[name if name not in found else f"{name} ({len(found) + 1})"] = trace
    return found


def figure_of(
    view: View, traces: Mapping[str, Trace] | Sequence[Trace], problem: Problem | None = None, **options: Any
) -> go.Figure:
    """Draw several traces over one another.

    Parameters
    ----------
    view
        A view that compares runs.
    traces
        The traces, in a list or by their names.
    problem
        Their problem, for names.
    **options
        Options of the view.

    Returns
    -------
    go.Figure
        The figure. Areas and small print, which speak of one run, are left out.

    Raises
    ------
    ValueError
        for a view that draws one trace, and for no or too many traces.
    """
    runs = named(traces)
    if not view.compares:
        raise ValueError(f"the view {view.name!r} draws one trace; draw each of them by itself")
    if not 1 <= len(runs) <= len(COLOURS):
        raise ValueError(f"{len(runs)} traces; from 1 to {len(COLOURS)} can be told apart in one picture")
    chosen = view.with_options(**options)
    colours = style.theme(chosen.theme)
    figure: go.Figure | None = None
    shown: list[Any] = []
    for colour, (name, trace) in zip(COLOURS, runs.items(), strict=False):
        single = chosen.figure(trace, problem)
        lines = [line for line in single.data if line.fill is None and line.name]
        for line in lines:
            line.update(line_color=colours[colour], marker_color=colours[colour], legendgroup=name)
            line.update(name=f"{name}: {line.name}", hovertemplate=f"{style.escape(name)} %{{y:.4g}}")
        if figure is None:
            figure = go.Figure(layout=single.layout)
            figure.layout.annotations, figure.layout.shapes = (), ()
            figure.update_layout(title_subtitle_text=style.escape(", ".join(runs)))
        figure.add_traces(lines)
        shown += [line.y for line in lines if line.y is not None and (line.yaxis or "y") == "y"]
    assert figure is not None
    if not figure.data:
        return drawing.add_sentence(figure, chosen, "Nothing to draw in any of these runs.")
    if figure.layout.yaxis.type == "log":
        values = [drawing.numbers(y) for y in shown]
        figure.update_yaxes(**drawing.log_axis(values), range=drawing.log_range(values))
    return figure
