"""One look for every chart: a colour and a dash pattern per quantity, two themes, three colour scales.

Lines are named colours, not hex values: the name is the same in both themes and in the browser's module, and only
:data:`THEMES` holds its colours on light and on dark paper. The hues are those of Okabe and Ito, which people
with the common colour deficiencies can tell apart; the dash pattern tells lines apart in print and for everybody else.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from ..runs.event import solver_columns

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

# Okabe–Ito, a little darker (green, purple) on white and a little lighter on dark paper, so that every colour used for
# a line keeps a contrast of at least 3:1 against the paper. On white, orange, sky and yellow are for areas only.
THEMES: dict[str, dict[str, str]] = {
    "light": {
        "paper": "#ffffff", "grid": "#e4e8ed", "axis": "#8a94a1", "text": "#1c2430", "muted": "#596472",
        "ink": "#1c2430", "blue": "#0072b2", "vermillion": "#d55e00", "green": "#008f68", "purple": "#b0578a",
        "orange": "#e69f00", "sky": "#56b4e9", "yellow": "#f0e442", "kept": "#c3ccd6", "worked": "#cfe4f5",
    },
    "dark": {
        "paper": "#14181d", "grid": "#29313a", "axis": "#6f7a87", "text": "#e8ecf1", "muted": "#a9b2bd",
        "ink": "#e8ecf1", "blue": "#4ba3dc", "vermillion": "#ec7d35", "green": "#1fb58a", "purple": "#d78fb6",
        "orange": "#e69f00", "sky": "#56b4e9", "yellow": "#f0e442", "kept": "#46515d", "worked": "#1a3a56",
    },
}  # fmt: skip

# Signed values: blue below zero, orange above; zero is the paper's own tone, so that a zero row looks empty.
DIVERGING: dict[str, list[str]] = {
    "light": ["#084a86", "#2f80bd", "#8fc3e6", "#f6f7f9", "#f7c282", "#dd7d1e", "#9c4300"],
    "dark": ["#9bd0fa", "#4ba3dc", "#22587f", "#1d232b", "#7d4a17", "#e08a2e", "#ffc68a"],
}
# Magnitudes: cividis, which reads the same with and without colour vision.
SEQUENTIAL = [
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
]  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """Name and style of one quantity, the same in every chart.

    ``column`` is a trace column or a derived one; ``short`` is the name where there is little room.
    """

    column: str
    label: str
    colour: str
    dash: str
    absent: str  # why there may be nothing to draw
    short: str

    def line(self, axis: str) -> dict[str, str]:
        """The entry of a ``lines`` specification (see :meth:`View.spec`); ``axis`` is ``"left"`` or ``"right"``."""
        return {"column": self.column, "label": self.label, "short": self.short, "colour": self.colour,
                "dash": self.dash, "axis": axis}  # fmt: skip


# The measures of label sets, which replace accuracy; each is a column for training and one for test data.
SET_MEASURES = {
    "precision_at_1": "precision@1", "precision_at_3": "precision@3", "precision_at_5": "precision@5",
    "micro_f1": "micro-F1", "macro_f1": "macro-F1", "ranking_loss": "ranking loss",
}  # fmt: skip


class _Quantities(dict[str, Quantity]):
    """Quantities by name; those that solvers report are as they declared them."""

    def __missing__(self, name: str) -> Quantity:
        for column in solver_columns().values():
            if column.drawn and column.colour and column.shown == name:
                label, short = column.label or column.name, column.short or column.label or column.name
                return Quantity(name, label, column.colour, column.dash, column.absent, short)
        raise KeyError(name)


QUANTITIES: dict[str, Quantity] = _Quantities({
    q.column: q
    for q in (
        Quantity("objective", "objective F", "ink", "dot", "no objective was recorded", "F"),
        Quantity("known_excess", "F − F*", "blue", "solid", "no reference is known (sparsescope.reference)", "F − F*"),
        Quantity("relative_gap", "duality gap (relative)", "vermillion", "dash", "no duality gap was evaluated",
                 "gap"),
        Quantity("violation", "optimality violation", "green", "dashdot", "no violation was evaluated",
                 "violation"),
        Quantity("paper_violation", "violation (Eq. 9)", "purple", "longdash",
                 "the paper's violation was not evaluated", "Eq. 9"),
        Quantity("train_accuracy", "train accuracy", "blue", "dash", "no training accuracy was evaluated", "train"),
        Quantity("test_accuracy", "test accuracy", "purple", "solid",
                 "no test accuracy was evaluated (a run needs test data for it)", "test"),
        *(quantity for measure, label in SET_MEASURES.items() for quantity in (
            Quantity(f"train_{measure}", f"train {label}", "blue", "dash", f"no training {label} was evaluated",
                     "train"),
            Quantity(f"test_{measure}", f"test {label}", "purple", "solid",
                     f"no test {label} was evaluated (a run needs test data for it)", "test"),
        )),
        Quantity("train_error", "train error", "blue", "dash",
                 "no training error above zero was evaluated", "train"),
        Quantity("test_error", "test error", "purple", "solid",
                 "no test error above zero was evaluated (a run needs test data for it)", "test"),
        Quantity("nonzero_percent", "non-zero rows", "ink", "longdashdot", "no row counts were recorded", "rows"),
        Quantity("dual", "dual value D", "vermillion", "solid", "no dual value was evaluated", "D"),
        Quantity("dual_percent", "dual non-zeros", "green", "dash",
                 "this solver keeps no dual point (active samples, dual non-zeros)", "dual"),
        Quantity("weights_per_feature", "weights a feature (k_W)", "vermillion", "longdash", "no counts were recorded",
                 "k_W"),
        Quantity("working_entries", "worked on", "green", "longdash", "this solver has no working set", "worked on"),
        Quantity("used_entries", "not zero", "ink", "dash", "no counts were recorded", "not zero"),
        Quantity("working_percent", "working set", "green", "dot", "this solver works on all rows", "working"),
    )
})  # fmt: skip


@dataclass(frozen=True)
class Band:
    """Proved range of an unknown quantity, between two columns."""

    low: str
    high: str
    label: str
    short: str
    colour: str
    dash: str

    def area(self) -> dict[str, str]:
        """The entry of a ``lines`` specification (see :meth:`View.spec`)."""
        return {
            "low": self.low,
            "high": self.high,
            "label": self.label,
            "short": self.short,
            "colour": self.colour,
            "dash": self.dash,
        }


# F* itself is unknown: it lies between the largest certified lower bound and the smallest objective seen.
SUBOPTIMALITY = Band("least_excess", "most_excess", "F − F* (proved range)", "F − F* ≤", "blue", "solid")


def theme(name: str) -> dict[str, str]:
    """The colours of a theme (a copy); ``ValueError`` for a name that is neither ``light`` nor ``dark``."""
    if name not in THEMES:
        raise ValueError(f"theme is {name!r}; allowed: {', '.join(map(repr, THEMES))}")
    return dict(THEMES[name])


def colour_scale(colours: list[str]) -> list[list[Any]]:
    """Evenly spaced stops, in plotly's form ``[[0.0, colour], ..., [1.0, colour]]``."""
    return [[i / (len(colours) - 1), c] for i, c in enumerate(colours)]


def step_scale(colours: list[str]) -> list[list[Any]]:
    """A scale of ``len(colours)`` flat steps, for heatmaps whose values are codes 0, 1, 2, ..."""
    k = len(colours)
    return [[edge / k, c] for i, c in enumerate(colours) for edge in (i, i + 1)]


def faint(colour: str, opacity: float = 0.18) -> str:
    """A colour ``#rrggbb`` for areas under lines."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def escape(text: object) -> str:
    """Text for plotly, which reads a little HTML: a feature called ``<b>`` must stay readable as such."""
    return html.escape(str(text), quote=False)


def template(name: str) -> go.layout.Template:
    """The plotly template of a theme: type, grid, legend above the plot, one hover box for all lines."""
    c = theme(name)
    axis = {
        "gridcolor": c["grid"], "linecolor": c["axis"], "tickcolor": c["axis"], "zeroline": False, "showline": True,
        "ticks": "outside", "ticklen": 4, "title": {"font": {"size": 12, "color": c["muted"]}, "standoff": 8},
        "tickfont": {"size": 11, "color": c["muted"]}, "automargin": True,
    }  # fmt: skip
    return go.layout.Template(
        layout={
            "paper_bgcolor": c["paper"],
            "plot_bgcolor": c["paper"],
            "font": {"family": FONT, "size": 12, "color": c["text"]},
            "title": {
                "font": {"size": 15, "color": c["text"]},
                "subtitle": {"font": {"size": 12, "color": c["muted"]}},
                "x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top",
                "pad": {"t": 14},
            },
            "margin": {"l": 64, "r": 24, "t": 96, "b": 56},
            "xaxis": axis,
            "yaxis": axis,
            "legend": {
                "orientation": "h", "x": 0, "xanchor": "left", "font": {"size": 12},
                "bgcolor": "rgba(0,0,0,0)", "itemwidth": 36,
            },
            "hovermode": "closest",
            "hoverlabel": {"font": {"family": FONT, "size": 12}},
            "colorway": [c[k] for k in ("blue", "vermillion", "green", "purple", "ink", "orange", "sky")],
        }
    )  # fmt: skip
