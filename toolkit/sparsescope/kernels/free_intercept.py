"""An intercept that follows every move of a quadratic model: what it adds to slopes and takes from curvatures.

The model is that of :func:`.coordinates.exact_descent`, with Hessians C_i of the samples. With v_a = Σ_i x_ij C_i e_k
of the entry a = (j, k) and B = Σ_i C_i, the intercept that solves it moves by β −= z·B⁻¹v_a when entry a moves by z.
Words are nowhere negative, so each of them goes with the intercept: without this, sweeps that take it for one
coordinate among others zigzag between both.
"""

from __future__ import annotations

from ..jit.parts import helper
from .hessians import is_factored


@helper
def free_slope(along, shift, a, k):  # type: ignore[no-untyped-def]
    """v_aᵀβ: what the shift β (m,) of the intercept adds to the slope along entry a, of score k. along (s, m): v_a as
    rows; (s, 1): their numbers k, the only ones where Hessians are diagonal."""
    if along.shape[1] == 1:
        return along[a, 0] * shift[k]
    total = 0.0
    for q in range(shift.size):
        total += along[a, q] * shift[q]
    return total


@helper
def free_curvature(columns, j, k, C, along, inverse, a):  # type: ignore[no-untyped-def]
    """Σ_i x_ij² C_ikk − v_aᵀB⁻¹v_a, the curvature along entry a = (j, k); v_a becomes row a of ``along``, which is zero
    before. C (n, m, ·) in one of its forms (hessians.py); inverse (m, m), or (m, 1) with its diagonal."""
    m = inverse.shape[1]
    total = 0.0
    if m == 1:
        for p in range(columns.start(j), columns.stop(j)):
            x = columns.entry(p, j)
            bent = x * C[columns.row(p, j), k, 0]
            total += x * bent
            along[a, 0] += bent
        return max(total - along[a, 0] * inverse[k, 0] * along[a, 0], 0.0)
    factored = is_factored(C)
    for p in range(columns.start(j), columns.stop(j)):
        i = columns.row(p, j)
        x = columns.entry(p, j)
        if factored:
            total += x * x * max(C[i, k, 0] - C[i, k, 1] * C[i, k, 1], 0.0)
            along[a, k] += x * C[i, k, 0]
            step = x * C[i, k, 1]
            for q in range(m):
                along[a, q] -= step * C[i, q, 1]
            continue
        total += x * x * C[i, k, k]
        for q in range(m):
            along[a, q] += x * C[i, k, q]
    saved = 0.0
    for q in range(m):
        for r in range(m):
            saved += along[a, q] * inverse[q, r] * along[a, r]
    return max(total - saved, 0.0)


@helper
def free_shift(along, inverse, shift, a, k, z):  # type: ignore[no-untyped-def]
    """β −= z·B⁻¹v_a."""
    if along.shape[1] == 1:
        shift[k] -= z * inverse[k, 0] * along[a, 0]
        return
    for q in range(shift.size):
        for r in range(shift.size):
            shift[q] -= z * inverse[q, r] * along[a, r]
