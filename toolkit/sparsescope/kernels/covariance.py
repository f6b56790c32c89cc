"""Coordinate descent on the exact second-order model of −logdet Θ + tr(SΘ) + Σ Λ_ij|Θ_ij|  (Hsieh et al. 2011, QUIC).

The model at Θ is tr(GD) + ½tr(ΣDΣD) + Σ Λ_ij|Θ_ij + D_ij| with Σ = Θ⁻¹, G = S − Σ. Both halves of a symmetric matrix
move together, so a coordinate is a pair (i, j), i ≤ j. With U = DΣ kept up to date, its slope is
b = G_ij + σ_iᵀU_j, its curvature a = Σ_ij² + Σ_iiΣ_jj (Σ_ii² on the diagonal): O(p) a step.

Σ and U may be in single precision: a step then reads half the memory, and the direction is wrong by a share that the
next Newton step removes. What is added up stays in double precision: G, the thresholds, Θ + D.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .coordinates import (
    COUNT,
    FIRST,
    FLOPS,
    LEFT,
    PLACE,
    SEED,
    STEPS,
    SWEEP,
    SWEEPS,
    TOTAL,
    drawn,
    next_seed,
    off_by,
    soft,
)


@helper
def slope_of(Sigma, u, i):  # type: ignore[no-untyped-def]
    """σ_iᵀu. A plain loop: sums written out side by side keep the compiler from taking several numbers at a time."""
    s = Sigma[i]
    total = Sigma.dtype.type(0.0)
    for q in range(u.size):
        total += s[q] * u[q]
    return total


@helper
def starts_of(columns, starts):  # type: ignore[no-untyped-def]
    """Write where each of the sorted columns begins, and where the last one ends; returns how many there are."""
    count = 0
    for a in range(columns.size):
        if a == 0 or columns[a] != columns[a - 1]:
            starts[count] = a
            count += 1
    starts[count] = columns.size
    return count


@helper
def add_row(to, length, by):  # type: ignore[no-untyped-def]
    """to += length·by."""
    for q in range(to.size):
        to[q] += length * by[q]


@helper
def move_pair(Sigma, u, U, i, j, z):  # type: ignore[no-untyped-def]
    """U = DΣ, and u, a copy of its column j, after the entries (i, j) and (j, i) of D have moved by z."""
    length = Sigma.dtype.type(z)
    u[i] += length * Sigma[j, j]
    add_row(U[i], length, Sigma[j])
    if i != j:
        u[j] += length * Sigma[j, i]
        add_row(U[j], length, Sigma[i])


@helper
def curvature(Sigma, i, j):  # type: ignore[no-untyped-def]
    """Curvature of the model along (i, j)."""
    own = float(Sigma[j, i])
    return float(Sigma[i, i]) * float(Sigma[j, j]) + (own * own if i != j else 0.0)


@helper
def pair_step(Sigma, G, Lam, new, u, i, j):  # type: ignore[no-untyped-def]
    """The entry that minimises the model along (i, j), and the violation there. Matrices are read along row j, which
    stays in the cache from pair to pair."""
    b = G[j, i] + slope_of(Sigma, u, i)
    curve = curvature(Sigma, i, j)
    old = new[j, i]
    t = Lam[j, i]
    return soft(old - b / curve, t / curve), off_by(b, old, t)


@kernel
def newton_descent(Sigma, G, Lam, rows, columns, new, U, sweeps, share, walk, most, report):
    """Sweeps over the pairs (rows, columns) until the model is solved to a share of its violation, or ``sweeps`` are
    done. Columns come in random order, and so do the pairs of a column: a fixed order stalls on correlated data, and
    so do panels of columns, which would be quicker to read. It stops between two columns after about ``most`` flops;
    returns whether it is at its end.

    Sigma, G, Lam : (p, p), symmetric · rows ≤ columns : (s,), in the order of the columns; the rows of a column change
    places · new (p, p), Θ on entry, Θ + D on return, so that what ends at zero is zero exactly · U (p, p), zeros on
    entry, DΣ on return · walk : for s coordinates, with the seed of the order
    """
    p = Sigma.shape[0]
    u = np.empty(p, dtype=U.dtype)  # column j of U: read for every pair, and too scattered to be read there
    starts = np.empty(p + 1, dtype=np.int64)
    count = starts_of(columns, starts)
    order, at, sums = walk.order, walk.at, walk.sums  # the order is one of the columns: as many of its first places
    sweep, begun, moved, seed = at[SWEEP], at[PLACE], at[COUNT], at[SEED]
    total = sums[TOTAL]
    if sweep == 0 and begun == 0:
        moved = 0
    done = 0.0
    while sweep < sweeps:
        for place in range(begun, count):
            if done > most:
                at[SWEEP], at[PLACE], at[COUNT], at[SEED] = sweep, place, moved, seed
                sums[TOTAL] = total
                return False
            seed = next_seed(seed)
            group = drawn(order, place, count, seed)
            stop = starts[group + 1]
            j = columns[starts[group]]
            for q in range(p):
                u[q] = U[q, j]
            for a in range(starts[group], stop):
                seed = next_seed(seed)
                i = drawn(rows, a, stop, seed)
                found, wrong = pair_step(Sigma, G, Lam, new, u, i, j)
                total += wrong * wrong
                done += 2.0 * p
                old = new[j, i]
                if found != old:
                    moved += 1
                    done += 4.0 * p
                    new[i, j] = found
                    new[j, i] = found
                    move_pair(Sigma, u, U, i, j, found - old)
        report[SWEEPS] += 1.0
        report[STEPS] += rows.size
        report[FLOPS] += rows.size * (2.0 * p + 12.0) + moved * 4.0 * p
        total = np.sqrt(total)
        report[LEFT] = total
        if sweep == 0:
            sums[FIRST] = total
        elif total <= share * sums[FIRST]:
            break
        sweep, begun, moved, total = sweep + 1, 0, 0, 0.0
    at[SEED] = seed
    return True


@kernel
def hessian_product(Sigma, rows, columns, P, V, out):
    """out_a = (ΣPΣ)_ij for the pairs a = (i ≤ j), in the order of the columns, of the symmetric P whose only entries
    are those of these pairs, (s,). V (p, p) holds PΣ on return."""
    p = Sigma.shape[0]
    V[:] = 0.0
    for a in range(rows.size):
        i = rows[a]
        j = columns[a]
        z = V.dtype.type(P[a])
        add_row(V[i], z, Sigma[j])
        if i != j:
            add_row(V[j], z, Sigma[i])
    u = np.empty(p, dtype=Sigma.dtype)
    last = -1
    for a in range(rows.size):
        j = columns[a]
        if j != last:
            for q in range(p):
                u[q] = V[q, j]
            last = j
        out[a] = slope_of(Sigma, u, rows[a])


@helper
def move_to_first_zero(rows, columns, move, new):  # type: ignore[no-untyped-def]
    """Add a share of the move to the pairs of ``new``, at most all of it: it ends where the first one becomes zero."""
    length = 1.0
    for k in range(rows.size):
        c = new[rows[k], columns[k]]
        if c * (c + move[k]) < 0.0:
            length = min(length, -c / move[k])
    for k in range(rows.size):
        i = rows[k]
        j = columns[k]
        c = new[i, j]
        moved = c + length * move[k]
        if c * (c + move[k]) < 0.0 and -c / move[k] <= length:
            moved = 0.0
        new[i, j] = moved
        new[j, i] = moved


@kernel
def support_descent(Sigma, G, Lam, rows, columns, new, U, steps, share, report):
    """Conjugate gradients on the model over the pairs with new_ij ≠ 0, as long as no entry changes its sign: coordinate
    descent is slow where the Hessian is ill-conditioned, and the model is quadratic there.

    Arguments as for :func:`newton_descent`, after it; ends when the residual has fallen to a share, after ``steps``
    steps, or at the first zero, where the entry stays. U is not kept up to date.
    """
    p = Sigma.shape[0]
    s = 0
    for a in range(rows.size):
        if new[rows[a], columns[a]] != 0.0:
            s += 1
    at_rows = np.empty(s, dtype=rows.dtype)
    at_columns = np.empty(s, dtype=columns.dtype)
    R = np.empty(s)
    diagonal = np.empty(s)
    weight = np.empty(s)  # an entry off the diagonal stands for two
    u = np.empty(p, dtype=Sigma.dtype)
    last = -1
    k = 0
    for a in range(rows.size):
        i = rows[a]
        j = columns[a]
        if new[i, j] != 0.0:
            if j != last:
                for q in range(p):
                    u[q] = U[q, j]
                last = j
            at_rows[k] = i
            at_columns[k] = j
            R[k] = -(G[i, j] + slope_of(Sigma, u, i) + (Lam[i, j] if new[i, j] > 0.0 else -Lam[i, j]))
            diagonal[k] = curvature(Sigma, i, j)
            weight[k] = 1.0 if i == j else 2.0
            k += 1
    # Loops and not expressions of arrays, which take seconds to compile.
    move = np.zeros(s)
    P = np.empty(s)
    Q = np.empty(s)
    V = np.empty((p, p), dtype=U.dtype)
    rho = 0.0
    for k in range(s):
        P[k] = R[k] / diagonal[k]
        rho += weight[k] * R[k] * P[k]
    target = share * share * rho
    for _ in range(steps):
        if rho <= target:
            break
        hessian_product(Sigma, at_rows, at_columns, P, V, Q)
        curve = 0.0
        for k in range(s):
            curve += weight[k] * P[k] * Q[k]
        before = rho
        rho = 0.0
        for k in range(s):
            move[k] += before / curve * P[k]
            R[k] -= before / curve * Q[k]
            rho += weight[k] * R[k] * R[k] / diagonal[k]
        for k in range(s):
            P[k] = R[k] / diagonal[k] + rho / before * P[k]
        report[SWEEPS] += 1.0
        report[STEPS] += s
        report[FLOPS] += s * (6.0 * p + 12.0)
    move_to_first_zero(at_rows, at_columns, move, new)


@kernel
def mirror(A):
    """Copy what is below the diagonal of A (p, p) above it."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[j, i] = A[i, j]
