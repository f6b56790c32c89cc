"""TraceTables: a trace as a data frame, as CSV, npz and Parquet, as a recording, and as it shows itself."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from .. import extras
from ..inputs.html import facts_table
from ..registry import recordings
from .keeping import file_of, write, write_table
from .trace_data import TraceData


class TraceTables(TraceData):
    """The forms in which other tools read a trace; see :class:`sparsescope.Trace`."""

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
        return write_table(self.to_frame(), Path(path), ".csv")

    def to_npz(self, path: str | Path) -> Path:
        """Write every column as an array of an ``.npz`` file, which ``numpy.load`` reads without pickle.

        ``save`` keeps the whole trace, with marks and snapshots, for ``load``.

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
        return write_table(self.to_frame(), Path(path), ".parquet")

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
