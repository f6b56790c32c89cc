"""The smallest mean hinge that any weights reach: what a budget η must not go below.

h* = min over W (and b) of (1/n) Σ_i max_r(z_ir − z_iy + μ·[r ≠ y]), without a penalty: a linear program, solved by
the steps of ``fbpd`` without the prox. For dual rows U of the domain of ℓ* (with columns that sum to zero if there
is an intercept), V = XᵀU/n and every W,  mean hinge(W) ≥ (μ/n) Σ_i Σ_{r≠y} u_ir + ⟨V, W⟩, and V falls to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...kernels.rows import loss_sum, repair_dual
from ...kernels.splitting import limit_flows
from ...problems.prediction import Problem
from ...registry import check_whole
from ..base import settings
from ..fbpd import FBPD
from .splitting import Splitting, SplittingState

REACH = 100.0  # the lower bound is for weights up to this many times as long as those that were found
LOOK = 50  # iterations between two evaluations of the bounds


@settings
class _Unpenalised(FBPD):
    """The steps of ``fbpd`` for Ω = 0."""

    losses: ClassVar[tuple[str, ...]] = ("crammer-singer",)

    def refuses(self, problem: Problem) -> str | None:
        return Splitting.refuses(self, problem)

    def restricts(self, problem: Problem) -> bool:
        return False

    def strength(self, problem: Problem) -> float:
        return 0.0


@dataclass(frozen=True)
class SmallestHinge:
    """Bounds of the smallest mean Crammer–Singer hinge on some data.

    Parameters
    ----------
    reached
        mean hinge of weights that were found.
    lower
        proved lower bound, at least 0: no weights of a Frobenius norm up to ``radius`` have a smaller mean hinge.
    radius
        see ``lower``.
    iterations
        iterations it took.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), loss="crammer-singer")
    >>> found = ss.solvers.smallest_hinge(problem, max_iter=2000)
    >>> 0.0 <= found.lower <= found.reached < problem.loss.margin
    True
    """

    reached: float
    lower: float
    radius: float
    iterations: int


def smallest_hinge(
    problem: Problem, tol: float = 1e-4, max_iter: int = 20_000, above: float | None = None
) -> SmallestHinge:
    """Bound the smallest mean Crammer–Singer hinge on the problem's data, without a penalty.

    The iterations end when the bounds are within ``tol`` times the margin, after ``max_iter`` iterations, or, if
    ``above`` is given, as soon as the bounds decide whether that value can be reached.

    Parameters
    ----------
    problem
        a problem with the loss ``crammer-singer``.
    tol
        accuracy, in units of the margin.
    max_iter
        largest number of iterations.
    above
        a mean hinge to compare with.

    Returns
    -------
    SmallestHinge
        the bounds.

    Raises
    ------
    ValueError
        for another loss, or a ``tol`` that is not positive.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), loss="crammer-singer")
    >>> found = ss.solvers.smallest_hinge(problem, max_iter=2000)
    >>> 0.0 <= found.lower <= found.reached < problem.loss.margin
    True
    """
    if not tol > 0.0:
        raise ValueError(f"tol is {tol!r}; a positive number is needed")
    check_whole("max_iter", max_iter, 1)
    solver = _Unpenalised(**{f.name: f.default for f in FBPD.fields})
    margin = getattr(problem.loss, "margin", 1.0)
    state: Any = solver.init(problem)
    reached, lower, radius = _bounds(problem, state)  # the bound at the start holds for short weights: it is dropped
    lower = 0.0
    while reached - lower > tol * margin and state.iteration < max_iter:
        if above is not None and (lower > above or reached <= above):
            break
        for _ in range(LOOK):
            solver.step(problem, state)
        found, lower, radius = _bounds(problem, state)
        reached = min(reached, found)
    return SmallestHinge(reached, min(lower, reached), radius, state.iteration)


def _bounds(problem: Problem, state: SplittingState) -> tuple[float, float, float]:
    """Mean hinge of the state's weights, the lower bound from its dual rows, and the norm up to which that holds."""
    n = problem.n
    scale = problem.loss.margin * n**0.5 / state.norm  # weights that move scores by the margin are about as long
    radius = REACH * max(float(np.linalg.norm(state.coef[: problem.d])), scale)
    U = state.Y.copy()
    if problem.intercept:
        repair_dual(U, *problem.terms)
    flows = limit_flows(U, problem.y, 1.0)
    slope = sum(float(np.linalg.norm(G)) ** 2 for _, _, G in problem.design.rmatmul_blocks(U)) ** 0.5
    bound = (problem.loss.margin * flows - radius * slope) / n
    return loss_sum(state.Z, *problem.terms) / n, max(bound, 0.0), radius
