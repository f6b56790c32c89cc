"""Race: what a race left behind, as tidy tables and pictures."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import extras
from ..runs.optima import Reference
from ..runs.trace import Trace

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

LEVELS = (1e-2, 1e-4, 1e-6)  # of sub-optimality
POINT = ("iteration", "passes", "seconds", "objective", "nonzero_rows")
COLUMN = {"seconds": "seconds", "passes": "passes", "iterations": "iteration"}
# F* has to be known this much better than a level for the time to that level to mean anything.
MARGIN = 0.1


@dataclass(frozen=True)
class Entry:
    """One lane of a race: its label, seed (``None``: it has none), trace, why it ended, seconds beside the solver."""

    name: str
    seed: int | None
    trace: Trace
    message: str
    observing: float


@dataclass(frozen=True)
class Race:
    """Results of a race.

    Parameters
    ----------
    problem
        the problem.
    entries
        one :class:`Entry` for each solver and seed.
    unit, budget
        clock of the race, and the share of it that each lane could spend.
    reference
        certified optimum that all lanes are measured against.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> race = ss.race(problem, ["bcd-ls", "fista-ls"], budget=3, unit="iterations")
    >>> race.names
    ('bcd-ls', 'fista-ls')
    """

    problem: Any
    entries: tuple[Entry, ...]
    unit: str
    budget: float
    reference: Reference | None

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of the solvers, in the order in which they were given."""
        return tuple(dict.fromkeys(entry.name for entry in self.entries))

    def lane(self, entry: Entry) -> str:
        """Return the label of a lane: that of its solver, with the seed where the solver runs with several.

        Parameters
        ----------
        entry
            the lane.

        Returns
        -------
        str
            the label.
        """
        several = sum(other.name == entry.name for other in self.entries) > 1
        return f"{entry.name}, seed {entry.seed}" if several else entry.name

    @property
    def best(self) -> float:
        """The smallest objective known: of the reference or of a lane. F* is at most this."""
        seen = [float(np.nanmin(e.trace["objective"])) for e in self.entries if len(e.trace)]
        return min([*seen, *([self.reference.objective] if self.reference is not None else [])], default=float("nan"))

    @property
    def width(self) -> float:
        """Relative width of the bounds of F*: their distance divided by the upper one; NaN without a bound."""
        lower = [float(e.trace.lower()) for e in self.entries if len(e.trace)]
        lower += [self.reference.dual] if self.reference is not None else []
        known = [value for value in lower if value == value]
        return max(self.best - max(known), 0.0) / (abs(self.best) or 1.0) if known else float("nan")

    def suboptimality(self, entry: Entry) -> np.ndarray:
        """Return ``(F − F*)/|F*|`` at each event of a lane, with the smallest known objective for F*.

        Parameters
        ----------
        entry
            the lane.

        Returns
        -------
        np.ndarray
            the sub-optimalities (events,).
        """
        best = self.best
        return np.maximum(entry.trace["objective"] - best, 0.0) / (abs(best) or 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Return all points of all lanes, one row each.

        Returns
        -------
        pandas.DataFrame
            columns solver, seed, iteration, passes, seconds, objective, nonzero_rows, suboptimality.
        """
        pd = extras.package("pandas", "Race.to_frame")
        tables = []
        for entry in self.entries:
            table = pd.DataFrame({name: entry.trace[name].copy() for name in POINT})
            table.insert(0, "solver", entry.name)
            table.insert(1, "seed", -1 if entry.seed is None else entry.seed)
            table["suboptimality"] = self.suboptimality(entry)
            tables.append(table)
        return pd.concat(tables, ignore_index=True).astype({"iteration": "int64", "nonzero_rows": "int64"})

    def times(self, levels: Sequence[float] = LEVELS, unit: str | None = None) -> pd.DataFrame:
        """Return what each solver had spent when it first reached each level of sub-optimality.

        Parameters
        ----------
        levels
            levels of ``(F − F*)/|F*|``.
        unit
            ``"seconds"``, ``"passes"`` or ``"iterations"``; ``None``: that of the race.

        Returns
        -------
        pandas.DataFrame
            A row for each solver, a column for each level. Of several seeds it is the median. NaN: not reached by
            every seed, or F* is not known well enough to decide (``width`` above a tenth of the level).

        Raises
        ------
        ValueError
            for an unknown unit.
        """
        pd = extras.package("pandas", "Race.times")
        rows = {name: [self._median(name, level, unit) for level in levels] for name in self.names}
        return pd.DataFrame.from_dict(rows, orient="index", columns=[f"{level:.0e}" for level in levels])

    def spread(self, name: str, level: float, unit: str | None = None) -> tuple[float, float]:
        """Return the smallest and the largest value over the seeds, whose median :meth:`times` returns.

        Parameters
        ----------
        name
            label of the solver.
        level
            level of sub-optimality.
        unit
            as for :meth:`times`.

        Returns
        -------
        tuple[float, float]
            the two values.
        """
        reached = self._reached(name, level, unit)
        return (min(reached), max(reached)) if all(value == value for value in reached) else (float("nan"),) * 2

    def _median(self, name: str, level: float, unit: str | None) -> float:
        reached = self._reached(name, level, unit)
        return float(np.median(reached)) if all(value == value for value in reached) else float("nan")

    def _reached(self, name: str, level: float, unit: str | None) -> list[float]:
        unit = self.unit if unit is None else unit
        if unit not in COLUMN:
            raise ValueError(f"unit is {unit!r}; it must be one of {', '.join(COLUMN)}")
        if not self.width <= MARGIN * level:
            return [float("nan")]
        found = []
        for entry in (e for e in self.entries if e.name == name):
            inside = np.flatnonzero(self.suboptimality(entry) <= level)
            found.append(float(entry.trace[COLUMN[unit]][inside[0]]) if inside.size else float("nan"))
        return found

    def plot(self, x: str | None = None, theme: str = "light") -> go.Figure:
        """Draw ``(F − F*)/|F*|`` of all lanes over seconds, passes or iterations.

        Parameters
        ----------
        x
            the unit; ``None``: that of the race.
        theme
            ``"light"`` or ``"dark"``.

        Returns
        -------
        go.Figure
            the figure.
        """
        with extras.needed_by("Race.plot"):
            from .figure import race_figure
        return race_figure(self, self.unit if x is None else x, theme)

    def __repr__(self) -> str:
        ended = sum(entry.message.startswith("goal") for entry in self.entries)
        return f"Race({', '.join(self.names)}; {ended} of {len(self.entries)} lanes reached the goal)"

    def _repr_html_(self) -> str:
        known = (
            f"F* = {self.best:.8g}, known to {self.width:.1e}" if self.width == self.width else "F* is not certified"
        )
        ends = "".join(f"<li>{html.escape(self.lane(e))}: {html.escape(e.message)}</li>" for e in self.entries)
        table = self.times().to_html(float_format=lambda value: f"{value:.3g}", na_rep="–")
        return f"<p>{html.escape(f'{self.unit} until F − F* ≤ level·|F*|. {known}')}</p>{table}<ul>{ends}</ul>"
