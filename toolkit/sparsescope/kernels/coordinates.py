"""Coordinate descent on quadratic models of F: single entries of W, with a low-rank or an exact Hessian.

The model at W is gᵀδ + ½δᵀHδ + Σ_a (t_a|w_a + δ_a| + ½r_a(w_a + δ_a)²) over the s entries a of a working set, each with
its own threshold t_a ≥ 0 and ridge r_a ≥ 0. It depends on neither the loss nor the penalty: these kernels are compiled
once for a type of number.

``new`` (s,) holds w + δ, so that an entry that ends at zero is zero exactly.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
from .memory import lone_row

# Of a report: sweeps, coordinates looked at, flops, violation of the last sweep, largest violation in the first one.
SWEEPS, STEPS, FLOPS, LEFT, TOP = range(5)
REPORT = 5
TOGETHER = 128  # samples whose scores are bent together
LEAST_CURVATURE = 1e-12  # added to the diagonal: an empty column has none
# Of a walk: sweeps done, place in the present one, places that count or moved ones, seed of the order; and the sums of
# the sweep so far, its largest violation, that of the sweep before, and the sum of the first sweep.
SWEEP, PLACE, COUNT, SEED = range(4)
TOTAL, WORST, BEFORE, FIRST = range(4)


@struct
class Walk:
    """Place at which a descent stands: it stops between two coordinates, and goes on there as if it had not stopped.

    order (s,) int64 : in which coordinates are looked at · kept : numbers that a descent keeps up to date: the diagonal
    of the Hessian (s,), where it was needed, or Q̂ᵀδ (r,) · at (4,) int64, sums (4,) : see above
    """

    order: np.ndarray
    kept: np.ndarray
    at: np.ndarray
    sums: np.ndarray


def walk(size: int, seed: int = 1, kept: int | None = None) -> Walk:
    """Return the place of a descent over ``size`` coordinates that has not begun. ``kept`` : numbers it keeps."""
    return Walk(
        np.arange(size),
        np.zeros(size if kept is None else kept),
        np.array([0, 0, size, seed]),  # type: ignore[call-arg]
        np.array([0.0, 0.0, np.inf, 0.0]),
    )


@helper
def next_seed(seed):  # type: ignore[no-untyped-def]
    """Return the seed after this one; its bits from the ninth on are random enough to choose by."""
    return (seed * 1103515245 + 12345) % 2147483648


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
def lowrank_descent(Q, Qhat, gamma, diagonal, g, w, t, ridge, new, sweeps, share, walk, most, report):
    """Sweeps over the model with H = γI − QQ̂ᵀ (Tang and Scheinberg 2013, Sec. 3); ends when it is solved to a share.

    Q, Qhat : (s, r), rows of Q and of (RQᵀ)ᵀ for the working set · diagonal (s,) of H · g, w, t, ridge, new (s,). A
    step costs O(r): (Hδ)_a = γδ_a − q_aᵀδ̂ with δ̂ = Q̂ᵀδ kept up to date, whatever n and d are. It stops after about
    ``most`` flops; returns whether it is at its end.
    """
    s, r = Q.shape
    hat, at, sums = walk.kept, walk.at, walk.sums
    sweep, place, moved = at[SWEEP], at[PLACE], at[COUNT]
    total = sums[TOTAL]
    if sweep == 0 and place == 0:
        moved = 0
    left = max(most // (4 * r + 13), 1)
    while sweep < sweeps:
        stop = min(s, place + left)
        left -= stop - place
        for a in range(place, stop):
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
        place = stop
        if place < s:
            at[SWEEP], at[PLACE], at[COUNT] = sweep, place, moved
            sums[TOTAL] = total
            return False
        report[SWEEPS] += 1.0
        report[STEPS] += s
        report[FLOPS] += s * (2.0 * r + 12.0) + moved * (2.0 * r + 1.0)
        report[LEFT] = total
        if sweep == 0:
            sums[FIRST] = total
        elif total <= share * sums[FIRST]:
            break
        sweep, place, moved, total = sweep + 1, 0, 0, 0.0
    return True


# --------------------------------------------------------------------------------------------------- the exact Hessian
# C and R may lie class after class (in Fortran's order): dense columns then add to consecutive numbers.
@kernel
def sample_hessians(columns, ones, rows, classes, first, last, Z, U, Y, loss, scale, made, C):
    """C_ik = scale·∇²ℓ(z_i, y_i)·e_k for the samples i of the entries (rows, classes) from ``first`` to ``last``.

    Z, U (n, m): scores and their gradients; C (n, m, m); made (n, m) uint8: 1 where C_ik is there already.
    """
    e = np.zeros(Z.shape[1])
    out = lone_row(Z.shape[1])
    for a in range(first, last):
        k = classes[a]
        e[k] = 1.0
        if rows[a] >= 0:
            _hessian_rows(columns, rows[a], k, Z, U, Y, loss, scale, e, out, made, C)
        else:
            _hessian_rows(ones, 0, k, Z, U, Y, loss, scale, e, out, made, C)
        e[k] = 0.0


@helper
def _hessian_rows(columns, j, k, Z, U, Y, loss, scale, e, out, made, C):  # type: ignore[no-untyped-def]
    """C_ik for the samples of column j."""
    for p in range(columns.start(j), columns.stop(j)):
        i = columns.row(p, j)
        if made[i, k] == 0:
            made[i, k] = 1
            loss.hessian_product_from(Z[i], U[i], Y[i], e, out)
            for q in range(out.size):
                C[i, k, q] = scale * out[q]


@helper
def curvature_along(columns, j, k, C):  # type: ignore[no-untyped-def]
    """Σ_i x_ij² C_ikk: the entry (j, k) of the diagonal of the Hessian."""
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        x = columns.entry(p, j)
        total += x * x * C[columns.row(p, j), k, k]
    return total + LEAST_CURVATURE


@helper
def slope_along(columns, j, k, R):  # type: ignore[no-untyped-def]
    """Σ_i x_ij R_ik: the slope of the loss's model along entry (j, k)."""
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        total += columns.entry(p, j) * R[columns.row(p, j), k]
    return total


@helper
def bend(columns, j, k, z, C, R):  # type: ignore[no-untyped-def]
    """R_i += z·x_ij·C_i e_k for the samples of column j; returns how many there are."""
    m = R.shape[1]
    start, stop = columns.start(j), columns.stop(j)
    if m == 1 or R.flags.f_contiguous:
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


@kernel
def exact_descent(columns, ones, rows, classes, t, ridge, C, R, new, sweeps, share, floor, margin, walk, most, report):
    """Sweeps in random order over the model with H = XᵀCX (Yuan et al. 2012). They end when its violations add up to a
    share of those in the first sweep, or when none is above ``floor``. Stops after about ``most`` flops; returns
    whether it is at its end. Sweep −1 of the walk says that the model is solved; otherwise it goes on where more sweeps
    are allowed.

    rows, classes, t, ridge, new : (s,); a negative row is the intercept's · R (n, m), gradients of the samples on
    entry, holds these and C·Xδ, so that looking at an entry costs a pass over its column and needs no separate
    gradient; moving it costs another one of m numbers a sample ·
    margin ≥ 0: an entry at zero whose slope is below t by more than margin times the largest violation of the last
    sweep is left out until the others are solved (the inner level of shrinking); negative: none is left out
    """
    s = rows.size
    m = R.shape[1]
    order, H, at, sums = walk.order, walk.kept, walk.at, walk.sums
    sweep, place, active, seed = at[SWEEP], at[PLACE], at[COUNT], at[SEED]
    total, top, before = sums[TOTAL], sums[WORST], sums[BEFORE]
    end = report[FLOPS] + most
    while sweep < sweeps:
        while place < active:
            if report[FLOPS] > end:
                at[SWEEP], at[PLACE], at[COUNT], at[SEED] = sweep, place, active, seed
                sums[TOTAL], sums[WORST], sums[BEFORE] = total, top, before
                return False
            seed = next_seed(seed)
            other = place + (seed >> 8) % (active - place)
            a = order[other]
            order[other] = order[place]
            order[place] = a
            j = rows[a]
            k = classes[a]
            length = columns.stop(j) - columns.start(j) if j >= 0 else R.shape[0]
            b = ridge[a] * new[a]
            b += slope_along(columns, j, k, R) if j >= 0 else slope_along(ones, 0, k, R)
            report[STEPS] += 1.0
            report[FLOPS] += 10.0 + 2.0 * length
            wrong = off_by(b, new[a], t[a])
            if margin >= 0.0 and new[a] == 0.0 and t[a] - abs(b) > margin * before:
                active -= 1
                order[place] = order[active]
                order[active] = a
                continue
            place += 1
            if wrong == 0.0:
                continue
            total += wrong
            top = max(top, wrong)
            if H[a] == 0.0:
                H[a] = curvature_along(columns, j, k, C) if j >= 0 else curvature_along(ones, 0, k, C)
                report[FLOPS] += 3.0 * length
            curve = H[a] + ridge[a]
            z = soft(new[a] - b / curve, t[a] / curve) - new[a]
            if z != 0.0:
                new[a] += z
                length = bend(columns, j, k, z, C, R) if j >= 0 else bend(ones, 0, k, z, C, R)
                report[FLOPS] += length * (1.0 + 2.0 * m)
        report[SWEEPS] += 1.0
        report[LEFT] = total
        before = top
        if sweep == 0:
            sums[FIRST] = total
            report[TOP] = top
        if top <= floor or (sweep > 0 and total <= share * sums[FIRST]):
            if active == s:
                at[SWEEP], at[SEED] = -1, seed
                return True
            active = s
            before = np.inf
        sweep, place, total, top = sweep + 1, 0, 0.0, 0.0
    at[SWEEP], at[PLACE], at[COUNT], at[SEED] = sweep, place, active, seed
    sums[TOTAL], sums[WORST], sums[BEFORE] = total, top, before
    return True


# ------------------------------------------------------------------------------------- conjugate gradients on the same
@kernel
def conjugate_residuals(columns, ones, rows, classes, t, ridge, C, R, new, first, last, rho, left, diagonal, P):
    """Residual, diagonal of the Hessian and preconditioned residual of the entries first…last. Returns ``rho`` and
    their share of ⟨residual, preconditioned⟩. All but C and R (s,); R as :func:`exact_descent` leaves it."""
    for a in range(first, last):
        j = rows[a]
        k = classes[a]
        slope = slope_along(columns, j, k, R) if j >= 0 else slope_along(ones, 0, k, R)
        slope += ridge[a] * new[a]
        if new[a] != 0.0:
            slope += t[a] if new[a] > 0.0 else -t[a]
        curve = curvature_along(columns, j, k, C) if j >= 0 else curvature_along(ones, 0, k, C)
        left[a] = -slope
        diagonal[a] = curve + ridge[a]
        P[a] = -slope / diagonal[a]
        rho += slope * slope / diagonal[a]
    return rho


@helper
def _bend_classes(C, E, first, last, curve):  # type: ignore[no-untyped-def]
    """The same where C and E lie class after class: some samples at a time, as many as stay near the processor, and one
    triangle of C, which is symmetric."""
    m = E.shape[1]
    held = np.empty((m, TOGETHER))
    bent = np.empty((m, TOGETHER))
    for begin in range(first, last, TOGETHER):
        size = min(TOGETHER, last - begin)
        for k in range(m):
            for i in range(size):
                held[k, i] = E[begin + i, k]
                bent[k, i] = C[begin + i, k, k] * held[k, i]
        for k in range(m):
            for q in range(k):
                for i in range(size):
                    bent[k, i] += C[begin + i, q, k] * held[q, i]
                    bent[q, i] += C[begin + i, q, k] * held[k, i]
        for k in range(m):
            for i in range(size):  # apart from the next loop, which may or may not be known to write elsewhere
                curve += bent[k, i] * held[k, i]
            for i in range(size):
                E[begin + i, k] = bent[k, i]
    return curve


@kernel
def bend_scores(C, E, first, last, curve):
    """E_i ← C_i E_i for the samples first…last; returns ``curve`` and their share of ⟨E, CE⟩."""
    m = E.shape[1]
    if E.flags.f_contiguous and m > 1:
        return _bend_classes(C, E, first, last, curve)
    row = lone_row(m)
    for i in range(first, last):
        for k in range(m):
            row[k] = E[i, k]
            E[i, k] = 0.0
        for q in range(m):
            if row[q] != 0.0:  # what no entry of the working set reaches is not known
                for k in range(m):
                    E[i, k] += row[q] * C[i, q, k]
        for k in range(m):
            curve += E[i, k] * row[k]
    return curve


@kernel
def conjugate_step(columns, ones, rows, classes, ridge, E, size, first, last, rho, P, move, left, diagonal):
    """A step along P for the entries first…last, where E = C·XP. Returns ``rho`` and their share, as for
    :func:`conjugate_residuals`."""
    for a in range(first, last):
        j = rows[a]
        k = classes[a]
        q = slope_along(columns, j, k, E) if j >= 0 else slope_along(ones, 0, k, E)
        move[a] += size * P[a]
        left[a] -= size * (q + ridge[a] * P[a])
        rho += left[a] * left[a] / diagonal[a]
    return rho


@kernel
def move_scores(columns, ones, rows, classes, delta, first, last, E):
    """E += Xδ of the entries (rows, classes) from ``first`` to ``last``; a negative row is the intercept's. delta (s,),
    E (n, m)."""
    for a in range(first, last):
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
