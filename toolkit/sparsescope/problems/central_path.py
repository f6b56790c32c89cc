"""Newton steps along a central path: hinges and norms, primal and dual at once.

    minimise Σ_i ω_i ξ_i + nλ Σ_v (α‖w_v‖₁ + β‖w_v‖₂ + γ‖w_v‖_∞ + ½κ‖w_v‖²)
    subject to  ξ_i ≥ 0,  z_ik − a_i ≤ ξ_i − μ for the labels k that sample i lacks,  z_ik ≥ a_i for those it has

with z = XW + 1bᵀ, and each norm below a variable (interior_cones.py). Mehrotra's predictor and corrector, the scaling
of Nesterov and Todd. The slacks and the bounds of the norms are eliminated; interior_systems.py solves for the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .interior_cones import Orthant, Piece
from .interior_systems import LOOSE, Curvature, system_of

STEP = 0.98  # share of the way to the boundary
FARTHER, WORTH = (1.5, 0.3), 0.05  # how far a recentred step is to go beside the last, and by how much it has to
ROUGH, REFINED = 2, 4  # corrections of a system's solution, of the predictor and of the step


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

    def approach(self, Z: np.ndarray, U: np.ndarray, product: float) -> None:
        """Take a central point near the scores Z and the dual rows U: all products are ``product``."""
        self.a = np.where(self.off, np.inf, Z).min(axis=1)
        self.xi = np.maximum(np.where(self.off, Z, -np.inf).max(axis=1) - self.a + 1.0, 0.0)
        held = self.images(Z, self.a, self.xi)
        held[:, :-1] += self.off
        z = np.maximum(self.sign * U, 0.0)
        last = np.maximum(self.cost - np.where(self.off, z, 0.0).sum(axis=1), 0.0)
        self.slack.s, self.slack.z = np.maximum(-held, 0.0), np.column_stack([z, last])
        self.slack.centre(1.0 / self.cost[:, None], product)

    def images(self, Z: np.ndarray, a: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The decrease of the slacks, (n, m + 1)."""
        return np.column_stack([self.sign * (Z - a[:, None]) - np.where(self.off, xi[:, None], 0.0), -xi])

    def completed(self, dz: np.ndarray, rx: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The step of all duals, for that of the duals of labels: those of ξ make up for it."""
        del aim  # of pairs that nothing else moves; here there are none
        return np.column_stack([dz, -rx - np.where(self.off, dz, 0.0).sum(axis=1)])

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


class CentralPath:
    """A point: W, the hinges with their slacks and duals, and the norms with theirs.

    X (n, rows) with a column of ones for an intercept; ``quadratic`` (d·m,); ``strength``: nλ; ``by_class``: whether no
    norm joins classes.
    """

    X: np.ndarray
    n: int
    d: int
    m: int
    W: np.ndarray
    hinges: Margins
    pieces: list[Piece]
    quadratic: np.ndarray
    strength: float
    by_class: bool
    recentred = 0  # times at most that a step's outliers are brought back to the path (Gondzio 1996)
    ahead = below = float("nan")  # shares of the last step that were taken, of the slacks and of the duals

    @property
    def count(self) -> int:
        """Number of complementary pairs."""
        return self.hinges.slack.count + sum(piece.cone.count for piece in self.pieces)

    def product(self) -> float:
        """The complementarity: Σ of slacks times duals."""
        return self.hinges.slack.product() + sum(piece.cone.product() for piece in self.pieces)

    def advance(self) -> None:
        """A step along the central path; ``LinAlgError`` or ``FloatingPointError`` where rounding leaves none."""
        d, hinges = self.d, self.hinges
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
        found, sizes = self._sized(dual, primal, 1.0 - sigma, aims)
        for _ in range(self.recentred):
            tried = [min(1.0, FARTHER[0] * size + FARTHER[1]) for size in sizes]
            pairs = zip(cones, aims, found[1], strict=True)
            aims = [c.recentred(aim, *move, *tried, sigma * centre) for c, aim, move in pairs]
            again, longer = self._sized(dual, primal, 1.0 - sigma, aims)
            if sum(longer) < sum(sizes) + WORTH:
                break
            found, sizes = again, longer
        ((dW, da, dxi, bounds), moves2), (ahead, below) = found, sizes
        if np.any(self.quadratic):
            ahead = below = min(ahead, below)
        self.W = self.W + ahead * dW
        hinges.a, hinges.xi = hinges.a + ahead * da, hinges.xi + ahead * dxi
        for piece, t in zip(self.pieces, bounds, strict=True):
            piece.t = piece.t + ahead * t
        for cone, (ds, dz) in zip(cones, moves2, strict=True):
            cone.s, cone.z = cone.s + ahead * ds, cone.z + below * dz
        self.ahead, self.below = ahead, below

    def _sized(self, dual: Any, primal: Any, share: float, aims: list[np.ndarray]) -> tuple[Any, list[float]]:
        """The step, and how far its slacks and its duals may go."""
        found = self._direction(dual, primal, share, aims, REFINED)
        cones: list[Any] = [self.hinges.slack, *(piece.cone for piece in self.pieces)]
        if not all(np.isfinite(v).all() for v in (found[0][0], *(part for move in found[1] for part in move))):
            raise FloatingPointError("the step is not finite")
        pairs = list(zip(cones, found[1], strict=True))
        ahead = min(1.0, STEP * min(cone.longest(ds, None) for cone, (ds, _) in pairs))
        return found, [ahead, min(1.0, STEP * min(cone.longest(None, dz) for cone, (_, dz) in pairs))]

    def _transposed(self, duals: list[np.ndarray]) -> np.ndarray:
        """The share of the duals of the norms in the gradient in W, flat."""
        out = np.zeros(self.d * self.m)
        for piece, z in zip(self.pieces, duals, strict=True):
            out[piece.at] += piece.weights_part(z)
        return out

    def _direction(self, dual: Any, primal: Any, share: float, aims: list[np.ndarray], corrections: int) -> Any:
        """The step ((dW, da, dξ, bounds of the norms), (ds, dz) of the cones) that takes away a share of the residuals
        and brings the complementary pairs to ``aims``."""
        d, m, hinges = self.d, self.m, self.hinges
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
        dz = hinges.completed(dz, rx, aims[0])
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
        unit = max(self.strength**2 / self.n, 1e-300)
        E = np.full(self.d * self.m, LOOSE * unit) + self.quadratic
        curvature = Curvature((self.d, self.m), self.by_class, E, self.pieces, self.n)
        self.hinges.weigh()
        self.system = system_of(self.X, curvature, self.hinges)
