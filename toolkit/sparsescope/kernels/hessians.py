"""Hessians of the samples in the exact second-order model (coordinates.py), and columns of X that meet them.

C holds the Hessian C_i of the loss at each sample in one of three forms, of which the last axis tells:

- (n, m, m): as it is.
- (n, m, 1): its diagonal. The loss is a sum over scores, or there is one score.
- (n, m, 2), for three scores and more: a_i and b_i with C_i = diag(a_i) − b_i b_iᵀ. Moves along an entry of score k
  then change R_i = r_i + C_i(Xδ)_i in all scores; kept are r_i + a_i∘(Xδ)_i, in which they change one, and the lag
  s_i = ⟨b_i, (Xδ)_i⟩, so that R_ik is what is kept less b_ik·s_i.

C and R may lie class after class (in Fortran's order): dense columns then add to consecutive numbers.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .memory import lone_row

LEAST_CURVATURE = 1e-12  # added to the diagonal: an empty column has none


@helper
def is_factored(C):  # type: ignore[no-untyped-def]
    """Return whether C holds a_i and b_i."""
    return C.shape[2] == 2 and C.shape[1] > 2


@kernel
def sample_hessians(columns, ones, rows, classes, first, last, Z, U, Y, loss, scale, made, C):
    """C_i·e_k = scale·∇²ℓ(z_i, y_i)·e_k for the samples i of the entries (rows, classes) from ``first`` to ``last``; in
    the two shorter forms, all of C_i.

    Z, U (n, m): scores and their gradients; made (n, m) uint8: 1 where C_i·e_k is there already.
    """
    whole = C.shape[2] == C.shape[1] and C.shape[1] > 1
    factored = is_factored(C)
    e = np.zeros(Z.shape[1])
    if not whole:
        e[:] = 1.0
    out = lone_row(Z.shape[1])
    second = lone_row(Z.shape[1])
    listed = np.empty(Z.shape[0], np.int64)
    root = np.sqrt(scale)
    for a in range(first, last):
        k = classes[a] if whole else 0
        e[k] = 1.0
        if rows[a] >= 0:
            count = _list_missing(columns, rows[a], k, made, listed)
        else:
            count = _list_missing(ones, 0, k, made, listed)
        for p in range(count):  # with a branch on the sample, references to Z_i and U_i are counted: 20 times as long
            i = listed[p]
            if factored:
                loss.hessian_factors(Z[i], U[i], Y[i], out, second)
                for q in range(out.size):
                    C[i, q, 0] = scale * out[q]
                    C[i, q, 1] = root * second[q]
                    made[i, q] = 1
                continue
            loss.hessian_product_from(Z[i], U[i], Y[i], e, out)
            if whole:
                for q in range(out.size):
                    C[i, k, q] = scale * out[q]
            else:
                for q in range(out.size):
                    C[i, q, 0] = scale * out[q]
                    made[i, q] = 1
        if whole:
            e[k] = 0.0


@helper
def _list_missing(columns, j, k, made, listed):  # type: ignore[no-untyped-def]
    """List the samples of column j without C_i·e_k, which counts as made now; returns how many there are."""
    count = 0
    for p in range(columns.start(j), columns.stop(j)):
        i = columns.row(p, j)
        listed[count] = i
        count += made[i, k] == 0
        made[i, k] = 1
    return count


@helper
def curvature_along(columns, j, k, C):  # type: ignore[no-untyped-def]
    """Σ_i x_ij² C_ikk: the entry (j, k) of the diagonal of the Hessian."""
    total = 0.0
    if is_factored(C):
        for p in range(columns.start(j), columns.stop(j)):
            x = columns.entry(p, j)
            i = columns.row(p, j)
            total += x * x * max(C[i, k, 0] - C[i, k, 1] * C[i, k, 1], 0.0)
        return total + LEAST_CURVATURE
    q = k if C.shape[2] > 1 else 0
    for p in range(columns.start(j), columns.stop(j)):
        x = columns.entry(p, j)
        total += x * x * C[columns.row(p, j), k, q]
    return total + LEAST_CURVATURE


@helper
def slope_along(columns, j, k, R):  # type: ignore[no-untyped-def]
    """Σ_i x_ij R_ik: the slope of the loss's model along entry (j, k)."""
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        total += columns.entry(p, j) * R[columns.row(p, j), k]
    return total


@helper
def model_slope(columns, j, k, C, R, lag):  # type: ignore[no-untyped-def]
    """The same where R and lag (n,) hold what is kept of R in the third form of C; lag (0,) in the others."""
    if lag.size == 0:
        return slope_along(columns, j, k, R)
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        i = columns.row(p, j)
        total += columns.entry(p, j) * (R[i, k] - C[i, k, 1] * lag[i])
    return total


@helper
def add_column(columns, j, k, z, E):  # type: ignore[no-untyped-def]
    """E_ik += z·x_ij for the samples of column j; returns how many there are."""
    start, stop = columns.start(j), columns.stop(j)
    for p in range(start, stop):
        E[columns.row(p, j), k] += z * columns.entry(p, j)
    return stop - start


@helper
def bend(columns, j, k, z, C, R, lag):  # type: ignore[no-untyped-def]
    """R_i += z·x_ij·C_i e_k for the samples of column j; returns how many there are. R and lag as above."""
    m = R.shape[1]
    start, stop = columns.start(j), columns.stop(j)
    if lag.size:
        for p in range(start, stop):
            i = columns.row(p, j)
            step = z * columns.entry(p, j)
            R[i, k] += step * C[i, k, 0]
            lag[i] += step * C[i, k, 1]
    elif C.shape[2] == 1:
        for p in range(start, stop):
            i = columns.row(p, j)
            R[i, k] += z * columns.entry(p, j) * C[i, k, 0]
    elif R.flags.f_contiguous:
        for q in range(m):
            for p in range(start, stop):
                i = columns.row(p, j)
                R[i, q] += z * columns.entry(p, j) * C[i, k, q]
    else:
        for p in range(start, stop):
            i = columns.row(p, j)
            step = z * columns.entry(p, j)
            for q in range(m):
                R[i, q] += step * C[i, k, q]
    return stop - start
