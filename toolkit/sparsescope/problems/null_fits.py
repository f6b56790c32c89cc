"""Unpenalised fit at W = 0 (null model): the intercept, the free entries, and from that λ_max.

Functions of a :class:`sparsescope.problems.prediction.Problem`, which keeps what they find.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs.labels import fits_dense
from ..kernels.rows import loss_gradient
from .null_programs import Critical, tighten

EXACTLY = {"ftol": 0.0, "maxiter": 2000, "maxfun": 5000}  # for L-BFGS: until the gradient vanishes


def critical(problem: Any, regulariser: Any) -> Critical:
    """The smallest λ at which W = 0 (but for free entries) is a solution with this regulariser; for a non-smooth loss
    between two bounds (null_programs.py). ``ValueError`` where the scores would not fit into memory."""
    fits_dense("scores", problem.n, problem.m, problem.dtype.itemsize, "give λ itself, with lam= or with_scaling(…)")
    U = first_duals(problem, regulariser)
    if not problem.loss.smooth:
        return tighten(problem, regulariser, U)
    buffer = np.empty((problem.d, problem.m), dtype=problem.dtype) if regulariser.needs_all_rows else None
    blocks = problem.design.rmatmul_blocks(U, buffer)
    return Critical(max(regulariser.zero_threshold(G, 1.0 / problem.n) for _, _, G in blocks), 0.0)


def first_duals(problem: Any, regulariser: Any) -> np.ndarray:
    """(Sub)gradients of the losses at the best point without penalised weights, (n, m)."""
    U = np.empty((problem.n, problem.m), dtype=problem.dtype)
    table = None if problem.multilabel else problem.loss.null_subgradients(problem.weighted_shares, problem.intercept)
    of_sets = problem.null_of_sets
    y, loss = problem.terms
    if regulariser.free is not None:
        loss_gradient(problem.design.matmul(problem.null_free, np.empty_like(U)), y, loss, U)
    elif table is not None or of_sets is not None:
        U[:] = table[problem.y] if table is not None else of_sets[1]
        if problem.sample_weight is not None:
            U *= problem.sample_weight[:, None]
    else:
        Z = np.tile(problem.null_intercept.astype(problem.dtype), (problem.n, 1))
        loss_gradient(Z, y, loss, U)
    return U


def fit_free(problem: Any) -> np.ndarray:
    """The best coefficients (rows, m) with zeros in all entries but the free ones and the intercept."""
    from scipy.optimize import minimize  # takes a third of a second to import, and few problems need it

    at = np.zeros((problem.rows, problem.m), dtype=bool)
    at[: problem.d] = False if problem.regulariser.free is None else problem.regulariser.free
    at[problem.d :] = True
    coef, Z = np.zeros(at.shape, problem.dtype), np.empty((problem.n, problem.m), problem.dtype)
    U, G = np.empty_like(Z), np.empty_like(coef)
    y, loss = problem.terms

    def value(v: np.ndarray) -> tuple[float, np.ndarray]:
        coef[at] = v
        total = loss_gradient(problem.design.matmul(coef, Z), y, loss, U)
        return total / problem.n, problem.design.rmatmul(U, G)[at].astype(np.float64) / problem.n

    found = minimize(value, np.zeros(int(at.sum())), jac=True, method="L-BFGS-B", options={**EXACTLY, "gtol": 1e-12})
    coef[at] = found.x
    return coef


def fit_intercept(problem: Any) -> np.ndarray:
    """The best intercept for W = 0, (m,) float64."""
    ready = None if problem.multilabel else problem.loss.null_intercept(problem.weighted_shares)
    if ready is not None:
        return np.asarray(ready)
    if (of_sets := problem.null_of_sets) is not None:
        return of_sets[0]
    from scipy.optimize import minimize  # slow to import, and what has a formula does without

    value = _value_of_sets(problem) if problem.multilabel else _value_of_classes(problem)
    found = minimize(value, np.zeros(problem.m), jac=True, method="L-BFGS-B", options={**EXACTLY, "gtol": 1e-13})
    return np.asarray(found.x)


def _value_of_classes(problem: Any) -> Any:
    # With W = 0 all samples of a class are alike: m weighted samples, a convex problem in m unknowns.
    weights = problem.weighted_shares

    def value(b: np.ndarray) -> tuple[float, np.ndarray]:
        g, work, total = np.zeros(problem.m), np.empty(problem.m), 0.0
        for c in np.flatnonzero(weights):
            total += weights[c] * problem.loss.gradient(b, int(c), weights[c], g, work)
        return total, g

    return value


def _value_of_sets(problem: Any) -> Any:
    Z = np.empty((problem.n, problem.m), dtype=problem.dtype)
    U = np.empty_like(Z)
    y, loss = problem.terms

    def value(b: np.ndarray) -> tuple[float, np.ndarray]:
        Z[:] = b
        total = loss_gradient(Z, y, loss, U)
        return total / problem.n, U.sum(axis=0, dtype=np.float64) / problem.n

    return value
