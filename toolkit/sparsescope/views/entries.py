"""The working set of a sparse inverse covariance: entries of Θ that a step works on, and those that are in use."""

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

COLUMNS = ("working_entries", "used_entries")
AXIS_TITLE = "entries of Θ, i ≤ j"


def counts(reading: drawing.Reading, p: int | None) -> dict[str, np.ndarray]:
    """Both quantities of every event, (n,): entries on and above the diagonal."""
    unknown = np.full(reading.n, np.nan)
    used = 0.5 * (reading.column("nonzero_entries") + p) if p else unknown
    return {"working_entries": reading.column("working_set"), "used_entries": used}


class Entries(View):
    """Number of entries that each step worked on: from above for quic, from below for lhac-covariance."""

    name = "entries"
    title = "Working set"
    menu_order = 27
    kinds = ("covariance",)
    doc = ("How many entries of Θ, on and above the diagonal, each step worked on and how many are not zero: quic "
           "comes to its support from above, lhac-covariance from below.")  # fmt: skip
    needs = "recorded iterations of a covariance problem"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    log = field(False, doc="logarithmic y axis")
    marks = field(True, doc="a labelled line where something was changed during the run")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {
            "id": self.name, "title": self.title, "kind": "lines",
            "y": [style.QUANTITIES[c].line("left") for c in COLUMNS],
            "left": {"title": AXIS_TITLE, "log": bool(self.log)}, "right": None, "empty": self.empty,
        }  # fmt: skip

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=360)
        fig.update_layout(hovermode="x unified")
        fig.update_xaxes(title_text=X_AXES[self.x][1], rangemode="nonnegative")
        fig.update_yaxes(title_text=AXIS_TITLE)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        if getattr(problem, "kind", trace.info.get("kind", "")) not in self.kinds:
            return drawing.add_sentence(
                fig,
                self,
                "Nothing to draw: these weights are no inverse covariance. For "
                "other problems the view accuracy shows the working set.",
            )
        x, drawn = reading.x(self.x), []
        whole = np.zeros_like(reading.segments())  # what is in use does not jump where λ changes
        for column, y in counts(reading, drawing.size(trace, problem, "d")).items():
            line = drawing.points(x, y, whole, self.log)
            if line.drawable:
                drawing.add_line(fig, self, column, line)
                drawn.append(line.y)
        if not drawn:
            return drawing.add_sentence(fig, self, f"Nothing to draw: this trace has no clock of {self.x}.")
        if self.log:
            fig.update_yaxes(**drawing.log_axis(drawn))
        else:
            fig.update_yaxes(rangemode="tozero")
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        return fig


registry.views.add(Entries.name, Entries, title=Entries.title, doc=Entries.doc)
