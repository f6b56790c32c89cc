"""The Gram matrix of weighted columns, and coordinate descent on the model of F that has it as its Hessian.

Where a working set has few entries and their columns have many, a sweep over the Gram matrix costs next to nothing,
whatever the number of samples is; making it costs as much as some sweeps over the columns.
"""

from __future__ import annotations

from ..jit.parts import kernel
from .coordinates import FLOPS, LEFT, STEPS, SWEEPS, drawn, next_seed, off_by, soft
from .hessians import LEAST_CURVATURE, slope_along


@kernel
def entry_slopes(columns, ones, rows, classes, R, first, last, slope):
    """slope_a = Σ_i x_ij R_ik for the entries from ``first`` to ``last``; a negative row is the intercept's."""
    for a in range(first, last):
        if rows[a] >= 0:
            slope[a] = slope_along(columns, rows[a], classes[a], R)
        else:
            slope[a] = slope_along(ones, 0, classes[a], R)


@kernel
def weighted_columns(columns, rows, weights, first, places, block):
    """block_ia = weights_i·x_(first + i)a for some samples from ``first`` on and the columns of a working set, (s,).

    A negative row is the intercept's: its column is of ones. weights (b,) · block (b, s), in Fortran's order · places
    (s,): where each column is read next; they move on, and are set where ``first`` is 0. Columns are sorted by sample.
    """
    for a in range(rows.size):
        j = rows[a]
        if j < 0:
            for i in range(weights.size):
                block[i, a] = weights[i]
            continue
        for i in range(weights.size):
            block[i, a] = 0.0
        p = places[a] if first > 0 else columns.start(j)
        stop = columns.stop(j)
        while p < stop and columns.row(p, j) < first + weights.size:
            i = columns.row(p, j) - first
            block[i, a] = weights[i] * columns.entry(p, j)
            p += 1
        places[a] = p


@kernel
def gram_descent(H, t, ridge, slope, new, sweeps, target, order, seed, report):
    """Sweeps in random order over the model with Hessian H + ridge; they end when its violations, which a report holds
    as LEFT, add up to ``target`` or less. Returns the next seed.

    H (s, s) · t, ridge, new (s,) · slope (s,): of the loss's model at ``new``, kept up to date · order (s,) int64
    """
    s = t.size
    for _ in range(sweeps):
        total = 0.0
        moved = 0
        for place in range(s):
            seed = next_seed(seed)
            a = drawn(order, place, s, seed)
            b = slope[a] + ridge[a] * new[a]
            total += off_by(b, new[a], t[a])
            curve = H[a, a] + ridge[a] + LEAST_CURVATURE
            z = soft(new[a] - b / curve, t[a] / curve) - new[a]
            if z != 0.0:
                moved += 1
                new[a] += z
                for q in range(s):
                    slope[q] += z * H[a, q]
        report[SWEEPS] += 1.0
        report[STEPS] += s
        report[FLOPS] += 12.0 * s + 2.0 * s * moved
        report[LEFT] = total
        if total <= target:
            break
    return seed
