"""Pictures that grow while a run goes on: whatever is added to one is shown at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import pictures
from .base import Message, Show


class Lines:
    """Lines over one axis; ``log``: the y axis is logarithmic, ``marks``: heights of horizontal lines by name."""

    def __init__(self, show: Show, x: str, y: str, log: bool = False, marks: Mapping[str, float] | None = None) -> None:
        self.curves: dict[str, tuple[Any, Any]] = {}
        self.marks = dict(marks or {})
        self._show, self._axes, self._log = show, (x, y), log

    def add(self, name: str, y: Any, x: Any = None) -> None:
        """Add a line, over 0, 1, 2, … unless ``x`` is given."""
        self.curves[name] = (range(len(y)) if x is None else x, y)
        self._show(self.picture)

    @property
    def picture(self) -> Message:
        """Lines so far."""
        return pictures.lines(self.curves, *self._axes, log=self._log, marks=self.marks)


class Bars:
    """Bars of ``unit`` by name."""

    def __init__(self, show: Show, unit: str) -> None:
        self.values: dict[str, float] = {}
        self._show, self._unit = show, unit

    def add(self, name: str, value: float) -> None:
        """Add a bar."""
        self.values[name] = float(value)
        self._show(self.picture)

    @property
    def picture(self) -> Message:
        """Bars so far."""
        return pictures.bars(self.values, self._unit)


class Table:
    """Rows of a table with these columns."""

    def __init__(self, show: Show, *columns: str) -> None:
        self.rows: list[list[Any]] = []
        self._show, self._columns = show, columns

    def add(self, *cells: Any) -> None:
        """Add a row."""
        self.rows.append(list(cells))
        self._show(self.picture)

    @property
    def picture(self) -> Message:
        """Rows so far."""
        return pictures.table(self._columns, self.rows)
