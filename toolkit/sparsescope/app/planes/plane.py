"""The objective on a plane of weights, W = base + a·D₁ + b·D₂.

The plane holds all of the problem where the iterates of every solver stay in it, as those of two features and two
classes do. Otherwise it is a slice: F on the plane is exact, and iterates are projected onto it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its optimize, loaded at its first use: every server has this page

from ...kernels.rows import loss_sum
from ...problems.prediction import Problem

EXACT = 1e-6  # of the length of W: a point nearer to the plane than this lies in it
GROWTH = 2.0  # by which the loss grows over its value at zero within the length that is the unit of a plane
FAR = 1e6
PLACES = 41  # of a line at which kinks are looked for
BISECTIONS = 14

Line = tuple[tuple[float, float], tuple[float, float]]  # a point and a direction of length 1


@dataclass(frozen=True)
class Direction:
    """A direction among the weights: ±1 at some entries of one row.

    Attributes
    ----------
    row : feature
    signs : class -> 1 or −1
    """

    row: int
    signs: tuple[tuple[int, float], ...]

    @property
    def size(self) -> float:
        """The squared length."""
        return float(len(self.signs))

    def along(self, W: np.ndarray) -> float:
        """Return the coordinate of a point along this direction."""
        return float(sum(sign * W[self.row, k] for k, sign in self.signs)) / self.size

    def add(self, W: np.ndarray, amount: float) -> None:
        """Move W along this direction, in place."""
        for k, sign in self.signs:
            W[self.row, k] += sign * amount


class Plane:
    """A plane of weights and F on it. One thread at a time may use it.

    Parameters
    ----------
    problem : the problem, without intercept
    directions : two directions with no entry in common
    base : weights (d, m) where both coordinates are 0; ``None``: all zero
    """

    def __init__(
        self, problem: Problem, directions: tuple[Direction, Direction], base: np.ndarray | None = None
    ) -> None:
        self.problem, self.directions = problem, directions
        self.base = np.zeros((problem.d, problem.m), dtype=problem.dtype) if base is None else base.copy()
        for direction in directions:
            direction.add(self.base, -direction.along(self.base))
        self._Z0 = self._scores(self.base)
        self._Z = np.empty_like(self._Z0)
        self._steps = []
        for direction in directions:
            W = np.zeros_like(self.base)
            direction.add(W, 1.0)
            self._steps.append(self._scores(W))

    def _scores(self, W: np.ndarray) -> np.ndarray:
        return self.problem.design.matmul(W, np.empty((self.problem.n, self.problem.m), dtype=self.problem.dtype))

    # --------------------------------------------------------------------------------------------------------- points
    def weights(self, a: float, b: float) -> np.ndarray:
        """Return W at a point of the plane, (d, m)."""
        W = self.base.copy()
        for direction, amount in zip(self.directions, (a, b), strict=True):
            direction.add(W, amount)
        return W

    def coordinates(self, W: Any) -> tuple[float, float, float]:
        """Return the projection of weights onto the plane, and their distance from it."""
        W = np.asarray(W.todense() if hasattr(W, "todense") else W)
        a, b = (direction.along(W) for direction in self.directions)
        return a, b, float(np.linalg.norm(W - self.weights(a, b)))

    # --------------------------------------------------------------------------------------------------------- values
    def loss(self, a: float, b: float) -> float:
        """Return the mean loss."""
        Z = np.multiply(self._steps[0], a, out=self._Z)
        Z += self._Z0
        Z += b * self._steps[1]
        return float(loss_sum(Z, *self.problem.terms)) / self.problem.n

    def penalty(self, a: float, b: float) -> float:
        """Return Ω."""
        return float(self.problem.regulariser.value(self.weights(a, b))[0])

    def value(self, a: float, b: float) -> float:
        """Return F."""
        return self.loss(a, b) + self.problem.lam * self.penalty(a, b)

    # --------------------------------------------------------------------------------------------------------- lengths
    def unit(self) -> float:
        """Return a length that fits the plane and does not depend on λ: where the loss has grown to twice its value at
        the middle, in the direction of the axes in which it grows fastest."""
        start = self.loss(0.0, 0.0)
        found = []
        for way in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
            length = 1e-3
            while self.loss(way[0] * length, way[1] * length) < GROWTH * start and length < FAR:
                length *= 1.25
            if length < FAR:
                found.append(length)
        return min(found, default=1.0)

    def smallest(self, unit: float) -> tuple[float, float]:
        """Return where F is smallest on the plane: the minimum over b of the minimum over a, both convex."""

        def best(b: float) -> tuple[float, float]:
            found = scipy.optimize.minimize_scalar(lambda a: self.value(a, b), bracket=(-unit, unit), tol=1e-10)
            return float(found.fun), float(found.x)

        b = float(scipy.optimize.minimize_scalar(lambda b: best(b)[0], bracket=(-unit, unit), tol=1e-9).x)
        a = best(b)[1]
        snapped = [(x, y) for x in (a, 0.0) for y in (b, 0.0)]  # at a kink the minimum is at zero exactly
        return min(snapped, key=lambda point: self.value(*point) - 1e-12 * ((point[0] == 0.0) + (point[1] == 0.0)))

    # ---------------------------------------------------------------------------------------------------------- kinks
    def kinks(self, unit: float) -> list[Line]:
        """Return the lines of the plane on which Ω is not smooth, each as a point and a direction of length 1.

        Sums of norms of rows have their kinks where an entry is zero or as large as another one; which of these lines
        are kinks is measured, by the change of slope across them.
        """
        return [line for line in self._candidates() if self._bends(line, unit)]

    def _candidates(self) -> list[Line]:
        first, second = self.directions
        lines = []
        for direction, way, at in ((first, (0.0, 1.0), (1.0, 0.0)), (second, (1.0, 0.0), (0.0, 1.0))):
            own = {k for k, _ in direction.signs}
            taken = own | ({k for k, _ in second.signs + first.signs} if first.row == second.row else set())
            others = {abs(float(x)) for k, x in enumerate(self.base[direction.row]) if k not in taken}
            for size in sorted({0.0, *others, *(-x for x in others)}):
                lines.append(((at[0] * size, at[1] * size), way))
        if first.row == second.row:
            half = float(np.sqrt(0.5))
            lines += [((0.0, 0.0), (half, half)), ((0.0, 0.0), (half, -half))]
        return lines

    def _bends(self, line: Line, unit: float) -> bool:
        return any(self._bend(line, t * unit, unit) for t in (-7.3, -1.3, -0.6, -0.07, 0.08, 0.7, 1.1, 6.9))

    def _bend(self, line: Line, t: float, unit: float) -> bool:
        """Return whether the slope of Ω across a line changes at its point t: the change stays as the step goes to
        zero, while it goes to zero with the step where Ω is smooth."""
        (x, y), (u, v) = line
        here, across = np.array([x + t * u, y + t * v]), np.array([-v, u])
        found = []
        for step in (1e-4 * unit, 1e-4 * unit / 8.0):
            values = [self.penalty(*point) for point in (here - step * across, here, here + step * across)]
            found.append((values[0] + values[2] - 2.0 * values[1]) / step)
        wide, near = found
        return bool(np.isfinite((wide, near)).all() and near > 0.5 * wide and near > 1e-3)

    def segments(self, line: Line, low: float, high: float, unit: float) -> list[tuple[float, float]]:
        """Return the parts of a line on which there is a kink, as pairs of its parameter."""
        places = np.linspace(low, high, PLACES)
        bends = [self._bend(line, float(t), unit) for t in places]

        def border(k: int) -> float:
            inside, outside = (places[k], places[k + 1]) if bends[k] else (places[k + 1], places[k])
            for _ in range(BISECTIONS):
                middle = 0.5 * (inside + outside)
                inside, outside = (middle, outside) if self._bend(line, float(middle), unit) else (inside, middle)
            return float(inside)

        edges = [border(k) for k in range(PLACES - 1) if bends[k] != bends[k + 1]]
        edges = [*([low] if bends[0] else []), *edges, *([high] if bends[-1] else [])]
        return list(zip(edges[::2], edges[1::2], strict=True))


def antisymmetric(problem: Problem) -> tuple[Direction, Direction] | None:
    """Return the directions of two features in which two classes have opposite weights, if the gradient stays there."""
    if problem.m != 2:
        return None
    plane = Direction(0, ((0, 1.0), (1, -1.0))), Direction(1, ((0, 1.0), (1, -1.0)))
    W = np.zeros((problem.d, 2))
    for direction, amount in zip(plane, (0.3, -0.2), strict=True):
        direction.add(W, amount)
    G = np.asarray(problem.gradient(W))
    return plane if np.allclose(G[:, 0], -G[:, 1], atol=1e-9 * (np.abs(G).max() or 1.0)) else None


def columns(problem: Problem, *weights: tuple[int, int]) -> tuple[Direction, Direction]:
    """Return the directions of single weights, (row, class) each."""
    made = tuple(Direction(j, ((k, 1.0),)) for j, k in weights)
    return made[0], made[1]
