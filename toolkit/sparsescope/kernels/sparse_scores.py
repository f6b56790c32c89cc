"""Scores and losses under a sparse W (CSR by features), a sample at a time: no array of samples by labels is made."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit.parts import kernel, lean
from .amounts import amount_of
from .label_search import ALL, STRETCH, above

whole = lean(forceinline=False)
small = lean()


def csr_parts(W: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr (int64), indices (int32) and data of a CSR matrix as kernels take them: writable, so that they are
    compiled for one type of array only; copied where they are not."""
    found = (W.indptr.astype(np.int64), W.indices.astype(np.int32, copy=False), W.data)
    return tuple(a if a.flags.writeable else a.copy() for a in found)  # type: ignore[return-value]


@whole
def reads(samples, i, w_indptr):  # type: ignore[no-untyped-def]
    """Entries of W in the rows of the features of sample i."""
    found = np.int64(0)
    for p in range(samples.start(i), samples.stop(i)):
        j = samples.row(p, i)
        found += w_indptr[j + np.uintp(1)] - w_indptr[j]
    return found


@whole
def all_scores(samples, i, w_indptr, w_indices, w_data, s):  # type: ignore[no-untyped-def]
    """s.scores ← the scores of all labels at sample i."""
    for k in range(s.scores.size):
        s.scores[k] = 0.0
    for p in range(samples.start(i), samples.stop(i)):
        x = np.float64(samples.entry(p, i))
        j = samples.row(p, i)
        for e in range(w_indptr[j], w_indptr[j + np.uintp(1)]):
            s.scores[np.uintp(w_indices[np.uintp(e)])] += x * w_data[np.uintp(e)]


@whole
def sparse_scores(samples, i, w_indptr, w_indices, w_data, s):  # type: ignore[no-untyped-def]
    """Scores of sample i under a sparse W, and the list of labels that have one; returns its length. Where the list
    would be long it holds all labels, and is not looked into while the scores are added up."""
    s.tick[0] += 1
    m = s.scores.size
    if ALL * reads(samples, i, w_indptr) > m:
        all_scores(samples, i, w_indptr, w_indices, w_data, s)
        for k in range(m):
            s.seen[k] = s.tick[0]
            s.touched[k] = k
        return m
    return listed_scores(samples, i, w_indptr, w_indices, w_data, s)


@whole
def listed_scores(samples, i, w_indptr, w_indices, w_data, s):  # type: ignore[no-untyped-def]
    """Scores of sample i, and the list of labels that have one; returns its length."""
    count = 0
    for p in range(samples.start(i), samples.stop(i)):
        x = np.float64(samples.entry(p, i))
        j = samples.row(p, i)
        for e in range(w_indptr[j], w_indptr[j + np.uintp(1)]):
            k = w_indices[e]
            if s.seen[k] != s.tick[0]:
                s.seen[k] = s.tick[0]
                s.scores[k] = 0.0
                s.touched[count] = k
                count += 1
            s.scores[k] += x * w_data[e]
    return count


@small
def offer_in_order(k, score, wanted, have, s):  # type: ignore[no-untyped-def]
    """Offer a label as :func:`offer` does; of equal scores the lower label comes first."""
    if have == wanted:
        if score < s.best[have - 1] or (score == s.best[have - 1] and k > s.found[have - 1]):
            return have
        have -= 1
    at = have
    while at > 0 and (s.best[at - 1] < score or (s.best[at - 1] == score and s.found[at - 1] > k)):
        s.best[at] = s.best[at - 1]
        s.found[at] = s.found[at - 1]
        at -= 1
    s.best[at] = score
    s.found[at] = k
    return have + 1


@whole
def best_of_sample(count, wanted, s):  # type: ignore[no-untyped-def]
    """s.found, s.best ← the best labels of the sample whose scores are set, falling; all others score 0."""
    have = 0
    for e in range(count):
        k = np.int64(s.touched[e])
        have = offer_in_order(k, s.scores[k], wanted, have, s)
    k, free = np.int64(0), 0
    while k < s.scores.size and free < wanted:
        if s.seen[k] != s.tick[0]:
            have = offer_in_order(k, 0.0, wanted, have, s)
            free += 1
        k += 1


@whole
def best_of_all(wanted, s):  # type: ignore[no-untyped-def]
    """s.found, s.best ← the best labels where the scores of all are set, falling; of equal ones the lowest first."""
    m, have = s.scores.size, 0
    for begin in range(0, m, STRETCH):
        end = min(begin + STRETCH, m)
        if have < wanted or above(s.scores, begin, end, s.best[have - 1]) > 0:
            for k in range(begin, end):
                have = offer_in_order(k, s.scores[k], wanted, have, s)


@kernel
def best_labels(samples, n, w_indptr, w_indices, w_data, s, labels, scores):
    """The best labels of n samples under a sparse W (CSR by features): labels (n, k) int32 and scores (n, k), falling.

    Labels that no feature of the sample has a weight for score 0; of equal scores the lowest number comes first, as in
    a dense row. O(entries read + k) a sample where few are read: then nothing is proportional to the number of labels,
    unless k is.
    """
    wanted = labels.shape[1]
    for i in range(n):
        if ALL * reads(samples, i, w_indptr) > s.scores.size:
            all_scores(samples, i, w_indptr, w_indices, w_data, s)
            best_of_all(wanted, s)
        else:
            s.tick[0] += 1
            best_of_sample(listed_scores(samples, i, w_indptr, w_indices, w_data, s), wanted, s)
        for e in range(wanted):
            labels[i, e] = s.found[e]
            scores[i, e] = s.best[e]


@whole
def ends_of_all(first, last, targets, s):  # type: ignore[no-untyped-def]
    """The lowest score of the sample's own labels, the highest of the others, and the first label that has it, where
    the scores of all are set; its own are marked."""
    low, top, at = np.inf, -np.inf, np.int64(-1)
    for e in range(first, last):
        k = targets[e]
        s.mark[k] = s.tick[0]
        low = min(low, s.scores[k])
    m = s.scores.size
    for begin in range(0, m, STRETCH):
        end = min(begin + STRETCH, m)
        if above(s.scores, begin, end, top) > 0:
            for k in range(begin, end):
                if s.scores[k] > top and s.mark[k] != s.tick[0]:
                    top, at = s.scores[k], np.int64(k)
    return low, top, at


@whole
def ends_of_list(count, first, last, targets, s):  # type: ignore[no-untyped-def]
    """The same where the labels with a score are listed and all others have 0; the label is found only where both
    scores are equal."""
    low, top, at = np.inf, -np.inf, np.int64(-1)
    others = s.scores.size - count  # labels that no feature has a weight for, and that are not the sample's own
    for e in range(first, last):
        k = targets[e]
        s.mark[k] = s.tick[0]
        scored = s.seen[k] == s.tick[0]
        others -= not scored
        low = min(low, s.scores[k] if scored else 0.0)
    top = 0.0 if others > 0 else -np.inf
    for e in range(count):
        k = s.touched[e]
        if s.mark[k] != s.tick[0] and s.scores[k] > top:
            top = s.scores[k]
    if low == top:
        best_of_sample(count, 1, s)
        at = np.int64(s.found[0])
    return low, top, at


@kernel
def hinge_sum(samples, w_indptr, w_indices, w_data, indptr, targets, margin, slack, weights, s, begin, end):
    """Σ_i ω_i·max(0, μ + the highest score off Y_i − the lowest in Y_i) over the samples begin…end, how many hinges are
    above ``slack``, and how many samples have one label that ranks first (of equal scores the lowest number). weights :
    ω, (1,) or (n,)."""
    m = s.scores.size
    total, active, right = 0.0, 0, 0
    for i in range(begin, end):
        first, last = indptr[i], indptr[i + 1]
        if first == last or last - first == m:
            continue
        s.tick[0] += 1
        if ALL * reads(samples, i, w_indptr) > m:
            all_scores(samples, i, w_indptr, w_indices, w_data, s)
            low, top, at = ends_of_all(first, last, targets, s)
        else:
            count = listed_scores(samples, i, w_indptr, w_indices, w_data, s)
            low, top, at = ends_of_list(count, first, last, targets, s)
        hinge = max(margin + top - low, 0.0)
        total += amount_of(weights, i) * hinge
        active += hinge > slack
        right += last - first == 1 and (low > top or (low == top and targets[first] <= at))
    return total, active, right
