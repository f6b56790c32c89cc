"""Exact projections of rows: on a simplex, on flows between two sides, and on the epigraph of max(y + r) ≤ ζ
(Chierchia et al. 2015, Sec. 3).

All look for a level that cuts a row: what stands above it adds up to what is wanted. The set of entries above the
level only shrinks as the level rises (Michelot 1986; started from a set that is already small, as Condat 2016 does), so
neither a sort nor memory is needed; rows are as short as there are classes, and a few rounds are enough.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
from .memory import lone_row


@helper
def cut_to_simplex(u, total):  # type: ignore[no-untyped-def]
    """u ← the nearest point of {u ≥ 0, Σu = total}, in place, for total > 0.

    Entries are first counted from the largest one: their level keeps its digits however huge they are. (The shifted
    entries have to be stored: compiled sums may be taken in another order.)
    """
    top = u[0]
    for k in range(1, u.size):
        top = max(top, u[k])
    for k in range(u.size):
        u[k] -= top
    # No entry further than `total` below the largest stands above the level −depth. (The loop has no branch: it is
    # done for several entries at a time.)
    depth = 1.0 * total
    count = u.size + 1.0
    while True:
        above, kept = 0.0, 0.0
        for k in range(u.size):
            v = u[k] + depth
            above += max(v, 0.0)
            kept += 1.0 if v > 0.0 else 0.0
        if kept >= count or kept == 0.0:  # ">": an entry at the level may come back by rounding, for ever
            break
        count = kept
        depth = min(depth, depth + (total - above) / kept)
    for k in range(u.size):
        u[k] = max(u[k] + depth, 0.0)


@struct
class AllBut:
    """All entries of a row but one."""

    out: int

    def has(self, k):  # type: ignore[no-untyped-def]
        """Return whether entry k is one of them."""
        return k != self.out


@struct
class Side:
    """The labels in the set y, or those off it."""

    y: np.ndarray
    inside: bool

    def has(self, k):  # type: ignore[no-untyped-def]
        """Return whether label k is one of them."""
        return (self.y[k] != 0) == self.inside


@helper
def level_among(u, sign, members, total):  # type: ignore[no-untyped-def]
    """The level t with Σ max(sign·u_k − t, 0) = total ≥ 0 over the ``members`` k, and how many entries are above it.

    For total = 0 it is the largest of those entries. −inf and 1 without members.
    """
    top = -np.inf
    for k in range(u.size):
        if members.has(k):
            top = max(top, sign * u[k])
    if top == -np.inf:
        return top, 1
    depth = 1.0 * total
    count = u.size + 1
    kept = 1
    while True:
        above = 0.0
        now = 0
        for k in range(u.size):
            if members.has(k) and sign * u[k] - top + depth > 0.0:
                above += sign * u[k] - top
                now += 1
        if now >= count or now == 0:
            break
        count = now
        kept = now
        depth = min(depth, (total - above) / now)
    return top - depth, kept


@helper
def cut_to_flows(row, y, mass):  # type: ignore[no-untyped-def]
    """row ← the nearest point of tΔ − t·e_y, t = mass ≥ 0, Δ the unit simplex."""
    if mass > 0.0:
        row[y] += mass
        cut_to_simplex(row, mass)
        row[y] -= mass
    else:
        for k in range(row.size):
            row[k] = 0.0


@helper
def cut_to_set_flows(u, y, mass):  # type: ignore[no-untyped-def]
    """u ← the nearest point of {u ≥ 0 off the set y, u ≤ 0 in it, Σ_off u = −Σ_in u ≤ mass}, mass > 0.

    For the sum t of each side both are projections on a simplex, with levels a(t) and b(t), and −(a + b) is the
    derivative in t of half the squared distance. a + b is convex and falls, so Newton's method needs few rounds. Empty
    and full sets leave 0.
    """
    t = 1.0 * mass
    off = Side(y, False)  # type: ignore[call-arg]
    inside = Side(y, True)  # type: ignore[call-arg]
    a, kept_a = level_among(u, 1.0, off, t)
    b, kept_b = level_among(u, -1.0, inside, t)
    if a + b < 0.0:
        first_a, _ = level_among(u, 1.0, off, 0.0)
        first_b, _ = level_among(u, -1.0, inside, 0.0)
        if first_a + first_b <= 0.0:  # any flow is further away; also where one side has no labels
            for k in range(u.size):
                u[k] = 0.0
            return
        # From beyond the root the first step lands before it, and all others come closer from there.
        t = max(t + (a + b) / (1.0 / kept_a + 1.0 / kept_b), 0.0)
        while True:
            a, kept_a = level_among(u, 1.0, off, t)
            b, kept_b = level_among(u, -1.0, inside, t)
            further = t + (a + b) / (1.0 / kept_a + 1.0 / kept_b)
            if not further > t * (1.0 + 1e-15):
                break
            t = further
    for k in range(u.size):
        u[k] = -max(-u[k] - b, 0.0) if y[k] != 0 else max(u[k] - a, 0.0)


@helper
def cut_above(v, weight):  # type: ignore[no-untyped-def]
    """v ← max(v − t, 0) in place and returns t ≥ 0, where Σ_k max(v_k − t, 0) = weight·t, weight > 0.

    With v = y + r − ζ this is the projection of (y, ζ) on the epigraph of max(y + r) for weight 1: ζ rises by t, and
    what is left in v is what y falls by. Other weights are for a norm in which ζ counts that much more than an entry of
    y. Nothing changes (t = 0, v ← 0) if no entry is above 0.
    """
    rise = 0.0
    count = v.size + 1
    while True:
        above = 0.0
        kept = 0
        for k in range(v.size):
            if v[k] > rise:
                above += v[k]
                kept += 1
        if kept == 0 or kept >= count:
            break
        count = kept
        rise = max(rise, above / (weight + kept))
    for k in range(v.size):
        v[k] = max(v[k] - rise, 0.0)
    return rise


@kernel
def project_simplex(V, total, out, first, last):
    """out_i = the point nearest to V_i of {u ≥ 0, Σu = total}, total > 0, for the rows first…last.

    V, out : (n, m); ``out`` may be V.
    """
    for i in range(first, last):
        u = out[i]
        for k in range(u.size):
            u[k] = V[i, k]
        cut_to_simplex(u, total)


@kernel
def project_epigraph(Y, zeta, labels, margin, P, theta, first, last):
    """(P_i, theta_i) = the point nearest to (Y_i, zeta_i) with max_k(P_ik + r_ik) ≤ theta_i, for the rows first…last.

    r_ik = margin, and 0 for k = labels[i]. Y, P : (n, m), zeta, theta : (n,); the results may be the given arrays.
    """
    m = Y.shape[1]
    work = lone_row(m)
    for i in range(first, last):
        for k in range(m):
            work[k] = Y[i, k] + margin - zeta[i]
        work[labels[i]] = Y[i, labels[i]] - zeta[i]
        theta[i] = zeta[i] + cut_above(work, 1.0)
        for k in range(m):
            P[i, k] = Y[i, k] - work[k]
