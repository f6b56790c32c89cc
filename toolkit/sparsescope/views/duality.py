"""Primal and dual: the objective from above, the dual value from below; and how sparse W and the dual point are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import PERCENT, field
from ..runs.event import solver_columns
from . import drawing, style
from .base import X_AXES, View

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

LEFT_TITLE = "values F and D"
RIGHT_TITLE = "of samples, of dual entries [%]"
LEFT = ("objective", "dual")
RIGHT = (f"{PERCENT}active_share", "dual_percent")
PERCENT_RANGE = (-4, 104)  # a little more than 0 to 100, so that a share of almost nothing is not hidden by the axis
# The other picture: numbers that stay small when there are very many labels.
COUNTS_TITLE = "labels k_A, weights k_W"
WORK_TITLE = "of samples, of the work [%]"
LABELS = {"values": "F and D", "sparsity": "sparsity"}


def pictures() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Left and right axis of each picture: the second one shows every share that a solver declares as drawn."""
    shares = tuple(column.shown for column in solver_columns().values() if column.drawn and column.unit == "share")
    return {"values": (LEFT, RIGHT), "sparsity": (("dual_entries", "weights_per_feature"), shares)}


# The first dual values may lie far below anything of interest: the axis goes this many times the rest deeper at most.
DEPTH = 1.5


class Duality(View):
    """Objective and dual value as they approach the optimum, and the sparsity of a dual point."""

    name = "duality"
    title = "Primal and dual"
    compares = True
    menu_order = 40
    kinds = ("prediction", "covariance")
    doc = (
        "The objective falls from above and the dual value rises from below: the optimum lies between them. On the "
        "right, for solvers that keep a dual point, the shares of active samples and of dual entries in use. Or, "
        "as numbers: the active labels a sample (k_A) and the weights a feature (k_W), and how much of the work "
        "went into searches."
    )
    needs = "certificates; the right axis needs a solver that keeps a dual point, such as fbpd"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    show = field("values", choices=tuple(LABELS), doc="values and shares, or numbers of labels and weights")
    marks = field(True, doc="a labelled line where something was changed during the run")

    def spec(self, problem: Problem) -> dict[str, Any]:
        axes: dict[str, dict[str, Any]] = {
            "values": {"left": {"title": LEFT_TITLE, "log": False, "between": list(LEFT)},
                       "right": {"title": RIGHT_TITLE, "range": list(PERCENT_RANGE)}},
            "sparsity": {"left": {"title": COUNTS_TITLE, "log": True},
                         "right": {"title": WORK_TITLE, "range": list(PERCENT_RANGE)}},
        }  # fmt: skip
        if not problem.samples:  # there are no shares of samples or labels that could be shown
            return {
                "id": self.name,
                "title": self.title,
                "kind": "lines",
                "right": None,
                "empty": self.empty,
                "left": axes["values"]["left"],
                "y": lines("values")[: len(LEFT)],
            }
        order = sorted(LABELS, key=lambda picture: picture != self.show)
        choices = [{"label": LABELS[p], "y": lines(p), **axes[p]} for p in order]
        first = {key: choices[0][key] for key in ("y", "left", "right")}
        return {"id": self.name, "title": self.title, "kind": "lines", **first, "empty": self.empty, "choices": choices}

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        reading = drawing.Reading(trace)
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_layout(hovermode="x unified")
        fig.update_xaxes(title_text=X_AXES[self.x][1], rangemode="nonnegative")
        left, right_title = (LEFT_TITLE, RIGHT_TITLE) if self.show == "values" else (COUNTS_TITLE, WORK_TITLE)
        fig.update_yaxes(title_text=left)
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        x, segment = reading.x(self.x), reading.segments()
        known = quantities(reading, drawing.size(trace, problem, "m"), drawing.size(trace, problem, "d"))
        sides = pictures()[self.show]
        values = {c: known[c] if c in known else reading.column(c) for side in sides for c in side}
        missing = []
        for column, y in values.items():
            right = column in sides[1]
            # the dual point does not jump where λ changes, so its lines are not broken there
            whole = right or self.show != "values"
            log = self.show != "values" and not right  # k_A and k_W may be far apart
            line = drawing.points(x, y, np.zeros_like(segment) if whole else segment, log=log)
            if not line.drawable:
                missing.append(style.QUANTITIES[column].absent)
                continue
            drawing.add_line(fig, self, column, line, yaxis="y2" if right else "y")
            if right:
                fig.update_layout(
                    margin_r=64,
                    yaxis2={"title": {"text": right_title}, "side": "right", "overlaying": "y",
                            "range": list(PERCENT_RANGE), "showgrid": False, "tickmode": "linear", "dtick": 20},
                )  # fmt: skip
        fitted: dict[str, Any] = {"type": "log"}
        if self.show == "values":
            fitted = {"range": between(values["objective"], values["dual"])}
        fig.update_yaxes(**fitted, selector={"side": None})
        if not any(drawn.yaxis == "y" for drawn in fig.data):  # else plotly would leave the left axis out
            fig.add_trace(go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip"))
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        drawing.add_notes(fig, self, [f"Not drawn: {'; '.join(dict.fromkeys(missing))}."] if missing else [])
        return fig


def lines(picture: str) -> list[dict[str, str]]:
    """The lines of a picture."""
    return [
        style.QUANTITIES[c].line(axis)
        for axis, side in zip(("left", "right"), pictures()[picture], strict=True)
        for c in side
    ]


def quantities(reading: drawing.Reading, m: int | None, d: int | None) -> dict[str, np.ndarray]:
    """Return the drawn quantities that are no columns of the trace, by name, (n,) each."""
    unknown = np.full(reading.n, np.nan)
    return {
        "dual_percent": 100.0 * reading.column("dual_entries") / (m - 1) if m else unknown,
        "weights_per_feature": reading.column("nonzero_entries") / d if d else unknown,
    }


def between(objective: np.ndarray, dual: np.ndarray) -> list[float]:
    """The range of the left axis: all objectives, and the dual values near them.

    Dual values may begin far below (even at −∞ in effect); showing them all would press the two lines together.
    """
    known = dual[np.isfinite(dual)]
    # Under a budget the bound may be above the objective of weights that violate it.
    top, bottom = float(np.nanmax(np.append(objective, known))), float(np.nanmin(objective))
    lowest = min(bottom, float(known.max())) if known.size else bottom
    width = max(top - lowest, 1e-12 * abs(top)) or 1.0
    low = max(float(known.min()), lowest - DEPTH * width) if known.size else bottom
    pad = 0.05 * (top - min(low, bottom) or width)
    return [min(low, bottom) - pad, top + pad]


registry.views.add(Duality.name, Duality, title=Duality.title, doc=Duality.doc)
