"""Steps on one sample at a time (forward-backward splitting); rows of W are shrunk only when somebody needs them."""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel
from .memory import lone_row

# What a sweep over samples reports, by position: data entries read, distinct rows of W touched, the last step size, and
# 0 if it ended early because a score or a loss was not finite.
READ, TOUCHED, STEP, FINITE = 0, 1, 2, 3
REPORT = 4


@helper
def catch_up(w, penalty, adds_up, taus, sums, first, last):  # type: ignore[no-untyped-def]
    """Apply the prox steps first…last−1 to a row in place; returns whether it is still not zero.

    ``sums`` are the running sums of penalty.addend(taus), so a penalty whose steps add up needs one prox for all; for
    any other they are done one after the other, until the row is zero: it stays so.
    """
    if adds_up:
        penalty.prox_added(w, sums[last] - sums[first], w)
        left = 0.0
        for k in range(w.size):
            left += abs(w[k])
        return left != 0.0
    for step in range(first, last):
        penalty.prox(w, taus[step], w)
        left = 0.0
        for k in range(w.size):
            left += abs(w[k])
        if left == 0.0:
            return False
    return True


@helper
def subtract_step(samples, i, u, penalised, coef, used):  # type: ignore[no-untyped-def]
    """W ← W − x_i uᵀ, and the intercept in the rows from ``penalised`` on likewise; the rows that move are ``used``."""
    for p in range(samples.start(i), samples.stop(i)):
        x = samples.entry(p, i)
        if x != 0.0:
            w = coef[samples.row(p, i)]
            for k in range(u.size):
                w[k] -= x * u[k]
            used[samples.row(p, i)] = 1
    for j in range(penalised, coef.shape[0]):
        for k in range(u.size):
            coef[j, k] -= u[k]


@kernel
def forward_backward(samples, order, coef, Y, loss, penalty, lam, penalised, eta0, taken, adds_up, done, used, report):
    """One step for each sample named in ``order``: W ← prox_{λη_t}(W − η_t x_i u_iᵀ), η_t = η₀/√t, t = taken+1, ….

    samples : X by rows, with the functions of DenseColumns · coef (rows, m) is changed in place; its rows from
    ``penalised`` on (the intercept) take the plain step. ``adds_up`` : see catch_up.
    done (rows,) intp and used (rows,) uint8 are scratch: how many of the prox steps a row has had, and whether it may
    be non-zero. A step reads and moves only the rows of its sample's non-zero entries: O(nnz(x_i)·m). At the end all
    rows are brought up to date. If a score or a loss is not finite, the sweep ends at once, which ``report`` records.
    """
    m = coef.shape[1]
    z = lone_row(m)
    u = lone_row(m)
    work = lone_row(m)
    taus = np.empty(order.size)
    sums = np.zeros(order.size + 1)
    for s in range(order.size):
        taus[s] = lam * eta0 / np.sqrt(taken + s + 1.0)
        sums[s + 1] = sums[s] + penalty.addend(taus[s])
    for j in range(penalised):
        done[j] = 0
        used[j] = 0
        for k in range(m):
            if coef[j, k] != 0.0:
                used[j] = 1
    touched = np.zeros(penalised, np.uint8)
    for s in range(order.size):
        i = order[s]
        eta = eta0 / np.sqrt(taken + s + 1.0)
        for k in range(m):
            z[k] = coef[penalised, k] if coef.shape[0] > penalised else 0.0
            u[k] = 0.0
        for p in range(samples.start(i), samples.stop(i)):
            x = samples.entry(p, i)
            j = samples.row(p, i)
            if x != 0.0:
                touched[j] = 1
                if used[j] != 0 and done[j] < s:
                    used[j] = 1 if catch_up(coef[j], penalty, adds_up, taus, sums, done[j], s) else 0
                done[j] = s
                if used[j] != 0:
                    for k in range(m):
                        z[k] += x * coef[j, k]
        report[READ] += samples.stop(i) - samples.start(i)
        size = loss.gradient(z, Y[i], 1.0, u, work)
        for k in range(m):
            size += abs(z[k])
        if not np.isfinite(size):
            report[FINITE] = 0.0
            return
        size = 0.0
        for k in range(m):
            u[k] *= eta
            size += abs(u[k])
        if size != 0.0:
            subtract_step(samples, i, u, penalised, coef, used)
            report[READ] += samples.stop(i) - samples.start(i)
        report[STEP] = eta
    for j in range(penalised):
        report[TOUCHED] += touched[j]
        if used[j] != 0:
            catch_up(coef[j], penalty, adds_up, taus, sums, done[j], order.size)
