"""Passes of the primal–dual splitting methods for non-smooth losses (Chierchia et al. 2015).

One step maps a point to another one ("image"), and the next point is a·image + b·point + c·anchor with a + b + c = 1:
(1, 0, 0) for the plain method, and those of Halpern's iteration. That is done while the numbers are at hand.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
from .memory import lone_row
from .projections import AllBut, cut_above, cut_to_flows, level_among

# What a dual pass reports, by position: ‖ΔU‖² and ⟨ΔU, ΔZ⟩ of Δ = image − point.
MOVED, CROSS = 0, 1
REPORT = 2
ROWS = 64  # that are projected before they are mixed: few enough to stay in the fastest memory


@struct
class Mixed:
    """One part of the variables: where a step maps it, where it is mixed from and to, and the anchor."""

    image: np.ndarray
    point: np.ndarray
    anchor: np.ndarray


@kernel
def descend(V, G, tau, out):
    """out = V − τG. All (rows, m)."""
    for j in range(V.shape[0]):
        for k in range(V.shape[1]):
            out[j, k] = V[j, k] - tau * G[j, k]


@kernel
def mix(image, point, anchor, a, b, c):
    """point ← a·image + b·point + c·anchor; returns ‖image − point‖² of before. All (rows, m)."""
    total = 0.0
    for j in range(image.shape[0]):
        for k in range(image.shape[1]):
            delta = image[j, k] - point[j, k]
            total += delta * delta
            point[j, k] = a * image[j, k] + b * point[j, k] + c * anchor[j, k]
    return total


@helper
def look_ahead(Z, VZ, Q, sigma, U, first, last):  # type: ignore[no-untyped-def]
    """U_i ← Q_i + σ(2Z_i − VZ_i) for the samples first…last.

    Entry by entry it is one loop over all rows: rows as short as there are classes would each begin a loop anew.
    """
    m = Z.shape[1]
    z, vz, q, u = Z.reshape(-1), VZ.reshape(-1), Q.reshape(-1), U.reshape(-1)
    for e in range(first * m, last * m):
        u[e] = q[e] + sigma * (2.0 * z[e] - vz[e])


@helper
def take_rows(Z, VZ, VZ0, Q, Q0, U, a, b, c, first, last):  # type: ignore[no-untyped-def]
    """Q and VZ are mixed for the samples first…last, whose images are U and Z; returns ‖U − Q‖² and ⟨U − Q, Z − VZ⟩ of
    before."""
    m = Z.shape[1]
    z, vz, vz0 = Z.reshape(-1), VZ.reshape(-1), VZ0.reshape(-1)
    q, q0, u = Q.reshape(-1), Q0.reshape(-1), U.reshape(-1)
    moved = 0.0
    cross = 0.0
    for e in range(first * m, last * m):
        step = u[e] - q[e]
        moved += step * step
        cross += step * (z[e] - vz[e])
        q[e] = a * u[e] + b * q[e] + c * q0[e]
        vz[e] = a * z[e] + b * vz[e] + c * vz0[e]
    return moved, cross


@helper
def shortfall(z, y, margin):  # type: ignore[no-untyped-def]
    """The hinge of a sample with the scores z."""
    top = z[y]
    for k in range(z.size):
        if k != y:
            top = max(top, z[k] + margin)
    return top - z[y]


@kernel
def dual_step(Z, VZ, Q, Y, loss, sigma, a, b, c, VZ0, Q0, U, first, last, report):
    """The dual half of a step, for the samples first…last: U_i ← prox_{σℓ*}(Q_i + σ(2Z_i − VZ_i)), a row of the domain
    of ℓ*. Then VZ and Q are mixed.

    Z, VZ : scores of the image W⁺ and of the point V; Q : dual point; VZ0, Q0 : anchors.
    """
    moved = 0.0
    cross = 0.0
    for start in range(first, last, ROWS):
        stop = min(start + ROWS, last)
        look_ahead(Z, VZ, Q, sigma, U, start, stop)
        for i in range(start, stop):
            loss.prox_conjugate(U[i], Y[i], sigma)
        far, along = take_rows(Z, VZ, VZ0, Q, Q0, U, a, b, c, start, stop)
        moved += far
        cross += along
    report[MOVED] = moved
    report[CROSS] = cross


@kernel
def flow_step(Z, VZ, Q, Y, mass, a, b, c, VZ0, Q0, U, first, last, report):
    """The dual half of a step of the budget, for the samples first…last: U_i ← the nearest point of tΔ − t·e_y to what
    is in U_i, t = ``mass`` ≥ 0 and Δ the unit simplex. Then VZ and Q are mixed; names as in :func:`dual_step`."""
    moved = 0.0
    cross = 0.0
    for start in range(first, last, ROWS):
        stop = min(start + ROWS, last)
        for i in range(start, stop):
            cut_to_flows(U[i], Y[i], mass)
        far, along = take_rows(Z, VZ, VZ0, Q, Q0, U, a, b, c, start, stop)
        moved += far
        cross += along
    report[MOVED] = moved
    report[CROSS] = cross


@kernel
def budget_ahead(Z, VZ, Q, Y, margin, sigma, U, first, last):
    """U_i ← Q_i + σ(2Z_i − VZ_i − margin·e_y): where the budget's dual step is taken from. The projections do not see
    a number added to a row, so this is a margin off the true class."""
    look_ahead(Z, VZ, Q, sigma, U, first, last)
    for i in range(first, last):
        U[i, Y[i]] -= sigma * margin


@kernel
def budget_gain(U, Y, mass, first, last):
    """Minus the derivative in t = ``mass`` of Σ_i ½ dist²(U_i, tΔ − t·e_y), Δ the unit simplex; and minus the
    derivative of that. A sample counts only if it sends all its mass to other classes: then it would send more."""
    gain = 0.0
    slope = 0.0
    for i in range(first, last):
        y = Y[i]
        level, kept = level_among(U[i], 1.0, AllBut(y), mass)  # type: ignore[call-arg]
        if level > U[i, y] + mass:
            gain += level - U[i, y] - mass
            slope += 1.0 + 1.0 / kept
    return gain, slope


@kernel
def smoothed_duals(Z, Y, loss, sigma, U):
    """U_i = prox_{σℓ*}(σZ_i): the gradient of the Moreau envelope of ℓ, and a subgradient of ℓ where no other one is
    near."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            U[i, k] = sigma * Z[i, k]
        loss.prox_conjugate(U[i], Y[i], sigma)


@kernel
def hinge_facts(Z, U, Y, loss, slack):
    """Σ_i ℓ, the number of samples whose loss is above ``slack``, and the labels that the rows of U push down (its
    positive entries). Z, U (n, m)."""
    total = 0.0
    active = 0
    entries = 0
    for i in range(Z.shape[0]):
        hinge = loss.value(Z[i], Y[i])
        total += hinge
        if hinge > slack:
            active += 1
        for k in range(Z.shape[1]):
            if U[i, k] > 0.0:
                entries += 1
    return total, active, entries


@kernel
def epigraph_step(scores, slacks, duals, masses, Y, margin, sigma, weight, a, b, c, first, last, report):
    """The dual half of a step of the constrained method, for the samples first…last.

    With D = T(2W − V) (row i: differences to the score of y_i) and ζ̂ = 2ζ − ζ_V, the rows (Ŷ_i/σ, ξ̂_i/σ') of
    Ŷ = Y + σD, ξ̂ = ξ + σ'ζ̂ are projected on the epigraph of max(· + r), in the norm in which ζ counts σ'/σ = ``weight``
    times as much as an entry of Y, and what the projection takes away is the new dual point. It has Y ≥ 0 and
    ξ_i = −Σ_k Y_ik, always, so (TᵀY, −ξ) is (U, mass): U_i is Y_i off the true class and −Σ of that on it.

    scores : (Z, VZ, VZ0) · slacks : ζ of the image, the point and the anchor · duals : (U, Q, Q0) · masses : of the
    same rows, (mass, q, q0) · the points move, and so do U and mass
    """
    Z, VZ, VZ0 = scores.image, scores.point, scores.anchor
    zeta, zetaV, zeta0 = slacks.image, slacks.point, slacks.anchor
    U, Q, Q0 = duals.image, duals.point, duals.anchor
    mass, q, q0 = masses.image, masses.point, masses.anchor
    m = Z.shape[1]
    row = lone_row(m)
    moved = 0.0
    cross = 0.0
    for i in range(first, last):
        y = Y[i]
        level = 2.0 * zeta[i] - zetaV[i] - q[i] / (weight * sigma)
        base = 2.0 * Z[i, y] - VZ[i, y] - margin + level
        for k in range(m):
            row[k] = Q[i, k] / sigma + (2.0 * Z[i, k] - VZ[i, k]) - base
        true = q[i] + Q[i, y]
        row[y] = true / sigma - level
        cut_above(row, weight)
        off = 0.0
        for k in range(m):
            row[k] *= sigma
            off += row[k]
        step = row[y] - true
        moved += step * step
        step = off - q[i]
        moved += step * step / weight
        cross -= step * (zeta[i] - zetaV[i])
        mass[i] = off
        row[y] -= off
        step = row[y] - Q[i, y]
        moved -= step * step  # the entry of the true class was counted above, as it is in Y
        for k in range(m):
            U[i, k] = row[k]
        q[i] = a * mass[i] + b * q[i] + c * q0[i]
        zetaV[i] = a * zeta[i] + b * zetaV[i] + c * zeta0[i]
    far, along = take_rows(Z, VZ, VZ0, Q, Q0, U, a, b, c, first, last)
    report[MOVED] = moved + far
    report[CROSS] = cross + along


@kernel
def linear_step(scores, slacks, duals, masses, halves, Y, margin, sigma, a, b, c, first, last, report):
    """The dual half of a step of the method with linear constraints, for the samples first…last.

    Y ≥ 0 belongs to Tx + r − ζ ≤ 0, H (n, m) to the rows of ζ (n, m) being constant and not negative; U and mass say
    what Y is, as in :func:`epigraph_step`, whose other names are the same. halves : H of image, point and anchor.
    """
    Z, VZ, VZ0 = scores.image, scores.point, scores.anchor
    zeta, zetaV, zeta0 = slacks.image, slacks.point, slacks.anchor
    U, Q, Q0 = duals.image, duals.point, duals.anchor
    mass, q, q0 = masses.image, masses.point, masses.anchor
    H, HQ, H0 = halves.image, halves.point, halves.anchor
    m = Z.shape[1]
    row = lone_row(m)
    moved = 0.0
    cross = 0.0
    for i in range(first, last):
        y = Y[i]
        base = 2.0 * Z[i, y] - VZ[i, y]
        true = q[i] + Q[i, y]
        mean = 0.0
        for k in range(m):
            ahead = 2.0 * zeta[i, k] - zetaV[i, k]
            point = true if k == y else Q[i, k]
            shift = 0.0 if k == y else margin
            row[k] = max(point + sigma * (2.0 * Z[i, k] - VZ[i, k] - base + shift - ahead), 0.0)
            mean += HQ[i, k] + sigma * ahead
        mean = max(mean / m, 0.0)
        total = 0.0
        for k in range(m):
            ahead = 2.0 * zeta[i, k] - zetaV[i, k]
            change = zeta[i, k] - zetaV[i, k]
            step = HQ[i, k] + sigma * ahead - mean
            H[i, k] = step
            step -= HQ[i, k]
            moved += step * step
            cross += step * change
            HQ[i, k] = a * H[i, k] + b * HQ[i, k] + c * H0[i, k]
            step = row[k] - (true if k == y else Q[i, k])
            moved += step * step
            cross -= step * change
            total += row[k]
            zetaV[i, k] = a * zeta[i, k] + b * zetaV[i, k] + c * zeta0[i, k]
        mass[i] = total
        row[y] -= total
        for k in range(m):
            U[i, k] = row[k]
        q[i] = a * mass[i] + b * q[i] + c * q0[i]
    _, along = take_rows(Z, VZ, VZ0, Q, Q0, U, a, b, c, first, last)
    report[MOVED] = moved
    report[CROSS] = cross + along


@kernel
def limit_flows(U, Y, level):
    """Scale the rows of U = q − (Σq)·e_y whose flows q off the true class add up to more than ``level`` down to it;
    returns the sum of all flows."""
    total = 0.0
    for i in range(U.shape[0]):
        y = Y[i]
        off = 0.0
        for k in range(U.shape[1]):
            if k != y:
                off += U[i, k]
        if off > level:
            for k in range(U.shape[1]):
                U[i, k] *= level / off
            off = level
        total += off
    return total


@kernel
def hinge_rows(Z, Y, margin, out):
    """out_i = the hinge of sample i. Z (n, m), out (n,)."""
    for i in range(Z.shape[0]):
        out[i] = shortfall(Z[i], Y[i], margin)


@kernel
def hinge_along(Z, Y, margin, factor):
    """Σ_i of the hinge at factor·Z, and its slope in the factor (from the right)."""
    total = 0.0
    slope = 0.0
    for i in range(Z.shape[0]):
        y = Y[i]
        top = 0.0
        rise = 0.0
        for k in range(Z.shape[1]):
            if k != y:
                gap = Z[i, k] - Z[i, y]
                height = factor * gap + margin
                if height > top or (height == top and gap > rise):
                    top = height
                    rise = gap
        total += top
        slope += rise
    return total, slope
