"""Passes of the primal–dual splitting methods for the Crammer–Singer hinge (Chierchia et al. 2015).

One step maps a point to another one ("image"), and the next point is a·image + b·point + c·anchor with a + b + c = 1:
(1, 0, 0) for the plain method, and what Halpern's iteration asks for. That is done while the numbers are at hand.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .projections import cut_to_simplex

# What a dual pass reports, by position: ‖ΔU‖² and ⟨ΔU, ΔZ⟩ of Δ = image − point.
MOVED, CROSS = 0, 1
REPORT = 2


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


@kernel
def simplex_step(Z, VZ, Q, Y, margin, sigma, a, b, c, VZ0, Q0, U, first, last, report):
    """The dual half of a step of the regularised method, for the samples first…last.

    P_i ← the nearest point to (Q_i + e_y) + σ(2Z_i − VZ_i + r_i) of the unit simplex, with r = margin off the true
    class; U_i = P_i − e_y is a row of the domain of ℓ*. Then VZ and Q are mixed. Z, VZ : scores of the image W⁺ and of
    the point V; Q : dual point; VZ0, Q0 : anchors. Projections on the simplex do not see a number added to a row, so
    Z does as well as the differences Z − Z[y]·1ᵀ.
    """
    m = Z.shape[1]
    row = np.empty(m)
    moved = 0.0
    cross = 0.0
    for i in range(first, last):
        y = Y[i]
        for k in range(m):
            row[k] = Q[i, k] + sigma * (2.0 * Z[i, k] - VZ[i, k] + margin)
        row[y] += 1.0 - sigma * margin
        cut_to_simplex(row, 1.0)
        row[y] -= 1.0
        for k in range(m):
            step = row[k] - Q[i, k]
            moved += step * step
            cross += step * (Z[i, k] - VZ[i, k])
            U[i, k] = row[k]
            Q[i, k] = a * row[k] + b * Q[i, k] + c * Q0[i, k]
            VZ[i, k] = a * Z[i, k] + b * VZ[i, k] + c * VZ0[i, k]
    report[MOVED] = moved
    report[CROSS] = cross


@kernel
def simplex_start(Z, Y, margin, sigma, U):
    """U_i = the nearest point to σ(Z_i + r_i) of the unit simplex, less e_y: a smoothed subgradient of the hinge, and a
    subgradient where one class stands out by 1/σ."""
    m = Z.shape[1]
    row = np.empty(m)
    for i in range(Z.shape[0]):
        for k in range(m):
            row[k] = sigma * (Z[i, k] + margin)
        row[Y[i]] -= sigma * margin
        cut_to_simplex(row, 1.0)
        row[Y[i]] -= 1.0
        for k in range(m):
            U[i, k] = row[k]


@kernel
def hinge_facts(Z, U, Y, margin, slack):
    """Σ_i of the hinge, the number of samples whose hinge is above ``slack``, and the non-zeros of U off the true
    class. Z, U (n, m)."""
    total = 0.0
    active = 0
    entries = 0
    for i in range(Z.shape[0]):
        y = Y[i]
        top = Z[i, y]
        for k in range(Z.shape[1]):
            if k != y:
                top = max(top, Z[i, k] + margin)
                if U[i, k] != 0.0:
                    entries += 1
        total += top - Z[i, y]
        if top - Z[i, y] > slack:
            active += 1
    return total, active, entries
