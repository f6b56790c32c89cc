"""Merge of the results of threads that swept different rows on separate copies of the scores."""

from __future__ import annotations

from ..jit.parts import kernel
from .memory import lone_row


@kernel
def meet(Z, ZT, use, Y, loss, first, last, out, kept):
    """out_i = Z_i + Σ_t use_t·(ZT_t,i − Z_i) and what is kept beside it, for the samples first…last; returns Σ_i ℓ.

    Z, out (n, m), ZT (threads, n, m), use (threads,) uint8.
    """
    m = Z.shape[1]
    work = lone_row(m)
    total = 0.0
    for i in range(first, last):
        z = out[i]
        u = kept.U[i]
        for k in range(m):
            z[k] = Z[i, k]
            u[k] = 0.0
        for t in range(use.size):
            if use[t]:
                for k in range(m):
                    z[k] += ZT[t, i, k] - Z[i, k]
        value = loss.gradient(z, Y[i], 1.0, u, work)
        kept.values[i] = value
        kept.busy[i] = 0 if loss.is_inactive(u, Y[i]) else 1
        total += value
    return total
