"""Convergence: how far from the optimum, by which measure, over which clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import field
from ..runs.reference import known as remembered
from . import drawing, style
from .base import X_AXES, View

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

COLUMNS = ("objective", "known_excess", "relative_gap", "violation", "paper_violation")
AXIS_TITLE = "F · F − F* · gap · violation"
# For problems with unknown optimum: of a sequence of models there is no gap, and the best F is the last one.
UNPROVED, UNPROVED_TITLE = ("objective", "violation"), "F · violation"


def excess(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The proved range of (F − F*)/|F| at every event: two arrays of shape (n,), the lower and the upper end.

    F* is the optimum of the problem of the event's segment. It lies between the largest certified lower bound D and the
    smallest objective B seen for that problem, so F − F* lies between F − B and F − D. Both are divided by the |F| of
    the event, as the relative gap is: no bound lies under what it bounds, and no number changes its unit later. New
    knowledge only narrows the range. The lower end is 0 at the best event; the upper end is NaN without a bound.
    """
    reading = drawing.Reading(trace)
    objective, segment = reading.column("objective"), reading.segments()
    unit = trace.scale()[: reading.n]
    low, high = np.full(reading.n, np.nan), np.full(reading.n, np.nan)
    for s in np.unique(segment):
        inside = segment == s
        low[inside] = np.maximum(objective[inside] - float(trace.best(int(s))), 0.0) / unit[inside]
        high[inside] = (objective[inside] - float(trace.lower(int(s)))) / unit[inside]
    return low, high


def known_excess(trace: Trace) -> np.ndarray:
    """(F − F*)/|F| at every event whose problem has a reference, shape (n,).

    F* is known up to the reference's own gap: what is nearer to it than that is NaN, so no value is off by more than a
    factor of two. A reference is noted once and stays, so nothing that was drawn moves.
    """
    reading = drawing.Reading(trace)
    objective, segment = reading.column("objective"), reading.segments()
    found = np.full(reading.n, np.nan)
    for s in np.unique(segment):
        bounds = trace.optimum(int(s))
        if bounds is not None:
            above = objective - bounds[1]
            told = (segment == s) & (above > bounds[1] - bounds[0])
            found[told] = above[told]
    return found / trace.scale()[: reading.n]


def take_reference(trace: Trace, problem: Problem | None) -> Trace:
    """The trace with the F* of ``problem``, if a reference of it is remembered and the trace has none."""
    if problem is None or not problem.proves:
        return trace
    target = problem.key
    segments = [s for s in range(trace.segments) if trace.is_of(target, s)]
    if not segments or trace.optimum(segments[0]) is not None:
        return trace
    found = remembered(problem)
    if found is None:
        return trace
    copied = trace.copy()
    copied.note_optimum(target, found.dual, found.objective)
    return copied


def known(trace: Trace) -> str:
    """Describe the bounds of the optimum of the newest segment; empty for an empty trace."""
    reading = drawing.Reading(trace)
    if not reading.n:
        return ""
    segment = int(reading.segments()[-1])
    best, lower = float(trace.best(segment)), float(trace.lower(segment))
    if not np.isfinite(best):
        return ""
    optimum = trace.optimum(segment)
    if optimum is not None:
        lower, best = max(lower, optimum[0]) if np.isfinite(lower) else optimum[0], min(best, optimum[1])
    if not np.isfinite(lower):
        return f"The smallest F seen is {best:.8g}; no duality gap certifies it."
    width = max(best - lower, 0.0) / (max(abs(best), float(trace.info.get("least_scale", 0.0))) or 1.0)
    return f"Proved: F* lies between {lower:.8g} and {best:.8g}, a relative width of {width:.1e}."


class Convergence(View):
    """Objective, proved range of F − F*, duality gap and violation over iterations, passes or solver time."""

    name = "convergence"
    title = "Convergence"
    compares = True
    menu_order = 10
    kinds = ("prediction", "sequence", "covariance")
    doc = "Objective, proved range of F − F*, duality gap and violation over iterations, passes or solver time."
    needs = "recorded iterations; the gap and the violation appear where the solver or the recorder evaluated them"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    log = field(True, doc="logarithmic y axis")
    marks = field(True, doc="a labelled line where something was changed during the run")
    objective = field(True, doc="draw the objective F")
    excess = field(True, doc="draw the range in which (F - F*) / |F| is proved to lie")
    known_excess = field(True, doc="draw (F - F*) / |F| where a reference gives F* (`sparsescope.reference`)")
    relative_gap = field(True, doc="draw the duality gap relative to the objective")
    violation = field(True, doc="draw the distance from the optimality condition")
    paper_violation = field(False, doc="draw the violation as Eq. 9 of the block coordinate descent paper has it")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {
            "id": self.name,
            "title": self.title,
            "kind": "lines",
            "y": [
                style.QUANTITIES[c].line("left")
                for c in COLUMNS
                if getattr(self, c) and (problem.proves or c in UNPROVED)
            ],
            "bands": [style.SUBOPTIMALITY.area()] if self.excess and problem.proves else [],
            "count": "relative_gap" if problem.proves else None,
            "left": {"title": AXIS_TITLE if problem.proves else UNPROVED_TITLE, "log": bool(self.log)},
            "right": None,
            "empty": self.empty,
        }

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        trace = take_reference(trace, problem) if self.known_excess else trace
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_layout(hovermode="x unified")
        fig.update_xaxes(title_text=X_AXES[self.x][1], rangemode="nonnegative")
        fig.update_yaxes(title_text=AXIS_TITLE)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        # Without a reference nothing is missing: the range shows what is proved.
        chosen = [c for c in COLUMNS if getattr(self, c) and (c != "known_excess" or trace.optima)]
        if not chosen and not self.excess:
            return drawing.add_sentence(fig, self, f"Every line is switched off; there are {', '.join(COLUMNS)}.")
        x, segment = reading.x(self.x), reading.segments()
        drawn, missing = [], []
        if self.excess:
            low, high = (side[: reading.n] for side in excess(trace))
            drawn += drawing.add_band(fig, self, style.SUBOPTIMALITY, x, low, high, segment, self.log)
        for column in chosen:
            values = known_excess(trace)[: reading.n] if column == "known_excess" else reading.column(column)
            line = drawing.points(x, values, segment, self.log)
            if line.drawable:
                drawing.add_line(fig, self, column, line)
                drawn.append(line.y)
            else:
                missing.append(style.QUANTITIES[column].absent)
        if not drawn:
            return drawing.add_sentence(fig, self, f"Nothing to draw: {'; '.join(missing)}.")
        if self.log:
            fig.update_yaxes(**drawing.log_axis(drawn), range=drawing.log_range(drawn))
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        counted = drawing.measured(reading, "relative_gap") if self.relative_gap else ""
        notes = [
            known(trace) if self.excess else "",
            f"{counted[0].upper()}{counted[1:]}." if counted else "",
            f"Not drawn: {'; '.join(missing)}." if missing else "",
        ]
        drawing.add_notes(fig, self, [note for note in notes if note])
        return fig


registry.views.add(Convergence.name, Convergence, title=Convergence.title, doc=Convergence.doc)
