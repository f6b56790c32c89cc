"""Trace: what a run left behind, as append-only columns, marks, thinned snapshots of W, and how the support and the
solver's working set changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from .event import NAN, NUMBERS, Event, declared
from .snapshots import SPARSE, Snapshot
from .trace_data import COMMON, SNAPSHOT_BYTES, Mark
from .trace_files import FORMAT, TraceFiles
from .trace_optima import TraceOptima
from .trace_tables import TraceTables

__all__ = ["COMMON", "FORMAT", "SNAPSHOT_BYTES", "SPARSE", "Mark", "Recorder", "Snapshot", "Trace"]

SNAPSHOT_GROWTH = 1.25  # the next snapshot is due at this multiple of the last one's event number
MOST_RECENT = 200  # newest events whose W is kept


class Trace(TraceOptima, TraceTables, TraceFiles):
    """Columns of numbers, one entry per event, with the changes between events.

    ``trace["objective"]`` is the filled part of a column (float64, shape (len(trace),)). The columns are the numbers of
    :class:`sparsescope.Event`, those of its ``info`` from the first event that has them (NaN before), and ``segment``,
    which grows by one when loss, penalty or λ change. A column that only other solvers report is NaN everywhere.

    One thread may append while others read: a reader takes ``len(trace)`` first and reads no further.

    Parameters
    ----------
    info
        description of the problem and the run (JSON).
    snapshot_bytes
        memory for the snapshots of W; when it is full, every second one is dropped.
    recent_bytes
        memory for W after each of the newest events, which are not saved: live sessions step back through them.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> trace = ss.solve(problem, tol=1e-4).trace
    >>> bool(trace["objective"][-1] < trace["objective"][0])
    True
    """

    # ------------------------------------------------------------------------------------------------------ reading
    def since(self, index: int) -> dict[str, np.ndarray]:
        """Copy all columns from an event on.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        dict[str, np.ndarray]
            the columns by their names.
        """
        size = self._size
        return {name: column[max(index, 0) : size].copy() for name, column in self._data.items()}

    def entered(self, index: int) -> np.ndarray:
        """Return the rows that became non-zero at an event.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        np.ndarray
            row numbers, int32.
        """
        return self._support.entered[self._within(index)]

    def left(self, index: int) -> np.ndarray:
        """Return the rows that became zero at an event.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        np.ndarray
            row numbers, int32.
        """
        return self._support.left[self._within(index)]

    def support(self, index: int = -1) -> np.ndarray:
        """Return the non-zero rows after an event.

        Parameters
        ----------
        index
            number of the event; −1: the last.

        Returns
        -------
        np.ndarray
            row numbers, sorted, int32.
        """
        return self._support.after(self._within(index))

    def supports(self) -> Iterator[np.ndarray]:
        """Iterate over the supports after each event, in order.

        Yields
        ------
        np.ndarray
            numbers of the non-zero rows, int32.
        """
        yield from self._support.each(self._size)

    def taken(self, index: int) -> np.ndarray:
        """Return the rows that entered the solver's working set at an event; none while it works on all rows.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        np.ndarray
            row numbers, int32.
        """
        return self._working.entered[self._within(index)]

    def dropped(self, index: int) -> np.ndarray:
        """Return the rows that left the solver's working set at an event.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        np.ndarray
            row numbers, int32.
        """
        return self._working.left[self._within(index)]

    def working(self, index: int = -1) -> np.ndarray:
        """Return the rows in the working set after an event.

        Parameters
        ----------
        index
            number of the event; −1: the last.

        Returns
        -------
        np.ndarray
            row numbers, sorted, int32; empty if there is no working set.
        """
        return self._working.after(self._within(index))

    def _within(self, index: int) -> int:
        size = self._size
        if not -size <= index < size:
            raise IndexError(f"event {index} of a trace with {size} events")
        return index % size

    def weights(self, snapshot: int = -1) -> Any:
        """Return W of a snapshot.

        Parameters
        ----------
        snapshot
            number of the snapshot; −1: the last.

        Returns
        -------
        Any
            W (d, m): a full array, or a CSR matrix where the solver kept it sparse.

        Raises
        ------
        IndexError
            if there is no such snapshot.
        """
        if not self.snapshots:
            raise IndexError("the trace has no snapshots of W")
        return self.snapshots[snapshot].weights(int(self.info["d"]))

    def weights_at(self, index: int) -> tuple[float, Any] | None:
        """Return the newest W that is kept of the events up to one.

        Parameters
        ----------
        index
            number of the event.

        Returns
        -------
        tuple of float and Any, or None
            its iteration and W; ``None`` if none is kept.
        """
        kept = [s for s in (*self.snapshots, *self._recent) if s.index <= index]
        if not kept:
            return None
        newest = max(kept, key=lambda s: s.index)
        return newest.iteration, newest.weights(int(self.info["d"]))

    # ------------------------------------------------------------------------------------------------------ writing
    def append(self, event: Event) -> None:
        """Record an event.

        The memory grows with the number of changed rows; W itself is only copied when a snapshot is due.

        Parameters
        ----------
        event
            the event.
        """
        if not self._size:
            self._describe(event)
        key = repr(event.solver.target(event.problem))
        if not self._keys or self._keys[-1] != key:
            self._keys.append(key)
            self._lams.append(float(event.problem.lam))
        size = self._size
        if size == self._data["iteration"].size:
            self._data = {name: np.concatenate([column, np.full(size, np.nan)]) for name, column in self._data.items()}
        fresh = [name for name in event.info if name not in self._data]
        if fresh:  # readers hold the old columns or the new ones
            self._data = {**self._data, **{name: np.full(self._data["iteration"].size, np.nan) for name in fresh}}
            self._reported |= declared(event, fresh)
        numbers = {**event.info, **{name: getattr(event, name) for name in NUMBERS}, "segment": len(self._keys) - 1}
        for name, column in self._data.items():
            column[size] = numbers.get(name, NAN)
        # With a budget, weights that violate it have an objective below the optimum: the bound of the gap counts.
        value = event.objective if event.solver.follows_lam else event.dual + event.gap
        if not event.certified and event.problem.dtype != np.float64:
            value = np.nan  # rounded: only certificates evaluate data in single precision in double
        if value == value:
            self._best[key] = min(self._best.get(key, np.inf), value)
        lower = event.info.get("dual", NAN)
        if lower == lower:
            self._lower[key] = max(self._lower.get(key, -np.inf), lower)
        flags = np.empty(event.problem.d, dtype=np.uint8)
        event.state.support(flags)
        self._support.record(flags, event.problem.d)
        self._working.record(event.state.working, event.problem.d)
        if size >= self._next_snapshot or event.message:  # the last point of a run is always kept
            self._take_snapshot(event, size, flags)
        elif self.recent_bytes:
            self._take_recent(event, size, flags)
        self._size = size + 1  # last: readers look no further than this

    def mark(self, text: str, kind: str = "note") -> Mark:
        """Record a change made now, between the last event and the next.

        Parameters
        ----------
        text
            description of the change.
        kind
            ``lam``, ``loss``, ``penalty``, ``solver`` or ``note``.

        Returns
        -------
        Mark
            the mark.
        """
        size = self._size
        last = [float(self._data[name][size - 1]) if size else 0.0 for name in ("iteration", "passes", "seconds")]
        made = Mark(size, int(last[0]), last[1], last[2], text, kind, time.time())
        self.marks.append(made)
        return made

    def _describe(self, event: Event) -> None:
        for name, value in (event.problem.metadata | {"solver": repr(event.solver)}).items():
            self.info.setdefault(name, value)

    def _take_snapshot(self, event: Event, index: int, flags: np.ndarray) -> None:
        self._next_snapshot = max(index + 1, int(np.ceil(index * SNAPSHOT_GROWTH)))
        if event.state.snapshot_bytes(flags) > self.snapshot_bytes // 2:
            return  # one W of this size would already be half of what all snapshots may take
        self.snapshots.append(Snapshot(index, event.iteration, *event.state.snapshot(flags)))
        while sum(s.nbytes for s in self.snapshots) > self.snapshot_bytes and len(self.snapshots) > 2:
            self.snapshots = [s for k, s in enumerate(self.snapshots) if k % 2 == 0 or s is self.snapshots[-1]]

    def _take_recent(self, event: Event, index: int, flags: np.ndarray) -> None:
        """Keep W of this event, and forget the oldest beyond the memory for them."""
        if event.state.snapshot_bytes(flags) > self.recent_bytes // 8:
            return
        kept = [*self._recent, Snapshot(index, event.iteration, *event.state.snapshot(flags))]
        held = self._recent_held + kept[-1].nbytes
        while held > self.recent_bytes or len(kept) > MOST_RECENT:
            held -= kept[0].nbytes
            kept.pop(0)
        self._recent, self._recent_held = kept, held  # readers hold the old ones or these

    def copy(self) -> Trace:
        """Return an independent trace with the same past (for forks).

        Returns
        -------
        Trace
            the copy.
        """
        other = Trace(self.info, self.snapshot_bytes, self.recent_bytes)
        other._recent, other._recent_held = self._recent, self._recent_held
        size = self._size
        other._data = {name: column.copy() for name, column in self._data.items()}
        other._reported = dict(self._reported)
        other._support, other._working = self._support.copy(size), self._working.copy(size)
        other._keys, other._best, other._lower = list(self._keys), dict(self._best), dict(self._lower)
        other._lams = list(self._lams)
        other._optima = dict(self._optima)
        other.marks, other.snapshots, other._next_snapshot = list(self.marks), list(self.snapshots), self._next_snapshot
        other._size = size
        return other

    # -------------------------------------------------------------------------------------------------------- files


class Recorder:
    """Callback that writes a :class:`Trace`: ``Run(problem, callbacks=[recorder])``, then ``recorder.trace``.

    Parameters
    ----------
    trace
        the trace to append to; ``None``: a new one.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> recorder = ss.Recorder()
    >>> for event in ss.Run(problem, "bcd-ls", stop=ss.stopping.Iterations(5), callbacks=[recorder]):
    ...     pass
    >>> recorder.trace["iteration"]
    array([0., 1., 2., 3., 4., 5.])
    """

    def __init__(self, trace: Trace | None = None) -> None:
        self.trace = Trace() if trace is None else trace

    def __call__(self, event: Event) -> None:
        self.trace.append(event)
