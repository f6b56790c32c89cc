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
SHRINKING = {False: Line("ink", "dot"), True: Line("blue")}
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
    fig = drawing.grid(
        "Which weights a penalty sets to zero",
        "multiclass squared hinge, each penalty at a tenth of its λ_max",
        len(names),
        len(penalties),
        titles,
        height=430,
        horizontal_spacing=0.02,
    )
    fig.update_annotations(font_size=11)
    scale = style.colour_scale(style.DIVERGING["light"])
    for i, data in enumerate(names, 1):
        for k, penalty in enumerate(penalties, 1):
            part = table[(table["data"] == data) & (table["penalty"] == penalty)]
            W = part.pivot_table(index="feature", columns="class", values="weight", sort=False)
            label = dict(zip(part["feature"], part["name"], strict=True))
            fig.add_trace(go.Heatmap(
                z=_tint(W.to_numpy()), zmin=-1, zmax=1, colorscale=scale, showscale=False, customdata=W.to_numpy(),
                x=[str(c) for c in W.columns], y=list(range(len(W))), text=[[label[j]] * W.shape[1] for j in W.index],
                hovertemplate="%{text}, class %{x}: %{customdata:.4g}<extra></extra>", xgap=0, ygap=0,
            ), row=i, col=k)  # fmt: skip
            fig.update_xaxes(
                row=i, col=k, showticklabels=False, ticks="", title_text="classes", showgrid=False, mirror=True
            )
            fig.update_yaxes(
                row=i,
                col=k,
                showticklabels=False,
                ticks="",
                autorange="reversed",
                showgrid=False,
                mirror=True,
                title_text=f"features of {data}" if k == 1 else None,
            )
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
    fig = drawing.grid(f"Six solvers at λ = {power(lam)}", OBJECTIVE, len(names), 2, titles)
    for i, data in enumerate(names, 1):
        part = table[table["data"] == data]
        for name, look in SOLVERS.items():
            run = part[part["solver"] == name]
            if not len(run):
                continue
            relative = drawing.above_floor(run["relative"])
            drawing.add_line(fig, i, 1, run["seconds"], relative, name, look, "%{x:.3g} s: %{y:.2e}")
            drawing.add_line(
                fig, i, 2, run["seconds"], 100 * run["test_accuracy"], name, look, "%{x:.3g} s: %{y:.1f} %"
            )
        gap = max(float(part["gap"].iloc[0]), drawing.FLOOR)
        # A method that was close to diverging must not press all others flat.
        most = 10.0 * float(part.loc[part["iteration"] == 0, "relative"].max())
        shown = np.minimum(drawing.positive(part["relative"]), most)
        if len(shown) and gap > shown.min():  # below that line the picture shows nothing certain
            drawing.level(fig, i, 1, gap, f"F* is certified to {power(gap)}", "left", log=True)
        else:
            drawing.corner(fig, i, 1, f"F* is certified to {power(gap)}")
        drawing.log_values(fig, i, 1, "(F − F*) / F*", shown)
        drawing.level(fig, i, 2, 100 * float(part["best_accuracy"].iloc[0]), "accuracy at the optimum", "left")
        fig.update_yaxes(title_text="test accuracy [%]", row=i, col=2)
        for col in (1, 2):
            drawing.log_time(fig, i, col, part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def sparsity(tables: Tables) -> go.Figure:
    """Fig. 4: percentage of non-zero rows over time, one column a λ."""
    table = tables["solvers"]
    names, lams = _unique(table["data"]), sorted(table["lam"].unique(), reverse=True)
    titles = [f"{data}, λ = {power(lam)}" for data in names for lam in lams]
    fig = drawing.grid("Non-zero rows of W", OBJECTIVE, len(names), len(lams), titles)
    for i, data in enumerate(names, 1):
        for k, lam in enumerate(lams, 1):
            part = _at(table[table["data"] == data], lam)
            if not len(part):
                continue
            for name, look in SOLVERS.items():
                run = part[part["solver"] == name]
                drawing.add_line(
                    fig,
                    i,
                    k,
                    run["seconds"],
                    drawing.above_floor(run["nonzero_percent"]),
                    name,
                    look,
                    "%{x:.3g} s: %{y:.2f} % of rows",
                )
            best = 100.0 * float(part["best_rows"].iloc[0]) / float(part["features"].iloc[0])
            values = drawing.positive([*part["nonzero_percent"], best])
            log = bool(len(values) and values.max() > 8 * values.min())
            if best > 0:
                drawing.level(fig, i, k, best, f"optimum: {best:.3g} %", "left", log)
            if log:
                drawing.log_values(fig, i, k, "non-zero rows [%]", values)
            else:
                fig.update_yaxes(title_text="non-zero rows [%]", row=i, col=k)
            drawing.log_time(fig, i, k, part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def shrinking(tables: Tables) -> go.Figure:
    """Sec. 5.2.4: relative distance from the optimum over time, with and without shrinking."""
    table = tables["shrinking"]
    cases = _unique(zip(table["data"], table["lam"], strict=True))
    solvers = _unique(table["solver"])
    titles = [f"{data}, λ = {power(lam)}: {name}" for data, lam in cases for name in solvers]
    fig = drawing.grid("Shrinking", OBJECTIVE, len(cases), len(solvers), titles)
    for i, (data, lam) in enumerate(cases, 1):
        part = _at(table[table["data"] == data], lam)
        for k, name in enumerate(solvers, 1):
            for on, look in SHRINKING.items():
                run = part[(part["solver"] == name) & (part["shrinking"] == on)]
                drawing.add_line(
                    fig,
                    i,
                    k,
                    run["seconds"],
                    drawing.above_floor(run["relative"]),
                    f"shrinking {'on' if on else 'off'}",
                    look,
                    "%{x:.3g} s: %{y:.2e}",
                )
            drawing.log_values(fig, i, k, "(F − F*) / F*", part["relative"])
            drawing.log_time(fig, i, k, part["seconds"])
    return drawing.note(fig, TIME, *_trivial(table))


def tradeoff(tables: Tables) -> go.Figure:
    """Fig. 5: test accuracy over the percentage of non-zero rows, a point for each λ (mean over the splits)."""
    table = fits(tables["objectives"])
    names = _unique(table["data"])
    cols = min(2, len(names))
    rows = -(-len(names) // cols)
    splits = int(tables["objectives"]["split"].nunique())
    of = f"mean of {splits} splits" if splits > 1 else "one split"
    fig = drawing.grid("Accuracy against sparsity", f"a point for each λ, {of}", rows, cols, names, height=360)
    for k, data in enumerate(names):
        row, col = k // cols + 1, k % cols + 1
        part = table[table["data"] == data]
        for loss, look in OBJECTIVES.items():
            line = part[part["loss"] == loss].sort_values("lam", ascending=False)
            drawing.add_line(
                fig,
                row,
                col,
                line["nonzero_percent"],
                100 * line["test_accuracy"],
                loss,
                look,
                "λ = %{customdata:.1e}<br>%{x:.3g} % of rows, accuracy %{y:.1f} %",
                markers=True,
                customdata=line["lam"],
            )
        values = drawing.positive(part["nonzero_percent"])
        if len(values) and values.max() > 8 * values.min():
            fig.update_xaxes(row=row, col=col, **drawing.log_axis(values))
        fig.update_xaxes(title_text="non-zero rows [%]", row=row, col=col)
        fig.update_yaxes(title_text="test accuracy [%]", row=row, col=col)
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
    cols = min(2, len(names))
    fig = drawing.grid(
        "Outer iterations to the stopping criterion",
        f"BCD (LS), λ = {power(table['lam'].iloc[0])}",
        -(-len(names) // cols),
        cols,
        names,
        height=360,
    )
    for k, data in enumerate(names):
        row, col = k // cols + 1, k % cols + 1
        part = table[table["data"] == data]
        for loss in _unique(part["loss"]):
            run = part[part["loss"] == loss]
            drawing.add_line(
                fig,
                row,
                col,
                run["iteration"],
                drawing.above_floor(run["criterion"]),
                loss,
                OBJECTIVES[loss],
                "iteration %{x}: %{y:.2e}",
            )
        drawing.level(fig, row, col, protocol.TAU, "τ = 1e-3", "left", log=True)
        drawing.log_values(fig, row, col, "Σ v, relative to the first", [*part["criterion"], protocol.TAU])
        fig.update_xaxes(title_text="outer iterations", rangemode="tozero", row=row, col=col)
    return drawing.note(fig, "v: the violation of the paper's Eq. 9, summed over the rows as they are visited.")


def _unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _at(table: pd.DataFrame, lam: float) -> pd.DataFrame:
    return table[np.isclose(table["lam"], lam, rtol=1e-9)]


def _trivial(table: pd.DataFrame) -> list[str]:
    cases = table[table["lam"] >= table["lam_max"]][["data", "lam"]].drop_duplicates()
    return [f"{row.data}: λ = {power(row.lam)} is above λ_max, the optimum is W = 0." for row in cases.itertuples()]
