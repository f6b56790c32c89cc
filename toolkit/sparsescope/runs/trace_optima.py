"""TraceOptima: bounds of the optimum of each segment of a trace, and the scale of differences to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .trace_data import TraceData


class TraceOptima(TraceData):
    """λ, bounds of F* and the scale of gaps, segment by segment; see :class:`sparsescope.Trace`."""

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

    def like(self, segment: int) -> list[int]:
        """Return the segments with the problem of this one, itself included.

        Parameters
        ----------
        segment
            number of the segment.

        Returns
        -------
        list[int]
            numbers of the segments.
        """
        key = self._keys[segment]
        return [s for s, other in enumerate(self._keys) if other == key]

    def is_of(self, target: tuple[Any, ...], segment: int = -1) -> bool:
        """Return whether a segment belongs to the problem with this key.

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
        """Number of problems whose F* is known from a reference."""
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
