"""The active set over time: which rows of W are non-zero after each iteration, where they enter and leave, and which
other rows the solver works on."""

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
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

# A chart has about this many pixels; more cells than pixels cannot be told apart and make a page heavy.
MAX_ROWS = 600
MAX_COLUMNS = 800
# Up to this many cells each gets its own hover text; beyond, the texts would weigh more than the picture.
MAX_HOVER_CELLS = 40_000

# The states of a cell. A cell that stands for several rows or iterations shows the largest: a change is never hidden.
ZERO, WORKED, NONZERO, LEFT, ENTERED = range(5)
STATES = ("zero", "worked on", "non-zero", "left", "entered")


@dataclass(frozen=True)
class Raster:
    """The picture as data. ``codes``: uint8 of shape (len(rows), columns), one of the states of this module a cell.

    ``rows``: for every line of the picture the rows of W it stands for. ``edges``: the borders of the columns on the x
    axis, one more than there are columns.
    ``ever``: how many rows were ever non-zero; ``tried``: how many more the solver had in its working set.
    """

    codes: np.ndarray
    rows: list[np.ndarray]
    edges: np.ndarray
    ever: int
    tried: int


def first_entries(trace: Trace, n: int | None = None, working: bool = False) -> dict[int, int]:
    """Row -> index of the first event at which it is non-zero (``working``: in the solver's working set).

    Looks at the first ``n`` events (default: all).
    """
    first: dict[int, int] = {}
    for i in range(len(trace) if n is None else n):
        for j in trace.taken(i) if working else trace.entered(i):
            first.setdefault(int(j), i)
    return first


def column_edges(x: np.ndarray, limit: int = MAX_COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """``(edges, column)``: borders of the picture's columns and the column of each event.

    Up to ``limit`` different values of ``x`` (n,) have separate columns, with the border half way to the next one
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

    With up to ``max_rows`` features all of them are there; with more, only those that were ever non-zero or in the
    solver's working set, in bins of neighbours if they are still too many. ``order``: ``"index"``, ``"first"`` (by
    first entry, then the rows that were only worked on), or ``"auto"`` (index where all features are there, first
    entry otherwise).
    """
    n = len(x)
    first, taken = first_entries(trace, n), first_entries(trace, n, working=True)
    by_entry = [*sorted(first, key=lambda j: (first[j], j)),
                *sorted(taken.keys() - first.keys(), key=lambda j: (taken[j], j))]  # fmt: skip
    shown = np.array(by_entry, dtype=np.int64)
    if d <= max_rows:
        rows = np.concatenate([shown, np.setdiff1d(np.arange(d), shown)]) if order == "first" else np.arange(d)
    else:
        rows = np.sort(shown) if order == "index" else shown
    position = np.full(d, -1, dtype=np.int64)
    position[rows] = np.arange(len(rows))
    edges, column = column_edges(x)
    codes = _codes(trace, position, len(rows), np.searchsorted(column, np.arange(len(edges) - 1), side="right"))
    tried = len(shown) - len(first)
    if len(rows) <= max_rows:
        return Raster(codes, [rows[k : k + 1] for k in range(len(rows))], edges, len(first), tried)
    starts = np.unique(np.linspace(0, len(rows), max_rows + 1).astype(np.int64))[:-1]
    return Raster(np.maximum.reduceat(codes, starts, axis=0), np.split(rows, starts[1:]), edges, len(first), tried)


def _codes(trace: Trace, position: np.ndarray, lines: int, stops: np.ndarray) -> np.ndarray:
    """States, shape (lines, columns): column c shows the events up to ``stops[c]`` that no column before it showed."""
    codes = np.zeros((lines, len(stops)), dtype=np.uint8)
    nonzero, working = np.zeros(lines, dtype=bool), np.zeros(lines, dtype=bool)
    state = np.zeros(lines, dtype=np.uint8)
    event = 0
    for c, stop in enumerate(stops):
        cell = codes[:, c]
        if event == stop:
            cell[:] = state  # a column without events shows the state that goes on
        for i in range(event, int(stop)):
            left, entered = position[trace.left(i)], position[trace.entered(i)]
            nonzero[left], nonzero[entered] = False, True
            working[position[trace.dropped(i)]], working[position[trace.taken(i)]] = False, True
            state = np.where(nonzero, NONZERO, np.where(working, WORKED, ZERO)).astype(np.uint8)
            np.maximum(cell, state, out=cell)
            cell[left] = np.maximum(cell[left], LEFT)
            cell[entered] = ENTERED
        event = int(stop)
    return codes


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
    """Non-zero rows of W over time; rows that enter and rows that leave are highlighted."""

    name = "active-set"
    title = "Active set over time"
    menu_order = 30
    kinds = ("prediction", "covariance")
    doc = ("Which rows of W are non-zero after each iteration; rows that enter and rows that leave stand out. Where "
           "the solver has a working set, the other rows in it have a faint tone.")  # fmt: skip
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
        if not picture.ever and not picture.tried:
            iteration = int(reading.column("iteration")[-1])
            return drawing.add_sentence(fig, self, drawing.all_zero(f"up to iteration {iteration}", iteration))
        self._add_picture(fig, trace, problem, picture)
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        drawing.add_notes(fig, self, self._notes(picture, d))
        return fig

    def _add_picture(self, fig: go.Figure, trace: Trace, problem: Problem | None, picture: Raster) -> None:
        c = style.theme(self.theme)
        colours = [c["paper"], c["worked"], c["kept"], c["vermillion"], c["blue"]]
        labels = [style.escape(label) for label in line_labels(trace, problem, picture.rows)]
        each = picture.codes.size <= MAX_HOVER_CELLS
        meaning = "%{text}" if each else "state %{z} (0 zero, 1 worked on, 2 non-zero, 3 left, 4 entered)"
        fig.add_trace(
            go.Heatmap(
                z=picture.codes, x=picture.edges, y=labels, zmin=-0.5, zmax=4.5, showscale=False,
                colorscale=style.step_scale(colours), text=np.array(STATES)[picture.codes] if each else None,
                hovertemplate=f"%{{y}}<br>{X_AXES[self.x][1]} %{{x:.4~g}}<br>{meaning}<extra></extra>",
            )
        )  # fmt: skip
        worked = (WORKED,) if (picture.codes == WORKED).any() else ()
        for state in (ENTERED, NONZERO, LEFT, *worked):
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
        tried = f" and {picture.tried} more were worked on" if picture.tried else ""
        notes = f"{picture.ever} of {d} rows were ever non-zero{tried}; the others are not drawn."
        if len(picture.rows) < picture.ever + picture.tried:
            notes += f" A line stands for up to {max(map(len, picture.rows))} neighbouring rows and shows any change."
        return [notes]


registry.views.add(ActiveSet.name, ActiveSet, title=ActiveSet.title, doc=ActiveSet.doc)
