"""A primal–dual interior point method for hinges with few samples, whatever norms the penalty is made of.

    minimise Σ_i ω_i ξ_i + nλ Σ_v (α‖w_v‖₁ + β‖w_v‖₂ + γ‖w_v‖_∞ + ½κ‖w_v‖²)
    subject to  ξ_i ≥ 0,  z_ik − a_i ≤ ξ_i − μ for the labels k that sample i lacks,  z_ik ≥ a_i for those it has

with z = XW + 1bᵀ, and each norm below a variable (interior_cones.py). Newton steps on the conditions of
optimality follow the central path, with Mehrotra's predictor and corrector and the scaling of Nesterov and Todd; some
twenty steps reach a relative gap of 1e-8, corners or not. The slacks and the bounds of the norms are eliminated;
interior_systems.py solves for dW and for the change of XᵀU's rows.

The points of the method have no zeros. Shown are the weights of the smallest F so far, zero where the prox of the
penalty at W − σXᵀU is, if F does not notice; and the dual rows that prove most.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from ...kernels.rows import loss_sum
from ...problems.certificate import Workspace, certify, double_scores
from ...problems.prediction import Problem
from .augmented import vectors_of
from .interior_cones import Corners, Lengths, Orthant, Piece, norms_of
from .interior_systems import LOOSE, Curvature, system_of, work

STEP = 0.98  # share of the way to the boundary
LEAST = 1e-3  # share of the duals at the start at least, where these are made small enough for the penalty
ROUGH, REFINED, MOVED = 2, 4, 2  # corrections of g = RᵀX·dW, of the predictor and of the step; and of margins that stay
SHIFTS = (1.0, 1e-2, 1e-4)  # σ of the prox that says which weights are zero, in units of max|W|/(nλ)
NEAR = 1e-2  # share of F that the complementarity has at most where zeros are looked for
UNNOTICED = 0.1  # share of the complementarity by which F may grow when weights become zero
MOST_WORK = 4.5e9  # multiplications of a step's factorisation: about .4 s of one processor
MOST_ENTRIES = 4_000_000  # of X, which is held as a full array


def suits(problem: Problem) -> bool:
    """Whether the loss is a hinge, the penalty a sum of norms, and the system small."""
    if problem.loss.smooth or not problem.loss.hinges or problem.n * problem.d > MOST_ENTRIES:
        return False
    found = norms_of(problem)
    if found is None:
        return False
    by_class = (found.length[0] is None and found.highest[0] is None) or problem.regulariser.blocks is not None
    return min(work(problem.n, problem.d, problem.m, 0 if by_class else problem.d)) <= MOST_WORK


class Margins:
    """The hinges: z = XW + 1bᵀ against the level a of the labels that a sample has, and its hinge ξ; the margin is 1.

    ``slack``: of every label and, in the last column, of ξ; a, ξ: (n,).
    """

    def __init__(self, off: np.ndarray, omega: np.ndarray) -> None:
        self.off, self.cost = off, omega
        self.sign = np.where(off, 1.0, -1.0)
        n, m = off.shape
        highs, lows = off.sum(axis=1, keepdims=True), (~off).sum(axis=1, keepdims=True)
        z = np.where(off, 0.5 / highs, 0.5 / lows) * omega[:, None]
        self.a, self.xi = np.full(n, -0.5), np.full(n, 2.0)
        s = np.full((n, m + 1), 0.5)
        s[:, m] = 2.0
        self.slack = Orthant(s, np.column_stack([z, 0.5 * omega]))

    def shrink(self, share: float) -> None:
        """Take a share of the duals that push scores apart; those of ξ make up for it."""
        z = self.slack.z
        z[:, :-1] *= share
        z[:, -1] = self.cost * (1.0 - 0.5 * share)

    def images(self, Z: np.ndarray, a: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The decrease of the slacks, (n, m + 1)."""
        return np.column_stack([self.sign * (Z - a[:, None]) - np.where(self.off, xi[:, None], 0.0), -xi])

    def gather(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The transpose: U (n, m), and what belongs to a and to ξ."""
        U = self.sign * z[:, :-1]
        return U, -U.sum(axis=1), -np.where(self.off, z[:, :-1], 0.0).sum(axis=1) - z[:, -1]

    def residual(self, Z: np.ndarray) -> np.ndarray:
        """The residual of the slacks."""
        held = self.images(Z, self.a, self.xi) + self.slack.s
        held[:, :-1] += self.off
        return held

    def duals(self) -> np.ndarray:
        """U, rows in the domain of ℓ*: rounding in the sums is taken away."""
        z = self.slack.z[:, :-1]
        above, below = np.where(self.off, z, 0.0), np.where(self.off, 0.0, z)
        above = above * np.minimum(1.0, self.cost / above.sum(axis=1))[:, None]
        return above - below * (above.sum(axis=1) / below.sum(axis=1))[:, None]

    def weigh(self) -> None:
        """Take the weights θ of the slacks apart: of labels off the set, in it, and of ξ."""
        self.theta, self.last = self.slack.theta[:, :-1], self.slack.theta[:, -1]
        self.highs, self.lows = np.where(self.off, self.theta, 0.0), np.where(self.off, 0.0, self.theta)
        self.sums = self.highs.sum(axis=1), self.lows.sum(axis=1)

    def factor(self) -> np.ndarray:
        """R (n, m, m): with the weighted means z̄ of the labels off and in the set,
        Σθ(z − z̄)² over both, and (z̄_off − z̄_in)² by the three weights in series."""
        high, low = self.sums
        series = 1.0 / (1.0 / high + 1.0 / low + 1.0 / self.last)
        share = self.highs / high[:, None], self.lows / low[:, None]
        root = np.sqrt(self.theta)
        same = self.off[:, :, None] == self.off[:, None, :]
        R = -np.where(same, (share[0] + share[1])[:, :, None] * root[:, None, :], 0.0)
        np.einsum("ikk->ik", R)[:] += root
        R += (np.sqrt(series)[:, None] * (share[0] - share[1]))[:, :, None] * np.sqrt(share[0])[:, None, :]
        return R

    def levels(self, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The solution of the 2 × 2 systems of a and ξ."""
        high, low = self.sums
        scale = high * low + high * self.last + low * self.last
        return ((high + self.last) * p - high * q) / scale, ((high + low) * q - high * p) / scale


class InteriorPoint:
    """A point of the method. ``shown``: the weights to hand back, (rows, m); ``Un``: dual rows (n, m)."""

    def __init__(self, problem: Problem, W: np.ndarray, U: np.ndarray) -> None:
        self.problem = problem
        X = problem.design.matrix
        X = np.asarray(X.toarray() if problem.design.is_sparse else X, dtype=np.float64)
        d, self.margin = problem.d, float(problem.loss.margin)
        off = ~np.eye(problem.m, dtype=bool)[problem.y] if problem.y.ndim == 1 else np.asarray(problem.y) == 0
        self.pairs = np.flatnonzero(off.any(axis=1) & ~off.all(axis=1))  # samples with labels of both kinds: a hinge
        X = np.column_stack([X, np.ones(problem.n)]) if problem.intercept else X
        self.X, self.n = X[self.pairs], self.pairs.size
        self.strength = problem.n * problem.lam
        weights = getattr(problem.terms[1], "weights", np.ones(problem.n))
        self.hinges = Margins(off[self.pairs], np.asarray(weights, dtype=np.float64)[self.pairs])
        found = norms_of(problem)
        assert found is not None
        vectors = vectors_of(problem) or [(np.arange(d * problem.m).reshape(-1, 1), np.arange(d))]
        self.quadratic = self.margin * self.strength * found.quadratic
        top = problem.regulariser.dual_norm(np.ascontiguousarray((self.X.T @ self.hinges.duals())[:d]))
        self.hinges.shrink(min(max(self.strength / max(top, 1e-300), LEAST), 1.0))
        start = self.hinges.slack.product() / self.hinges.slack.count
        self.pieces: list[Piece] = []
        if found.single is not None:
            self.pieces.append(Corners(np.arange(d * problem.m)[:, None], self.strength * found.single, start))
        for (at, numbers), high, length in zip(vectors, found.highest, found.length, strict=True):
            del numbers
            if high is not None:
                self.pieces.append(Corners(at, self.strength * high, start))
            if length is not None:
                self.pieces.append(Lengths(at, self.strength * length, start))
        self.W = np.zeros((self.X.shape[1], problem.m))
        self.trials, self.size, self.stuck = 1, float("nan"), not self.n
        self.shown, self.reached = W.astype(np.float64), self.total(W.astype(np.float64))
        self.Un = U.astype(np.float64)
        self.proved = self.dual_value(self.Un)

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
    def count(self) -> int:
        """Number of complementary pairs."""
        return self.hinges.slack.count + sum(piece.cone.count for piece in self.pieces)

    def product(self) -> float:
        """The complementarity: Σ of slacks times duals."""
        return self.hinges.slack.product() + sum(piece.cone.product() for piece in self.pieces)

    # ------------------------------------------------------------------------------------------------------- steps
    def step(self, patience: int) -> bool:
        """A step along the central path. Whether it was taken: rounding may leave none."""
        if self.stuck:
            return False
        before = copy.deepcopy(self)
        try:
            with np.errstate(all="ignore"):  # what is not finite ends the method below
                self._advance()
        except (LinAlgError, FloatingPointError, ValueError):
            self.__dict__.update(before.__dict__)
            self.stuck = True
            return False
        self._show()
        return True

    def _advance(self) -> None:
        d, hinges = self.problem.d, self.hinges
        Z, flat = self.X @ self.W, self.W[:d].ravel()
        U, ra, rx = hinges.gather(hinges.slack.z)
        G = self.X.T @ U
        G[:d] += (self.quadratic * flat + self._transposed([p.cone.z for p in self.pieces])).reshape(d, -1)
        dual = (G, ra, rx + hinges.cost, [piece.cost_residual() for piece in self.pieces])
        primal = (hinges.residual(Z), [piece.residual(flat) for piece in self.pieces])
        cones: list[Any] = [hinges.slack, *(piece.cone for piece in self.pieces)]
        for cone in cones:
            cone.scale()
        self._factor()
        centre = self.product() / self.count
        moves = self._direction(dual, primal, 1.0, [cone.predictor() for cone in cones], ROUGH)
        size = min(1.0, *(c.longest(*move) for c, move in zip(cones, moves[1], strict=True)))
        near = sum(c.ahead(size, *move) for c, move in zip(cones, moves[1], strict=True)) / self.count
        sigma = min(max(near / centre, 0.0), 1.0) ** 3
        aims = [c.corrector(*move, sigma * centre) for c, move in zip(cones, moves[1], strict=True)]
        (dW, da, dxi, bounds), moves2 = self._direction(dual, primal, 1.0 - sigma, aims, REFINED)
        if not all(np.isfinite(v).all() for v in (dW, *(part for move in moves2 for part in move))):
            raise FloatingPointError("the step is not finite")
        ahead = min(1.0, STEP * min(c.longest(m[0], None) for c, m in zip(cones, moves2, strict=True)))
        below = min(1.0, STEP * min(c.longest(None, m[1]) for c, m in zip(cones, moves2, strict=True)))
        if np.any(self.quadratic):
            ahead = below = min(ahead, below)
        self.W = self.W + ahead * dW
        hinges.a, hinges.xi = hinges.a + ahead * da, hinges.xi + ahead * dxi
        for piece, t in zip(self.pieces, bounds, strict=True):
            piece.t = piece.t + ahead * t
        for cone, (ds, dz) in zip(cones, moves2, strict=True):
            cone.s, cone.z = cone.s + ahead * ds, cone.z + below * dz
        self.size = min(ahead, below)

    def _transposed(self, duals: list[np.ndarray]) -> np.ndarray:
        """The share of the duals of the norms in the gradient in W, flat."""
        out = np.zeros(self.problem.d * self.problem.m)
        for piece, z in zip(self.pieces, duals, strict=True):
            out[piece.at] += piece.weights_part(z)
        return out

    def _direction(self, dual: Any, primal: Any, share: float, aims: list[np.ndarray], corrections: int) -> Any:
        """The step ((dW, da, dξ, bounds of the norms), (ds, dz) of the cones) that takes away a share of the residuals
        and brings the complementary pairs to where ``aims`` says."""
        d, m, hinges = self.problem.d, self.problem.m, self.hinges
        G, ra, rx = (-share * part for part in dual[:3])
        bt = [-share * part for part in dual[3]]
        bh = -share * primal[0] - aims[0]
        bp = [-share * part - aim for part, aim in zip(primal[1], aims[1:], strict=True)]
        held = hinges.slack.times(bh)
        U, ga, gx = hinges.gather(held)
        p, q = hinges.levels(ra + ga, rx + gx)
        const = -hinges.theta * (p[:, None] + np.where(hinges.off, q[:, None], 0.0)) - U
        right, rest = G - self.X.T @ const, np.zeros(d * m)
        for piece, t, b in zip(self.pieces, bt, bp, strict=True):
            rest[piece.at] += piece.reduce(t, b)
        right[:d] += rest.reshape(d, m)
        dW, dU = self.system.solve(right, corrections)
        dU = dU + const
        dZ, flat = self.X @ dW, dW[:d].ravel()
        above, below = (hinges.highs * dZ).sum(axis=1), (hinges.lows * dZ).sum(axis=1)
        da, dxi = hinges.levels(ra + ga + above + below, rx + gx + above)
        dz = hinges.sign * dU
        dz = np.column_stack([dz, -rx - np.where(hinges.off, dz, 0.0).sum(axis=1)])
        moves = [(-share * primal[0] - hinges.images(dZ, da, dxi), dz)]
        bounds, duals = [], []
        for piece, t, b in zip(self.pieces, bt, bp, strict=True):
            grown, moved = piece.expand(flat[piece.at], t, b)
            bounds.append(grown)
            duals.append(moved)
        off = (G[:d] - self.X[:, :d].T @ dU).ravel() - self.quadratic * flat - self._transposed(duals)
        stiff = np.zeros(d * m)
        for piece in self.pieces:
            stiff[piece.at] += piece.stiffness()
        for piece, t, moved, grown, r in zip(self.pieces, bt, duals, bounds, primal[1], strict=True):
            piece.absorb(moved, t, (off / stiff)[piece.at] * piece.stiffness())
            moves.append((-share * r - piece.images(flat[piece.at], grown), moved))
        return (dW, da, dxi, bounds), moves

    # ------------------------------------------------------------------------------------------------------ system
    def _factor(self) -> None:
        """B⁻¹ and the factors of the system."""
        problem = self.problem
        unit = max(self.strength**2 / self.n, 1e-300)
        E = np.full(problem.d * problem.m, LOOSE * unit) + self.quadratic
        curvature = Curvature((problem.d, problem.m), problem.regulariser.blocks is not None, E, self.pieces, self.n)
        self.hinges.weigh()
        self.system = system_of(self.X, curvature, self.hinges)

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
