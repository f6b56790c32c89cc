"""The picture of Θ that a page can show: a matrix of 8-bit cells in some order, and the edges of its graph.

Runs in the solver's worker between two steps, as :mod:`.picture` does for weights of predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..views.theta import graph, ordered
from .picture import MAX_ROW, Bins, Place, Wish, extremes, nice_scale, quantise

MAX_EDGES = 2000  # that are sent: the strongest. More lines are a black spot anyhow


@dataclass(frozen=True)
class ThetaPicture:
    """Θ (p, p) as a page shows it; arrays are never changed afterwards.

    ``cells`` int8 (k, k) in the wished order, value = cell × ``scale`` / 127, where the scale is that of the entries
    *off* the diagonal: the diagonal, which is positive and mostly larger, is sent apart, ``diagonal`` float32 (p,).
    ``rows`` int32 (k,): the feature of each line, or the first of those put together, ``binned`` of them in a line;
    ``parts`` int32 (k,): the component of each line where they are ordered by component, else ``None``.

    ``edges`` int32 (2e,): pairs i < j with Θ_ij ≠ 0, and ``ties`` float32 (e,) their partial correlations
    −Θ_ij/√(Θ_iiΘ_jj), the strongest first; ``hidden`` more are not sent. ``degrees`` int32 (p,): partners of each
    feature; ``nonzero`` of them have any; ``components``: how many components of at least two there are.

    ``row``: the feature of the inspector, ``row_classes`` its partners and ``row_values`` their partial correlations,
    the strongest first, :data:`MAX_ROW` at most of ``row_nonzero``. ``answers``: (id, i, j, Θ_ij, None, None).
    """

    kind: ClassVar[str] = "theta"
    sort: str
    scale: float
    cells: np.ndarray
    rows: np.ndarray
    binned: float
    parts: np.ndarray | None
    diagonal: np.ndarray
    edges: np.ndarray
    ties: np.ndarray
    hidden: int
    degrees: np.ndarray
    nonzero: int
    components: int
    row: int | None
    row_classes: np.ndarray
    row_values: np.ndarray
    row_nonzero: int
    answers: tuple[tuple[str, int, int, float, str | None, float | None], ...]
    visible: bool
    cost: float

    def header(self, add: Callable[[np.ndarray], Place]) -> dict[str, Any]:
        """The header field ``picture``; arrays go through ``add``."""
        plain = {
            name: getattr(self, name)
            for name in ("kind", "sort", "scale", "binned", "hidden", "nonzero", "components", "row", "row_nonzero")
        }
        arrays = {
            name: add(getattr(self, name))
            for name in ("cells", "rows", "diagonal", "edges", "ties", "degrees", "row_classes")
        }
        return {
            **plain,
            **arrays,
            "shape": list(self.cells.shape),
            "row_values": self.row_values.tolist(),
            "parts": None if self.parts is None else add(self.parts),
        }


def take(Theta: np.ndarray, wish: Wish) -> ThetaPicture:
    """The picture of Θ (p, p), symmetric with a positive diagonal, that ``wish`` requests."""
    began = time.perf_counter()
    p = Theta.shape[0]
    pairs, ties, degrees, labels = graph(Theta)
    best = np.argsort(-np.abs(ties), kind="stable")
    pairs, ties = pairs[best].astype(np.int32), ties[best]
    row = wish.row if wish.row is not None and 0 <= wish.row < p else None
    mine = np.flatnonzero((pairs == row).any(axis=1))[:MAX_ROW] if row is not None else np.zeros(0, dtype=np.int64)
    cells, rows, binned, scale, parts = np.zeros((0, 0), dtype=np.int8), np.zeros(0, dtype=np.int32), 1.0, 1.0, None
    sent = 0
    if wish.visible:
        order = ordered(wish.sort, degrees, labels, wish.rank)
        cells, rows, binned, scale = matrix(Theta, order, min(wish.rows, wish.columns))
        parts = labels[rows].astype(np.int32) if wish.sort == "component" else None
        sent = min(MAX_EDGES, ties.size)
    return ThetaPicture(
        sort=wish.sort,
        scale=scale,
        cells=cells,
        rows=rows,
        binned=binned,
        parts=parts,
        diagonal=np.diag(Theta).astype(np.float32),
        edges=pairs[:sent].ravel(),
        ties=ties[:sent].astype(np.float32),
        hidden=ties.size - sent,
        degrees=degrees.astype(np.int32),
        nonzero=int(np.count_nonzero(degrees)),
        components=int(np.count_nonzero(np.bincount(labels) > 1)),
        row=row,
        row_classes=(pairs[mine].sum(axis=1) - (row or 0)).astype(np.int32),
        row_values=ties[mine],
        row_nonzero=0 if row is None else int(degrees[row]),
        answers=tuple(
            (key, i, j, float(Theta[i, j]), None, None) for key, i, j in wish.asks if 0 <= i < p and 0 <= j < p
        ),
        visible=wish.visible,
        cost=time.perf_counter() - began,
    )


def matrix(Theta: np.ndarray, order: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Cells, the feature of each line, features in a line and scale; the diagonal is 0 in the cells."""
    p = order.size
    shown = Theta[np.ix_(order, order)]
    np.fill_diagonal(shown, 0.0)
    k = min(p, max(8, room))
    if k < p:
        starts = (np.arange(k) * p) // k
        shown = extremes(shown, Bins(np.arange(p), starts, np.arange(p), starts))
        order = order[starts]
    scale = nice_scale(float(np.abs(shown).max(initial=0.0)))
    return quantise(shown, scale), order.astype(np.int32), p / k, scale
