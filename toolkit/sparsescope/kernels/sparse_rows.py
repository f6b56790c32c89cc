"""Rows of a large matrix that hold few entries and grow: what a method keeps that may never make W dense.

All rows share one pool of slots. A row owns a block of 2^bits slots and moves to one twice as large when it is full;
the block it leaves is kept for the next row of that size. Its entries are in no order, except that those of magnitude
above a threshold stand in front: with v = Xᵀα and w = S(v, λ₄) (Yen et al. 2016, Eq. 23) these are the non-zeros of w,
and a search walks over them alone. Rows of more than 16 slots have a table that leads from a label to its entry.

Without a threshold (λ₄ = 0) most rows of frequent features hold nearly all labels. A row whose block has room for all
of them then stands by label, with zeros where it has no entry: there is nothing to look up, and no more memory is used.

A kernel cannot make the pool larger. It requests room before it changes anything, and gives up where there is too
little; who called it makes the pool larger (:func:`grown`) and goes on.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel, lean, struct

# Of a row: its first slot, its entries, those in front, log2 of its slots (−1: it has none).
START, SIZE, FRONT, BITS = 0, 1, 2, 3
SCAN = 4  # rows of at most 2^SCAN slots are searched from end to end
MOST_BITS = 28
LARGEST_POOL = 2**30
ORDERED = 32  # added to the BITS of a row that stands by label
WIDTH = 1  # in ``used``
whole = lean(forceinline=False)
small = lean()


@struct
class SparseRows:
    """Rows of pairs (label, value).

    head : (rows, 4) int32 · labels (slots,) int32, values (slots,) float64 · table (2·slots,) int32: 1 + the position
    of an entry in its row, 0 for none · free (MOST_BITS,) int32: the first free block of each size, −1 for none; a free
    block holds the next one in its first label · used (2,) int64: slots that were ever given to a row, and the number
    of labels of a row that may stand by label (0: none may)
    """

    head: np.ndarray
    labels: np.ndarray
    values: np.ndarray
    table: np.ndarray
    free: np.ndarray
    used: np.ndarray


def empty_rows(rows: int, slots: int) -> SparseRows:
    """Rows without entries, and a pool of at least 16 slots."""
    head = np.zeros((rows, 4), dtype=np.int32)
    head[:, BITS] = -1
    slots = max(int(slots), 16)
    return SparseRows(
        head,
        np.empty(slots, np.int32),
        np.empty(slots),
        np.zeros(2 * slots, np.int32),  # type: ignore[call-arg]
        np.full(MOST_BITS, -1, np.int32),
        np.zeros(2, np.int64),
    )


def grown(rows: SparseRows, slots: int) -> SparseRows:
    """The same rows in a pool of at least ``slots``, and at least half as large again.

    Raises ``MemoryError`` above 2^30 slots, which would take 20 GB.
    """
    now = rows.labels.size
    slots = max(int(slots), now + now // 2)
    if slots > LARGEST_POOL:
        raise MemoryError(f"the sparse weights need {slots} slots, more than 2^30; choose a smaller C or a larger λ₄")
    labels, values = np.empty(slots, np.int32), np.empty(slots)
    table = np.zeros(2 * slots, np.int32)
    labels[:now], values[:now], table[: 2 * now] = rows.labels, rows.values, rows.table
    return SparseRows(rows.head, labels, values, table, rows.free, rows.used)  # type: ignore[call-arg]


def copied(rows: SparseRows) -> SparseRows:
    """An independent copy."""
    return SparseRows(*(array.copy() for array in rows))  # type: ignore[call-arg, attr-defined]


@small
def bits_for(count):  # type: ignore[no-untyped-def]
    """The least b with 2^b ≥ count, at least 1."""
    bits = 1
    while (1 << bits) < count:
        bits += 1
    return bits


@small
def place(label, bits):  # type: ignore[no-untyped-def]
    """Return the first place in a table of 2^(bits+1) places to search for a label (multiplicative hashing; Knuth 1973,
    Sec. 6.4)."""
    return ((np.int64(label) * 2654435769) & 0xFFFFFFFF) >> np.int64(31 - bits)


@small
def ordered(rows, r):  # type: ignore[no-untyped-def]
    """Return whether row r stands by label."""
    return rows.head[r, BITS] >= ORDERED


@whole
def find(rows, r, label):  # type: ignore[no-untyped-def]
    """The slot of a label in row r, or −1."""
    start = np.int64(rows.head[r, START])
    bits = rows.head[r, BITS]
    if bits >= ORDERED:
        return start + label
    if bits <= SCAN:
        for p in range(start, start + rows.head[r, SIZE]):
            if rows.labels[p] == label:
                return p
        return np.int64(-1)
    mask = (np.int64(2) << bits) - 1
    at = place(label, bits)
    while True:
        entry = rows.table[2 * start + at]
        if entry == 0:
            return np.int64(-1)
        p = start + entry - 1
        if rows.labels[p] == label:
            return p
        at = (at + 1) & mask


@whole
def tell(rows, start, bits, p, fresh):  # type: ignore[no-untyped-def]
    """Write into the table of a row where the label of slot p is: at the place it has, or (``fresh``) at the next free
    one."""
    label = rows.labels[p]
    mask = (np.int64(2) << bits) - 1
    at = place(label, bits)
    while True:
        entry = rows.table[2 * start + at]
        if entry == 0 or (not fresh and rows.labels[start + entry - 1] == label):
            break
        at = (at + 1) & mask
    rows.table[2 * start + at] = np.int32(p - start + 1)


@small
def take_block(rows, bits):  # type: ignore[no-untyped-def]
    """The first slot of a block of 2^bits: one that a row left, or the next of the pool."""
    start = np.int64(rows.free[bits])
    if start >= 0:
        rows.free[bits] = rows.labels[start]
    else:
        start = rows.used[0]
        rows.used[0] = start + (np.int64(1) << bits)
    return start


@small
def leave_block(rows, start, bits):  # type: ignore[no-untyped-def]
    """Keep a block for the next row of this size."""
    rows.labels[start] = rows.free[bits]
    rows.free[bits] = np.int32(start)


@whole
def enlarge(rows, r, bits):  # type: ignore[no-untyped-def]
    """Move row r to a block of 2^bits slots, by label if it may stand so and the block has room for that."""
    old, before = np.int64(rows.head[r, START]), rows.head[r, BITS]
    start = take_block(rows, bits)
    size, width = rows.head[r, SIZE], rows.used[WIDTH]
    by_label = width > 0 and (np.int64(1) << bits) >= width
    for k in range(width if by_label else 0):
        rows.labels[start + k] = np.int32(k)
        rows.values[start + k] = 0.0
    for p in range(size):
        to = start + (rows.labels[old + p] if by_label else p)
        rows.labels[to] = rows.labels[old + p]
        rows.values[to] = rows.values[old + p]
    if before >= 0:
        leave_block(rows, old, before)
    if by_label:
        rows.head[r, SIZE] = rows.head[r, FRONT] = np.int32(width)
        bits += ORDERED
    elif bits > SCAN:
        for at in range(2 * start, 2 * start + (np.int64(2) << bits)):
            rows.table[at] = 0
        for p in range(size):
            tell(rows, start, bits, start + p, True)
    rows.head[r, START] = np.int32(start)
    rows.head[r, BITS] = np.int32(bits)


@small
def grow_ordered(rows, r, more):  # type: ignore[no-untyped-def]
    """Store row r by label from now on, if its size with further entries allows it: additions then need no search."""
    if rows.used[WIDTH] > 0 and not ordered(rows, r):
        bits = bits_for(rows.head[r, SIZE] + more)
        if bits > rows.head[r, BITS] and (np.int64(1) << bits) >= rows.used[WIDTH]:
            enlarge(rows, r, bits)


@whole
def swap(rows, start, bits, p, q):  # type: ignore[no-untyped-def]
    """Exchange two entries of a row; the table is updated after both have moved."""
    if p == q:
        return
    label, value = rows.labels[p], rows.values[p]
    if bits > SCAN:
        mask = (np.int64(2) << bits) - 1
        at, other = place(label, bits), place(rows.labels[q], bits)
        while rows.table[2 * start + at] != p - start + 1:
            at = (at + 1) & mask
        while rows.table[2 * start + other] != q - start + 1:
            other = (other + 1) & mask
        rows.table[2 * start + at] = np.int32(q - start + 1)
        rows.table[2 * start + other] = np.int32(p - start + 1)
    rows.labels[p], rows.values[p] = rows.labels[q], rows.values[q]
    rows.labels[q], rows.values[q] = label, value


@whole
def add(rows, r, label, delta, threshold):  # type: ignore[no-untyped-def]
    """Add delta to the entry of a label in row r (0 if it has none), and keep what is above the threshold in front.

    The pool must have room for a block of twice the row's size."""
    p = find(rows, r, label)
    if p < 0:
        size = rows.head[r, SIZE]
        if rows.head[r, BITS] < 0 or size == (1 << rows.head[r, BITS]):
            enlarge(rows, r, bits_for(size + 1))
        p = np.int64(rows.head[r, START]) + (label if ordered(rows, r) else size)
        if not ordered(rows, r):
            rows.labels[p] = label
            rows.values[p] = 0.0
            rows.head[r, SIZE] = size + 1
            if rows.head[r, BITS] > SCAN:
                tell(rows, np.int64(rows.head[r, START]), rows.head[r, BITS], p, True)
    if ordered(rows, r):
        rows.values[p] += delta
        return
    start, front = np.int64(rows.head[r, START]), rows.head[r, FRONT]
    value = rows.values[p] + delta
    rows.values[p] = value
    ahead = p < start + front
    if (abs(value) > threshold) != ahead:
        if ahead:
            swap(rows, start, rows.head[r, BITS], p, start + front - 1)
            rows.head[r, FRONT] = front - 1
        else:
            swap(rows, start, rows.head[r, BITS], p, start + front)
            rows.head[r, FRONT] = front + 1


@whole
def arrange(rows, r, threshold):  # type: ignore[no-untyped-def]
    """Bring what is above the threshold to the front of row r."""
    start, bits = np.int64(rows.head[r, START]), rows.head[r, BITS]
    low, high = start, start + rows.head[r, SIZE] - 1
    while True:
        while low <= high and abs(rows.values[low]) > threshold:
            low += 1
        while low <= high and abs(rows.values[high]) <= threshold:
            high -= 1
        if low >= high:
            break
        swap(rows, start, bits, low, high)
    rows.head[r, FRONT] = np.int32(low - start)


@small
def add_listed(rows, r, x, moves, threshold):  # type: ignore[no-untyped-def]
    """Add x·moves[label] to every entry of row r; returns how many labels with a move were there. moves : (m,), mostly
    0. For rows with few entries this is faster than to look the labels up."""
    start, front = np.uintp(rows.head[r, START]), rows.head[r, FRONT]
    there, misplaced = 0, 0
    for e in range(rows.head[r, SIZE]):
        p = start + np.uintp(e)
        move = moves[rows.labels[p]]
        value = rows.values[p] + x * move
        rows.values[p] = value
        there += move != 0.0
        misplaced += (abs(value) > threshold) != (e < front)
    if misplaced > 0:
        arrange(rows, r, threshold)
    return there


@small
def shrunk(value, threshold):  # type: ignore[no-untyped-def]
    """S(value, threshold) of a value above it in magnitude."""
    return value - np.copysign(threshold, value)


def clear(rows: SparseRows) -> None:
    """Take all entries out and give all blocks back."""
    rows.head[:] = 0
    rows.head[:, BITS] = -1
    rows.free[:] = -1
    rows.used[0] = 0


@kernel
def drop_behind(rows):
    """Take out the entries that are not above the threshold, and let all others count from now on (threshold 0)."""
    for r in range(rows.head.shape[0]):
        if ordered(rows, r):  # the threshold was 0 already
            continue
        start, bits, front = np.int64(rows.head[r, START]), rows.head[r, BITS], rows.head[r, FRONT]
        if bits > SCAN:
            for at in range(2 * start, 2 * start + (np.int64(2) << bits)):
                rows.table[at] = 0
            for p in range(start, start + front):
                tell(rows, start, bits, p, True)
        rows.head[r, SIZE] = front


def front(rows: SparseRows, parts: int, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W = S(v, threshold) as the arrays indptr, indices and data of a CSR matrix (d, m), row j out of the rows
    j·parts … (j+1)·parts − 1; labels in no order. Once a pass, so numpy does what need not be compiled."""
    counts = rows.head[:, FRONT].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    slots = np.repeat(rows.head[:, START] - ends[:-1], counts) + np.arange(ends[-1])
    values = rows.values[slots]
    there = values != 0.0  # rows that stand by label have zeros in between
    before = np.concatenate([[0], np.cumsum(there)])  # entries in the slots before
    values = values[there]
    return before[ends[::parts]], rows.labels[slots[there]], values - np.copysign(threshold, values)
