"""How good predictions are: accuracy for classes, and the measures of label sets.

Scores Z are (n, m); classes y (n,) int64, label sets Y (n, m) uint8, as in a problem. scikit-learn defines the same
measures (``f1_score``, ``label_ranking_loss``, ``hamming_loss``, ``accuracy_score``), and tests compare with it; here
one pass gives all of them, in a time that allows to watch them while a solver runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .kernels.frank_wolfe import scratch
from .kernels.ranks import (
    DEPTHS,
    EXACT,
    HITS_1,
    HITS_3,
    HITS_5,
    MISORDERED,
    SUMS,
    WRONG,
    rank_sums,
    score_histogram,
    score_range,
)
from .kernels.sparse_scores import best_labels, csr_parts

BINS = 1024  # thresholds that are compared
# The measures of label sets that events carry, each with "train_" and "test_" before it.
WATCHED = ("precision_at_1", "precision_at_3", "precision_at_5", "micro_f1", "macro_f1", "ranking_loss")


class SetMeasures(NamedTuple):
    """Measures of ranked labels and of predicted sets, all in [0, 1].

    precision_at_k : mean share of the k best labels that are in the sample's set; NaN if there are fewer than k labels
    micro_f1 : 2TP/(2TP + FP + FN), counted over all samples and labels · macro_f1 : its mean over labels, 0 for a label
    that neither occurs nor is predicted · ranking_loss : mean share of pairs of a label in the set and one off it that
    are not in order (equal scores are not; 0 for empty and full sets) · subset_accuracy : share of sets met exactly ·
    hamming_loss : share of wrong decisions
    """

    precision_at_1: float
    precision_at_3: float
    precision_at_5: float
    micro_f1: float
    macro_f1: float
    ranking_loss: float
    subset_accuracy: float
    hamming_loss: float


def accuracy(Z: np.ndarray, y: np.ndarray) -> float:
    """Share of samples whose class has the largest score."""
    return float((Z.argmax(axis=1) == y).mean())


def set_measures(Z: np.ndarray, Y: np.ndarray, threshold: float) -> SetMeasures:
    """All measures of label sets; labels that score above the threshold are predicted."""
    n, m = Z.shape
    sums, counts = np.empty(SUMS), np.empty((3, m), dtype=np.int64)
    rank_sums(Z, Y, float(threshold), sums, counts)
    first, three, five = (float(hits / (n * k)) if k <= m else float("nan")
                          for k, hits in zip(DEPTHS, sums[[HITS_1, HITS_3, HITS_5]], strict=True))
    twice, rest = 2.0 * counts[0], counts[1] + counts[2]
    each = np.divide(twice, twice + rest, out=np.zeros(m), where=twice + rest > 0)
    total = float(twice.sum() + rest.sum())
    return SetMeasures(
        first, three, five, micro_f1=float(twice.sum()) / total if total else 0.0, macro_f1=float(each.mean()),
        ranking_loss=float(sums[MISORDERED] / n), subset_accuracy=float(sums[EXACT] / n),
        hamming_loss=float(sums[WRONG] / (n * m)),
    )


def best_threshold(Z: np.ndarray, Y: np.ndarray) -> float:
    """The threshold of largest micro-F1 among 1024 between the lowest score of a label in its set and the highest of
    one off it: no other can be better than the best of all thresholds there. The middle, if they do not overlap.

    Two passes over the scores, no sorting.
    """
    low, high = score_range(Z, Y)
    if not (np.isfinite(low) and np.isfinite(high)):  # no label occurs, or all do everywhere
        return float(high if np.isfinite(high) else np.nextafter(Z.dtype.type(low), Z.dtype.type(-np.inf)))
    if high < low:
        return float(0.5 * (low + high))
    step = max((high - low) / BINS, float(np.finfo(Z.dtype).tiny))
    inside, outside = np.zeros(BINS + 1, dtype=np.int64), np.zeros(BINS + 1, dtype=np.int64)
    score_histogram(Z, Y, low, step, inside, outside)
    hit, false = np.cumsum(inside[::-1])[::-1], np.cumsum(outside[::-1])[::-1]
    best = int(np.argmax(2.0 * hit / (hit + false + hit[0]).clip(1)))  # hit[0] counts all labels that occur
    edge = Z.dtype.type(low + best * step)
    return float(np.nextafter(edge, Z.dtype.type(-np.inf)))


def ranking(Z: np.ndarray, k: int | None = None) -> np.ndarray:
    """Labels of each sample from the highest score down, the first k of them (all): shape (n, k); ties by number."""
    m = Z.shape[1]
    if k is not None and not (int(k) == k and 1 <= k <= m):
        raise ValueError(f"k is {k!r}; allowed: 1 to {m}, the number of labels")
    return np.argsort(-Z, axis=1, kind="stable")[:, : k if k is None else int(k)]


def watched(part: str, Z: np.ndarray, y: np.ndarray, threshold: float | None) -> dict[str, Any]:
    """What an event says about predictions on one part of the data (``"train"``, ``"test"``): its fields and values."""
    if y.ndim == 1:
        return {f"{part}_accuracy": accuracy(Z, y)}
    assert threshold is not None
    found = set_measures(Z, y, threshold)
    return {f"{part}_{name}": getattr(found, name) for name in WATCHED}


def best_of(W: Any, design: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best labels of each sample under sparse weights W (CSR, (d, m)): labels (n, k) int32, scores (n, k).

    They are those of a dense row of scores, ties by number, but a sample costs only the non-zeros of W for its
    features: no array of samples by labels is made. ``design`` : a :class:`sparsescope.design.Design`.
    ``ValueError`` unless 1 ≤ k ≤ m.
    """
    m = W.shape[1]
    if not (int(k) == k and 1 <= k <= m):
        raise ValueError(f"k is {k!r}; allowed: 1 to {m}, the number of labels")
    labels, scores = np.empty((design.n, int(k)), dtype=np.int32), np.empty((design.n, int(k)))
    best_labels(design.samples, design.n, *csr_parts(W), scratch(m, 1, 0), labels, scores)
    return labels, scores


def ranked(part: str, W: Any, design: Any, y: np.ndarray) -> dict[str, Any]:
    """What an event says about predictions of sparse weights W (CSR, (d, m)): accuracy for classes, precision at 1, 3
    and 5 for label sets. The measures that need all scores of a sample are left out."""
    m = W.shape[1]
    if y.ndim == 1:
        return {f"{part}_accuracy": float((best_of(W, design, 1)[0][:, 0] == y).mean())}
    hits = np.take_along_axis(y, best_of(W, design, min(max(DEPTHS), m))[0], axis=1)
    return {f"{part}_precision_at_{k}": float(hits[:, :k].mean()) if k <= m else float("nan") for k in DEPTHS}
