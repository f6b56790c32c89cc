"""Figure helpers of the views: reading a growing trace; axes, lines, marks, sentences."""

from __future__ import annotations

import dataclasses
import itertools
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import PERCENT
from . import style
from .base import X_AXES

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

# More points than this on one line cannot be seen on a screen, and make a saved page heavy.
MAX_POINTS = 4000
# The texts of marks stand in rows of this height above the plot, for whose width on the page this is a usual value.
MARK_ROWS = 3
MARK_PIXELS = 16
PLOT_PIXELS = 760
# A gap or violation below this is rounding to zero: it would stretch a log axis over decades without meaning.
MAX_PART = 60  # characters of a part in the line under the title: lists of blocks can be long
LOG_FLOOR = 1e-20
# Up to this many points a line also shows its points: a single one would be invisible otherwise.
SHOW_POINTS = 40
# Changes of λ within this number of seconds of each other are parts of one gesture.
GESTURE, ARROW, FEW_MARKS = 1.0, " → ", 12
# A line that was not evaluated at more events in a row than this is drawn thin and dotted across them.
FEW_UNMEASURED = 3


class Reading:
    """A trace as it is at one moment: its length is taken once, so a worker may go on appending meanwhile."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.n = len(trace)

    def column(self, name: str) -> np.ndarray:
        """Column ``name`` as float64 of shape (n,); all NaN if the trace does not have it. ``100*name``: a share in
        percent."""
        if name.startswith(PERCENT):
            return 100.0 * self.column(name.removeprefix(PERCENT))
        if name not in self.trace.columns:
            return np.full(self.n, np.nan)
        return np.asarray(self.trace[name][: self.n], dtype=np.float64)

    def x(self, name: str) -> np.ndarray:
        """The x values of the clock ``iterations``, ``passes`` or ``seconds``, shape (n,)."""
        return self.column(X_AXES[name][0])

    def segments(self) -> np.ndarray:
        """The segment of each event, shape (n,); a trace without segments is one segment."""
        return np.nan_to_num(self.column("segment")).astype(np.int64)


def size(trace: Trace, problem: Problem | None, name: str) -> int | None:
    """``n``, ``d`` or ``m`` of the problem, from the trace's info where there is no problem; ``None`` if unknown."""
    value = getattr(problem, name) if problem is not None else trace.info.get(name)
    return None if value is None else int(value)


def feature_names(trace: Trace, problem: Problem | None, rows: Iterable[int]) -> list[str]:
    """The names of some features; ``feature j`` where there are none."""
    if problem is not None:
        return [str(problem.feature_name(int(j))) for j in rows]
    names = trace.info.get("feature_names")
    return [str(names[j]) if names is not None and j < len(names) else f"feature {j}" for j in map(int, rows)]


def class_names(trace: Trace, problem: Problem | None, m: int) -> list[str]:
    """The names of the ``m`` columns of W; ``class k`` where there are none."""
    names = problem.score_names if problem is not None else trace.info.get("class_names")
    if names is None or len(names) != m:
        return [f"class {k}" for k in range(m)]
    return [str(name) for name in names]


def about(trace: Trace, problem: Problem | None) -> str:
    """Data, loss, penalty and solver the run began with, as far as they are known: the line under the title."""
    info = trace.info
    parts = {key: str(info[key]).removesuffix("()") for key in ("loss", "penalty") if info.get(key)}
    if problem is not None:  # registry names, where the problem has them
        for key, kind in (("loss", registry.losses), ("penalty", registry.penalties)):
            part = getattr(problem, key, None)  # other kinds of problems have neither
            name = kind.name_of(part)
            if name is not None and (key not in parts or info[key] == repr(part)):
                parts[key] = name
    parts = {key: text if len(text) <= MAX_PART else text[: MAX_PART - 1] + "…" for key, text in parts.items()}
    solver = str(info.get("solver", "")).partition("(")[0]
    data = info.get("dataset") or getattr(problem, "name", None)
    return " · ".join(str(part) for part in (data, " + ".join(parts.values()), solver) if part)


def thin(x: np.ndarray, y: np.ndarray, segment: np.ndarray, limit: int = MAX_POINTS) -> tuple[np.ndarray, ...]:
    """Return about ``limit`` of the points at most: first, lowest and highest of every bin, and the last of all.

    Keeping the extremes keeps every bump of a curve that does not fall steadily.
    """
    if len(x) <= limit:
        return x, y, segment
    edges = np.unique(np.linspace(0, len(x), max(limit // 3, 1) + 1).astype(np.int64))
    keep = {len(x) - 1}
    for start, stop in itertools.pairwise(edges):
        keep.update((int(start), int(start + np.argmin(y[start:stop])), int(start + np.argmax(y[start:stop]))))
    index = np.array(sorted(keep))
    return x[index], y[index], segment[index]


class Points(NamedTuple):
    """A line to draw. ``x``, ``y``: its pieces, with NaN between two of them; ``bridge_x``, ``bridge_y``: pairs of
    points with NaN between them, across events at which nothing was evaluated; ``dense``: whether the line was
    evaluated at every event."""

    x: np.ndarray
    y: np.ndarray
    bridge_x: np.ndarray
    bridge_y: np.ndarray
    dense: bool

    @property
    def drawable(self) -> bool:
        """True if there is any point."""
        return bool(np.isfinite(self.y).any())


def points(x: np.ndarray, y: np.ndarray, segment: np.ndarray, log: bool) -> Points:
    """The drawable points of a line. Its pieces end where the problem changes.

    Values that were not evaluated, or that a log axis cannot show, are left out. A piece crosses at most
    :data:`FEW_UNMEASURED` events without a value; a longer way is a bridge.
    """
    known = np.isfinite(x) & np.isfinite(y)
    keep = known & (y > LOG_FLOOR) if log else known
    unknown = np.concatenate([[0], np.cumsum(~known)])[:-1]  # events without a value before each event
    x, y, segment, unknown = x[keep], y[keep], segment[keep], unknown[keep]
    other, far = np.diff(segment) != 0, np.diff(unknown) > FEW_UNMEASURED
    bridges = np.flatnonzero(far & ~other)
    none = np.full(bridges.size, np.nan)
    over_x, over_y = (np.column_stack([v[bridges], v[bridges + 1], none]).ravel() for v in (x, y))
    piece = np.concatenate([[0], np.cumsum(other | far)]) if x.size else segment
    x, y, piece = thin(x, y, piece)
    breaks = np.flatnonzero(np.diff(piece)) + 1
    return Points(np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan), over_x, over_y, bool(known.all()))


def new_figure(view: Any, trace: Trace, problem: Problem | None, height: int) -> go.Figure:
    """An empty figure in the view's theme and size, with title and subtitle."""
    subtitle = style.escape(about(trace, problem))
    fig = go.Figure()
    fig.update_layout(
        template=style.template(view.theme),
        title={"text": style.escape(view.title), "subtitle": {"text": subtitle}},
        height=view.height or height,
        showlegend=True,
        legend={"yref": "container", "y": 1 - 60 / (view.height or height), "yanchor": "top"},
    )
    return fig


def add_line(fig: go.Figure, view: Any, column: str, line: Points, **trace_options: Any) -> None:
    """One line with the colour, dash and label of its quantity: markers where it was measured, unless that is at every
    one of many events, and thin dots across longer ways without a measurement."""
    quantity = style.QUANTITIES[column]
    colour = style.theme(view.theme)[quantity.colour]
    shown = np.count_nonzero(np.isfinite(line.y)) <= SHOW_POINTS or not line.dense
    fig.add_trace(
        go.Scatter(
            x=line.x, y=line.y, name=quantity.label, meta=column, mode="lines+markers" if shown else "lines",
            line={"color": colour, "dash": quantity.dash, "width": 2}, marker={"size": 5, "color": colour},
            hovertemplate="%{y:.4g}", cliponaxis=False, **trace_options,
        )
    )  # fmt: skip
    if line.bridge_x.size:
        fig.add_trace(
            go.Scatter(
                x=line.bridge_x, y=line.bridge_y, name=f"{quantity.label}, not measured in between",
                meta=f"{column}:unmeasured", mode="lines", line={"color": colour, "dash": "dot", "width": 1},
                opacity=0.55, showlegend=False, hoverinfo="skip", cliponaxis=False, **trace_options,
            )
        )  # fmt: skip


def add_band(
    fig: go.Figure,
    view: Any,
    band: style.Band,
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    segment: np.ndarray,
    log: bool,
) -> list[np.ndarray]:
    """The area between two curves, piece by piece of the problem; where the lower one is zero it reaches down to the
    foot of a log axis. Returns what the axis has to show."""
    colour, legend = style.theme(view.theme)[band.colour], True
    shown: list[np.ndarray] = []
    for s in np.unique(segment):
        keep = (segment == s) & np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        keep &= high > LOG_FLOOR if log else True
        if not keep.any():
            continue
        px, top, _ = thin(x[keep], high[keep], np.zeros(np.count_nonzero(keep), dtype=int))
        at = np.flatnonzero(keep)[np.searchsorted(x[keep], px)]
        foot = np.maximum(low[at], LOG_FLOOR) if log else low[at]
        edge = {"color": colour, "width": 1, "dash": band.dash}
        hover = {
            "customdata": np.column_stack([low[at], top]),
            "hovertemplate": "%{customdata[0]:.3g} … %{customdata[1]:.3g}",
        }
        fig.add_trace(
            go.Scatter(
                x=px,
                y=top,
                name=band.label,
                meta=band.high,
                mode="lines",
                line=edge,
                legendgroup=band.high,
                showlegend=legend,
                **hover,
            )
        )
        fig.add_trace(
            go.Scatter(
                x=px,
                y=foot,
                name=band.label,
                meta=band.low,
                mode="lines",
                line={"width": 0},
                fill="tonexty",
                fillcolor=style.faint(colour),
                legendgroup=band.high,
                showlegend=False,
                hoverinfo="skip",
            )
        )
        shown += [top] if log else [top, foot]
        legend = False
    return shown


def measured(reading: Reading, column: str) -> str:
    """Describe the share of the iterations at which a column was evaluated; empty if at all of them."""
    known = int(np.count_nonzero(np.isfinite(reading.column(column))))
    return "" if known == reading.n else f"{style.QUANTITIES[column].short} measured at {known} of {reading.n} points"


def numbers(values: Any) -> np.ndarray:
    """Return the numbers of a line, NaN where there is none."""
    return np.array([np.nan if value is None else float(value) for value in values])


def log_axis(values: Iterable[np.ndarray]) -> dict[str, Any]:
    """Settings of a log y axis with whole decades as ticks, at most about eight of them."""
    finite = [v[np.isfinite(v) & (v > 0)] for v in values]
    every = np.concatenate([v for v in finite if len(v)] or [np.ones(1)])
    decades = float(np.log10(every.max()) - np.log10(every.min()))
    ticks = {"dtick": max(1, int(np.ceil(decades / 8)))} if decades > 1.5 else {}
    return {"type": "log", "exponentformat": "power", **ticks}


def log_range(values: Iterable[np.ndarray]) -> list[float]:
    """The range of a log axis (as powers of ten) that shows all these values."""
    every = np.concatenate([v[np.isfinite(v) & (v > LOG_FLOOR)] for v in values] or [np.ones(1)])
    low, high = (float(np.log10(end)) for end in ((every.min(), every.max()) if every.size else (0.1, 1.0)))
    pad = 0.04 * (high - low or 1.0)
    return [low - pad, high + pad]


def mark_rows(
    places: list[float], texts: list[str], low: float, high: float
) -> list[tuple[float, list[int], int, bool]]:
    """Return the positions of the texts of the marks: ``(place, marks, row, flush right)`` for every printed text.

    A text starts at its mark, or ends there if it would leave the plot, in the lowest of ``MARK_ROWS`` rows above the
    plot where it overlaps nothing. Where no row is free, the mark joins the text printed before it.
    """
    scale = PLOT_PIXELS / ((high - low) or 1.0)
    taken: list[list[tuple[float, float]]] = [[] for _ in range(MARK_ROWS)]
    out: list[tuple[float, list[int], int, bool]] = []
    for k in sorted(range(len(places)), key=lambda i: places[i]):
        start, width = (places[k] - low) * scale, 6.5 * len(texts[k]) + 10
        flush = start + width > PLOT_PIXELS
        span = (start - width, start) if flush else (start, start + width)
        free = [r for r in range(MARK_ROWS) if all(span[1] <= a or span[0] >= b for a, b in taken[r])]
        if free:
            taken[free[0]].append(span)
            out.append((places[k], [k], free[0], flush))
        else:
            out[-1][1].append(k)
    return out


def gestures(marks: Iterable[Any]) -> list[Any]:
    """The marks, those of one gesture as one: changes of λ within :data:`GESTURE` seconds of the one before. Up to
    :data:`FEW_MARKS` stay as they are: a script makes its changes in no time, and each is meant."""
    merged: list[Any] = []
    every = list(marks)
    if len(every) <= FEW_MARKS:
        return every
    for mark in every:
        last = merged[-1] if merged else None
        if last is not None and mark.kind == last.kind == "lam" and 0.0 < mark.clock < last.clock + GESTURE:
            first, _, _ = last.text.partition(ARROW)
            merged[-1] = dataclasses.replace(mark, text=first + ARROW + mark.text.rpartition(ARROW)[2])
        else:
            merged.append(mark)
    return merged


def add_marks(fig: go.Figure, view: Any, trace: Trace, x: np.ndarray) -> None:
    """A dotted vertical line for every change made during the run, with its text above the plot."""
    marks = gestures(trace.marks)
    if not marks:
        return
    colours = style.theme(view.theme)
    column = X_AXES[view.x][0]
    places = [float(getattr(mark, column)) for mark in marks]
    finite = [*places, *x[np.isfinite(x)]]
    for place in places:
        fig.add_vline(x=place, line={"color": colours["muted"], "width": 1, "dash": "dot"})
    printed = mark_rows(places, [str(mark.text) for mark in marks], min(finite), max(finite))
    for place, group, row, flush in printed:
        whole = "; ".join(str(marks[k].text) for k in group)
        more = f" (+{len(group) - 1})" if len(group) > 1 else ""
        fig.add_annotation(
            x=place, y=1, yref="paper", yanchor="bottom", xanchor="right" if flush else "left",
            yshift=2 + MARK_PIXELS * row, showarrow=False, text=style.escape(f"{marks[group[0]].text}{more}"),
            hovertext=style.escape(whole), name="mark", font={"size": 11, "color": colours["muted"]},
        )  # fmt: skip
    fig.update_layout(margin_t=96 + MARK_PIXELS * (1 + max(row for _, _, row, _ in printed)))


def wrap(text: str, width: int) -> list[str]:
    """Break text into the fewest lines of at most ``width`` characters, of about equal length: no word stands alone."""
    fewest = len(textwrap.wrap(text, width))
    equal = next(w for w in range(len(text) // fewest, width + 1) if len(textwrap.wrap(text, w)) == fewest)
    return textwrap.wrap(text, equal)


def add_sentence(fig: go.Figure, view: Any, sentence: str) -> go.Figure:
    """The empty state: axes without numbers, and why there is nothing to see. Returns ``fig``."""
    colours = style.theme(view.theme)
    fig.update_xaxes(range=[0, 1], showticklabels=False, showgrid=False, ticks="", zeroline=False)
    fig.update_yaxes(range=[0, 1], showticklabels=False, showgrid=False, ticks="", type="linear")
    if not fig.data:  # plotly draws no axes at all for a figure without a trace
        fig.add_trace(go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip"))
    fig.add_annotation(
        text="<br>".join(map(style.escape, wrap(sentence, 60))), x=0.5, y=0.5, xref="paper", yref="paper",
        showarrow=False, font={"size": 14, "color": colours["muted"]}, name="sentence",
    )  # fmt: skip
    return fig


def all_zero(when: str, iteration: float) -> str:
    """The sentence for weights that are all zero."""
    why = "A smaller λ lets rows in." if iteration > 0 else "The run starts there; rows enter as it goes on."
    return f"Every row of W is zero {when}. {why}"


def add_notes(fig: go.Figure, view: Any, notes: Iterable[str]) -> None:
    """Small print under the plot, one line a note."""
    lines = [line for note in notes for line in wrap(note, 115)]
    if not lines:
        return
    fig.add_annotation(
        text="<br>".join(map(style.escape, lines)), x=0, y=0, xref="paper", yref="paper", xanchor="left",
        yanchor="top", yshift=-44, showarrow=False, align="left", name="note",
        font={"size": 11, "color": style.theme(view.theme)["muted"]},
    )  # fmt: skip
    fig.update_layout(margin_b=56 + 16 * len(lines))
