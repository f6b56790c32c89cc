"""The figures of paper 3, drawn from the tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from . import protocol, reading
from .protocol import (
    CONSTRAINED,
    FISTA,
    FORWARD,
    HINGE,
    LIBLINEAR,
    LINEAR,
    LOGIT,
    ONE,
    ONE_FAST,
    ONE_VS_ALL,
    SQUARE,
    TWO,
    TWO_FAST,
)

if TYPE_CHECKING:
    import pandas as pd

OBJECTIVES = {
    HINGE: Line("blue"), CONSTRAINED: Line("blue", "dash", "circle-open"), SQUARE: Line("vermillion", symbol="square"),
    LOGIT: Line("green", symbol="diamond"), ONE_VS_ALL: Line("purple", "dot", "triangle-up"),
}  # fmt: skip
METHODS = {
    ONE: Line("blue"), TWO: Line("blue", "dash", "circle-open"), ONE_FAST: Line("ink"),
    TWO_FAST: Line("ink", "dash", "circle-open"), LINEAR: Line("purple", "dot", "triangle-up"),
    FISTA: Line("vermillion", symbol="square"), FORWARD: Line("green", symbol="diamond"),
    LIBLINEAR: Line("vermillion", "dot", "x"),
}  # fmt: skip
TIME = "Time: CPU seconds of the method, one thread, without compilation and observers; axes are logarithmic."
ALPHA = "α: λ₃ = 1/α multiplies the sum of the losses; of the constrained hinge, η/L, the mean hinge that is allowed."


def sweep(tables: Tables, name: str, title: str) -> go.Figure:
    """Fig. 1 and 2: test error (left) and percentage of zeros (right) over α, means over the subsets."""
    table = tables[name]
    cases = list(reading.cases(table))
    titles = [text for case, _ in cases for text in (f"{case}: error", f"{case}: zeros")]
    draws = int(table["draw"].nunique())
    fig = drawing.grid(
        title,
        f"mean of {draws} random training subsets" if draws > 1 else "one random training subset",
        len(cases),
        2,
        titles,
    )
    for i, (_, part) in enumerate(cases, 1):
        lines = reading.curves(part)
        for objective, look in OBJECTIVES.items():
            if objective not in lines:
                continue
            line = lines[objective]
            for col, column in ((1, "error_percent"), (2, "zero_percent")):
                drawing.add_line(
                    fig, i, col, line["alpha"], line[column], objective, look, "α = %{x:.2g}: %{y:.1f} %", markers=True
                )
        for col, words in ((1, "test error [%]"), (2, "zeros [%]")):
            fig.update_xaxes(title_text="α", row=i, col=col, **drawing.log_axis(part["alpha"]))
            fig.update_yaxes(title_text=words, row=i, col=col)
    return drawing.note(fig, ALPHA, _loose(table))


def _loose(table: pd.DataFrame) -> str:
    """Note on fits that are not certified."""
    late = int((~(table["gap"] <= reading.SURE)).sum())
    return f"{late} of {len(table)} fits ended with a relative gap above {reading.SURE:g}." if late else ""


def times(tables: Tables) -> go.Figure:
    """Fig. 3, left: seconds to a relative change of 1e-5 over α; open ends where it was not reached."""
    table = tables["times"]
    cases = list(reading.cases(table))
    cols = min(2, len(cases))
    fig = drawing.grid(
        "Time to rest",
        f"seconds until two iterates are within {protocol.CHANGE:g}, means of the subsets",
        -(-len(cases) // cols),
        cols,
        [case for case, _ in cases],
        height=360,
    )
    for k, (_, part) in enumerate(cases):
        row, col = k // cols + 1, k % cols + 1
        for name, look in METHODS.items():
            runs = part[part["method"] == name].dropna(subset=["seconds"])
            if not len(runs):
                continue
            mean = runs.groupby("alpha")["seconds"].mean()
            drawing.add_line(
                fig, row, col, mean.index, mean.to_numpy(), name, look, "α = %{x:.2g}: %{y:.3g} s", markers=True
            )
        fig.update_xaxes(title_text="α", row=row, col=col, **drawing.log_axis(part["alpha"]))
        drawing.log_values(fig, row, col, "time [s]", part["seconds"])
    late = int(table["seconds"].isna().sum())
    return drawing.note(
        fig,
        TIME,
        f"{late} of {len(table)} runs did not come to rest in their time." if late else "",
        "Alg. 2 and the linear constraints are given the η of the regularised solution at this α.",
    )


def distances(tables: Tables) -> go.Figure:
    """Fig. 3, right: relative distance to x∞ over time."""
    table = tables["distances"]
    cases = list(reading.cases(table))
    cols = min(2, len(cases))
    fig = drawing.grid(
        "Distance to x∞",
        "each method on its own problem, at the largest α within a point of its best accuracy",
        -(-len(cases) // cols),
        cols,
        [case for case, _ in cases],
        height=360,
    )
    for k, (_, part) in enumerate(cases):
        row, col = k // cols + 1, k % cols + 1
        for name, look in METHODS.items():
            run = part[part["method"] == name]
            if not len(run):
                continue
            drawing.add_line(
                fig, row, col, run["seconds"], drawing.above_floor(run["distance"]), name, look, "%{x:.3g} s: %{y:.2e}"
            )
        drawing.log_values(fig, row, col, "‖x − x∞‖ / ‖x∞‖", part["distance"])
        drawing.log_time(fig, row, col, part["seconds"])
    ends = table.groupby(["data", "kind", "per_class", "method"], sort=False).first().reset_index()
    open_ = sorted(set(ends.loc[~ends["settled"].astype(bool), "method"]))
    return drawing.note(
        fig,
        TIME,
        "x∞: the last point of the same run.",
        f"Not at rest when their time was over, so x∞ is not theirs: {', '.join(open_)}." if open_ else "",
    )


def quadratic(tables: Tables) -> go.Figure:
    """Fig. 4: seconds to the stopping criterion (left) and to 1 % of the optimum (right) over the number of samples."""
    table = tables["quadratic"]
    sets = list(reading.by_data(table))
    titles = [text for name, _ in sets for text in (f"{name}: to the criterion", f"{name}: to 1 % of the optimum")]
    fig = drawing.grid("Quadratic penalty", "exact hinge, medians over α and subsets", len(sets), 2, titles, height=360)
    for i, (_, part) in enumerate(sets, 1):
        for col, column in ((1, "seconds"), (2, "near_seconds")):
            for name, look in METHODS.items():
                runs = part[part["method"] == name].dropna(subset=[column])
                if not len(runs):
                    continue
                middle = runs.groupby("samples").agg(seconds=(column, "median"), off=("off", "max"))
                drawing.add_line(
                    fig,
                    i,
                    col,
                    middle.index,
                    middle["seconds"],
                    name,
                    look,
                    "%{x} samples: %{y:.3g} s, objective off by %{customdata:.1e} at the end",
                    markers=True,
                    customdata=middle["off"],
                )
            fig.update_xaxes(title_text="training samples", row=i, col=col, **drawing.log_axis(part["samples"]))
            drawing.log_values(fig, i, col, "time [s]", part[column])
    return drawing.note(
        fig,
        TIME,
        f"The criterion: a relative change of {protocol.COARSE:g} for Alg. 1 and 2, the "
        f"tolerance {protocol.COARSE:g} for LinearSVC. Some methods meet theirs near the optimum, "
        "others far from it: hence the plots on the right.",
    )


def genes(tables: Tables) -> go.Figure:
    """Table 1 as a picture: test errors over α, a plot for each penalty."""
    table = tables["genes"]
    cases = [
        (data, str(penalty), part)
        for data, some in reading.by_data(table)
        for penalty, part in some.groupby("penalty", sort=False)
    ]
    titles = [f"{data}: {penalty}" for data, penalty, _ in cases]
    fig = drawing.grid(
        "Errors of four losses under four penalties",
        "on the test part, over α",
        -(-len(cases) // 2),
        min(2, len(cases)),
        titles,
    )
    for k, (_, _, part) in enumerate(cases):
        row, col = k // 2 + 1, k % 2 + 1
        for objective, look in OBJECTIVES.items():
            runs = part[part["objective"] == objective].dropna(subset=["errors"])
            if len(runs):
                drawing.add_line(
                    fig,
                    row,
                    col,
                    runs["alpha"],
                    runs["errors"],
                    objective,
                    look,
                    "α = %{x:.2g}: %{y:.0f} errors, non-zeros %{customdata}",
                    markers=True,
                    customdata=np.asarray(runs["nonzeros"]),
                )
        fig.update_xaxes(title_text="α", row=row, col=col, **drawing.log_axis(part["alpha"]))
        step = max(1, int(np.ceil(np.nan_to_num(part["errors"]).max() / 6)))
        fig.update_yaxes(title_text=f"errors of {_tests(part)}", row=row, col=col, rangemode="tozero", dtick=step)
    return drawing.note(fig, ALPHA, _loose(table))


def _tests(part: pd.DataFrame) -> Any:
    return int(part["tests"].max())
