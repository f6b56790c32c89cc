"""Passes over the scores of a sparse W and label lists: as in ranks.py, without an array of samples by labels.

The labels of sample i are targets[indptr[i]:indptr[i + 1]]. A label that no feature of the sample has a weight for
scores 0; such labels are counted, not walked through.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel, lean
from .ranks import DEEPEST, EXACT, HITS_1, HITS_3, HITS_5, MISORDERED, WRONG
from .sparse_scores import best_of_sample, sparse_scores

whole = lean(forceinline=False)
# Rows of the counts of :func:`sparse_rank_sums`.
TRUE, FALSE, MISSED, SCORED, UNSCORED = 0, 1, 2, 3, 4
COUNTS = 5


@whole
def mark_own(first, last, targets, s):  # type: ignore[no-untyped-def]
    """Mark a sample's own labels; those without a score get the score 0. Returns how many these are."""
    without = 0
    for e in range(first, last):
        k = targets[e]
        s.mark[k] = s.tick[0]
        if s.seen[k] != s.tick[0]:
            s.scores[k] = 0.0
            without += 1
    return without


@whole
def pairs_behind(count, first, last, unscored, targets, s):  # type: ignore[no-untyped-def]
    """Pairs of a label of the sample and one off it that are not in order; ``unscored`` labels off it score 0."""
    behind = 0
    for e in range(first, last):
        score = s.scores[targets[e]]
        if score <= 0.0:
            behind += unscored
        for f in range(count):
            k = s.touched[f]
            behind += s.mark[k] != s.tick[0] and s.scores[k] >= score
    return behind


@kernel
def sparse_rank_sums(samples, w_indptr, w_indices, w_data, indptr, targets, threshold, s, sums, counts):
    """Compute :func:`sparsescope.kernels.ranks.rank_sums` for a sparse W (CSR by features).

    ``counts`` (5, m): true positives, false positives and false negatives among the labels that have a score, then how
    many samples have a score for the label, and how many have the label and no score. O(entries read + |Y_i|·labels
    with a score) a sample.
    """
    n, m = indptr.size - 1, s.scores.size
    depth = min(DEEPEST, m)
    sums[:] = 0.0
    counts[:] = 0
    for i in range(n):
        first, last = indptr[i], indptr[i + 1]
        count = sparse_scores(samples, i, w_indptr, w_indices, w_data, s)
        without = mark_own(first, last, targets, s)
        unscored = m - count - without  # off the set
        wrong = unscored if threshold < 0.0 else without
        for e in range(first, last):
            if s.seen[targets[e]] != s.tick[0]:
                counts[UNSCORED, targets[e]] += 1
        for e in range(count):
            k = s.touched[e]
            counts[SCORED, k] += 1
            if s.mark[k] == s.tick[0]:
                right = s.scores[k] > threshold
                counts[TRUE if right else MISSED, k] += 1
                wrong += not right
            elif s.scores[k] > threshold:
                counts[FALSE, k] += 1
                wrong += 1
        best_of_sample(count, depth, s)
        for place in range(depth):
            if s.mark[s.found[place]] == s.tick[0]:
                sums[HITS_5] += 1.0
                if place < 3:
                    sums[HITS_3] += 1.0
                if place < 1:
                    sums[HITS_1] += 1.0
        sums[EXACT] += wrong == 0
        sums[WRONG] += wrong
        size = last - first
        if 0 < size < m:
            sums[MISORDERED] += pairs_behind(count, first, last, unscored, targets, s) / (size * (m - size))


@kernel
def sparse_score_range(samples, w_indptr, w_indices, w_data, indptr, targets, s):
    """The lowest score of a label in its set, and the highest of one off it (±inf if there is none)."""
    low, high = np.inf, -np.inf
    for i in range(indptr.size - 1):
        count = sparse_scores(samples, i, w_indptr, w_indices, w_data, s)
        without = mark_own(indptr[i], indptr[i + 1], targets, s)
        if s.scores.size > count + without:
            high = max(high, 0.0)
        for e in range(indptr[i], indptr[i + 1]):
            low = min(low, s.scores[targets[e]])
        for e in range(count):
            if s.mark[s.touched[e]] != s.tick[0]:
                high = max(high, s.scores[s.touched[e]])
    return low, high


@whole
def bin_of(score, low, step, last):  # type: ignore[no-untyped-def]
    """The bin of a score, of which the last is open; −1 below the first."""
    above = score - low
    if above < 0.0:
        return -1
    return last if above >= last * step else int(above / step)


@kernel
def sparse_score_histogram(samples, w_indptr, w_indices, w_data, indptr, targets, low, step, s, inside, outside):
    """Count scores from ``low`` on, in bins of width ``step`` of which the last is open: of labels in their sets and
    of labels off them."""
    last = inside.size - 1
    zero = bin_of(0.0, low, step, last)
    for i in range(indptr.size - 1):
        count = sparse_scores(samples, i, w_indptr, w_indices, w_data, s)
        without = mark_own(indptr[i], indptr[i + 1], targets, s)
        if zero >= 0:
            inside[zero] += without
            outside[zero] += s.scores.size - count - without
        for e in range(count):
            k = s.touched[e]
            place = bin_of(s.scores[k], low, step, last)
            if place >= 0:
                if s.mark[k] == s.tick[0]:
                    inside[place] += 1
                else:
                    outside[place] += 1


@kernel
def labels_above(samples, n, w_indptr, w_indices, w_data, threshold, s, indptr, labels, write):
    """The labels that score above the threshold: their number into indptr[i + 1], or (``write``) the labels of sample i
    into labels[indptr[i]:indptr[i + 1]], in no order."""
    m = s.scores.size
    for i in range(n):
        count = sparse_scores(samples, i, w_indptr, w_indices, w_data, s)
        at = indptr[i] if write else np.int64(0)
        for e in range(count):
            if s.scores[s.touched[e]] > threshold:
                if write:
                    labels[at] = s.touched[e]
                at += 1
        if threshold < 0.0:
            if not write:
                at += m - count
            for k in range(m if write else 0):
                if s.seen[k] != s.tick[0]:
                    labels[at] = k
                    at += 1
        if not write:
            indptr[i + 1] = at
