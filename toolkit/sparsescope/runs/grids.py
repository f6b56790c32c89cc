"""Grids of λ for paths."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..registry import check_whole

__all__ = ["lam_grid"]


def lam_grid(
    problem: Any, n_lams: int = 50, ratio: float = 1e-2, lams: Any = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the λ of a path, falling, and notes about changes of the given ones.

    There are ``n_lams`` values from ``problem.lam_reference`` (λ_max, above which W = 0; for ridge, which has none,
    that of the group lasso on the same data) down to ``ratio`` times it, in equal factors; or the given ``lams``,
    sorted downwards and each taken once.

    Parameters
    ----------
    problem
        the problem.
    n_lams
        number of values, at least 2.
    ratio
        last value divided by the first, in (0, 1).
    lams
        values in place of these; positive and finite.

    Returns
    -------
    tuple[np.ndarray, tuple[str, ...]]
        the λ (float64) and the notes.

    Raises
    ------
    ValueError
        for fewer than two λ, a ratio outside (0, 1), and given λ that are not positive and finite.
    """
    if not problem.proves:
        raise ValueError("a path follows solutions at falling λ; a sequence of models has none: make a run at each λ")
    if lams is None:
        count = check_whole("n_lams", n_lams, 2)
        if not (isinstance(ratio, Real) and 0 < ratio < 1):
            raise ValueError(f"ratio is {ratio!r}; smallest λ over largest must lie between 0 and 1, both excluded")
        return problem.lam_reference * np.geomspace(1.0, ratio, count), ()
    try:
        given = np.asarray(lams, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"lams is {lams!r}; a sequence of positive numbers is needed") from None
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"lams has shape {given.shape}; at least one λ in one dimension is needed")
    bad = given[~(np.isfinite(given) & (given > 0))]
    if bad.size:
        raise ValueError(f"lams holds {bad[0]:g}; every λ must be positive and finite")
    falling = np.unique(given)[::-1]
    notes = []
    if falling.size < given.size:
        notes.append(f"{given.size - falling.size} λ were given more than once and are solved once")
    if (np.diff(given) > 0).any():
        notes.append("the given λ were sorted downwards, so that each starts from a sparser solution")
    return falling, tuple(notes)
