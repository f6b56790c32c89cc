"""The iterates of several solvers from one start, as points of a plane."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...runs.run import Run
from ...solvers.base import Solver
from .plane import EXACT, Plane

ONLY_AT_THE_START = 2**62  # a certificate costs more than an iteration here, and F* is known
LEVELS = (1e-2, 1e-4, 1e-6)


class Path:
    """One solver on its way.

    Attributes
    ----------
    name : of the solver
    points : coordinates of the iterates, the start first
    objective : F of the iterates themselves, not of their projections
    apart : largest distance of an iterate from the plane, as a share of its length
    message : why it ended early; empty otherwise
    """

    def __init__(self, name: str, solver: Solver, plane: Plane, start: np.ndarray) -> None:
        self.name, self._plane = name, plane
        self.points: list[tuple[float, float]] = []
        self.objective: list[float] = []
        self.apart = 0.0
        self.message = ""
        self._run = Run(plane.problem, solver, W=start, certify_every=ONLY_AT_THE_START)

    def advance(self) -> None:
        """Make an iteration; the first time, evaluate the start."""
        try:
            event = self._run.advance()
        except FloatingPointError as error:
            self.message = str(error)
            return
        assert self._run.state is not None
        W = self._run.state.weights()
        a, b, away = self._plane.coordinates(W)
        if not np.isfinite((a, b, event.objective)).all():
            self.message = "the iterates are no numbers any more"
            return
        self.points.append((a, b))
        self.objective.append(float(event.objective))
        length = float(np.linalg.norm(W.data if hasattr(W, "todense") else W))
        self.apart = max(self.apart, away / length if length else 0.0)

    @property
    def projected(self) -> bool:
        """True if iterates have left the plane, so that the picture shows their projections."""
        return self.apart > EXACT

    def reached(self, best: float, lower: float) -> list[int | None]:
        """Return the first iteration within each level of the optimum; ``None`` where there is none, or where F* is
        not known well enough to say."""
        scale = abs(best) or 1.0
        found: list[int | None] = []
        for level in LEVELS:
            known = best - lower <= 0.1 * level * scale
            hits = [k for k, value in enumerate(self.objective) if value - best <= level * scale]
            found.append(hits[0] if known and hits else None)
        return found


class Paths:
    """Several solvers, one iteration each in turns.

    Parameters
    ----------
    solvers : name -> solver
    plane : the plane and the problem
    start : coordinates of the start
    iterations : that each makes at most
    """

    def __init__(
        self, solvers: Mapping[str, Solver], plane: Plane, start: tuple[float, float], iterations: int
    ) -> None:
        W = plane.weights(*start)
        self.paths = [Path(name, solver, plane, W) for name, solver in solvers.items()]
        self._iterations = iterations

    @property
    def done(self) -> bool:
        """True if no iteration is left."""
        return all(self._ended(path) for path in self.paths)

    def _ended(self, path: Path) -> bool:
        return bool(path.message) or len(path.points) > self._iterations

    def advance(self, seconds: float) -> None:
        """Make iterations for about so long (wall time: somebody is waiting)."""
        until = time.perf_counter() + seconds
        while not self.done:
            for path in self.paths:
                if not self._ended(path):
                    path.advance()
            if time.perf_counter() > until:
                return

    def facts(self, best: float, lower: float) -> list[dict[str, Any]]:
        """Return what there is to know of each path, without its points."""
        return [
            {
                "name": path.name,
                "iterations": max(len(path.points) - 1, 0),
                "projected": path.projected,
                "message": path.message,
                "reached": path.reached(best, lower),
            }
            for path in self.paths
        ]
