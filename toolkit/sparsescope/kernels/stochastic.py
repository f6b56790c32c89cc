"""Steps on one sample at a time (forward-backward splitting); rows of W are shrunk only when somebody needs them."""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper, kernel, struct
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


@struct
class Lazy:
    """Memory of a sweep over samples: the steps to come, and the rows that lag behind.

    taus (steps,), sums (steps + 1,) : λη_t, and the running sums of penalty.addend of it · done (rows,) intp: how many
    of the prox steps a row has had · used, touched (rows,) uint8: whether it may be non-zero, and was read
    """

    taus: np.ndarray
    sums: np.ndarray
    done: np.ndarray
    used: np.ndarray
    touched: np.ndarray


@kernel
def begin_sweep(coef, penalty, lam, eta0, taken, lazy):
    """The sizes η_t = η₀/√t, t = taken+1, …, of the steps to come; all rows are up to date."""
    lazy.sums[0] = 0.0
    for s in range(lazy.taus.size):
        lazy.taus[s] = lam * eta0 / np.sqrt(taken + s + 1.0)
        lazy.sums[s + 1] = lazy.sums[s] + penalty.addend(lazy.taus[s])
    for j in range(lazy.done.size):
        lazy.done[j] = 0
        lazy.used[j] = 0
        lazy.touched[j] = 0
        for k in range(coef.shape[1]):
            if coef[j, k] != 0.0:
                lazy.used[j] = 1


@kernel
def forward_backward(
    samples, order, first, last, coef, Y, loss, penalty, penalised, eta0, taken, adds_up, lazy, report
):
    """The steps first…last, one for each sample named in ``order``: W ← prox_{λη_t}(W − η_t x_i u_iᵀ).

    samples : X by rows, with the functions of DenseColumns · coef (rows, m) is changed in place; its rows from
    ``penalised`` on (the intercept) take the plain step. ``adds_up`` : see catch_up. A step reads and moves only the
    rows of its sample's non-zero entries: O(nnz(x_i)·m). If a score or a loss is not finite, it ends at once, which
    ``report`` records.
    """
    m = coef.shape[1]
    z = lone_row(m)
    u = lone_row(m)
    work = lone_row(m)
    taus, sums, done, used, touched = lazy.taus, lazy.sums, lazy.done, lazy.used, lazy.touched
    for s in range(first, last):
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


@kernel
def bring_up(coef, penalty, adds_up, lazy, first, last, report):
    """Apply the prox steps that are still due to the rows first…last of W, at the end of a sweep."""
    for j in range(first, last):
        report[TOUCHED] += lazy.touched[j]
        if lazy.used[j] != 0:
            catch_up(coef[j], penalty, adds_up, lazy.taus, lazy.sums, lazy.done[j], lazy.taus.size)
