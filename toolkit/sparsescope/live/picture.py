"""The picture of W that a page can show: a few hundred rows of 8-bit cells instead of d × m numbers.

Runs in the solver's worker between two steps (``Session.request``), so it copies only what the page will see.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

LEVELS = 127  # int8 cells: -127 … 127
MAX_CELLS = 80_000  # of a matrix; with very many classes fewer rows are shown
MAX_COLUMNS = 1000  # for a page that does not say how many it has room for
MAX_ROW = 100  # weights of one row that are sent: the largest ones
Place = tuple[str, int, int]  # of an array in a frame's block of bytes: type, offset, length
NICE = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0])


@dataclass(frozen=True)
class Wish:
    """Picture that the page requests.

    ``rows``, ``columns``: how many of them there is room for; ``zoom``: (first, stop) of the non-zero rows in the
    wished order and (first, stop) of the classes, or None for all; ``kind``: ``"matrix"`` or ``"images"``;
    ``sort``: ``"norm"``, ``"name"``, ``"first"``, ``"block"``; ``rank``: (d,) sort keys for names and first
    entries; ``row``: the row of the inspector or None; ``asks``: exact values asked for, as (id, row, class);
    ``cells``: cells of the picture asked about, as (id, line, column); ``visible``: False leaves the picture out
    and answers the rest; ``part``: of a sequence of models, what is shown (:data:`.steps.PARTS`);
    ``strip``: dots there is room for in the threshold strip, 0: it is not wanted now;
    ``at``: the event of the trace whose weights are shown, None: the newest.
    """

    rows: int = 200
    columns: int = MAX_COLUMNS
    zoom: tuple[int, int, int, int] | None = None
    kind: str = "matrix"
    sort: str = "norm"
    rank: np.ndarray | None = None
    row: int | None = None
    asks: tuple[tuple[str, int, int], ...] = ()
    cells: tuple[tuple[str, int, int], ...] = ()
    visible: bool = True
    part: str = "stage"
    strip: int = 0
    at: int | None = None


@dataclass(frozen=True)
class Picture:
    """The answer to a :class:`Wish`; arrays are never changed afterwards.

    ``cells`` int8 (k, q), ``rows`` int32 (k,), ``norms`` float32 (k,); ``nonzero``: number of non-zero rows of W;
    ``binned``: rows of W behind one row of the picture (1: none are put together). ``classes`` int32 (q,): the first
    class of each column where q columns stand for more classes, else None (then q = m); ``used``: classes with weights
    among those that are shown; ``together``: classes behind one column. ``row_values``: of the row of the inspector its
    weights, or with many classes the largest ones, which are those of ``row_classes``; ``row_nonzero`` of them are not
    zero, ``row_norm`` is the norm of all. ``answers``: (id, row, class, value,
    block, norm of the block in this class), the last two None for a penalty without blocks. ``blocks``: (k,) int32, the
    block of each row shown, and ``block_names`` of those that have a name; None without blocks.

    Of a sequence of models: the ``part`` shown, ``said``: description, ``reason`` why nothing is shown,
    ``total`` number of rows, ``names`` of rows that are no columns of X, and ``steps`` descriptions of its steps
    (:mod:`.steps`).
    """

    kind: str
    sort: str
    scale: float
    cells: np.ndarray
    rows: np.ndarray
    norms: np.ndarray
    nonzero: int
    binned: float
    row: int | None
    row_values: np.ndarray | None
    answers: tuple[tuple[str, int, int, float, str | None, float | None], ...]
    visible: bool
    cost: float
    blocks: np.ndarray | None = None
    block_names: dict[int, str] | None = None
    classes: np.ndarray | None = None
    used: int = 0
    together: float = 1.0
    row_classes: np.ndarray | None = None
    row_nonzero: int = 0
    row_norm: float = 0.0
    part: str = "stage"
    said: str = ""
    reason: str = ""
    total: int | None = None
    names: dict[str, str] | None = None
    steps: dict[str, Any] | None = None

    def header(self, add: Callable[[np.ndarray], Place]) -> dict[str, Any]:
        """The header field ``picture`` of a frame; arrays go through ``add``."""
        plain = {
            name: getattr(self, name)
            for name in (
                "kind",
                "sort",
                "scale",
                "nonzero",
                "binned",
                "used",
                "together",
                "row_nonzero",
                "row_norm",
                "row",
                "block_names",
                "part",
                "said",
                "reason",
                "total",
                "steps",
            )
        }
        arrays = {name: add(getattr(self, name)) for name in ("cells", "rows", "norms")}
        some = {
            name: None if getattr(self, name) is None else add(getattr(self, name))
            for name in ("blocks", "classes", "row_classes")
        }
        values = None if self.row_values is None else [v if np.isfinite(v) else None for v in self.row_values.tolist()]
        return {**plain, **arrays, **some, "shape": list(self.cells.shape), "row_values": values}


@dataclass(frozen=True)
class Bins:
    """Mapping of W to the cells of a picture: ``support``: the rows that are shown, in order; ``starts`` (k,): where
    the rows of each line begin in it; ``classes``, ``edges`` (q,): the same for classes and columns."""

    support: np.ndarray
    starts: np.ndarray
    classes: np.ndarray
    edges: np.ndarray

    def largest(self, weights: Any, line: int, column: int) -> tuple[int, int]:
        """Row and class of the largest weight in a cell."""
        rows = self.support[_part(self.starts, line, self.support.size)]
        classes = self.classes[_part(self.edges, column, self.classes.size)]
        values = np.abs(_full(weights[rows][:, classes]))
        j, c = divmod(int(values.argmax()), classes.size)
        return int(rows[j]), int(classes[c])


def _part(starts: np.ndarray, k: int, size: int) -> slice:
    return slice(int(starts[k]), int(starts[k + 1]) if k + 1 < starts.size else size)


def nice_scale(top: float) -> float:
    """``top`` rounded up to 1, 1.5, 2, 3, 5 or 7 times a power of ten; 1 for an empty picture."""
    if not np.isfinite(top) or top <= 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(top))
    steps = NICE * power
    return float(steps[np.searchsorted(steps, top * (1 - 1e-12))])


def quantise(values: np.ndarray, scale: float) -> np.ndarray:
    """int8 cells; a value that is not zero keeps its sign even when it is far below the scale."""
    scaled = np.clip(values * (LEVELS / scale), -LEVELS, LEVELS)
    cells = np.rint(scaled).astype(np.int8)
    lost = (cells == 0) & (values != 0)
    if lost.any():
        cells[lost] = np.where(values[lost] > 0, 1, -1)
    return cells


def take(weights: Any, wish: Wish, regulariser: Any = None) -> Picture:
    """The picture of ``weights`` (d, m), dense or CSR, that ``wish`` requests; the problem's regulariser has its
    blocks, if any. Of sparse weights only the cells of the picture are made dense."""
    groups = None if regulariser is None else regulariser.blocks
    began = time.perf_counter()
    d, m = weights.shape
    row = wish.row if wish.row is not None and 0 <= wish.row < d else None
    asks, more = list(wish.asks), {}
    if not wish.visible:
        cells = np.zeros((0, m), dtype=np.int8)
        rows, norms, nonzero, binned, scale = np.zeros(0, np.int32), np.zeros(0, np.float32), 0, 1.0, 1.0
    elif wish.kind == "images":
        squares = _squares(weights)
        nonzero, binned = int(np.count_nonzero(squares)), 1.0
        rows, norms = np.arange(d, dtype=np.int32), np.sqrt(squares).astype(np.float32)
        values = _full(weights)
        scale = nice_scale(float(np.abs(values).max(initial=0.0)))
        cells = quantise(values, scale)
    else:
        rows, values, norms, nonzero, bins = _matrix(weights, wish, groups)
        k, q = values.shape
        binned = bins.support.size / max(1, k)
        scale = nice_scale(float(np.abs(values).max(initial=0.0)))
        cells = quantise(values, scale)
        asks += [
            (key, *bins.largest(weights, line, column))
            for key, line, column in wish.cells
            if 0 <= line < k and 0 <= column < q
        ]
        if q < m:
            more = {
                "classes": bins.classes[bins.edges].astype(np.int32),
                "used": bins.classes.size,
                "together": bins.classes.size / max(1, q),
            }
    answers = tuple(
        (key, j, c, float(weights[j, c]), *_block_of(weights, j, c, regulariser, groups))
        for key, j, c in asks
        if 0 <= j < d and 0 <= c < m
    )
    blocks, names = _blocks_of(groups, rows)
    row_values = None
    if row is not None:
        row_values, inspected = _inspected(np.array(_full(weights[[row]])[0], dtype=np.float64))
        more |= inspected
    return Picture(
        wish.kind,
        wish.sort,
        scale,
        cells,
        rows,
        norms,
        nonzero,
        binned,
        row,
        row_values,
        answers,
        wish.visible,
        time.perf_counter() - began,
        blocks,
        names,
        **more,
    )


def _blocks_of(groups: Any, rows: np.ndarray) -> tuple[np.ndarray | None, dict[int, str] | None]:
    """Return the block of each row, and the names of these blocks; ``None`` where there are none."""
    if groups is None:
        return None, None
    blocks = groups.of_feature[rows].astype(np.int32)
    names = None if groups.names is None else {b: groups.name(b) for b in np.unique(blocks).tolist()}
    return blocks, names


def _inspected(values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the weights of a row that are sent: all, or the :data:`MAX_ROW` largest in the order of the classes."""
    facts: dict[str, Any] = {"row_nonzero": int(np.count_nonzero(values)), "row_norm": float(np.linalg.norm(values))}
    if values.size <= MAX_ROW:
        return values, facts
    chosen = np.sort(np.argsort(-np.abs(values), kind="stable")[: min(MAX_ROW, facts["row_nonzero"])])
    return values[chosen], {**facts, "row_classes": chosen.astype(np.int32)}


def _block_of(weights: np.ndarray, j: int, c: int, regulariser: Any, groups: Any) -> tuple[str | None, float | None]:
    """The name of a feature's block, and the block's norm in a class."""
    if groups is None:
        return None, None
    b = int(groups.of_feature[j])
    return groups.name(b), float(regulariser.row.value(np.ascontiguousarray(weights[groups.features(b), c])))


def _full(weights: Any) -> np.ndarray:
    """The same numbers as an array."""
    return weights.toarray() if sp.issparse(weights) else np.asarray(weights)


def _squares(weights: Any) -> np.ndarray:
    """‖W_j‖² of every row, (d,)."""
    if sp.issparse(weights):
        return np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", weights, weights)


def extremes(chosen: Any, bins: Bins) -> np.ndarray:
    """Return the entry of largest magnitude of each cell; ``chosen``: the rows of the picture, by all classes."""
    k, q = bins.starts.size, bins.edges.size
    if not sp.issparse(chosen):
        shown = chosen if bins.classes.size == chosen.shape[1] else chosen[:, bins.classes]
        for starts, axis, size in ((bins.starts, 0, bins.support.size), (bins.edges, 1, bins.classes.size)):
            if starts.size < size:
                high = np.maximum.reduceat(shown, starts, axis=axis)
                low = np.minimum.reduceat(shown, starts, axis=axis)
                shown = np.where(high >= -low, high, low)
        return np.asarray(shown)
    entries = chosen.tocoo()
    rows, classes = entries.coords
    column_of = np.full(chosen.shape[1], -1, dtype=np.int64)
    column_of[bins.classes] = np.searchsorted(bins.edges, np.arange(bins.classes.size), side="right") - 1
    columns = column_of[classes]
    inside = columns >= 0
    place = np.searchsorted(bins.starts, rows[inside], side="right") - 1, columns[inside]
    high, low = np.zeros((2, k, q), dtype=chosen.dtype)
    np.maximum.at(high, place, entries.data[inside])
    np.minimum.at(low, place, entries.data[inside])
    return np.where(high >= -low, high, low)


def _shown_classes(chosen: Any, wish: Wish) -> np.ndarray:
    """The classes of the picture: all of them, or, where there is no room for all, those with weights."""
    m = chosen.shape[1]
    first, stop = (0, m) if wish.zoom is None else wish.zoom[2:]
    first = min(max(first, 0), m - 1)
    classes = np.arange(first, min(max(stop, first + 1), m))
    if classes.size <= max(1, wish.columns):
        return classes
    used = np.zeros(m, dtype=bool)
    if sp.issparse(chosen):
        used[chosen.indices] = True
    else:
        used = np.any(chosen != 0, axis=0)
    found = classes[used[classes]]
    return found if found.size else classes[:1]


def _matrix(weights: Any, wish: Wish, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, Bins]:
    """Rows with weight in the wished order and classes, put together in bins where there are more than wished."""
    squares = _squares(weights)
    support = np.flatnonzero(squares)
    nonzero = support.size
    norms = np.sqrt(squares[support])
    if wish.sort == "block":
        order = np.arange(support.size) if groups is None else np.argsort(groups.of_feature[support], kind="stable")
    elif wish.sort == "norm" or wish.rank is None:
        order = np.argsort(-norms, kind="stable")
    else:
        order = np.argsort(wish.rank[support], kind="stable")
    if wish.zoom is not None and nonzero:
        first = min(max(wish.zoom[0], 0), nonzero - 1)
        order = order[first : max(wish.zoom[1], first + 1)]
    support, norms = support[order], norms[order]
    chosen = weights[support]
    classes = _shown_classes(chosen, wish)
    q = min(classes.size, max(1, wish.columns))
    limit = max(8, min(wish.rows, MAX_CELLS // max(1, q)))
    k = min(support.size, limit)
    bins = Bins(support, (np.arange(k) * support.size) // max(1, k), classes, (np.arange(q) * classes.size) // q)
    values = extremes(chosen, bins)
    if k == support.size:
        return support.astype(np.int32), values, norms.astype(np.float32), nonzero, bins
    tops = np.maximum.reduceat(norms, bins.starts)
    # the row that gives a bin its name is the one with the largest norm
    sizes = np.diff(np.append(bins.starts, support.size))
    winner = np.flatnonzero(norms == np.repeat(tops, sizes))
    which = np.searchsorted(winner, bins.starts)
    return support[winner[which]].astype(np.int32), values, tops.astype(np.float32), nonzero, bins


def first_rank(order: list[int], d: int) -> np.ndarray:
    """Sort keys (d,): the place of a row in the order of first entry; rows that never entered come last."""
    rank = np.full(d, d, dtype=np.int64)
    rank[np.asarray(order, dtype=np.int64)] = np.arange(len(order))
    return rank


def name_rank(names: list[str] | None, d: int) -> np.ndarray:
    """Sort keys (d,): the place of a row in the alphabet; row numbers when there are no names."""
    if names is None:
        return np.arange(d)
    order = sorted(range(d), key=lambda j: (names[j].casefold(), j))
    rank = np.empty(d, dtype=np.int64)
    rank[np.asarray(order)] = np.arange(d)
    return rank
