"""The figures of paper 1, drawn from the tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from ...views import style
from .. import drawing
from ..base import Tables
from ..drawing import Line
from ..verdicts import power
from . import protocol
from .patterns import SHOWN

if TYPE_CHECKING:
    import pandas as pd

# One colour a family; the variant without line search is dashed.
SOLVERS = {
    "BCD (LS)": Line("blue"), "BCD (CST)": Line("blue", "dash"), "FISTA (LS)": Line("vermillion"),
    "FISTA (CST)": Line("vermillion", "dash"), "SpaRSA": Line("green", "dashdot"), "FOBOS": Line("purple", "dot"),
}  # fmt: skip
OBJECTIVES = {
    protocol.MULTICLASS: Line("blue", "solid", "circle"), protocol.MULTITASK: Line("vermillion", "dash", "square"),
    protocol.LOGISTIC: Line("green", "dot", "diamond"),
}  # fmt: skip
SWITCH = {False: "shrinking off", True: "shrinking on"}
SHRINKING = {"shrinking off": Line("ink", "dot"), "shrinking on": Line("blue")}
OBJECTIVE = "multiclass squared hinge + λ · ℓ1/ℓ2"
TIME = "Time: CPU seconds of the solver, one thread, without compilation and observers; axes are logarithmic."


def patterns(tables: Tables) -> go.Figure:
    """Fig. 1: one picture of W for each penalty and data set; exactly zero weights are blank."""
    table = tables["patterns"]
    names, penalties = _unique(table["data"]), _unique(table["penalty"])
    titles = []
    for data in names:
        for penalty in penalties:
            found = table[(table["data"] == data) & (table["penalty"] == penalty)].iloc[0]
            titles.append(
                f"{penalty}\n{_percent(found['nonzero_rows_percent'])} of rows\n"
                f"{_percent(found['nonzero_percent'])} of weights"
            )
    fig, plots = drawing.grid(
        "Which weights a penalty sets to zero",
        "multiclass squared hinge, each penalty at a tenth of its λ_max",
        titles,
        len(penalties),
        height=430,
        horizontal_spacing=0.02,
    )
    fig.update_annotations(font_size=11)
    scale = style.colour_scale(style.DIVERGING["light"])
    for row, data in zip(plots, names, strict=True):
        for plot, penalty in zip(row, penalties, strict=True):
            part = table[(table["data"] == data) & (table["penalty"] == penalty)]
            W = part.pivot_table(index="feature", columns="class", values="weight", sort=False)
            label = dict(zip(part["feature"], part["name"], strict=True))
            fig.add_trace(go.Heatmap(
                z=_tint(W.to_numpy()), zmin=-1, zmax=1, colorscale=scale, showscale=False, customdata=W.to_numpy(),
                x=[str(c) for c in W.columns], y=list(range(len(W))), text=[[label[j]] * W.shape[1] for j in W.index],
                hovertemplate="%{text}, class %{x}: %{customdata:.4g}<extra></extra>", xgap=0, ygap=0,
            ), row=plot.row, col=plot.col)  # fmt: skip
            bare: dict[str, Any] = {"showticklabels": False, "ticks": "", "showgrid": False, "mirror": True}
            plot.x("classes", **bare)
            plot.y(f"features of {data}" if plot is row[0] else None, autorange="reversed", **bare)
    fig.update_layout(showlegend=False)
    return drawing.note(
        fig,
        f"At most {SHOWN} features, those with the largest column norms. Blank: exactly zero; "
        "orange: above zero; blue: below; the tint grows with the size, relative to the largest weight "
        "of the picture. The percentages are of the whole W, without features that are always zero.",
    )


def _percent(value: float) -> str:
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


def _tint(W: np.ndarray) -> np.ndarray:
    # A weight that is not zero must not look like zero, however small it is.
    top = float(np.abs(W).max()) or 1.0
    return np.where(W == 0, 0.0, np.sign(W) * (0.3 + 0.7 * np.abs(W) / top))


def convergence(tables: Tables, lam: float) -> go.Figure | None:
    """Fig. 2 and 3: relative distance from the optimum (left) and test accuracy (right) over time, at one λ."""
    table = _at(tables["solvers"], lam)
    if not len(table):
        return None
    names = _unique(table["data"])
    titles = [t for data in names for t in (f"{data}: objective", f"{data}: test accuracy")]
    fig, plots = drawing.grid(f"Six solvers at λ = {power(lam)}", OBJECTIVE, titles)
    for (left, right), data in zip(plots, names, strict=True):
        part = table[table["data"] == data]
        drawn = part.assign(relative=drawing.above_floor(part["relative"]), accuracy=100 * part["test_accuracy"])
        left.lines(drawn, "solver", SOLVERS, "seconds", "relative", "%{x:.3g} s: %{y:.2e}")
        right.lines(drawn, "solver", SOLVERS, "seconds", "accuracy", "%{x:.3g} s: %{y:.1f} %")
        gap = max(float(part["gap"].iloc[0]), drawing.FLOOR)
        # A method that was close to diverging must not press all others flat.
        most = 10.0 * float(part.loc[part["iteration"] == 0, "relative"].max())
        shown = np.minimum(drawing.positive(part["relative"]), most)
        if len(shown) and gap > shown.min():  # below that line the picture shows nothing certain
            left.level(gap, f"F* is certified to {power(gap)}", "left", log=True)
        else:
            left.corner(f"F* is certified to {power(gap)}")
        left.y("(F − F*) / F*", shown)
        right.level(100 * float(part["best_accuracy"].iloc[0]), "accuracy at the optimum", "left")
        right.y("test accuracy [%]")
        left.time(part["seconds"])
        right.time(part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def sparsity(tables: Tables) -> go.Figure:
    """Fig. 4: percentage of non-zero rows over time, one column a λ."""
    table = tables["solvers"]
    names, lams = _unique(table["data"]), sorted(table["lam"].unique(), reverse=True)
    titles = [f"{data}, λ = {power(lam)}" for data in names for lam in lams]
    fig, plots = drawing.grid("Non-zero rows of W", OBJECTIVE, titles, len(lams))
    for row, data in zip(plots, names, strict=True):
        for plot, lam in zip(row, lams, strict=True):
            part = _at(table[table["data"] == data], lam)
            if not len(part):
                continue
            drawn = part.assign(nonzero_percent=drawing.above_floor(part["nonzero_percent"]))
            plot.lines(drawn, "solver", SOLVERS, "seconds", "nonzero_percent", "%{x:.3g} s: %{y:.2f} % of rows")
            best = 100.0 * float(part["best_rows"].iloc[0]) / float(part["features"].iloc[0])
            values = drawing.positive([*part["nonzero_percent"], best])
            log = _is_wide(values)
            if best > 0:
                plot.level(best, f"optimum: {best:.3g} %", "left", log)
            plot.y("non-zero rows [%]", values if log else None)
            plot.time(part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def _is_wide(values: np.ndarray) -> bool:
    """Return whether a linear axis would press the small values flat."""
    return bool(len(values) and values.max() > 8 * values.min())


def shrinking(tables: Tables) -> go.Figure:
    """Sec. 5.2.4: relative distance from the optimum over time, with and without shrinking."""
    table = tables["shrinking"]
    cases = _unique(zip(table["data"], table["lam"], strict=True))
    solvers = _unique(table["solver"])
    titles = [f"{data}, λ = {power(lam)}: {name}" for data, lam in cases for name in solvers]
    fig, plots = drawing.grid("Shrinking", OBJECTIVE, titles, len(solvers))
    for row, (data, lam) in zip(plots, cases, strict=True):
        part = _at(table[table["data"] == data], lam)
        drawn = part.assign(relative=drawing.above_floor(part["relative"]), on=part["shrinking"].map(SWITCH))
        for plot, name in zip(row, solvers, strict=True):
            run = drawn[drawn["solver"] == name]
            plot.lines(run, "on", SHRINKING, "seconds", "relative", "%{x:.3g} s: %{y:.2e}")
            plot.y("(F − F*) / F*", part["relative"])
            plot.time(part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def tradeoff(tables: Tables) -> go.Figure:
    """Fig. 5: test accuracy over the percentage of non-zero rows, a point for each λ (mean over the splits)."""
    table = fits(tables["objectives"])
    names = _unique(table["data"])
    splits = int(tables["objectives"]["split"].nunique())
    of = f"mean of {splits} splits" if splits > 1 else "one split"
    fig, plots = drawing.wrapped("Accuracy against sparsity", f"a point for each λ, {of}", names, height=360)
    for plot, data in zip(plots, names, strict=True):
        part = table[table["data"] == data].sort_values("lam", ascending=False)
        for loss, look in OBJECTIVES.items():
            line = part[part["loss"] == loss]
            hover = "λ = %{customdata:.1e}<br>%{x:.3g} % of rows, accuracy %{y:.1f} %"
            x, y = line["nonzero_percent"], 100 * line["test_accuracy"]
            plot.line(x, y, loss, look, hover, markers=True, customdata=line["lam"])
        values = drawing.positive(part["nonzero_percent"])
        plot.x("non-zero rows [%]", values if _is_wide(values) else None)
        plot.y("test accuracy [%]")
    return drawing.note(
        fig, "Block coordinate descent, stopped by the paper's criterion with τ = 1e-3 or after 200 outer iterations."
    )


def fits(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits of the fits that Fig. 5 shows: each objective with the paper's solver for it."""
    both = (table["loss"] == protocol.LOGISTIC) & (table["solver"] == "BCD (LS)")
    columns = ["nonzero_percent", "test_accuracy", "seconds", "iterations"]
    return table[~both].groupby(["data", "loss", "lam"], sort=False, as_index=False)[columns].mean()


def criterion(tables: Tables) -> go.Figure:
    """The stopping criterion over the outer iterations, multiclass against multitask squared hinge."""
    table = tables["iterations"]
    names = _unique(table["data"])
    title = "Outer iterations to the stopping criterion"
    fig, plots = drawing.wrapped(title, f"BCD (LS), λ = {power(table['lam'].iloc[0])}", names, height=360)
    for plot, data in zip(plots, names, strict=True):
        part = table[table["data"] == data]
        drawn = part.assign(criterion=drawing.above_floor(part["criterion"]))
        plot.lines(drawn, "loss", OBJECTIVES, "iteration", "criterion", "iteration %{x}: %{y:.2e}")
        plot.level(protocol.TAU, "τ = 1e-3", "left", log=True)
        plot.y("Σ v, relative to the first", [*part["criterion"], protocol.TAU])
        plot.x("outer iterations", rangemode="tozero")
    return drawing.note(fig, "v: the violation of the paper's Eq. 9, summed over the rows as they are visited.")


def _unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _at(table: pd.DataFrame, lam: float) -> pd.DataFrame:
    return table[np.isclose(table["lam"], lam, rtol=1e-9)]


def _trivial(table: pd.DataFrame) -> list[str]:
    cases = table[table["lam"] >= table["lam_max"]][["data", "lam"]].drop_duplicates()
    return [f"{row.data}: λ = {power(row.lam)} is above λ_max, the optimum is W = 0." for row in cases.itertuples()]
