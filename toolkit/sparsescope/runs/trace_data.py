"""TraceData: the columns, marks and snapshots that a trace holds, without what is done with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..registry import Column
from .event import NUMBERS, known_columns
from .row_history import RowHistory
from .snapshots import Snapshot

COMMON = (*NUMBERS, "segment")
# Snapshots of W may take this much memory together; beyond it every second one is dropped. The recorder then stays a
# small part of what data and model take, also for 20 newsgroups (130 000 rows).
SNAPSHOT_BYTES = 16_000_000


@dataclass(frozen=True)
class Mark:
    """Change made during a run, between two events.

    Parameters
    ----------
    index
        number of the event that follows.
    iteration
        iterations done by then.
    passes
        data passes done by then.
    seconds
        solver seconds spent by then.
    text
        description of the change.
    kind
        ``lam``, ``loss``, ``penalty``, ``solver`` or ``note``.
    clock
        wall time of the change, in seconds since the epoch.
    """

    index: int
    iteration: int
    passes: float
    seconds: float
    text: str
    kind: str
    clock: float = 0.0  # time of day in seconds; 0 in files of earlier versions


class TraceData:
    """Columns, marks, snapshots and changes of the rows; see :class:`sparsescope.Trace`."""

    def __init__(
        self, info: dict[str, Any] | None = None, snapshot_bytes: int = SNAPSHOT_BYTES, recent_bytes: int = 0
    ) -> None:
        self.info: dict[str, Any] = dict(info or {})
        self.marks: list[Mark] = []
        self.snapshots: list[Snapshot] = []
        self.snapshot_bytes, self.recent_bytes = snapshot_bytes, recent_bytes
        self._recent: list[Snapshot] = []
        self._recent_held = 0  # their bytes: counted once each, because this is done at every event
        self._size = 0
        self._data = {name: np.empty(64) for name in COMMON}
        self._reported: dict[str, Column] = {}  # what the solvers of this trace declare
        self._support = RowHistory()
        self._working = RowHistory()  # the solver's working set
        self._keys: list[str] = []  # of the problem of each segment
        self._lams: list[float] = []  # of each segment
        self._best: dict[str, float] = {}
        self._lower: dict[str, float] = {}
        self._optima: dict[str, tuple[float, float]] = {}  # by the keys of problems, from references
        self._next_snapshot = 0

    def __len__(self) -> int:
        return self._size

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._data)

    @property
    def reported(self) -> tuple[Column, ...]:
        """Columns that the solvers of this trace report besides the common numbers: names, meanings and units."""
        return tuple(self._reported.values())

    def __getitem__(self, name: str) -> np.ndarray:
        size, data = self._size, self._data
        if name in data:
            return data[name][:size]
        if name in known_columns():
            return np.full(size, np.nan)
        raise KeyError(f"unknown column {name!r}; known: {', '.join(data)}")

    @property
    def segments(self) -> int:
        """Number of segments so far."""
        return len(self._keys)
