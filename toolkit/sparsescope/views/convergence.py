"""Convergence: how far from the optimum, by which measure, over which clock."""

from __future__ import annotations

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

COLUMNS = ("objective", "suboptimality", "relative_gap", "violation", "paper_violation")
AXIS_TITLE = "F · sub-optimality · gap · violation"
# Of problems whose optimum nobody knows: of a sequence of models there is no gap, and the best F is the last one.
UNPROVED, UNPROVED_TITLE = ("objective", "violation"), "F · violation"


def suboptimality(trace: Trace) -> np.ndarray:
    """(F − best) / |best| of every event, shape (n,), against the best value known for its segment's problem.

    0 at the best event itself. NaN where a segment has no best value. Where best is 0 the difference is not divided.
    """
    reading = drawing.Reading(trace)
    objective, segment = reading.column("objective"), reading.segments()
    out = np.full(reading.n, np.nan)
    for s in np.unique(segment):
        best = float(trace.best(int(s)))
        inside = segment == s
        out[inside] = (objective[inside] - best) / (abs(best) or 1.0)
    return out


def reference(trace: Trace) -> str:
    """In words, what the sub-optimality of the newest segment is measured against; empty for an empty trace."""
    reading = drawing.Reading(trace)
    if not reading.n:
        return ""
    segment = int(reading.segments()[-1])
    best, lower = float(trace.best(segment)), float(trace.lower(segment))
    if not np.isfinite(best):
        return ""
    known = f"Sub-optimality is measured against the best value known, F = {best:.8g}"
    if not np.isfinite(lower):
        return f"{known}; no duality gap certifies it."
    return f"{known}; a dual value certifies it to a relative {max(best - lower, 0.0) / (abs(best) or 1.0):.1e}."


class Convergence(View):
    """Objective, sub-optimality, duality gap and optimality violation over iterations, passes or solver time."""

    name = "convergence"
    title = "Convergence"
    menu_order = 10
    doc = "Objective, sub-optimality, duality gap and optimality violation over iterations, passes or solver time."
    needs = "recorded iterations; the gap and the violation appear where the solver or the recorder evaluated them"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    log = field(True, doc="logarithmic y axis")
    marks = field(True, doc="a labelled line where something was changed during the run")
    objective = field(True, doc="draw the objective F")
    suboptimality = field(True, doc="draw (F - best) / best")
    relative_gap = field(True, doc="draw the duality gap relative to the objective")
    violation = field(True, doc="draw the distance from the optimality condition")
    paper_violation = field(False, doc="draw the violation as Eq. 9 of the block coordinate descent paper has it")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {
            "id": self.name,
            "title": self.title,
            "kind": "lines",
            "y": [style.QUANTITIES[c].line("left") for c in COLUMNS
                  if getattr(self, c) and (problem.proves or c in UNPROVED)],
            "left": {"title": AXIS_TITLE if problem.proves else UNPROVED_TITLE, "log": bool(self.log)},
            "right": None,
            "empty": self.empty,
        }

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_layout(hovermode="x unified")
        fig.update_xaxes(title_text=X_AXES[self.x][1], rangemode="nonnegative")
        fig.update_yaxes(title_text=AXIS_TITLE)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        chosen = [c for c in COLUMNS if getattr(self, c)]
        if not chosen:
            return drawing.add_sentence(fig, self, f"Every line is switched off; there are {', '.join(COLUMNS)}.")
        x, segment = reading.x(self.x), reading.segments()
        drawn, missing = [], []
        for column in chosen:
            y = suboptimality(trace)[: reading.n] if column == "suboptimality" else reading.column(column)
            px, py = drawing.points(x, y, segment, self.log)
            if np.isfinite(py).any():
                drawing.add_line(fig, self, column, px, py)
                drawn.append(py)
            else:
                missing.append(style.QUANTITIES[column].absent)
        notes = [f"Not drawn: {'; '.join(missing)}."] if missing else []
        if not drawn:
            return drawing.add_sentence(fig, self, f"Nothing to draw: {'; '.join(missing)}.")
        if self.log:
            fig.update_yaxes(**drawing.log_axis(drawn))
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        if self.suboptimality:
            notes.insert(0, reference(trace))
        drawing.add_notes(fig, self, [note for note in notes if note])
        return fig


registry.views.add(Convergence.name, Convergence, title=Convergence.title, doc=Convergence.doc)
