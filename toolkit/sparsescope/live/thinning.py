"""Choice of the events of a long trace to send when there are more than a page can show."""

from __future__ import annotations

import numpy as np


def keep(n: int, limit: int, *, known: np.ndarray | None = None, pinned: np.ndarray | None = None) -> np.ndarray:
    """Sorted indices of at most about ``limit`` of ``n`` events.

    The older half of the places lies on a logarithmic grid, so that the start of a curve stays; the other half is
    evenly spaced, so that the recent part is drawn in full. In each cell of the grid the last event with a ``known``
    gap (or accuracy) is preferred to one without. ``pinned`` events stay in any case, as do the first and the last.
    """
    if n <= limit:
        return np.arange(n)
    half = max(2, limit // 2)
    grid = np.concatenate([np.geomspace(1, n, half), np.linspace(1, n, half)])
    edges = np.unique(np.rint(grid).astype(np.int64))
    last = edges - 1  # the last event of each cell
    if known is not None:
        before = np.maximum.accumulate(np.where(known, np.arange(n), -1))[last]  # newest known event up to here
        start = np.concatenate([[0], last[:-1] + 1])
        last = np.where(before >= start, before, last)
    parts = [np.array([0, n - 1]), last]
    if pinned is not None and pinned.size:
        parts.append(pinned[(pinned >= 0) & (pinned < n)])
    return np.unique(np.concatenate(parts))
