"""Accuracy on training and test data, with the share of non-zero rows on the same clock."""

from __future__ import annotations

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

LEFT_TITLE = "accuracy (share correct)"
RIGHT_TITLE = "non-zero rows [%]"


class Accuracy(View):
    """Training and test accuracy, and how many rows of W they need."""

    name = "accuracy"
    title = "Accuracy and sparsity"
    doc = "Training and test accuracy on the left axis, the share of non-zero rows of W on the right, over one clock."
    needs = "recorded iterations with accuracies; test accuracy needs test data"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    marks = field(True, doc="a labelled line where something was changed during the run")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {
            "id": self.name,
            "title": self.title,
            "kind": "lines",
            "y": [
                style.QUANTITIES["train_accuracy"].line("left"),
                style.QUANTITIES["test_accuracy"].line("left"),
                style.QUANTITIES["nonzero_percent"].line("right"),
            ],
            "left": {"title": LEFT_TITLE, "log": False},
            "right": {"title": RIGHT_TITLE, "range": [0, 100]},
            "empty": self.empty,
        }

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_layout(
            hovermode="x unified",
            margin_r=64,
            yaxis2={"title": {"text": RIGHT_TITLE}, "side": "right", "overlaying": "y", "range": [0, 102],
                    "showgrid": False, "tickmode": "linear", "dtick": 20},
        )  # fmt: skip
        fig.update_xaxes(title_text=X_AXES[self.x][1], rangemode="nonnegative")
        fig.update_layout(yaxis_title_text=LEFT_TITLE)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        x, d = reading.x(self.x), drawing.size(trace, problem, "d")
        percent = 100.0 * reading.column("nonzero_rows") / d if d else np.full(reading.n, np.nan)
        columns = {"train_accuracy": reading.column("train_accuracy"), "test_accuracy": reading.column("test_accuracy")}
        missing = []
        for column, y in {**columns, "nonzero_percent": percent}.items():
            # the model does not jump where the problem changes, so these lines are not broken there
            px, py = drawing.points(x, y, np.zeros(reading.n, dtype=np.int64), log=False)
            if not len(px):
                missing.append(style.QUANTITIES[column].absent)
                continue
            drawing.add_line(fig, self, column, px, py, yaxis="y2" if column == "nonzero_percent" else "y")
        if not fig.data:
            return drawing.add_sentence(fig, self, f"Nothing to draw: {'; '.join(missing)}.")
        known = np.concatenate(list(columns.values()))
        low = np.floor(20 * np.nanmin(known) - 0.5) / 20 if np.isfinite(known).any() else 0.0
        low = float(np.clip(low, 0.0, 0.95))
        fig.update_layout(yaxis={"range": [low, 1.0 + 0.02 * (1.0 - low)]})
        if not any(line.yaxis == "y" for line in fig.data):  # else plotly would leave the left axis out
            fig.add_trace(go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip"))
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        drawing.add_notes(fig, self, [f"Not drawn: {'; '.join(missing)}."] if missing else [])
        return fig


registry.views.add(Accuracy.name, Accuracy, title=Accuracy.title, doc=Accuracy.doc)
