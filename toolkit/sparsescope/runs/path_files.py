"""PathFiles: a λ-path in one ``.npz`` file, written and read without pickle."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .keeping import file_of, write
from .path_points import Point, path_columns
from .snapshots import SPARSE

FORMAT = 1


@dataclass(frozen=True)
class PathFiles:
    """Files of a path; see :class:`sparsescope.Path`."""

    points: tuple[Point, ...]
    info: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    message: str = ""

    def save(self, path: str | File) -> File:
        """Write everything to one ``.npz`` file (arrays and JSON text, no pickle), replaced in one step.

        Parameters
        ----------
        path
            where to write.

        Returns
        -------
        File
            the path written.
        """
        target = file_of(path)
        kept = all(p.rows is not None for p in self.points)
        names = path_columns()
        header = {
            "format": FORMAT,
            "kind": "sparsescope path",
            "info": self.info,
            "columns": list(names),
            "notes": list(self.notes),
            "message": self.message,
            "reasons": [p.reason for p in self.points],
            "kept": kept,
        }
        arrays: dict[str, np.ndarray] = {
            "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "table": np.array([[p.numbers[name] for name in names] for p in self.points]).reshape(-1, len(names)),
            "converged": np.array([p.converged for p in self.points], dtype=bool),
        }
        if kept and self.points:
            parts = [(p.rows, p.values) for p in self.points if p.rows is not None]
            arrays["sizes"] = np.array([rows.size for rows, _ in parts], dtype=np.int64)
            arrays["rows"] = np.concatenate([rows for rows, _ in parts])
            if any(sp.issparse(values) for _, values in parts):
                whole = sp.csr_array(sp.vstack([sp.csr_array(values) for _, values in parts]))
                arrays |= {f"values_{name}": getattr(whole, name) for name in SPARSE}
            else:
                arrays["values"] = np.concatenate([values for _, values in parts])
        if self.points and self.points[0].b is not None:
            arrays["b"] = np.array([p.b for p in self.points])
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
        write(target, packed.getvalue())
        return target

    @classmethod
    def load(cls, path: str | File) -> Self:
        """Read a path written by :meth:`save`.

        Parameters
        ----------
        path
            the file.

        Returns
        -------
        Path
            the path.

        Raises
        ------
        ValueError
            if the file is something else or of a later version.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = json.loads(bytes(arrays["header"]).decode())
            if header.get("kind") != "sparsescope path":
                raise ValueError("the header is another one")
            if header.get("format", FORMAT + 1) <= FORMAT:
                return cls(_read_points(arrays, header), header["info"], tuple(header["notes"]), header["message"])
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, OSError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is not a path saved by sparsescope") from error
        raise ValueError(f"{path}: format {header.get('format')!r} is unknown; this version reads up to {FORMAT}")


def _read_points(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> tuple[Point, ...]:
    count = arrays["table"].shape[0]
    rows: list[Any] = [None] * count
    values: list[Any] = [None] * count
    if header["kept"] and count:
        ends = np.cumsum(arrays["sizes"])[:-1]
        rows = np.split(arrays["rows"], ends)
        if "values" in arrays:
            values = np.split(arrays["values"], ends)
        else:
            data, indices, indptr = (arrays[f"values_{name}"] for name in SPARSE)
            whole = sp.csr_array((data, indices, indptr), shape=(arrays["rows"].size, int(header["info"]["m"])))
            values = [whole[stop - len(r) : stop] for stop, r in zip([*ends, len(arrays["rows"])], rows, strict=True)]
    b = arrays["b"] if "b" in arrays else [None] * count
    made = []
    for k in range(count):
        numbers = dict.fromkeys(path_columns(), float("nan"))  # a file of an earlier version may lack a column
        numbers.update(
            {name: float(x) for name, x in zip(header["columns"], arrays["table"][k], strict=True) if name in numbers}
        )
        made.append(Point(numbers, bool(arrays["converged"][k]), header["reasons"][k], rows[k], values[k], b[k]))
    return tuple(made)
