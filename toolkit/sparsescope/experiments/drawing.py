"""Figure helpers: a grid of plots in the package's look, lines with one legend entry each, axes, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..views import style
from ..views.drawing import wrap

COLOURS = style.theme("light")
ROW_HEIGHT = 300
HEAD, FOOT = 128, 64
NOTE_LINE = 16
FLOOR = 1e-16  # relative differences below this are rounding


@dataclass(frozen=True)
class Line:
    """Style of one compared item, the same in every figure of a paper."""

    colour: str
    dash: str = "solid"
    symbol: str = "circle"


def grid(
    title: str, subtitle: str, rows: int, cols: int, titles: Sequence[str], height: int = ROW_HEIGHT, **options: Any
) -> go.Figure:
    """Empty plots in rows and columns, with a title, room for the legend, and one or more lines of title a plot."""
    gap = 92 / (height * rows)  # between rows: the axis title above, the plot's title below
    fig = make_subplots(
        rows=rows,
        cols=cols,
        subplot_titles=[style.escape(t).replace("\n", "<br>") for t in titles],
        vertical_spacing=gap if rows > 1 else 0.0,
        horizontal_spacing=options.pop("horizontal_spacing", 0.09),
        **options,
    )
    fig.update_annotations(font={"size": 13, "color": COLOURS["text"]}, xanchor="center")
    total = height * rows + HEAD + FOOT
    fig.update_layout(
        template=style.template("light"), height=total, margin={"t": HEAD, "b": FOOT, "l": 72, "r": 28},
        title={"text": style.escape(title), "subtitle": {"text": style.escape(subtitle)}}, showlegend=True,
        legend={"yref": "container", "y": 1 - 62 / total, "yanchor": "top", "tracegroupgap": 0},
        meta={"subtitle": subtitle},
    )  # fmt: skip
    return fig


def add_line(
    fig: go.Figure,
    row: int,
    col: int,
    x: Any,
    y: Any,
    name: str,
    look: Line,
    hover: str,
    markers: bool = False,
    legend: bool = True,
    **options: Any,
) -> None:
    """A line; its name is in the legend once, however many plots it is in."""
    known = any(trace.name == name and trace.showlegend is not False for trace in fig.data)
    colour = COLOURS[look.colour]
    few = np.count_nonzero(np.isfinite(np.asarray(y, dtype=float))) <= 1
    fig.add_trace(go.Scatter(
        x=np.asarray(x), y=np.asarray(y), name=name, legendgroup=name, showlegend=legend and not known,
        mode="lines+markers" if markers or few else "lines", cliponaxis=not markers,
        line={"color": colour, "dash": look.dash, "width": 2},
        marker={"size": 7, "color": colour, "symbol": look.symbol}, hovertemplate=f"{name}<br>{hover}<extra></extra>",
        **options,
    ), row=row, col=col)  # fmt: skip


def level(fig: go.Figure, row: int, col: int, y: float, text: str, side: str = "right", log: bool = False) -> None:
    """A thin dotted line across a plot at height ``y``, with words on it; ``log``: the y axis is logarithmic."""
    fig.add_hline(y=y, line={"color": COLOURS["muted"], "width": 1, "dash": "dot"}, row=row, col=col)
    fig.add_annotation(
        text=style.escape(text), x=1 if side == "right" else 0, xref="x domain", y=np.log10(y) if log else y,
        xanchor=side, yanchor="bottom", showarrow=False, font={"size": 11, "color": COLOURS["muted"]}, row=row, col=col,
        bgcolor="rgba(255,255,255,0.7)", borderpad=1,
    )  # fmt: skip


def corner(fig: go.Figure, row: int, col: int, text: str) -> None:
    """Small words in the lower left corner of a plot."""
    fig.add_annotation(text=style.escape(text), x=0.01, y=0.02, xref="x domain", yref="y domain", xanchor="left",
                       yanchor="bottom", showarrow=False, font={"size": 11, "color": COLOURS["muted"]}, row=row,
                       col=col)  # fmt: skip


def log_time(fig: go.Figure, row: int, col: int, seconds: Any) -> None:
    """A log x axis of solver seconds that shows all of ``seconds`` above zero."""
    fig.update_xaxes(title_text="solver time [s]", row=row, col=col, **log_axis(seconds))


def log_values(fig: go.Figure, row: int, col: int, title: str, values: Any) -> None:
    """A log y axis of values."""
    fig.update_yaxes(title_text=title, row=row, col=col, **log_axis(values))


def log_axis(values: Any) -> dict[str, Any]:
    """Range and ticks of a log axis: powers of ten over many decades; else numbers written out, 1, 2, 5 or finer."""
    found = positive(values)
    low, high = (float(found.min()), float(found.max())) if len(found) else (1e-3, 1.0)
    a, b = np.log10(low), np.log10(high)
    margin = max(0.04 * (b - a), 0.02)
    axis: dict[str, Any] = {"type": "log", "range": [a - margin, b + margin]}
    if b - a > 3:
        step = int(np.ceil((b - a) / 7))
        return {**axis, "dtick": step, "exponentformat": "power"}
    steps = (1, 2, 5) if b - a > 0.5 else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    at = [k * 10.0**e for e in range(int(np.floor(a)) - 1, int(np.ceil(b)) + 1) for k in steps]
    at = [v for v in at if a - margin <= np.log10(v) <= b + margin]
    return {**axis, "tickvals": at, "ticktext": [f"{v:.12g}" for v in at]}


def positive(values: Any) -> np.ndarray:
    """The finite values above the level of rounding."""
    found = np.asarray(values, dtype=float)
    return found[np.isfinite(found) & (found > FLOOR)]


def above_floor(values: Any) -> np.ndarray:
    """The values, NaN where a log axis cannot show them."""
    found = np.asarray(values, dtype=float)
    return np.where(found > FLOOR, found, np.nan)


def note(fig: go.Figure, *texts: str) -> go.Figure:
    """Small print under all plots."""
    lines = [line for text in texts if text for line in wrap(text, 120)]
    if not lines:
        return fig
    extra = NOTE_LINE * len(lines)
    fig.add_annotation(
        text="<br>".join(map(style.escape, lines)), x=0, y=0, xref="paper", yref="paper", xanchor="left",
        yanchor="top", yshift=-48, showarrow=False, align="left", font={"size": 11, "color": COLOURS["muted"]},
    )  # fmt: skip
    fig.update_layout(margin_b=FOOT + extra, height=fig.layout.height + extra)
    return fig
