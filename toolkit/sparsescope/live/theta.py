"""The picture of Θ that a page can show: a matrix of 8-bit cells in some order, and the edges of its graph.

Runs in the solver's worker between two steps, as :mod:`.picture` does for weights of predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

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
        plain = {name: getattr(self, name) for name in
                 ("kind", "sort", "scale", "binned", "hidden", "nonzero", "components", "row", "row_nonzero")}
        arrays = {name: add(getattr(self, name)) for name in
                  ("cells", "rows", "diagonal", "edges", "ties", "degrees", "row_classes")}
        return {**plain, **arrays, "shape": list(self.cells.shape), "row_values": self.row_values.tolist(),
                "parts": None if self.parts is None else add(self.parts)}


def take(Theta: np.ndarray, wish: Wish) -> ThetaPicture:
    """The picture of Θ (p, p), symmetric with a positive diagonal, that ``wish`` asks for."""
    began = time.perf_counter()
    p = Theta.shape[0]
    off = Theta != 0.0
    np.fill_diagonal(off, False)
    degrees = np.count_nonzero(off, axis=1).astype(np.int32)
    labels = np.asarray(connected_components(sp.csr_array(off), directed=False)[1])
    sizes = np.bincount(labels)
    root = np.sqrt(np.diag(Theta))
    empty = np.zeros(0, dtype=np.int32)
    cells, rows, binned, scale, parts = np.zeros((0, 0), dtype=np.int8), empty, 1.0, 1.0, None
    edges, ties, hidden = empty, np.zeros(0, dtype=np.float32), 0
    if wish.visible:
        order = ordered(wish, degrees, labels, sizes)
        cells, rows, binned, scale = matrix(Theta, order, min(wish.rows, wish.columns))
        parts = labels[rows].astype(np.int32) if wish.sort == "component" else None
        edges, ties, hidden = graph(Theta, off, root)
    row = wish.row if wish.row is not None and 0 <= wish.row < p else None
    partners, values = empty, np.zeros(0)
    if row is not None:
        partners, values = strongest(Theta, off, root, row)
    return ThetaPicture(
        sort=wish.sort, scale=scale, cells=cells, rows=rows, binned=binned, parts=parts,
        diagonal=np.diag(Theta).astype(np.float32), edges=edges, ties=ties, hidden=hidden, degrees=degrees,
        nonzero=int(np.count_nonzero(degrees)), components=int(np.count_nonzero(sizes > 1)), row=row,
        row_classes=partners, row_values=values, row_nonzero=0 if row is None else int(degrees[row]),
        answers=tuple((key, i, j, float(Theta[i, j]), None, None) for key, i, j in wish.asks
                      if 0 <= i < p and 0 <= j < p),
        visible=wish.visible, cost=time.perf_counter() - began,
    )


def ordered(wish: Wish, degrees: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The features in the wished order, (p,): as given, by name, by degree, or component by component (the largest
    first, isolated features last); equal ones as given."""
    if wish.sort == "name" and wish.rank is not None:
        return np.argsort(wish.rank, kind="stable")
    if wish.sort == "degree":
        return np.argsort(-degrees, kind="stable")
    if wish.sort == "component":
        first = np.unique(labels, return_index=True)[1]  # of two of the same size the one that begins earlier
        return np.lexsort((np.arange(labels.size), first[labels], -sizes[labels]))
    return np.arange(labels.size)


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


def graph(Theta: np.ndarray, off: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs, one after the other, their partial correlations, the strongest first, and how many are left out."""
    rows, columns = np.nonzero(np.triu(off))
    ties = -Theta[rows, columns] / (root[rows] * root[columns])
    best = np.argsort(-np.abs(ties), kind="stable")[:MAX_EDGES]
    pairs = np.column_stack([rows[best], columns[best]]).astype(np.int32)
    return pairs.ravel(), ties[best].astype(np.float32), rows.size - best.size


def strongest(Theta: np.ndarray, off: np.ndarray, root: np.ndarray, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Partners of a feature and their partial correlations, the strongest first."""
    partners = np.flatnonzero(off[j])
    ties = -Theta[j, partners] / (root[j] * root[partners])
    best = np.argsort(-np.abs(ties), kind="stable")[:MAX_ROW]
    return partners[best].astype(np.int32), ties[best]
