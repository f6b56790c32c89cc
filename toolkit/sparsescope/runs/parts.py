"""Paths on parts of the samples: what a study does behind its path, here or in other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.covariance import CovarianceProblem
from ..problems.prediction import Problem
from .paths import PathRun
from .processes import Helpers
from .selections import half

PART_TOL = 1e-3
PART_ITERATIONS = 300  # at one λ of a path on a part of the samples
LONG = 2.0  # seconds from which work is worth another process: it starts in about one
WAIT = 0.1  # seconds for which an answer of another process is waited for at a time

Aside = Callable[[], AbstractContextManager[Any]]
Found = tuple[int, bool, Any]


class SampleParts:
    """Paths of a problem of classes or label sets on folds and halves of its samples.

    Parameters
    ----------
    problem
        the problem.
    labels
        as it was given them.
    lams
        λ of the paths.
    fold
        the fold of each sample, (n,).
    measure
        the column that is measured on samples held out.
    seed
        of the halves.
    """

    def __init__(
        self, problem: Problem, labels: Any, lams: np.ndarray, fold: np.ndarray, measure: str, seed: int
    ) -> None:
        self.problem, self.labels, self.lams = problem.fresh(), labels, lams
        self.numbers, self.measure, self.seed = fold, measure, seed

    def fold(self, k: int) -> Iterator[list[float] | None]:
        """Follow the path without the k-th fold; yield the measures on it at the λ that are done when there are more.

        Yields
        ------
        list of float or None
            the measures; ``None`` between iterations.
        """
        held_out, done = np.flatnonzero(self.numbers == k), 0
        run = self._run(np.flatnonzero(self.numbers != k), held_out)
        for _ in run:
            points = run._points
            yield [point.numbers[self.measure] for point in points] if len(points) > done else None
            done = len(points)

    def half(self, b: int) -> Iterator[list[np.ndarray] | None]:
        """Follow the path on the b-th half; yield the rows at each λ at the end.

        Yields
        ------
        list of np.ndarray or None
            the rows; ``None`` between iterations.
        """
        run = self._run(half(self.problem.design.n, self.seed, b))
        for _ in run:
            yield None
        yield [point.rows for point in run._points if point.rows is not None]

    def _run(self, rows: np.ndarray, held_out: np.ndarray | None = None) -> PathRun:
        X = self.problem.design.plain().matrix
        return PathRun(
            self.problem.on(X[rows], self.labels[rows]),
            "auto",
            lams=self.lams,
            tol=PART_TOL,
            max_iter=PART_ITERATIONS,
            test=None if held_out is None else (X[held_out], self.labels[held_out]),
            keep_weights=held_out is None,
        )


class CovarianceParts:
    """Paths of sparse inverse covariances on halves of the samples.

    Parameters
    ----------
    problem
        the problem.
    X
        samples (n, p) of its features.
    lams
        λ of the paths.
    correlation
        whether S holds correlations.
    seed
        of the halves.
    """

    def __init__(self, problem: CovarianceProblem, X: Any, lams: np.ndarray, correlation: bool, seed: int) -> None:
        self.X, self.lams, self.correlation, self.seed = X, lams, correlation, seed
        self.p, self.diagonal = problem.d, problem.diagonal

    def half(self, b: int) -> Iterator[list[np.ndarray] | None]:
        """Follow the path on the b-th half; yield the edges i·p + j, i < j, at each λ at the end.

        Yields
        ------
        list of np.ndarray or None
            the edges; ``None`` between iterations.
        """
        p, rows = self.p, half(self.X.shape[0], self.seed, b)
        part = CovarianceProblem.from_data(
            self.X[rows], correlation=self.correlation, diagonal=self.diagonal, features=p
        )
        kept = np.arange(p) if part.kept is None else part.kept  # a rare feature may be constant in a half
        run = PathRun(part, "auto", lams=self.lams, tol=PART_TOL, max_iter=PART_ITERATIONS)
        for _ in run:
            yield None
        supports = []
        for k in range(len(run._points)):
            i, j = np.nonzero(np.triu(dense(run, k), 1))
            supports.append(kept[i] * p + kept[j])
        yield supports


def dense(run: PathRun, k: int) -> np.ndarray:
    """Return Θ at the k-th λ of a run, (p, p)."""
    Theta = run.path.weights(k)
    return np.asarray(Theta.toarray() if sp.issparse(Theta) else Theta)


def through(
    given: Any, method: str, count: int, aside: Aside = nullcontext, helpers: Helpers | None = None
) -> Iterator[Found | None]:
    """Work through parts: in order here, or by other processes as they end.

    Parameters
    ----------
    given
        object with a method that works on one part, by its number, as a generator.
    method
        its name.
    count
        number of parts.
    aside
        makes a context that is entered while other processes are waited for.
    helpers
        the other processes; ``None``: the work is done here, as it is where the object cannot go to them.

    Yields
    ------
    tuple or None
        number of a part, whether it has ended, and what it has found; ``None`` where the work may rest.

    Raises
    ------
    ValueError, HelperError
        if a part failed.
    """
    job = None if helpers is None else helpers.job(given)
    if job is None or helpers is None:
        for k in range(count):
            for found in getattr(given, method)(k):
                yield None if found is None else (k, False, found)
            yield k, True, None
        return
    waiting = list(range(count))[::-1]
    with job:
        while waiting or job.left:
            while waiting and job.left < helpers.most:  # no more: whoever rests orders nothing
                job.put(method, waiting.pop())
            with aside():
                answer = job.get(WAIT)
            yield None if answer is None else (answer[0][0], *answer[1:])
