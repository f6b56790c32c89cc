"""Reference: the optimum of a problem, between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .result import Result


@dataclass(frozen=True)
class Reference:
    """The optimum F* of a problem, between two bounds.

    Parameters
    ----------
    objective
        F of the weights found: an upper bound of F*.
    dual
        a lower bound of F*, proved by a dual point.
    gap, relative_gap
        difference of the two bounds, and that divided by ``|F|``.
    converged
        whether the requested tolerance was reached.
    W, b
        the weights.
    solver
        which solver found them, and why.
    message
        reason why its run ended.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> found = ss.reference(problem)
    >>> found.objective <= ss.solve(problem, tol=1e-4).objective
    True
    """

    objective: float
    dual: float
    gap: float
    relative_gap: float
    converged: bool
    W: Any
    b: np.ndarray | None
    solver: str
    message: str

    @classmethod
    def of(cls, found: Result) -> Reference:
        """Make a reference of a result.

        Parameters
        ----------
        found
            the result of a run.

        Returns
        -------
        Reference
            the reference.
        """
        return cls(
            found.objective,
            found.dual,
            found.gap,
            found.relative_gap,
            found.converged,
            found.W,
            found.b,
            found.reason,
            found.message,
        )
