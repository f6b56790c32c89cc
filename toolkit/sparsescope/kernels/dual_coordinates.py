"""Dual coordinate descent for the Crammer–Singer hinge with ridge (Keerthi et al. 2008; solvers/dual_cd.py).

The dual point of sample i is a row u_i of {u ≥ 0, Σu = C_i}, and W = Σ_i x_i (C_i·e_y − u_i)ᵀ. With the gradient
g = Wᵀx_i + μ(1 − e_y), the dual objective has the curvature Q_i = ‖x_i‖² in all directions of one row, so its minimum
there is a projection: u_i ← P(u_i + g/Q_i). A *face* is the set of the points whose zeros are those of a dual point.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
from .coordinates import BEFORE, COUNT, PLACE, SEED, SWEEP, TOTAL, next_seed
from .memory import lone_row, lone_row_as
from .projections import cut_to_simplex

OPTIMAL = 1e-12  # violations up to here, against the margin, are rounding
# What sweeps report, by position: entries of W read and changed, worst violation, samples looked at, the dual's gain.
READ, WRITTEN, WORST, VISITS, GAINED = 0, 1, 2, 3, 4
REPORT = 5


@struct
class DualRows:
    """Dual rows of all samples, and the classes that a sweep looks at.

    shares (n, m) float64: u · labels (n, m) int32: active classes of each sample, counts (n,) int32: their number ·
    gains (n,) float64: Q_i·‖move of u_i‖², at least what the last step of a sample gained and at most twice that
    """

    shares: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    gains: np.ndarray


@struct
class Scratch:
    """Working rows of a sweep: g, u, move (m,) float64 and moved (m,) int32, see :func:`scratch`."""

    g: np.ndarray
    u: np.ndarray
    move: np.ndarray
    moved: np.ndarray


@helper
def scratch(m):  # type: ignore[no-untyped-def]
    """Working rows for m classes."""
    return Scratch(lone_row(m), lone_row(m), lone_row(m), lone_row_as(m, np.int32))  # type: ignore[call-arg]


@helper
def bounds_of(s, size):  # type: ignore[no-untyped-def]
    """The largest gradient, and the smallest one where u has mass, of the first ``size`` entries."""
    top, least = -np.inf, np.inf
    for e in range(size):
        top = max(top, s.g[e])
        least = min(least, s.g[e] if s.u[e] > 0.0 else np.inf)
    return top, least


@helper
def move_row(samples, i, square, amount, labels, size, rows, weights, s, report):  # type: ignore[no-untyped-def]
    """u_i ← P(u_i + g/Q_i) over the first ``size`` labels of a list, and W with it."""
    for e in range(size):
        s.u[e] += s.g[e] / square
    cut_to_simplex(s.u[:size], amount)
    count, gain = 0, 0.0
    for e in range(size):
        step = rows.shares[i, labels[e]] - s.u[e]
        rows.shares[i, labels[e]] = s.u[e]
        s.moved[count] = labels[e]  # without a branch, which would be taken or not at random
        s.move[count] = step
        gain += step * step
        count += step != 0.0
    rows.gains[i] = square * gain
    weights.add(samples, i, s.moved, s.move, count)
    report[WRITTEN] += count * (samples.stop(i) - samples.start(i))


@kernel
def sweep_all(samples, squares, y, margin, most, order, slack, rows, weights, report):
    """Exact steps over all classes for the samples of ``order``, one after the other.

    samples : X by rows · squares (n,): Q · most (n,): C_i · slack : a class without mass stays active if its gradient
    is less than this below the smallest one of those with mass · weights : W, updated · report : see above, added to.
    """
    m = weights.classes()
    s = scratch(m)
    every = lone_row_as(m, np.int32)
    for k in range(m):
        every[k] = k
    for t in range(order.size):
        i = order[t]
        for k in range(m):  # to compile the copy of an array into a part of another takes seconds
            s.g[k] = margin
            s.u[k] = rows.shares[i, k]
        s.g[y[i]] = 0.0
        weights.add_all_scores(samples, i, s.g)
        report[READ] += m * (samples.stop(i) - samples.start(i))
        top, least = bounds_of(s, m)
        count = 0
        for k in range(m):
            rows.labels[i, count] = k
            count += (s.u[k] > 0.0) | (s.g[k] > least - slack)
        rows.counts[i] = count
        rows.gains[i] = 0.0
        report[WORST] = max(report[WORST], top - least)
        if top - least > OPTIMAL * margin:
            move_row(samples, i, squares[i], most[i], every, m, rows, weights, s, report)


@helper
def work_of(report):  # type: ignore[no-untyped-def]
    """Entries of W read and changed. Work is counted and not timed, so that a run is reproducible."""
    return report[READ] + 2.0 * report[WRITTEN]


@helper
def choose_moving(rows, share, order):  # type: ignore[no-untyped-def]
    """List the samples with a choice of classes whose last step gained more than a share of the mean; their number."""
    n, count, total = rows.gains.size, 0, 0.0
    for i in range(n):
        total += rows.gains[i]
    least = share * total / n
    for i in range(n):
        if rows.counts[i] > 1 and rows.gains[i] > least:
            order[count] = i
            count += 1
    return count


@kernel
def sweeps_active(samples, squares, y, margin, most, sweeps, share, pace, limit, rows, weights, walk, part, report):
    """Sweeps of the same steps over the active classes of each sample alone, which stay as they are, in random order.

    They end after ``sweeps``, after work up to ``limit``, when no sample is left to move (:func:`choose_moving`), or
    when a sweep gains less than ``pace`` for its work. Stops between two samples after about as much work as ``part``;
    returns whether it is at its end.

    walk : for n samples, with the seed of the order · report : see above, added to
    """
    s = scratch(weights.classes())
    order, at, sums = walk.order, walk.at, walk.sums
    sweep, place, count, seed = at[SWEEP], at[PLACE], at[COUNT], at[SEED]
    gained, before = sums[TOTAL], sums[BEFORE]
    end = work_of(report) + part
    while sweep < sweeps and (place > 0 or work_of(report) < limit):
        if place == 0:
            count = choose_moving(rows, share, order)
            gained, before = 0.0, work_of(report)
        while place < count:
            if work_of(report) > end:
                at[SWEEP], at[PLACE], at[COUNT], at[SEED] = sweep, place, count, seed
                sums[TOTAL], sums[BEFORE] = gained, before
                return False
            seed = next_seed(seed)
            other = place + (seed >> 8) % (count - place)
            i = order[other]
            order[other] = order[place]
            place += 1
            labels, size = rows.labels[i], rows.counts[i]
            rows.gains[i] = 0.0
            for e in range(size):
                s.g[e] = 0.0 if labels[e] == y[i] else margin
                s.u[e] = rows.shares[i, labels[e]]
            weights.add_scores(samples, i, labels, size, s.g)
            report[READ] += size * (samples.stop(i) - samples.start(i))
            top, least = bounds_of(s, size)
            report[WORST] = max(report[WORST], top - least)
            if top - least > OPTIMAL * margin:
                move_row(samples, i, squares[i], most[i], labels, size, rows, weights, s, report)
                gained += rows.gains[i]
        report[VISITS] += count
        report[GAINED] += gained
        if gained <= pace * (work_of(report) - before):
            break
        sweep, place = sweep + 1, 0
    return True


@kernel
def weights_of(samples, y, most, shares, weights):
    """W = Σ_i x_i (C_i·e_y − u_i)ᵀ of dual rows u (n, m)."""
    m = weights.classes()
    s = scratch(m)
    weights.V[:] = 0.0
    for i in range(y.size):
        count = 0
        for k in range(m):
            step = (most[i] if k == y[i] else 0.0) - shares[i, k]
            if step != 0.0:
                s.moved[count] = k
                s.move[count] = step
                count += 1
        weights.add(samples, i, s.moved, s.move, count)


# ------------------------------------------------------------------------------------------------------- on a face
@kernel
def face_weights(samples, listed, starts, labels, D, weights):
    """V = Σ x_i d_iᵀ of a direction on a face: entries D of the samples ``listed``, with their labels."""
    weights.V[:] = 0.0
    for q in range(listed.size):
        first, last = starts[q], starts[q + 1]
        weights.add(samples, listed[q], labels[first:last], D[first:last], last - first)


@kernel
def face_slopes(samples, listed, starts, labels, weights, own, S):
    """S = what XV + ``own`` is on the face, each sample's entries made to sum to zero."""
    for q in range(listed.size):
        first, last = starts[q], starts[q + 1]
        for e in range(first, last):
            S[e] = own[e]
        weights.add_scores(samples, listed[q], labels[first:last], last - first, S[first:last])
        total = 0.0
        for e in range(first, last):
            total += S[e]
        total /= last - first
        for e in range(first, last):
            S[e] -= total


@kernel
def face_moves(listed, starts, labels, most, shares, D, length, moves):
    """moves = P(u + length·D) − u on the face."""
    s = scratch(shares.shape[1])
    for q in range(listed.size):
        i, first, last = listed[q], starts[q], starts[q + 1]
        for e in range(first, last):
            s.u[e - first] = shares[i, labels[e]] + length * D[e]
        cut_to_simplex(s.u[: last - first], most[i])
        for e in range(first, last):
            moves[e] = s.u[e - first] - shares[i, labels[e]]
