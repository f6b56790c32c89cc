"""PathStudy: a λ-path with cross-validation and stability over resamples, by which its λ are compared, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.prediction import Problem
from ..registry import check_whole
from .choosing import Chosen, choose
from .parts import LONG, Aside, SampleParts, through
from .path_points import Point
from .path_result import BEST_BY
from .paths import PathRun
from .processes import Helpers
from .selections import Selections

TOL = 1e-4  # relative gap at each λ of the path, and of the paths on parts of the samples
MOST_COUNTS = 50_000_000  # of the table of how often each row was selected at each λ


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
    def steps(self, aside: Aside = nullcontext, helpers: Helpers | None = None) -> Iterator[None]:
        """Do the work; every yield is a point where it may rest.

        Parameters
        ----------
        aside
            makes a context that is entered while kernels are compiled, and while other processes are waited for.
        helpers
            processes for folds and halves that take long; ``None``: all is done here.
        """
        with aside():
            self.run.warm_up()
        self.stage = "path"
        for _ in self.run:
            yield
        for stage, work in (("cross-validation", self._cross_validate), ("stability selection", self._resample)):
            try:
                yield from work(aside, helpers)
            except ValueError as error:
                self.notes.append(f"No {stage}: {error}.")
        self.stage = ""

    def _cross_validate(self, aside: Aside, helpers: Helpers | None) -> Iterator[None]:
        if self.folds < 2:
            return
        self.stage, self.done = "folds", 0
        try:
            for answer in through(self._parts(), "fold", self.folds, aside, self._worth(helpers, self.folds)):
                if answer is not None:
                    k, ended, found = answer
                    self.done += ended
                    if found is not None:
                        self.scores[: len(found), k] = found
                yield
        except ValueError:
            self.folds = 0
            raise

    def _resample(self, aside: Aside, helpers: Helpers | None) -> Iterator[None]:
        if self.resamples < 1:
            return
        if self.lams.size * self.problem.d > MOST_COUNTS:
            self.notes.append(
                f"No stability selection: {self.problem.d} features at {self.lams.size} λ are more than are counted."
            )
            return
        self.stage, self.done = "resamples", 0
        self.selections = Selections(self.lams.size, self.problem.d)
        for answer in through(self._parts(), "half", self.resamples, aside, self._worth(helpers, self.resamples)):
            if answer is not None:
                _, ended, found = answer
                self.done += ended
                if found is not None:
                    self.selections.add(found)
            yield

    def _worth(self, helpers: Helpers | None, count: int) -> Helpers | None:
        """The processes, if the parts take long: about half as long each as the path on all samples."""
        return helpers if 0.5 * self.run.seconds * count > LONG else None

    def _parts(self) -> SampleParts:
        return SampleParts(self.problem, self._labels, self.lams, self._fold_numbers(), self.measure, self.seed)

    def _fold_numbers(self) -> np.ndarray:
        """The fold of each sample; the samples of each class are spread over all folds."""
        n, rng = self.problem.design.n, np.random.default_rng(self.seed)
        if self.folds < 2:
            return np.zeros(n, dtype=np.int64)
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
