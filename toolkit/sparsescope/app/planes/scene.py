"""Scene of the geometry page: the plane of its settings, the contours of F, and F*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...problems.prediction import Problem
from ...registry import NotAllowed
from ...runs.reference import reference
from .contours import Contours, levels
from .plane import EXACT, Line, Plane, antisymmetric, columns

MOST_SCORES = 3_000_000  # numbers in the scores; F is evaluated some thousand times
MOST_SECONDS = 20.0  # of the solver that finds F*
CURVES = 14
SHARE = 0.0015  # of the picture's width: the distance allowed between a contour and its chords
MARGIN = 1.4  # of the picture around what is in it
LEAST = 0.5  # half of the picture's width, in units of the plane
REST = -1  # as the second class: all others

FEATURES, WEIGHTS = "two features", "two weights"
PLANES = (FEATURES, WEIGHTS)
OPTIMUM, ZERO = "optimum", "zero"
HOLDS = (OPTIMUM, ZERO)

Settings = Mapping[str, Any]
Window = tuple[float, float, float]  # the middle, and half of the width


class Choice:
    """The features and classes of a plane, by number; what the settings leave open is chosen by the data.

    Parameters
    ----------
    full : the problem on all data
    settings : of the page
    """

    def __init__(self, full: Problem, settings: Settings) -> None:
        self.order = strongest(full)
        given = [int(settings["feature1"]), int(settings["feature2"])]
        for name, number in zip(("first", "second"), given, strict=True):
            if number >= full.d:
                raise NotAllowed(
                    f"the {name} feature is number {number}, and the data have {full.d}: 0 to {full.d - 1}"
                )
        free = [j for j in self.order if j not in given]
        if settings["plane"] == FEATURES and full.d < 2:
            raise NotAllowed("a plane of two features needs data with at least two")
        self.features = [j if j >= 0 else free.pop(0) if free else 0 for j in given]
        if settings["plane"] == FEATURES and self.features[0] == self.features[1]:
            raise NotAllowed("the two features are the same one; choose another second feature")
        names = full.class_names
        self.classes = [int(settings["class1"]), int(settings["class2"])]
        for name, number in zip(("first", "second"), self.classes, strict=True):
            if number >= len(names):
                raise NotAllowed(
                    f"the {name} class is number {number}, and there are {len(names)}: 0 to {len(names) - 1}"
                )

    def class_name(self, full: Problem, place: int) -> str:
        """Return the name of the first (0) or second (1) class."""
        k = self.classes[place]
        return "all others" if k == REST else str(full.class_names[k])


def strongest(problem: Problem, most: int = 60) -> list[int]:
    """Return the features with the largest gradients at W = 0, the largest first."""
    G = np.asarray(problem.gradient(np.zeros((problem.d, problem.m), dtype=problem.dtype)))
    return [int(j) for j in np.argsort(-np.linalg.norm(G, axis=1), kind="stable")[:most]]


def transform(settings: Settings, X: np.ndarray) -> np.ndarray:
    """Return A of the coordinates X·A: whitened, then the second one in other units, then turned."""
    A = np.eye(2)
    if settings["whiten"]:
        moments = X.T @ X / len(X)
        if np.linalg.cond(moments) > 1e12:
            raise NotAllowed("the two features are the same up to a factor and cannot be whitened; choose another one")
        A = np.linalg.inv(np.linalg.cholesky(moments)).T
    A = A @ np.diag([1.0, float(settings["stretch"])])
    angle = np.deg2rad(float(settings["turn"]))
    return A @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def two_features(full: Problem, choice: Choice, settings: Settings, A: np.ndarray | None) -> tuple[Problem, np.ndarray]:
    """Return the problem of two features and two classes, its columns times A; and A.

    Parameters
    ----------
    full : the problem on all data
    choice : features and classes
    settings : of the page
    A : ``None``: that of the settings
    """
    if full.multilabel:
        raise NotAllowed("these data have label sets; a plane of two features needs classes. Choose two weights")
    first, second = choice.classes
    if first in (second, REST):
        raise NotAllowed("the two classes are the same one; choose another second class")
    y = np.asarray(full.y)
    keep = np.flatnonzero((y == first) | ((y == second) if second != REST else True))
    X = full.design.plain().matrix[keep][:, choice.features]
    X = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
    A = transform(settings, X) if A is None else A
    problem = Problem(
        X @ A,
        np.where(y[keep] == first, 0, 1),
        loss=settings["loss"],
        penalty=settings["penalty"],
        lam_ratio=settings["lam_ratio"],
        class_names=[choice.class_name(full, 0), choice.class_name(full, 1)],
    )
    return problem, A


class Scene:
    """A plane with all that does not depend on the start.

    Attributes
    ----------
    plane, problem : F on the plane, and the whole problem
    unit : length of the coordinates in which the start is given
    A : of the features' coordinates; the weights of a point are A·w
    centre : where F is smallest on the plane
    exact : whether the optimum lies in the plane
    """

    def __init__(self, full: Problem, settings: Settings, A: np.ndarray | None = None) -> None:
        self.choice = Choice(full, settings)
        self.A = np.eye(2)
        self.full = full
        if settings["plane"] == FEATURES:
            self.problem, self.A = two_features(full, self.choice, settings, A)
        else:
            self.problem = full
            if full.n * full.m > MOST_SCORES:
                raise NotAllowed(
                    f"{full.n} samples × {full.m} scores are too many for contours (at most {MOST_SCORES} numbers): "
                    "choose two features, or other data"
                )
        self.reference = reference(self.problem, tol=1e-10, max_seconds=MOST_SECONDS, in_turns=True)
        W = self.reference.W
        self._optimum = np.asarray(W.todense() if sp.issparse(W) else W)
        self.plane = self._plane(settings)
        self.unit = self.plane.unit()
        a, b, away = self.plane.coordinates(self._optimum)
        self.exact = away <= EXACT * (float(np.linalg.norm(self._optimum)) or 1.0)
        self.centre = (a, b) if self.exact else self.plane.smallest(self.unit)

    def _plane(self, settings: Settings) -> Plane:
        if settings["plane"] == FEATURES:
            opposite = antisymmetric(self.problem)
            if opposite is not None:
                # With ℓ1 other splits of a difference between the two columns are as good: this one lies in the plane.
                self._optimum = 0.5 * (self._optimum - self._optimum[:, ::-1])
                return Plane(self.problem, opposite)
            return Plane(self.problem, columns(self.problem, (0, 0), (1, 0)), self._optimum)
        classes = [max(k, 0) if self.problem.m > 1 else 0 for k in self.choice.classes]
        weights = list(zip(self.choice.features, classes, strict=True))
        if weights[0] == weights[1]:
            raise NotAllowed("the two weights are the same one; choose another feature or another class")
        held = self._optimum if settings["hold"] == OPTIMUM else None
        return Plane(self.problem, columns(self.problem, *weights), held)

    def window(self, start: tuple[float, float]) -> Window:
        """Return a square part of the plane with zero, the optimum and a start in it."""
        corners = np.array([(0.0, 0.0), self.centre, start])
        low, high = corners.min(axis=0), corners.max(axis=0)
        half = max(0.5 * MARGIN * float((high - low).max()), LEAST * self.unit)
        middle = 0.5 * (low + high)
        return float(middle[0]), float(middle[1]), half

    def drawing(self, window: Window, going_on: Callable[[], bool]) -> dict[str, Any] | None:
        """Return contours, kinks and the ball of the penalty within a window; ``None`` if interrupted."""
        plane, centre, (x, y, half) = self.plane, self.centre, window
        away = float(np.hypot(abs(x - centre[0]) + half, abs(y - centre[1]) + half))  # the farthest corner
        kinks = plane.kinks(self.unit)
        contours = Contours(plane.value, centre, 1.1 * away, SHARE * half, kinks)
        curves = []
        for level in levels(plane.value, centre, away, CURVES):
            if not going_on():
                return None
            curves.append({"level": level, "points": contours.at(level)})
        ball = np.empty((0, 2))
        height = plane.penalty(*centre)
        if plane.penalty(0.0, 0.0) < height < np.inf:
            reach = 1.1 * (float(np.hypot(x, y)) + 1.5 * half)
            ball = Contours(plane.penalty, (0.0, 0.0), reach, SHARE * half, kinks).at(height)
        return {"contours": curves, "kinks": self._drawn_kinks(kinks, window), "ball": ball}

    def _drawn_kinks(self, kinks: list[Line], window: Window) -> list[list[float]]:
        """Return the ends [x1, y1, x2, y2] of the parts of lines on which there is a kink."""
        x, y, half = window
        found = []
        for (p, q), (u, v) in kinks:
            at = (x - p) * u + (y - q) * v  # the point of the line that is nearest to the middle
            for low, high in self.plane.segments(((p, q), (u, v)), at - 1.5 * half, at + 1.5 * half, self.unit):
                found.append([p + low * u, q + low * v, p + high * u, q + high * v])
        return found

    def names(self) -> list[str]:
        """Return what the two coordinates are."""
        full, choice = self.full, self.choice
        features = [full.feature_name(j) for j in choice.features]
        if self.problem is full:
            classes = [choice.class_name(full, k) if full.m > 1 else "" for k in (0, 1)]
            return [f"{feature} → {name}" if name else feature for feature, name in zip(features, classes, strict=True)]
        if np.allclose(self.A, np.diag(np.diag(self.A))):
            return features
        return ["first new coordinate", "second new coordinate"]

    def sentence(self) -> str:
        """Say whether the plane is all of the problem."""
        problem = self.problem
        if problem is self.full:
            rest = problem.d * problem.m - 2
            held = "at their optimal values" if np.any(self.plane.base) else "at zero"
            lower = "" if self.exact else " Its smallest F is above F* of the whole problem."
            return (
                f"A slice: of {problem.d} × {problem.m} weights, {rest} are held {held} in the contours.{lower}"
                " Solvers move all of them; their iterates are projected onto the plane."
            )
        classes = " against ".join(problem.class_names)
        if len(self.plane.directions[0].signs) > 1:
            return f"All of the problem: {problem.n} samples, {classes}; the two classes have opposite weights."
        if problem.m == 1:
            return f"All of the problem: {problem.n} samples, {classes}, one weight a feature."
        return (
            f"The weights of {problem.class_names[0]}, {problem.n} samples, {classes}; those of the other class are "
            "held at their optimal values in the contours."
        )

    def model(self, start: tuple[float, float], step_length: float) -> dict[str, Any] | None:
        """Return the quadratic model of the loss at a start: its minimum, one gradient step away, and its circle
        through the start; ``None`` for a loss that is not smooth."""
        if not self.problem.loss.smooth:
            return None
        G = np.asarray(self.problem.gradient(self.plane.weights(*start)))
        step = step_length / self.problem.full_constant("class-aware")
        a, b = (-step * direction.along(G) for direction in self.plane.directions)
        return {"centre": [start[0] + a, start[1] + b], "radius": float(np.hypot(a, b))}


def full_problem(data: Any, settings: Settings) -> Problem:
    """Return the problem on all data.

    Parameters
    ----------
    data : a data set, or (X, y)
    settings : of the page
    """
    X, y = data if isinstance(data, tuple) else (data, None)
    # of two features there is another problem, and this one only says which features are strong
    parts = {} if settings["plane"] == FEATURES else {name: settings[name] for name in ("loss", "penalty", "lam_ratio")}
    return Problem(X, **parts) if y is None else Problem(X, y, **parts)
