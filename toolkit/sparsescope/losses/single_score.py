"""The sign of a class, and the repair of dual rows for intercepts: common to losses of one score for two classes."""

from __future__ import annotations

from ..jit.parts import helper


@helper
def against(z, y):  # type: ignore[no-untyped-def]
    """t = −s·z, how far the score is on the wrong side: s = +1 for class 1, −1 for class 0."""
    return z[0] if y == 0 else -z[0]


@helper
def repair_sides(U, Y):  # type: ignore[no-untyped-def]
    """Scale the heavier side of a column (n, 1) down to the lighter one (MATH §7); both keep their signs."""
    above = 0.0
    below = 0.0
    for i in range(U.shape[0]):
        if Y[i] == 0:
            above += U[i, 0]
        else:
            below -= U[i, 0]
    light = min(above, below)
    keep_above = light / above if above > 0.0 else 0.0
    keep_below = light / below if below > 0.0 else 0.0
    for i in range(U.shape[0]):
        U[i, 0] *= keep_above if Y[i] == 0 else keep_below
