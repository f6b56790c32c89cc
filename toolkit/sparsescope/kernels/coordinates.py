"""Coordinate descent on quadratic models of F: single entries of W, with a low-rank or an exact Hessian.

The model at W is gᵀδ + ½δᵀHδ + Σ_a (t_a|w_a + δ_a| + ½r_a(w_a + δ_a)²) over the s entries a of a working set, each with
its own threshold t_a ≥ 0 and ridge r_a ≥ 0. It depends on neither the loss nor the penalty: these kernels are compiled
once for a type of number.

``new`` (s,) holds w + δ, so that an entry that ends at zero is zero exactly.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .memory import lone_row

SWEEPS, STEPS, FLOPS, LEFT = range(4)  # of a report: sweeps, coordinates looked at, flops, violation of the last sweep
REPORT = 4
LEAST_CURVATURE = 1e-12  # added to the diagonal: an empty column has none


@helper
def soft(v, t):  # type: ignore[no-untyped-def]
    """S(v, t)."""
    if v > t:
        return v - t
    if v < -t:
        return v + t
    return 0.0 * v


@helper
def off_by(slope, w, t):  # type: ignore[no-untyped-def]
    """dist(−slope, t∂|w|)."""
    if w > 0.0:
        return abs(slope + t)
    if w < 0.0:
        return abs(slope - t)
    return max(abs(slope) - t, 0.0)


@kernel
def entry_violations(G, W, thresholds, ridge, out):
    """out_jk = dist(−G_jk, ∂(t|w| + ½r·w²)) for all entries. G, W, out (rows, m); thresholds (rows, m) or (1, 1)."""
    one = thresholds.shape[0] == 1
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            t = thresholds[0, 0] if one else thresholds[j, k]
            out[j, k] = off_by(G[j, k] + ridge * W[j, k], W[j, k], t)


# ------------------------------------------------------------------------------------------------ the low-rank Hessian
@kernel
def lowrank_descent(Q, Qhat, gamma, diagonal, g, w, t, ridge, new, sweeps, share, report):
    """Sweeps over the model with H = γI − QQ̂ᵀ (Tang and Scheinberg 2013, Sec. 3); ends when it is solved to a share.

    Q, Qhat : (s, r), rows of Q and of (RQᵀ)ᵀ for the working set · diagonal (s,) of H · g, w, t, ridge, new (s,). A
    step costs O(r): (Hδ)_a = γδ_a − q_aᵀδ̂ with δ̂ = Q̂ᵀδ kept up to date, whatever n and d are.
    """
    s, r = Q.shape
    hat = np.zeros(r, dtype=Q.dtype)
    first = 0.0
    for sweep in range(sweeps):
        total = 0.0
        moved = 0
        for a in range(s):
            b = g[a] + gamma * (new[a] - w[a]) + ridge[a] * new[a]
            for k in range(r):
                b -= Q[a, k] * hat[k]
            total += off_by(b, new[a], t[a])
            curve = diagonal[a] + ridge[a]
            z = soft(new[a] - b / curve, t[a] / curve) - new[a]
            if z != 0.0:
                moved += 1
                new[a] += z
                for k in range(r):
                    hat[k] += z * Qhat[a, k]
        report[SWEEPS] += 1.0
        report[STEPS] += s
        report[FLOPS] += s * (2.0 * r + 12.0) + moved * (2.0 * r + 1.0)
        report[LEFT] = total
        if sweep == 0:
            first = total
        elif total <= share * first:
            break


# --------------------------------------------------------------------------------------------------- the exact Hessian
@kernel
def sample_hessians(Z, Y, loss, scale, C):
    """C_i = scale·∇²ℓ(z_i, y_i). Z (n, m), C (n, m, m)."""
    m = Z.shape[1]
    e = np.zeros(m)
    out = lone_row(m)
    for i in range(Z.shape[0]):
        for k in range(m):
            e[k] = 1.0
            loss.hessian_product(Z[i], Y[i], e, out)
            e[k] = 0.0
            for q in range(m):
                C[i, k, q] = scale * out[q]


@kernel
def entry_curvatures(columns, ones, rows, classes, C, H):
    """H_a = Σ_i x_ij² C_ikk for the entries a = (j, k): the diagonal of the Hessian. A row past the columns is that of
    the intercept, whose column is ``ones``. H (s,)."""
    last = 0
    for a in range(rows.size):
        k = classes[a]
        total = 0.0
        if rows[a] >= 0:
            j = rows[a]
            for p in range(columns.start(j), columns.stop(j)):
                x = columns.entry(p, j)
                total += x * x * C[columns.row(p, j), k, k]
        else:
            for p in range(ones.start(last), ones.stop(last)):
                total += C[ones.row(p, last), k, k]
        H[a] = total + LEAST_CURVATURE


@helper
def slope_along(columns, j, k, R):  # type: ignore[no-untyped-def]
    """Σ_i x_ij R_ik: what the move so far adds to the slope of entry (j, k)."""
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        total += columns.entry(p, j) * R[columns.row(p, j), k]
    return total


@helper
def bend(columns, j, k, z, C, R):  # type: ignore[no-untyped-def]
    """R_i += z·x_ij·C_i e_k for the samples of column j; returns how many there are."""
    m = R.shape[1]
    start, stop = columns.start(j), columns.stop(j)
    if m == 1:
        for p in range(start, stop):
            i = columns.row(p, j)
            R[i, 0] += z * columns.entry(p, j) * C[i, 0, 0]
    else:
        for p in range(start, stop):
            i = columns.row(p, j)
            step = z * columns.entry(p, j)
            for q in range(m):
                R[i, q] += step * C[i, k, q]
    return stop - start


@kernel
def exact_descent(columns, ones, rows, classes, g, w, t, ridge, H, C, R, new, sweeps, target, margin, seed, report):
    """Sweeps in random order over the model with H = XᵀCX (Yuan et al. 2012), until its violations sum to ``target``.

    rows, classes, g, w, t, ridge, H, new : (s,); a negative row is the intercept's · R (n, m), zeros on entry, holds
    C·Xδ, the cached product: looking at an entry costs a pass over its column, moving it another one of m numbers a
    sample ·
    margin ≥ 0: an entry at zero whose slope is below t by more than margin times the largest violation of the last
    sweep is left out until the others are solved (the inner level of shrinking); negative: none is left out
    """
    s = rows.size
    m = R.shape[1]
    order = np.arange(s)
    active = s
    before = np.inf
    for _ in range(sweeps):
        total = 0.0
        top = 0.0
        place = 0
        while place < active:
            seed = (seed * 1103515245 + 12345) % 2147483648
            other = place + (seed >> 8) % (active - place)
            a = order[other]
            order[other] = order[place]
            order[place] = a
            k = classes[a]
            inside = rows[a] >= 0
            b = g[a] + ridge[a] * new[a]
            b += slope_along(columns, rows[a], k, R) if inside else slope_along(ones, 0, k, R)
            report[STEPS] += 1.0
            report[FLOPS] += 10.0 + 2.0 * (columns.stop(rows[a]) - columns.start(rows[a]) if inside else R.shape[0])
            wrong = off_by(b, new[a], t[a])
            if margin >= 0.0 and new[a] == 0.0 and t[a] - abs(b) > margin * before:
                active -= 1
                order[place] = order[active]
                order[active] = a
                continue
            place += 1
            total += wrong
            top = max(top, wrong)
            curve = H[a] + ridge[a]
            z = soft(new[a] - b / curve, t[a] / curve) - new[a]
            if z != 0.0:
                new[a] += z
                length = bend(columns, rows[a], k, z, C, R) if inside else bend(ones, 0, k, z, C, R)
                report[FLOPS] += length * (1.0 + 2.0 * m)
        report[SWEEPS] += 1.0
        report[LEFT] = total
        before = top
        if total <= target:
            if active == s:
                break
            active = s
            before = np.inf
    return seed


@kernel
def move_scores(columns, ones, rows, classes, delta, E):
    """E = Xδ of the entries (rows, classes); a negative row is the intercept's. delta (s,), E (n, m)."""
    E[:] = 0.0
    for a in range(rows.size):
        z = delta[a]
        k = classes[a]
        if z != 0.0:
            if rows[a] >= 0:
                j = rows[a]
                for p in range(columns.start(j), columns.stop(j)):
                    E[columns.row(p, j), k] += z * columns.entry(p, j)
            else:
                for p in range(ones.start(0), ones.stop(0)):
                    E[ones.row(p, 0), k] += z
