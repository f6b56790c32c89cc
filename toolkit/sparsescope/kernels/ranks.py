"""Passes over scores and label sets: how well labels are ranked, and where to cut the ranking."""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel

DEPTHS = (1, 3, 5)  # the k of precision@k
DEEPEST = 5
# What :func:`rank_sums` adds up, by position.
HITS_1, HITS_3, HITS_5, MISORDERED, EXACT, WRONG = 0, 1, 2, 3, 4, 5
SUMS = 6


@kernel
def rank_sums(Z, Y, threshold, sums, counts):
    """Sums over samples of scores Z (n, m) against label sets Y (n, m).

    ``sums`` (6,): labels of the set among the 1, 3 and 5 best (the first of equal scores counts as better), share of
    pairs of a label in the set and one off it that are not in order (ties are not), sets met exactly by the labels
    that score above the threshold, labels decided wrongly. ``counts`` (3, m): true positives, false positives, false
    negatives of each label at the threshold.
    """
    n, m = Z.shape
    depth = min(DEEPEST, m)
    best = np.empty(depth, dtype=np.int64)
    sums[:] = 0.0
    counts[:] = 0
    for i in range(n):
        z, y = Z[i], Y[i]
        found = 0
        size = 0
        wrong = 0
        for r in range(m):
            inside = y[r] != 0
            size += inside
            if z[r] > threshold:
                if inside:
                    counts[0, r] += 1
                else:
                    counts[1, r] += 1
                    wrong += 1
            elif inside:
                counts[2, r] += 1
                wrong += 1
            if found < depth or z[r] > z[best[found - 1]]:
                place = found if found < depth else depth - 1
                while place > 0 and z[r] > z[best[place - 1]]:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = r
                found = min(found + 1, depth)
        for place in range(depth):
            if y[best[place]] != 0:
                sums[HITS_5] += 1.0
                if place < 3:
                    sums[HITS_3] += 1.0
                if place < 1:
                    sums[HITS_1] += 1.0
        if wrong == 0:
            sums[EXACT] += 1.0
        sums[WRONG] += wrong
        if 0 < size < m:
            behind = 0
            for p in range(m):
                if y[p] != 0:
                    for r in range(m):
                        if z[r] >= z[p]:
                            behind += 1 - y[r]
            sums[MISORDERED] += behind / (size * (m - size))


@kernel
def score_range(Z, Y):
    """The lowest score of a label in its set, and the highest of one off it (±inf if there is none)."""
    low, high = np.inf, -np.inf
    for i in range(Z.shape[0]):
        for r in range(Z.shape[1]):
            if Y[i, r] != 0:
                low = min(low, Z[i, r])
            else:
                high = max(high, Z[i, r])
    return low, high


@kernel
def score_histogram(Z, Y, low, step, inside, outside):
    """Count scores from ``low`` on, in bins of width ``step`` of which the last is open: of labels in their sets and
    of labels off them."""
    last = inside.size - 1
    for i in range(Z.shape[0]):
        for r in range(Z.shape[1]):
            above = Z[i, r] - low
            if above >= 0.0:
                place = last if above >= last * step else int(above / step)
                if Y[i, r] != 0:
                    inside[place] += 1
                else:
                    outside[place] += 1
