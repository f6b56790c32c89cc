"""Certificates of weights from anywhere, with a dual point from anywhere: ``ss.certify``."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels.rows import repair_dual
from .base import BaseProblem, Certificate
from .certificate import Workspace
from .prediction import Problem

FAR = 1e10  # scores at which a dual row outside the domain of ℓ* shows: ⟨u, z⟩ − ℓ(z) grows without bound there


def certify(problem: BaseProblem, W: Any, b: Any = None, *, dual: Any = None) -> Certificate:
    """Certify any weights: objective, duality gap and optimality violations at a point.

    Parameters
    ----------
    problem
        a Problem or CovarianceProblem.
    W
        weights (d, m), dense or sparse; or an estimator with ``coef_`` (and ``intercept_``), such as scikit-learn's
        linear classifiers; Θ (p, p) for a covariance problem.
    b
        intercept (m,).
    dual
        a dual point U (n, m), or ``None``. Row i lies in the domain of ℓ*(·, y_i), as ∇ℓ does; it is made to sum to
        zero where there is an intercept and scaled to the dual norm ball, so it need not fit exactly. The better of
        its dual value and that of the point itself is taken. With weights of samples or classes the terms are
        ω_i·ℓ, ω = ``problem.sample_weight`` (mean 1; samples of weight 0 are left out), and row i is like ω_i·∇ℓ.

    Returns
    -------
    Certificate
        ``gap`` ≥ objective − optimum holds for this very point, evaluated in double precision.

    Raises
    ------
    ValueError
        for other shapes, entries that are not finite, dual rows outside the domain, and problems without a gap.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> certificate = ss.certify(problem, np.zeros((problem.d, problem.m)))
    >>> bool(certificate.gap > 0)
    True
    """
    if not problem.proves:
        raise ValueError("a sequence of models has no optimum that could be certified; judge its predictions instead")
    if not isinstance(problem, Problem):
        if dual is not None or b is not None:
            raise ValueError("b and dual are for problems that predict; a covariance problem takes Θ alone")
        of_other: Certificate = problem.certificate(W)  # type: ignore[attr-defined]
        return of_other
    if hasattr(W, "coef_"):
        if b is not None:
            raise ValueError("b is given twice: the estimator has an intercept_; leave b out")
        W, b = _from_estimator(problem, W)
    found = problem.certificate(W, b)
    if dual is None:
        return found
    lower = dual_value(problem, dual)
    if not lower > found.dual:
        return found
    gap = found.objective - lower
    return replace(found, dual=lower, gap=gap, relative_gap=gap / problem.scale(found.objective))


def _from_estimator(problem: Problem, estimator: Any) -> tuple[np.ndarray, Any]:
    """W (d, m) and b (m,) of an estimator whose ``coef_`` is (m, d)."""
    W = np.atleast_2d(np.asarray(estimator.coef_)).T
    b = np.atleast_1d(np.asarray(getattr(estimator, "intercept_", 0.0), dtype=float))
    if W.shape != (problem.d, problem.m):
        raise ValueError(
            f"coef_ of {type(estimator).__name__} has shape {W.T.shape}; (m, d) = ({problem.m}, "
            f"{problem.d}) is needed, a row for each score of the problem's loss"
        )
    if problem.intercept:
        return W, np.broadcast_to(b, (problem.m,))
    if b.any():
        raise ValueError(
            f"{type(estimator).__name__} has an intercept, and the problem has none; make the problem "
            "with intercept=True"
        )
    return W, None


def dual_value(problem: Problem, dual: Any) -> float:
    """Return the lower bound of the optimum that a dual point proves; see :func:`certify`.

    Parameters
    ----------
    problem
        the problem.
    dual
        a dual point (n, m).

    Returns
    -------
    float
        the bound.

    Raises
    ------
    ValueError
        for another shape, and for rows outside the domain.
    """
    U = np.array(dual, dtype=np.float64)
    n, m, lam, regulariser = problem.n, problem.m, problem.lam, problem.regulariser
    if U.shape != (n, m):
        raise ValueError(f"dual has shape {U.shape}; (n, m) = ({n}, {m}) is needed, a row for each sample")
    if not np.isfinite(U).all():
        raise ValueError("dual has entries that are not finite")
    _require_domain(problem, U)
    work = Workspace(problem)
    work.U = U
    if problem.intercept:
        repair_dual(U, *problem.terms)
    top, conjugate = 0.0, 0.0
    for _, _, G in work.gradients(problem):
        norm, star = regulariser.duals(G, 1.0 / n, lam)
        top, conjugate = max(top, norm), conjugate + star
    scale = min(1.0, lam / top) if top > 0.0 else 1.0
    return -math.fsum(conjugates(problem, scale * U)) / n - lam * conjugate


def conjugates(problem: Problem, U: np.ndarray) -> list[float]:
    """Evaluate ℓ*(u_i, y_i), or an upper bound of it, for all samples; of the weighted losses if there are weights.

    Parameters
    ----------
    problem
        the problem.
    U
        a dual point (n, m).

    Returns
    -------
    list[float]
        the values; +∞ outside the domain.
    """
    targets, loss = problem.terms
    return [float(loss.conjugate(u, target)) for u, target in zip(U, targets, strict=True)]


def _require_domain(problem: Problem, U: np.ndarray) -> None:
    """``ValueError`` for rows outside the domain of ℓ*, whose own functions allow for rounding in gradients.

    Fenchel–Young, ⟨u, z⟩ ≤ ℓ(z) + ℓ*(u), is asked for at scores far out in every direction.
    """
    weights = problem.sample_weight
    values = np.array(conjugates(problem, U))
    if weights is not None:  # (ωℓ)*(u) = ω·ℓ*(u/ω)
        U, values = U / weights[:, None], values / weights
    m, y, loss = problem.m, problem.y, problem.loss
    targets, of_sample = np.unique(y, axis=0, return_inverse=True)
    far = FAR * np.concatenate([np.eye(m), -np.eye(m), np.ones((1, m)), -np.ones((1, m))])
    worst = np.where(np.isfinite(values), -np.inf, np.inf)
    for z in far:
        levels = np.array([float(loss.value(z, target)) for target in targets])
        worst = np.maximum(worst, U @ z - levels[of_sample.ravel()] - values)
    # So far out a loss that adds squares loses its hinges of size one: as many as there are pairs of labels.
    bad = np.flatnonzero(worst > m * m * (1.0 + np.abs(U).max(axis=1)))
    if bad.size:
        raise ValueError(
            f"dual has {bad.size} rows outside the domain of the conjugate of the {loss.title} loss, the "
            f"first at sample {bad[0]}: {np.array2string(U[bad[0]], precision=4)}. Rows must be like "
            "gradients of the loss"
        )
