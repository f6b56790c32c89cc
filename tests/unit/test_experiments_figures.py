"""Figures of paper 1, drawn from tables made by hand: lines, axes, units, words; and from what an interruption left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from paper1_tables import iterations, objectives, shrinking, solvers, where

from sparsescope.experiments import Settings, drawing, load_data, load_paper, paper1
from sparsescope.experiments.paper1 import figures, protocol
from sparsescope.experiments.progress import Report

BOTH = (1e-3, 1e-5)
PAPER = load_paper(1)


def two_sets(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The same tables for two data sets."""
    return {
        name: pd.concat([table, table.assign(data="second <set>")], ignore_index=True) for name, table in tables.items()
    }


def texts(fig: go.Figure) -> list[str]:
    return [a.text for a in fig.layout.annotations]


def titles(fig: go.Figure, axis: str) -> set[str]:
    return {fig.layout[name].title.text for name in fig.layout if name.startswith(axis) and fig.layout[name].title.text}


def legend(fig: go.Figure) -> list[str]:
    return [t.name for t in fig.data if t.showlegend]


def test_solvers_have_one_legend_entry_and_units() -> None:
    fig = figures.convergence(two_sets(solvers(lams=BOTH)), 1e-3)
    assert fig is not None
    assert legend(fig) == list(protocol.SOLVERS)
    assert len(fig.data) == 2 * 2 * 6
    assert titles(fig, "xaxis") == {"solver time [s]"}
    assert titles(fig, "yaxis") == {"(F − F*) / F*", "test accuracy [%]"}
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log" and fig.layout.yaxis2.type is None
    assert "F* is certified to 1e-6" in texts(fig) and "second &lt;set&gt;: objective" in texts(fig)
    looks = {(t.line.color, t.line.dash) for t in fig.data}
    assert len(looks) == 6, "six solvers that can be told apart"


def test_a_weak_certificate_is_a_line_in_the_picture() -> None:
    table = solvers()["solvers"].assign(gap=1e-2)
    fig = figures.convergence({"solvers": table}, 1e-3)
    assert fig is not None and any(s.y0 == 1e-2 for s in fig.layout.shapes)
    words = next(a for a in fig.layout.annotations if a.text == "F* is certified to 1e-2")
    assert words.y == pytest.approx(-2.0), "annotations on a log axis stand at the logarithm"


def test_a_run_near_divergence_does_not_press_the_others_flat() -> None:
    wild = where("FOBOS", objective=lambda run: run["objective"] * 10.0 ** (100 * (run["iteration"] > 0)))
    fig = figures.convergence(solvers(edit=wild), 1e-3)
    assert fig is not None and fig.layout.yaxis.range[1] < 2.0


def test_nothing_is_drawn_of_a_lam_that_was_not_reached() -> None:
    assert figures.convergence(solvers(lams=(1e-3,)), 1e-5) is None


def test_sparsity_shows_the_optimum_and_both_lams() -> None:
    fig = figures.sparsity(solvers(lams=BOTH))
    assert {"hand, λ = 1e-3", "hand, λ = 1e-5", "optimum: 5 %"} <= set(texts(fig))
    assert titles(fig, "yaxis") == {"non-zero rows [%]"}


def test_a_trivial_lam_is_said() -> None:
    table = solvers()["solvers"].assign(lam_max=1e-4)
    assert any("above λ_max" in text for text in texts(figures.sparsity({"solvers": table})))


def test_shrinking_has_both_variants() -> None:
    fig = figures.shrinking(two_sets(shrinking(1.0, 2.0)))
    assert legend(fig) == ["shrinking off", "shrinking on"] and len(fig.data) == 2 * 2 * 2


def test_the_tradeoff_has_a_point_for_each_lam() -> None:
    fig = figures.tradeoff(objectives())
    assert legend(fig) == [protocol.MULTICLASS, protocol.MULTITASK, protocol.LOGISTIC]
    assert all(len(t.x) == 3 and list(t.x) == sorted(t.x) for t in fig.data)
    assert titles(fig, "xaxis") == {"non-zero rows [%]"} and titles(fig, "yaxis") == {"test accuracy [%]"}
    assert "mean of 2 splits" in fig.layout.title.subtitle.text


def test_logistic_with_line_search_is_not_in_the_tradeoff() -> None:
    means = figures.fits(objectives()["objectives"])
    assert len(means) == 9


def test_the_criterion_is_drawn_to_its_threshold() -> None:
    table = iterations(73, 108)["iterations"].assign(criterion=[1.0, 9e-4] * 2)
    fig = figures.criterion({"iterations": table})
    assert [max(t.x) for t in fig.data] == [73, 108] and "τ = 1e-3" in texts(fig)


def test_patterns_show_zero_as_zero() -> None:
    table = paper1.fit_penalties(load_data("iris"), Settings(quick=True, seconds=0.2), Report())
    fig = figures.patterns({"patterns": table})
    assert len(fig.data) == table["penalty"].nunique() == 6
    for picture in fig.data:
        weights = np.asarray(picture.customdata)
        assert ((np.asarray(picture.z) == 0) == (weights == 0)).all()
        assert (np.abs(np.asarray(picture.z)[weights != 0]) >= 0.3).all(), "a small weight must not look like none"


@pytest.mark.parametrize("values", [[1e-9, 1e2], [0.5, 80.0], [91.0, 96.0], [1.0], [], [0.0, np.nan]])
def test_log_axes_have_ticks_that_can_be_read(values: list[float]) -> None:
    axis = drawing.log_axis(values)
    low, high = axis["range"]
    assert low < high
    if "tickvals" in axis:
        assert 1 <= len(axis["tickvals"]) <= 12 or values == [1.0]
        assert all(low <= np.log10(v) <= high for v in axis["tickvals"])
        assert axis["ticktext"] == [f"{v:.12g}" for v in axis["tickvals"]]
    else:
        assert (high - low) / axis["dtick"] <= 8


@pytest.mark.parametrize("experiment", [e for e in PAPER.experiments if e.draw and e.table != "patterns"],
                         ids=lambda e: e.name)  # fmt: skip
def test_every_figure_draws_half_a_table(experiment: Any) -> None:
    """Ctrl-C leaves the first solver of the first data set only."""
    made = {**solvers(), **shrinking(1.0, 2.0), **objectives(),
            "iterations": iterations(73, 108)["iterations"].assign(criterion=[1.0, 9e-4] * 2)}  # fmt: skip
    table = made[experiment.table]
    column = "loss" if "loss" in table else "solver"
    half = table[table[column] == table[column].iloc[0]]
    figure = experiment.draw({experiment.table: half})
    assert figure is None or figure.data
