"""Sweep: the table that a sweep has reached, to be read, written and compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import extras
from ..runs.keeping import write_table
from ..runs.path_result import BEST_BY
from .folder import Folder
from .work import MEASURES, NUMBERS

if TYPE_CHECKING:
    import pandas as pd

KNOWN = ("problem", "data", "n", "d", "m", "loss", "penalty", "lam", "lam_ratio", "solver", "seed")
WHOLE = ("n", "d", "m", "seed", "nonzero_rows", "nonzero_entries", "iterations")
Row = dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """Table of a sweep: one row for each task that is done, in the order in which the tasks were asked for.

    Parameters
    ----------
    rows
        the rows; see :meth:`to_frame` for their columns.
    total
        number of tasks.
    reused
        number of rows that were found in the folder and not computed.
    message
        what ended the sweep; empty while it goes on.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> found = ss.sweep(problem, lam_ratio=[0.5, 0.1], tol=1e-4)
    >>> len(found.rows), found.complete
    (2, True)
    """

    rows: tuple[Row, ...] = field(repr=False)
    total: int
    reused: int = 0
    message: str = ""

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Read what a folder holds, also while a sweep is writing to it.

        Parameters
        ----------
        folder
            the folder that was given to :func:`sparsescope.sweep`.

        Returns
        -------
        Sweep
            the rows so far.

        Raises
        ------
        ValueError
            if the folder holds no sweep.
        """
        place = Folder(folder)
        tasks = place.tasks()
        found = [(task, place.kept(str(task["key"]))) for task in tasks]
        rows = tuple(row_of(task, outcome) for task, outcome in found if outcome is not None)
        return cls(rows, len(tasks), len(rows), "all tasks are done" if len(rows) == len(tasks) else "")

    @property
    def complete(self) -> bool:
        """True if every task has its row."""
        return len(self.rows) == self.total

    @property
    def failures(self) -> tuple[Row, ...]:
        """Rows of the tasks that failed; their column ``error`` holds the reason."""
        return tuple(row for row in self.rows if row["error"])

    @property
    def converged(self) -> bool:
        """True if every task is done and reached the tolerance."""
        return self.complete and all(row["converged"] for row in self.rows)

    def best(self, by: str | None = None) -> Row | None:
        """Return the best row of those that did not fail.

        Parameters
        ----------
        by
            the column that decides: for measures of predictions the largest value wins, for all others the smallest.
            ``None``: the first measure of held-out samples that has values, else of the training samples, else the
            objective. Of equal rows the one with the fewest non-zero rows of W.

        Returns
        -------
        dict or None
            the row; ``None`` if no row has a value.

        Raises
        ------
        ValueError
            for a column that is not there.
        """
        fine = [row for row in self.rows if not row["error"]]
        known = {name for row in fine for name in row}
        if by is None:
            by = next((name for name in BEST_BY if name in known), "objective")
        elif fine and (by not in known or by not in (*MEASURES, *NUMBERS)):
            allowed = ", ".join(sorted(known & {*MEASURES, *NUMBERS}))
            raise ValueError(f"by is {by!r}, and the table has no such column of numbers; it has {allowed}")
        sign = -1.0 if by in MEASURES else 1.0
        ranked = [row for row in fine if row.get(by, math.nan) == row.get(by, math.nan)]
        return min(ranked, key=lambda row: (sign * row[by], row["nonzero_rows"]), default=None)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame.

        Returns
        -------
        pandas.DataFrame
            what was asked for: problem, data, n, d, m, loss, penalty, lam, lam_ratio (where λ was given so), solver,
            seed (missing for solvers that draw nothing); what was found: converged, message, objective, dual, gap,
            relative_gap, violation, nonzero_rows, nonzero_entries, iterations, passes, seconds (CPU seconds of the
            solver's thread), measures of predictions such as test_accuracy; error (empty if the task did not fail);
            key, under which the folder keeps the result.
        """
        pd = extras.package("pandas", "Sweep.to_frame")
        table = pd.DataFrame(list(self.rows), columns=[*columns(self.rows)])
        texts = ("problem", "data", "loss", "penalty", "solver", "message", "error", "key")
        kinds = dict.fromkeys(WHOLE, "Int64") | {"converged": "bool"} | dict.fromkeys(texts, "str")
        return table.astype({name: kinds.get(name, "float64") for name in table.columns})

    def save(self, path: str | Path) -> Path:
        """Write the table to a file in one step.

        Parameters
        ----------
        path
            name that ends in ``.csv`` or ``.parquet``.

        Returns
        -------
        Path
            the file.

        Raises
        ------
        ValueError
            for another suffix.
        """
        target = Path(path).expanduser()
        write_table(self.to_frame(), target)
        return target

    def __repr__(self) -> str:
        failures = f", {len(self.failures)} failed" if self.failures else ""
        return f"Sweep({len(self.rows)} of {self.total} done{failures}{'; ' + self.message if self.message else ''})"

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())


def row_of(known: Row, outcome: Row) -> Row:
    """Return the row of a task: the columns known before, and what was found."""
    empty = {"message": "", **dict.fromkeys(NUMBERS, math.nan)}
    found = {name: value for name, value in {**empty, **outcome}.items() if name != "final"}
    return {**known, **found}


def columns(rows: tuple[Row, ...]) -> list[str]:
    """Return the names of the columns in their order; measures only where a row has them."""
    measured = [name for name in MEASURES if any(name in row for row in rows)]
    return [*KNOWN, "converged", "message", *NUMBERS, *measured, "error", "key"]
