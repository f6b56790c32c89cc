"""Dual rows as flows between labels: faces of the worst pair, and the repair of their sums for intercepts."""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper

LEVEL = 1e-9  # of the margin: scores that differ by less are level


def worst_pairs(b: np.ndarray, inside: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faces of max(0, μ + max_{r∉Y} b_r − min_{p∈Y} b_p), as of ``Loss.null_faces``. inside : Y_i, (n, m) bool.

    Scores within 1e-9 of the margin count as level: b is a solution up to rounding only.
    """
    level = LEVEL * margin
    top = np.where(inside, -np.inf, b).max(axis=1)
    low = np.where(inside, b, np.inf).min(axis=1)
    value = margin + top - low  # −∞ for empty and full sets
    counts = (value >= -level)[:, None]
    return (
        ~inside & (b >= top[:, None] - level) & counts,
        inside & (b <= low[:, None] + level) & counts,
        np.abs(value) <= level,
    )


@helper
def repair_flows(U, Y):  # type: ignore[no-untyped-def]
    """Make the columns of U sum to zero for losses whose dual rows are u = q − t·e_y, with flows q ≥ 0 off the class y.

    MATH §7: class c receives Q_c = Σ_i q_ic and sends N_c = Σ_{i: y_i=c} t_i. Columns that receive too much are cut by
    N_c/Q_c and what that frees goes, within its own row, to the columns that receive too little. Row masses t_i stay,
    so every row stays in the domain.
    """
    n, m = U.shape
    sent = np.zeros(m)
    received = np.zeros(m)
    for i in range(n):
        for r in range(m):
            if r != Y[i]:
                sent[Y[i]] += U[i, r]
                received[r] += U[i, r]
    keep = np.ones(m)
    share = np.zeros(m)
    lacking = 0.0
    for c in range(m):
        if received[c] > sent[c]:
            keep[c] = sent[c] / received[c]
        else:
            share[c] = sent[c] - received[c]
            lacking += share[c]
    for c in range(m):
        share[c] = share[c] / lacking if lacking > 0.0 else 0.0
    for i in range(n):
        y = Y[i]
        freed = 0.0
        mass = 0.0
        for r in range(m):
            if r != y:
                mass += U[i, r]
                freed += (1.0 - keep[r]) * U[i, r]
        for r in range(m):
            if r != y:
                U[i, r] = keep[r] * U[i, r] + freed * share[r]
        # What the row frees for its own class would flow from y to y: it cancels, and the row's mass shrinks by it.
        U[i, y] = -(mass - freed * share[y])
