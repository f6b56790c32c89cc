"""Inner products; Cholesky factors of symmetric positive definite matrices, log-determinants and inverses (LAPACK)."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ..kernels.covariance import mirror


def inner(A: np.ndarray, B: np.ndarray) -> float:
    """⟨A, B⟩ of two matrices, on one thread.

    OpenBLAS (``np.vdot``) splits a product of more than 10 000 doubles among its threads, and on a busy machine the
    calculation waits for the slowest of them, at every conjugate-gradient step.
    """
    return float(np.einsum("ij,ij->", A, B))


def cholesky(A: np.ndarray) -> np.ndarray | None:
    """The upper factor of a symmetric A (k, k) float64, as LAPACK has it (columns; below it anything may stand);
    ``None`` if A is not positive definite."""
    factor, info = dpotrf(np.asarray(A).T, lower=0, clean=0)
    return factor if info == 0 else None


def logdet(factor: np.ndarray) -> float:
    """logdet A of its factor."""
    return 2.0 * float(np.log(np.diag(factor)).sum())


def inverse(factor: np.ndarray | None) -> np.ndarray:
    """A⁻¹ (k, k), in C order, of the factor of A."""
    assert factor is not None
    found = dpotri(factor, lower=0)[0].T
    found = np.ascontiguousarray(found)
    mirror(found)
    return found
