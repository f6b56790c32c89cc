"""Result: what :func:`sparsescope.solve` returns."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.html import facts_table
from .trace import Trace


@dataclass(frozen=True)
class Result:
    """Weights found by :func:`solve`, with their certificate and what the run took.

    Attributes
    ----------
    W
        weights (d, m), sparse (CSR) if the solver keeps them sparse; of a covariance problem Θ (p, p).
    b
        intercept (m,), or ``None``.
    objective, dual, gap, relative_gap, violation
        of these weights.
    converged
        whether the tolerance was reached, or that of a :class:`~sparsescope.stopping.Gap` among the rules given;
        also as ``success``. For a sequence, which has no gap, whether it settled.
    message
        reason why the run ended.
    seconds, iterations, passes
        solver seconds, iterations (also ``n_iter``) and data passes of the run.
    trace
        the recorded events, or ``None``.
    reason
        which solver ``auto`` chose, and why; empty for every other solver.
    sparsity
        description of the sparsity of W.
    model
        of a sequence problem the sequence, for ``problem.predict(result.model, X)``; ``None`` for others.
    support
        numbers of the non-zero rows of W, sorted, whatever the type of W.
    excess
        for a problem with a budget η on the mean loss, the amount by which W violates it (0 as soon as a feasible
        point is known); NaN for others.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> result = ss.solve(problem, tol=1e-6)
    >>> result.converged, result.W.shape
    (True, (4, 3))
    >>> result.relative_gap <= 1e-6
    True
    """

    W: Any
    b: np.ndarray | None
    objective: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    converged: bool
    message: str
    seconds: float
    iterations: int
    passes: float
    trace: Trace | None
    reason: str = ""
    sparsity: str = ""
    model: Any = None
    support: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0, dtype=np.intp), repr=False)
    excess: float = float("nan")

    @property
    def n_iter(self) -> int:
        """Number of iterations (scikit-learn's name)."""
        return self.iterations

    @property
    def success(self) -> bool:
        """True if the tolerance was reached (scipy's name for ``converged``)."""
        return self.converged

    def __repr__(self) -> str:
        return (
            f"Result({'converged' if self.converged else 'not converged'}: {self.message}; "
            f"F={self.objective:.8g}, relative gap {self.relative_gap:.1e}, {self.sparsity}, "
            f"{self.iterations} iterations, {self.seconds:.3g} s)"
        )

    def _repr_html_(self) -> str:
        return facts_table(
            "Result",
            [
                ("objective F", self.objective),
                ("dual value D ≤ F*", self.dual),
                ("relative gap", self.relative_gap),
                ("converged", self.converged),
                ("violation of the budget", self.excess),
                ("sparsity", self.sparsity),
                ("iterations", self.iterations),
                ("solver seconds", float(self.seconds)),
                ("solver", self.reason),
                ("trace", "" if self.trace is None else repr(self.trace)),
            ],
            self.message,
        )


def point_of(run: Any) -> dict[str, Any]:
    """Copy the weights that a run hands back, as fields of a result.

    Parameters
    ----------
    run
        a run that has made at least one event.

    Returns
    -------
    dict[str, Any]
        fields of :class:`Result` by their names.
    """
    problem, state = run.problem, run.best
    intercept, flags = state.intercept(), np.empty(problem.d, dtype=np.uint8)
    state.support(flags)
    return {
        "W": state.weights().copy(),
        "b": None if intercept is None else np.array(intercept),
        "support": np.flatnonzero(flags),
        "model": getattr(state, "model", None),
    }
