"""Norms that a penalty is a sum of: of the entries, rows or blocks of W.

The interior point method keeps each of them below a variable (interior_cones.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Norms:
    """Terms of Ω: ``single`` |w| of entries, (d·m,) or ``None``; ``highest``, ``length``: ‖w‖_∞ and ‖w‖₂ of the
    vectors of each length, (vectors,) or ``None``; ``quadratic``: ½w² of entries, (d·m,)."""

    single: np.ndarray | None
    highest: list[np.ndarray | None]
    length: list[np.ndarray | None]
    quadratic: np.ndarray


def vectors_of(regulariser: Any, d: int, m: int) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return the vectors that Ω is a sum over, one pair for each length.

    A pair holds their places in the flat W, (vectors, length), and the numbers of their rows or blocks; ``None`` where
    they are single entries with weights.
    """
    blocks = regulariser.blocks
    if regulariser.weights is not None:
        return None
    if blocks is None:
        return [(np.arange(d * m).reshape(d, m), np.arange(d))]
    found: dict[int, list[int]] = {}
    for b in range(blocks.count):
        found.setdefault(blocks.features(b).size, []).append(b)
    places = {b: blocks.features(b)[None, :] * m + np.arange(m)[:, None] for b in range(blocks.count)}
    return [(np.concatenate([places[b] for b in same]), np.repeat(same, m)) for same in found.values()]


def norms_of(regulariser: Any, d: int, m: int) -> Norms | None:
    """Return the norms that the penalty is a sum of; ``None`` if it is none, or leaves entries free."""
    size = d * m
    if regulariser.free is not None:
        return None
    vectors = vectors_of(regulariser, d, m)
    if vectors is None:
        single = np.asarray(regulariser.weights, dtype=np.float64).reshape(-1)
        return Norms(single, [None], [None], np.zeros(size))
    row = regulariser.row if hasattr(regulariser, "row") else regulariser.penalty
    terms = terms_of(getattr(row, "base", row))
    if terms is None:
        return None
    sums, lengths, heights, squares = terms
    weights = getattr(row, "weights", None)
    entries, highest, length = np.empty(size), [], []
    for at, numbers in vectors:
        c = np.ones(len(at)) if weights is None else np.asarray(weights, dtype=np.float64)[numbers]
        entries[at] = c[:, None]
        highest.append(heights * c if heights > 0.0 else None)
        length.append(lengths * c if lengths > 0.0 else None)
    return Norms(sums * entries if sums > 0.0 else None, highest, length, squares * entries)


def terms_of(penalty: Any) -> tuple[float, float, float, float] | None:
    """(a, b, c, q) with Ω(w) = a‖w‖₁ + b‖w‖₂ + c‖w‖_∞ + q·½‖w‖²."""
    if hasattr(penalty, "norm_terms"):
        found: tuple[float, float, float, float] | None = penalty.norm_terms()
        return found
    entries = penalty.entry_terms()
    return None if entries is None else (entries[0], 0.0, 0.0, entries[1])
