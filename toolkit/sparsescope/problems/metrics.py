"""Measures of predictions: accuracy for classes, and the measures of label sets.

Scores Z are (n, m); classes y (n,) int64, label sets Y (n, m) uint8, as in a problem. scikit-learn defines the same
measures (``f1_score``, ``label_ranking_loss``, ``hamming_loss``, ``accuracy_score``), and tests compare with it; here
one pass gives all of them, in a time that allows to watch them while a solver runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..inputs.labels import LabelSets
from ..kernels.label_search import scratch
from ..kernels.ranks import (
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
from ..kernels.sparse_ranks import (
    COUNTS,
    FALSE,
    MISSED,
    SCORED,
    TRUE,
    UNSCORED,
    labels_above,
    sparse_rank_sums,
    sparse_score_histogram,
    sparse_score_range,
)
from ..kernels.sparse_scores import best_labels, csr_parts

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
    """Return the share of samples whose class has the largest score.

    Parameters
    ----------
    Z
        scores (n, m).
    y
        classes (n,).

    Returns
    -------
    float
        the accuracy, in [0, 1].
    """
    return float((Z.argmax(axis=1) == y).mean())


def set_measures(Z: np.ndarray, Y: np.ndarray, threshold: float) -> SetMeasures:
    """Evaluate all measures of label sets; labels that score above the threshold are predicted.

    Parameters
    ----------
    Z
        scores (n, m).
    Y
        indicator (n, m).
    threshold
        the threshold.

    Returns
    -------
    SetMeasures
        the measures.
    """
    n, m = Z.shape
    sums, counts = np.empty(SUMS), np.empty((3, m), dtype=np.int64)
    rank_sums(Z, Y, float(threshold), sums, counts)
    return measures_of(sums, counts, n, m)


def sparse_set_measures(W: Any, design: Any, sets: LabelSets, threshold: float) -> SetMeasures:
    """Evaluate all measures of label sets for sparse weights; no array of samples by labels is made.

    Parameters
    ----------
    W
        weights (d, m), CSR.
    design
        the samples, a :class:`sparsescope.inputs.design.Design`.
    sets
        their label sets.
    threshold
        the threshold.

    Returns
    -------
    SetMeasures
        the measures.
    """
    n, m = sets.shape
    sums, found = np.empty(SUMS), np.empty((COUNTS, m), dtype=np.int64)
    sparse_rank_sums(
        design.sparse_samples, *csr_parts(W), sets.indptr, sets.labels, float(threshold), scratch(m, 1, 0), sums, found
    )
    counts = found[[TRUE, FALSE, MISSED]]
    if threshold < 0.0:  # all labels without a score are predicted
        counts[0] += found[UNSCORED]
        counts[1] += n - found[SCORED] - found[UNSCORED]
    else:
        counts[2] += found[UNSCORED]
    return measures_of(sums, counts, n, m)


def measures_of(sums: np.ndarray, counts: np.ndarray, n: int, m: int) -> SetMeasures:
    """Return the measures made of the sums of :func:`sparsescope.kernels.ranks.rank_sums`.

    Parameters
    ----------
    sums
        the sums.
    counts
        the counts.
    n
        number of samples.
    m
        number of labels.

    Returns
    -------
    SetMeasures
        the measures.
    """
    first, three, five = (
        float(hits / (n * k)) if k <= m else float("nan")
        for k, hits in zip(DEPTHS, sums[[HITS_1, HITS_3, HITS_5]], strict=True)
    )
    twice, rest = 2.0 * counts[0], counts[1] + counts[2]
    each = np.divide(twice, twice + rest, out=np.zeros(m), where=twice + rest > 0)
    total = float(twice.sum() + rest.sum())
    return SetMeasures(
        first,
        three,
        five,
        micro_f1=float(twice.sum()) / total if total else 0.0,
        macro_f1=float(each.mean()),
        ranking_loss=float(sums[MISORDERED] / n),
        subset_accuracy=float(sums[EXACT] / n),
        hamming_loss=float(sums[WRONG] / (n * m)),
    )


def best_threshold(Z: np.ndarray, Y: np.ndarray) -> float:
    """Return the threshold of largest micro-F1 of a grid of 1024.

    The grid spans the range between the lowest score of a label in its set and the highest of one off it: no other
    threshold can be better than the best one there. If they do not overlap, it is the middle. Two passes over the
    scores are made, and nothing is sorted.

    Parameters
    ----------
    Z
        scores (n, m).
    Y
        indicator (n, m).

    Returns
    -------
    float
        the threshold.
    """
    low, high = score_range(Z, Y)
    return _threshold(low, high, Z.dtype, lambda *bins: score_histogram(Z, Y, *bins))


def best_sparse_threshold(W: Any, design: Any, sets: LabelSets) -> float:
    """Return the :func:`best_threshold` for sparse weights.

    Parameters
    ----------
    W
        weights (d, m), CSR.
    design
        the samples, a :class:`sparsescope.inputs.design.Design`.
    sets
        their label sets.

    Returns
    -------
    float
        the threshold.
    """
    given = (design.sparse_samples, *csr_parts(W), sets.indptr, sets.labels)
    s = scratch(sets.m, 1, 0)
    low, high = sparse_score_range(*given, s)
    return _threshold(
        low,
        high,
        np.dtype(np.float64),
        lambda low, step, inside, outside: sparse_score_histogram(*given, low, step, s, inside, outside),
    )


def _threshold(low: float, high: float, dtype: np.dtype, fill: Callable[..., None]) -> float:
    """The best threshold between two scores of this type; ``fill`` counts scores in bins."""
    if not (np.isfinite(low) and np.isfinite(high)):  # no label occurs, or all do everywhere
        return float(high if np.isfinite(high) else np.nextafter(dtype.type(low), dtype.type(-np.inf)))
    if high < low:
        return float(0.5 * (low + high))
    step = max((high - low) / BINS, float(np.finfo(dtype).tiny))
    inside, outside = np.zeros(BINS + 1, dtype=np.int64), np.zeros(BINS + 1, dtype=np.int64)
    fill(low, step, inside, outside)
    hit, false = np.cumsum(inside[::-1])[::-1], np.cumsum(outside[::-1])[::-1]
    best = int(np.argmax(2.0 * hit / (hit + false + hit[0]).clip(1)))  # hit[0] counts all labels that occur
    edge = dtype.type(low + best * step)
    return float(np.nextafter(edge, dtype.type(-np.inf)))


def ranking(Z: np.ndarray, k: int | None = None) -> np.ndarray:
    """Rank the labels of each sample from the highest score down; ties by number.

    Parameters
    ----------
    Z
        scores (n, m).
    k
        number of labels per sample; ``None``: all.

    Returns
    -------
    np.ndarray
        numbers of the labels, (n, k).

    Raises
    ------
    ValueError
        unless 1 ≤ k ≤ m.
    """
    m = Z.shape[1]
    if k is not None and not (int(k) == k and 1 <= k <= m):
        raise ValueError(f"k is {k!r}; allowed: 1 to {m}, the number of labels")
    return np.argsort(-Z, axis=1, kind="stable")[:, : k if k is None else int(k)]


def watched(part: str, Z: np.ndarray, y: np.ndarray, threshold: float | None) -> dict[str, Any]:
    """Return the fields of an event about predictions on one part of the data.

    Parameters
    ----------
    part
        ``"train"`` or ``"test"``.
    Z
        scores (n, m).
    y
        classes (n,), or an indicator (n, m).
    threshold
        of label sets, else ``None``.

    Returns
    -------
    dict[str, Any]
        fields and values.
    """
    if y.ndim == 1:
        return {f"{part}_accuracy": accuracy(Z, y)}
    assert threshold is not None
    found = set_measures(Z, y, threshold)
    return {f"{part}_{name}": getattr(found, name) for name in WATCHED}


def best_of(W: Any, design: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k best labels of each sample under sparse weights, ties by number.

    They are those of a dense row of scores, but a sample costs only the non-zeros of W for its features: no array of
    samples by labels is made.

    Parameters
    ----------
    W
        weights (d, m), CSR.
    design
        the samples, a :class:`sparsescope.inputs.design.Design`.
    k
        number of labels per sample.

    Returns
    -------
    tuple[np.ndarray, np.ndarray]
        labels (n, k), int32, and scores (n, k).

    Raises
    ------
    ValueError
        unless 1 ≤ k ≤ m.
    """
    m = W.shape[1]
    if not (int(k) == k and 1 <= k <= m):
        raise ValueError(f"k is {k!r}; allowed: 1 to {m}, the number of labels")
    labels, scores = np.empty((design.n, int(k)), dtype=np.int32), np.empty((design.n, int(k)))
    best_labels(design.sparse_samples, design.n, *csr_parts(W), scratch(m, 1, 0), labels, scores)
    return labels, scores


def labels_over(W: Any, design: Any, threshold: float) -> scipy.sparse.csr_array:
    """Return the labels of each sample that score above a threshold under sparse weights.

    Parameters
    ----------
    W
        weights (d, m), CSR.
    design
        a :class:`sparsescope.inputs.design.Design`.
    threshold
        the threshold.

    Returns
    -------
    scipy.sparse.csr_array
        indicator (n, m), CSR, uint8, labels in order.
    """
    given, s = (design.sparse_samples, design.n, *csr_parts(W)), scratch(W.shape[1], 1, 0)
    indptr, labels = np.zeros(design.n + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    labels_above(*given, float(threshold), s, indptr, labels, False)
    np.cumsum(indptr, out=indptr)
    labels = np.empty(indptr[-1], dtype=np.int32)
    labels_above(*given, float(threshold), s, indptr, labels, True)
    found = scipy.sparse.csr_array((np.ones(labels.size, dtype=np.uint8), labels, indptr), shape=(design.n, W.shape[1]))
    found.sort_indices()
    return found


def ranked(part: str, W: Any, design: Any, targets: Any, threshold: float | None) -> dict[str, Any]:
    """Return the fields of an event like :func:`watched`, for sparse weights.

    Parameters
    ----------
    part
        ``"train"`` or ``"test"``.
    W
        weights (d, m), CSR.
    design
        the samples, a :class:`sparsescope.inputs.design.Design`.
    targets
        classes (n,), or label lists.
    threshold
        of label sets, else ``None``.

    Returns
    -------
    dict[str, Any]
        fields and values.
    """
    if not isinstance(targets, LabelSets):
        return {f"{part}_accuracy": float((best_of(W, design, 1)[0][:, 0] == targets).mean())}
    assert threshold is not None
    found = sparse_set_measures(W, design, targets, threshold)
    return {f"{part}_{name}": getattr(found, name) for name in WATCHED}
