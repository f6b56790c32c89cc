"""The active set over time: which rows of W are non-zero after each iteration, and where they enter and leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import field
from . import drawing, style
from .base import X_AXES, View

if TYPE_CHECKING:
    from ..problem import Problem
    from ..trace import Trace

# A chart has about this many pixels; more cells than pixels cannot be told apart and make a page heavy.
MAX_ROWS = 600
MAX_COLUMNS = 800
# Up to this many cells each gets its own hover text; beyond, the texts would weigh more than the picture.
MAX_HOVER_CELLS = 40_000

# The states of a cell. A cell that stands for several rows or iterations shows the largest: a change is never hidden.
ZERO, NONZERO, LEFT, ENTERED = range(4)
STATES = ("zero", "non-zero", "left", "entered")


@dataclass(frozen=True)
class Raster:
    """The picture as data. ``codes``: uint8 of shape (len(rows), columns), one of the states of this module a cell.

    ``rows``: for every line of the picture the rows of W it stands for. ``edges``: the borders of the columns on the x
    axis, one more than there are columns.
    ``ever``: how many rows were ever non-zero.
    """

    codes: np.ndarray
    rows: list[np.ndarray]
    edges: np.ndarray
    ever: int


def first_entries(trace: Trace, n: int | None = None) -> dict[int, int]:
    """Row -> index of the first event at which it is non-zero, over the first ``n`` events (default: all)."""
    first: dict[int, int] = {}
    for i in range(len(trace) if n is None else n):
        for j in trace.entered(i):
            first.setdefault(int(j), i)
    return first


def column_edges(x: np.ndarray, limit: int = MAX_COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """``(edges, column)``: borders of the picture's columns and the column of each event.

    Up to ``limit`` different values of ``x`` (n,) have a column of their own, with its border half way to the next one
    (events at one value, as before and after a change, share it); beyond, the columns are equally wide.
    """
    values, column = np.unique(x, return_inverse=True)
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5]), column
    if len(values) <= limit:
        middle = (values[1:] + values[:-1]) / 2
        return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]]), column
    edges = np.linspace(values[0], values[-1], limit + 1)
    return edges, np.clip(np.searchsorted(edges, x, side="right") - 1, 0, limit - 1)


def raster(trace: Trace, x: np.ndarray, d: int, order: str = "auto", max_rows: int = MAX_ROWS) -> Raster:
    """Rows by time, for the first ``len(x)`` events of the trace.

    With up to ``max_rows`` features all of them are there; with more, only those that were ever non-zero, in bins of
    neighbours if they are still too many. ``order``: ``"index"``, ``"first"`` (by first entry), or ``"auto"`` (index
    where all features are there, first entry otherwise).
    """
    n = len(x)
    first = first_entries(trace, n)
    ever = np.array(sorted(first), dtype=np.int64)
    by_entry = np.array(sorted(first, key=lambda j: (first[j], j)), dtype=np.int64)
    if d <= max_rows:
        rest = np.setdiff1d(np.arange(d), ever)
        rows = np.concatenate([by_entry, rest]) if order == "first" else np.arange(d)
    else:
        rows = ever if order == "index" else by_entry
    position = np.full(d, -1, dtype=np.int64)
    position[rows] = np.arange(len(rows))
    edges, column = column_edges(x)
    codes = np.zeros((len(rows), len(edges) - 1), dtype=np.uint8)
    state = np.zeros(len(rows), dtype=np.uint8)
    stops = np.searchsorted(column, np.arange(len(edges) - 1), side="right")
    event = 0
    for c, stop in enumerate(stops):
        cell = codes[:, c]
        cell[:] = state  # a column without events shows the state that goes on
        for i in range(event, int(stop)):
            left, entered = position[trace.left(i)], position[trace.entered(i)]
            state[left], state[entered] = ZERO, NONZERO
            cell[left] = np.maximum(cell[left], LEFT)
            cell[entered] = ENTERED
        event = int(stop)
    if len(rows) <= max_rows:
        return Raster(codes, [rows[k : k + 1] for k in range(len(rows))], edges, len(ever))
    starts = np.unique(np.linspace(0, len(rows), max_rows + 1).astype(np.int64))[:-1]
    return Raster(np.maximum.reduceat(codes, starts, axis=0), np.split(rows, starts[1:]), edges, len(ever))


def line_labels(trace: Trace, problem: Problem | None, rows: list[np.ndarray]) -> list[str]:
    """A distinct label for every line of the picture: the feature's name, or the first name and how many follow."""
    labels: list[str] = []
    seen: set[str] = set()
    for group in rows:
        label = drawing.feature_names(trace, problem, group[:1])[0]
        if len(group) > 1:
            label = f"{label} and {len(group) - 1} more"
        if label in seen:
            label = f"{label} [{group[0]}]"
        seen.add(label)
        labels.append(label)
    return labels


class ActiveSet(View):
    """Which rows of W are non-zero over time; rows that enter and rows that leave stand out."""

    name = "active-set"
    title = "Active set over time"
    doc = "Which rows of W are non-zero after each iteration; rows that enter and rows that leave stand out."
    needs = "recorded iterations of a solver whose weights have rows"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    order = field("auto", choices=("auto", "index", "first"),
                  doc="rows by index or by first entry; auto: by index if each feature has its own line")  # fmt: skip
    marks = field(True, doc="a labelled line where something was changed during the run")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {"id": self.name, "title": self.title, "kind": "raster", "empty": self.empty}

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=420)
        fig.update_xaxes(title_text=X_AXES[self.x][1], showgrid=False)
        fig.update_yaxes(title_text="rows of W", showgrid=False)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        x = reading.x(self.x)
        if not np.isfinite(x).all():
            return drawing.add_sentence(fig, self, f"Nothing to draw: this trace has no clock of {self.x}.")
        d = drawing.size(trace, problem, "d") or 1 + max(first_entries(trace, reading.n), default=0)
        picture = raster(trace, x, d, self.order)
        if not picture.ever:
            iteration = int(reading.column("iteration")[-1])
            return drawing.add_sentence(fig, self, drawing.all_zero(f"up to iteration {iteration}", iteration))
        self._add_picture(fig, trace, problem, picture, x)
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        drawing.add_notes(fig, self, self._notes(picture, d))
        return fig

    def _add_picture(
        self, fig: go.Figure, trace: Trace, problem: Problem | None, picture: Raster, x: np.ndarray
    ) -> None:
        c = style.theme(self.theme)
        colours = [c["paper"], c["kept"], c["vermillion"], c["blue"]]
        labels = [style.escape(label) for label in line_labels(trace, problem, picture.rows)]
        each = picture.codes.size <= MAX_HOVER_CELLS
        meaning = "%{text}" if each else "state %{z} (0 zero, 1 non-zero, 2 left, 3 entered)"
        fig.add_trace(
            go.Heatmap(
                z=picture.codes, x=picture.edges, y=labels, zmin=-0.5, zmax=3.5, showscale=False,
                colorscale=style.step_scale(colours), text=np.array(STATES)[picture.codes] if each else None,
                hovertemplate=f"%{{y}}<br>{X_AXES[self.x][1]} %{{x:.4~g}}<br>{meaning}<extra></extra>",
            )
        )  # fmt: skip
        for state in (ENTERED, NONZERO, LEFT):
            fig.add_trace(
                go.Scatter(
                    x=[None], y=[None], mode="markers", name=STATES[state], hoverinfo="skip",
                    marker={"symbol": "square", "size": 11, "color": colours[state]},
                )
            )  # fmt: skip
        fig.update_xaxes(range=[picture.edges[0], picture.edges[-1]])
        fig.update_yaxes(type="category", autorange="reversed", nticks=24)

    def _notes(self, picture: Raster, d: int) -> list[str]:
        if d <= MAX_ROWS:
            return []
        notes = f"{picture.ever} of {d} rows were ever non-zero; the others are not drawn."
        if len(picture.rows) < picture.ever:
            notes += f" A line stands for up to {max(map(len, picture.rows))} neighbouring rows and shows any change."
        return [notes]


registry.views.add(ActiveSet.name, ActiveSet, title=ActiveSet.title, doc=ActiveSet.doc)
