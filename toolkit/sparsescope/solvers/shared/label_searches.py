"""Searches of a sparse dual method for new labels: over which samples, and from all or some of their features."""

from __future__ import annotations

import math

import numpy as np

from ...kernels.frank_wolfe import SEARCHED
from ...kernels.sparse_rows import SIZE
from ...problems.prediction import Problem
from .sparse_duals import PDSparseDuals
from .sparse_state import PDSparseState, work

STILL = 0.1  # sweeps without a search leave out samples whose last step gained less than this share of the mean
OPENING = 16  # parts of the first pass, before each of which it is decided how the next ones are searched


class PDSparseSearches(PDSparseDuals):
    """Sparse dual method whose sweeps search for labels; ``pacing`` of the state decides how.

    sampling : searches draw features · opening : the first ones do, where they are most of the work · shrinking :
    samples that stand still are left out for a while
    """

    sampling: bool
    opening: bool
    shrinking: bool

    def search(self, problem: Problem, state: PDSparseState) -> tuple[int, bool]:
        """Do a sweep that searches for new labels, over the samples that are not skipped.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Returns
        -------
        tuple[int, bool]
            the number of these samples, and whether exact searches were left out because they would read too much.
        """
        rate, awake, pacing = self.rate(problem, state.C), state.naps.awake(), state.pacing
        opening = self.opening and pacing.opening and not self.sampling and rate > 1
        seen, left_out = 0, opening and state.iteration > 0
        for some in np.array_split(state.rng.permutation(awake), OPENING if opening else 1):
            if opening and seen:
                changed = (work(state) - state.report[SEARCHED]) / seen
                left_out = left_out or pacing.is_dear(state.reading(problem), changed)
            drawn = rate > 1 and (self.sampling or left_out)
            state.sweep(problem, some, state.wanted, rate if drawn else 1)
            if self.shrinking and not drawn and state.parts == 1:  # else a search may not have found what would move
                state.naps.rest(some, state.gains[some] == 0.0)
            seen += some.size
        pacing.searched(state.gains[awake], left_out, state.iteration == 0)
        return seen, left_out

    def moving(self, state: PDSparseState) -> np.ndarray:
        """Return the samples with active labels whose last step had a noticeable gain.

        Parameters
        ----------
        state
            the state.

        Returns
        -------
        np.ndarray
            their numbers.
        """
        active = state.active.head[:, SIZE] > 0
        if not self.shrinking:
            return np.flatnonzero(active)
        return np.flatnonzero(active & (state.gains > STILL * state.gains.mean()))

    def rate(self, problem: Problem, C: float) -> int:
        """Return d_i/d̃_i, the number of features of a sample per drawn one (Yen et al. 2016, Sec. 4.4).

        Parameters
        ----------
        problem
            the problem.
        C
            1/(nλ) in the units of the solver.

        Returns
        -------
        int
            the rate.
        """
        n, d, m, stored = problem.n, problem.d, problem.m, max(problem.design.nnz, 1)
        return max(1, math.ceil(min(5.0 * d * m / (C * stored * math.log(m)), stored / (5.0 * n))))
