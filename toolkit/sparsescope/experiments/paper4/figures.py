"""The figures of paper 4, drawn from the tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from ..verdicts import by_data
from .claims import exponent
from .protocol import EXACT, MULTI, ONE_L1, ONE_LOGISTIC, ONE_SVM, OWN, PARTS, PD, POST, SAMPLED, VW

if TYPE_CHECKING:
    import pandas as pd

METHODS = {
    PD: Line("blue"), POST: Line("blue", "dash", "circle-open"), ONE_SVM: Line("vermillion", "solid", "square"),
    ONE_LOGISTIC: Line("vermillion", "dash", "square-open"), ONE_L1: Line("green", "solid", "diamond"),
    MULTI: Line("purple", "solid", "triangle-up"), VW: Line("ink", "dot", "x"),
}  # fmt: skip
SEARCHES = {EXACT: Line("ink"), PARTS: Line("green", "dash", "diamond"), SAMPLED: Line("vermillion", "dot", "square"),
            OWN: Line("blue", "solid", "circle-open")}  # fmt: skip
DENSITIES = {"k_a": ("k_A", Line("vermillion", "solid", "square")), "k_w": ("k_W", Line("green", "dash", "diamond"))}
TIME = "Times: CPU seconds, one thread, without compilation and observers."
ESTIMATE = "Methods that did not train all classes in their time have no accuracy and are left out."


def models(tables: Tables) -> go.Figure | None:
    """Tables 1 and 2 as a picture: accuracy over training time, over model size and over prediction time."""
    cases = [(data, part[np.isfinite(part["p_at_1"])]) for data, part in by_data(tables["models"])]
    cases = [(data, part) for data, part in cases if len(part)]
    if not cases:
        return None
    columns = (
        ("train_seconds", 1.0, "training [s]"),
        ("bytes", 1e-6, "model size [MB]"),
        ("predict_seconds", 1.0, "prediction of the test part [s]"),
    )
    titles = [f"{data}\n{words.split(' [')[0]}" for data, _ in cases for _, _, words in columns]
    fig, plots = drawing.grid("Accuracy, time and size", "C = 1 for all; upper left is better", titles, 3)
    for row, (_, part) in zip(plots, cases, strict=True):
        drawn = part.assign(accuracy=100.0 * part["p_at_1"])
        for plot, (column, unit, words) in zip(row, columns, strict=True):
            drawn[column] = values = unit * part[column].astype(float)
            hover = f"{words} %{{x:.3g}}<br>accuracy %{{y:.1f}} %"
            plot.lines(drawn, "method", METHODS, column, "accuracy", hover, markers=True)
            plot.x(words, values, drawing.ROOM)
            plot.y(_precision(part) if plot is row[0] else "")
    left = sum(int((part["note"] != "").sum()) for _, part in by_data(tables["models"]))
    return drawing.note(fig, TIME, ESTIMATE if left else "")


def _precision(part: pd.DataFrame) -> str:
    return "precision at 1 [%]" if part["kind"].iloc[0] == "label sets" else "accuracy [%]"


def sparsity(tables: Tables) -> go.Figure:
    """Table 3 over λ: held-out precision, k_A and k_W."""
    cases = list(by_data(tables["sparsity"]))
    titles = [t for data, _ in cases for t in (f"{data}: held out", f"{data}: k_A and k_W")]
    what = "k_A: non-zero duals a sample; k_W: non-zero weights a feature"
    fig, plots = drawing.grid("Sparsity of both models", what, titles)
    for (left, right), (_, part) in zip(plots, cases, strict=True):
        part = part.sort_values("lam4")
        for column, name, method in (("held_out", "held out", PD), ("held_out_post", "held out, post-solved", POST)):
            hover = "λ = %{x:g}: %{y:.1f} %"
            left.line(part["lam4"], 100.0 * part[column], name, METHODS[method], hover, markers=True)
        for column, (name, look) in DENSITIES.items():
            right.line(part["lam4"], part[column], name, look, "λ = %{x:g}: %{y:.3g}", markers=True)
        for plot in (left, right):
            plot.x("λ", part["lam4"])
        left.y(_precision(part))
        right.y("non-zeros", np.concatenate([part["k_a"], part["k_w"]]))
        right.corner(f"{int(part['classes'].iloc[0])} classes")
    return drawing.note(fig, "λ multiplies the ℓ1 norm (λ₄ in this package); C = 1. The axes of λ, k_A and k_W are "
                        "logarithmic.")  # fmt: skip


def searches(tables: Tables) -> go.Figure:
    """The relative gap over time for each form of the search."""
    cases = list(by_data(tables["searches"]))
    fig, plots = drawing.wrapped("Searches", "relative duality gap over time", [str(data) for data, _ in cases])
    for plot, (_, part) in zip(plots, cases, strict=True):
        shown, wanted = part[part["iteration"] > 0], float(part["wanted"].iloc[0])
        drawn = shown.assign(gap=drawing.above_floor(shown["gap"]))
        plot.lines(drawn, "search", SEARCHES, "seconds", "gap", "%{x:.3g} s: gap %{y:.2g}", markers=None)
        plot.time(shown["seconds"], drawing.ROOM)
        plot.y("relative gap", [*shown["gap"], wanted / drawing.ROOM])
        plot.level(wanted, "wanted", "left", log=True)
    return drawing.note(fig, "exact: all labels, all features. ν = 3: one of three parts of the labels in each search. "
                        "sampling: some of the features. doubling: exact, with more candidates where the search costs "
                        "most (this package's default). " + TIME)  # fmt: skip


def growth(tables: Tables) -> go.Figure:
    """Time of an iteration, time of prediction, size and sparsity over the number of classes."""
    table = tables["growth"].sort_values("classes")
    first = tables["growth"].iloc[0]
    panels = (
        ("iteration_seconds", 1.0, "time of an iteration [s]"),
        ("predict_seconds", 1.0, "prediction of 1000 documents [s]"),
        ("bytes", 1e-6, "model size [MB]"),
    )
    fig, plots = drawing.wrapped(
        "Growth with the number of classes",
        f"{int(first['samples'])} generated documents, {int(first['features'])} words, {int(first['entries'])} entries",
        [*(words.split(" [")[0] for _, _, words in panels), "k_A and k_W of PD-Sparse"],
        height=340,
    )
    hover, said = "%{x} classes: %{y:.3g}", []
    for plot, (column, unit, words) in zip(plots, panels, strict=False):
        drawn = table.assign(**{column: unit * table[column]})
        looks = {name: METHODS[name] for name in (PD, MULTI)}
        plot.lines(drawn, "method", looks, "classes", column, hover, markers=True)
        plot.y(words, drawn[column])
        value = exponent(table[table["method"] == PD], column)
        if value == value:
            said.append(f"{words.split(' [')[0]} {value:.2f}")
    part = table[table["method"] == PD]
    for column, (name, look) in DENSITIES.items() if len(part) else ():
        plots[3].line(part["classes"], part[column], name, look, hover, markers=True)
    plots[3].y("non-zeros", np.concatenate([part["k_a"], part["k_w"]]))
    for plot in plots:
        plot.x("classes", **classes_axis(table["classes"]))
    exponents = f"Exponents of PD-Sparse: {', '.join(said)}; 1 would be linear." if said else ""
    return drawing.note(fig, exponents, TIME + " All axes are logarithmic.")


def classes_axis(values: Any) -> dict[str, Any]:
    """A log axis of numbers of classes with ticks at the powers of ten, written out."""
    axis = drawing.log_axis(values)
    low, high = axis["range"]
    at = [10.0**e for e in range(int(np.ceil(low)), int(np.floor(high)) + 1)]
    if len(at) < 2:
        return axis
    words = [f"{value:,.0f}".replace(",", " ") for value in at]
    return {"type": "log", "range": axis["range"], "tickvals": at, "ticktext": words}
