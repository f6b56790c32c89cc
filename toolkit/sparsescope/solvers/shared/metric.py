"""The factor of LΣ + λI, the metric of least squares steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ...inputs.labels import fits_dense


def too_large(name: str, problem: Any) -> str | None:
    """Return why a solver cannot keep a matrix of features by features of this problem; ``None`` if it can."""
    try:
        fits_dense("XᵀX", problem.rows, problem.rows, problem.dtype.itemsize, "take features in stages (stagewise)")
    except ValueError as error:
        return f"{name} keeps a matrix of features by features: {error}"
    return None


def metric_factor(moment: np.ndarray, L: float, lam: float, penalised: int, keep: bool = True) -> Any:
    """Return the ``scipy.linalg.cho_factor`` of L·moment + λI, λ on the first ``penalised`` entries of the diagonal.

    moment : Σ, symmetric, (k, k); ``keep`` False lets it be overwritten where its precision suffices. In single
    precision the factor is tried in double precision too. Raises ``ValueError`` if Σ is so nearly singular that λ does
    not make up for it.
    """
    wanted = [moment.dtype] if moment.dtype == np.float64 else [moment.dtype, np.dtype(np.float64)]
    largest = float(moment.diagonal().max())
    for dtype in wanted:
        last = dtype == wanted[-1]
        M = moment if last and not keep and dtype == moment.dtype else np.array(moment, dtype=dtype, order="F")
        M *= dtype.type(L)
        at = np.arange(penalised)
        M[at, at] += dtype.type(lam)
        try:
            return scipy.linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    raise ValueError(
        f"XᵀX/n is singular to the precision of its numbers, and the ridge λ = {lam:g} is too small to "
        f"make up for it (the largest entry is {largest:.3g}): choose a larger λ, or leave out features "
        "that are combinations of others"
    )
