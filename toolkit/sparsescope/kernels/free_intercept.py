"""An intercept that follows every move of a quadratic model: what it adds to slopes and takes from curvatures.

The model is that of :func:`.coordinates.exact_descent`, with Hessians C_i of the samples. With v_a = Σ_i x_ij C_i e_k
of the entry a = (j, k) and B = Σ_i C_i, the intercept that solves it moves by β −= z·B⁻¹v_a when entry a moves by z.
Words are nowhere negative, so each of them goes with the intercept: without this, sweeps that take it for one
coordinate among others zigzag between both.
"""

from __future__ import annotations

from ..jit.parts import helper


@helper
def free_slope(along, shift, a):  # type: ignore[no-untyped-def]
    """v_aᵀβ: what the shift β (m,) of the intercept adds to the slope along entry a. along (s, m): v_a as rows."""
    total = 0.0
    for q in range(shift.size):
        total += along[a, q] * shift[q]
    return total


@helper
def free_curvature(columns, j, k, C, along, inverse, a):  # type: ignore[no-untyped-def]
    """Σ_i x_ij² C_ikk − v_aᵀB⁻¹v_a, the curvature along entry a = (j, k); v_a becomes row a of ``along``, which is zero
    before. C (n, m, m), inverse (m, m)."""
    m = inverse.shape[0]
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        i = columns.row(p, j)
        x = columns.entry(p, j)
        total += x * x * C[i, k, k]
        for q in range(m):
            along[a, q] += x * C[i, k, q]
    saved = 0.0
    for q in range(m):
        for r in range(m):
            saved += along[a, q] * inverse[q, r] * along[a, r]
    return max(total - saved, 0.0)


@helper
def free_shift(along, inverse, shift, a, z):  # type: ignore[no-untyped-def]
    """β −= z·B⁻¹v_a."""
    for q in range(shift.size):
        for r in range(shift.size):
            shift[q] -= z * inverse[q, r] * along[a, r]
