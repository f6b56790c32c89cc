"""Fully-corrective block-coordinate Frank–Wolfe for the worst-pair hinges (Yen et al. 2016, Alg. 1).

The dual point of sample i is α_ip ≥ 0 for its labels p and −a_ik, a_ik ≥ 0, for the labels k of its active set, with
equal sums t ≤ C; v = Xᵀα and w = S(v, λ₄), by feature (kernels/sparse_rows.py). Row j of W is kept in ``parts`` rows:
label k is in row j·parts + (k mod parts), so that a search may look at one part of the labels.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel, lean, struct
from ..jit.prefetching import prefetch
from .amounts import amount_of
from .sparse_rows import (
    BITS,
    FRONT,
    ORDERED,
    SCAN,
    SIZE,
    START,
    WIDTH,
    add,
    add_listed,
    bits_for,
    find,
    grow_ordered,
    leave_block,
    ordered,
    place,
    shrunk,
    take_block,
)
from .two_sides import balance

whole = lean(forceinline=False)
small = lean()

FEW_LABELS = 64  # with at most this number of scores, reading all is cheaper than a list
AHEAD, NEXT = 16, 4  # features of a sample whose rows are requested before they are needed: heads, entries
LONG = 12  # a row with at most this number of entries per requested label is scanned, not searched
# What a sweep reports, by position.
# entries read by searches, and to score blocks; entries changed; slots that lacked
SEARCHED, SCORED, UPDATED, NEEDED, NEEDED_ACTIVE = 0, 1, 2, 3, 4
REPORT = 5


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


# ------------------------------------------------------------------------------------------------------------ searching
@small
def add_row(rows, r, x, threshold, listed, count, s):  # type: ignore[no-untyped-def]
    """scores += x·w for the non-zeros w of a row; new labels go on the list if there is one. Returns its length."""
    start = np.uintp(rows.head[r, START])
    if ordered(rows, r):  # where there is such a row, no list is kept: it is as long as there are labels
        for k in range(np.uintp(rows.used[WIDTH])):
            s.scores[k] += x * rows.values[start + k]
        return count
    for e in range(rows.head[r, FRONT]):
        p = start + np.uintp(e)
        k = rows.labels[p]
        if listed and s.seen[k] != s.tick[0]:
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
    listed = m > FEW_LABELS and m > read
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


# ------------------------------------------------------------------------------------------------------------- updating
@whole
def lacking(samples, i, rows, parts, most):  # type: ignore[no-untyped-def]
    """Slots that the pool lacks for sample i, if each of its rows gets up to ``most`` labels more; 0: there is room."""
    left = rows.labels.size - rows.used[0]
    need = np.int64(0)
    for p in range(samples.start(i), samples.stop(i)):
        begin = np.intp(samples.row(p, i) * parts)
        for r in range(begin, begin + parts):
            if ordered(rows, r):
                continue
            size = rows.head[r, SIZE] + most
            if rows.head[r, BITS] < 0 or size > (1 << rows.head[r, BITS]):
                need += np.int64(2) << bits_for(size)  # it may grow step by step, and leaves its smaller blocks
    return need - left if need > left else np.int64(0)


@whole
def apply(samples, i, rows, parts, labels, moves, count, threshold, fixed, s):  # type: ignore[no-untyped-def]
    """v_jk += x_ij·moves for the listed labels and the features of sample i; ``fixed``: only where v has an entry."""
    for q in range(parts):
        s.share[q] = 0
    for e in range(count):
        s.move[labels[e]] = moves[e]
        s.share[labels[e] % parts] += 1
    for p in range(samples.start(i), samples.stop(i)):
        x = np.float64(samples.entry(p, i))
        for q in range(parts if x != 0.0 else 0):
            r = np.intp(samples.row(p, i) * parts + q)
            grow_ordered(rows, r, count)
            if ordered(rows, r):
                start = np.int64(rows.head[r, START])
                for e in range(count):
                    slot = start + labels[e]
                    if not fixed or rows.values[slot] != 0.0:
                        rows.values[slot] += x * moves[e]
                continue
            there = 0
            if rows.head[r, SIZE] <= LONG * s.share[q]:
                there = add_listed(rows, r, x, s.move, threshold)
                if fixed:
                    continue
            if there == s.share[q]:
                continue
            for e in range(count):
                # A row that was walked through has what it had; of one that was not, all entries are still to be added.
                k = labels[e]
                if k % parts == q and ((there == 0 and not fixed) or (find(rows, r, k) >= 0) == fixed):
                    add(rows, r, k, x * moves[e], threshold)
    for e in range(count):
        s.move[labels[e]] = 0.0


@whole
def keep(active, i, labels, values, size):  # type: ignore[no-untyped-def]
    """Row i of the active sets ← the labels with a value above 0."""
    count = 0
    for e in range(size):
        count += values[e] > 0.0
    bits = active.head[i, BITS]
    if count == 0:
        if bits >= 0:
            leave_block(active, np.int64(active.head[i, START]), bits)
            active.head[i, BITS] = -1
    elif bits < 0 or count > (1 << bits):
        if bits >= 0:
            leave_block(active, np.int64(active.head[i, START]), bits)
        bits = bits_for(count)
        active.head[i, START] = np.int32(take_block(active, bits))
        active.head[i, BITS] = np.int32(bits)
    at = np.int64(active.head[i, START])
    for e in range(size):
        if values[e] > 0.0:
            active.labels[at] = labels[e]
            active.values[at] = values[e]
            at += 1
    active.head[i, SIZE] = np.int32(count)


# ----------------------------------------------------------------------------------------------------------- the passes
@whole
def prepare(
    samples,
    i,
    square,
    rows,
    parts,
    wanted,
    rate,
    indptr,
    targets,
    alpha,
    active,  # type: ignore[no-untyped-def]
    margin,
    threshold,
    s,
    report,
):
    """The block of sample i: its labels, a and (score + μ)/Q + a, in s.labels, s.old, s.b; α − score/Q of its
    labels in s.c. Up to ``wanted`` labels join the active ones (0: no search). Returns the size of the block."""
    first, last = indptr[i], indptr[i + 1]
    size = np.int64(active.head[i, SIZE])  # one kind of whole number, so that what takes it is compiled once
    start = np.int64(active.head[i, START])
    for e in range(size):
        s.labels[e] = active.labels[start + e]
        s.old[e] = active.values[start + e]
    exact = False
    count = -1
    if wanted > 0:
        q = np.int64(draw(s.random) * parts) if parts > 1 else np.int64(0)
        if q == parts:
            q = np.int64(parts - 1)
        stored = samples.stop(i) - samples.start(i)
        draws = (stored + rate - 1) // rate if rate > 1 else 0
        count, read = search(samples, i, rows, parts, q, draws, threshold, s)
        report[SEARCHED] += read
        for e in range(size):
            s.mark[s.labels[e]] = s.tick[0]
        for e in range(first, last):
            s.mark[targets[e]] = s.tick[0]
        for e in range(choose(count, parts, q, wanted, s)):
            s.labels[size] = s.found[e]
            s.old[size] = 0.0
            size += 1
        exact = parts == 1 and draws == 0
    if size == 0:
        return size
    if not exact:
        report[SCORED] += score_block(samples, i, rows, parts, targets, first, last, size, threshold, s)
    set_all = not exact or count < 0
    for e in range(size):
        k = s.labels[e]
        score = s.scores[k] if set_all or s.seen[k] == s.tick[0] else 0.0
        s.b[e] = (score + margin) / square + s.old[e]
    for e in range(last - first):
        k = targets[first + e]
        score = s.scores[k] if set_all or s.seen[k] == s.tick[0] else 0.0
        s.c[e] = alpha[first + e] - score / square
    return size


@whole
def all_of(i, first, last, targets, alpha, active, s):  # type: ignore[no-untyped-def]
    """The non-zero duals of sample i in s.best, their labels in s.found; returns how many they are."""
    count = 0
    for e in range(first, last):
        if alpha[e] != 0.0:
            s.found[count] = targets[e]
            s.best[count] = alpha[e]
            count += 1
    start = np.int64(active.head[i, START])
    for p in range(start, start + active.head[i, SIZE]):
        s.found[count] = active.labels[p]
        s.best[count] = -active.values[p]
        count += 1
    return count


@kernel
def sweep(
    samples,
    squares,
    order,
    begin,
    parts,
    wanted,
    rate,
    fixed,
    anew,
    indptr,
    targets,
    alpha,
    active,
    rows,
    most,
    margin,
    threshold,
    s,
    gains,
    report,
):
    """Frank–Wolfe steps for the samples order[begin:], one after the other; returns where it stopped for want of room.

    samples : X by rows · squares (n,): Q_i = ‖x_i‖² · parts, wanted, rate : parts of the labels, of which one is
    searched a step; labels that may join a block (0: no search); features per drawn one · fixed : v keeps the
    entries that it has, and all others stay zero (post-solve) · anew : instead of steps, v (empty at first) gets what
    the dual points of the samples are; entries that are 0, or what is left of 0 after many small sums, are gone then ·
    indptr, targets : the labels of each sample, alpha their duals · active : the other duals a · rows : v = Xᵀα · most
    : C, or ω_i·C (n,) · margin : μ · threshold : λ₄ · gains (n,): ‖x_i‖²·‖move of α_i‖², twice what a step gains at
    least · report : see above, added to. O(entries read + nnz(x_i)·|block|) a step.
    """
    m = s.scores.size
    width = np.int64(4) << bits_for(m)
    for t in range(begin, order.size):
        i = order[t]
        first, last = indptr[i], indptr[i + 1]
        own = last - first
        size, moved, path = np.int64(0), 0, 0.0
        if anew:
            moved = all_of(i, first, last, targets, alpha, active, s)
        else:
            gains[i] = 0.0
            if squares[i] == 0.0 or own == 0 or own == m:
                continue
            size = prepare(
                samples,
                i,
                squares[i],
                rows,
                parts,
                wanted,
                rate,
                indptr,
                targets,
                alpha,
                active,
                margin,
                threshold,
                s,
                report,
            )
            if size == 0:
                continue
            balance(s.b[:size], s.c[:own], amount_of(most, i), s.best[:size], s.scores[:own])
            for e in range(size + own):
                k = s.labels[e] if e < size else targets[first + e - size]
                delta = s.old[e] - s.b[e] if e < size else s.c[e - size] - alpha[first + e - size]
                if delta != 0.0:
                    s.found[moved] = k
                    s.best[moved] = delta
                    path += delta * delta
                    moved += 1
        if moved == 0:
            continue
        stored = samples.stop(i) - samples.start(i)
        if rows.labels.size - rows.used[0] < stored * parts * width:
            report[NEEDED] = lacking(samples, i, rows, parts, moved)
        if not anew and active.labels.size - active.used[0] < (np.int64(1) << bits_for(size)):
            report[NEEDED_ACTIVE] = np.int64(1) << bits_for(size)
        if report[NEEDED] > 0.0 or report[NEEDED_ACTIVE] > 0.0:
            return t
        if not anew:
            gains[i] = squares[i] * path
            for e in range(own):
                alpha[first + e] = s.c[e]
            keep(active, i, s.labels, s.b, size)
            report[UPDATED] += stored * moved
        apply(samples, i, rows, parts, s.found, s.best, moved, threshold, fixed, s)
    return order.size
