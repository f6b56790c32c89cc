"""Conjugate gradients on the exact second-order model of F, on a face: entries of W whose signs are given.

There the model is ½δᵀHδ + gᵀδ with H = XᵀCX + ridge, where C_i is the Hessian of the loss at sample i, divided by n
(coordinates.py). It is never made: a step takes the scores E = XP of its direction, bends them to CE, and takes the
slopes XᵀCE.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .coordinates import COUNT, FLOPS, PLACE, STEPS, SWEEP, SWEEPS
from .hessians import add_column, curvature_along, is_factored, slope_along
from .memory import lone_row

TOGETHER = 128  # samples whose scores are bent together
# What a step is at: the residual before the first one, the scores of the direction, their bending, the new residual.
RESIDUAL, SCORES, BEND, STEP = range(4)
# Of the sums of a walk: ⟨residual, preconditioned residual⟩, the same one step before, the curvature along the
# direction, and what is to be reached.
RHO, RHO_BEFORE, CURVE, TARGET = range(4)


@helper
def _bend_classes(C, E, first, last, curve):  # type: ignore[no-untyped-def]
    """E_i ← C_i E_i for a few samples, where C and E lie class after class: with one triangle of C, which is symmetric.
    Returns ``curve`` and their share of ⟨E, CE⟩."""
    m, size = E.shape[1], last - first
    held = np.empty((m, TOGETHER))
    bent = np.empty((m, TOGETHER))
    for k in range(m):
        for i in range(size):
            held[k, i] = E[first + i, k]
            bent[k, i] = C[first + i, k, k] * held[k, i]
    for k in range(m):
        for q in range(k):
            for i in range(size):
                bent[k, i] += C[first + i, q, k] * held[q, i]
                bent[q, i] += C[first + i, q, k] * held[k, i]
    for k in range(m):
        for i in range(size):  # apart from the next loop, which may or may not be known to write elsewhere
            curve += bent[k, i] * held[k, i]
        for i in range(size):
            E[first + i, k] = bent[k, i]
    return curve


@helper
def _bend(C, E, first, last, curve):  # type: ignore[no-untyped-def]
    """The same where they lie sample after sample."""
    m = E.shape[1]
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


@helper
def _bend_apart(C, E, first, last, curve):  # type: ignore[no-untyped-def]
    """The same where C holds the diagonals of the Hessians."""
    for k in range(E.shape[1]):
        for i in range(first, last):
            if E[i, k] != 0.0:  # what no entry of the working set reaches is not known
                bent = C[i, k, 0] * E[i, k]
                curve += bent * E[i, k]
                E[i, k] = bent
    return curve


@helper
def _bend_factored(C, E, first, last, curve):  # type: ignore[no-untyped-def]
    """The same where it holds factors of them."""
    lag = np.zeros(TOGETHER)
    for k in range(E.shape[1]):
        for i in range(first, last):
            if E[i, k] != 0.0:
                lag[i - first] += C[i, k, 1] * E[i, k]
    for k in range(E.shape[1]):
        for i in range(first, last):
            if E[i, k] != 0.0 or lag[i - first] != 0.0:
                bent = C[i, k, 0] * E[i, k] - C[i, k, 1] * lag[i - first]
                curve += bent * E[i, k]
                E[i, k] = bent
    return curve


# ------------------------------------------------------------------------- the four parts of a step; each stops in time
@helper
def _residuals(columns, ones, rows, classes, t, ridge, C, R, w, place, end, rho, P, left, diagonal, report):  # type: ignore[no-untyped-def]
    """Residual, diagonal of the Hessian and direction of the entries from ``place`` on. Returns the next place, and
    ``rho`` with their share of ⟨residual, preconditioned residual⟩."""
    while place < rows.size and report[FLOPS] <= end:
        j, k = rows[place], classes[place]
        slope = slope_along(columns, j, k, R) if j >= 0 else slope_along(ones, 0, k, R)
        slope += ridge[place] * w[place]
        if w[place] != 0.0:
            slope += t[place] if w[place] > 0.0 else -t[place]
        curve = curvature_along(columns, j, k, C) if j >= 0 else curvature_along(ones, 0, k, C)
        diagonal[place] = curve + ridge[place]
        left[place] = -slope
        P[place] = -slope / diagonal[place]
        rho += slope * slope / diagonal[place]
        length = columns.stop(j) - columns.start(j) if j >= 0 else R.shape[0]
        report[FLOPS] += 5.0 * length
        place += 1
    return place, rho


@helper
def _scores(columns, ones, rows, classes, P, place, end, E, report):  # type: ignore[no-untyped-def]
    """E = XP, with the entries from ``place`` on. Returns the next place."""
    if place == 0:
        for i in range(E.shape[0]):
            for k in range(E.shape[1]):
                E[i, k] = 0.0
    while place < rows.size and report[FLOPS] <= end:
        j, k = rows[place], classes[place]
        length = add_column(columns, j, k, P[place], E) if j >= 0 else add_column(ones, 0, k, P[place], E)
        report[FLOPS] += 2.0 * length
        place += 1
    return place


@helper
def _bent(C, E, place, end, curve, report):  # type: ignore[no-untyped-def]
    """E_i ← C_i E_i from sample ``place`` on. Returns the next place, and ``curve`` with their share of ⟨E, CE⟩."""
    n, m = E.shape
    while place < n and report[FLOPS] <= end:
        last = min(place + TOGETHER, n)
        if C.shape[2] == 1:
            curve = _bend_apart(C, E, place, last, curve)
        elif is_factored(C):
            curve = _bend_factored(C, E, place, last, curve)
        elif E.flags.f_contiguous:
            curve = _bend_classes(C, E, place, last, curve)
        else:
            curve = _bend(C, E, place, last, curve)
        report[FLOPS] += (last - place) * m * (2.0 * C.shape[2] + 2.0)
        place = last
    return place, curve


@helper
def _step(columns, ones, rows, classes, ridge, E, size, place, end, rho, P, left, diagonal, move, report):  # type: ignore[no-untyped-def]
    """A step along P for the entries from ``place`` on, where E = C·XP. Returns as :func:`_residuals`."""
    while place < rows.size and report[FLOPS] <= end:
        j, k = rows[place], classes[place]
        slope = slope_along(columns, j, k, E) if j >= 0 else slope_along(ones, 0, k, E)
        move[place] += size * P[place]
        left[place] -= size * (slope + ridge[place] * P[place])
        rho += left[place] * left[place] / diagonal[place]
        length = columns.stop(j) - columns.start(j) if j >= 0 else E.shape[0]
        report[FLOPS] += 2.0 * length + 10.0
        place += 1
    return place, rho


@kernel
def conjugate_descent(
    columns, ones, rows, classes, t, ridge, C, R, w, steps, share, flat, E, P, left, diagonal, move, walk, most, report
):
    """Conjugate-gradient steps on a face, with the diagonal as preconditioner. They end when ⟨residual, preconditioned
    residual⟩ has fallen to share², or where the curvature along the direction is no more than ``flat`` times that of
    single entries: nothing changes along it. Stops after about ``most`` flops; returns whether it is at its end.

    rows, classes, t, ridge, w : (s,); a negative row is the intercept's · R (n, m), gradients of the samples there ·
    E (n, m); P, left, diagonal (s,): working space · move (s,): zero on entry, then what the steps add to w · walk: of
    no entries
    """
    s, at, sums = rows.size, walk.at, walk.sums
    step, place, phase = at[SWEEP], at[PLACE], at[COUNT]
    rho, before, curve, target = sums[RHO], sums[RHO_BEFORE], sums[CURVE], sums[TARGET]
    end = report[FLOPS] + most
    while phase != SCORES or place > 0 or (step < steps and rho > target):
        if phase == RESIDUAL:
            place, rho = _residuals(
                columns, ones, rows, classes, t, ridge, C, R, w, place, end, rho, P, left, diagonal, report
            )
        elif phase == SCORES:
            place = _scores(columns, ones, rows, classes, P, place, end, E, report)
        elif phase == BEND:
            place, curve = _bent(C, E, place, end, curve, report)
        else:
            size = before / curve
            place, rho = _step(
                columns, ones, rows, classes, ridge, E, size, place, end, rho, P, left, diagonal, move, report
            )
        if place < (E.shape[0] if phase == BEND else s):
            at[SWEEP], at[PLACE], at[COUNT] = step, place, phase
            sums[RHO], sums[RHO_BEFORE], sums[CURVE], sums[TARGET] = rho, before, curve, target
            return False
        place = 0
        if phase == RESIDUAL:
            target, phase = share * share * rho, SCORES
        elif phase == SCORES:
            curve, phase = 0.0, BEND
        elif phase == BEND:
            apart = 0.0
            for a in range(s):
                curve += ridge[a] * P[a] * P[a]
                apart += diagonal[a] * P[a] * P[a]
            if curve <= flat * apart:
                break
            before, rho, phase = rho, 0.0, STEP
        else:
            for a in range(s):
                P[a] = left[a] / diagonal[a] + rho / before * P[a]
            report[SWEEPS] += 1.0
            report[STEPS] += s
            step, phase = step + 1, SCORES
    return True
