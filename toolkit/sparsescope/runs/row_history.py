"""RowHistory: a set of rows over the events of a run, kept as what entered and what left it at each event."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NO_ROWS = np.empty(0, dtype=np.int32)


class RowHistory:
    """The support of W, or a solver's working set, after each event; it takes memory for changes only.

    Attributes
    ----------
    entered, left : list of arrays
        numbers of the rows that entered and left at each event, int32.
    """

    def __init__(self) -> None:
        self.entered: list[np.ndarray] = []
        self.left: list[np.ndarray] = []
        self._inside: np.ndarray | None = None  # after the last event; never changed in place

    @classmethod
    def of(cls, entered: list[np.ndarray], left: list[np.ndarray], d: int) -> RowHistory:
        """Return the history of known changes, of ``d`` rows, to go on from."""
        found = cls()
        found.entered, found.left = entered, left
        if entered and (rows := found.after(len(entered) - 1)).size:
            found._inside = np.zeros(d, dtype=bool)
            found._inside[rows] = True
        return found

    def record(self, flags: np.ndarray | None, d: int) -> None:
        """Add an event: which of the ``d`` rows are in the set; ``None``: there is no such set."""
        before = self._inside
        if flags is None and before is None:
            self.entered.append(NO_ROWS)
            self.left.append(NO_ROWS)
            return
        now = np.zeros(d, dtype=bool) if flags is None else flags.astype(bool)
        changed = np.flatnonzero(now if before is None else now != before).astype(np.int32)
        if changed.size:
            inside = now[changed]
            self.entered.append(changed[inside])
            self.left.append(changed[~inside])
        else:  # as at most events of a long run
            self.entered.append(NO_ROWS)
            self.left.append(NO_ROWS)
        self._inside = None if flags is None else now

    def each(self, count: int) -> Iterator[np.ndarray]:
        """Iterate over the sets after the first ``count`` events: row numbers, sorted, int32."""
        inside: set[int] = set()
        for k in range(count):
            inside.update(self.entered[k].tolist())
            inside.difference_update(self.left[k].tolist())
            yield np.array(sorted(inside), dtype=np.int32)

    def after(self, index: int) -> np.ndarray:
        """Return the set after an event: row numbers, sorted, int32."""
        inside: set[int] = set()
        for k in range(index + 1):
            inside.update(self.entered[k].tolist())
            inside.difference_update(self.left[k].tolist())
        return np.array(sorted(inside), dtype=np.int32)

    def copy(self, size: int) -> RowHistory:
        """Return an independent history of the first ``size`` events, to go on from the last one."""
        other = RowHistory()
        other.entered, other.left = self.entered[:size], self.left[:size]
        other._inside = self._inside
        return other
