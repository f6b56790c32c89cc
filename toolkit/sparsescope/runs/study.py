"""PathStudy: a λ-path and what tells its λ apart, cross-validation and stability over resamples, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.prediction import Problem
from ..registry import check_whole
from .choosing import Chosen, choose
from .path_result import BEST_BY, Point
from .paths import PathRun
from .selections import Selections, half

TOL = 1e-4  # relative gap at each λ of the path, and of the paths on parts of the samples
PART_TOL = 1e-3
MOST_COUNTS = 50_000_000  # of the table of how often each row was selected at each λ
PART_ITERATIONS = 300  # at one λ of a path on a part of the samples


class PathStudy:
    """Path on all samples, then paths on folds and on halves of the samples, at the same λ.

    Iterating over :meth:`steps` does the work, an iteration of a solver at a time; everything found so far can be read
    in between.

    Parameters
    ----------
    problem
        a problem of classes or label sets.
    y
        its labels in the form that the problem was given.
    test
        held-out samples (X, y), or ``None``.
    n_lams, ratio
        see :func:`sparsescope.path`.
    folds
        number of folds; 0: no cross-validation.
    resamples
        number of halves of the samples, see :class:`Selections`; 0: none.
    seed
        of the folds and the halves.
    """

    def __init__(
        self,
        problem: Problem,
        y: Any,
        test: Any = None,
        *,
        n_lams: int = 50,
        ratio: float = 1e-2,
        folds: int = 5,
        resamples: int = 20,
        seed: int = 0,
    ) -> None:
        self.problem = problem
        self.folds, self.resamples = check_whole("folds", folds, 0), check_whole("resamples", resamples, 0)
        self.seed = check_whole("seed", seed, 0)
        self._labels = sp.csr_array(y) if sp.issparse(y) else np.asarray(y)
        self._X = problem.design.plain().matrix
        self.run = PathRun(problem, "auto", n_lams=n_lams, ratio=ratio, tol=TOL, test=test)
        self.lams = self.run.lams
        self.stage = ""  # "path", "folds", "resamples", "" before and after
        self.done = 0  # folds or resamples of the present stage
        self.scores = np.full((self.lams.size, self.folds), np.nan)
        self.notes: list[str] = []
        self.selections = Selections(0, problem.d)

    # --------------------------------------------------------------------------------------------------------- results
    @property
    def points(self) -> list[Point]:
        """The λ of the path that are done."""
        return self.run._points

    @property
    def measure(self) -> str:
        """The column by which λ are compared on held-out samples."""
        return BEST_BY[0] if self.problem.sets is None else BEST_BY[1]

    @property
    def chosen(self) -> Chosen | None:
        """The λ that cross-validation chooses; ``None`` until all folds are done."""
        done = self.folds > 1 and np.isfinite(self.scores).any(axis=0).all()
        return choose(self.scores) if done and self.stage in ("", "resamples") else None

    # ---------------------------------------------------------------------------------------------------------- stages
    def steps(self, aside: AbstractContextManager[Any] | None = None) -> Iterator[None]:
        """Do the work; every yield is a point where it may rest.

        Parameters
        ----------
        aside
            entered while kernels are compiled.
        """
        with aside or nullcontext():
            self.run.warm_up()
        self.stage = "path"
        for _ in self.run:
            yield
        yield from self._cross_validate()
        yield from self._resample()
        self.stage = ""

    def _cross_validate(self) -> Iterator[None]:
        if self.folds < 2:
            return
        self.stage, self.done = "folds", 0
        fold = self._fold_numbers()
        for k in range(self.folds):
            part, held_out = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            run = self._part(part, "cross-validation", held_out)
            if run is None:
                self.folds = 0
                return
            for _ in run:
                for at in range(len(run._points)):
                    self.scores[at, k] = run._points[at].numbers[self.measure]
                yield
            self.done = k + 1

    def _resample(self) -> Iterator[None]:
        if self.resamples < 1:
            return
        if self.lams.size * self.problem.d > MOST_COUNTS:
            self.notes.append(
                f"No stability selection: {self.problem.d} features at {self.lams.size} λ are more than are counted."
            )
            return
        self.stage, self.done = "resamples", 0
        self.selections = Selections(self.lams.size, self.problem.d)
        for b in range(self.resamples):
            run = self._part(half(self.problem.design.n, self.seed, b), "stability selection")
            if run is None:
                return
            for _ in run:
                yield
            self.selections.add([point.rows for point in run._points if point.rows is not None])
            self.done = b + 1

    def _part(self, rows: np.ndarray, what: str, held_out: np.ndarray | None = None) -> PathRun | None:
        """The path on some of the samples; ``None``, with a note, if they make no problem."""
        try:
            problem = self.problem.on(self._X[rows], self._labels[rows])
            test = None if held_out is None else (self._X[held_out], self._labels[held_out])
            return PathRun(
                problem,
                "auto",
                lams=self.lams,
                tol=PART_TOL,
                max_iter=PART_ITERATIONS,
                test=test,
                keep_weights=held_out is None,
            )
        except ValueError as error:
            self.notes.append(f"No {what}: {error}.")
            return None

    def _fold_numbers(self) -> np.ndarray:
        """The fold of each sample; the samples of each class are spread over all folds."""
        n, rng = self.problem.design.n, np.random.default_rng(self.seed)
        order = rng.permutation(n)
        if self._labels.ndim == 1:
            order = order[np.argsort(self._labels[order], kind="stable")]
        fold = np.empty(n, dtype=np.int64)
        fold[order] = np.arange(n) % self.folds
        return fold


def row_norms(values: Any) -> np.ndarray:
    """Return ‖W_j‖₂ of the rows of a snapshot, dense or sparse.

    Parameters
    ----------
    values
        rows of W, (k, m).

    Returns
    -------
    np.ndarray
        their norms, (k,).
    """
    squares = values.multiply(values).sum(axis=1) if sp.issparse(values) else np.square(values, dtype=float).sum(axis=1)
    return np.sqrt(np.asarray(squares, dtype=float).ravel())
