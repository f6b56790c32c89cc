"""The figures of paper 3, drawn from the tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from ..verdicts import by_data
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
    mean = f"mean of {draws} random training subsets" if draws > 1 else "one random training subset"
    fig, plots = drawing.grid(title, mean, titles)
    columns = (("error_percent", "test error [%]"), ("zero_percent", "zeros [%]"))
    for row, (_, part) in zip(plots, cases, strict=True):
        lines = reading.curves(part)
        for plot, (column, words) in zip(row, columns, strict=True):
            for objective, look in OBJECTIVES.items():
                if objective in lines:
                    line = lines[objective]
                    plot.line(line["alpha"], line[column], objective, look, "α = %{x:.2g}: %{y:.1f} %", markers=True)
            plot.x("α", part["alpha"])
            plot.y(words)
    return drawing.note(fig, ALPHA, _loose(table))


def _loose(table: pd.DataFrame) -> str:
    """Note on fits that are not certified."""
    late = int((~(table["gap"] <= reading.SURE)).sum())
    return f"{late} of {len(table)} fits ended with a relative gap above {reading.SURE:g}." if late else ""


def times(tables: Tables) -> go.Figure:
    """Fig. 3, left: seconds to a relative change of 1e-5 over α; open ends where it was not reached."""
    table = tables["times"]
    cases = list(reading.cases(table))
    what = f"seconds until two iterates are within {protocol.CHANGE:g}, means of the subsets"
    fig, plots = drawing.wrapped("Time to rest", what, [str(case) for case, _ in cases], height=360)
    for plot, (_, part) in zip(plots, cases, strict=True):
        runs = part.dropna(subset=["seconds"])
        means = runs.groupby(["method", "alpha"], as_index=False)["seconds"].mean()
        plot.lines(means, "method", METHODS, "alpha", "seconds", "α = %{x:.2g}: %{y:.3g} s", markers=True)
        plot.x("α", part["alpha"])
        plot.y("time [s]", part["seconds"])
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
    what = "each method on its own problem, at the largest α within a point of its best accuracy"
    fig, plots = drawing.wrapped("Distance to x∞", what, [str(case) for case, _ in cases], height=360)
    for plot, (_, part) in zip(plots, cases, strict=True):
        drawn = part.assign(distance=drawing.above_floor(part["distance"]))
        plot.lines(drawn, "method", METHODS, "seconds", "distance", "%{x:.3g} s: %{y:.2e}")
        plot.y("‖x − x∞‖ / ‖x∞‖", part["distance"])
        plot.time(part["seconds"])
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
    sets = list(by_data(tables["quadratic"]))
    titles = [text for name, _ in sets for text in (f"{name}: to the criterion", f"{name}: to 1 % of the optimum")]
    fig, plots = drawing.grid("Quadratic penalty", "exact hinge, medians over α and subsets", titles, height=360)
    hover = "%{x} samples: %{y:.3g} s, objective off by %{customdata:.1e} at the end"
    for row, (_, part) in zip(plots, sets, strict=True):
        for plot, column in zip(row, ("seconds", "near_seconds"), strict=True):
            for name, look in METHODS.items():
                runs = part[part["method"] == name].dropna(subset=[column])
                if len(runs):
                    middle = runs.groupby("samples").agg(seconds=(column, "median"), off=("off", "max"))
                    x, y = middle.index, middle["seconds"]
                    plot.line(x, y, name, look, hover, markers=True, customdata=middle["off"])
            plot.x("training samples", part["samples"])
            plot.y("time [s]", part[column])
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
        (f"{data}: {penalty}", part)
        for data, some in by_data(table)
        for penalty, part in some.groupby("penalty", sort=False)
    ]
    title = "Errors of four losses under four penalties"
    fig, plots = drawing.wrapped(title, "on the test part, over α", [case for case, _ in cases])
    hover = "α = %{x:.2g}: %{y:.0f} errors, non-zeros %{customdata}"
    for plot, (_, part) in zip(plots, cases, strict=True):
        for objective, look in OBJECTIVES.items():
            runs = part[part["objective"] == objective].dropna(subset=["errors"])
            if len(runs):
                more = np.asarray(runs["nonzeros"])
                plot.line(runs["alpha"], runs["errors"], objective, look, hover, markers=True, customdata=more)
        plot.x("α", part["alpha"])
        step = max(1, int(np.ceil(np.nan_to_num(part["errors"]).max() / 6)))
        plot.y(f"errors of {int(part['tests'].max())}", rangemode="tozero", dtick=step)
    return drawing.note(fig, ALPHA, _loose(table))
