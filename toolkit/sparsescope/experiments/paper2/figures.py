"""The figures: errors of Table 1, error over time (Fig. 1a and 2), text (Table 2), spectra (Fig. 1b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import drawing
from ..base import Tables
from ..drawing import Line
from .protocol import CALIBRATED, LINEAR, LOGISTIC, LOGISTIC_L2, MULTI, RAW, STAGEWISE, SVM, VW
from .rates import ACCELERATED, BOUND, PLAIN

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

METHODS = {LINEAR: "blue", LOGISTIC: "vermillion", CALIBRATED: "green"}
DASHES = ("solid", "dash", "dot", "dashdot")
RIVALS = {SVM: Line("orange", "solid", "square"), LOGISTIC_L2: Line("purple", "solid", "diamond"),
          MULTI: Line("sky", "solid", "triangle-up"), VW: Line("text", "solid", "x"),
          STAGEWISE: Line("blue", "solid", "circle")}  # fmt: skip
TIME = "CPU seconds, one thread. "


def fits(tables: Tables) -> go.Figure:
    """Test error of the three methods over the sets of features."""
    table = tables["fits"]
    names = list(dict.fromkeys(table["data"]))
    fig = drawing.grid("Table 1", "test error of linear, logistic and calibrated fits", 1, len(names), names)
    for k, name in enumerate(names):
        part = table[table["data"] == name]
        for method, colour in METHODS.items():
            run = part[part["method"] == method]
            if len(run):
                words = ["raw" if f == RAW else f"{f} random" for f in run["set"]]
                drawing.add_line(
                    fig, 1, k + 1, words, run["error"], method, Line(colour), "%{x}: %{y:.2f} %", markers=True
                )
        fig.update_xaxes(title_text="features", type="category", row=1, col=k + 1)
        drawing.log_values(fig, 1, k + 1, "test error [%]", drawing.positive(part["error"]))
    return drawing.note(
        fig, "random: Fourier features of the first 50 principal components. The axis of errors is logarithmic."
    )


def _stages(fig: go.Figure, row: int, col: int, part: pd.DataFrame, only: int | None = None) -> None:
    sizes = sorted(set(part["block"]))
    for (method, block), run in part.groupby(["method", "block"], sort=False):
        if only is None or block == only:
            look = Line(METHODS[method], DASHES[sizes.index(block) % len(DASHES)])
            drawing.add_line(
                fig,
                row,
                col,
                run["seconds"],
                run["error"],
                f"{method}, stages of {block}",
                look,
                "%{x:.3g} s: %{y:.2f} %",
                markers=len(run) < 30,
            )


def blocks(tables: Tables) -> go.Figure:
    """Error over time, and over the features used, for each size of stages."""
    table = tables["blocks"]
    names = list(dict.fromkeys(table["data"]))
    titles = [f"{name}{what}" for name in names for what in (", over time", ", over features")]
    fig = drawing.grid("Stages", "test error of stagewise regression on random Fourier features", len(names), 2, titles)
    for k, name in enumerate(names):
        part = table[table["data"] == name]
        _stages(fig, k + 1, 1, part)
        sizes = sorted(set(part["block"]))
        for (method, block), run in part.groupby(["method", "block"], sort=False):
            look = Line(METHODS[method], DASHES[sizes.index(block) % len(DASHES)])
            drawing.add_line(
                fig,
                k + 1,
                2,
                run["features"],
                run["error"],
                f"{method}, stages of {block}",
                look,
                "%{x} features: %{y:.2f} %",
                markers=len(run) < 30,
            )
        drawing.log_time(fig, k + 1, 1, drawing.positive(part["seconds"]))
        fig.update_xaxes(title_text="features", row=k + 1, col=2)
        for col in (1, 2):
            drawing.log_values(fig, k + 1, col, "test error [%]", drawing.positive(part["error"]))
    return drawing.note(fig, TIME + "Axes of time and error are logarithmic.")


def rivals(tables: Tables) -> go.Figure:
    """The other programs, a point each, and the stages of the smallest size."""
    table = tables["peers"]
    names = list(dict.fromkeys(table["data"]))
    fig = drawing.grid("Beside other programs", "test error over time", 1, len(names), names)
    missing = []
    for k, name in enumerate(names):
        part, times, errors = table[table["data"] == name], [], []
        if "blocks" in tables:
            own = tables["blocks"][tables["blocks"]["data"] == name]
            if len(own):
                _stages(fig, 1, k + 1, own, min(own["block"]))
                times, errors = list(own["seconds"]), list(own["error"])
        missing += _programs(fig, k + 1, part)
        drawing.log_time(fig, 1, k + 1, drawing.positive([*times, *part["seconds"]]))
        drawing.log_values(fig, 1, k + 1, "test error [%]", drawing.positive([*errors, *part["error"]]))
    return drawing.note(fig, TIME + "Both axes are logarithmic.", "; ".join(missing))


def _programs(fig: go.Figure, col: int, part: pd.DataFrame) -> list[str]:
    """A point for each program that has an error; why the others have none."""
    missing = []
    for _, row in part.iterrows():
        name = row["method"]
        if np.isfinite(row["error"]):
            at = ([row["seconds"]], [row["error"]])
            drawing.add_line(fig, 1, col, *at, name, RIVALS[name], "%{x:.3g} s: %{y:.2f} %", markers=True)
        else:
            missing.append(f"{name} on {row['data']}: {row['note'] or 'no error'}")
    return missing


def text(tables: Tables) -> go.Figure:
    """Test error and time of each method on text."""
    table = tables["text"]
    names = list(dict.fromkeys(table["data"]))
    fig = drawing.grid("Table 2", "test error over time on text", 1, len(names), names)
    missing = []
    for k, name in enumerate(names):
        part = table[table["data"] == name]
        missing += _programs(fig, k + 1, part)
        drawing.log_time(fig, 1, k + 1, drawing.positive(part["seconds"]))
        fig.update_yaxes(title_text="test error [%]", row=1, col=k + 1)
    return drawing.note(fig, TIME + "The axis of time is logarithmic.", "; ".join(missing))


def spectra(tables: Tables) -> go.Figure:
    """Share of the sum of the leading singular values that the first of them have."""
    table = tables["spectra"]
    fig = drawing.grid("Spectra", "share of the leading singular values", 1, 1, [""])
    said = []
    for k, (name, part) in enumerate(table.groupby("data", sort=False)):
        look = Line(("blue", "vermillion", "green", "orange", "purple", "sky")[k % 6], DASHES[k % len(DASHES)])
        drawing.add_line(
            fig,
            1,
            1,
            part["number"],
            100.0 * part["share"],
            f"{name}, {part['of'].iloc[0]}",
            look,
            "first %{x}: %{y:.1f} %",
        )
        said.append(f"{name} {part['condition'].iloc[0]:.3g}")
    fig.update_xaxes(title_text="singular values", row=1, col=1)
    fig.update_yaxes(title_text="share of their sum [%]", row=1, col=1)
    return drawing.note(fig, f"2nd over 1000th (or the last) singular value: {', '.join(said)}.")


def rates(tables: Tables) -> go.Figure:
    """The bound of Theorem 1 and F − F* of both variants over iterations, both axes logarithmic."""
    table = tables["rates"]
    names = list(dict.fromkeys(table["data"]))
    fig = drawing.grid(
        "Theorem 1", "multiclass logistic loss, raw features: the bound, and what gls reaches", 1, len(names), names
    )
    looks = {PLAIN: Line("blue"), ACCELERATED: Line("green", "dashdot")}
    for k, name in enumerate(names):
        part = table[(table["data"] == name) & (table["iteration"] > 0)]
        first = part[part["method"] == part["method"].iloc[0]] if len(part) else part
        drawing.add_line(
            fig,
            1,
            k + 1,
            first["iteration"],
            first["bound"],
            BOUND,
            Line("vermillion", "dash"),
            "%{x} iterations: %{y:.3g}",
        )
        for method, look in looks.items():
            run = part[part["method"] == method]
            if len(run):
                drawing.add_line(
                    fig,
                    1,
                    k + 1,
                    run["iteration"],
                    drawing.above_floor(run["excess"]),
                    f"{method} steps",
                    look,
                    "%{x} iterations: %{y:.3g}",
                )
        fig.update_xaxes(title_text="iterations", row=1, col=k + 1, **drawing.log_axis(part["iteration"]))
        drawing.log_values(fig, 1, k + 1, "F − F*", np.concatenate([part["excess"], part["bound"]]))
    return drawing.note(
        fig,
        "The bound is 2‖W*‖²/(t + 4) in the norm of LΣ̂ + λI, for plain steps from W = 0. The "
        "minimum is known to a gap far below what is drawn.",
    )
