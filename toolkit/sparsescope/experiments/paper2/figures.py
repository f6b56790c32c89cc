"""The figures: errors of Table 1, error over time (Fig. 1a and 2), text (Table 2), spectra (Fig. 1b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import drawing
from ..base import Tables
from ..drawing import Line, Plot
from ..verdicts import by_data
from .protocol import CALIBRATED, LINEAR, LOGISTIC, LOGISTIC_L2, MULTI, RAW, STAGEWISE, SVM, VW
from .rates import ACCELERATED, BOUND, PLAIN

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

METHODS = {LINEAR: "blue", LOGISTIC: "vermillion", CALIBRATED: "green"}
DASHES = ("solid", "dash", "dot", "dashdot")
RIVALS = {STAGEWISE: Line("blue", "solid", "circle"), SVM: Line("orange", "solid", "square"),
          LOGISTIC_L2: Line("purple", "solid", "diamond"), MULTI: Line("sky", "solid", "triangle-up"),
          VW: Line("text", "solid", "x")}  # fmt: skip
TIME = "CPU seconds, one thread. "


def fits(tables: Tables) -> go.Figure:
    """Test error of the three methods over the sets of features."""
    table = tables["fits"]
    table = table.assign(set=["raw" if f == RAW else f"{f} random" for f in table["set"]])
    fig, cases = _in_a_row("Table 1", "test error of linear, logistic and calibrated fits", table)
    looks = {method: Line(colour) for method, colour in METHODS.items()}
    for plot, _, part in cases:
        plot.lines(part, "method", looks, "set", "error", "%{x}: %{y:.2f} %", markers=True)
        plot.x("features", type="category")
        plot.y("test error [%]", part["error"])
    return drawing.note(
        fig, "random: Fourier features of the first 50 principal components. The axis of errors is logarithmic."
    )


def _in_a_row(title: str, subtitle: str, table: pd.DataFrame) -> tuple[go.Figure, list[tuple[Plot, str, pd.DataFrame]]]:
    """A figure with a plot for each data set, its name and its part of the table."""
    parts = [(str(case), part) for case, part in by_data(table)]
    names = [name for name, _ in parts]
    fig, (plots,) = drawing.grid(title, subtitle, names, len(names))
    return fig, [(plot, name, part) for plot, (name, part) in zip(plots, parts, strict=True)]


def _stages(plot: Plot, part: pd.DataFrame, x: str = "seconds", hover: str = "%{x:.3g} s", only: int = 0) -> None:
    """A line for each method and size of stages, or for one size ``only``."""
    sizes = sorted(set(part["block"]))
    for (method, block), run in part.groupby(["method", "block"], sort=False):
        if only in (0, block):
            look = Line(METHODS[method], DASHES[sizes.index(block) % len(DASHES)])
            plot.line(run[x], run["error"], f"{method}, stages of {block}", look, hover + ": %{y:.2f} %", markers=None)


def blocks(tables: Tables) -> go.Figure:
    """Error over time, and over the features used, for each size of stages."""
    parts = list(by_data(tables["blocks"]))
    titles = [f"{name}{what}" for name, _ in parts for what in (", over time", ", over features")]
    fig, plots = drawing.grid("Stages", "test error of stagewise regression on random Fourier features", titles)
    for (left, right), (_, part) in zip(plots, parts, strict=True):
        _stages(left, part)
        _stages(right, part, "features", "%{x} features")
        left.time(part["seconds"])
        right.x("features")
        for plot in (left, right):
            plot.y("test error [%]", part["error"])
    return drawing.note(fig, TIME + "Axes of time and error are logarithmic.")


def rivals(tables: Tables) -> go.Figure:
    """The other programs, a point each, and the stages of the smallest size."""
    fig, cases = _in_a_row("Beside other programs", "test error over time", tables["peers"])
    missing = []
    for plot, name, part in cases:
        times, errors = [], []
        if "blocks" in tables:
            own = tables["blocks"][tables["blocks"]["data"] == name]
            if len(own):
                _stages(plot, own, only=min(own["block"]))
                times, errors = list(own["seconds"]), list(own["error"])
        missing += _programs(plot, part)
        plot.time([*times, *part["seconds"]])
        plot.y("test error [%]", [*errors, *part["error"]])
    return drawing.note(fig, TIME + "Both axes are logarithmic.", "; ".join(missing))


def _programs(plot: Plot, part: pd.DataFrame) -> list[str]:
    """A point for each program that has an error; why the others have none."""
    known = part[np.isfinite(part["error"])]
    plot.lines(known, "method", RIVALS, "seconds", "error", "%{x:.3g} s: %{y:.2f} %", markers=True)
    others = part.drop(known.index)
    return [f"{row.method} on {row.data}: {row.note or 'no error'}" for row in others.itertuples()]


def text(tables: Tables) -> go.Figure:
    """Test error and time of each method on text."""
    fig, cases = _in_a_row("Table 2", "test error over time on text", tables["text"])
    missing = []
    for plot, _, part in cases:
        missing += _programs(plot, part)
        plot.time(part["seconds"])
        plot.y("test error [%]")
    return drawing.note(fig, TIME + "The axis of time is logarithmic.", "; ".join(missing))


def spectra(tables: Tables) -> go.Figure:
    """Share of the sum of the leading singular values that the first of them have."""
    fig, ((plot,),) = drawing.grid("Spectra", "share of the leading singular values", [""], 1)
    said = []
    for k, (name, part) in enumerate(by_data(tables["spectra"])):
        look = Line(("blue", "vermillion", "green", "orange", "purple", "sky")[k % 6], DASHES[k % len(DASHES)])
        label = f"{name}, {part['of'].iloc[0]}"
        plot.line(part["number"], 100.0 * part["share"], label, look, "first %{x}: %{y:.1f} %")
        said.append(f"{name} {part['condition'].iloc[0]:.3g}")
    plot.x("singular values")
    plot.y("share of their sum [%]")
    return drawing.note(fig, f"2nd over 1000th (or the last) singular value: {', '.join(said)}.")


def rates(tables: Tables) -> go.Figure:
    """The bound of Theorem 1 and F − F* of both variants over iterations, both axes logarithmic."""
    what = "multiclass logistic loss, raw features: the bound, and what gls reaches"
    fig, cases = _in_a_row("Theorem 1", what, tables["rates"])
    looks = {f"{PLAIN} steps": Line("blue"), f"{ACCELERATED} steps": Line("green", "dashdot")}
    hover = "%{x} iterations: %{y:.3g}"
    for plot, _, part in cases:
        part = part[part["iteration"] > 0]
        first = part[part["method"] == part["method"].iloc[0]] if len(part) else part
        plot.line(first["iteration"], first["bound"], BOUND, Line("vermillion", "dash"), hover)
        drawn = part.assign(method=part["method"] + " steps", excess=drawing.above_floor(part["excess"]))
        plot.lines(drawn, "method", looks, "iteration", "excess", hover)
        plot.x("iterations", part["iteration"])
        plot.y("F − F*", np.concatenate([part["excess"], part["bound"]]))
    return drawing.note(
        fig,
        "The bound is 2‖W*‖²/(t + 4) in the norm of LΣ̂ + λI, for plain steps from W = 0. The "
        "minimum is known to a gap far below what is drawn.",
    )
