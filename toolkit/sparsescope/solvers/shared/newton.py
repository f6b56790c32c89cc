"""A damped semismooth Newton step on the rows of W in use, by conjugate gradients.

S ← rows in use;  P ← projection on the smooth piece of Ω that W_S lies on
g ← P(∇f(W)_S + λ∇Ω(W_S))
D ← solution of P(∇²f(W)_SS + λ∇²Ω(W_S) + μM)P D = −g by a few preconditioned conjugate-gradient steps,
    M = diag ∇²f + the largest curvature of λΩ; the preconditioner has that along each vector in use as well
D_j ← −W_j where W_j + D_j would be beyond zero, if that leaves a direction that goes down
α ← 1, ½, ¼… until F(W + αD) ≤ F(W) + σα⟨g, D⟩; where that is below 1, the step along D as it was before up to the first
    W_j at zero, if F is lower there: D holds with all rows moving together, two words that always stand together, say
μ falls after a full step and rises after a shortened one
The scores move by α·XD, so a trial costs no product with X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...inputs.design import DENSE_PART, MOST_GATHERED
from ...inputs.turned import turned
from ...kernels.newton import (
    SupportRows,
    hessian_rows,
    loss_derivatives,
    moved_loss,
    support_diagonal,
    support_hessian_product,
)
from ...pauses import even_parts, parts_of, pause
from ...problems.linear_algebra import inner
from ...problems.prediction import Problem
from ..base import State
from .armijo import BACKTRACK, backtrack
from .in_parts import put, taken
from .pieces import RowPieces, has_derivatives, pieces_of

TRIALS_MOST = 12
CG_TOLERANCE = 0.1  # of the preconditioned residual: directions far from exact are good enough, and much cheaper
FIRST_DAMPING, MOST_DAMPING = 0.1, 10.0
# Directions that only the penalty determines (the same added to all classes) have a curvature of λ/‖w‖: at tiny λ a
# larger damping than this holds them back for thousands of steps. Single precision carries less.
LEAST_DAMPING, LEAST_SINGLE = 1e-10, 1e-6
DAMPING_UP, DAMPING_DOWN = 4.0, 0.25
MOST_CG = 10  # times the user's number of conjugate-gradient steps, where the quadratic model is trusted
TRUST = 0.2  # the model is trusted if F fell by what it promised, within this share
STILL_DOWN = 0.5  # share of its slope that D keeps at least where vectors that would pass zero stop there
BLOCK_ABOVE = 0.15  # share of non-zero cells above which the columns in use are kept as a block
BLOCK_BYTES = 2**28  # largest block
PRODUCT = 3_000_000  # products of numbers on single entries of the support between two pauses
SCORES = 200_000  # whose derivatives are taken between two pauses
SINGLE_ABOVE = 200_000  # entries above which products run in single precision: below, they cost little anyway


def single(problem: Problem) -> bool:
    """Return whether directions are computed in single precision."""
    return problem.design.nnz > SINGLE_ABOVE


def able(problem: Problem) -> bool:
    """Return whether loss and penalty have the row functions a Newton step needs (all registered smooth ones have)."""
    return hasattr(problem.loss, "hessian_product") and has_derivatives(problem)


def take_derivatives(problem: Problem, Z: np.ndarray, U: np.ndarray, A: np.ndarray, bent: np.ndarray) -> float:
    """U = ∇ℓ, A = diag ∇²ℓ and which samples are bent, of scores Z; returns Σ_i ℓ. Z, U, A (n, m), bent (n,)."""
    (y, loss), total = problem.terms, 0.0
    for first, last in even_parts(problem.n, problem.m, SCORES):
        at = slice(first, last)
        total += float(loss_derivatives(Z[at], y[at], loss, U[at], A[at], bent[at]))
        pause()
    return total


class Support:
    """The rows of W in use with their columns of data, as a block or by samples (CSR).

    Directions from many data are computed in single precision: they only have to point down, and the gradient before
    and the line search after are in full precision. A block is used where the columns are so full that its regular
    layout wins. ``dtype`` is its precision.
    """

    def __init__(self, problem: Problem, rows: np.ndarray, single: bool, block: bool | None = None) -> None:
        design = problem.design
        self.rows = rows
        self.problem = problem
        cells = design.n * rows.size
        self.nnz = int(np.diff(design.matrix.indptr)[rows].sum()) if design.is_sparse else cells
        self.dtype = np.dtype(np.float32) if single else problem.dtype
        if block is None:
            block = not design.is_sparse or (self.nnz > BLOCK_ABOVE * cells and 8 * cells <= BLOCK_BYTES)
        self.block: np.ndarray | None = None
        self.bent_block: np.ndarray | None = None
        self.samples = np.arange(problem.n)
        self.stretches: list[tuple[int, int]] | None = None  # of these samples, between which a product pauses
        if not block:
            self.by_sample = SupportRows(*turned(design.columns, design.n, rows, self.dtype))  # type: ignore[call-arg]
        else:
            part = design.matrix[:, rows]
            pause()
            self.block = np.ascontiguousarray(part.toarray() if design.is_sparse else part, dtype=self.dtype)

    def bend(self, samples: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Keep to the samples where the loss is not flat; returns the diagonal of ∇²f from A (n, m), shape (s, m)."""
        problem, s, scale = self.problem, self.rows.size, 1.0 / self.problem.n
        self.samples, self.stretches = samples, None
        H = np.zeros((s + problem.intercept, problem.m), dtype=self.dtype)
        if self.block is None:
            lengths = np.diff(self.by_sample.indptr)[samples]
            for first, last in parts_of(problem.m * (lengths + 1.0), PRODUCT):
                support_diagonal(self.by_sample, samples[first:last], A, scale, H)
                pause()
        else:
            self.bent_block = self.block if samples.size == self.block.shape[0] else self.block[samples]
            np.matmul((self.bent_block * self.bent_block).T, A[samples].astype(self.dtype, copy=False), out=H[:s])
            H *= self.dtype.type(scale)
        if problem.intercept:
            H[s] = scale * A.sum(axis=0)
        return H

    def hessian_product(self, Z: np.ndarray, U: np.ndarray, V: np.ndarray, out: np.ndarray) -> None:
        """out = (1/n) Xᵀ∇²ℓ(Z) X V over the samples given to :meth:`bend`, the intercept's row last; U = ∇ℓ(Z)."""
        problem, s, scale = self.problem, self.rows.size, 1.0 / self.problem.n
        if self.bent_block is not None:
            E = np.empty((self.samples.size, problem.m), dtype=self.dtype)
            for first, last in even_parts(self.samples.size, max(s, 1) * problem.m, DENSE_PART):
                part = E[first:last]
                np.matmul(self.bent_block[first:last], V[:s], out=part)
                if problem.intercept:
                    part += V[s]
                hessian_rows(self.samples[first:last], Z, U, *problem.terms, scale, part)
                pause()
            for first, last in even_parts(s, self.samples.size * problem.m, DENSE_PART):
                np.matmul(self.bent_block[:, first:last].T, E, out=out[first:last])
                pause()
            if problem.intercept:
                out[s] = E.sum(axis=0)
            return
        out[:] = 0.0
        pause()
        shift = V[s].copy() if problem.intercept else np.zeros(problem.m, dtype=self.dtype)
        pull = np.zeros(problem.m, dtype=self.dtype)
        if self.stretches is None:
            lengths = np.diff(self.by_sample.indptr)[self.samples]
            self.stretches = list(parts_of(problem.m * (2.0 * lengths + 4.0), PRODUCT))
        for first, last in self.stretches:
            samples = self.samples[first:last]
            support_hessian_product(self.by_sample, samples, Z, U, *problem.terms, scale, V, shift, out, pull)
            pause()
        if problem.intercept:
            out[s] = pull


def _most(problem: Problem, at: np.ndarray) -> bool:
    """Decide whether a product with all columns of a dense X costs less than gathering those in use."""
    return not problem.design.is_sparse and at.size >= MOST_GATHERED * problem.d


def _pulled(problem: Problem, at: np.ndarray, U: np.ndarray) -> np.ndarray:
    """XᵀU (s, m) for the columns in use, the intercept's last."""
    if _most(problem, at):
        found: np.ndarray = problem.design.rmatmul(U, np.empty((problem.rows, problem.m), dtype=problem.dtype))[at]
        return found
    return problem.design.rmatmul_rows(at, U, np.empty((at.size, problem.m), dtype=problem.dtype))


def _pushed(problem: Problem, at: np.ndarray, D: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = XD (n, m) for D on the columns in use."""
    if _most(problem, at):
        whole = np.zeros((problem.rows, problem.m), dtype=D.dtype)
        whole[at] = D
        return problem.design.matmul(whole, out, at[at < problem.d])
    return problem.design.matmul_rows(at, D, out)


@dataclass
class Step:
    """Result of a Newton step: ``taken`` or not, objective before and after, step size, trials, CG steps, and the data
    entries read (by products in single precision, which cost less than those of a sweep)."""

    taken: bool
    before: float
    after: float
    size: float
    trials: int
    products: int
    read: float


class Move(NamedTuple):
    """Result of a search along a direction D: ``taken`` or not, F after it, step size, trials, ⟨g, D⟩, the weights in
    use after it, and XD."""

    taken: bool
    after: float
    size: float
    trials: int
    slope: float
    W: np.ndarray
    E: np.ndarray


class Newton:
    """Newton steps for one problem: the damping, the support with its data, and the arrays of a step.

    ``cg_steps`` is how many conjugate-gradient steps a Newton step may take at first; it grows where F is as quadratic
    as the model predicts, which is near the solution.
    """

    def __init__(self, problem: Problem, cg_steps: int, single: bool | None = None, block: bool | None = None) -> None:
        self.single, self.block = single, block  # None: what suits the data
        self.least_cg_steps = self.cg_steps = cg_steps
        self.damping = FIRST_DAMPING
        self.support: Support | None = None
        shape = (problem.n, problem.m)
        self.U = np.empty(shape, dtype=problem.dtype)
        self.E = np.empty(shape, dtype=problem.dtype)
        self.A = np.empty(shape, dtype=problem.dtype)
        self.bent = np.zeros(problem.n, dtype=np.bool_)

    def begin(self, near: bool = False) -> None:
        """Trust the model as little as at first, or, for a problem ``near`` the last, hardly less than at its end."""
        self.damping = min(DAMPING_UP * self.damping, FIRST_DAMPING) if near else FIRST_DAMPING
        self.cg_steps = self.least_cg_steps

    @property
    def uses_block(self) -> bool:
        """True if the last products were those of a block, which cost less for each entry."""
        return self.support is not None and self.support.block is not None

    def step(self, problem: Problem, state: State) -> Step | None:
        """Move the weights and scores of ``state``; ``None`` if no row is in use."""
        d, n = problem.d, problem.n
        pieces = pieces_of(problem, state.coef[:d])
        if pieces is None:
            return None
        pause()
        rows = pieces.rows
        known = self.support
        if known is None or known.problem.design is not problem.design or not np.array_equal(known.rows, rows):
            known = Support(problem, rows, single(problem) if self.single is None else self.single, self.block)
            self.support = known
            pause()
        known.problem = problem
        at = np.append(rows, d) if problem.intercept else rows
        W = taken(state.coef, at, state.coef.dtype)
        before = self._take_derivatives(problem, state.Z) / n
        before += problem.lam * pieces.value(W)
        pause()
        G = _pulled(problem, at, self.U)
        G /= n
        pause()
        pieces.gradient(W, G)
        D, products = self._direction(pieces, state.Z, W, G)
        pause()
        whole, slope, stopped = D, inner(G, D), taken(D, dtype=D.dtype)
        ends = pieces.stop_at_zero(W, stopped)
        if ends and (steep := inner(G, stopped)) <= STILL_DOWN * slope:
            D, slope = stopped, steep
        move = self._moved(problem, state, pieces, W, D, slope, before, self.E)
        if ends and not (move.taken and move.size == 1.0):
            D = pieces.to_first_end(W, whole, stopped)
            other = self._moved(problem, state, pieces, W, D, inner(G, D), before, np.empty_like(self.E), most=1)
            better = other if other.taken and other.after < move.after else move
            move = better._replace(trials=move.trials + other.trials)
        if move.taken:
            pause()
            put(state.coef, at, move.W)
            move.E[:] *= move.size
            state.Z += move.E
        gain = (before - move.after) / (-0.5 * move.slope) if move.taken else 0.0
        self._trust(move.taken, move.size, gain, products)
        return Step(
            move.taken,
            before,
            move.after,
            move.size if move.taken else float("nan"),
            move.trials,
            products,
            (2.0 * products + 3.0) * known.nnz,
        )

    @staticmethod
    def _moved(
        problem: Problem,
        state: State,
        pieces: RowPieces,
        W: np.ndarray,
        D: np.ndarray,
        slope: float,
        before: float,
        E: np.ndarray,
        most: int = TRIALS_MOST,
    ) -> Move:
        """Move along D by a line search. E (n, m): array for XD; ``most``: the largest number of trials."""
        new, after = np.empty_like(W), before
        at = np.append(pieces.rows, problem.d) if problem.intercept else pieces.rows
        _pushed(problem, at, D, E)
        slack = 4.0 * float(np.finfo(problem.dtype).eps) * abs(before)

        def value(size: float) -> float:
            nonlocal after
            pause()
            after = moved_loss(state.Z, E, size, *problem.terms) / problem.n
            after += problem.lam * pieces.moved(W, D, size, new)
            return after

        size, trials, accepted = backtrack(value, slope, slack, most if slope < 0.0 else 0, before)
        return Move(accepted, after if accepted else before, size, trials, slope, new, E)

    def _take_derivatives(self, problem: Problem, Z: np.ndarray) -> float:
        """U, A and which samples are bent, of scores Z; returns Σ_i ℓ."""
        return take_derivatives(problem, Z, self.U, self.A, self.bent)

    def _trust(self, taken: bool, size: float, agreement: float, products: int) -> None:
        """Set damping and CG steps by how well the quadratic model (which promised ½|⟨g, D⟩|) agreed with F."""
        if taken and size == 1.0:
            self.damping *= DAMPING_DOWN
            if products >= self.cg_steps and abs(agreement - 1.0) <= TRUST:
                self.cg_steps = min(int(1.5 * self.cg_steps), MOST_CG * self.least_cg_steps)
        else:
            self.damping *= DAMPING_UP / max(size, BACKTRACK**3)
            self.cg_steps = max(int(self.cg_steps / 1.5), self.least_cg_steps)
        assert self.support is not None
        least = LEAST_DAMPING if self.support.dtype == np.float64 else LEAST_SINGLE
        self.damping = min(max(self.damping, least), MOST_DAMPING)

    def _direction(self, pieces: RowPieces, Z: np.ndarray, W: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, int]:
        """D of the damped Newton system, in the precision of G, and the number of Hessian products."""
        support = self.support
        assert support is not None
        H = support.bend(np.flatnonzero(self.bent), self.A)
        number = support.dtype.type
        pause()
        W, R = taken(W, dtype=support.dtype), taken(G, dtype=support.dtype)
        np.negative(R, out=R)
        D, Q, M = np.zeros_like(W), np.empty_like(W), np.empty_like(W)
        pause()
        pieces.damp(W, H, self.damping)
        pieces.precondition(W, R, M)
        pause()
        V = taken(M, dtype=M.dtype)
        rho = inner(R, M)
        target = CG_TOLERANCE**2 * rho
        products = 0
        while products < self.cg_steps and rho > target:
            pause()
            support.hessian_product(Z, self.U, V, Q)
            pieces.hessian(W, V, H, Q)
            products += 1
            curve = inner(V, Q)
            if curve <= 0.0:  # rounding; the damped system is positive definite
                break
            alpha = number(rho / curve)
            D += alpha * V
            pause()
            R -= alpha * Q
            pause()
            pieces.precondition(W, R, M)
            old, rho = rho, inner(R, M)
            pause()
            V *= number(rho / old)
            V += M
        return taken(D, dtype=G.dtype), products
