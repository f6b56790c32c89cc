"""The preconditioner of Newton systems under a ridge: the covariance of the features, or its diagonal, and λ."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ...pauses import pause
from ...problems.prediction import Problem
from .row_space_pays import product_cost

MOST_COLUMNS = 1000  # of a Σ̂ whose eigenvectors are made
PRODUCTS = 16.0  # products with X, and back, that making Σ̂ may cost
CHEAP = 1e7  # multiplications that it may cost in any case
LEAST_SAMPLES, MOST_SAMPLES = 3.0, 20.0  # for each feature, of a Σ̂ that is worth its eigenvectors
LEAST_CURVATURE = 1e-8  # as a share of the largest that the loss can have
FACTORS = 8  # of M, before the eigenvectors of Σ̂ are made
# What Σ̂ of sparse X costs for each pair of numbers in a sample, beside products with X; and how many of these, or pairs
# of numbers, it may cost to be made at once. (Documents take .2 to 1.0 of the seconds where it is not, small images
# stored as sparse X up to four times as much.)
PAIR, AT_ONCE, FEW_PAIRS = 4.6, 12.0, 1.5e6
KEPT = 1.5  # factor by which λ/c may differ from that of a factor of M


class Preconditioner:
    """M = cΣ̂ + λI, the same for every class: Cholesky factors of it, or the eigenvectors of Σ̂, or with its diagonal.

    A factor costs a fifteenth of the eigenvectors, which belong to the data: with these, another λ or curvature costs
    nothing; they are made when some factors were. A factor is kept while the ratio of λ to c hardly changes. Where Σ̂
    costs many products with sparse X, the diagonal begins, and Σ̂ follows when twice as much has been spent on steps.
    """

    def __init__(self, problem: Problem) -> None:
        self.samples, self.solved, self.waits = moment_samples(problem), 0, 0.0
        self.later = self.samples
        if self.samples and problem.design.is_sparse:
            pairs = self.samples * (problem.design.nnz / problem.n) ** 2
            price = PAIR * pairs / product_cost(problem)
            if price > AT_ONCE and pairs > FEW_PAIRS:
                self.samples, self.waits = 0, price
        self.vectors: np.ndarray | None = None
        self.factor: tuple[np.ndarray, bool] | None = None
        self.ratio, self.c, self.made = float("nan"), 1.0, 0  # λ/c of the factor, and how many were made
        if not self.samples:
            squares = problem.design.squared_norms[: problem.d] / problem.n
            self.squares = np.append(squares, 1.0) if problem.intercept else squares
        self.divisor = np.empty((problem.rows, 1), problem.dtype)

    def __deepcopy__(self, memo: Any) -> Preconditioner:
        twin = copy.copy(self)  # factors and eigenvectors never change
        twin.divisor = self.divisor.copy()
        return twin

    def take(self, problem: Problem, A: np.ndarray) -> None:
        """Take the curvature c, the mean of the diagonal A (n, m) of ∇²ℓ."""
        least = LEAST_CURVATURE * problem.loss.curvature(problem.m)
        self.c = c = max(float(A.mean(dtype=np.float64)), least)
        if self.solved >= self.waits:
            self.samples = self.later
        if self.samples and self.vectors is None:
            ratio = problem.lam / c
            if self.factor is not None and 1.0 / KEPT <= ratio / self.ratio <= KEPT:
                return
            self.factor = self._factor(problem, ratio) if self.made < FACTORS else None
            if self.factor is not None:
                self.ratio, self.made = ratio, self.made + 1
                return
            self.squares, self.vectors = problem.spectrum(self.samples)
        self.divisor[:, 0] = c * self.squares + problem.lam

    def _factor(self, problem: Problem, ratio: float) -> tuple[np.ndarray, bool] | None:
        """Σ̂ + ratio·I, factored; ``None`` if it is not positive definite up to rounding."""
        M = problem.second_moment(self.samples).copy(order="F")
        M[np.diag_indices_from(M)] += problem.dtype.type(ratio)
        pause()
        try:
            return scipy.linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

    def solve(self, R: np.ndarray) -> np.ndarray:
        """M⁻¹R (rows, m), in the precision of R. M is in that of the data: a single one may leave no factor."""
        pause()
        self.solved += 1
        if self.factor is not None:
            found = scipy.linalg.cho_solve(self.factor, R, check_finite=False)
            return np.divide(found, self.divisor.dtype.type(self.c), order="C").astype(R.dtype, copy=False)
        if self.vectors is None:
            return (R / self.divisor).astype(R.dtype, copy=False)
        turned = self.vectors.T @ R
        turned /= self.divisor
        pause()
        return (self.vectors @ turned).astype(R.dtype, copy=False)


def moment_samples(problem: Problem) -> int:
    """The number of samples of a Σ̂ that costs no more than a few products with a full X; 0 if that is too few of them.

    It does not depend on how X is stored.
    """
    n, d = problem.n, problem.rows
    if d > MOST_COLUMNS:
        return 0
    samples = min(n, int(max(min(MOST_SAMPLES * d, PRODUCTS * 2.0 * problem.m * n / d), CHEAP / d**2)))
    return samples if samples >= min(n, LEAST_SAMPLES * d) else 0
