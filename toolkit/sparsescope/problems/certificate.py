"""Certificates of a point: the duality gap and the optimality violations (docs/mathematics.md, sections 3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..inputs.columns import BLOCK, streamed
from ..inputs.design import Design
from ..inputs.partitioned import PartitionedDesign
from ..kernels.rows import (
    conjugate_sum,
    gradient_conjugate_sum,
    loss_gradient,
    loss_sum,
    repair_dual,
    repaired_conjugate_sum,
)
from ..pauses import even_parts, pause
from .base import Certificate
from .free_duals import FreeFit
from .local_scaling import WORTH_TRYING, LocalScaling
from .regulariser import Regulariser
from .screened_gradient import ScreenedGradient, used_rows

PART = 200_000  # entries of a gradient that are looked at between two pauses: one to four milliseconds
ALIKE = np.ones(1)  # no sample is scaled apart


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
    def scale(self, objective: float) -> float: ...


class Known(NamedTuple):
    """Numbers that a solver has of its point: the mean loss, U = ∇ℓ(Z) (n, m), and XᵀU as unit·G.

    ``rows``: those that the rows of G belong to, all whose weights are not zero or whose level is above λ among them;
    ``None``: all d.
    """

    loss: float
    U: np.ndarray
    G: np.ndarray
    unit: float
    rows: np.ndarray | None = None


class Workspace:
    """Arrays a certificate needs, made once: two of shape (n, m), two of (d,) and a block of gradient rows.

    They are in double precision whatever the data are: see :func:`certify`.
    """

    def __init__(self, problem: PenalisedLoss, levels: bool = False) -> None:
        shape = (problem.n, problem.m)
        self.Z = np.empty(shape)
        self.U = np.empty(shape)
        self.violation = np.empty(problem.d)
        self.paper = np.empty(problem.d)
        # On request: the λ at which a zero row of W enters, at the gradient of the point and at the dual point (which
        # is that, made to sum to zero, times ``scale``).
        self.levels = np.full(problem.d, np.nan) if levels else None
        self.dual_levels = np.full(problem.d if levels else 0, np.nan)
        self.scale = 1.0
        self.gap = np.nan  # of the point and this dual point
        self.own = False  # whether U is a solver's own dual point
        self.goal = 0.0  # relative gap that suffices: no better dual point is looked for then
        self.block = np.empty((0, problem.m))
        self.free: FreeFit | None = None  # of entries without penalty
        self.local: LocalScaling | None = None
        self.screen = ScreenedGradient()  # a solver that has its own lends it

    def free_fit(self, problem: PenalisedLoss) -> FreeFit | None:
        """The fit of the entries without penalty, made once for a penalty; ``None`` if there are none."""
        if problem.regulariser.free is None:
            return None
        if self.free is None or not self.free.fits(problem):
            self.free = FreeFit(problem)
        return self.free

    def local_scaling(self, problem: PenalisedLoss) -> LocalScaling | None:
        """Return what scales U sample by sample; ``None`` for dense data and data in several pieces."""
        design = problem.design
        if not design.is_sparse or isinstance(design, PartitionedDesign) or not is_double(problem):
            return None
        if self.local is None:
            self.local = LocalScaling(problem)
        return self.local

    def gradients(self, problem: PenalisedLoss, U: np.ndarray | None = None) -> Iterator[tuple[int, int, np.ndarray]]:
        """Return the pieces (start, stop, rows) of XᵀU; ``None`` stands for the U of the workspace."""
        double = is_double(problem)
        if isinstance(problem.design, PartitionedDesign):  # its products are in the precision of U
            return problem.design.rmatmul_blocks(self.U)
        if problem.design.is_sparse or not double:
            whole = problem.regulariser.needs_all_rows
            rows = problem.d if whole else streamed(problem.design, problem.m)
            if self.block.shape[0] != rows:  # once a run, and when a live change brings another kind of penalty
                self.block = np.empty((rows, problem.m))
        if not double:
            return self._double_gradients(problem)
        return problem.design.rmatmul_blocks(self.U if U is None else U, self.block)

    def conjugates(self, problem: PenalisedLoss, Z: np.ndarray, scale: float, refitted: bool = False) -> float:
        """Return Σ_i ℓ*(scale·u_i) of the dual rows; ``refitted``: they are the gradients of a fit of what is free."""
        if problem.intercept and not refitted:
            return float(repaired_conjugate_sum(Z, self.U, scale, *problem.terms))
        if self.own or refitted:
            return float(conjugate_sum(Z, self.U, scale, *problem.terms))
        return float(gradient_conjugate_sum(Z, self.U, scale, ALIKE, *problem.terms))

    def pieces(
        self, problem: PenalisedLoss, U: np.ndarray, rows: np.ndarray | None
    ) -> Iterator[tuple[int, int, np.ndarray]]:
        """Return the named rows of XᵀU in pieces; ``None``: all."""
        if rows is None:
            return self.gradients(problem, U)
        cuts = even_parts(rows.size, problem.m, PART)
        return ((start, stop, self.screen.product(U, rows[start:stop])) for start, stop in cuts)

    def _double_gradients(self, problem: PenalisedLoss) -> Iterator[tuple[int, int, np.ndarray]]:
        whole = self.block.shape[0] == problem.d
        for start, stop, columns in _double_columns(problem.design):
            rows = self.block[start:stop] if whole else self.block[: stop - start]
            rows[:] = columns.T @ self.U
            if not whole:
                yield start, stop, rows
        if whole:
            yield 0, problem.d, self.block


def is_double(problem: PenalisedLoss) -> bool:
    """Return whether the data are in double precision."""
    return problem.dtype == np.float64


def _double_columns(design: Design) -> Iterator[tuple[int, int, Any]]:
    """The data in double precision, some columns at a time: (start, stop, columns)."""
    for start in range(0, design.d, BLOCK):
        stop = min(start + BLOCK, design.d)
        yield start, stop, design.matrix[:, start:stop].astype(np.float64)


def double_scores(problem: PenalisedLoss, coef: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = the scores of ``coef`` (rows, m) in double precision, of data in any. out (n, m) float64."""
    if is_double(problem) or isinstance(problem.design, PartitionedDesign):
        return problem.design.matmul(coef.astype(np.float64, copy=False), out)
    out[:] = coef[problem.d] if coef.shape[0] > problem.d else 0.0
    for start, stop, columns in _double_columns(problem.design):
        if coef[start:stop].any():
            out += columns @ coef[start:stop].astype(np.float64)
    return out


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


def _write_levels(regulariser: Regulariser, G: np.ndarray, unit: float, wanted: list[np.ndarray]) -> None:
    """Write the levels of the rows of unit·G to all of the arrays."""
    if wanted:
        regulariser.levels(G, unit, wanted[0])
    for other in wanted[1:]:
        other[:] = wanted[0]


def certify(
    problem: PenalisedLoss,
    coef: np.ndarray,
    Z: np.ndarray,
    work: Workspace,
    dual_rows: Callable[[np.ndarray], bool] | None = None,
    known: Known | None = None,
) -> Certificate:
    """The certificate of ``coef`` (rows, m), whose scores are ``Z`` (n, m).

    The dual point is U = ∇ℓ(Z), or what ``dual_rows`` writes (a solver's own dual point, with rows in the domain of ℓ*;
    it returns False if it has none). It is made to sum to zero if there is an intercept, and scaled by
    s = min(1, λ/Ω°(XᵀU/n)). With entries that are not penalised it is ∇ℓ where these are refitted (free_duals.py). The
    rows of XᵀU are looked at in blocks, so no array of the size of W is made for sparse data, unless the penalty ties
    rows. ``known``: what a solver has computed of the point, for data in double precision; then no product is made for
    it. Rows that are proved to have no part in the certificate are left out (screened_gradient.py).

    Everything is evaluated in double precision. For data in single precision the scores are computed anew from the
    weights, so that the gap is that of the point and not of the rounding on the way to it.
    """
    if not is_double(problem):
        coef, Z = coef.astype(np.float64), double_scores(problem, coef, work.Z)
    n, d, lam, regulariser = problem.n, problem.d, problem.lam, problem.regulariser
    W = coef[:d]
    loss, unit, rows, pieces, learns = _looked(problem, W, Z, work, dual_rows, known)
    if rows is not None:
        W = W[rows]
    omega, used, entries = regulariser.value(W)
    free, fitted = work.free_fit(problem), None
    repairs = problem.intercept or free is not None
    local = work.local_scaling(problem) if free is None else None
    violation, paper = work.violation[: len(W)], work.paper[: len(W)]
    wanted = [work.levels] if work.levels is not None else []
    wanted += [work.screen.levels] if learns else []
    if local is not None and not repairs and known is None:
        wanted.append(local.levels)
    top, conjugate = 0.0, 0.0
    for start, stop, G in pieces:
        regulariser.violations(G, unit, W[start:stop], lam, violation[start:stop], paper[start:stop])
        pause()
        _write_levels(regulariser, G, unit, [levels[start:stop] for levels in wanted])
        if not repairs:
            norm, star = regulariser.duals(G, unit, lam)
            top, conjugate = max(top, norm), conjugate + star
    if learns:
        work.screen.know(work.U)
    worst = float(violation.max())
    if problem.intercept:
        worst = max(worst, float(np.linalg.norm(work.U.sum(axis=0, dtype=np.float64))) / n)
    pause()
    if repairs:
        fitted, top, conjugate, rows = _repaired(problem, Z, work, free, local)
    elif work.levels is not None:
        work.dual_levels[:] = work.levels
    work.scale = scale = min(1.0, lam / top) if top > 0.0 else 1.0
    at = Z if fitted is None else fitted
    dual = -work.conjugates(problem, at, scale, fitted is not None) / n - lam * conjugate
    require_finite(weights=W, intercepts=coef[d:], scores=Z, duals=work.U)
    objective = loss + lam * omega
    work.gap = gap = objective - dual
    size = problem.scale(objective)
    if local is not None and top > lam and work.goal * size < gap <= WORTH_TRYING * size:
        if known is not None and not repairs:
            regulariser.levels(known.G, known.unit, local.levels[: len(known.G)])
        dual = max(dual, local.dual(problem, Z, work, top, rows))
        gap = objective - dual
    return Certificate(
        objective=objective,
        loss=loss,
        penalty=omega,
        dual=dual,
        gap=gap,
        relative_gap=gap / size,
        violation=worst,
        violation_sum=float(violation.sum()),
        paper_violation=float(paper.max()),
        paper_violation_sum=float(paper.sum()),
        nonzero_rows=used,
        nonzero_entries=entries,
    )


def _looked(
    problem: PenalisedLoss,
    W: np.ndarray,
    Z: np.ndarray,
    work: Workspace,
    dual_rows: Callable[[np.ndarray], bool] | None,
    known: Known | None,
) -> tuple[float, float, np.ndarray | None, Iterator[tuple[int, int, np.ndarray]], bool]:
    """Write U; returns the mean loss, the unit, rows (``None``: all) and pieces of XᵀU, and whether the levels of all
    rows are to be known from here on."""
    work.own = False
    if known is not None:
        work.U[:] = known.U
        pause()
        size, m = known.G.shape
        cuts = [(0, size)] if problem.regulariser.needs_all_rows else even_parts(size, m, PART)
        pieces = ((start, stop, known.G[start:stop]) for start, stop in cuts)
        return known.loss, known.unit, known.rows, pieces, False
    work.own = dual_rows is not None and dual_rows(work.U)
    if work.own:
        loss = loss_sum(Z, *problem.terms) / problem.n
    else:
        loss = loss_gradient(Z, *problem.terms, work.U) / problem.n
    learns = work.levels is None and work.screen.learns(problem)
    rows = work.screen.worth(problem, work.U, used_rows(W)) if learns else None
    return loss, 1.0 / problem.n, rows, work.pieces(problem, work.U, rows), learns and rows is None


def _repaired(
    problem: PenalisedLoss, Z: np.ndarray, work: Workspace, free: Any, local: Any
) -> tuple[np.ndarray | None, float, float, np.ndarray | None]:
    """Make U orthogonal to what is not penalised: the scores where it was refitted, Ω°(XᵀU/n), Σ_j Ω*(·), and the rows
    that were looked at (``None``: all)."""
    n, lam, regulariser = problem.n, problem.lam, problem.regulariser
    top, conjugate = 0.0, 0.0
    fitted = None if free is None else free.solve(problem, Z, work.U)
    if fitted is None and problem.intercept:
        repair_dual(work.U, *problem.terms)
    rows = None if work.levels is not None else work.screen.rows(problem, work.U)
    wanted = [work.dual_levels] if work.levels is not None else []
    if local is not None:
        wanted.append(local.levels)
    for start, stop, G in work.pieces(problem, work.U, rows):
        if fitted is not None and regulariser.free is not None:
            G[regulariser.free[start:stop]] = 0.0  # rounding
        pause()
        _write_levels(regulariser, G, 1.0 / n, [levels[start:stop] for levels in wanted])
        norm, star = regulariser.duals(G, 1.0 / n, lam)
        top, conjugate = max(top, norm), conjugate + star
    return fitted, top, conjugate, rows
