"""Fully-corrective block-coordinate Frank–Wolfe for the worst-pair hinges (Yen et al. 2016, Alg. 1).

The dual point of sample i is α_ip ≥ 0 for its labels p and −a_ik, a_ik ≥ 0, for the labels k of its active set, with
equal sums t ≤ C; v = Xᵀα and w = S(v, λ₄), by feature (kernels/sparse_rows.py). Row j of W is kept in ``parts`` rows:
label k is in row j·parts + (k mod parts), so that a search may look at one part of the labels.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel, lean
from .amounts import amount_of
from .label_search import LONG, choose, draw, score_block, search
from .sparse_rows import (
    BITS,
    SIZE,
    START,
    add,
    add_listed,
    bits_for,
    find,
    grow_ordered,
    leave_block,
    ordered,
    take_block,
)
from .two_sides import balance

whole = lean(forceinline=False)

# What a sweep reports, by position.
# entries read by searches, and to score blocks; entries changed; slots that lacked
SEARCHED, SCORED, UPDATED, NEEDED, NEEDED_ACTIVE = 0, 1, 2, 3, 4
REPORT = 5


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
    : C (1,), or ω_i·C (n,) · margin : μ · threshold : λ₄ · gains (n,): ‖x_i‖²·‖move of α_i‖², twice what a step gains
    at least · report : see above, added to. O(entries read + nnz(x_i)·|block|) a step.
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
