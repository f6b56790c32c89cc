"""The picture of W that a page can show: a few hundred rows of 8-bit cells instead of d × m numbers.

Runs in the solver's worker between two steps (``Session.request``), so it copies only what the page will see.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

LEVELS = 127  # int8 cells: -127 … 127
MAX_CELLS = 80_000  # of a matrix; with very many classes fewer rows are shown
NICE = np.array([1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0])


@dataclass(frozen=True)
class Wish:
    """What the page wants to see.

    ``rows``: rows of pixels there are; ``kind``: ``"matrix"`` or ``"images"``; ``sort``: ``"norm"``, ``"name"``,
    ``"first"``, ``"block"``; ``rank``: (d,) sort keys for names and first entries; ``row``: the row of the inspector
    or None; ``asks``: exact values asked for, as (id, row, class); ``visible``: False leaves the picture out and
    answers the rest.
    """

    rows: int = 200
    kind: str = "matrix"
    sort: str = "norm"
    rank: np.ndarray | None = None
    row: int | None = None
    asks: tuple[tuple[str, int, int], ...] = ()
    visible: bool = True


@dataclass(frozen=True)
class Picture:
    """The answer to a :class:`Wish`; arrays are never changed afterwards.

    ``cells`` int8 (k, m), ``rows`` int32 (k,), ``norms`` float32 (k,); ``nonzero``: number of non-zero rows of W;
    ``binned``: rows of W behind one row of the picture (1: none are put together). ``answers``: (id, row, class, value,
    block, norm of the block in this class), the last two None for a penalty without blocks. ``blocks``: (k,) int32, the
    block of each row shown, and ``block_names`` of those that have a name; None without blocks.
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
    """The picture of ``weights`` (d, m), dense or CSR, that ``wish`` asks for; the problem's regulariser knows its
    blocks, if any. Of sparse weights only the cells of the picture are made dense."""
    groups = None if regulariser is None else regulariser.blocks
    began = time.perf_counter()
    d, m = weights.shape
    row = wish.row if wish.row is not None and 0 <= wish.row < d else None
    answers = tuple((key, j, c, float(weights[j, c]), *_block_of(weights, j, c, regulariser, groups))
                    for key, j, c in wish.asks if 0 <= j < d and 0 <= c < m)
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
        rows, values, norms, nonzero, binned = _matrix(weights, wish, groups)
        scale = nice_scale(float(np.abs(values).max(initial=0.0)))
        cells = quantise(values, scale)
    row_values = None if row is None else np.array(_full(weights[[row]])[0], dtype=np.float64)
    blocks, names = None, None
    if groups is not None:
        blocks = groups.of_feature[rows].astype(np.int32)
        if groups.names is not None:
            names = {b: groups.name(b) for b in np.unique(blocks).tolist()}
    return Picture(wish.kind, wish.sort, scale, cells, rows, norms, nonzero, binned, row, row_values,
                   answers, wish.visible, time.perf_counter() - began, blocks, names)


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


def _extremes(chosen: Any, starts: np.ndarray) -> np.ndarray:
    """Of each bin of rows, which begin at ``starts``, and each class the entry of largest magnitude."""
    if not sp.issparse(chosen):
        high = np.maximum.reduceat(chosen, starts, axis=0)
        low = np.minimum.reduceat(chosen, starts, axis=0)
    else:
        entries = chosen.tocoo()
        rows, columns = entries.coords
        high, low = np.zeros((2, starts.size, chosen.shape[1]), dtype=chosen.dtype)
        place = np.searchsorted(starts, rows, side="right") - 1, columns
        np.maximum.at(high, place, entries.data)
        np.minimum.at(low, place, entries.data)
    return np.where(high >= -low, high, low)


def _matrix(weights: Any, wish: Wish, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, float]:
    """Rows with weight in the wished order, put together in bins when there are more than ``wish.rows``."""
    squares = _squares(weights)
    support = np.flatnonzero(squares)
    norms = np.sqrt(squares[support])
    if wish.sort == "block":
        order = np.arange(support.size) if groups is None else np.argsort(groups.of_feature[support], kind="stable")
    elif wish.sort == "norm" or wish.rank is None:
        order = np.argsort(-norms, kind="stable")
    else:
        order = np.argsort(wish.rank[support], kind="stable")
    support, norms = support[order], norms[order]
    nonzero, limit = support.size, max(8, min(wish.rows, MAX_CELLS // max(1, weights.shape[1])))
    if nonzero <= limit:
        return support.astype(np.int32), _full(weights[support]), norms.astype(np.float32), nonzero, 1.0
    starts = (np.arange(limit) * nonzero) // limit
    values = _extremes(weights[support], starts)
    tops = np.maximum.reduceat(norms, starts)
    # the row that gives a bin its name is the one with the largest norm
    sizes = np.diff(np.append(starts, nonzero))
    winner = np.flatnonzero(norms == np.repeat(tops, sizes))
    which = np.searchsorted(winner, starts)
    return support[winner[which]].astype(np.int32), values, tops.astype(np.float32), nonzero, nonzero / limit


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


def status_of(picture: Picture) -> dict[str, Any]:
    """What the header of a frame says about a picture (without its arrays)."""
    return {
        "kind": picture.kind,
        "sort": picture.sort,
        "scale": picture.scale,
        "shape": list(picture.cells.shape),
        "nonzero": picture.nonzero,
        "binned": picture.binned,
        "row": picture.row,
        "block_names": picture.block_names,
    }
