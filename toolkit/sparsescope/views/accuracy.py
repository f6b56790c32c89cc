"""Accuracy (for label sets: one of their measures) on training and test data, and the share of rows that are non-zero
and, where the solver has a working set, of those it works on."""

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

LEFT_TITLE = "accuracy (share correct)"
RIGHT_TITLE = "non-zero rows [%]"
RIGHT_TITLE_WORKING = "non-zero rows, working set [%]"
# Titles of the left axis by measure.
SET_TITLES = {
    "precision_at_1": "precision@1 (best label correct)", "precision_at_3": "precision@3 (of the 3 best labels)",
    "precision_at_5": "precision@5 (of the 5 best labels)", "micro_f1": "micro-F1 of predicted sets",
    "macro_f1": "macro-F1 of predicted sets", "ranking_loss": "ranking loss (pairs out of order)",
}  # fmt: skip


class Accuracy(View):
    """Training and test accuracy, and the number of non-zero rows of W; for label sets one of their measures."""

    name = "accuracy"
    title = "Accuracy and sparsity"
    compares = True
    menu_order = 20
    kinds = ("prediction", "sequence")
    doc = ("Training and test accuracy on the left axis, the share of rows of W that are non-zero (and that the solver "
           "works on) on the right, over one clock.")  # fmt: skip
    needs = "recorded iterations with accuracies; test accuracy needs test data"
    empty = "Nothing to draw yet: no iteration has been recorded."

    x = field("iterations", choices=tuple(X_AXES), doc="the clock on the x axis")
    measure = field("precision_at_1", choices=tuple(SET_TITLES), doc="what is drawn for label sets")
    marks = field(True, doc="a labelled line where something was changed during the run")

    def spec(self, problem: Problem) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "id": self.name,
            "title": self.title,
            "kind": "lines",
            "y": lines("accuracy"),
            "left": {"title": LEFT_TITLE, "log": False, "share": True},
            "right": {"title": RIGHT_TITLE, "range": [0, 100]},
            "empty": self.empty,
        }
        if not problem.multilabel:
            level = baseline(problem)
            spec["levels"] = [] if level is None else [level]
        if problem.multilabel:  # the page offers all measures, this one first
            order = sorted(SET_TITLES, key=lambda measure: measure != self.measure)
            choices = [
                {"label": style.SET_MEASURES[m], "y": lines(m), "left": {**spec["left"], "title": SET_TITLES[m]}}
                for m in order
            ]
            spec |= {"choices": choices, "y": choices[0]["y"], "left": choices[0]["left"]}
        return spec if problem.proves else without_rows(spec)

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
        measure = self.measure if has_sets(trace, problem) else "accuracy"
        fig.update_layout(yaxis_title_text=SET_TITLES.get(measure, LEFT_TITLE))
        if not reading.n:
            return drawing.add_sentence(fig, self, self.empty)
        x, d = reading.x(self.x), drawing.size(trace, problem, "d")
        rows = {"nonzero_percent": 100.0 * reading.column("nonzero_rows") / d if d else np.full(reading.n, np.nan),
                "working_percent": working_percent(trace, reading.n, d)}  # fmt: skip
        columns = {name: reading.column(name) for name in (f"train_{measure}", f"test_{measure}")}
        missing = []
        for column, y in {**columns, **rows}.items():
            # the model does not jump where the problem changes, so these lines are not broken there
            line = drawing.points(x, y, np.zeros(reading.n, dtype=np.int64), log=False)
            if not line.drawable:
                if column != "working_percent":  # most solvers have no working set: nothing is missing
                    missing.append(style.QUANTITIES[column].absent)
                continue
            drawing.add_line(fig, self, column, line, yaxis="y2" if column in rows else "y")
            if column == "working_percent":
                fig.update_layout(yaxis2_title_text=RIGHT_TITLE_WORKING)
        if not fig.data:
            return drawing.add_sentence(fig, self, f"Nothing to draw: {'; '.join(missing)}.")
        known = np.concatenate(list(columns.values()))
        level = baseline(problem)
        if level is not None:
            known = np.append(known, level["value"])
        low = np.floor(20 * np.nanmin(known) - 0.5) / 20 if np.isfinite(known).any() else 0.0
        low = float(np.clip(low, 0.0, 0.95))
        fig.update_layout(yaxis={"range": [low, 1.0 + 0.02 * (1.0 - low)]})
        if not any(drawn.yaxis == "y" for drawn in fig.data):  # else plotly would leave the left axis out
            fig.add_trace(go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip"))
        if level is not None:
            muted = style.theme(self.theme)["muted"]
            fig.add_scatter(
                x=x[np.isfinite(x)][[0, -1]],
                y=[level["value"]] * 2,
                mode="lines",
                name=level["label"],
                meta="baseline",
                line={"color": muted, "dash": "dot", "width": 1},
                hoverinfo="skip",
            )
        if self.marks:
            drawing.add_marks(fig, self, trace, x)
        drawing.add_notes(fig, self, [f"Not drawn: {'; '.join(missing)}."] if missing else [])
        return fig


def baseline(problem: Problem | None) -> dict[str, Any] | None:
    """The accuracy of always guessing the largest class of the training data; ``None`` where there are no classes."""
    if problem is None or getattr(problem, "multilabel", True):
        return None
    if problem.class_shares is None:  # what a trace remembers of its problem
        return None
    share = float(np.max(problem.class_shares))
    return {"value": share, "label": "largest class", "short": "largest", "colour": "muted"}


def lines(measure: str) -> list[dict[str, str]]:
    """The four lines: a measure on training and on test data, the shares of non-zero rows and of the working set."""
    left = [style.QUANTITIES[f"{part}_{measure}"].line("left") for part in ("train", "test")]
    return [*left, *(style.QUANTITIES[name].line("right") for name in ("nonzero_percent", "working_percent"))]


def without_rows(spec: dict[str, Any]) -> dict[str, Any]:
    """The same without the right axis: a sequence of models may use no column of X at all."""

    def left(lines: list[dict[str, str]]) -> list[dict[str, str]]:
        return [line for line in lines if line["axis"] == "left"]

    more = {"choices": [{**choice, "y": left(choice["y"])} for choice in spec["choices"]]} if "choices" in spec else {}
    return {**spec, "title": "Accuracy", "y": left(spec["y"]), "right": None, **more}


def working_percent(trace: Trace, n: int, d: int | None) -> np.ndarray:
    """Size of the solver's working set in per cent of the d rows after each of n events; NaN where there is none."""
    size = np.cumsum([trace.taken(i).size - trace.dropped(i).size for i in range(n)], dtype=float)
    return np.where(size > 0, 100.0 * size / d, np.nan) if d else np.full(n, np.nan)


def has_sets(trace: Trace, problem: Problem | None) -> bool:
    """Return whether the run was on label sets: so the problem's facts, or the trace has their measures."""
    if problem is not None:
        return bool(getattr(problem, "multilabel", False))
    return bool(np.isfinite(trace["train_precision_at_1"]).any())


registry.views.add(Accuracy.name, Accuracy, title=Accuracy.title, doc=Accuracy.doc)
