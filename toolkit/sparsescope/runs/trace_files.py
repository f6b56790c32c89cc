"""TraceFiles: a trace in one ``.npz`` file, written and read without pickle; files of earlier versions are read too."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..inputs.archives import DAMAGE, read_arrays
from ..registry import Column
from .event import MEASURED, solver_columns
from .keeping import file_of, write
from .row_history import NO_ROWS, RowHistory
from .snapshots import Snapshot, stored_values
from .trace_data import COMMON, Mark, TraceData

# 1: every file had all columns that any solver of that version reported. Files of format 2 that list no column for the
# working set, the step size or the trials of a step are of a version in which every file had these.
FORMAT = 2


class TraceFiles(TraceData):
    """Files of a trace; see :class:`sparsescope.Trace`."""

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
            ("entered", self._support.entered[:size]),
            ("left", self._support.left[:size]),
            ("taken", self._working.entered[:size]),
            ("dropped", self._working.left[:size]),
            ("snapshot_rows", [s.rows for s in self.snapshots]),
        ):
            arrays[name], arrays[f"{name}_sizes"] = _join(parts, np.int32), np.array([p.size for p in parts], np.int64)
        for k, snapshot in enumerate(self.snapshots):
            arrays |= snapshot.arrays(f"snapshot_{k}")
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays, **(more or {}))  # type: ignore[arg-type]
        write(target, packed.getvalue())
        return target

    @classmethod
    def load(cls, path: str | Path) -> Self:
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
            return cls.of_parts(header, arrays)
        except DAMAGE as error:
            raise ValueError(f"{path} is damaged: its parts do not fit together ({error})") from error

    @classmethod
    def of_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Return the trace that consists of the parts of a file.

        Parameters
        ----------
        header
            everything that is no array, as :meth:`save` writes it.
        arrays
            the arrays by their names.

        Returns
        -------
        Trace
            the trace.
        """
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
        d = int(trace.info["d"]) if size else 0
        entered, left = (_split(arrays[name], arrays[f"{name}_sizes"]) for name in ("entered", "left"))
        trace._support = RowHistory.of(entered, left, d)
        none = np.zeros(size, dtype=np.int64)  # files of earlier versions hold no working sets
        taken, dropped = (
            _split(arrays.get(name, NO_ROWS), arrays.get(f"{name}_sizes", none)) for name in ("taken", "dropped")
        )
        trace._working = RowHistory.of(taken, dropped, d)
        rows = _split(arrays["snapshot_rows"], arrays["snapshot_rows_sizes"])
        trace.snapshots = [
            Snapshot(index, iteration, rows[k], stored_values(arrays, f"snapshot_{k}"))
            for k, (index, iteration) in enumerate(header["snapshots"])
        ]
        trace.marks = [Mark(**m) for m in header["marks"]]
        trace._keys, trace._best, trace._lower = header["keys"], header["best"], header["lower"]
        trace._lams = [float(lam) for lam in header.get("lams", [])]  # files of earlier versions have none
        # Files of earlier versions hold no references.
        trace._optima = {key: (float(low), float(high)) for key, (low, high) in header.get("optima", {}).items()}
        trace._next_snapshot = header["next_snapshot"]
        trace._size = size
        return trace


def _declared(header: dict[str, Any], table: np.ndarray) -> dict[str, Column]:
    """Return the columns that the solvers of a file reported, by name.

    Files of earlier versions list fewer, those of format 1 none: known columns with a number belong to them, too.
    """
    listed = {entry["name"]: Column(**entry) for entry in header.get("reported", [])}
    known = solver_columns()
    return listed | {
        name: known[name]
        for name, row in zip(header["columns"], table, strict=True)
        if name in known and name not in listed and np.isfinite(row).any()
    }


def _join(parts: list[np.ndarray], dtype: Any) -> np.ndarray:
    return np.concatenate(parts).astype(dtype) if parts else np.empty(0, dtype)


def _split(flat: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    return np.split(flat, np.cumsum(sizes)[:-1]) if sizes.size else []
