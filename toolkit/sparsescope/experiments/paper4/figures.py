"""The figures of paper 4, drawn from the tables alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from .claims import by_data, exponent
from .protocol import EXACT, MULTI, ONE_L1, ONE_LOGISTIC, ONE_SVM, OWN, PARTS, PD, POST, SAMPLED, VW

METHODS = {
    PD: Line("blue"), POST: Line("blue", "dash", "circle-open"), ONE_SVM: Line("vermillion", "solid", "square"),
    ONE_LOGISTIC: Line("vermillion", "dash", "square-open"), ONE_L1: Line("green", "solid", "diamond"),
    MULTI: Line("purple", "solid", "triangle-up"), VW: Line("ink", "dot", "x"),
}  # fmt: skip
SEARCHES = {EXACT: Line("ink"), PARTS: Line("green", "dash", "diamond"), SAMPLED: Line("vermillion", "dot", "square"),
            OWN: Line("blue", "solid", "circle-open")}  # fmt: skip
ROOM = 1.25  # factor that log axes of few values are wider than these
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
    fig = drawing.grid(
        "Accuracy, time and size",
        "C = 1 for all; upper left is better",
        len(cases),
        3,
        [f"{data}\n{words.split(' [')[0]}" for data, _ in cases for _, _, words in columns],
    )
    for row, (_, part) in enumerate(cases, 1):
        for col, (column, unit, words) in enumerate(columns, 1):
            values = unit * part[column].to_numpy(dtype=float)
            for method, look in METHODS.items():
                at = (part["method"] == method).to_numpy()
                if at.any():
                    drawing.add_line(
                        fig,
                        row,
                        col,
                        values[at],
                        100.0 * part["p_at_1"].to_numpy()[at],
                        method,
                        look,
                        f"{words} %{{x:.3g}}<br>accuracy %{{y:.1f}} %",
                        markers=True,
                    )
            around = np.concatenate([values / ROOM, ROOM * values])  # an axis of one value would have no ticks
            fig.update_xaxes(title_text=words, row=row, col=col, **drawing.log_axis(around))
            title = "precision at 1 [%]" if part["kind"].iloc[0] == "label sets" else "accuracy [%]"
            fig.update_yaxes(title_text=title if col == 1 else "", row=row, col=col)
    left = sum(int((part["note"] != "").sum()) for _, part in by_data(tables["models"]))
    return drawing.note(fig, TIME, ESTIMATE if left else "")


def sparsity(tables: Tables) -> go.Figure:
    """Table 3 over λ: held-out precision, k_A and k_W."""
    cases = list(by_data(tables["sparsity"]))
    fig = drawing.grid(
        "Sparsity of both models",
        "k_A: non-zero duals a sample; k_W: non-zero weights a feature",
        len(cases),
        2,
        [t for data, _ in cases for t in (f"{data}: held out", f"{data}: k_A and k_W")],
    )
    for row, (_, part) in enumerate(cases, 1):
        part = part.sort_values("lam4")
        lines = (
            (1, "held_out", "held out", METHODS[PD], 100.0, "%{y:.1f} %"),
            (1, "held_out_post", "held out, post-solved", METHODS[POST], 100.0, "%{y:.1f} %"),
            (2, "k_a", "k_A", Line("vermillion", "solid", "square"), 1.0, "%{y:.3g}"),
            (2, "k_w", "k_W", Line("green", "dash", "diamond"), 1.0, "%{y:.3g}"),
        )
        for col, column, name, look, unit, words in lines:
            drawing.add_line(
                fig, row, col, part["lam4"], unit * part[column], name, look, f"λ = %{{x:g}}: {words}", markers=True
            )
        for col in (1, 2):
            fig.update_xaxes(title_text="λ", row=row, col=col, **drawing.log_axis(part["lam4"]))
        fig.update_yaxes(
            title_text="precision at 1 [%]" if part["kind"].iloc[0] == "label sets" else "accuracy [%]", row=row, col=1
        )
        drawing.log_values(fig, row, 2, "non-zeros", np.concatenate([part["k_a"], part["k_w"]]))
        drawing.corner(fig, row, 2, f"{int(part['classes'].iloc[0])} classes")
    return drawing.note(fig, "λ multiplies the ℓ1 norm (λ₄ in this package); C = 1. The axes of λ, k_A and k_W are "
                        "logarithmic.")  # fmt: skip


def searches(tables: Tables) -> go.Figure:
    """The relative gap over time for each form of the search."""
    cases = list(by_data(tables["searches"]))
    cols = min(2, len(cases))
    fig = drawing.grid(
        "Searches", "relative duality gap over time", -(-len(cases) // cols), cols, [data for data, _ in cases]
    )
    for k, (_, part) in enumerate(cases):
        row, col = k // cols + 1, k % cols + 1
        for name, look in SEARCHES.items():
            run = part[(part["search"] == name) & (part["iteration"] > 0)]
            if len(run):
                drawing.add_line(
                    fig,
                    row,
                    col,
                    run["seconds"],
                    drawing.above_floor(run["gap"]),
                    name,
                    look,
                    "%{x:.3g} s: gap %{y:.2g}",
                    markers=len(run) < 30,
                )
        shown, wanted = part[part["iteration"] > 0], float(part["wanted"].iloc[0])
        drawing.log_time(fig, row, col, np.concatenate([shown["seconds"] / ROOM, ROOM * shown["seconds"]]))
        drawing.log_values(fig, row, col, "relative gap", [*shown["gap"], wanted / ROOM])
        drawing.level(fig, row, col, wanted, "wanted", "left", log=True)
    return drawing.note(fig, "exact: all labels, all features. ν = 3: one of three parts of the labels in each search. "
                        "sampling: some of the features. doubling: exact, with more candidates where the search costs "
                        "most (this package's default). " + TIME)  # fmt: skip


def growth(tables: Tables) -> go.Figure:
    """Time of an iteration, time of prediction, size and sparsity over the number of classes."""
    table = tables["growth"]
    first = table.iloc[0]
    panels = (
        ("iteration_seconds", 1.0, "time of an iteration [s]"),
        ("predict_seconds", 1.0, "prediction of 1000 documents [s]"),
        ("bytes", 1e-6, "model size [MB]"),
    )
    fig = drawing.grid(
        "Growth with the number of classes",
        f"{int(first['samples'])} generated documents, {int(first['features'])} words, {int(first['entries'])} entries",
        2,
        2,
        [*(words.split(" [")[0] for _, _, words in panels), "k_A and k_W of PD-Sparse"],
        height=340,
    )
    said = []
    for k, (column, unit, words) in enumerate(panels):
        row, col = k // 2 + 1, k % 2 + 1
        for name in (PD, MULTI):
            part = table[table["method"] == name].sort_values("classes")
            if len(part):
                drawing.add_line(
                    fig,
                    row,
                    col,
                    part["classes"],
                    unit * part[column],
                    name,
                    METHODS[name],
                    "%{x} classes: %{y:.3g}",
                    markers=True,
                )
        drawing.log_values(fig, row, col, words, unit * table[column])
        value = exponent(table[table["method"] == PD], column)
        if value == value:
            said.append(f"{words.split(' [')[0]} {value:.2f}")
    part = table[table["method"] == PD].sort_values("classes")
    for column, name, look in (
        ("k_a", "k_A", Line("vermillion", "solid", "square")),
        ("k_w", "k_W", Line("green", "dash", "diamond")),
    ):
        if len(part):
            drawing.add_line(
                fig, 2, 2, part["classes"], part[column], name, look, "%{x} classes: %{y:.3g}", markers=True
            )
    drawing.log_values(fig, 2, 2, "non-zeros", np.concatenate([part["k_a"], part["k_w"]]))
    for row, col in ((1, 1), (1, 2), (2, 1), (2, 2)):
        fig.update_xaxes(title_text="classes", row=row, col=col, **classes_axis(table["classes"]))
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
