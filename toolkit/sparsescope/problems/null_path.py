"""λ_max of a hinge along a central path: the programme of null_programs.py with its norms as cones.

    nλ_max = max −Σ_i ω_i ξ_i  over Ω(W) ≤ 1,  z = XW + 1bᵀ,  z_ik − a_i ≤ ξ_i for the labels k that receive,
             z_ik ≥ a_i for those that send, and ξ_i ≥ 0 where the flow of sample i may be smaller than 1

is the direction along which the loss falls fastest from W = 0. Its multiplier of Ω(W) ≤ 1 is nλ_max, and those of the
scores are the subgradients U. Steps are those of central_path.py with strength nλ, and a second solution of each system
says how much λ moves so that Ω(W) becomes 1. Any W bounds λ_max from below and any U from above.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ..inputs.is_sparse import is_sparse
from .central_path import CentralPath, Margins
from .interior_cones import TINY, Orthant, pieces_of
from .interior_systems import cheapest, crossed, factored
from .penalty_norms import norms_of

MOST_STEPS, MOST_WORK = 40, 2.4e10  # multiplications of all factorisations: about 2 CPU s
MOST_WEIGHTS = 100_000  # entries of W: steps take a time that grows with these, too
FEWEST = 8  # steps for which that has to be enough
NONE = 1e-30  # weight of pairs that touch nothing
ABOVE = 1.5  # first λ, as a multiple of the Ω° of the first subgradients
REPEATS = 2  # of the system by which sums are made to vanish: the second takes rounding away


class Faces(Margins):
    """Hinges without margins on the labels that receive and send; ``free``: samples whose flow is exactly 1.

    Labels that do neither and the ξ of free samples have pairs that touch nothing, with slacks of 1.
    """

    def __init__(self, receive: np.ndarray, send: np.ndarray, loose: np.ndarray, omega: np.ndarray) -> None:
        n, m = receive.shape
        self.off, self.cost, self.free = receive, omega, ~loose
        self.sign = receive * 1.0 - send
        self.idle = np.column_stack([self.sign == 0.0, self.free])
        self.a, self.xi = np.full(n, -1.0), np.full(n, 2.0)
        counts = np.where(receive, receive.sum(axis=1, keepdims=True), send.sum(axis=1, keepdims=True))
        z = np.where(self.idle[:, :-1], 1.0 / m, 1.0 / np.maximum(counts, 1))
        z = np.column_stack([np.where(loose[:, None], 0.5 * z, z), np.where(loose, 0.5, 1.0 / m)])
        s = np.ones((n, m + 1))
        s[loose, m] = 2.0
        self.slack = Orthant(s, z * omega[:, None])

    def settled(self, U: np.ndarray, X: np.ndarray) -> np.ndarray | None:
        """Subgradients near U (n, m) whose sums XᵀU vanish, and none of which has changed its sign; ``None`` where
        this way leads to none.

        Every flow changes by a share of itself, so that the sum of squares of these changes is smallest.
        """
        held, (n, rows), m = copy.copy(self), X.shape, U.shape[1]
        flows = np.column_stack([np.maximum(np.abs(U), NONE), self.kept(U)])
        held.slack = Orthant(np.ones((n, m + 1)), flows)
        held.slack.scale()
        held.weigh()
        R = held.factor()
        Q = R @ R.transpose(0, 2, 1)
        H = crossed(X, Q)
        np.einsum("jkjl->jkl", H)[:] += np.einsum("jkjk->j", H)[:, None, None] / m  # rows of U sum to zero in any case
        try:
            system = factored(H.reshape(rows * m, rows * m))
        except LinAlgError:  # no flow may change: with two classes whose scores are equal all of them are 1
            return None
        for _ in range(REPEATS):
            P = system.solve((X.T @ U).ravel()).reshape(rows, m)
            U = U - np.einsum("ikl,il->ik", Q, X @ P)
        return U if (self.sign * U).min() >= 0.0 and self.kept(U).min() >= 0.0 else None

    def freedom(self) -> int:
        """Number of flows that may be chosen when the others follow from their sums."""
        ends = (self.sign > 0.0).sum() + (self.sign < 0.0).sum()
        return int(ends - 2 * len(self.sign) + (~self.free).sum())

    def kept(self, U: np.ndarray) -> np.ndarray:
        """The share of each loose sample that does not flow, (n,)."""
        return np.where(self.free, 0.0, self.cost - np.maximum(U, 0.0).sum(axis=1))

    def begin(self, U: np.ndarray) -> None:
        """Take the flows of U, which are not at the edge, as duals."""
        z = self.slack.z
        z[:, :-1] = np.where(self.idle[:, :-1], z[:, :-1], np.abs(U))
        z[:, -1] = np.where(self.free, z[:, -1], self.kept(U))

    def images(self, Z: np.ndarray, a: np.ndarray, xi: np.ndarray) -> np.ndarray:
        held = self.sign * (Z - a[:, None]) - np.where(self.off, xi[:, None], 0.0)
        return np.column_stack([held, np.where(self.free, 0.0, -xi)])

    def completed(self, dz: np.ndarray, rx: np.ndarray, aim: np.ndarray) -> np.ndarray:
        return np.where(self.idle, self.slack.theta * aim, super().completed(dz, rx, aim))

    def gather(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return super().gather(np.where(self.idle, 0.0, z))

    def residual(self, Z: np.ndarray) -> np.ndarray:
        return self.images(Z, self.a, self.xi) + self.slack.s - self.idle

    def duals(self) -> np.ndarray:
        z = self.slack.z[:, :-1]
        above, below = np.where(self.sign > 0.0, z, 0.0), np.where(self.sign < 0.0, z, 0.0)
        share = self.cost / above.sum(axis=1)
        above = above * np.where(self.free, share, np.minimum(1.0, share))[:, None]
        return above - below * (above.sum(axis=1) / below.sum(axis=1))[:, None]

    def weigh(self) -> None:
        self.theta = np.where(self.idle[:, :-1], NONE, self.slack.theta[:, :-1])
        self.last = np.where(self.free, 0.0, self.slack.theta[:, -1])
        self.highs = np.where(self.sign > 0.0, self.theta, 0.0)
        self.lows = np.where(self.sign < 0.0, self.theta, 0.0)
        self.sums = self.highs.sum(axis=1), self.lows.sum(axis=1)

    def factor(self) -> np.ndarray:
        R = super().factor()
        R[np.broadcast_to(self.idle[:, :-1, None], R.shape)] = 0.0
        return R

    def fall(self, Z: np.ndarray) -> float:
        """The rate at which the sum of the losses falls along scores Z."""
        top = np.where(self.sign > 0.0, Z, -np.inf).max(axis=1)
        change = top - np.where(self.sign < 0.0, Z, np.inf).min(axis=1)
        return -float(self.cost @ np.where(self.free, change, np.maximum(change, 0.0)))


class NullPath(CentralPath):
    """A point of the method; λ and W in units of a first bound of λ_max."""

    hinges: Faces
    recentred = 3

    def __init__(self, problem: Any, regulariser: Any, found: Any, faces: tuple[np.ndarray, ...], unit: float) -> None:
        receive, send, loose = faces
        X = problem.design.matrix
        X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64) / unit
        self.d, self.m, self.by_class = problem.d, problem.m, regulariser.blocks is not None
        omega = np.ones(problem.n) if problem.sample_weight is None else problem.sample_weight
        self.pairs = np.flatnonzero(receive.any(axis=1) & (omega > 0.0))
        self.X = (np.column_stack([X, np.ones(problem.n)]) if problem.intercept else X)[self.pairs]
        self.n, self.count_all, self.unit = self.pairs.size, problem.n, unit
        omega = omega[self.pairs].astype(np.float64)
        self.hinges = Faces(receive[self.pairs], send[self.pairs], loose[self.pairs], omega)
        self.strength, self.quadratic = float(problem.n), np.zeros(self.d * self.m)
        self.W = np.zeros((self.X.shape[1], self.m))
        self.pieces = pieces_of(regulariser, found, self.d, self.m, 1.0, 1.0)
        self.costs = [piece.cost for piece in self.pieces]
        self._begin(regulariser)
        self.second: Any = None
        self.moved = 0.0

    def _begin(self, regulariser: Any) -> None:
        """Begin where Ω(W) ≤ 1 has its bound, and with duals that hold U at a λ somewhat above its Ω°(XᵀU)."""
        U = self.hinges.duals()
        if self.X.shape[1] > self.d and (level := self.hinges.settled(U, self.X[:, self.d :])) is not None:
            U = level
            self.hinges.begin(U)
        G = -self.X[:, : self.d].T @ U
        self.strength = ABOVE * max(float(regulariser.zero_threshold(G)), TINY)
        size, rest = self._spent([piece.t for piece in self.pieces]), G.ravel()
        for piece, cost in zip(self.pieces, self.costs, strict=True):
            piece.cost = self.strength * cost
            piece.t, piece.cone.s = piece.t / size, piece.cone.s / size
            rest[piece.at] -= piece.hold(rest[piece.at])

    def advance(self) -> None:
        self.second = None
        super().advance()
        self.strength += self.below * self.moved
        for piece, cost in zip(self.pieces, self.costs, strict=True):
            piece.cost = self.strength * cost

    def _direction(self, dual: Any, primal: Any, share: float, aims: list[np.ndarray], corrections: int) -> Any:
        """The step of the system, and as much of that of a growing λ as makes Ω(W) = 1."""
        first = super()._direction(dual, primal, share, aims, corrections)
        if self.second is None:
            none = [np.zeros_like(part) for part in dual[:3]]
            still = np.zeros_like(primal[0]), [np.zeros_like(part) for part in primal[1]]
            at_rest = [np.zeros_like(aim) for aim in aims]
            self.second = super()._direction((*none, self.costs), still, 1.0, at_rest, corrections)
        missing = 1.0 - self._spent([piece.t for piece in self.pieces])
        self.moved = (share * missing - self._spent(first[0][3])) / self._spent(self.second[0][3])

        def joined(one: Any, two: Any) -> Any:
            if isinstance(one, np.ndarray):
                return one + self.moved * two
            return type(one)(joined(*pair) for pair in zip(one, two, strict=True))

        return joined(first, self.second)

    def _spent(self, bounds: list[np.ndarray]) -> float:
        return sum(float(cost @ t) for cost, t in zip(self.costs, bounds, strict=True))

    def lower(self) -> float:
        """The bound of λ_max from below that W proves."""
        flat = self.W[: self.d].ravel()
        size = self._spent([piece.norms(flat[piece.at]) for piece in self.pieces])
        return self.unit * self.hinges.fall(self.X @ self.W) / (self.count_all * size) if size > 0.0 else 0.0

    def subgradients(self, vanish: bool = False) -> np.ndarray | None:
        """U (n, m), with an intercept of columns that sum to zero; ``vanish``: with XᵀU = 0 if such are near. ``None``
        where none are near."""
        own = self.hinges.duals()
        if vanish and self.X.shape[1] * self.m <= self.hinges.freedom():
            none = self.hinges.settled(own, self.X)
            own, vanish = (own, False) if none is None else (none, True)
        if not vanish and self.X.shape[1] > self.d:
            level = self.hinges.settled(own, self.X[:, self.d :])
            if level is None:
                return None
            own = level
        U = np.zeros((self.count_all, self.m))
        U[self.pairs] = own
        return U


def between(
    problem: Any, regulariser: Any, faces: Any, upper: float, close: float, nothing: float
) -> tuple[float, float] | None:
    """Bounds of λ_max from below and above, at most a share ``close`` apart if rounding lets them, or both at most
    ``nothing``; ``None`` where the penalty is no sum of norms or a step takes too long.

    An infinite share asks only whether λ_max is more than nothing.
    """
    found = norms_of(regulariser, problem.d, problem.m)
    if found is None or problem.d * problem.m > MOST_WEIGHTS:
        return None
    steps = int(MOST_WORK / cheapest(problem.n, problem.d, problem.m, found, regulariser.blocks is not None))
    if steps < FEWEST:
        return None
    with np.errstate(all="ignore"):  # what is not finite ends it
        path = NullPath(problem, regulariser, found, faces, upper)
        return _followed(path, problem, regulariser, upper, (close, nothing), min(steps, MOST_STEPS))


def _followed(
    path: NullPath, problem: Any, regulariser: Any, upper: float, goals: tuple[float, float], steps: int
) -> tuple[float, float]:
    """The lower and the upper bound after at most ``steps`` steps."""
    (close, nothing), lower = goals, 0.0
    for k in range(steps):
        try:
            path.advance()
        except (LinAlgError, FloatingPointError, ValueError):
            break
        lower = max(lower, path.lower())
        if lower > nothing and close == np.inf:
            break
        U = path.subgradients(vanish=k > 1 and lower <= nothing)
        if U is not None:
            G = np.ascontiguousarray((problem.design.matrix.T @ U).astype(np.float64)) / problem.n
            upper = min(upper, float(regulariser.zero_threshold(G)))
        if upper <= nothing or (close < np.inf and upper - lower <= close * upper):
            break
    return lower, upper
