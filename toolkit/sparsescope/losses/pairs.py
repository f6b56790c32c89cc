"""Squared hinges over pairs of a label p in the set y and a label r off it: Σ_p Σ_r max(1 − z_p + z_r, 0)².

There are |y|·(m − |y|) pairs. Where one side has few labels whose hinge can be active, the pairs are walked in plain
loops; otherwise both sides are sorted by score, and one sweep over each of them adds up what the other side
contributes. The cheaper way is taken, so a sample costs at most O(m log m) however many labels it has. Labels whose
hinges are all inactive are left out before anything is sorted.

The sweep keeps, for a level c that only rises, A = Σ (c − z_s) and B = Σ (c − z_s)² over the scores z_s below it. Both
are moved by sums of terms that are not negative (B += (2A + kδ)δ, A += kδ when c rises by δ and k scores are below), so
nothing cancels, however large the scores are.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, lean

# The sorting half is large and needed rarely: it stays a separate function instead of being copied into each kernel.
whole = lean(forceinline=False)

# Sorting and sweeping k labels takes about SORT_COST·k·log₂ k times as long as one step of the plain loops, whose inner
# loop has no branch. Below MANY active labels on one side it never pays.
SORT_COST = 20.0
MANY = 16


@lean
def extremes(z, y):  # type: ignore[no-untyped-def]
    """The lowest score in the set, the highest off it, and the size of the set."""
    low, high = np.inf, -np.inf
    size = 0
    for r in range(z.size):
        inside = y[r] != 0
        mine, other = (z[r], -np.inf) if inside else (np.inf, z[r])
        low = mine if mine < low else low
        high = other if other > high else high
        size += 1 if y[r] != 0 else 0  # and not y[r] itself: interpreted, a sum of uint8 overflows
    return low, high, size


@lean
def active_sides(z, y, low, high):  # type: ignore[no-untyped-def]
    """Count the labels in the set, and off it, that have an active hinge."""
    inside = 0
    outside = 0
    for r in range(z.size):
        if y[r] != 0:
            inside += 1 if 1.0 - z[r] + high > 0.0 else 0
        else:
            outside += 1 if 1.0 - low + z[r] > 0.0 else 0
    return inside, outside


@lean
def way(z, y, low, high, size):  # type: ignore[no-untyped-def]
    """Choose the loop over the active pairs: over the labels in the set (+1), over those off it (−1), or sorted (0);
    and return the number of active labels in the set for sorting."""
    m = z.size
    if min(size, m - size) <= MANY:
        return (1.0 if 2 * size <= m else -1.0), 0
    inside, outside = active_sides(z, y, low, high)
    few, both = min(inside, outside), inside + outside
    if few > MANY and few * m > SORT_COST * both * np.log2(both):
        return 0.0, inside
    return (1.0 if inside <= outside else -1.0), inside


@whole
def sort_by_score(z, order):  # type: ignore[no-untyped-def]
    """Heap sort of the labels in ``order`` (stored as floats) by their scores, in place, ascending."""
    count = order.size
    for step in range(count // 2 + count - 1):
        # First make a heap (largest score on top), from the last parent up; then take the top again and again.
        end = count if step < count // 2 else count - 1 - (step - count // 2)
        root = count // 2 - 1 - step if step < count // 2 else 0
        if end < count:
            order[0], order[end] = order[end], order[0]
        moving = order[root]
        key = z[int(moving)]
        child = 2 * root + 1
        while child < end:
            if child + 1 < end and z[int(order[child])] < z[int(order[child + 1])]:
                child += 1
            if z[int(order[child])] <= key:
                break
            order[root] = order[child]
            root = child
            child = 2 * root + 1
        order[root] = moving


@whole
def rank_active(z, y, low, high, inside, order):  # type: ignore[no-untyped-def]
    """The active labels by score: those in the set in ``order[:inside]``, those off it after them. Returns the end."""
    first, end = 0, inside
    for r in range(z.size):
        if y[r] != 0:
            if 1.0 - z[r] + high > 0.0:
                order[first] = r
                first += 1
        elif 1.0 - low + z[r] > 0.0:
            order[end] = r
            end += 1
    sort_by_score(z, order[:inside])
    sort_by_score(z, order[inside:end])
    return end


@whole
def sweep_side(z, order, inside, end, sign, x, g, curve, h):  # type: ignore[no-untyped-def]
    """Add x·u and curve·diag ∇²ℓ for one side of a ranking from :func:`rank_active`; returns the sum of its hinges.

    ``sign`` is +1 for labels off the set, and −1 for labels in it, whose order is walked from the top; h may be g if
    ``curve`` is 0.
    """
    here, there = (end - inside, inside) if sign > 0.0 else (inside, end - inside)
    total, A, B, last = 0.0, 0.0, 0.0, 0.0
    k = 0
    for step in range(here):
        r = int(order[inside + step if sign > 0.0 else inside - 1 - step])
        c = 1.0 + sign * z[r]
        if k > 0:
            rise = c - last
            B += (2.0 * A + k * rise) * rise
            A += k * rise
        last = c
        while k < there:
            excess = c - sign * z[int(order[k if sign > 0.0 else end - 1 - k])]
            if excess <= 0.0:
                break
            A += excess
            B += excess * excess
            k += 1
        g[r] += sign * 2.0 * x * A
        h[r] += curve * k
        total += B
    return total


@whole
def ranked_pairs(z, y, low, high, inside, x, g, curve, h, order):  # type: ignore[no-untyped-def]
    """Gradient (times x), diagonal (times curve; h may be g if that is 0) and value by sorting. ``order`` (m,)."""
    end = rank_active(z, y, low, high, inside, order)
    total = 0.0
    for side in range(2):
        total = sweep_side(z, order, inside, end, 2.0 * side - 1.0, x, g, curve, h)
    return total


@helper
def pair_value(z, y):  # type: ignore[no-untyped-def]
    """Σ of the squared hinges. Allocates only if it has to sort: a row of scores is not a place to sort in."""
    low, high, size = extremes(z, y)
    total = 0.0
    if not 1.0 - low + high > 0.0:  # also for empty and full sets, where one of them is infinite
        return total
    sign, inside = way(z, y, low, high, size)
    if sign == 0.0:
        scratch = np.zeros((2, z.size))
        return ranked_pairs(z, y, low, high, inside, 0.0, scratch[1], 0.0, scratch[1], scratch[0])
    side = 1 if sign > 0.0 else 0
    edge = high if sign > 0.0 else -low
    for p in range(z.size):
        t = 1.0 - sign * z[p]
        if y[p] == side and t + edge > 0.0:
            for r in range(z.size):
                a = max(t + sign * z[r], 0.0) * (1.0 if y[r] != side else 0.0)
                total += a * a
    return total


@lean
def pair_gradient(z, y, x, g, work):  # type: ignore[no-untyped-def]
    """Adds x·∇ℓ to g, returns ℓ."""
    low, high, size = extremes(z, y)
    total = 0.0
    if not 1.0 - low + high > 0.0:  # also for empty and full sets, where one of them is infinite
        return total
    sign, inside = way(z, y, low, high, size)
    if sign == 0.0:
        return ranked_pairs(z, y, low, high, inside, x, g, 0.0, g, work)
    side = 1 if sign > 0.0 else 0
    edge = high if sign > 0.0 else -low
    scale = 2.0 * sign * x
    for p in range(z.size):
        t = 1.0 - sign * z[p]
        if y[p] == side and t + edge > 0.0:
            mass = 0.0
            for r in range(z.size):
                a = max(t + sign * z[r], 0.0) * (1.0 if y[r] != side else 0.0)
                g[r] += scale * a
                mass += a
                total += a * a
            g[p] -= scale * mass
    return total


@lean
def pair_derivatives(z, y, x, g, h, work):  # type: ignore[no-untyped-def]
    """Adds x·∇ℓ to g and x²·diag ∇²ℓ to h, returns ℓ."""
    low, high, size = extremes(z, y)
    total = 0.0
    if not 1.0 - low + high > 0.0:  # also for empty and full sets, where one of them is infinite
        return total
    curve = 2.0 * x * x
    sign, inside = way(z, y, low, high, size)
    if sign == 0.0:
        return ranked_pairs(z, y, low, high, inside, x, g, curve, h, work)
    side = 1 if sign > 0.0 else 0
    edge = high if sign > 0.0 else -low
    scale = 2.0 * sign * x
    for p in range(z.size):
        t = 1.0 - sign * z[p]
        if y[p] == side and t + edge > 0.0:
            mass = 0.0
            active = 0.0
            for r in range(z.size):
                a = max(t + sign * z[r], 0.0) * (1.0 if y[r] != side else 0.0)
                on = 1.0 if a > 0.0 else 0.0
                g[r] += scale * a
                h[r] += curve * on
                mass += a
                active += on
                total += a * a
            g[p] -= scale * mass
            h[p] += curve * active
    return total


@whole
def sweep_product(z, order, inside, end, sign, v, out):  # type: ignore[no-untyped-def]
    """out_r = 2 Σ (v_r − v_s) over the active partners s of each label r of one side, as in :func:`sweep_side`."""
    here, there = (end - inside, inside) if sign > 0.0 else (inside, end - inside)
    k = 0
    mass = 0.0
    for step in range(here):
        r = int(order[inside + step if sign > 0.0 else inside - 1 - step])
        c = 1.0 + sign * z[r]
        while k < there:
            s = int(order[k if sign > 0.0 else end - 1 - k])
            if c - sign * z[s] <= 0.0:
                break
            mass += v[s]
            k += 1
        out[r] = 2.0 * (k * v[r] - mass)


@helper
def pair_product(z, y, v, out):  # type: ignore[no-untyped-def]
    """out = ∇²ℓ v. Allocates only if it has to sort."""
    for r in range(z.size):
        out[r] = 0.0
    low, high, size = extremes(z, y)
    if not 1.0 - low + high > 0.0:
        return
    sign, inside = way(z, y, low, high, size)
    if sign == 0.0:
        order = np.empty(z.size)
        end = rank_active(z, y, low, high, inside, order)
        for half in range(2):
            sweep_product(z, order, inside, end, 2.0 * half - 1.0, v, out)
        return
    side = 1 if sign > 0.0 else 0
    edge = high if sign > 0.0 else -low
    for p in range(z.size):
        t = 1.0 - sign * z[p]
        if y[p] == side and t + edge > 0.0:
            mass = 0.0
            for r in range(z.size):
                a = t + sign * z[r]
                e = 2.0 * (v[r] - v[p]) if a > 0.0 and y[r] != side else 0.0
                out[r] += e
                mass += e
            out[p] -= mass
