"""What can be proved about a point: the duality gap and the optimality violations (MATH §3 and §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ..inputs.design import BLOCK, Design
from ..kernels.rows import conjugate_sum, loss_gradient, loss_sum, repair_dual, repaired_conjugate_sum
from .base import Certificate
from .regulariser import Regulariser


class PenalisedLoss(Protocol):
    """A problem as its certificate sees it: data, loss, penalty and λ."""

    lam: float
    regulariser: Regulariser

    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def dtype(self) -> np.dtype: ...
    @property
    def design(self) -> Design: ...
    @property
    def terms(self) -> tuple[np.ndarray, Any]: ...
    @property
    def intercept(self) -> bool: ...


class Workspace:
    """Arrays a certificate needs, made once: two of shape (n, m), two of (d,) and a block of gradient rows."""

    def __init__(self, problem: PenalisedLoss) -> None:
        shape = (problem.n, problem.m)
        self.Z = np.empty(shape, dtype=problem.dtype)
        self.U = np.empty(shape, dtype=problem.dtype)
        self.violation = np.empty(problem.d)
        self.paper = np.empty(problem.d)
        self.block = np.empty((0, problem.m), dtype=problem.dtype)

    def gradients(self, problem: PenalisedLoss) -> Iterator[tuple[int, int, np.ndarray]]:
        """XᵀU in pieces (start, stop, rows), as large as the problem's penalty needs them."""
        if problem.design.is_sparse:
            rows = problem.d if problem.regulariser.needs_all_rows else min(BLOCK, problem.d)
            if self.block.shape[0] != rows:  # once a run, and when a live change brings another kind of penalty
                self.block = np.empty((rows, problem.m), dtype=problem.dtype)
        return problem.design.rmatmul_blocks(self.U, self.block)


def require_finite(**arrays: np.ndarray) -> None:
    """Check that arrays hold finite numbers only: a maximum that skips NaN would make a certificate of nothing.

    Raises
    ------
    FloatingPointError
        naming the first array (by its keyword) that holds NaN or infinite entries.
    """
    for name, array in arrays.items():
        if not np.isfinite(array.sum(dtype=np.float64)) and not np.isfinite(array).all():
            raise FloatingPointError(f"the {name} have entries that are not finite")


def certify(problem: PenalisedLoss, coef: np.ndarray, Z: np.ndarray, work: Workspace,
            dual_rows: Callable[[np.ndarray], bool] | None = None) -> Certificate:
    """The certificate of ``coef`` (rows, m), whose scores are ``Z`` (n, m).

    The dual point is U = ∇ℓ(Z), or what ``dual_rows`` writes (a solver's own dual point, with rows in the domain of ℓ*;
    it returns False if it has none). It is made to sum to zero if there is an intercept, and scaled by
    s = min(1, λ/Ω°(XᵀU/n)). The rows of XᵀU are looked at in blocks, so no array of the size of W is made for sparse
    data, unless the penalty ties rows.
    """
    n, d, lam, regulariser = problem.n, problem.d, problem.lam, problem.regulariser
    W = coef[:d]
    if dual_rows is not None and dual_rows(work.U):
        loss = loss_sum(Z, *problem.terms) / n
    else:
        loss = loss_gradient(Z, *problem.terms, work.U) / n
    omega, rows, entries = regulariser.value(W)
    top, conjugate = 0.0, 0.0
    for start, stop, G in work.gradients(problem):
        regulariser.violations(G, 1.0 / n, W[start:stop], lam, work.violation[start:stop], work.paper[start:stop])
        if not problem.intercept:
            norm, star = regulariser.duals(G, 1.0 / n, lam)
            top, conjugate = max(top, norm), conjugate + star
    worst = float(work.violation.max())
    if problem.intercept:
        worst = max(worst, float(np.linalg.norm(work.U.sum(axis=0, dtype=np.float64))) / n)
        repair_dual(work.U, *problem.terms)
        for _, _, G in work.gradients(problem):
            norm, star = regulariser.duals(G, 1.0 / n, lam)
            top, conjugate = max(top, norm), conjugate + star
    scale = min(1.0, lam / top) if top > 0.0 else 1.0
    loss_part = repaired_conjugate_sum if problem.intercept else conjugate_sum
    dual = -loss_part(Z, work.U, scale, *problem.terms) / n - lam * conjugate
    require_finite(weights=coef, scores=Z, duals=work.U)
    objective = loss + lam * omega
    gap = objective - dual
    return Certificate(
        objective=objective, loss=loss, penalty=omega, dual=dual, gap=gap,
        relative_gap=gap / abs(objective) if objective != 0.0 else gap,
        violation=worst, violation_sum=float(work.violation.sum()),
        paper_violation=float(work.paper.max()), paper_violation_sum=float(work.paper.sum()),
        nonzero_rows=rows, nonzero_entries=entries,
    )
