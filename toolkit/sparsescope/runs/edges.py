"""EdgeStudy: the network of features along λ, and how many halves of the samples have each of its edges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.covariance import CovarianceProblem
from ..registry import check_whole
from .parts import LONG, Aside, CovarianceParts, dense, through
from .path_points import Point
from .paths import PathRun
from .processes import Helpers
from .selections import Selections
from .study import TOL


class EdgeStudy:
    """Path of sparse inverse covariances, then paths on halves of the samples at the same λ.

    Parameters
    ----------
    problem
        the problem.
    X
        samples (n, p) of its features, in their order; ``None``: there are none, and no halves.
    correlation
        whether S holds correlations.
    n_lams, ratio
        see :func:`sparsescope.path`.
    resamples
        number of halves of the samples, see :class:`Selections`; 0: none.
    seed
        of the halves.
    """

    def __init__(
        self,
        problem: CovarianceProblem,
        X: Any = None,
        *,
        correlation: bool = True,
        n_lams: int = 30,
        ratio: float = 0.05,
        resamples: int = 20,
        seed: int = 0,
    ) -> None:
        self.problem, self.correlation = problem, correlation
        self._X = sp.csr_array(X) if sp.issparse(X) else X
        self.resamples = 0 if X is None else check_whole("resamples", resamples, 0)
        self.seed = check_whole("seed", seed, 0)
        self.run = PathRun(problem, "auto", n_lams=n_lams, ratio=ratio, tol=TOL)
        self.lams = self.run.lams
        self.stage = ""  # "path", "resamples", "" before and after
        self.done = 0  # resamples
        self.notes: list[str] = []
        p = problem.d
        self.selections = Selections(self.lams.size, p * p if self.resamples else 0, p * (p - 1) // 2)

    @property
    def points(self) -> list[Point]:
        """The λ of the path that are done."""
        return self.run._points

    def theta(self, k: int) -> np.ndarray:
        """Return Θ at the k-th λ, (p, p)."""
        return dense(self.run, k)

    def share(self, k: int, pairs: np.ndarray) -> np.ndarray:
        """Return the share of the halves that have each of some edges (e, 2), i < j, at the k-th λ."""
        return self.selections.share(k)[pairs[:, 0] * self.problem.d + pairs[:, 1]]

    def steps(self, aside: Aside = nullcontext, helpers: Helpers | None = None) -> Iterator[None]:
        """Do the work; every yield is a point where it may rest.

        Parameters
        ----------
        aside
            makes a context that is entered while kernels are compiled, and while other processes are waited for.
        helpers
            processes for halves that take long; ``None``: all is done here.
        """
        with aside():
            self.run.warm_up()
        self.stage = "path"
        for _ in self.run:
            yield
        self.stage = "resamples" if self.resamples else ""
        try:
            yield from self._resample(aside, helpers)
        except ValueError as error:
            self.notes.append(f"No stability of edges: {error}.")
        self.stage = ""

    def _resample(self, aside: Aside, helpers: Helpers | None) -> Iterator[None]:
        if not self.resamples:
            return
        parts = CovarianceParts(self.problem, self._X, self.lams, self.correlation, self.seed)
        worth = helpers if self.run.seconds * self.resamples > LONG else None
        for answer in through(parts, "half", self.resamples, aside, worth):
            if answer is not None:
                _, ended, found = answer
                self.done += ended
                if found is not None:
                    self.selections.add(found)
            yield
