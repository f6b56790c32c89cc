"""Sums of squared entries by feature and class."""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel


@kernel
def add_squares(columns, y, weights, sums):
    """sums_jc += Σ_{i: y_i = c} ω_i x_ij²: y, weights (n,), sums (d, m)."""
    for j in range(sums.shape[0]):
        total = sums[j]
        for p in range(columns.start(j), columns.stop(j)):
            i = columns.row(p, j)
            x = np.float64(columns.entry(p, j))
            total[np.uintp(y[i])] += weights[i] * x * x
