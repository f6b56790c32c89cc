"""Passes over the rows of scores and weights: loss, gradient, certificates."""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel
from .memory import lone_row, lone_rows, samples_at_once


@kernel
def loss_sum(Z, Y, loss):
    """Σ_i ℓ(z_i, y_i). Z (n, m)."""
    n, m = Z.shape
    most = samples_at_once(m)
    work, sums = lone_row(most * m), lone_row(most)
    total = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        total += loss.values(Z[first:last], Y[first:last], work, sums)
    return total


@kernel
def loss_gradient(Z, Y, loss, U):
    """U_i = ∇ℓ(z_i, y_i) for all samples; returns Σ_i ℓ. Z, U (n, m)."""
    n, m = Z.shape
    most = samples_at_once(m)
    work, sums = lone_row(most * m), lone_row(most)
    total = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        total += loss.gradients(Z[first:last], Y[first:last], U[first:last], work, sums)
    return total


@kernel
def conjugate_sum(Z, U, scale, Y, loss):
    """Σ_i ℓ*(scale·u_i), or an upper bound of it, where u_i = ∇ℓ(z_i, y_i). Z, U (n, m)."""
    total = 0.0
    work = lone_rows(3, U.shape[1])  # two for a loss, one more for a weighted one
    for i in range(U.shape[0]):
        total += loss.scaled_conjugate(Z[i], U[i], Y[i], scale, work)
    return total


@kernel
def gradient_conjugate_sum(Z, U, scale, kept, Y, loss):
    """The same where the rows of U are these gradients to the last digits; row i is scaled by kept_i, too. Z, U (n, m),
    kept (n,), or (1,) if it is the same for all."""
    n, m = U.shape
    most = samples_at_once(m)
    work, sums = lone_row(max(most, 3) * m), lone_row(most)  # a loss has two rows, a weighted one a third
    total = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        shares = kept[first:last] if kept.size > 1 else kept
        total += loss.gradient_conjugates(Z[first:last], U[first:last], Y[first:last], scale, shares, work, sums)
    return total


@kernel
def repaired_conjugate_sum(Z, U, scale, Y, loss):
    """The same for the rows that :func:`repair_dual` made of these gradients."""
    total = 0.0
    work = lone_rows(3, U.shape[1])  # two for a loss, one more for a weighted one
    for i in range(U.shape[0]):
        total += loss.repaired_conjugate(Z[i], U[i], Y[i], scale, work)
    return total


@kernel
def repair_dual(U, Y, loss):
    """Change the rows of U inside the domain of ℓ* so that every column sums to zero. U (n, m)."""
    loss.repair(U, Y)


@kernel
def largest_shares(columns, features, levels, lam, lost):
    """lost_i ← the largest of lost_i and 1 − λ/level over these features of sample i. features, levels (s,); lost (n,)
    float64."""
    for a in range(features.size):
        j = features[a]
        share = 1.0 - lam / levels[a]
        for p in range(columns.start(j), columns.stop(j)):
            i = columns.row(p, j)
            lost[i] = max(lost[i], share)


@kernel
def penalty_sum(W, penalty):
    """Ω(W) and the numbers of non-zero rows and entries. W (d, m)."""
    total = 0.0
    rows = 0
    entries = 0
    for j in range(W.shape[0]):
        count = 0
        for k in range(W.shape[1]):
            if W[j, k] != 0.0:
                count += 1
        if count > 0:
            rows += 1
            entries += count
            total += penalty.at(j).value(W[j])
    return total, rows, entries


@kernel
def row_violations(G, scale, W, lam, penalty, is_norm, violation, paper):
    """Optimality of a block of rows: scale·G (b, m) is their gradient, W (b, m) their weights.

    Writes the exact violations, and the criterion of Blondel et al., Eq. 9 (NaN unless Ω is a norm); both (b,).
    """
    g = lone_row(G.shape[1])
    for j in range(G.shape[0]):
        zero = True
        for k in range(g.size):
            g[k] = scale * G[j, k]
            zero = zero and W[j, k] == 0.0
        violation[j] = penalty.at(j).violation(g, W[j], lam)
        if is_norm:
            excess = penalty.at(j).zero_threshold(g) - lam
            paper[j] = max(excess, 0.0) if zero else abs(excess)
        else:
            paper[j] = np.nan


@kernel
def row_duals(G, scale, lam, penalty):
    """The largest dual norm of a row of −scale·G, and Σ_j Ω*(−scale·G_j/λ). G (b, m)."""
    v = lone_row(G.shape[1])
    top = 0.0
    conjugate = 0.0
    for j in range(G.shape[0]):
        for k in range(v.size):
            v[k] = -scale * G[j, k]
        top = max(top, penalty.at(j).dual_norm(v))
        for k in range(v.size):
            v[k] /= lam
        conjugate += penalty.at(j).conjugate(v)
    return top, conjugate


@kernel
def critical_lam(G, scale, penalty):
    """The largest critical λ over the rows of scale·G: the smallest λ whose solution is W = 0."""
    g = lone_row(G.shape[1])
    top = 0.0
    for j in range(G.shape[0]):
        for k in range(g.size):
            g[k] = scale * G[j, k]
        top = max(top, penalty.at(j).zero_threshold(g))
    return top


@kernel
def support_flags(W, flags):
    """flags[j] = 1 if row j of W has a non-zero entry, else 0. W (d, m), flags (d,) uint8."""
    for j in range(W.shape[0]):
        flags[j] = 0
        for k in range(W.shape[1]):
            if W[j, k] != 0.0:
                flags[j] = 1
                break
