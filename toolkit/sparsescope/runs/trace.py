"""Trace: what a run left behind, as append-only columns, marks, thinned snapshots of W, and how the support and the
solver's working set changed."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import extras
from ..inputs.archives import DAMAGE, read_arrays
from ..inputs.html import facts_table
from ..registry import Column, recordings
from .event import MEASURED, NUMBERS, Event, known_columns, reported, solver_columns
from .keeping import file_of, write

FORMAT = 2  # 1: every file had all columns that any solver of that version reported
COMMON = (*NUMBERS, "segment")
# Snapshots of W may take this much memory together; beyond it every second one is dropped. The recorder then stays a
# small part of what data and model take, also for 20 newsgroups (130 000 rows).
SNAPSHOT_BYTES = 16_000_000
SNAPSHOT_GROWTH = 1.25  # the next snapshot is due at this multiple of the last one's event number
MOST_RECENT = 200  # newest events whose W is kept
SPARSE = ("data", "indices", "indptr")  # the arrays of a CSR matrix
NO_ROWS = np.empty(0, dtype=np.int32)


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


@dataclass(frozen=True)
class Snapshot:
    """W after one event.

    Parameters
    ----------
    index
        number of the event.
    iteration
        its iteration, with the share of the sweep under way.
    rows
        numbers of the non-zero rows.
    values
        the values of these rows, (len(rows), m); sparse (CSR) if the solver keeps W sparse.
    """

    index: int
    iteration: float
    rows: np.ndarray
    values: Any

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.rows.nbytes + sum(part.nbytes for part in _arrays(self.values)))


class Trace:
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
    """

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
        self._entered: list[np.ndarray] = []
        self._left: list[np.ndarray] = []
        self._flags: np.ndarray | None = None
        self._taken: list[np.ndarray] = []  # into the working set, and out of it
        self._dropped: list[np.ndarray] = []
        self._working: np.ndarray | None = None
        self._keys: list[str] = []  # of the problem of each segment
        self._lams: list[float] = []  # of each segment
        self._best: dict[str, float] = {}
        self._lower: dict[str, float] = {}
        self._optima: dict[str, tuple[float, float]] = {}  # by the keys of problems, from references
        self._next_snapshot = 0

    # ------------------------------------------------------------------------------------------------------ reading
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
        return self._entered[self._within(index)]

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
        return self._left[self._within(index)]

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
        stop = self._within(index)
        inside: set[int] = set()
        for i in range(stop + 1):
            inside.update(self._entered[i].tolist())
            inside.difference_update(self._left[i].tolist())
        return np.array(sorted(inside), dtype=np.int32)

    def supports(self) -> Iterator[np.ndarray]:
        """Iterate over the supports after each event, in order.

        Yields
        ------
        np.ndarray
            numbers of the non-zero rows, int32.
        """
        inside: set[int] = set()
        for i in range(self._size):
            inside.update(self._entered[i].tolist())
            inside.difference_update(self._left[i].tolist())
            yield np.array(sorted(inside), dtype=np.int32)

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
        return self._taken[self._within(index)]

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
        return self._dropped[self._within(index)]

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
        inside: set[int] = set()
        for i in range(self._within(index) + 1):
            inside.update(self._taken[i].tolist())
            inside.difference_update(self._dropped[i].tolist())
        return np.array(sorted(inside), dtype=np.int32)

    def _within(self, index: int) -> int:
        size = self._size
        if not -size <= index < size:
            raise IndexError(f"event {index} of a trace with {size} events")
        return index % size

    @property
    def segments(self) -> int:
        """Number of segments so far."""
        return len(self._keys)

    @property
    def lams(self) -> tuple[float, ...]:
        """λ of each segment; empty for a trace from a file of an earlier version."""
        return tuple(self._lams)

    def best(self, segment: int = -1) -> float:
        """Return the smallest objective seen for this segment's problem, over all segments with the same problem.

        Parameters
        ----------
        segment
            number of the segment; −1: the last.

        Returns
        -------
        float
            the smallest objective.
        """
        return self._best.get(self._keys[segment], float("nan")) if self._keys else float("nan")

    def lower(self, segment: int = -1) -> float:
        """Return the largest certified lower bound for this segment's problem.

        Parameters
        ----------
        segment
            number of the segment; −1: the last.

        Returns
        -------
        float
            the bound; NaN if there is none.
        """
        return self._lower.get(self._keys[segment], float("nan")) if self._keys else float("nan")

    def is_of(self, target: tuple[Any, ...], segment: int = -1) -> bool:
        """Whether a segment belongs to the problem with this key.

        Parameters
        ----------
        target
            the key (``solver.target(problem)``).
        segment
            number of the segment; −1: the last.

        Returns
        -------
        bool
            True if it does.
        """
        return bool(self._keys) and self._keys[segment] == repr(target)

    def optimum(self, segment: int = -1) -> tuple[float, float] | None:
        """Return the bounds of F* that a reference gave for this segment's problem.

        Parameters
        ----------
        segment
            number of the segment; −1: the last.

        Returns
        -------
        tuple[float, float] | None
            lower and upper bound; ``None`` without a reference.
        """
        return self._optima.get(self._keys[segment]) if self._keys else None

    @property
    def optima(self) -> int:
        """For how many problems F* is known from a reference."""
        return len(self._optima)

    def note_optimum(self, target: tuple[Any, ...], dual: float, objective: float) -> None:
        """Record bounds of F* of a problem; the first record is kept.

        Parameters
        ----------
        target
            the problem's key (``solver.target(problem)``).
        dual
            lower bound.
        objective
            upper bound.

        Raises
        ------
        ValueError
            if the bounds are not in order.
        """
        if not dual <= objective:
            raise ValueError(f"F* lies between {dual!r} and {objective!r}, so the first must not be the larger one")
        known = dict(self._optima)
        known.setdefault(repr(target), (float(dual), float(objective)))
        self._optima = known  # readers hold the old ones or these

    def scale(self) -> np.ndarray:
        """Return the divisors of differences to the objective of each event, for gaps and sub-optimalities alike.

        Returns
        -------
        np.ndarray
            one number per event.
        """
        scale = np.maximum(np.abs(self["objective"]), float(self.info.get("least_scale", 0.0)))
        return np.where(scale == 0.0, 1.0, scale)

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
        return self._weights(self.snapshots[snapshot])

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
        return newest.iteration, self._weights(newest)

    def _weights(self, taken: Snapshot) -> Any:
        if sp.issparse(taken.values):
            kept, shape = taken.values.tocoo(), (int(self.info["d"]), taken.values.shape[1])
            return sp.csr_array((kept.data, (taken.rows[kept.coords[0]], kept.coords[1])), shape=shape)
        W = np.zeros((int(self.info["d"]), taken.values.shape[1]), dtype=taken.values.dtype)
        W[taken.rows] = taken.values
        return W

    def to_frame(self) -> Any:
        """Return the columns as a pandas data frame, one row per event.

        Returns
        -------
        pandas.DataFrame
            the columns by their names.
        """
        pd = extras.package("pandas", "Trace.to_frame")
        frame = pd.DataFrame({name: self[name].copy() for name in self.columns})
        whole = ["iteration", "nonzero_rows", "nonzero_entries", "segment"]
        return frame.astype(dict.fromkeys(whole, "int64"))

    def to_csv(self, path: str | Path) -> Path:
        """Write the columns as CSV, one row per event; NaN where nothing was measured.

        Parameters
        ----------
        path
            name of the file.

        Returns
        -------
        Path
            the file.
        """
        target = Path(path)
        write(target, self.to_frame().to_csv(index=False).encode())
        return target

    def to_npz(self, path: str | Path) -> Path:
        """Write every column as an array of an ``.npz`` file, which ``numpy.load`` reads without pickle.

        :meth:`save` keeps the whole trace, with marks and snapshots, for :meth:`load`.

        Parameters
        ----------
        path
            name of the file; ``.npz`` is added if it is missing.

        Returns
        -------
        Path
            the file.
        """
        target, packed = file_of(path), io.BytesIO()
        columns: dict[str, Any] = {name: self[name] for name in self.columns}
        np.savez_compressed(packed, **columns)
        write(target, packed.getvalue())
        return target

    def to_parquet(self, path: str | Path) -> Path:
        """Write the columns as a Parquet table, one row per event. Needs pyarrow.

        Parameters
        ----------
        path
            name of the file.

        Returns
        -------
        Path
            the file.

        Raises
        ------
        ImportError
            without pyarrow.
        """
        target, packed = Path(path), io.BytesIO()
        try:
            self.to_frame().to_parquet(packed, engine="pyarrow", index=False)
        except ImportError as missing:
            raise ImportError(
                "Parquet files are written by pyarrow, which is not installed: pip install pyarrow; "
                "to_csv and to_npz need nothing more"
            ) from missing
        write(target, packed.getvalue())
        return target

    def to_html(self, path: str | Path, problem: Any = None) -> Path:
        """Write a recording: one HTML file that replays the run in a browser, without Python and without a network.

        What is played is what was recorded. With the problem, the recording has the sizes of the classes too, and a
        digest of the data, by which an explorer that has them goes on from where the run ended.

        Parameters
        ----------
        path
            name of the file.
        problem
            the problem that was solved; ``None``: what the trace remembers of it.

        Returns
        -------
        Path
            the file.

        Raises
        ------
        ValueError
            for a trace without events.
        """
        written: Path = recordings["html"](self, path, problem)
        return written

    def _repr_html_(self) -> str:
        if not self._size:
            return facts_table("Trace", [("events", 0)])
        last = [(name, float(self[name][-1])) for name in ("objective", "relative_gap", "nonzero_rows", "seconds")]
        marks = "; ".join(f"{mark.iteration}: {mark.text}" for mark in self.marks[:8])
        more = f"; and {len(self.marks) - 8} more" if len(self.marks) > 8 else ""
        return facts_table(
            "Trace",
            [
                ("events", self._size),
                ("iterations", int(self["iteration"][-1])),
                *((name.replace("_", " ") + " of the last", value) for name, value in last),
                ("changes", marks + more),
                ("snapshots of W", len(self.snapshots)),
                ("of", self.info.get("solver", "")),
            ],
        )

    def __repr__(self) -> str:
        if not self._size:
            return "Trace(empty)"
        return (
            f"Trace({self._size} events to iteration {int(self['iteration'][-1])}, {self.segments} segments, "
            f"{len(self.snapshots)} snapshots)"
        )

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
            self._reported |= {column.name: column for column in reported(event.solver, event.state)}
        for name, column in self._data.items():
            column[size] = event.info.get(name, np.nan) if name not in COMMON else getattr(event, name, np.nan)
        self._data["segment"][size] = len(self._keys) - 1
        # With a budget, weights that violate it have an objective below the optimum: the bound of the gap counts.
        value = event.objective if event.solver.follows_lam else event.dual + event.gap
        if not event.certified and event.problem.dtype != np.float64:
            value = np.nan  # rounded: only certificates evaluate data in single precision in double
        if value == value:
            self._best[key] = min(self._best.get(key, np.inf), value)
        if event.dual == event.dual:
            self._lower[key] = max(self._lower.get(key, -np.inf), event.dual)
        self._record_support(event)
        self._record_working(event)
        if size >= self._next_snapshot or event.message:  # the last point of a run is always kept
            self._take_snapshot(event, size)
        elif self.recent_bytes:
            self._take_recent(event, size)
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
        for name, value in (event.problem.facts | {"solver": repr(event.solver)}).items():
            self.info.setdefault(name, value)

    def _record_support(self, event: Event) -> None:
        if self._flags is None:
            self._flags = np.zeros(event.problem.d, dtype=np.uint8)
        flags = np.empty_like(self._flags)
        event.state.support(flags)
        changed = np.flatnonzero(flags != self._flags).astype(np.int32)
        now = flags[changed] == 1
        self._entered.append(changed[now])
        self._left.append(changed[~now])
        self._flags = flags

    def _record_working(self, event: Event) -> None:
        flags, before = event.state.working, self._working
        if flags is None and before is None:
            self._taken.append(NO_ROWS)
            self._dropped.append(NO_ROWS)
            return
        now = np.zeros(event.problem.d, dtype=bool) if flags is None else flags.astype(bool)
        changed = np.flatnonzero(now if before is None else now != before).astype(np.int32)
        inside = now[changed]
        self._taken.append(changed[inside])
        self._dropped.append(changed[~inside])
        self._working = None if flags is None else now

    def _take_snapshot(self, event: Event, index: int) -> None:
        self._next_snapshot = max(index + 1, int(np.ceil(index * SNAPSHOT_GROWTH)))
        assert self._flags is not None
        if event.state.snapshot_bytes(self._flags) > self.snapshot_bytes // 2:
            return  # one W of this size would already be half of what all snapshots may take
        self.snapshots.append(Snapshot(index, event.iteration, *event.state.snapshot(self._flags)))
        while sum(s.nbytes for s in self.snapshots) > self.snapshot_bytes and len(self.snapshots) > 2:
            self.snapshots = [s for k, s in enumerate(self.snapshots) if k % 2 == 0 or s is self.snapshots[-1]]

    def _take_recent(self, event: Event, index: int) -> None:
        """Keep W of this event, and forget the oldest beyond the memory for them."""
        assert self._flags is not None
        if event.state.snapshot_bytes(self._flags) > self.recent_bytes // 8:
            return
        kept = [*self._recent, Snapshot(index, event.iteration, *event.state.snapshot(self._flags))]
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
        other._entered, other._left = self._entered[:size], self._left[:size]
        other._flags = None if self._flags is None else self._flags.copy()
        other._taken, other._dropped = self._taken[:size], self._dropped[:size]
        other._working = self._working  # never changed in place
        other._keys, other._best, other._lower = list(self._keys), dict(self._best), dict(self._lower)
        other._lams = list(self._lams)
        other._optima = dict(self._optima)
        other.marks, other.snapshots, other._next_snapshot = list(self.marks), list(self.snapshots), self._next_snapshot
        other._size = size
        return other

    # -------------------------------------------------------------------------------------------------------- files
    def save(self, path: str | Path, more: dict[str, np.ndarray] | None = None) -> Path:
        """Write everything to one ``.npz`` file (arrays and JSON text, no pickle).

        The file is replaced in one step: whatever happens, the file of that name is whole, the older one or the new
        one.

        Parameters
        ----------
        path
            where to write; the suffix ``.npz`` is added if it is missing.
        more
            further arrays for the file, under names that no part of a trace has.

        Returns
        -------
        Path
            the path written.
        """
        target = file_of(path)
        size = self._size
        header = {
            "format": FORMAT,
            "kind": "sparsescope trace",
            "info": self.info,
            "columns": list(self.columns),
            "reported": [asdict(column) for column in self.reported],
            "marks": [asdict(m) for m in self.marks],
            "keys": self._keys,
            "lams": self._lams,
            "best": self._best,
            "lower": self._lower,
            "optima": self._optima,
            "snapshots": [[s.index, s.iteration] for s in self.snapshots],
            "snapshot_bytes": self.snapshot_bytes,
            "next_snapshot": self._next_snapshot,
        }
        arrays = {
            "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "table": np.vstack([self[name] for name in self.columns]),
        }
        for name, parts in (
            ("entered", self._entered[:size]),
            ("left", self._left[:size]),
            ("taken", self._taken[:size]),
            ("dropped", self._dropped[:size]),
            ("snapshot_rows", [s.rows for s in self.snapshots]),
        ):
            arrays[name], arrays[f"{name}_sizes"] = _join(parts, np.int32), np.array([p.size for p in parts], np.int64)
        for k, snapshot in enumerate(self.snapshots):
            if sp.issparse(snapshot.values):
                arrays |= {f"snapshot_{k}_{name}": getattr(snapshot.values, name) for name in SPARSE}
                arrays[f"snapshot_{k}_shape"] = np.array(snapshot.values.shape)
            else:
                arrays[f"snapshot_{k}"] = snapshot.values
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays, **(more or {}))  # type: ignore[arg-type]
        write(target, packed.getvalue())
        return target

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace written by :meth:`save`.

        Parameters
        ----------
        path
            the file.

        Returns
        -------
        Trace
            the trace.

        Raises
        ------
        ValueError
            if the file is something else or of a later version.
        """
        try:
            arrays = read_arrays(path)
            header = json.loads(bytes(arrays["header"]).decode())
            if header.get("kind") != "sparsescope trace":
                raise ValueError("the header is another one")
        except FileNotFoundError:
            raise
        except DAMAGE as error:
            raise ValueError(f"{path} is not a trace saved by sparsescope, or is damaged ({error})") from error
        if header.get("format", FORMAT + 1) > FORMAT:
            raise ValueError(f"{path}: format {header.get('format')!r} is unknown; this version reads up to {FORMAT}")
        try:
            return cls._from_stored(header, arrays)
        except DAMAGE as error:
            raise ValueError(f"{path} is damaged: its parts do not fit together ({error})") from error

    @classmethod
    def _from_stored(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trace:
        """The trace of a file's header and arrays."""
        trace = cls(header["info"], header["snapshot_bytes"])
        table = arrays["table"]
        size = table.shape[1]
        trace._reported = _declared(header, table)
        wanted = {*COMMON, *(column.name for column in MEASURED), *trace._reported}
        trace._data = {name: np.full(max(size, 64), np.nan) for name in COMMON}
        for name, row in zip(header["columns"], table, strict=True):
            if name in COMMON or (name in wanted and (header["format"] > 1 or np.isfinite(row).any())):
                trace._data[name] = np.full(max(size, 64), np.nan)
                trace._data[name][:size] = row
        trace._entered = _split(arrays["entered"], arrays["entered_sizes"])
        trace._left = _split(arrays["left"], arrays["left_sizes"])
        none = np.zeros(size, dtype=np.int64)  # files of earlier versions hold no working sets
        trace._taken = _split(arrays.get("taken", NO_ROWS), arrays.get("taken_sizes", none))
        trace._dropped = _split(arrays.get("dropped", NO_ROWS), arrays.get("dropped_sizes", none))
        rows = _split(arrays["snapshot_rows"], arrays["snapshot_rows_sizes"])
        trace.snapshots = [
            Snapshot(index, iteration, rows[k], _stored_values(arrays, f"snapshot_{k}"))
            for k, (index, iteration) in enumerate(header["snapshots"])
        ]
        trace.marks = [Mark(**m) for m in header["marks"]]
        trace._keys, trace._best, trace._lower = header["keys"], header["best"], header["lower"]
        trace._lams = [float(lam) for lam in header.get("lams", [])]  # files of earlier versions have none
        # Files of earlier versions hold no references.
        trace._optima = {key: (float(low), float(high)) for key, (low, high) in header.get("optima", {}).items()}
        trace._next_snapshot = header["next_snapshot"]
        trace._size = size
        if size:
            trace._flags = np.zeros(int(trace.info["d"]), dtype=np.uint8)
            trace._flags[trace.support()] = 1
            if (working := trace.working()).size:
                trace._working = np.zeros(int(trace.info["d"]), dtype=bool)
                trace._working[working] = True
        return trace


def _declared(header: dict[str, Any], table: np.ndarray) -> dict[str, Column]:
    """Return the columns that the solvers of a file reported, by name; of format 1, known columns with a number."""
    if header["format"] > 1:
        return {entry["name"]: Column(**entry) for entry in header["reported"]}
    known = solver_columns()
    return {
        name: known[name]
        for name, row in zip(header["columns"], table, strict=True)
        if name in known and np.isfinite(row).any()
    }


def _arrays(values: Any) -> tuple[np.ndarray, ...]:
    """The arrays that hold a dense or sparse matrix."""
    return tuple(getattr(values, name) for name in SPARSE) if sp.issparse(values) else (values,)


def _stored_values(arrays: dict[str, np.ndarray], name: str) -> Any:
    """The values of a snapshot in a file: an array, or the parts of a CSR matrix."""
    if name in arrays:
        return arrays[name]
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in SPARSE)
    return sp.csr_array((data, indices, indptr), shape=tuple(int(k) for k in arrays[f"{name}_shape"]))


def _join(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    return np.concatenate(parts).astype(dtype) if parts else np.empty(0, dtype)


def _split(flat: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    return np.split(flat, np.cumsum(sizes)[:-1]) if sizes.size else []


class Recorder:
    """Callback that writes a :class:`Trace`: ``Run(problem, callbacks=[recorder])``, then ``recorder.trace``.

    Parameters
    ----------
    trace
        the trace to append to; ``None``: a new one.
    """

    def __init__(self, trace: Trace | None = None) -> None:
        self.trace = Trace() if trace is None else trace

    def __call__(self, event: Event) -> None:
        self.trace.append(event)
