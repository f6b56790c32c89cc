"""The figures of paper 5, drawn from the tables alone."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from .. import drawing
from ..base import Tables
from ..drawing import Line
from ..verdicts import by_data
from .protocol import EPSILONS, FISTA, GLMNET, LHAC, METHODS, QUIC, RACERS
from .races import table1

LOOKS = {FISTA: Line("vermillion", "dash", "square"), GLMNET: Line("green", "dot", "diamond"), LHAC: Line("blue"),
         QUIC: Line("vermillion", "dash", "square")}  # fmt: skip
TIME = "Times: CPU seconds, one thread, without compilation and observers."


def races(tables: Tables) -> go.Figure:
    """Fig. 1: the violation over time with the most samples, and the time to the smallest ε over the samples."""
    cases = list(by_data(tables["races"]))
    titles = [t for data, part in cases for t in (f"{data}: {part['samples'].max()} samples", f"{data}: growth")]
    fig, plots = drawing.grid("ℓ1 logistic regression", "violation relative to that at zero weights", titles)
    tight = min(EPSILONS)
    looks = {name: LOOKS[name] for name in RACERS}
    for (left, right), (_, part) in zip(plots, cases, strict=True):
        shown = part[(part["samples"] == part["samples"].max()) & (part["iteration"] > 0)]
        drawn = shown.assign(violation=drawing.above_floor(shown["violation"]))
        left.lines(drawn, "solver", looks, "seconds", "violation", "%{x:.3g} s: %{y:.2g}", markers=None)
        summary = table1(part)
        summary = summary[summary["epsilon"] == tight]
        for name, look in looks.items():
            known = summary[np.isfinite(summary[name])]
            if len(known):
                right.line(known["samples"], known[name], name, look, "%{x} samples: %{y:.3g} s", markers=True)
        left.time(shown["seconds"], drawing.ROOM)
        left.y("violation", [*shown["violation"], tight / drawing.ROOM])
        for epsilon in EPSILONS:
            left.level(epsilon, f"ε = {epsilon:g}", "left", log=True)
        right.x("samples", part["samples"])
        right.y(f"seconds to ε = {tight:g}", summary[list(RACERS)].to_numpy(dtype=float), drawing.ROOM)
    return drawing.note(fig, TIME + " Methods that did not get to ε in their time have no point.")


def working_sets(tables: Tables) -> go.Figure:
    """Fig. 2: entries in the working set over iterations, beside the violation over flops."""
    cases = list(by_data(tables["covariances"]))
    sizes = [(data, part["features"].iloc[0]) for data, part in cases]
    titles = [t for data, p in sizes for t in (f"{data}, p = {p}: working set", f"{data}: violation")]
    what = "working sets, and the work of coordinate steps"
    fig, plots = drawing.grid("Sparse inverse covariance, λ = 0.5", what, titles)
    looks = {name: LOOKS[name] for name in METHODS}
    for (left, right), (_, part) in zip(plots, cases, strict=True):
        shown = part[part["iteration"] > 0]
        shown = shown.assign(work=shown["flops"] / 1e6, shown=drawing.above_floor(shown["violation"]))
        left.lines(shown, "solver", looks, "iteration", "working_set", "iteration %{x}: %{y} entries", markers=None)
        right.lines(shown, "solver", looks, "work", "shown", "%{x:.3g} Mflops: %{y:.2g}", markers=None)
        left.x("iteration", shown["iteration"])
        left.y("entries", rangemode="tozero")
        left.level(float(part["optimum"].iloc[0]), "optimum")
        right.x("flops of coordinate steps [10⁶]", shown["work"], drawing.ROOM)
        right.y("violation", shown["violation"])
    return drawing.note(fig, "Entries on and above the diagonal. Isolated features count in working set and optimum.")
