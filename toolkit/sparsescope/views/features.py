"""Error against features used: the error of a sequence of models against the number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import field
from . import drawing, style
from .accuracy import has_sets
from .base import View

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

COLUMNS = ("train_error", "test_error")
X_TITLE = "features used"
# What an error is, for one class a sample and for label sets; the measure it is the rest of.
ERRORS = {"accuracy": "error [% wrong]", "precision_at_1": "error [% whose best label is wrong]"}


class Features(View):
    """Training and test error against the number of features, for solvers whose model is a sequence of fits."""

    name = "features"
    title = "Error against features used"
    menu_order = 25
    kinds = ("sequence",)
    doc = "Training and test error against the number of features that a sequence of models was given so far."
    needs = "a run of a solver whose model is a sequence (cls, stagewise); test error needs test data"
    empty = "Nothing to draw yet: no stage has been fitted."

    log = field(True, doc="logarithmic y axis")
    log_x = field(False, doc="logarithmic x axis")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {
            "id": self.name,
            "title": self.title,
            "kind": "lines",
            "x": "features",
            "y": [style.QUANTITIES[c].line("left") for c in COLUMNS],
            "left": {"title": ERRORS["precision_at_1" if problem.multilabel else "accuracy"], "log": bool(self.log)},
            "right": None,
            "empty": self.empty,
        }

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_layout(hovermode="x unified")
        measure = "precision_at_1" if reading.n and has_sets(trace, problem) else "accuracy"
        fig.update_xaxes(title_text=X_TITLE, rangemode="nonnegative")
        fig.update_yaxes(title_text=ERRORS[measure])
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        x, drawn, missing = reading.column("features"), [], []
        if not np.isfinite(x).any():
            return drawing.add_sentence(
                fig,
                self,
                "Nothing to draw: only solvers whose model is a sequence (cls, "
                "stagewise) count the features that they use.",
            )
        # a new loss begins a new sequence, whose features are counted from zero again: another line
        sequence = np.concatenate([[0], np.cumsum(np.diff(np.nan_to_num(x)) < 0)])
        keep = x > 0  # before the first stage there is nothing to judge
        for column, part in zip(COLUMNS, ("train", "test"), strict=True):
            y = 100.0 * (1.0 - reading.column(f"{part}_{measure}"))
            line = drawing.points(np.where(keep, x, np.nan), y, sequence, self.log)
            if line.drawable:
                drawing.add_line(fig, self, column, line)
                drawn.append(line.y)
            else:
                missing.append(style.QUANTITIES[column].absent)
        if not drawn:
            return drawing.add_sentence(fig, self, f"Nothing to draw: {'; '.join(missing)}.")
        if self.log:
            fig.update_yaxes(**drawing.log_axis(drawn))
        if self.log_x:
            fig.update_xaxes(type="log")
        drawing.add_notes(fig, self, [f"Not drawn: {'; '.join(missing)}."] if missing else [])
        return fig


registry.views.add(Features.name, Features, title=Features.title, doc=Features.doc)
