"""Coordinate descent on the exact second-order model of −logdet Θ + tr(SΘ) + Σ Λ_ij|Θ_ij|  (Hsieh et al. 2011, QUIC).

The model at Θ is tr(GD) + ½tr(ΣDΣD) + Σ Λ_ij|Θ_ij + D_ij| with Σ = Θ⁻¹, G = S − Σ. Both halves of a symmetric matrix
move together, so a coordinate is a pair (i, j), i ≤ j. With U = DΣ kept up to date, its slope is
b = G_ij + σ_iᵀU_j, its curvature a = Σ_ij² + Σ_iiΣ_jj (Σ_ii² on the diagonal): O(p) a step.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .coordinates import FLOPS, LEFT, STEPS, SWEEPS, off_by, soft


@kernel
def newton_descent(Sigma, G, Lam, rows, columns, new, U, sweeps, share, report):
    """Sweeps over the pairs (rows, columns) until the model is solved to a share of its violation, or ``sweeps`` are
    done.

    Sigma, G, Lam : (p, p), symmetric · rows ≤ columns : (s,), in the order of the columns · new (p, p), Θ on
    entry, Θ + D on return, so that what ends at zero is zero exactly · U (p, p), zeros on entry, DΣ on return
    """
    p = Sigma.shape[0]
    u = np.empty(p)  # column j of U: read for every pair of the column, and too scattered to be read there
    first = 0.0
    for sweep in range(sweeps):
        total = 0.0
        moved = 0
        last = -1
        for a in range(rows.size):
            i = rows[a]
            j = columns[a]
            if j != last:
                for q in range(p):
                    u[q] = U[q, j]
                last = j
            b = G[i, j]
            for q in range(p):
                b += Sigma[i, q] * u[q]
            curve = Sigma[i, i] * Sigma[j, j]
            if i != j:
                curve += Sigma[i, j] * Sigma[i, j]
            old = new[i, j]
            wrong = off_by(b, old, Lam[i, j])
            total += wrong * wrong
            z = soft(old - b / curve, Lam[i, j] / curve) - old
            if z != 0.0:
                moved += 1
                new[i, j] = soft(old - b / curve, Lam[i, j] / curve)
                new[j, i] = new[i, j]
                u[i] += z * Sigma[j, j]
                for q in range(p):
                    U[i, q] += z * Sigma[j, q]
                if i != j:
                    u[j] += z * Sigma[i, j]
                    for q in range(p):
                        U[j, q] += z * Sigma[i, q]
        report[SWEEPS] += 1.0
        report[STEPS] += rows.size
        report[FLOPS] += rows.size * (2.0 * p + 12.0) + moved * 4.0 * p
        total = np.sqrt(total)
        report[LEFT] = total
        if sweep == 0:
            first = total
        elif total <= share * first:
            break


@kernel
def mirror(A):
    """Copy what is below the diagonal of A (p, p) above it."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[j, i] = A[i, j]
