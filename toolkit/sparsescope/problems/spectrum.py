"""Spectra of data, and what they mean for the speed of methods (Agarwal et al. 2013, Theorem 1, Sec. 3.3, Fig. 1b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..inputs.design import Design
from ..registry import check_whole
from .prediction import Problem

# Up to this number of rows or columns, whichever are fewer, and up to this number for each requested value, all
# singular values come from one eigenproblem: for 1000 of 3034 that takes 5 s, and ARPACK 43 s.
EXACT, EXACT_EACH = 3000, 6
SECOND, LATE = 2, 1000  # which singular values the paper's proxy of a condition number compares, counted from 1


@dataclass(frozen=True)
class Spectrum:
    """Leading singular values of X (n, d), falling, float64.

    Parameters
    ----------
    values
        the singular values.
    rank_bound
        min(n, d): there are no more.
    """

    values: np.ndarray
    rank_bound: int

    def shares(self) -> np.ndarray:
        """Return the cumulative shares of the sum of these values (Agarwal et al. 2013, Fig. 1b, of the first 1000).

        Returns
        -------
        np.ndarray
            shares of the first 1, 2, … values.
        """
        total = float(self.values.sum())
        return np.cumsum(self.values) / total if total > 0.0 else np.ones_like(self.values)

    def condition(self, first: int = SECOND, last: int = LATE) -> float:
        """Return a ratio of two singular values, the paper's proxy of a condition number (2nd over 1000th).

        Parameters
        ----------
        first
            number of the upper value, counted from 1.
        last
            number of the lower value; of fewer values the last one is taken.

        Returns
        -------
        float
            the ratio; +∞ if the lower value is zero.

        Raises
        ------
        ValueError
            for numbers that are not allowed.
        """
        first, last = check_whole("first", first, 1), check_whole("last", last, 1)
        if first > self.values.size:
            raise ValueError(f"there are {self.values.size} singular values; first is {first}")
        low = float(self.values[min(last, self.values.size) - 1])
        return float(self.values[first - 1]) / low if low > 0.0 else float("inf")


def spectrum(X: Any, k: int = LATE, seed: int = 0) -> Spectrum:
    """Return the k largest singular values of X, which is not centred.

    Where rows or columns are at most :data:`EXACT`, or not many more than the requested values, they are roots of the
    eigenvalues of the smaller of XᵀX and XXᵀ in double precision, correct to about 1e-8 of the largest one. Else ARPACK
    computes them (``scipy.sparse.linalg.svds``).

    Parameters
    ----------
    X
        samples (n, d), dense or sparse.
    k
        number of values; fewer if min(n, d) is smaller.
    seed
        seed of ARPACK's starting vector.

    Returns
    -------
    Spectrum
        the singular values.

    Raises
    ------
    ValueError, TypeError
        as :class:`sparsescope.inputs.design.Design`, and for k below 1.

    Examples
    --------
    >>> found = ss.spectrum.spectrum(ss.datasets.load("iris").X, 4)
    >>> bool((np.diff(found.values) <= 0).all())
    True
    """
    design = X.plain() if isinstance(X, Design) else Design(X)
    matrix, bound = design.matrix, min(design.n, design.d)
    k = min(check_whole("k", k, 1), bound)
    if bound <= max(EXACT, EXACT_EACH * k):
        tall = design.n >= design.d
        gram = matrix.astype(np.float64) if design.is_sparse else matrix
        if design.is_sparse:
            small = (gram.T @ gram if tall else gram @ gram.T).toarray()
        else:
            small = _gram(gram if tall else gram.T)
        eigenvalues = np.linalg.eigvalsh(small)[::-1][:k]
        return Spectrum(np.sqrt(np.maximum(eigenvalues, 0.0)), bound)
    from scipy.sparse.linalg import svds  # loads slowly, and small data do without it

    start = np.random.default_rng(seed).standard_normal(bound)
    operator = (
        scipy.sparse.csr_array(matrix, dtype=np.float64) if design.is_sparse else matrix.astype(np.float64, copy=False)
    )
    values = svds(operator, k=k, v0=start, return_singular_vectors=False, solver="arpack")
    return Spectrum(np.sort(values)[::-1], bound)


def _gram(A: np.ndarray) -> np.ndarray:
    """AᵀA in double precision, without a second copy of all of A (rows, columns)."""
    total = np.zeros((A.shape[1], A.shape[1]))
    for start in range(0, A.shape[0], 4096):
        part = np.ascontiguousarray(A[start : start + 4096], dtype=np.float64)
        total += part.T @ part
    return total


def theorem1(
    problem: Problem,
    solution: np.ndarray,
    iterations: Any,
    *,
    lipschitz: float | None = None,
    monotone: float | None = None,
) -> np.ndarray:
    """Return the bound of F(W_t) − F(W*) that Theorem 1 of Agarwal et al. (2013) gives for plain ``gls`` from W = 0.

    The bound is 2‖W*‖²/(t + 4); with a strongly monotone link (Eq. 17) it is ½((κ − 1)/(κ + 1))ᵗ‖W*‖², κ = L/μ. The
    norm is that of the metric, ‖W‖² = L⟨W, Σ̂W⟩ + λ‖W‖²_F: the paper prints L times the Euclidean norm, which its proof
    does not have and which would depend on the units of the features.

    Parameters
    ----------
    problem
        a problem with the ridge penalty and without an intercept.
    solution
        W* (d, m).
    iterations
        the iterations t.
    lipschitz
        L; ``None``: that of the loss.
    monotone
        μ > 0 of the link, if it has one (1 for the identity).

    Returns
    -------
    np.ndarray
        the bounds, one per iteration.

    Raises
    ------
    ValueError
        for another penalty, an intercept, or constants that are not allowed.
    """
    if problem.intercept:
        raise ValueError("Theorem 1 begins at W = 0 and has no intercept; make the problem without one")
    L = float(problem.loss.curvature(problem.m)) if lipschitz is None else float(lipschitz)
    W = problem.coefficients(solution).astype(np.float64)
    Z = problem.design.matmul(W.astype(problem.dtype), np.empty((problem.n, problem.m), problem.dtype))
    size = L * float((Z.astype(np.float64) ** 2).sum()) / problem.n + problem.lam * float((W * W).sum())
    t = np.asarray(iterations, dtype=np.float64)
    bound = 2.0 * size / (t + 4.0)
    if monotone is not None:
        if not 0.0 < monotone <= L:
            raise ValueError(f"monotone is {monotone!r}; 0 < μ ≤ L = {L:g} is needed")
        kappa = L / monotone
        bound = np.minimum(bound, 0.5 * ((kappa - 1.0) / (kappa + 1.0)) ** t * size)
    return np.asarray(bound)
