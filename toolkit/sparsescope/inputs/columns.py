"""Columns of a data matrix, dense or sparse, as kernels walk through them, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit.parts import helper, kernel, struct

PART = 4_000_000  # products of numbers after which a sparse product pauses: one to three milliseconds
# Columns whose gradient rows are held at once when a sparse product is streamed: at least so many, and with few classes
# as many as give so many numbers, unless their product would pause too late.
BLOCK, STREAMED = 512, 16_384
# Classes up to which a product with a column runs over its entries for two or four of them at a time: a loop over few
# classes within that over the entries costs more than it does.
FEW_ADDED, FEW_PULLED = 3, 7
NOT_LISTED = np.empty(0, dtype=np.int64)


def streamed(design: Any, m: int) -> int:
    """Return how many of the d rows of XᵀU, of sparse X and with m columns, are made at a time."""
    in_time = PART * design.d // max(design.nnz * m, 1)
    return int(min(design.d, max(BLOCK, min(STREAMED // m, in_time))))


@struct
class DenseColumns:
    """Columns of a dense matrix; ``XT`` is d×n in C order.

    Kernels walk column j by positions p in start(j)…stop(j): row(p, j) is the sample, entry(p, j) its value. Samples
    are unsigned, as is every index here: one that might be negative costs instructions at each use.
    """

    XT: np.ndarray

    def start(self, j):
        return 0

    def stop(self, j):
        return self.XT.shape[1]

    def row(self, p, j):
        return np.uintp(p)

    def entry(self, p, j):
        return self.XT[j, np.uintp(p)]


@struct
class SparseColumns:
    """Columns of a CSC matrix, with the same four functions."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    def start(self, j):
        return self.indptr[j]

    def stop(self, j):
        return self.indptr[j + 1]

    def row(self, p, j):
        return np.uintp(self.indices[np.uintp(p)])

    def entry(self, p, j):
        return self.data[np.uintp(p)]


@helper
def add_column(columns, j, w, Z):  # type: ignore[no-untyped-def]
    """Z_i += x_ij·w for the samples of column j: what row j of W contributes to the scores."""
    for p in range(columns.start(j), columns.stop(j)):
        x = columns.entry(p, j)
        z = Z[columns.row(p, j)]
        for k in range(w.size):
            z[k] += x * w[k]


@helper
def few_matmul(columns, rows, first, last, W, Z):  # type: ignore[no-untyped-def]
    """Z += the columns first…last of X, or of those listed in ``rows``, times their rows of W, where W has few columns.

    The loop over columns is in here, and no row of W is made an array: either costs as much as some ten entries. Two
    weights at a time are held while the entries pass.
    """
    m = W.shape[1]
    for position in range(first, last):
        j = rows[position] if rows.size else position
        k = 0
        while k + 2 <= m:
            a, b = W[j, k], W[j, k + 1]
            if a != 0.0 or b != 0.0:
                for p in range(columns.start(j), columns.stop(j)):
                    x = columns.entry(p, j)
                    i = columns.row(p, j)
                    Z[i, k] += x * a
                    Z[i, k + 1] += x * b
            k += 2
        if k < m and W[j, k] != 0.0:
            a = W[j, k]
            for p in range(columns.start(j), columns.stop(j)):
                Z[columns.row(p, j), k] += columns.entry(p, j) * a


@kernel
def columns_matmul(columns, W, first, last, Z):
    """Z += the columns first…last of X times these rows of W: Z (n, m), W (d, m). Skips zero rows of W, so the cost
    follows the support."""
    if W.shape[1] <= FEW_ADDED:
        few_matmul(columns, NOT_LISTED, first, last, W, Z)
        return
    for j in range(first, last):
        used = False
        for k in range(W.shape[1]):
            used = used or W[j, k] != 0.0
        if used:
            add_column(columns, j, W[j], Z)


@kernel
def listed_matmul(columns, rows, W, Z):
    """Z += Σ x_j W_j over the listed rows j only: X W if all others are zero. Nothing else of W is read."""
    if W.shape[1] <= FEW_ADDED and rows.size > 0:
        few_matmul(columns, rows, 0, rows.size, W, Z)
        return
    for position in range(rows.size):
        add_column(columns, rows[position], W[rows[position]], Z)


@helper
def pull_column(columns, j, U, g):  # type: ignore[no-untyped-def]
    """g = row j of XᵀU, two entries at a time: half as many loads and stores of the row that they are added to."""
    for k in range(g.size):
        g[k] = 0.0
    p = columns.start(j)
    end = columns.stop(j)
    while p + 1 < end:
        a = columns.entry(p, j)
        b = columns.entry(p + 1, j)
        u = U[columns.row(p, j)]
        v = U[columns.row(p + 1, j)]
        for k in range(g.size):
            g[k] += a * u[k] + b * v[k]
        p += 2
    if p < end:
        a = columns.entry(p, j)
        u = U[columns.row(p, j)]
        for k in range(g.size):
            g[k] += a * u[k]


@helper
def few_rmatmul(columns, rows, start, stop, U, G):  # type: ignore[no-untyped-def]
    """G = rows start…stop of XᵀU, or those listed in ``rows``, where U has few columns; see :func:`few_matmul`.

    Up to four sums at a time are held while the entries pass.
    """
    m = U.shape[1]
    for position in range(start, stop):
        j = rows[position] if rows.size else position
        q = position - start
        k = 0
        while k + 4 <= m:
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for p in range(columns.start(j), columns.stop(j)):
                x = columns.entry(p, j)
                i = columns.row(p, j)
                a += x * U[i, k]
                b += x * U[i, k + 1]
                c += x * U[i, k + 2]
                d += x * U[i, k + 3]
            G[q, k], G[q, k + 1], G[q, k + 2], G[q, k + 3] = a, b, c, d
            k += 4
        while k + 2 <= m:
            a, b = 0.0, 0.0
            for p in range(columns.start(j), columns.stop(j)):
                x = columns.entry(p, j)
                i = columns.row(p, j)
                a += x * U[i, k]
                b += x * U[i, k + 1]
            G[q, k], G[q, k + 1] = a, b
            k += 2
        if k < m:
            a = 0.0
            for p in range(columns.start(j), columns.stop(j)):
                a += columns.entry(p, j) * U[columns.row(p, j), k]
            G[q, k] = a


@kernel
def columns_rmatmul(columns, U, start, stop, G):
    """G[:stop−start] = rows start…stop of XᵀU: U (n, m), G at least (stop−start, m)."""
    if U.shape[1] == 1:  # no loop over classes at all
        for j in range(start, stop):
            total = 0.0
            for p in range(columns.start(j), columns.stop(j)):
                total += columns.entry(p, j) * U[columns.row(p, j), 0]
            G[j - start, 0] = total
        return
    if U.shape[1] <= FEW_PULLED:
        few_rmatmul(columns, NOT_LISTED, start, stop, U, G)
        return
    for j in range(start, stop):
        pull_column(columns, j, U, G[j - start])


@kernel
def chosen_matmul(columns, rows, V, E):
    """E += Σ_p X_{rows[p]} V_pᵀ: V (≥ rows.size, m), E (n, m)."""
    m = E.shape[1]
    for q in range(rows.size):
        j = rows[q]
        v = V[q]
        for p in range(columns.start(j), columns.stop(j)):
            x = columns.entry(p, j)
            e = E[columns.row(p, j)]
            for k in range(m):
                e[k] += x * v[k]


@kernel
def chosen_rmatmul(columns, rows, U, G):
    """G_q = X_{rows[q]}ᵀU: U (n, m), G (≥ rows.size, m)."""
    if U.shape[1] <= FEW_PULLED and rows.size > 0:
        few_rmatmul(columns, rows, 0, rows.size, U, G)
        return
    for q in range(rows.size):
        pull_column(columns, rows[q], U, G[q])


@kernel
def count_places(indices, indptr, chosen, first, last, counts):
    """counts[i + 1] += entries at place i of the lists chosen[first…last]."""
    for position in range(first, last):
        j = chosen[position]
        for p in range(indptr[j], indptr[j + 1]):
            counts[indices[p] + 1] += 1


@kernel
def spread_entries(data, indices, indptr, chosen, first, last, free, out, places):
    """Write the entries of the lists chosen[first…last] where their places have room; free[i]: the next at place i."""
    for position in range(first, last):
        j = chosen[position]
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            at = free[i]
            out[at] = data[p]
            places[at] = position
            free[i] = at + 1
