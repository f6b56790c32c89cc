"""Sweeps over rows of W: block coordinate descent with and without line search (Blondel et al. 2013, Alg. 1 and 2).

The gradients of the samples, u_i = ∇ℓ(z_i, y_i), are kept beside the scores and renewed for the samples that a moving
row touches. The gradient of any row is then Σ_i x_ij u_i, one multiply-add for each entry and class whatever the loss
is, and most rows of a sparse model need nothing else: they are zero and stay zero.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, lean, struct
from .memory import lone_row, lone_rows

FLOOR = 1e-12  # smallest curvature of a block: an empty column must not divide by zero


@struct
class Swept:
    """Counts of a sweep.

    read : data entries · moved : rows · trials : of the line search · steps : sum of the accepted steps
    residual : largest L_j‖W*_j − W_j‖₂ of a visited row · squares : the sum of their squares
    seen_sum, seen_max : of the criterion of Blondel et al. (2013, Eq. 9) over the visited rows, each at the moment of
    its visit (no meaning if Ω is not a norm)
    """

    read: float
    moved: float
    trials: float
    steps: float
    residual: float
    squares: float
    seen_sum: float
    seen_max: float


def both(first: Swept, second: Swept) -> Swept:
    """Sum of what two sweeps did, one after the other or side by side."""
    sums = [x + y for x, y in zip(first, second, strict=True)]  # type: ignore[call-overload]
    largest = max(first.residual, second.residual), max(first.seen_max, second.seen_max)
    return Swept(*sums[:4], largest[0], *sums[5:7], largest[1])  # type: ignore[call-arg]


@struct
class LineSearch:
    """Trial steps of a row (Eq. 7): 1, ω, ω²… until one lowers F by σ times what is predicted.

    widen : factor of the largest diagonal entry of the Hessian that makes the L_j of the first trial
    sigma, backtrack : σ and ω · most : trials · eps : rounding unit of the scores: a decrease smaller than rounding
    counts as a decrease
    """

    widen: float
    sigma: float
    backtrack: float
    most: int
    eps: float


@struct
class Kept:
    """Values kept for each sample: u_i = ∇ℓ(z_i, y_i), ℓ(z_i, y_i), and 0 if it is inactive (no gradient, no curvature,
    see :meth:`sparsescope.losses.Loss.is_inactive`), else 1."""

    U: np.ndarray
    values: np.ndarray
    busy: np.ndarray


def make_kept(n: int, m: int, dtype: np.dtype) -> Kept:
    """Room for n samples and m classes; :func:`keep` fills it."""
    return Kept(np.zeros((n, m), dtype), np.zeros(n), np.zeros(n, dtype=np.uint8))  # type: ignore[call-arg]


@kernel
def keep(Z, Y, loss, kept):
    """Fill ``kept`` from the scores Z (n, m)."""
    work = lone_row(Z.shape[1])
    kept.U[:] = 0.0
    for i in range(Z.shape[0]):
        u = kept.U[i]
        kept.values[i] = loss.gradient(Z[i], Y[i], 1.0, u, work)
        kept.busy[i] = 0 if loss.is_inactive(u, Y[i]) else 1


@lean
def column_gradient(columns, j, kept, listed, g):  # type: ignore[no-untyped-def]
    """g = Σ_i x_ij u_i. The positions of the samples that are not idle are listed, and only these are added.

    Returns the length of the list.
    """
    count = 0
    for p in range(columns.start(j), columns.stop(j)):  # without a branch, which could not be foreseen
        listed[count] = p
        count += kept.busy[columns.row(p, j)]
    g[:] = 0.0
    four = count - count % 4
    for t in range(0, four, 4):  # four entries at a time: a quarter of the loads and stores of g
        a = np.float64(columns.entry(listed[t], j))
        b = np.float64(columns.entry(listed[t + 1], j))
        c = np.float64(columns.entry(listed[t + 2], j))
        d = np.float64(columns.entry(listed[t + 3], j))
        u = kept.U[columns.row(listed[t], j)]
        v = kept.U[columns.row(listed[t + 1], j)]
        w = kept.U[columns.row(listed[t + 2], j)]
        z = kept.U[columns.row(listed[t + 3], j)]
        for k in range(g.size):
            g[k] += (a * u[k] + b * v[k]) + (c * w[k] + d * z[k])
    for t in range(four, count):
        a = np.float64(columns.entry(listed[t], j))
        u = kept.U[columns.row(listed[t], j)]
        for k in range(g.size):
            g[k] += a * u[k]
    return count


@helper
def column_curvature(columns, j, Z, Y, loss, kept, listed, count, h, work):  # type: ignore[no-untyped-def]
    """The largest entry of Σ_i x_ij² diag ∇²ℓ(z_i, y_i) over the listed entries (idle samples have no curvature), and
    Σ_i ℓ(z_i, y_i). h (2, m), work (3, m): a loss has two rows of it, a weighted one the third."""
    total = 0.0
    h[:] = 0.0
    for t in range(count):
        p = listed[t]
        x = np.float64(columns.entry(p, j))
        if x != 0.0:
            i = columns.row(p, j)
            loss.hessian_diag(Z[i], kept.U[i], Y[i], x, h, work)
            total += kept.values[i]
    top = 0.0
    for k in range(h.shape[1]):
        top = max(top, h[0, k] + h[1, k])
    return top, total


@helper
def move_column(columns, j, factor, delta, Z, Y, loss, kept, work):  # type: ignore[no-untyped-def]
    """Z_i += factor·x_ij·delta for the samples of column j, and what is kept about them; returns Σ_i ℓ."""
    total = 0.0
    for p in range(columns.start(j), columns.stop(j)):
        x = np.float64(columns.entry(p, j))
        if x != 0.0:
            i = columns.row(p, j)
            u = kept.U[i]
            value = loss.update_scores(Z[i], Y[i], factor * x, delta, u, work)
            busy = np.uint8(not loss.is_inactive(u, Y[i]))
            value *= busy  # not a branch: it could not be foreseen
            kept.values[i] = value
            kept.busy[i] = busy
            total += value
    return total


@lean
def is_zero(coef, j):  # type: ignore[no-untyped-def]
    """Return whether row j of coef is zero. Adds up instead of leaving early: vector instructions."""
    total = 0.0
    for k in range(coef.shape[1]):
        total += abs(coef[j, k])
    return total == 0.0


@helper
def visit(g, zero, delta, curve, row, lam, penalised):  # type: ignore[no-untyped-def]
    """Residual and Eq. 9 of a row (``zero`` or not) that is about to move by delta, or that is not zero.

    A zero row that stays zero is not a case for this function: both are zero there.
    """
    moved = 0.0
    size = 0.0
    for k in range(g.size):
        moved += delta[k] * delta[k]
        size += g[k] * g[k]
    seen = np.sqrt(size)
    if penalised:
        excess = row.zero_threshold(g) - lam
        seen = max(excess, 0.0) if zero else abs(excess)
    return curve * np.sqrt(moved), seen


@helper
def proximal_row(coef, j, g, curve, row, lam, penalised, new, delta):  # type: ignore[no-untyped-def]
    """new ← prox_{λ/L}(W_j − g/L), L = ``curve``, and delta ← new − W_j; returns whether delta is not zero."""
    for k in range(g.size):
        new[k] = coef[j, k] - g[k] / curve
    if penalised:
        row.prox(new, lam / curve, new)
    moved = False
    for k in range(g.size):
        delta[k] = new[k] - coef[j, k]
        moved = moved or delta[k] != 0.0
    return moved


@helper
def search_step(columns, j, coef, g, new, delta, row, lam, penalised, before, search, Z, Y, loss, kept, work):  # type: ignore[no-untyped-def]
    """Try the steps 1, ω, ω²… along delta; returns the accepted one (0 if none is) and the number of trials.

    The scores are moved by the difference to the last trial, so an accepted first trial costs one pass over the column
    and a rejected one is undone on the way to the next, the last one by a step back to 0. ``before`` : Σ_i ℓ of the
    samples of the column.
    """
    n = Z.shape[0]
    old_value = 0.0
    new_value = 0.0
    if penalised:
        old_value = lam * row.value(coef[j])
        new_value = lam * row.value(new)
    slope = new_value - old_value
    for k in range(g.size):
        slope += g[k] * delta[k]
    step = 1.0
    placed = 0.0
    for trial in range(search.most + 1):  # the last one is the step back: one place moves, and is compiled once
        if trial == search.most:
            step = 0.0
        after = move_column(columns, j, step - placed, delta, Z, Y, loss, kept, work)
        if step == 0.0:
            break
        placed = step
        value = new_value
        if step < 1.0 and penalised:
            for k in range(g.size):
                work[0, k] = coef[j, k] + step * delta[k]
            value = lam * row.value(work[0])
        change = (after - before) / n + value - old_value
        if change <= search.sigma * step * slope + 4.0 * search.eps * (abs(after) + abs(before)) / n:
            return step, trial + 1
        step *= search.backtrack
    return 0.0, search.most


@kernel
def sweep_line_search(columns, order, coef, Z, Y, loss, penalty, lam, penalised, search, kept):
    """One pass of BCD with line search (Tseng and Yun) over the rows named in ``order``; returns what it did.

    coef (rows, m), the scores Z (n, m) and what is kept beside them (:func:`keep`) are updated in place; ``penalised``
    is False for the intercept's row.
    """
    n, m = Z.shape
    g = lone_row(m)
    h = lone_rows(2, m)
    work = lone_rows(3, m)
    new = lone_row(m)
    delta = lone_row(m)
    listed = np.empty(n, dtype=np.intp)
    read = moved = trials = steps = residual = squares = seen_sum = seen_max = 0.0
    for position in range(order.size):
        j = order[position]
        row = penalty.at(j)
        length = columns.stop(j) - columns.start(j)
        count = column_gradient(columns, j, kept, listed, g)
        read += length
        for k in range(m):
            g[k] /= n
        zero = is_zero(coef, j)
        if zero and penalised and row.stays_zero(g, lam):
            continue
        top, before = column_curvature(columns, j, Z, Y, loss, kept, listed, count, h, work)
        curve = max(search.widen * top / n, FLOOR)
        moves = proximal_row(coef, j, g, curve, row, lam, penalised, new, delta)
        far, seen = visit(g, zero, delta, curve, row, lam, penalised)
        residual = max(residual, far)
        squares += far * far
        seen_sum += seen
        seen_max = max(seen_max, seen)
        if not moves:
            continue
        step, tried = search_step(
            columns, j, coef, g, new, delta, row, lam, penalised, before, search, Z, Y, loss, kept, work
        )
        trials += tried
        read += (tried + (step == 0.0)) * length
        if step == 0.0:
            continue
        moved += 1.0
        steps += step
        for k in range(m):
            coef[j, k] = new[k] if step == 1.0 else coef[j, k] + step * delta[k]
    return Swept(read, moved, trials, steps, residual, squares, seen_sum, seen_max)  # type: ignore[call-arg]


@kernel
def sweep_constant_step(columns, order, coef, Z, Y, loss, penalty, lam, penalised, constants, kept):
    """One pass of BCD with step 1/K_j over the rows named in ``order`` (Richtárik and Takáč); the rest is as above."""
    n, m = Z.shape
    g = lone_row(m)
    work = lone_rows(3, m)
    new = lone_row(m)
    delta = lone_row(m)
    listed = np.empty(n, dtype=np.intp)
    read = moved = residual = squares = seen_sum = seen_max = 0.0
    for position in range(order.size):
        j = order[position]
        row = penalty.at(j)
        length = columns.stop(j) - columns.start(j)
        column_gradient(columns, j, kept, listed, g)
        read += length
        for k in range(m):
            g[k] /= n
        zero = is_zero(coef, j)
        if zero and penalised and row.stays_zero(g, lam):
            continue
        curve = max(constants[j], FLOOR)
        moves = proximal_row(coef, j, g, curve, row, lam, penalised, new, delta)
        far, seen = visit(g, zero, delta, curve, row, lam, penalised)
        residual = max(residual, far)
        squares += far * far
        seen_sum += seen
        seen_max = max(seen_max, seen)
        if moves:
            move_column(columns, j, 1.0, delta, Z, Y, loss, kept, work)
            read += length
            moved += 1.0
            for k in range(m):
                coef[j, k] = new[k]
    return Swept(read, moved, 0.0, moved, residual, squares, seen_sum, seen_max)  # type: ignore[call-arg]


@kernel
def mark_for_sweep(columns, rows, coef, kept, penalty, lam, margin, marks):
    """marks[q] = 0 if row rows[q] may be left out of sweeps: it is zero, and would stay so at λ − margin; else 1.

    ``kept`` holds the samples' gradients. Returns the data entries read.
    """
    n = kept.U.shape[0]
    g = lone_row(coef.shape[1])
    listed = np.empty(n, dtype=np.intp)
    read = 0
    for q in range(rows.size):
        j = rows[q]
        marks[q] = 1
        if is_zero(coef, j) and margin < lam:
            column_gradient(columns, j, kept, listed, g)
            read += columns.stop(j) - columns.start(j)
            for k in range(g.size):
                g[k] /= n
            if penalty.at(j).stays_zero(g, lam - margin):
                marks[q] = 0
    return read
