"""Inner products; Cholesky factors of symmetric positive definite matrices, log-determinants and inverses (LAPACK)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ..kernels.covariance import mirror
from ..pauses import even_parts, pause

WHOLE, STRIP = 900, 192  # rows up to which a matrix is factored at once: some milliseconds; rows of a strip of a larger
FLOPS, BYTES = 1e8, 1e6  # of its factorisation, and written to new memory, between two pauses


def inner(A: np.ndarray, B: np.ndarray) -> float:
    """⟨A, B⟩ of two matrices, on one thread.

    OpenBLAS (``np.vdot``) splits a product of more than 10 000 doubles among its threads, and on a busy machine the
    calculation waits for the slowest of them, at every conjugate-gradient step.
    """
    return float(np.einsum("ij,ij->", A, B))


def cholesky(A: np.ndarray) -> np.ndarray | None:
    """The upper factor of a symmetric A (k, k) float64, as LAPACK has it (columns; below it anything may stand);
    ``None`` if A is not positive definite."""
    if len(A) > WHOLE:
        try:
            return _factored(np.asarray(A)).T
        except LinAlgError:
            return None
    factor, info = scipy.linalg.lapack.dpotrf(np.asarray(A).T, lower=0, clean=0)
    return factor if info == 0 else None


def logdet(factor: np.ndarray) -> float:
    """logdet A of its factor."""
    return 2.0 * float(np.log(np.diag(factor)).sum())


def inverse(factor: np.ndarray | None) -> np.ndarray:
    """A⁻¹ (k, k), in C order, of the factor of A."""
    assert factor is not None
    if len(factor) > WHOLE:
        return _inverted(factor.T)
    found = scipy.linalg.lapack.dpotri(factor, lower=0)[0].T
    found = np.ascontiguousarray(found)
    mirror(found)
    return found


def fill(A: np.ndarray, B: Any) -> None:
    """A ← B, an array like A or a number, in parts with pauses: the first writing to large memory takes long."""
    for first, last in even_parts(len(A), A.nbytes / max(len(A), 1), BYTES):
        A[first:last] = B[first:last] if isinstance(B, np.ndarray) else B
        pause()


class Factor:
    """The factor of a symmetric positive definite A (k, k) float64, of which the lower half is read.

    That of a large A is made strip by strip, with pauses between them, always the same ones (``pauses.py``).

    Raises ``LinAlgError`` if A is not positive definite.
    """

    def __init__(self, A: np.ndarray) -> None:
        self.whole = scipy.linalg.cho_factor(A, lower=True, check_finite=False) if len(A) <= WHOLE else None
        self.L = A if self.whole is not None else _factored(A)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """A⁻¹b, b (k,)."""
        if self.whole is not None:
            return np.asarray(scipy.linalg.cho_solve(self.whole, b, check_finite=False))
        L, x, strips = self.L, np.array(b, dtype=np.float64), _strips(len(self.L))
        for first, last in strips:
            x[first:last] -= L[first:last, :first] @ x[:first]
            x[first:last] = scipy.linalg.solve_triangular(
                L[first:last, first:last], x[first:last], lower=True, check_finite=False
            )
        pause()
        for first, last in reversed(strips):
            x[first:last] -= L[last:, first:last].T @ x[last:]
            x[first:last] = scipy.linalg.solve_triangular(
                L[first:last, first:last], x[first:last], lower=True, trans=1, check_finite=False
            )
        pause()
        return x


def _strips(k: int) -> list[tuple[int, int]]:
    return [(first, min(first + STRIP, k)) for first in range(0, k, STRIP)]


def _factored(A: np.ndarray) -> np.ndarray:
    """The lower factor of A; above its diagonal stands anything."""
    L, k = np.empty(A.shape), len(A)
    fill(L, A)
    for first, last in _strips(k):
        for start, stop in even_parts(k - first, 2.0 * first * (last - first), FLOPS):
            at = slice(first + start, first + stop)
            L[at, first:last] -= L[at, :first] @ L[first:last, :first].T
            pause()
        corner, info = scipy.linalg.lapack.dpotrf(L[first:last, first:last], lower=1, clean=1)
        if info != 0:
            raise LinAlgError(f"the leading minor of order {first + info} is not positive definite")
        L[first:last, first:last] = corner
        for start, stop in even_parts(k - last, float((last - first) ** 2), FLOPS):
            rows = L[last + start : last + stop, first:last]
            rows[:] = scipy.linalg.blas.dtrsm(1.0, corner, rows.T, lower=1).T
            pause()
    return L


def _inverted(L: np.ndarray) -> np.ndarray:
    """(LLᵀ)⁻¹ of a lower L (k, k): M = L⁻¹ by strips, then MᵀM."""
    strips, M, found = _strips(len(L)), np.zeros_like(L), np.empty_like(L)
    for first, last in strips:
        own = M[first:last, first:last]
        own[:] = scipy.linalg.lapack.dtrtri(L[first:last, first:last], lower=1)[0]
        for start, stop in (pair for pair in strips if pair[1] <= first):
            M[first:last, start:stop] = -own @ (L[first:last, start:first] @ M[start:first, start:stop])
            pause()
    for first, last in strips:
        for start, stop in (pair for pair in strips if pair[1] <= last):
            block = M[first:, first:last].T @ M[first:, start:stop]
            found[first:last, start:stop], found[start:stop, first:last] = block, block.T
            pause()
    return found
