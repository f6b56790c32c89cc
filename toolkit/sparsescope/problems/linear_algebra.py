"""Cholesky factors of symmetric positive definite matrices, their log-determinants and inverses (LAPACK)."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ..kernels.covariance import mirror


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
