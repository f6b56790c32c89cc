"""Point: the solution at one λ of a path, and the names of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .event import NUMBERS, Event, known_columns

# Facts of one iteration say nothing about a whole λ; iterations, passes and seconds are counted for each λ instead.
_OF_A_STEP = {"iteration", "passes", "seconds", "lam"}
COUNTS = ("iterations", "passes", "seconds")
_OWN = ("lam", *(name for name in NUMBERS if name not in _OF_A_STEP))


def path_columns() -> tuple[str, ...]:
    """Return the names of the numbers at a λ: common ones, measured ones, and those that registered solvers report.

    Returns
    -------
    tuple[str, ...]
        the names.
    """
    return (*_OWN, *(column.name for column in known_columns().values() if not column.of_step), *COUNTS)


@dataclass(frozen=True)
class Point:
    """Solution at one λ.

    Parameters
    ----------
    numbers
        the columns of a path, by name.
    converged
        whether the tolerance was reached.
    reason
        why the iterations at this λ ended.
    rows
        numbers of the non-zero rows of W; ``None``: W was not kept.
    values
        the values of these rows.
    b
        intercept (m,), or ``None``.
    """

    numbers: dict[str, float]
    converged: bool
    reason: str
    rows: np.ndarray | None
    values: Any
    b: np.ndarray | None

    @classmethod
    def of(cls, event: Event, counts: Sequence[float], converged: bool, reason: str, keep: bool) -> Point:
        """Make the point of an event.

        Parameters
        ----------
        event
            the last event at this λ.
        counts
            iterations, passes and seconds spent at its λ.
        converged
            whether the tolerance was reached.
        reason
            why the iterations at this λ ended.
        keep
            keep W.

        Returns
        -------
        Point
            the point.
        """
        numbers = {name: float(getattr(event, name)) for name in path_columns() if name not in COUNTS}
        numbers.update(zip(COUNTS, map(float, counts), strict=True))
        b = event.state.intercept()
        b = None if b is None else np.array(b)
        if not keep:
            return cls(numbers, converged, reason, None, None, b)
        flags = np.empty(event.problem.d, dtype=np.uint8)
        event.state.support(flags)
        return cls(numbers, converged, reason, *event.state.snapshot(flags), b)
