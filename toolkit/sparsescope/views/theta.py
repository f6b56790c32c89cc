"""Θ of a sparse inverse covariance as a matrix: which pairs of features are tied, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .. import registry
from ..registry import field
from ..wording import plural
from . import drawing, style
from .base import View
from .weights import pick

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

ORDERS = ("given", "degree", "component", "name")
MOST_NAMED = 60  # features whose names can be read beside the matrix
NO_THETA = "Nothing to draw: these weights are no inverse covariance. {} shows runs of quic and lhac-covariance."


def read(view: Any, trace: Trace, problem: Problem | None) -> tuple[np.ndarray, str] | str:
    """Θ (p, p) of the view's snapshot and when that was, or the reason why there is none."""
    if not trace.snapshots:
        return str(view.empty)
    if getattr(problem, "kind", trace.info.get("kind", "")) not in view.kinds:
        return NO_THETA.format(view.title)
    snapshot = pick(trace, view.snapshot)
    values = snapshot.values
    return np.asarray(values.toarray() if sp.issparse(values) else values), f"after iteration {snapshot.iteration}"


def graph(Theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs (e, 2) with Θ_ij ≠ 0, i < j, their partial correlations (e,), degrees (p,) and component labels (p,)."""
    off = Theta != 0.0
    np.fill_diagonal(off, False)
    pairs = np.argwhere(np.triu(off))
    root = np.sqrt(np.diag(Theta))
    ties = -Theta[pairs[:, 0], pairs[:, 1]] / (root[pairs[:, 0]] * root[pairs[:, 1]])
    return pairs, ties, np.count_nonzero(off, axis=1), connected_components(sp.csr_array(off), directed=False)[1]


def ordered(order: str, degrees: np.ndarray, labels: np.ndarray, rank: np.ndarray | None = None) -> np.ndarray:
    """The features in an order of :data:`ORDERS`, (p,): as given, by name (``rank``: their places in it), by degree, or
    component by component, the largest first and isolated features last; equal ones as given."""
    if order == "name" and rank is not None:
        return np.argsort(rank, kind="stable")
    if order == "degree":
        return np.argsort(-degrees, kind="stable")
    if order == "component":
        first = np.unique(labels, return_index=True)[1]  # of two of the same size the one that begins earlier
        return np.lexsort((np.arange(labels.size), first[labels], -np.bincount(labels)[labels]))
    return np.arange(labels.size)


def in_words(pairs: np.ndarray, degrees: np.ndarray) -> str:
    """Describe the number of edges and of the features between them."""
    return f"{plural(len(pairs), 'edge')} between {np.count_nonzero(degrees)} of {degrees.size} features"


class Theta(View):
    """Inverse covariance as a matrix; the colours span the range of the entries off the diagonal."""

    name = "theta"
    title = "Θ as a matrix"
    menu_order = 28
    kinds = ("covariance",)
    doc = ("The inverse covariance Θ, features by features, in the colours of the graph's edges; its diagonal, which "
           "is larger, does not take part in their range.")  # fmt: skip
    needs = "a stored snapshot of Θ, of a covariance problem"
    empty = "Nothing to draw yet: no snapshot of Θ has been stored."

    snapshot = field(-1, doc="which stored snapshot of Θ; negative numbers count from the end")
    order = field("given", choices=ORDERS, doc="features as given, by degree, by connected component, or by name")

    def spec(self, problem: Problem) -> dict[str, Any]:
        return {"id": self.name, "title": self.title, "kind": "theta", "orders": list(ORDERS), "empty": self.empty}

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        fig = drawing.new_figure(self, trace, problem, height=620)
        fig.update_xaxes(title_text="features", showgrid=False)
        fig.update_yaxes(title_text="features", showgrid=False)
        found = read(self, trace, problem)
        if isinstance(found, str):
            return drawing.add_sentence(fig, self, found)
        values, when = found
        p = values.shape[0]
        pairs, _, degrees, labels = graph(values)
        names = drawing.feature_names(trace, problem, range(p))
        rank = np.empty(p, dtype=np.int64)
        rank[sorted(range(p), key=lambda j: (names[j].casefold(), j))] = np.arange(p)
        order = ordered(self.order, degrees, labels, rank)
        shown, diagonal = values[np.ix_(order, order)], np.diag(values)[order]
        root = np.sqrt(diagonal)
        np.fill_diagonal(shown, 0.0)
        texts = [style.escape(names[j]) for j in order]
        hover = [[f"{a} – {b}<br>Θ {value:.4g}<br>partial correlation {-value / (root[i] * root[j]):.3g}" if i != j else
                  f"{a}<br>Θ {diagonal[i]:.4g} on the diagonal<br>{degrees[order[i]]} partners"
                  for j, (b, value) in enumerate(zip(texts, line, strict=True))]
                 for i, (a, line) in enumerate(zip(texts, shown.tolist(), strict=True))]  # fmt: skip
        fig.add_trace(go.Heatmap(z=shown, coloraxis="coloraxis", text=hover, hovertemplate="%{text}<extra></extra>"))
        own = np.where(np.eye(p) > 0, 1.0, np.nan)
        kept = style.theme(self.theme)["kept"]
        fig.add_trace(go.Heatmap(z=own, showscale=False, hoverinfo="skip", colorscale=[[0, kept], [1, kept]]))
        ticks = {"ticks": "", "tickvals": list(range(p)) if p <= MOST_NAMED else [], "ticktext": texts}
        fig.update_xaxes(**ticks, constrain="domain", tickangle=-90)
        fig.update_yaxes(**ticks, autorange="reversed", scaleanchor="x", constrain="domain")
        top, muted = float(np.abs(shown).max()) or 1.0, style.theme(self.theme)["muted"]
        fig.update_layout(showlegend=False, coloraxis={
            "colorscale": style.colour_scale(style.DIVERGING[self.theme]), "reversescale": True, "cmin": -top,
            "cmax": top,
            "colorbar": {"title": {"text": "Θ off the diagonal (grey: diagonal)", "side": "right",
                                   "font": {"size": 12, "color": muted}},
                         "thickness": 12, "outlinewidth": 0, "tickfont": {"size": 11, "color": muted}},
        })  # fmt: skip
        lines = (drawing.about(trace, problem), f"{when}: {in_words(pairs, degrees)}")
        fig.update_layout(title_subtitle_text="<br>".join(style.escape(line) for line in lines if line))
        return fig


registry.views.add(Theta.name, Theta, title=Theta.title, doc=Theta.doc)
