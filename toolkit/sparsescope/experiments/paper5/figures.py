"""The figures of paper 5, drawn from the tables alone."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from .protocol import EPSILONS, FISTA, GLMNET, LHAC, METHODS, QUIC, RACERS
from .races import table1

LOOKS = {FISTA: Line("vermillion", "dash", "square"), GLMNET: Line("green", "dot", "diamond"), LHAC: Line("blue"),
         QUIC: Line("vermillion", "dash", "square")}  # fmt: skip
TIME = "Times: CPU seconds, one thread, without compilation and observers."
ROOM = 1.25  # factor that log axes of few values are wider than these


def races(tables: Tables) -> go.Figure:
    """Fig. 1: the violation over time with the most samples, and the time to the smallest ε over the samples."""
    cases = list(tables["races"].groupby("data", sort=False))
    fig = drawing.grid(
        "ℓ1 logistic regression",
        "violation relative to that at zero weights",
        len(cases),
        2,
        [t for data, part in cases for t in (f"{data}: {part['samples'].max()} samples", f"{data}: growth")],
    )
    tight = min(EPSILONS)
    for row, (_, part) in enumerate(cases, 1):
        largest = part[part["samples"] == part["samples"].max()]
        shown = largest[largest["iteration"] > 0]
        summary = table1(part)
        summary = summary[summary["epsilon"] == tight]
        for name in RACERS:
            run = shown[shown["solver"] == name]
            if len(run):
                drawing.add_line(
                    fig,
                    row,
                    1,
                    run["seconds"],
                    drawing.above_floor(run["violation"]),
                    name,
                    LOOKS[name],
                    "%{x:.3g} s: %{y:.2g}",
                    markers=len(run) < 30,
                )
            known = summary[np.isfinite(summary[name])]
            if len(known):
                drawing.add_line(
                    fig,
                    row,
                    2,
                    known["samples"],
                    known[name],
                    name,
                    LOOKS[name],
                    "%{x} samples: %{y:.3g} s",
                    markers=True,
                )
        drawing.log_time(fig, row, 1, np.concatenate([shown["seconds"] / ROOM, ROOM * shown["seconds"]]))
        drawing.log_values(fig, row, 1, "violation", [*shown["violation"], tight / ROOM])
        for epsilon in EPSILONS:
            drawing.level(fig, row, 1, epsilon, f"ε = {epsilon:g}", "left", log=True)
        values = summary[list(RACERS)].to_numpy(dtype=float).ravel()
        fig.update_xaxes(title_text="samples", row=row, col=2, **drawing.log_axis(part["samples"]))
        drawing.log_values(fig, row, 2, f"seconds to ε = {tight:g}", np.concatenate([values / ROOM, ROOM * values]))
    return drawing.note(fig, TIME + " Methods that did not get to ε in their time have no point.")


def working_sets(tables: Tables) -> go.Figure:
    """Fig. 2: entries in the working set over iterations, beside the violation over flops."""
    cases = list(tables["covariances"].groupby("data", sort=False))
    fig = drawing.grid(
        "Sparse inverse covariance, λ = 0.5",
        "working sets, and the work of coordinate steps",
        len(cases),
        2,
        [
            t
            for data, part in cases
            for t in (f"{data}, p = {part['features'].iloc[0]}: working set", f"{data}: violation")
        ],
    )
    for row, (_, part) in enumerate(cases, 1):
        shown = part[part["iteration"] > 0]
        for name in METHODS:
            run = shown[shown["solver"] == name]
            if len(run):
                drawing.add_line(
                    fig,
                    row,
                    1,
                    run["iteration"],
                    run["working_set"],
                    name,
                    LOOKS[name],
                    "iteration %{x}: %{y} entries",
                    markers=len(run) < 30,
                )
                drawing.add_line(
                    fig,
                    row,
                    2,
                    run["flops"] / 1e6,
                    drawing.above_floor(run["violation"]),
                    name,
                    LOOKS[name],
                    "%{x:.3g} Mflops: %{y:.2g}",
                    markers=len(run) < 30,
                )
        fig.update_xaxes(title_text="iteration", row=row, col=1, **drawing.log_axis(shown["iteration"]))
        fig.update_yaxes(title_text="entries", rangemode="tozero", row=row, col=1)
        drawing.level(fig, row, 1, float(part["optimum"].iloc[0]), "optimum")
        work = shown["flops"] / 1e6
        fig.update_xaxes(
            title_text="flops of coordinate steps [10⁶]",
            row=row,
            col=2,
            **drawing.log_axis(np.concatenate([work / ROOM, ROOM * work])),
        )
        drawing.log_values(fig, row, 2, "violation", shown["violation"])
    return drawing.note(fig, "Entries on and above the diagonal. Isolated features count in working set and optimum.")
