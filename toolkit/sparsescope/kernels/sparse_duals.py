"""Dual points of PD-Sparse as wholes: made to fit another C, taken from another method, added up."""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel
from .amounts import amount_of
from .frank_wolfe import keep
from .sparse_rows import SIZE, START


@kernel
def fit_box(squares, indptr, targets, alpha, active, most, s):
    """Make every dual point fit into t ≤ most ((1,), or one for each sample, (n,)): those above are scaled down.

    Samples without features, whose dual value grows with t only, get t = most on their first label and the first other
    one (MATH §7). ``active`` needs 2·n slots.
    """
    m = s.scores.size
    for i in range(indptr.size - 1):
        first, last = indptr[i], indptr[i + 1]
        if first == last or last - first == m:
            continue
        size = active.head[i, SIZE]
        start = np.int64(active.head[i, START])
        if squares[i] == 0.0:
            s.tick[0] += 1
            for e in range(first, last):
                s.mark[targets[e]] = s.tick[0]
                alpha[e] = 0.0
            other = 0
            while s.mark[other] == s.tick[0]:
                other += 1
            alpha[first] = amount_of(most, i)
            s.labels[0] = other
            s.b[0] = amount_of(most, i)
            keep(active, i, s.labels, s.b, 1)
            continue
        total = 0.0
        for p in range(start, start + size):
            total += active.values[p]
        room = amount_of(most, i)
        if total > room:
            for p in range(start, start + size):
                active.values[p] *= room / total
            for e in range(first, last):
                alpha[e] *= room / total


@kernel
def take_duals(U, indptr, targets, most, smallest, alpha, active, s):
    """α = −most·U for dual rows U (n, m) of a loss, in its domain; entries up to ``smallest`` are left out. ``active``
    needs room for all others."""
    for i in range(U.shape[0]):
        first, last = indptr[i], indptr[i + 1]
        s.tick[0] += 1
        for e in range(first, last):
            s.mark[targets[e]] = s.tick[0]
        size, total, own = 0, 0.0, 0.0
        for k in range(U.shape[1]):
            if U[i, k] > smallest and s.mark[k] != s.tick[0]:
                s.labels[size] = k
                s.b[size] = most * U[i, k]
                total += s.b[size]
                size += 1
        for e in range(first, last):
            own += max(-U[i, targets[e]], 0.0)
        for e in range(first, last):  # the sample's own labels carry exactly as much as the others
            alpha[e] = max(-U[i, targets[e]], 0.0) * total / own if own > 0.0 else 0.0
        keep(active, i, s.labels, s.b, size if own > 0.0 else 0)


@kernel
def dual_sums(active):
    """Σ of all a, and their number."""
    total, count = 0.0, 0
    for i in range(active.head.shape[0]):
        start = np.int64(active.head[i, START])
        for p in range(start, start + active.head[i, SIZE]):
            total += active.values[p]
            count += 1
    return total, count
