"""Penalties over blocks of features within a class: what they need of whole arrays, and their proximal steps.

Block b holds the rows ``order[indptr[b]:indptr[b + 1]]`` of W. Its vectors, one for each class, are collected in the
rows of a small array, where the penalty's functions of one row are applied to them (those of ``row.at(b)``). The array
is made once for a call.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .proximal import OMEGA, SIZE, SLOPE, TURN


@helper
def widest(indptr):  # type: ignore[no-untyped-def]
    """The size of the largest block."""
    top = 0
    for b in range(indptr.size - 1):
        top = max(top, indptr[b + 1] - indptr[b])
    return top


@helper
def gather(A, scale, order, start, stop, into):  # type: ignore[no-untyped-def]
    """into[k, i] = scale·A[order[start + i], k]: the vectors of a block."""
    for i in range(start, stop):
        j = order[i]
        for k in range(A.shape[1]):
            into[k, i - start] = scale * A[j, k]


@helper
def scatter(vectors, order, start, stop, out):  # type: ignore[no-untyped-def]
    """The way back: out[order[start + i], k] = vectors[k, i]."""
    for i in range(start, stop):
        j = order[i]
        for k in range(out.shape[1]):
            out[j, k] = vectors[k, i - start]


@kernel
def block_sum(W, row, order, indptr):
    """Ω(W) and the numbers of non-zero rows and entries. W (d, m)."""
    w = np.empty((W.shape[1], widest(indptr)), W.dtype)
    total = 0.0
    rows = 0
    entries = 0
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        before = rows
        for i in range(start, stop):
            count = 0
            for k in range(W.shape[1]):
                if W[order[i], k] != 0.0:
                    count += 1
            rows += 1 if count > 0 else 0
            entries += count
        if rows > before:
            gather(W, 1.0, order, start, stop, w)
            for k in range(W.shape[1]):
                total += row.at(b).value(w[k, : stop - start])
    return total, rows, entries


@kernel
def prox_blocks(V, tau, row, order, indptr, out):
    """out = prox_{τΩ}(V). Both (d, m); ``out`` may be ``V``."""
    w = np.empty((V.shape[1], widest(indptr)), V.dtype)
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        gather(V, 1.0, order, start, stop, w)
        for k in range(V.shape[1]):
            v = w[k, : stop - start]
            row.at(b).prox(v, tau, v)
        scatter(w, order, start, stop, out)


@kernel
def block_violations(G, scale, W, lam, row, order, indptr, violation, paper):
    """Optimality of all blocks: scale·G (d, m) is the gradient, W (d, m) the weights.

    What belongs to a block stands at its first row of ``violation`` and ``paper`` (d,), the other rows get 0. Its exact
    violation is the distance over all classes, the root of the sum of the squares of its vectors'; the criterion of
    Blondel et al., Eq. 9, is the largest of its vectors'.
    """
    m, most = W.shape[1], widest(indptr)
    g = np.empty((m, most))
    w = np.empty((m, most), W.dtype)
    violation[:] = 0.0
    paper[:] = 0.0
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        size = stop - start
        gather(G, scale, order, start, stop, g)
        gather(W, 1.0, order, start, stop, w)
        total = 0.0
        top = 0.0
        for k in range(m):
            distance = row.at(b).violation(g[k, :size], w[k, :size], lam)
            total += distance * distance
            left = 0.0
            for i in range(size):
                left += abs(w[k, i])
            excess = row.at(b).zero_threshold(g[k, :size]) - lam
            top = max(top, abs(excess) if left != 0.0 else excess)
        violation[order[start]] = np.sqrt(total)
        paper[order[start]] = top


@kernel
def block_duals(G, scale, lam, row, order, indptr):
    """The largest dual norm of a vector of −scale·G, and Σ Ω*(−scale·G/λ) over all vectors. G (d, m)."""
    v = np.empty((G.shape[1], widest(indptr)))
    top = 0.0
    conjugate = 0.0
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        gather(G, -scale, order, start, stop, v)
        for k in range(G.shape[1]):
            x = v[k, : stop - start]
            top = max(top, row.at(b).dual_norm(x))
            for i in range(x.size):
                x[i] /= lam
            conjugate += row.at(b).conjugate(x)
    return top, conjugate


@kernel
def critical_block(G, scale, row, order, indptr):
    """The largest critical λ over the vectors of scale·G: the smallest λ whose solution is W = 0. G (d, m)."""
    g = np.empty((G.shape[1], widest(indptr)))
    top = 0.0
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        gather(G, scale, order, start, stop, g)
        for k in range(G.shape[1]):
            top = max(top, row.at(b).zero_threshold(g[k, : stop - start]))
    return top


@kernel
def list_blocks(kept, scale, now, old, beta, lam, row, order, indptr, now_used, old_used, V, V_used, listed):
    """The first half of a proximal step: which blocks does it concern? Numbers go to ``listed``; returns their count.

    ``kept`` (rows, m) holds the whole gradient, of which the rows that matter are multiplied by ``scale`` in place. The
    other arguments, and when a block is left out, are as in :func:`sparsescope.kernels.proximal.list_rows`: if all of
    its rows are zero in both points and all of its vectors are optimal at zero. A row after the features (the
    intercept) always matters and is not listed.
    """
    m, d = now.shape[1], order.size
    g = np.empty((m, widest(indptr)), kept.dtype)
    count = 0
    for b in range(indptr.size - 1):
        start, stop = indptr[b], indptr[b + 1]
        idle = True
        for i in range(start, stop):
            idle = idle and now_used[order[i]] == 0 and old_used[order[i]] == 0
        if idle:
            gather(kept, 1.0, order, start, stop, g)
            for k in range(m):
                idle = idle and row.at(b).stays_zero(g[k, : stop - start], lam / scale)
        if not idle:
            listed[count] = b
            count += 1
        for i in range(start, stop):
            j = order[i]
            if idle:
                if V_used[j] != 0:
                    V_used[j] = 0
                    V[j, :] = 0.0
                continue
            V_used[j] = 1
            for k in range(m):
                kept[j, k] *= scale
                V[j, k] = now[j, k] + beta * (now[j, k] - old[j, k])
    for j in range(d, now.shape[0]):
        V_used[j] = 1
        for k in range(m):
            kept[j, k] *= scale
            V[j, k] = now[j, k] + beta * (now[j, k] - old[j, k])
    return count


@helper
def measure(j, V, kept, now, out, out_used, report):  # type: ignore[no-untyped-def]
    """Adds what a row that moved to out[j] contributes to the sums of a step, and notes whether it is zero."""
    left = 0.0
    for k in range(V.shape[1]):
        delta = out[j, k] - V[j, k]
        report[SLOPE] += kept[j, k] * delta
        report[SIZE] += delta * delta
        report[TURN] -= delta * (out[j, k] - now[j, k])
        left += abs(out[j, k])
    out_used[j] = 1 if left != 0.0 else 0


@kernel
def prox_listed_blocks(listed, V, kept, now, step, lam, row, order, indptr, out, out_used, report):
    """The second half: out = prox_{step·λΩ}(V − step·G) on the rows of the listed blocks, and sums in ``report``.

    V, kept (the gradient), now, out : (rows, m), as in :func:`sparsescope.kernels.proximal.prox_listed`. A row after
    the features (the intercept) takes the plain step.
    """
    m, d = V.shape[1], order.size
    w = np.empty((m, widest(indptr)), V.dtype)
    report[:] = 0.0
    for position in range(listed.size):
        b = listed[position]
        start, stop = indptr[b], indptr[b + 1]
        for i in range(start, stop):
            j = order[i]
            for k in range(m):
                w[k, i - start] = V[j, k] - step * kept[j, k]
        for k in range(m):
            v = w[k, : stop - start]
            row.at(b).prox(v, step * lam, v)
            report[OMEGA] += row.at(b).value(v)
        scatter(w, order, start, stop, out)
        for i in range(start, stop):
            measure(order[i], V, kept, now, out, out_used, report)
    for j in range(d, V.shape[0]):
        for k in range(m):
            out[j, k] = V[j, k] - step * kept[j, k]
        measure(j, V, kept, now, out, out_used, report)
