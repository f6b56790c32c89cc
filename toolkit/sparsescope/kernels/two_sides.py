"""The exact projection of one block of PD-Sparse: two non-negative vectors with equal, bounded sums."""

from __future__ import annotations

from ..jit.parts import lean
from .projections import cut_to_simplex

whole = lean(forceinline=False)


@whole
def sort_down(a):  # type: ignore[no-untyped-def]
    """Sort from the largest down, in place: insertion sort over shrinking gaps (Shell 1959; gaps: Knuth 1973)."""
    gap = 1
    while 3 * gap < a.size:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, a.size):
            value = a[i]
            at = i
            while at >= gap and a[at - gap] < value:
                a[at] = a[at - gap]
                at -= gap
            a[at] = value
        gap //= 3


@whole
def balance(b, c, most, b_sorted, c_sorted):  # type: ignore[no-untyped-def]
    """b, c ← the nearest x, y ≥ 0 with Σx = Σy = t ≤ most; returns t (Yen et al. 2016, Eq. 22 and Alg. 2).

    For a given t the nearest points are (b − θ)₊ and (c − φ)₊, and ½‖x − b‖² + ½‖y − c‖² changes with t by −(θ + φ). So
    it is smallest where φ = −θ, or at an end of [0, most]. Entries enter in falling order; each moves θ towards itself
    and not past it, so none that has entered leaves. Exact, and as fast as the sorting. The sorted copies are scratch
    of the same sizes.
    """
    for k in range(b.size):
        b_sorted[k] = b[k]
    for k in range(c.size):
        c_sorted[k] = c[k]
    sort_down(b_sorted)
    sort_down(c_sorted)
    if b_sorted[0] + c_sorted[0] <= 0.0:
        for k in range(b.size):
            b[k] = 0.0
        for k in range(c.size):
            c[k] = 0.0
        return 0.0
    difference = b_sorted[0] - c_sorted[0]
    theta = 0.5 * difference
    in_b, in_c = 1, 1
    while True:
        if in_b < b.size and b_sorted[in_b] > theta:
            difference += b_sorted[in_b]
            in_b += 1
        elif in_c < c.size and c_sorted[in_c] > -theta:
            difference -= c_sorted[in_c]
            in_c += 1
        else:
            break
        theta = difference / (in_b + in_c)
    total = 0.0
    for k in range(in_b):
        total += b_sorted[k] - theta
    if total >= most:
        cut_to_simplex(b, most)
        cut_to_simplex(c, most)
        return most
    for k in range(b.size):
        b[k] = max(b[k] - theta, 0.0)
    for k in range(c.size):
        c[k] = max(c[k] + theta, 0.0)
    return total
