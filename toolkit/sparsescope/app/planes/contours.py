"""Contours of a convex function on the plane: every vertex lies on the contour, kinks are vertices, and between two
vertices the contour is nowhere farther from the chord than a given distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # its optimize, loaded at its first use: every server has this page

from .plane import Line

Value = Callable[[float, float], float]

RAYS = 48
DEEPEST = 7  # halvings of an angle: 48·2⁷ rays in a circle
TIGHT = 1e-10


class Contours:
    """Contours around a point where the function is smallest.

    Parameters
    ----------
    value : convex function of two numbers
    centre : where it is smallest
    reach : contours are followed up to this distance
    tolerance : between chord and contour
    lines : where the function has kinks, as points and directions
    """

    def __init__(
        self, value: Value, centre: tuple[float, float], reach: float, tolerance: float, lines: Sequence[Line] = ()
    ) -> None:
        self._value, self._centre, self._reach, self._tolerance = value, centre, reach, tolerance
        self._lines = [(line, self._lowest(line)) for line in lines]

    def at(self, level: float) -> np.ndarray:
        """Return the closed polygon of the points where the function is ``level``, (k, 2); empty below the minimum.

        Where the contour leaves the reach its vertices lie on the circle of that radius.
        """
        if not self._value(*self._centre) < level:
            return np.empty((0, 2))
        angles = np.linspace(-math.pi, math.pi, RAYS, endpoint=False)
        points = [(float(angle), self._radius(float(angle), level)) for angle in angles]
        points += self._kinks(level)
        points = _distinct(sorted(points))
        refined: list[tuple[float, float]] = []
        for k, point in enumerate(points):
            following = points[(k + 1) % len(points)]
            if k + 1 == len(points):
                following = (following[0] + 2.0 * math.pi, following[1])
            refined.append(point)
            refined += self._between(point, following, level, DEEPEST)
        return np.array([self._place(*point) for point in refined])

    # ---------------------------------------------------------------------------------------------------------- inner
    def _place(self, angle: float, radius: float) -> tuple[float, float]:
        return self._centre[0] + radius * math.cos(angle), self._centre[1] + radius * math.sin(angle)

    def _radius(self, angle: float, level: float) -> float:
        def above(radius: float) -> float:
            return self._value(*self._place(angle, radius)) - level

        high = self._reach / 64.0
        low = 0.0
        while above(high) < 0.0:
            low, high = high, 2.0 * high
            if low >= self._reach:
                return self._reach
        return float(scipy.optimize.brentq(above, low, high, xtol=TIGHT * self._reach))

    def _between(
        self, left: tuple[float, float], right: tuple[float, float], level: float, depth: int
    ) -> list[tuple[float, float]]:
        """Return the vertices that are needed between two."""
        if depth == 0 or (left[1] >= self._reach and right[1] >= self._reach):
            return []
        x1, y1 = self._place(*left)
        x2, y2 = self._place(*right)
        size = math.hypot(x2 - x1, y2 - y1)
        if size < 2.0 * self._tolerance:
            return []
        angle = 0.5 * (left[0] + right[0])
        middle = angle, self._radius(angle, level)
        x, y = self._place(*middle)
        if abs((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) / size < self._tolerance:
            return []  # a convex set: the contour is at most as far again from its two chords
        return [
            *self._between(left, middle, level, depth - 1),
            middle,
            *self._between(middle, right, level, depth - 1),
        ]

    def _lowest(self, line: Line) -> float:
        (x, y), (u, v) = line
        found = scipy.optimize.minimize_scalar(
            lambda t: self._value(x + t * u, y + t * v), bounds=(-self._reach, self._reach), method="bounded"
        )
        return float(found.x)

    def _kinks(self, level: float) -> list[tuple[float, float]]:
        """Return where the contour crosses the lines of kinks, exactly."""
        found = []
        for ((x, y), (u, v)), lowest in self._lines:

            def above(t: float, x: float = x, y: float = y, u: float = u, v: float = v) -> float:
                return self._value(x + t * u, y + t * v) - level

            for end in (-self._reach, self._reach):
                if above(lowest) < 0.0 < above(end):
                    t = float(scipy.optimize.brentq(above, lowest, end, xtol=TIGHT * self._reach))
                    across, up = x + t * u - self._centre[0], y + t * v - self._centre[1]
                    if math.hypot(across, up) < self._reach:
                        found.append((math.atan2(up, across), math.hypot(across, up)))
        return found


def _distinct(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    kept = [points[0]]
    for point in points[1:]:
        if point[0] - kept[-1][0] > 1e-9:
            kept.append(point)
    return kept


def levels(value: Value, centre: tuple[float, float], distance: float, count: int) -> list[float]:
    """Return levels whose contours are about evenly spaced, the last one about ``distance`` from the centre."""
    low = value(*centre)
    ring = [
        value(centre[0] + distance * math.cos(angle), centre[1] + distance * math.sin(angle))
        for angle in np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False)
    ]
    top = float(np.median(ring))
    return [low + (top - low) * ((k + 1) / count) ** 2 for k in range(count)] if top > low else []
