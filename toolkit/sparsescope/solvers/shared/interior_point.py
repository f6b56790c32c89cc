"""A primal–dual interior point method for hinges with few samples, whatever norms the penalty is made of.

    minimise Σ_i ω_i ξ_i + nλ Σ_v (α‖w_v‖₁ + β‖w_v‖₂ + γ‖w_v‖_∞ + ½κ‖w_v‖²)
    subject to  ξ_i ≥ 0,  z_ik − a_i ≤ ξ_i − μ for the labels k that sample i lacks,  z_ik ≥ a_i for those it has

with z = XW + 1bᵀ. Newton steps on the conditions of optimality follow the central path (problems/central_path.py); some
twenty reach a relative gap of 1e-8, corners or not.

Where the weights and dual rows it is given have a gap below half of F, the method begins near them: slacks s and duals
z of a cone become the pair with equal products and the same s − uz (u: a unit of s by one of z), so the step from a
point on the boundary is short. From a gap of 1e-2, three to eight steps lead to 1e-4 instead of twelve to seventeen.

The points of the method have no zeros. Shown are the weights of the smallest F so far, zero where the prox of the
penalty at W − σXᵀU is, if F does not notice; and the dual rows that prove most.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ...kernels.rows import loss_sum
from ...problems.central_path import CentralPath, Margins
from ...problems.certificate import Workspace, certify, double_scores
from ...problems.interior_cones import pieces_of
from ...problems.interior_systems import cheapest
from ...problems.penalty_norms import norms_of
from ...problems.prediction import Problem

LEAST = 1e-3  # share of the duals at the start at least, where these are made small enough for the penalty
MOVED = 2  # corrections of weights whose margins are to stay
SHIFTS = (1.0, 1e-2, 1e-4)  # σ of the prox that says which weights are zero, in units of max|W|/(nλ)
NEAR = 1e-2  # share of F that the complementarity has at most where zeros are looked for
UNNOTICED = 0.1  # share of the complementarity by which F may grow when weights become zero
CLOSE = 0.5  # gap, as a share of F, up to which the method begins at the point it is given
ROOM = 10.0  # the complementarity there, in units of that gap: less leaves the point too near the boundary
SHORT, MOST_SHORT = 1e-2, 3  # size of a step from a point too near the boundary; so many on end, the rest is rounding
MOST_WORK = 4.5e9  # multiplications of a step's factorisation: about .4 s of one processor
MOST_ENTRIES = 4_000_000  # of X, which is held as a full array


def factoring(problem: Problem) -> float:
    """Multiplications of a step's factorisation; infinite for other losses than hinges and other penalties."""
    if problem.loss.smooth or not problem.loss.hinges or problem.n * problem.d > MOST_ENTRIES:
        return math.inf
    found = norms_of(problem.regulariser, problem.d, problem.m)
    if found is None:
        return math.inf
    by_class = problem.regulariser.blocks is not None
    return float(cheapest(problem.n, problem.d, problem.m, found, by_class))


def suits(problem: Problem) -> bool:
    """Return whether the loss is a hinge, the penalty a sum of norms, and the system small."""
    return factoring(problem) <= MOST_WORK


class InteriorPoint(CentralPath):
    """A point of the method. ``shown``: the weights to hand back, (rows, m); ``Un``: dual rows (n, m)."""

    def __init__(self, problem: Problem, W: np.ndarray, U: np.ndarray) -> None:
        self.problem = problem
        X = problem.design.matrix
        X = np.asarray(X.toarray() if problem.design.is_sparse else X, dtype=np.float64)
        d, self.margin = problem.d, float(problem.loss.margin)
        self.d, self.m, self.by_class = d, problem.m, problem.regulariser.blocks is not None
        off = ~np.eye(problem.m, dtype=bool)[problem.y] if problem.y.ndim == 1 else np.asarray(problem.y) == 0
        self.pairs = np.flatnonzero(off.any(axis=1) & ~off.all(axis=1))  # samples with labels of both kinds: a hinge
        X = np.column_stack([X, np.ones(problem.n)]) if problem.intercept else X
        self.X, self.n = X[self.pairs], self.pairs.size
        self.strength = problem.n * problem.lam
        weights = getattr(problem.terms[1], "weights", np.ones(problem.n))
        self.hinges = Margins(off[self.pairs], np.asarray(weights, dtype=np.float64)[self.pairs])
        found = norms_of(problem.regulariser, problem.d, problem.m)
        assert found is not None
        self.quadratic = self.margin * self.strength * found.quadratic
        top = problem.regulariser.dual_norm(np.ascontiguousarray((self.X.T @ self.hinges.duals())[:d]))
        self.hinges.shrink(min(max(self.strength / max(top, 1e-300), LEAST), 1.0))
        start = self.hinges.slack.product() / self.hinges.slack.count
        self.pieces = pieces_of(problem.regulariser, found, d, problem.m, self.strength, start)
        self.W = np.zeros((self.X.shape[1], problem.m))
        self.trials, self.size, self.stuck, self.short = 1, float("nan"), not self.n, 0
        self.shown, self.reached = W.astype(np.float64), self.total(W.astype(np.float64))
        self.Un = U.astype(np.float64)
        self.proved = self.dual_value(self.Un)
        gap = self.reached - problem.n * self.proved
        if self.n and gap <= CLOSE * self.reached:
            self._approach(gap)

    def _approach(self, gap: float) -> None:
        """Take a point near the given weights and dual rows: products are equal, their sum is ROOM times the gap."""
        d, U = self.problem.d, self.Un[self.pairs]
        self.W = self.shown / self.margin
        product = ROOM * gap / (self.margin * self.count)
        self.hinges.approach(self.X @ self.W, U, product)
        flat = self.W[:d].ravel()
        V = -(self.X.T @ U)[:d].ravel() - self.quadratic * flat
        size = float(np.abs(flat).max(initial=0.0)) or 1.0 / max(float(np.abs(self.X).max()), 1e-300)
        for piece in self.pieces:
            piece.approach(flat[piece.at], V[piece.at], size, product)

    def __deepcopy__(self, memo: Any) -> InteriorPoint:
        made = copy.copy(self)  # the problem and X never change, nor do arrays: steps make new ones
        made.hinges = copy.copy(self.hinges)
        made.hinges.slack = copy.copy(self.hinges.slack)
        made.pieces = [piece.copied() for piece in self.pieces]
        return made

    def total(self, W: np.ndarray) -> float:
        """nF at W."""
        d = self.problem.d
        value = self.problem.regulariser.value(np.ascontiguousarray(W[:d]))[0]
        return float(loss_sum(self._scores(W), *self.problem.terms)) + self.strength * float(value)

    def _scores(self, W: np.ndarray) -> np.ndarray:
        """Scores of all samples."""
        design = self.problem.design
        return double_scores(self.problem, W, np.empty((design.n, self.problem.m)))

    def dual_value(self, U: np.ndarray) -> float:
        """The value that dual rows prove for F."""

        def write(out: np.ndarray) -> bool:
            out[:] = U
            return True

        W = self.shown.astype(self.problem.dtype)
        return float(certify(self.problem, W, self._scores(self.shown), Workspace(self.problem), write).dual)

    @property
    def at_its_end(self) -> bool:
        """True if rounding leaves no step that makes progress."""
        near = self.reached - self.problem.n * self.proved <= NEAR * self.reached  # the first steps may be short, too
        return self.n > 0 and (self.stuck or (near and self.short >= MOST_SHORT))

    # ------------------------------------------------------------------------------------------------------- steps
    def step(self, patience: int) -> bool:
        """A step along the central path. Whether it was taken: rounding may leave none."""
        if self.stuck:
            return False
        before = copy.deepcopy(self)
        try:
            with np.errstate(all="ignore"):  # what is not finite ends the method below
                self.advance()
        except (LinAlgError, FloatingPointError, ValueError):
            self.__dict__.update(before.__dict__)
            self.stuck = True
            return False
        self.size = min(self.ahead, self.below)
        self.short = self.short + 1 if self.size < SHORT else 0
        self._show()
        return True

    # ------------------------------------------------------------------------------------------------- what is shown
    def _show(self) -> None:
        """Take the weights as those that are shown if their F is the smallest so far."""
        d, m, problem = self.problem.d, self.problem.m, self.problem
        U = np.zeros((problem.n, m))
        U[self.pairs] = self.hinges.duals()
        proved = self.dual_value(U)
        if proved > self.proved:
            self.Un, self.proved = U, proved
        W = self.margin * self.W
        best, room = self.total(W), UNNOTICED * self.margin * self.product()
        G, V = (self.X.T @ U[self.pairs])[:d], np.empty((d, m))
        unit = float(np.abs(W[:d]).max(initial=0.0)) / max(self.strength, 1e-300)
        for shift in SHIFTS if room <= UNNOTICED * NEAR * best else ():
            problem.regulariser.prox(np.ascontiguousarray(W[:d] - shift * unit * G), shift * unit * self.strength, V)
            zeroed = self._without(W, V == 0.0)
            found = self.total(zeroed)
            if found <= best + room:
                W, best = zeroed, found
                break
        if best < self.reached:
            self.shown, self.reached = W, best

    def _without(self, W: np.ndarray, zero: np.ndarray) -> np.ndarray:
        """W with zeros, and the other weights changed so that the margins stay."""
        out = W.copy()
        out[: len(zero)][zero] = 0.0
        for _ in range(MOVED):
            out += self.system.reached(self.X @ (W - out))
            out[: len(zero)][zero] = 0.0
        return out
