"""Points and weights of fits that are watched, kept for those who look at them from another thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from ..runs.event import Event


@dataclass
class Fit:
    """One fit: its names, a point an iteration, and the newest weights."""

    names: tuple[list[str], list[str]]  # of the features and the classes
    facts: str
    points: list[tuple[float, float, float, float]] = field(default_factory=list)  # iteration, F, D, relative gap
    W: np.ndarray | None = None
    rows: int = 0
    running: bool = True


class Fits:
    """Fits as a page reads them; the thread that fits adds events, those of the pages read.

    Examples
    --------
    >>> from sparsescope.estimators.fits import Fits
    >>> fits = Fits()
    >>> fits.begin()
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> result = ss.solve(problem, callbacks=[fits.see])
    >>> len(fits), fits[0].points[-1][0] == result.iterations
    (1, True)
    """

    title = "what is watched"  # for a widget's text

    def __init__(self) -> None:
        self._fits: list[Fit] = []
        self._lock = threading.Lock()
        self._fresh = True

    def __len__(self) -> int:
        return len(self._fits)

    def __getitem__(self, place: int) -> Fit:
        return self._fits[place]

    def begin(self) -> None:
        """The next event belongs to another fit."""
        self._fresh = True

    def end(self) -> None:
        """The newest fit is over."""
        with self._lock:
            if self._fits:
                self._fits[-1].running = False

    def see(self, event: Event) -> None:
        """Keep an event: a callback of a run."""
        problem, state = event.problem, event.state
        W = np.array(state.weights())
        point = (float(event.iteration), float(event.objective), float(event.dual), float(event.relative_gap))
        with self._lock:
            if self._fresh:
                features = problem.feature_names or [f"feature {j}" for j in range(problem.d)]
                facts = f"{problem.n} × {problem.d}, {problem.m} classes, λ = {event.lam:.3g}"
                self._fits.append(Fit((list(map(str, features)), list(map(str, problem.class_names))), facts))
                self._fresh = False
            fit = self._fits[-1]
            fit.points.append(point)
            fit.W, fit.rows = W, int(event.nonzero_rows)

    def read(self, place: int, start: int) -> tuple[Fit, list[tuple[float, float, float, float]]]:
        """Return a fit and its points from a number on."""
        with self._lock:
            fit = self._fits[place]
            return fit, fit.points[start:]
