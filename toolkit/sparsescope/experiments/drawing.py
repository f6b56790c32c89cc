"""Figure helpers: a grid of plots in the package's look, lines with one legend entry each, axes, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..views import style
from ..views.drawing import wrap

if TYPE_CHECKING:
    import pandas as pd

COLOURS = style.theme("light")
ROW_HEIGHT = 300
HEAD, FOOT = 128, 64
NOTE_LINE = 16
FLOOR = 1e-16  # relative differences below this are rounding
MANY = 30  # points of a line from which on they are not marked
ROOM = 1.25  # factor that log axes of few values are wider than these


@dataclass(frozen=True)
class Line:
    """Style of one compared item, the same in every figure of a paper."""

    colour: str
    dash: str = "solid"
    symbol: str = "circle"


@dataclass(frozen=True)
class Plot:
    """One plot of a figure: lines, axes, words."""

    fig: go.Figure
    row: int
    col: int

    def lines(
        self, table: pd.DataFrame, by: str, looks: Mapping[Any, Line], x: str, y: str, hover: str, **options: Any
    ) -> None:
        """A line for each item of a column, in the order of the looks; those without a row have none."""
        for name, look in looks.items():
            run = table[table[by] == name]
            if len(run):
                self.line(run[x], run[y], str(name), look, hover, **options)

    def line(
        self, x: Any, y: Any, name: str, look: Line, hover: str, markers: bool | None = False, **options: Any
    ) -> None:
        """A line; its name is in the legend once, however many plots it is in. ``markers=None``: if it is short."""
        known = any(trace.name == name and trace.showlegend is not False for trace in self.fig.data)
        colour = COLOURS[look.colour]
        few = np.count_nonzero(np.isfinite(np.asarray(y, dtype=float))) <= 1
        markers = len(y) < MANY if markers is None else markers
        self.fig.add_trace(go.Scatter(
            x=np.asarray(x), y=np.asarray(y), name=name, legendgroup=name, showlegend=not known,
            mode="lines+markers" if markers or few else "lines", cliponaxis=not markers,
            line={"color": colour, "dash": look.dash, "width": 2},
            marker={"size": 7, "color": colour, "symbol": look.symbol},
            hovertemplate=f"{name}<br>{hover}<extra></extra>", **options,
        ), row=self.row, col=self.col)  # fmt: skip

    def x(self, title: str | None, log: Any = None, room: float = 1.0, **axis: Any) -> None:
        """The x axis; ``log``: a logarithmic one that shows all of these values above zero, and ``room`` around."""
        self.fig.update_xaxes(title_text=title, row=self.row, col=self.col, **_axis(log, room), **axis)

    def y(self, title: str | None, log: Any = None, room: float = 1.0, **axis: Any) -> None:
        """The y axis, as :meth:`x`."""
        self.fig.update_yaxes(title_text=title, row=self.row, col=self.col, **_axis(log, room), **axis)

    def time(self, seconds: Any, room: float = 1.0) -> None:
        """A log x axis of solver seconds."""
        self.x("solver time [s]", seconds, room)

    def level(self, y: float, text: str, side: str = "right", log: bool = False) -> None:
        """A thin dotted line at height ``y``, with words on it; ``log``: the y axis is logarithmic."""
        self.fig.add_hline(y=y, line={"color": COLOURS["muted"], "width": 1, "dash": "dot"}, row=self.row, col=self.col)
        self._words(text, x=1 if side == "right" else 0, y=np.log10(y) if log else y, xanchor=side,
                    bgcolor="rgba(255,255,255,0.7)", borderpad=1)  # fmt: skip

    def corner(self, text: str) -> None:
        """Small words in the lower left corner."""
        self._words(text, x=0.01, y=0.02, yref="y domain", xanchor="left")

    def _words(self, text: str, **options: Any) -> None:
        self.fig.add_annotation(
            text=style.escape(text), xref="x domain", yanchor="bottom", showarrow=False,
            font={"size": 11, "color": COLOURS["muted"]}, row=self.row, col=self.col, **options,
        )  # fmt: skip


def grid(
    title: str, subtitle: str, titles: Sequence[str], cols: int = 2, height: int = ROW_HEIGHT, **options: Any
) -> tuple[go.Figure, list[list[Plot]]]:
    """A figure with a title and room for the legend, and its empty plots in rows, each with lines of title."""
    rows = -(-len(titles) // cols)
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
    return fig, [[Plot(fig, row, col) for col in range(1, cols + 1)] for row in range(1, rows + 1)]


def wrapped(title: str, subtitle: str, titles: Sequence[str], height: int = ROW_HEIGHT) -> tuple[go.Figure, list[Plot]]:
    """The same with a plot for each title, at most two side by side."""
    fig, rows = grid(title, subtitle, titles, min(2, len(titles)), height)
    return fig, [plot for row in rows for plot in row][: len(titles)]


def _axis(values: Any, room: float) -> dict[str, Any]:
    return {} if values is None else log_axis(values, room)


def log_axis(values: Any, room: float = 1.0) -> dict[str, Any]:
    """Range and ticks of a log axis: powers of ten over many decades; else numbers written out, 1, 2, 5 or finer.

    ``room`` is a factor by which it is wider than the values at both ends: an axis of one value would have no ticks.
    """
    found = positive(values)
    low, high = (float(found.min()) / room, float(found.max()) * room) if len(found) else (1e-3, 1.0)
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
