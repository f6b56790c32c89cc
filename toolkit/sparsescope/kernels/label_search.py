"""Search for the labels with the largest scores of one sample, and exact scores of a few of them.

For the Frank–Wolfe sweeps (frank_wolfe.py): W is kept by feature, in sparse rows (sparse_rows.py).
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import lean, struct
from ..jit.prefetching import prefetch
from .sparse_rows import BITS, FRONT, ORDERED, SCAN, START, WIDTH, find, ordered, place, shrunk

whole = lean(forceinline=False)
small = lean()

FEW_LABELS = 64  # with at most this number of scores, reading all is cheaper than a list
# With more entries to read than one for each so many labels, setting all scores is cheaper than a list, too (measured
# with 1e4 and 1e5 labels: a list costs two more places in memory for every entry).
ALL = 8
AHEAD, NEXT = 16, 4  # features of a sample whose rows are requested before they are needed: heads, entries
LONG = 12  # a row with at most this number of entries per requested label is scanned, not searched
# Scores of which those above a bar are counted, which is vectorised as a maximum is not, before they are looked at.
STRETCH = 64


@struct
class Scratch:
    """Scratch of a sweep.

    scores (m,) float64 · seen, mark (m,) int64: the tick at which a score was set, and a label ruled out · touched (m,)
    int32: labels whose scores are set · tick (1,) int64 · labels (m,) int32, old, b, c (m,) float64: the block ·
    found (m,) int32, best (m,) float64: candidates · move (m,) float64, zero between uses: what is added to v · share
    (parts,) int64: how many moves each part has · random (1,) uint64
    """

    scores: np.ndarray
    seen: np.ndarray
    mark: np.ndarray
    touched: np.ndarray
    tick: np.ndarray
    labels: np.ndarray
    old: np.ndarray
    b: np.ndarray
    c: np.ndarray
    found: np.ndarray
    best: np.ndarray
    move: np.ndarray
    share: np.ndarray
    random: np.ndarray


def scratch(m: int, parts: int, seed: int) -> Scratch:
    """Scratch arrays for m labels in parts."""
    return Scratch(
        np.zeros(m),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int32),  # type: ignore[call-arg]
        np.zeros(1, np.int64),
        np.zeros(m, np.int32),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m, np.int32),
        np.zeros(m),
        np.zeros(m),
        np.zeros(parts, np.int64),
        np.array([seed], np.uint64),
    )


@small
def draw(state):  # type: ignore[no-untyped-def]
    """The next number in [0, 1) of a linear congruential generator (Knuth's MMIX constants), by its upper 53 bits."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.float64(state[0] >> np.uint64(11)) / 9007199254740992.0


@small
def add_row(rows, r, x, threshold, listed, count, s):  # type: ignore[no-untyped-def]
    """scores += x·w for the non-zeros w of a row; new labels go on the list if there is one. Returns its length."""
    start = np.uintp(rows.head[r, START])
    if ordered(rows, r):  # where there is such a row, no list is kept: it is as long as there are labels
        for k in range(np.uintp(rows.used[WIDTH])):
            s.scores[k] += x * rows.values[start + k]
        return count
    if not listed:
        for slot in range(start, start + np.uintp(rows.head[r, FRONT])):
            s.scores[np.uintp(rows.labels[slot])] += x * shrunk(rows.values[slot], threshold)
        return count
    for e in range(rows.head[r, FRONT]):
        p = start + np.uintp(e)
        k = rows.labels[p]
        if s.seen[k] != s.tick[0]:
            s.seen[k] = s.tick[0]
            s.scores[k] = 0.0
            s.touched[count] = k
            count += 1
        s.scores[k] += x * shrunk(rows.values[p], threshold)
    return count


@whole
def search(samples, i, rows, parts, q, draws, threshold, s):  # type: ignore[no-untyped-def]
    """Scores of the labels of part q at sample i: from all its features (``draws`` 0) or from ``draws`` random ones.

    Features are drawn with probability |x_ij|/‖x_i‖₁, one from each of ``draws`` equal stretches of ‖x_i‖₁, and each
    counts ‖x_i‖₁·sign(x_ij)/draws: the mean of the scores is right (Yen et al. 2016, Eq. 25). (Draws at even
    distances from one random start would meet few combinations of features only.) Returns the number of labels
    on the list, or −1 if the scores of all labels are set, and the number of entries read.
    """
    s.tick[0] += 1
    first, last = samples.start(i), samples.stop(i)
    m = s.scores.size
    read = 0
    if m > FEW_LABELS:
        for p in range(first, min(first + AHEAD, last)):
            prefetch(rows.head, 4 * (np.intp(samples.row(p, i)) * parts + q))
        for p in range(first, last):
            if p + AHEAD < last:
                prefetch(rows.head, 4 * (np.intp(samples.row(p + AHEAD, i)) * parts + q))
            read += rows.head[np.intp(samples.row(p, i) * parts + q), FRONT]
    if draws > 0:
        read = read * draws // max(last - first, 1)
    listed = m > FEW_LABELS and m > ALL * read
    if not listed:
        for k in range(q, m, parts):
            s.scores[k] = 0.0
    count, read = 0, 0
    total, step, next_one = 0.0, 0.0, 0.0
    if draws > 0:
        for p in range(first, last):
            total += abs(samples.entry(p, i))
        step = total / draws
        next_one = draw(s.random) * step
    behind, stretch = 0.0, 1
    for p in range(first, last):
        x = np.float64(samples.entry(p, i))
        if p + NEXT < last and draws == 0:
            here = np.int64(rows.head[np.intp(samples.row(p + NEXT, i) * parts + q), START])
            prefetch(rows.labels, here)
            prefetch(rows.values, here)
        if draws > 0:
            behind += abs(x)
            drawn = 0
            while next_one < behind:
                next_one = (stretch + draw(s.random)) * step if stretch < draws else np.inf
                stretch += 1
                drawn += 1
            x = np.copysign(step * drawn, x)
        if x != 0.0:
            r = np.intp(samples.row(p, i) * parts + q)
            count = add_row(rows, r, x, threshold, listed, count, s)
            read += rows.head[r, FRONT]
    return (count if listed else -1), read


@small
def above(scores, begin, end, bar):  # type: ignore[no-untyped-def]
    """Count the scores begin…end that are above a bar."""
    found = 0
    for k in range(np.uintp(begin), np.uintp(end)):
        found += scores[k] > bar
    return found


@small
def offer(k, score, wanted, have, s):  # type: ignore[no-untyped-def]
    """Put a label among the ``wanted`` best, which are in falling order. Returns how many there are."""
    if have == wanted:
        if score <= s.best[have - 1]:
            return have
        have -= 1
    at = have
    while at > 0 and s.best[at - 1] < score:
        s.best[at] = s.best[at - 1]
        s.found[at] = s.found[at - 1]
        at -= 1
    s.best[at] = score
    s.found[at] = k
    return have + 1


@whole
def choose(count, parts, q, wanted, s):  # type: ignore[no-untyped-def]
    """The ``wanted`` labels of part q with the largest scores among those that are not marked; returns how many.

    Labels whose scores are not set score 0: one of them takes part where fewer are found, or the worst one is below 0.
    """
    m = s.scores.size
    tick = s.tick[0]
    have = 0
    if count < 0 and parts == 1:
        for begin in range(0, m, STRETCH):
            end = min(begin + STRETCH, m)
            if have == wanted and above(s.scores, begin, end, s.best[have - 1]) == 0:
                continue
            for k in range(begin, end):
                if s.mark[k] != tick:
                    have = offer(k, s.scores[k], wanted, have, s)
        return have
    if count < 0:
        for k in range(q, m, parts):
            if s.mark[k] != tick:
                have = offer(k, s.scores[k], wanted, have, s)
        return have
    for e in range(count):
        label = np.int64(s.touched[e])
        if s.mark[label] != tick:
            have = offer(label, s.scores[label], wanted, have, s)
    if have < wanted or s.best[have - 1] < 0.0:
        size = (m - q + parts - 1) // parts
        at = np.int64(draw(s.random) * size)
        if at == size:
            at = np.int64(size - 1)
        for _ in range(size):
            k = q + at * parts
            if s.seen[k] != tick and s.mark[k] != tick:
                return offer(k, 0.0, wanted, have, s)
            at = at + 1 if at + 1 < size else np.int64(0)
    return have


@small
def request(rows, r, targets, first, size, block, s):  # type: ignore[no-untyped-def]
    """Request the memory in which the labels of a block stand in row r, or are looked up."""
    start, bits = np.int64(rows.head[r, START]), rows.head[r, BITS]
    if rows.head[r, FRONT] <= LONG * block:
        prefetch(rows.labels, start)
        prefetch(rows.values, start)
        prefetch(rows.values, start + 8)
    if bits > SCAN:
        for e in range(block):
            k = s.labels[e] if e < size else targets[first + e - size]
            if bits >= ORDERED:
                prefetch(rows.values, start + k)
            else:
                prefetch(rows.table, 2 * start + place(k, bits))


@whole
def score_block(samples, i, rows, parts, targets, first, last, size, threshold, s):  # type: ignore[no-untyped-def]
    """Exact scores of the labels of the block and of the sample's own, in s.scores (those of other labels are of no
    use afterwards): short rows are added as they are, in long ones each label is looked up. Returns what was read."""
    block = size + last - first
    read = 0
    for e in range(block):
        s.scores[s.labels[e] if e < size else targets[first + e - size]] = 0.0
    begin, end = samples.start(i), samples.stop(i)
    for p in range(begin, min(begin + AHEAD, end)):
        prefetch(rows.head, 4 * np.intp(samples.row(p, i) * parts))
    for p in range(begin, end):
        x = np.float64(samples.entry(p, i))
        if p + AHEAD < end:
            prefetch(rows.head, 4 * np.intp(samples.row(p + AHEAD, i) * parts))
        if p + NEXT < end:
            request(rows, np.intp(samples.row(p + NEXT, i) * parts), targets, first, size, block, s)
        for q in range(parts if x != 0.0 else 0):
            r = np.intp(samples.row(p, i) * parts + q)
            if ordered(rows, r):
                start = np.int64(rows.head[r, START])
                for e in range(block):
                    k = np.int64(s.labels[e] if e < size else targets[first + e - size])
                    s.scores[k] += x * rows.values[start + k]
                read += block
                continue
            if rows.head[r, FRONT] <= LONG * block:
                add_row(rows, r, x, threshold, False, 0, s)
                read += rows.head[r, FRONT]
                continue
            read += block
            for e in range(block):
                k = s.labels[e] if e < size else targets[first + e - size]
                if k % parts == q:
                    at = find(rows, r, k)
                    if at >= 0 and abs(rows.values[at]) > threshold:
                        s.scores[k] += x * shrunk(rows.values[at], threshold)
    return read
