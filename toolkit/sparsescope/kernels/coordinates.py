"""Coordinate descent on quadratic models of F: single entries of W, with a low-rank or an exact Hessian.

The model at W is gᵀδ + ½δᵀHδ + Σ_a (t_a|w_a + δ_a| + ½r_a(w_a + δ_a)²) over the s entries a of a working set, each with
its own threshold t_a ≥ 0 and ridge r_a ≥ 0. It depends on neither the loss nor the penalty: these kernels are compiled
once for a type of number.

``new`` (s,) holds w + δ, so that an entry that ends at zero is zero exactly.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
from .free_intercept import free_curvature, free_shift, free_slope
from .hessians import LEAST_CURVATURE, add_column, bend, curvature_along, model_slope

# Of a report: sweeps, coordinates looked at, flops, violation of the last sweep, largest violation in the first one.
SWEEPS, STEPS, FLOPS, LEFT, TOP = range(5)
REPORT = 5
# Of a walk: sweeps done, place in the present one, places that count or moved ones, seed of the order; and the sums of
# the sweep so far, its largest violation, that of the sweep before, and the sum of the first sweep.
SWEEP, PLACE, COUNT, SEED = range(4)
TOTAL, WORST, BEFORE, FIRST = range(4)


@struct
class Walk:
    """Place at which a descent stands: it stops between two coordinates, and goes on there as if it had not stopped.

    order (s,) int64 : in which coordinates are looked at · kept : numbers that a descent keeps up to date: the diagonal
    of the Hessian (s,), where it was needed, or Q̂ᵀδ (r,) · at (4,) int64, sums (4,) : see above ·
    along, inverse, shift : (s, m), (m, m), (m,) where the intercept is eliminated (:func:`exact_descent`), else empty;
    (s, 1), (m, 1), (m,) where Hessians are diagonal · lag : (n,) where C holds factors (hessians.py), else empty
    """

    order: np.ndarray
    kept: np.ndarray
    at: np.ndarray
    sums: np.ndarray
    along: np.ndarray
    inverse: np.ndarray
    shift: np.ndarray
    lag: np.ndarray


def walk(size: int, seed: int = 1, kept: int | None = None, free: int = 0, width: int = 0, lag: int = 0) -> Walk:
    """Return the place of a descent over ``size`` coordinates that has not begun.

    ``kept`` : numbers it keeps · ``free`` : scores whose intercept it eliminates, the last of the coordinates ·
    ``width`` : numbers in a row of their Hessian, 1 where it is diagonal · ``lag`` : samples whose R lags behind
    """
    return Walk(
        np.arange(size - free),
        np.zeros(size if kept is None else kept),
        np.array([0, 0, size - free, seed]),  # type: ignore[call-arg]
        np.array([0.0, 0.0, np.inf, 0.0]),
        np.zeros((size if free else 0, width)),
        np.zeros((free, width)),
        np.zeros(free),
        np.zeros(lag),
    )


@helper
def next_seed(seed):  # type: ignore[no-untyped-def]
    """Return the seed after this one; its bits from the ninth on are random enough to choose by."""
    return (seed * 1103515245 + 12345) % 2147483648


@helper
def drawn(order, place, stop, seed):  # type: ignore[no-untyped-def]
    """Return one of the entries at ``place`` to ``stop`` − 1 of an order, chosen by a seed; it changes places with the
    first of them."""
    other = place + (seed >> 8) % (stop - place)
    chosen = order[other]
    order[other] = order[place]
    order[place] = chosen
    return chosen


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
    """dist(−slope, t∂|w|). Without branches, so that the compiler makes vector instructions of a loop over entries."""
    inside = max(abs(slope) - t, 0.0)
    above = abs(slope + t)
    below = abs(slope - t)
    return above if w > 0.0 else (below if w < 0.0 else inside)


@kernel
def entry_omega(w, t, ridge, first, last):
    """Σ t_a|w_a| + ½r_a w_a² over the entries from ``first`` to ``last`` − 1."""
    total = 0.0
    for a in range(first, last):
        total += t[a] * abs(w[a]) + 0.5 * ridge[a] * w[a] * w[a]
    return total


@kernel
def entry_violations(G, W, thresholds, ridge, out):
    """out_a = dist(−G_a, ∂(t_a|w_a| + ½r·w_a²)) for all entries. G, W, out (N,); thresholds (N,), or (1,) if it is the
    same for all."""
    if thresholds.size == 1:
        t = thresholds[0]
        for a in range(W.size):
            out[a] = off_by(G[a] + ridge * W[a], W[a], t)
    else:
        for a in range(W.size):
            out[a] = off_by(G[a] + ridge * W[a], W[a], thresholds[a])


@kernel
def strong_excess(G, W, thresholds, top, near, out):
    """out_a = max(|G_a| − t_a + min(top, near·t_a), 0) at entries at zero, and zero at the others.

    Positive where a fall of λ by this minimum may bring the entry in (the sequential strong rule, Tibshirani et al.
    2012). Shapes as for :func:`entry_violations`.
    """
    one = thresholds.size == 1
    for a in range(W.size):
        t = thresholds[0 if one else a]
        excess = max(abs(G[a]) - t + min(top, near * t), 0.0)
        out[a] = excess if W[a] == 0.0 else 0.0


@kernel
def single_violations(g, scale, w, t, ridge, paper_scale, lam, violation, paper):
    """Write what :func:`.rows.row_violations` does for rows of one entry, of which λΩ is Σ t|w| + ½·ridge·w². The
    criterion of Blondel et al. of a zero row is paper_scale·|g| less λ; NaN where paper_scale is 0. g, w, violation,
    paper (b,)."""
    for j in range(g.size):
        violation[j] = off_by(scale * g[j] + ridge * w[j], w[j], t)
        excess = paper_scale * abs(scale * g[j]) - lam
        paper[j] = max(excess, 0.0) if w[j] == 0.0 else abs(excess)
    if paper_scale == 0.0:
        paper[:] = np.nan


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
@helper
def _stand(at, sums, sweep, place, count, seed, total, top, before):  # type: ignore[no-untyped-def]
    """Write down where a descent stops."""
    at[SWEEP], at[PLACE], at[COUNT], at[SEED] = sweep, place, count, seed
    sums[TOTAL], sums[WORST], sums[BEFORE] = total, top, before


@kernel
def exact_descent(columns, ones, rows, classes, t, ridge, C, R, new, sweeps, share, floor, margin, walk, most, report):
    """Sweeps in random order over the model with H = XᵀCX (Yuan et al. 2012). They end when its violations add up to a
    share of those in the first sweep, or when none is above ``floor``. Stops after about ``most`` flops; returns
    whether it is at its end. Sweep −1 of the walk says that the model is solved; otherwise it goes on where more sweeps
    are allowed.

    rows, classes, t, ridge, new : (s,); a negative row is the intercept's · C (n, m, ·) in one of its forms · R (n, m),
    gradients of the samples on entry, holds these and C·Xδ, or what hessians.py keeps of it, so that looking at an
    entry costs a pass over its column and needs no separate gradient; moving it costs another one of m numbers a
    sample, or of one or two ·
    walk : where it has B⁻¹ = (ΣC_i)⁻¹ as ``inverse``, the intercept is eliminated: after each move it is, at ``shift``
    from where it was, the one that solves the model, and ``order`` has none of its entries. R and ``new`` do not hold
    that shift. An entry costs another pass of m numbers a sample when it is looked at for the first time ·
    margin ≥ 0: an entry at zero whose slope is below t by more than margin times the largest violation of the last
    sweep is left out until the others are solved (the inner level of shrinking); negative: none is left out
    """
    order, H, at, sums = walk.order, walk.kept, walk.at, walk.sums
    along, inverse, shift, lag = walk.along, walk.inverse, walk.shift, walk.lag
    s, wide, free = order.size, C.shape[2], shift.size > 0
    sweep, place, active, seed = at[SWEEP], at[PLACE], at[COUNT], at[SEED]
    total, top, before = sums[TOTAL], sums[WORST], sums[BEFORE]
    end = report[FLOPS] + most
    while sweep < sweeps:
        while place < active:
            if report[FLOPS] > end:
                _stand(at, sums, sweep, place, active, seed, total, top, before)
                return False
            seed = next_seed(seed)
            a = drawn(order, place, active, seed)
            j, k = rows[a], classes[a]
            length = columns.stop(j) - columns.start(j) if j >= 0 else R.shape[0]
            b = ridge[a] * new[a]
            b += model_slope(columns, j, k, C, R, lag) if j >= 0 else model_slope(ones, 0, k, C, R, lag)
            report[STEPS] += 1.0
            report[FLOPS] += 10.0 + (4.0 if lag.size else 2.0) * length + 2.0 * along.shape[1]
            if free:
                if H[a] == 0.0:
                    H[a] = free_curvature(columns, j, k, C, along, inverse, a) + LEAST_CURVATURE
                    report[FLOPS] += (3.0 + 2.0 * along.shape[1]) * length + 3.0 * along.shape[1] ** 2
                b += free_slope(along, shift, a, k)
            wrong = off_by(b, new[a], t[a])
            if margin >= 0.0 and new[a] == 0.0 and t[a] - abs(b) > margin * before:
                active -= 1
                order[place], order[active] = order[active], a
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
                length = bend(columns, j, k, z, C, R, lag) if j >= 0 else bend(ones, 0, k, z, C, R, lag)
                report[FLOPS] += length * (1.0 + 2.0 * wide) + 3.0 * along.shape[1] ** 2
                if free:
                    free_shift(along, inverse, shift, a, k, z)
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
    _stand(at, sums, sweep, place, active, seed, total, top, before)
    return True


@kernel
def move_scores(columns, ones, rows, classes, delta, first, last, E):
    """E += Xδ of the entries (rows, classes) from ``first`` to ``last``; a negative row is the intercept's. delta (s,),
    E (n, m)."""
    for a in range(first, last):
        if delta[a] != 0.0:
            if rows[a] >= 0:
                add_column(columns, rows[a], classes[a], delta[a], E)
            else:
                add_column(ones, 0, classes[a], delta[a], E)
