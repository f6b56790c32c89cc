"""Proximal gradient steps on the rows of W that they concern, and what they need of the scores."""

from __future__ import annotations

from ..jit.parts import kernel
from .memory import lone_row, samples_at_once

# What proximal gradient steps report, by position: ⟨G, δ⟩ and ‖δ‖² of δ = W⁺ − V, Ω(W⁺), ⟨V − W⁺, W⁺ − W⟩.
SLOPE, SIZE, OMEGA, TURN = 0, 1, 2, 3
REPORT = 4


@kernel
def prox_rows(V, tau, penalty, out):
    """out_j = prox_{τΩ}(V_j) for every row. V, out (d, m); ``out`` may be ``V``."""
    for j in range(V.shape[0]):
        penalty.at(j).prox(V[j], tau, out[j])


@kernel
def extrapolate(now, old, beta):
    """old ← now + β(now − old), in place. Both (n, m), in C order."""
    a = now.ravel()
    b = old.ravel()
    for k in range(a.size):
        b[k] = a[k] + beta * (a[k] - b[k])


@kernel
def turned_gradient(Z, old_Z, Y, loss, old_U, U):
    """U_i = ∇ℓ(z_i, y_i); returns Σ_i ℓ and Σ_i ⟨z_i − z'_i, u_i − u'_i⟩, how the gradient turned since ``old_U``.

    All (n, m). With Z = XW the second sum is n⟨W − W', G − G'⟩, without a gradient of the size of W.
    """
    n, m = Z.shape
    most = samples_at_once(m)
    work, sums = lone_row(most * m), lone_row(most)
    total = 0.0
    turn = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        total += loss.gradients(Z[first:last], Y[first:last], U[first:last], work, sums)
        for i in range(first, last):
            for k in range(m):
                turn += (Z[i, k] - old_Z[i, k]) * (U[i, k] - old_U[i, k])
    return total, turn


@kernel
def list_rows(
    G,
    start,
    scale,
    now,
    old,
    beta,
    lam,
    penalty,
    penalised,
    now_used,
    old_used,
    V,
    V_used,
    kept,
    rows,
    count,
    lengths,
    bend,
):
    """First half of a proximal step for a block of gradient rows: the rows that it concerns, and their places.

    scale·G (b, m) is the gradient of the rows start, start+1, …; W = ``now`` and W' = ``old`` (rows, m) the last two
    points, ``now_used`` and ``old_used`` (rows,) uint8 say which of their rows are not zero. For the rows that matter,
    V_j = W_j + β(W_j − W'_j) and the gradient go to ``V`` and ``kept`` (rows, m), and their numbers to ``rows`` from
    position ``count`` on; returns the new count. A row with W_j = W'_j = 0 that is optimal at zero is left out: it
    stays there for every step size. So the cost of all that follows goes with the support. Rows from ``penalised`` on
    (the intercept) always matter. V may be ``now`` if β = 0.

    ``kept`` comes with the gradient G' at W', in the rows that mattered then, all that have moved among them. To
    ``bend`` (2,) are added, over the entries that have moved, ⟨W − W', G − G'⟩ and Σ_j lengths_j‖G_j − G'_j‖².
    """
    for b in range(G.shape[0]):
        j = start + b
        if now_used[j] == 0 and old_used[j] == 0 and j < penalised and penalty.at(j).stays_zero(G[b], lam / scale):
            if V_used[j] != 0:
                V_used[j] = 0
                V[j, :] = 0.0
            continue
        V_used[j] = 1
        for k in range(G.shape[1]):
            slope = scale * G[b, k]
            if now[j, k] != old[j, k]:
                turned = slope - kept[j, k]
                bend[0] += (now[j, k] - old[j, k]) * turned
                bend[1] += lengths[j] * turned * turned
            kept[j, k] = slope
            V[j, k] = now[j, k] + beta * (now[j, k] - old[j, k])
        rows[count] = j
        count += 1
    return count


@kernel
def prox_listed(rows, V, kept, now, step, lengths, lam, penalty, penalised, out, out_used, report):
    """The second half: out_j = prox_{s_j·λΩ}(V_j − s_j·G_j) for the listed rows, and sums over them in ``report``.

    s_j = step·lengths_j; lengths (rows,) are those of the rows' steps beside each other, and ‖δ‖² of the report is
    Σ_j ‖δ_j‖²/lengths_j. V, kept (the gradient), now, out : (rows, m); ``out_used`` flags the rows that are not zero.
    Rows from ``penalised`` on (the intercept) take the plain step.
    """
    m = V.shape[1]
    slope = 0.0
    size = 0.0
    omega = 0.0
    turn = 0.0
    for position in range(rows.size):
        j = rows[position]
        w = out[j]
        own = step * lengths[j]
        per_length = 1.0 / lengths[j]
        for k in range(m):
            w[k] = V[j, k] - own * kept[j, k]
        if j < penalised:
            penalty.at(j).prox(w, own * lam, w)
            omega += penalty.at(j).value(w)
        left = 0.0
        for k in range(m):
            delta = w[k] - V[j, k]
            slope += kept[j, k] * delta
            size += delta * delta * per_length
            turn -= delta * (w[k] - now[j, k])
            left += abs(w[k])
        out_used[j] = 1 if left != 0.0 else 0
    report[SLOPE] = slope
    report[SIZE] = size
    report[OMEGA] = omega
    report[TURN] = turn
