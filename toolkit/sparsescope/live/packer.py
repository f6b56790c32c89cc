"""Small frames of a growing trace: only what was not sent to the page yet (protocol.md, *A frame*)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..runs.event import MEASURED, solver_columns
from .thinning import keep

ALIGNED = 8  # bytes; the largest item of an array
MAX_EVENTS = 1000  # events in one frame; more are thinned
# Columns whose differences matter are sent in double precision: (F − best)/best has to reach 1e-15.
EXACT = ("iteration", "passes", "seconds", "objective")
MEASURED_DRAWN = tuple(column.name for column in MEASURED if column.drawn)
DRAWN = ("loss", "penalty", "gap", "relative_gap", "nonzero_rows", "nonzero_entries", *MEASURED_DRAWN)
# Values that are not evaluated at every event: the newest known one of the present segment is shown.
SPARSE = ("gap", "relative_gap", *MEASURED_DRAWN)
# The page shows how often these were evaluated, beside their lines.
COUNTED = ("relative_gap",)
STATUS = ("iteration", "passes", "seconds", "objective", "loss", "penalty", "nonzero_rows", "nonzero_entries")


def plain(value: Any) -> Any:
    """A JSON number, or None for a number that is not known (JSON has no NaN)."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


@functools.cache
def _name_of(dtype: np.dtype) -> str:
    # Numpy makes the name anew each time, which takes longer than to copy a column.
    return str(dtype.name)


class Block:
    """One block of bytes that arrays are put into, each at a multiple of 8."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, array: np.ndarray) -> tuple[str, int, int]:
        """(dtype, offset, length) of ``array`` in the block."""
        return _name_of(array.dtype), self._put(array.tobytes()), int(array.size)

    def add_table(self, columns: Sequence[np.ndarray], dtype: Any) -> list[tuple[str, int, int]]:
        """(dtype, offset, length) of each of several columns of one length, as :meth:`add` puts them one by one."""
        dtype = np.dtype(dtype)
        size = columns[0].size if columns else 0
        table = np.zeros((len(columns), size + -size % (ALIGNED // dtype.itemsize)), dtype=dtype)
        for line, column in zip(table, columns, strict=True):
            line[:size] = column
        at, step = self._put(table.tobytes()), table.shape[1] * dtype.itemsize
        return [(_name_of(dtype), at + k * step, size) for k in range(len(columns))]

    def _put(self, data: bytes) -> int:
        """Put bytes into the block; the place where they are."""
        at, pad = self.size, -len(data) % ALIGNED
        self._parts.append(data + b"\0" * pad if pad else data)
        self.size += len(data) + pad
        return at

    def buffers(self) -> list[bytes]:
        """The block as the shells send it: nothing at all when it is empty."""
        return [b"".join(self._parts)] if self.size else []


def last_finite(column: np.ndarray, first: int, stop: int) -> int | None:
    """Return the place of the last finite number of ``column[first:stop]``; None if there is none.

    A frame has few events or, rarely, many; in most columns the last one has the number.
    """
    if first < stop and math.isfinite(column[stop - 1]):
        return stop - 1
    known = np.flatnonzero(np.isfinite(column[first:stop]))
    return first + int(known[-1]) if known.size else None


def _named(names: Sequence[str], places: Sequence[tuple[str, int, int]]) -> list[list[Any]]:
    return [[name, *place] for name, place in zip(names, places, strict=True)]


class RowChanges:
    """A set of rows as the page has it (the support, the working set), and how it changes between the events sent.

    ``came`` and ``went`` give the rows that came and went at an event; ``order`` lists all rows that ever came.
    """

    def __init__(self, came: Callable[[int], np.ndarray], went: Callable[[int], np.ndarray], d: int) -> None:
        self.order: list[int] = []
        self._came, self._went = came, went
        self._seen = np.zeros(d, dtype=bool)
        self._inside = np.zeros(d, dtype=bool)

    def pack(self, start: int, chosen: np.ndarray, block: Block) -> dict[str, Any] | None:
        """The net changes between the chosen events, the first after ``start``; ``None`` if there are none."""
        changes = []
        at = start
        if not any(
            self._came(k).size or self._went(k).size for k in range(start, int(chosen[-1]) + 1 if len(chosen) else 0)
        ):
            return None
        for event in chosen:
            changes.append(self._change(at, int(event) + 1))
            at = int(event) + 1
        counts = np.array([(come.size, gone.size) for come, gone in changes], dtype=np.int32)
        if not counts.any():
            return None
        return {
            "entered": block.add(np.concatenate([come for come, _ in changes]).astype(np.int32)),
            "left": block.add(np.concatenate([gone for _, gone in changes]).astype(np.int32)),
            "counts": block.add(counts.ravel()),
        }

    def _change(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """The net change over the events ``start … stop-1``."""
        inside = self._inside
        touched = []
        before: np.ndarray | None = inside.copy() if stop - start > 1 else None
        for event in range(start, stop):
            come, gone = self._came(event), self._went(event)
            if not (come.size or gone.size):
                continue
            inside[come] = True
            inside[gone] = False
            fresh = come[~self._seen[come]]
            if fresh.size:
                self._seen[fresh] = True
                self.order.extend(int(j) for j in fresh)
            if before is None:
                return come, gone
            touched += [come, gone]
        if before is None or not touched:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        rows = np.unique(np.concatenate(touched))
        return rows[inside[rows] & ~before[rows]], rows[~inside[rows] & before[rows]]


class Packer:
    """Position of one page in one trace, and the next frame's share of it.

    ``more``: further columns, which need not be evaluated at every event. ``most``: events in one frame; more are
    thinned.
    """

    def __init__(self, trace: Any, d: int, more: Sequence[str] = (), most: int = MAX_EVENTS) -> None:
        self.trace = trace
        self._most = most
        self._reported = solver_columns()
        drawn = [name for name, column in self._reported.items() if column.drawn]
        self._more = tuple(dict.fromkeys((*more, *drawn)))
        self.sent = 0  # events of the trace that the page has
        self.kept = 0  # events that were really sent (thinning leaves some out)
        self.marks = 0
        self.pictures = 0
        self.named: set[int] = set()
        self._support = RowChanges(trace.entered, trace.left, d)
        self._working = RowChanges(trace.taken, trace.dropped, d)
        self._known: dict[str, tuple[float, float]] = {}
        self._measured = dict.fromkeys(COUNTED, 0)
        self._bounds: dict[int, tuple[Any, ...]] = {}  # of segments, as the page has them
        self._optima = 0
        self._segment: int | None = None

    @property
    def first_order(self) -> list[int]:
        """Rows in the order in which they first became non-zero."""
        return self._support.order

    def pending(self) -> bool:
        """Return whether the trace has something that the page has not."""
        trace = self.trace
        return len(trace) > self.sent or len(trace.marks) > self.marks or trace.optima > self._optima

    def columns(self, block: Block, until: float = math.inf, stop: int | None = None) -> dict[str, Any]:
        """The header's ``start, count, total, columns, raster, working, bounds``; arrays go into ``block``.
        Events after iteration ``until``, and those from number ``stop`` on, are left for a later frame."""
        trace, start = self.trace, self.sent
        there = len(trace) if stop is None else stop
        n = max(start, there)
        if until < math.inf:  # looking for it reads the whole column, and lets other threads in between
            n = max(start, int(np.searchsorted(trace["iteration"][:there], until, side="right")))
        chosen = self._choose(start, n)
        table: list[list[Any]] = []
        if chosen.size:
            # Always the same columns: the page puts one frame behind the other.
            picked = slice(start, n) if chosen.size == n - start else chosen
            of, drawn = self._picked, (*DRAWN, *self._more)
            table += _named(("index", *EXACT), block.add_table([chosen, *of(EXACT, picked)], np.float64))
            table += _named(("segment",), block.add_table(of(("segment",), picked), np.int32))
            table += _named(drawn, block.add_table(of(drawn, picked), np.float32))
        raster = self._support.pack(start, chosen, block)
        working = self._working.pack(start, chosen, block)
        self._remember(start, n)
        header = {
            "start": self.kept,
            "count": int(chosen.size),
            "total": n,
            "columns": table,
            "raster": raster,
            "working": working,
        }
        self.sent, self.kept = n, self.kept + int(chosen.size)
        header["bounds"] = self._new_bounds(start, n)
        return header

    def _new_bounds(self, start: int, n: int) -> list[list[Any]]:
        """Return segments with what is known of their F*, where the page has other bounds.

        An event changes the bounds of one problem, so only segments with a problem of the new events are asked.
        """
        trace, optima = self.trace, self.trace.optima
        segments = int(trace["segment"][n - 1]) + 1 if n else 0
        asked: Iterable[int] = range(segments)
        if optima == self._optima and segments:
            fresh = {int(s) for s in np.unique(trace["segment"][start:n])} if start < n else set()
            asked = sorted({like for s in fresh for like in trace.like(s) if like < segments})
        self._optima = optima
        news = []
        for s in asked:
            pair = (plain(trace.best(s)), plain(trace.lower(s)), *(trace.optimum(s) or (None, None)))
            if pair != self._bounds.get(s):
                self._bounds[s] = pair
                news.append([s, *pair])
        return news

    def new_marks(self, stop: int | None = None) -> list[dict[str, Any]]:
        """Marks that the page does not have yet; those from number ``stop`` on are left for a later frame."""
        marks = list(self.trace.marks)[:stop]
        fresh = marks[self.marks :]
        self.marks = len(marks)
        return [
            {
                "index": int(mark.index),
                "iteration": plain(mark.iteration),
                "passes": plain(mark.passes),
                "seconds": plain(mark.seconds),
                "text": str(mark.text),
                "kind": str(mark.kind),
                "clock": float(mark.clock),
            }
            for mark in fresh
        ]

    def status(self) -> dict[str, Any]:
        """The newest values; those not evaluated at every event are the newest known ones of this segment."""
        trace, n = self.trace, self.sent
        values: dict[str, Any] = {}
        for name in STATUS:
            values[name] = plain(trace[name][n - 1]) if n else None
        for name in dict.fromkeys((*SPARSE, *self._more, *self._reported)):
            values[name] = plain(self._known[name][0]) if name in self._known else None
        for name, column in self._reported.items():
            if column.momentary and n and name in trace.columns:
                values[name] = plain(trace[name][n - 1])
        values["gap_iteration"] = self._known["gap"][1] if "gap" in self._known else None
        values["segment"] = self._segment
        values["measured"] = dict(self._measured)
        return values

    def names(self, rows: Iterable[int], names: Sequence[str] | None) -> dict[str, str]:
        """Names of rows that are shown for the first time."""
        if names is None:
            return {}
        fresh = [j for j in rows if j not in self.named]
        self.named.update(fresh)
        return {str(j): str(names[j]) for j in fresh}

    def _choose(self, start: int, n: int) -> np.ndarray:
        """Indices of the events of ``start … n-1`` that are sent."""
        fresh = n - start
        if fresh <= self._most:
            return np.arange(start, n)
        known = np.zeros(fresh, dtype=bool)
        for name in ("gap", "train_accuracy"):
            if name in self.trace.columns:
                known |= np.isfinite(self.trace[name][start:n])
        at = np.array([int(mark.index) for mark in self.trace.marks], dtype=np.int64)
        pinned = np.concatenate([at - 1, at]) - start
        return start + keep(fresh, self._most, known=known, pinned=pinned)

    def _picked(self, names: Sequence[str], picked: Any) -> list[np.ndarray]:
        """Columns of the trace at some events; NaN for those that were not reported so far."""
        there = set(self.trace.columns)
        unknown = np.full(self.trace["iteration"][picked].size, np.nan)
        return [self.trace[name][picked] if name in there else unknown for name in names]

    def _remember(self, start: int, n: int) -> None:
        """Newest known value of each column that is not evaluated at every event, within the present segment."""
        if n <= start:
            return
        trace = self.trace
        for name in COUNTED:
            self._measured[name] += int(np.count_nonzero(np.isfinite(trace[name][start:n])))
        segments = np.asarray(trace["segment"][start:n])
        segment = int(segments[-1])
        if segment != self._segment:
            self._known, self._segment = {}, segment
        first = start if segments[0] == segment else start + int(np.searchsorted(segments, segment))
        there = frozenset(trace.columns)
        for name in dict.fromkeys((*SPARSE, *self._more, *self._reported)):
            if name in there and (at := last_finite(trace[name], first, n)) is not None:
                self._known[name] = (float(trace[name][at]), float(trace["iteration"][at]))
