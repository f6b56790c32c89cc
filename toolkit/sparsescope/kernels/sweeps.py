"""Sweeps over rows of W: block coordinate descent with and without line search (Blondel et al. 2013, Alg. 1 and 2)."""

from __future__ import annotations

import numpy as np

from ..jit import helper, kernel

FLOOR = 1e-12  # smallest curvature of a block: an empty column must not divide by zero

# What a sweep reports, by position: data entries read, rows moved, line-search trials, sum of the accepted steps; the
# largest L_j‖W*_j − W_j‖₂ of a visited row; sum and maximum of the criterion of Blondel et al. (2013, Eq. 9) over the
# visited rows, each at the moment of its visit (no meaning if Ω is not a norm).
READ, MOVED, TRIALS, STEPS, RESIDUAL, SEEN_SUM, SEEN_MAX = range(7)
REPORT = 7


@helper
def move_scores(columns, j, factor, delta, Z):  # type: ignore[no-untyped-def]
    """Z_i += factor·x_ij·delta for the samples of column j."""
    for p in range(columns.start(j), columns.stop(j)):
        x = columns.entry(p, j)
        if x != 0.0:
            z = Z[columns.row(p, j)]
            for k in range(delta.size):
                z[k] += factor * x * delta[k]


@helper
def note_visit(g, w, delta, curve, penalty, lam, penalised, report):  # type: ignore[no-untyped-def]
    """Residual and Eq. 9 of a row that is about to move by delta, or that is not zero. All rows have length m.

    A zero row that stays zero is not a case for this function: both are zero there.
    """
    moved = 0.0
    size = 0.0
    zero = True
    for k in range(g.size):
        moved += delta[k] * delta[k]
        size += g[k] * g[k]
        zero = zero and w[k] == 0.0
    report[RESIDUAL] = max(report[RESIDUAL], curve * np.sqrt(moved))
    seen = np.sqrt(size)
    if penalised:
        excess = penalty.critical(g) - lam
        seen = max(excess, 0.0) if zero else abs(excess)
    report[SEEN_SUM] += seen
    report[SEEN_MAX] = max(report[SEEN_MAX], seen)


@kernel
def sweep_line_search(
    columns, order, coef, Z, Y, loss, penalty, lam, penalised, sigma, backtrack, max_trials, eps, report
):
    """One pass of BCD with line search (Tseng and Yun) over the rows named in ``order``.

    coef (rows, m) and the scores Z (n, m) are updated in place; ``penalised`` is False for the intercept's row.
    ``eps`` is the rounding unit of Z: a decrease smaller than rounding counts as a decrease.
    ``report`` (REPORT,) is added to, see above.
    """
    n, m = Z.shape
    g = np.empty(m)
    h = np.empty(m)
    work = np.empty(m)
    new = np.empty(m)
    delta = np.empty(m)
    for position in range(order.size):
        j = order[position]
        length = columns.stop(j) - columns.start(j)
        for k in range(m):
            g[k] = 0.0
            h[k] = 0.0
        before = 0.0
        for p in range(columns.start(j), columns.stop(j)):
            x = columns.entry(p, j)
            if x != 0.0:
                i = columns.row(p, j)
                before += loss.derivatives(Z[i], Y[i], x, g, h, work)
        report[READ] += length
        curve = FLOOR
        for k in range(m):
            curve = max(curve, h[k] / n)
        for k in range(m):
            g[k] /= n
            new[k] = coef[j, k] - g[k] / curve
        old_value = 0.0
        new_value = 0.0
        if penalised:
            penalty.prox(new, lam / curve, new)
            old_value = lam * penalty.value(coef[j])
            new_value = lam * penalty.value(new)
        moved = False
        used = False
        slope = new_value - old_value
        for k in range(m):
            delta[k] = new[k] - coef[j, k]
            moved = moved or delta[k] != 0.0
            used = used or coef[j, k] != 0.0
            slope += g[k] * delta[k]
        if moved or used:
            note_visit(g, coef[j], delta, curve, penalty, lam, penalised, report)
        if not moved:
            continue
        # Try steps 1, ω, ω²… ; the scores are moved by the difference to the last trial, so an accepted first trial
        # costs one pass and a rejected one is undone on the way to the next.
        step = 1.0
        placed = 0.0
        accepted = False
        for _ in range(max_trials):
            after = 0.0
            for p in range(columns.start(j), columns.stop(j)):
                x = columns.entry(p, j)
                if x != 0.0:
                    i = columns.row(p, j)
                    z = Z[i]
                    for k in range(m):
                        z[k] += (step - placed) * x * delta[k]
                    after += loss.value(z, Y[i])
            placed = step
            report[READ] += length
            report[TRIALS] += 1
            value = new_value
            if step < 1.0 and penalised:
                for k in range(m):
                    work[k] = coef[j, k] + step * delta[k]
                value = lam * penalty.value(work)
            change = (after - before) / n + value - old_value
            if change <= sigma * step * slope + 4.0 * eps * (abs(after) + abs(before)) / n:
                accepted = True
                break
            step *= backtrack
        if not accepted:
            move_scores(columns, j, -placed, delta, Z)
            report[READ] += length
            continue
        report[MOVED] += 1
        report[STEPS] += step
        for k in range(m):
            coef[j, k] = new[k] if step == 1.0 else coef[j, k] + step * delta[k]


@kernel
def sweep_constant_step(columns, order, coef, Z, Y, loss, penalty, lam, penalised, constants, report):
    """One pass of BCD with step 1/K_j over the rows named in ``order`` (Richtárik and Takáč); the rest is as above."""
    n, m = Z.shape
    g = np.empty(m)
    work = np.empty(m)
    new = np.empty(m)
    delta = np.empty(m)
    for position in range(order.size):
        j = order[position]
        for k in range(m):
            g[k] = 0.0
        for p in range(columns.start(j), columns.stop(j)):
            x = columns.entry(p, j)
            if x != 0.0:
                i = columns.row(p, j)
                loss.gradient(Z[i], Y[i], x, g, work)
        report[READ] += columns.stop(j) - columns.start(j)
        curve = max(constants[j], FLOOR)
        for k in range(m):
            g[k] /= n
            new[k] = coef[j, k] - g[k] / curve
        if penalised:
            penalty.prox(new, lam / curve, new)
        moved = False
        used = False
        for k in range(m):
            delta[k] = new[k] - coef[j, k]
            moved = moved or delta[k] != 0.0
            used = used or coef[j, k] != 0.0
        if moved or used:
            note_visit(g, coef[j], delta, curve, penalty, lam, penalised, report)
        if moved:
            move_scores(columns, j, 1.0, delta, Z)
            report[READ] += columns.stop(j) - columns.start(j)
            report[MOVED] += 1
            report[STEPS] += 1.0
            for k in range(m):
                coef[j, k] = new[k]
