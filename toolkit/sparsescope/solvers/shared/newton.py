"""A damped semismooth Newton step on the rows of W in use, by conjugate gradients.

S ← rows in use;  P ← projection on the smooth piece of Ω that W_S lies on
g ← P(∇f(W)_S + λ∇Ω(W_S))
D ← solution of P(∇²f(W)_SS + λ∇²Ω(W_S) + μM)P D = −g by a few preconditioned conjugate-gradient steps,
    M = diag ∇²f + the largest curvature of λΩ; the preconditioner has that along each vector in use as well, and none
    of the loss where the scores of a sample rise together and the loss sees differences only (kernels/newton.py)
W(α) ← W + αD, with zero in place of the vectors that are beyond zero by then (the arc of Bertsekas 1982)
α ← 1, ½, ¼… until F(W(α)) ≤ F(W) + σ⟨g, W(α) − W⟩
μ falls after a full step, and after a shorter one if F fell as the model promised; it rises where F hardly fell
The scores move by α·XD and by the columns of the vectors that ended, so a trial costs no product with all of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernels.newton import loss_derivatives, moved_loss
from ...pauses import pause
from ...problems.linear_algebra import inner
from ...problems.prediction import Problem
from ...problems.screened_gradient import used_rows
from ...threads import even_rounds, in_rounds
from ..base import State
from .armijo import BACKTRACK, SIGMA, backtrack
from .in_parts import put, taken
from .pieces import RowPieces, has_derivatives, pieces_of
from .support import Support, pulled, pushed

TRIALS_MOST = 12
CG_TOLERANCE = 0.1  # of the preconditioned residual: directions far from exact are good enough, and much cheaper
FIRST_DAMPING, MOST_DAMPING = 0.1, 10.0
# Directions that only the penalty determines (the same added to all classes) have a curvature of λ/‖w‖: at tiny λ a
# larger damping than this holds them back for thousands of steps. Single precision carries less.
LEAST_DAMPING, LEAST_SINGLE = 1e-10, 1e-6
DAMPING_UP, DAMPING_DOWN = 4.0, 0.25
MOST_CG = 10  # times the user's number of conjugate-gradient steps, where the quadratic model is trusted
# Growth of that number after a step that did what the model promised (1, 1.35, 1.5 and 2 took longer: 20 newsgroups
# in ten orders of its samples), and its decline after a step that failed.
CG_GROWTH, CG_DECLINE = 1.25, 1.5
TRUST = 0.2  # the model is trusted if F fell by what it promised, within this share
POOR, GOOD = 0.25, 0.75  # shares of what it promised below and above which a shortened step changes the damping
GATHERED = 10.0  # of an entry gathered into it, in products with a number (measured with one score and with six)
SCORES = 200_000  # whose derivatives are taken between two pauses
SCORE_COST = 10.0  # of the derivatives at a score, or of the loss, in products of numbers
SINGLE_ABOVE = 200_000  # entries above which products run in single precision: below, they cost little anyway


def single(problem: Problem) -> bool:
    """Return whether directions are computed in single precision."""
    return problem.design.nnz > SINGLE_ABOVE


def able(problem: Problem) -> bool:
    """Return whether loss and penalty have the row functions a Newton step needs (all registered smooth ones have)."""
    return hasattr(problem.loss, "hessian_product") and has_derivatives(problem)


def expected_work(problem: Problem, coef: np.ndarray, cg_steps: int, block: bool) -> float:
    """Entries of X that a step on the rows of ``coef`` in use reads and gathers, with ``cg_steps`` of CG."""
    share = np.count_nonzero(used_rows(coef[: problem.d])) / problem.d
    return float(problem.design.nnz) * share * _reads(problem, cg_steps, block)


def _reads(problem: Problem, products: int, block: bool) -> float:
    """Times that a step with this many Hessian products reads the entries of its columns, and gathers them."""
    return 2.0 * products + 3.0 + (GATHERED / problem.m if block else 0.0)


def take_derivatives(problem: Problem, Z: np.ndarray, U: np.ndarray, A: np.ndarray, bent: np.ndarray) -> float:
    """U = ∇ℓ, A = diag ∇²ℓ and which samples are bent, of scores Z; returns Σ_i ℓ. Z, U, A (n, m), bent (n,)."""
    (y, loss), totals = problem.terms, {}

    def derive(_: int, first: int, last: int) -> None:
        at = slice(first, last)
        totals[first] = float(loss_derivatives(Z[at], y[at], loss, U[at], A[at], bent[at]))

    in_rounds(even_rounds(problem.n, SCORE_COST * problem.m, SCORE_COST * SCORES), derive)
    return sum(totals[first] for first in sorted(totals))


def _loss_along(problem: Problem, Z: np.ndarray, E: np.ndarray, size: float) -> float:
    """Σ_i ℓ(z_i + size·e_i). Z, E (n, m)."""
    (y, loss), totals = problem.terms, {}

    def add(_: int, first: int, last: int) -> None:
        totals[first] = float(moved_loss(Z[first:last], E[first:last], size, y[first:last], loss))

    in_rounds(even_rounds(problem.n, SCORE_COST * problem.m, SCORE_COST * problem.n * problem.m), add)
    return sum(totals[first] for first in sorted(totals))


@dataclass
class Step:
    """Result of a Newton step: ``taken`` or not, objective before and after, step size, trials, CG steps, the data
    entries read (by products in single precision, which cost less than those of a sweep), and the same with what it
    took to gather them."""

    taken: bool
    before: float
    after: float
    size: float
    trials: int
    products: int
    read: float
    work: float


class Move(NamedTuple):
    """Result of a search along an arc: ``taken`` or not, F after it, step size, trials, ⟨g, move⟩ and the move of the
    scores, both divided by the size, and the weights in use after it."""

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
        G = pulled(problem, at, self.U)
        G /= n
        pause()
        pieces.gradient(W, G)
        D, products = self._direction(pieces, state.Z, W, G)
        pause()
        move = self._moved(problem, state, pieces, W, G, D, before)
        if move.taken:
            pause()
            put(state.coef, at, move.W)
            move.E[:] *= move.size
            state.Z += move.E
        promised = -move.slope * (move.size - 0.5 * move.size**2)
        self._trust(move.taken, move.size, (before - move.after) / promised if move.taken else 0.0, products)
        return Step(
            move.taken,
            before,
            move.after,
            move.size if move.taken else float("nan"),
            move.trials,
            products,
            known.nnz * _reads(problem, products, False),
            known.nnz * _reads(problem, products, known.block is not None),
        )

    def _moved(
        self,
        problem: Problem,
        state: State,
        pieces: RowPieces,
        W: np.ndarray,
        G: np.ndarray,
        D: np.ndarray,
        before: float,
    ) -> Move:
        """Search along the arc W + αD on which a vector that reaches zero stays there."""
        at = np.append(pieces.rows, problem.d) if problem.intercept else pieces.rows
        slack = 4.0 * float(np.finfo(problem.dtype).eps) * abs(before)
        straight, E = pushed(problem, at, D, self.E), self.E
        new, after, slope = np.empty_like(W), before, 0.0

        def risen(size: float) -> float:
            """F less F before and σ⟨g, move⟩; NaN where the move does not go down."""
            nonlocal after, slope, E
            pause()
            moves = D.dtype.type(size) * D
            ends = pieces.stop_at_zero(W, moves)
            promised = inner(G, moves)
            slope = promised / size
            if not promised < 0.0:
                return float("nan")
            E = straight
            if ends:
                apart = moves - D.dtype.type(size) * D
                rows = np.flatnonzero(apart.any(axis=1))
                pause()
                apart = apart[rows] / D.dtype.type(size)
                E = pushed(problem, at[rows], apart, np.empty_like(straight))
                pause()
                E += straight
            pause()
            after = _loss_along(problem, state.Z, E, size) / problem.n
            after += problem.lam * pieces.moved(W, moves, 1.0, new)
            return after - before - SIGMA * promised

        size, trials, accepted = backtrack(risen, 0.0, slack, TRIALS_MOST)
        return Move(accepted, after if accepted else before, size, trials, slope, new, E)

    def _take_derivatives(self, problem: Problem, Z: np.ndarray) -> float:
        """U, A and which samples are bent, of scores Z; returns Σ_i ℓ."""
        return take_derivatives(problem, Z, self.U, self.A, self.bent)

    def _trust(self, taken: bool, size: float, agreement: float, products: int) -> None:
        """Set damping and CG steps by how F fell beside what the quadratic model promised for a step of this size."""
        if not taken:
            self.damping *= DAMPING_UP / BACKTRACK**3
            self.cg_steps = max(int(self.cg_steps / CG_DECLINE), self.least_cg_steps)
        elif size == 1.0:
            self.damping *= DAMPING_DOWN
            if products >= self.cg_steps and abs(agreement - 1.0) <= TRUST:
                self.cg_steps = min(int(CG_GROWTH * self.cg_steps), MOST_CG * self.least_cg_steps)
        elif agreement < POOR:
            self.damping *= DAMPING_UP
        elif agreement > GOOD:
            self.damping *= DAMPING_DOWN
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
