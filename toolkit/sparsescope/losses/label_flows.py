"""Dual points of the label ranking squared hinge: flows from the labels of a set to the labels off it.

A dual row u has u_p ≤ 0 in the set, u_r ≥ 0 off it and Σ u = 0: it is what flows f_pr ≥ 0 take from p and bring to r.
Its conjugate is the cheapest such flow,

    ℓ*(u) = min over f of Σ_pr (f_pr²/4 − f_pr),       and f_pr = 2 max(1 − z_p + z_r, 0) is the cheapest at u = ∇ℓ(z).

Any flow with the right sums gives an upper bound of ℓ*, and with it a dual value that is true.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper
from .base import DOMAIN_SLACK

whole = helper(forceinline=False)


@helper
def product_flow_cost(u, y):  # type: ignore[no-untyped-def]
    """The cost of the flow f_pr = |u_p|·u_r/t, where t is the whole mass: ℓ*(u) if one side is a single label, an upper
    bound of it otherwise; +inf if u is no dual row."""
    mass, net = 0.0, 0.0
    inside, outside = 0.0, 0.0
    for r in range(u.size):
        net += u[r]
        if y[r] != 0:
            if u[r] > DOMAIN_SLACK:
                return np.inf
            inside += u[r] * u[r]
        else:
            if u[r] < -DOMAIN_SLACK:
                return np.inf
            outside += u[r] * u[r]
            mass += u[r]
    if abs(net) > DOMAIN_SLACK * (1.0 + mass):
        return np.inf
    return 0.25 * inside * outside / (mass * mass) - mass if mass > 0.0 else 0.0


@helper
def flow_cost(z, u, y, scale, work):  # type: ignore[no-untyped-def]
    """ℓ*(scale·u) for u = ∇ℓ(z): the flow of z times the scale. Its squares add up to 4ℓ.

    A hinge a = 1 − z_p + z_r has the slope 2a and the value ½·2a·a, so ℓ = ½ Σ_r u_r (1 + z_r) + ½ Σ_p u_p z_p.
    Scores are counted from the lowest active one of the set: that keeps all terms small.
    """
    low = np.inf
    for r in range(u.size):
        if y[r] != 0 and u[r] < 0.0:
            low = min(low, z[r])
    twice, mass = 0.0, 0.0
    for r in range(u.size):
        if u[r] != 0.0:
            twice += u[r] * (z[r] - low)
            if y[r] == 0:
                twice += u[r]
                mass += u[r]
    return scale * (0.5 * scale * twice - mass)


@whole
def repaired_flow_cost(z, u, u0, y, scale, rest):  # type: ignore[no-untyped-def]
    """An upper bound of ℓ*(scale·u) for a row u that was ∇ℓ(z) = u0 before a repair; exact if it did not change.

    The flow of z is cut, in proportion, where u takes or brings less than u0, and what u then still lacks is spread
    over all pairs. ``u0`` (m,) and ``rest`` (m,) are overwritten. O(|y|·(m − |y|)).
    """
    m = z.size
    mass, lacking = 0.0, 0.0
    for r in range(m):
        u0[r] = min(1.0, u[r] / u0[r]) if u0[r] != 0.0 else 1.0
        u0[r] = max(u0[r], 0.0)
        rest[r] = abs(u[r])
    for p in range(m):
        if y[p] != 0:
            for r in range(m):
                if y[r] == 0:
                    f = 2.0 * max(1.0 - z[p] + z[r], 0.0) * u0[p] * u0[r]
                    rest[p] -= f
                    rest[r] -= f
    for r in range(m):
        if y[r] == 0:
            mass += u[r]
            lacking += rest[r]
    fill = 1.0 / lacking if lacking > 0.0 else 0.0
    cost = 0.0
    for p in range(m):
        if y[p] != 0:
            for r in range(m):
                if y[r] == 0:
                    f = 2.0 * max(1.0 - z[p] + z[r], 0.0) * u0[p] * u0[r] + fill * rest[p] * rest[r]
                    cost += f * f
    return scale * scale * 0.25 * cost - scale * mass


@whole
def cut_lonely_labels(U, Y):  # type: ignore[no-untyped-def]
    """Take out the flows of labels that all samples have, or none has: nothing can balance them. The heavier side of a
    row is then scaled down to the lighter one."""
    n, m = U.shape
    inside = np.zeros(m)
    counted = 0
    for i in range(n):
        size = 0
        for r in range(m):
            size += 1 if Y[i, r] != 0 else 0  # and not Y[i, r] itself: interpreted, a sum of uint8 overflows
        if 0 < size < m:
            counted += 1
            for r in range(m):
                inside[r] += Y[i, r]
    lonely = False
    for r in range(m):
        lonely = lonely or inside[r] == 0.0 or inside[r] == counted
    if not lonely:
        return
    for i in range(n):
        sent, received = 0.0, 0.0
        for r in range(m):
            if inside[r] == 0.0 or inside[r] == counted:
                U[i, r] = 0.0
            elif Y[i, r] != 0:
                sent -= U[i, r]
            else:
                received += U[i, r]
        light = min(sent, received)
        keep_in = light / sent if sent > 0.0 else 0.0
        keep_out = light / received if received > 0.0 else 0.0
        for r in range(m):
            U[i, r] *= keep_in if Y[i, r] != 0 else keep_out


@whole
def push(U, Y, weights, source, sink, amount):  # type: ignore[no-untyped-def]
    """Let ``source`` send ``amount`` more to ``sink``, in the samples that have the one and lack the other: where both
    have flows already, in proportion to them, else by the weights of the samples. False if there is no such sample.

    A row is its weight times that of a sample that counts once, and so is what it gets."""
    n = U.shape[0]
    rows, flows = 0.0, 0.0
    for i in range(n):
        if Y[i, source] != 0 and Y[i, sink] == 0:
            rows += weights[i]
            flows -= U[i, source] * U[i, sink] / weights[i]
    if rows == 0.0:
        return False
    for i in range(n):
        if Y[i, source] != 0 and Y[i, sink] == 0:
            part = -U[i, source] * U[i, sink] / weights[i] / flows if flows > 0.0 else weights[i] / rows
            U[i, source] -= part * amount
            U[i, sink] += part * amount
    return True


@helper
def repair_label_flows(U, Y, y, weights):  # type: ignore[no-untyped-def]
    """Make the columns of U sum to zero by more flow from labels that receive too much to labels that send too much.
    weights (n,): of the samples.

    More flow from a label of a set to one off it never leaves the domain. Where no sample has the one and lacks the
    other, the flow goes over a third label; where that fails too, U becomes 0, which is a dual point as well (its value
    is 0). Labels that every sample has, or none, cannot take part: their flows are taken out first.
    """
    n, m = U.shape
    cut_lonely_labels(U, Y)
    excess = np.zeros(m)
    for i in range(n):
        for r in range(m):
            excess[r] += U[i, r]
    source, sink = 0, 0
    while True:
        while source < m and excess[source] <= 0.0:
            source += 1
        while sink < m and excess[sink] >= 0.0:
            sink += 1
        if source == m or sink == m:
            return  # what is left is rounding
        amount = min(excess[source], -excess[sink])
        done = push(U, Y, weights, source, sink, amount)
        for over in range(m):
            if not done and push(U, Y, weights, source, over, 0.0) and push(U, Y, weights, over, sink, 0.0):
                done = push(U, Y, weights, source, over, amount) and push(U, Y, weights, over, sink, amount)
        if not done:
            U[:] = 0.0
            return
        if amount == excess[source]:
            excess[sink] += amount
            excess[source] = 0.0
        else:
            excess[source] -= amount
            excess[sink] = 0.0
