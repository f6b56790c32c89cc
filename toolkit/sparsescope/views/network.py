"""Θ of a sparse inverse covariance as a graph: an edge is a partial correlation that is not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from .. import registry
from ..registry import field
from ..wording import plural
from . import drawing, style
from .base import View
from .places import places
from .theta import graph, in_words, read

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

MOST_NAMED = 80  # nodes whose names are written; the others have theirs on hover
WIDTHS = (1.0, 1.6, 2.4, 3.5, 5.0)  # pixels of an edge, by the strength of its partial correlation
TOLD = 6  # partners that a node names on hover


class Network(View):
    """Graph of Θ. Where S is known, from which the positions are computed, a node has the same position at every λ."""

    name = "network"
    title = "Θ as a graph"
    menu_order = 5
    kinds = ("covariance",)
    doc = "Features as nodes, partial correlations that are not zero as edges: wider if stronger, coloured by sign."
    needs = "a stored snapshot of Θ, of a covariance problem"
    empty = "Nothing to draw yet: no snapshot of Θ has been stored."

    snapshot = field(-1, doc="which stored snapshot of Θ; negative numbers count from the end")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {"id": self.name, "title": self.title, "kind": "network", "empty": self.empty}

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        fig = drawing.new_figure(self, trace, problem, height=640)
        fig.update_xaxes(title_text="places by correlation")
        fig.update_yaxes(title_text="places by correlation")
        found = read(self, trace, problem)
        if isinstance(found, str):
            return drawing.add_sentence(fig, self, found)
        Theta, when = found
        pairs, ties, degrees, _ = graph(Theta)
        at = places(Theta if problem is None else problem.S)  # type: ignore[attr-defined]
        self._edges(fig, at, pairs, ties)
        self._nodes(fig, at, pairs, ties, degrees, drawing.feature_names(trace, problem, range(Theta.shape[0])))
        bare = {"visible": False, "constrain": "domain"}
        fig.update_xaxes(**bare)
        fig.update_yaxes(**bare, scaleanchor="x", autorange="reversed")
        fig.update_layout(margin={"l": 24, "b": 24})
        lines = (drawing.about(trace, problem), f"{when}: {in_words(pairs, degrees)}")
        fig.update_layout(title_subtitle_text="<br>".join(style.escape(line) for line in lines if line))
        return fig

    def _edges(self, fig: go.Figure, at: np.ndarray, pairs: np.ndarray, ties: np.ndarray) -> None:
        """A trace for each sign and width, the thin ones below."""
        colours = style.theme(self.theme)
        level = np.minimum((np.abs(ties) / 0.1).astype(int), len(WIDTHS) - 1)
        named = set()
        for width in range(len(WIDTHS)):
            for name, colour, sign in (("positive", "vermillion", 1.0), ("negative", "blue", -1.0)):
                chosen = pairs[(level == width) & (np.sign(ties) == sign)]
                if not len(chosen):
                    continue
                ends = np.full((len(chosen), 3, 2), np.nan)
                ends[:, :2] = at[chosen]
                fig.add_trace(go.Scatter(
                    x=ends[..., 0].ravel(), y=ends[..., 1].ravel(), mode="lines", hoverinfo="skip", legendgroup=name,
                    name=f"{name} partial correlation", showlegend=name not in named,
                    line={"color": colours[colour], "width": WIDTHS[width]}, opacity=0.6 + 0.1 * width,
                ))  # fmt: skip
                named.add(name)

    def _nodes(
        self, fig: go.Figure, at: np.ndarray, pairs: np.ndarray, ties: np.ndarray, degrees: np.ndarray, names: list[str]
    ) -> None:
        colours = style.theme(self.theme)
        partners: list[list[tuple[float, int]]] = [[] for _ in names]
        for (i, j), tie in zip(pairs.tolist(), ties.tolist(), strict=True):
            partners[i].append((tie, j))
            partners[j].append((tie, i))
        hover = []
        for name, mine in zip(names, partners, strict=True):
            best = sorted(mine, key=lambda pair: -abs(pair[0]))
            lines = [f"{style.escape(names[j])}  {tie:.3g}" for tie, j in best[:TOLD]]
            rest = [f"and {len(best) - TOLD} more"] if len(best) > TOLD else []
            hover.append("<br>".join([f"<b>{style.escape(name)}</b>", plural(len(best), "edge"), *lines, *rest]))
        top = max(1, int(degrees.max(initial=0)))
        tied = np.argsort(-degrees, kind="stable")[:MOST_NAMED]
        shown = set(tied[degrees[tied] > 0].tolist())
        fig.add_trace(go.Scatter(
            x=at[:, 0], y=at[:, 1], mode="markers+text", hovertext=hover, hoverinfo="text", showlegend=False,
            text=[style.escape(name) if j in shown else "" for j, name in enumerate(names)],
            textposition="top center", textfont={"size": 10, "color": colours["text"]},
            marker={"size": np.where(degrees > 0, 6.0 + 12.0 * np.sqrt(degrees / top), 4.0), "opacity": 1.0,
                    "color": [colours["muted"] if k else colours["kept"] for k in degrees],
                    "line": {"color": colours["paper"], "width": 1}},
        ))  # fmt: skip


registry.views.add(Network.name, Network, title=Network.title, doc=Network.doc)
