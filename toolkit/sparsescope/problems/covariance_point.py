"""CovarianceProblemPoint: objective, gradient and certificates of a sparse inverse covariance problem at Θ."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..inputs.is_sparse import is_sparse
from .base import Certificate
from .covariance_certificate import certify_covariance
from .covariance_facts import CovarianceProblemFacts
from .linear_algebra import cholesky, inner, inverse, logdet


class CovarianceProblemPoint(CovarianceProblemFacts):
    """Values of a problem at a point; see :class:`sparsescope.CovarianceProblem`."""

    def thresholds(self, at: np.ndarray | None = None) -> np.ndarray:
        """Return λC of some features, as a new array.

        Parameters
        ----------
        at
            numbers of the features; ``None``: all.

        Returns
        -------
        np.ndarray
            λC, (k, k).
        """
        k = self.d if at is None else at.size
        if self.weights is None:
            Lam = np.full((k, k), self.lam)
        else:
            Lam = self.lam * (self.weights if at is None else self.weights[np.ix_(at, at)])
        if not self.diagonal:
            np.fill_diagonal(Lam, 0.0)
        return Lam

    @cached_property
    def diagonal_thresholds(self) -> np.ndarray:
        """λC_ii, (p,)."""
        if not self.diagonal:
            return np.zeros(self.d)
        return self.lam * (np.ones(self.d) if self.weights is None else np.diag(self.weights))

    @cached_property
    def components(self) -> np.ndarray:
        """The component of each feature, (p,): Θ_ij = 0 at the solution where they differ."""
        from scipy.sparse.csgraph import connected_components  # slow to import, and only this kind of problem needs it

        tied = np.abs(self.S) > (self.lam if self.weights is None else self.lam * self.weights)
        np.fill_diagonal(tied, False)
        return np.asarray(connected_components(scipy.sparse.csr_array(tied), directed=False)[1])

    @property
    def null(self) -> np.ndarray:
        """The best diagonal Θ, its diagonal (p,): 1/(S_ii + λC_ii)."""
        return 1.0 / (np.diag(self.S) + self.diagonal_thresholds)

    def coefficients(self, W: Any = None, b: Any = None) -> np.ndarray:
        """Return a Θ to start from, as a new array.

        Parameters
        ----------
        W
            symmetric and positive definite (p, p); ``None``: the best diagonal Θ.
        b
            not used: there is no intercept.

        Returns
        -------
        np.ndarray
            Θ (p, p).

        Raises
        ------
        ValueError
            for another shape, and unless W is symmetric and positive definite.
        """
        if b is not None:
            raise ValueError("b is given, and a covariance problem has no intercept")
        if W is None:
            return np.diag(self.null)
        W = np.array(W.toarray() if is_sparse(W) else W, dtype=np.float64)
        if W.shape != (self.d, self.d):
            raise ValueError(f"Θ has shape {W.shape}; (p, p) = ({self.d}, {self.d}) is needed")
        if not np.isfinite(W).all():
            raise ValueError("Θ has entries that are not finite")
        if np.abs(W - W.T).max() > 1e-8 * np.abs(W).max():
            raise ValueError("Θ is not symmetric")
        W = np.ascontiguousarray(0.5 * (W + W.T))
        if cholesky(W) is None:
            raise ValueError("Θ is not positive definite; the objective is infinite there")
        return W

    def objective(self, Theta: Any) -> float:
        """Evaluate F(Θ).

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        float
            the objective; +∞ where Θ is not positive definite.
        """
        Theta = np.asarray(Theta, dtype=np.float64)
        factor = cholesky(Theta)
        if factor is None:
            return float("inf")
        return -logdet(factor) + inner(self.S, Theta) + self.lam * self.penalty_of(Theta)

    def penalty_of(self, Theta: np.ndarray) -> float:
        """Evaluate Σ C_ij ``|Θ_ij|``.

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        float
            the penalty.
        """
        sizes = np.abs(Theta)
        total = float(sizes.sum() if self.weights is None else inner(self.weights, sizes))
        if not self.diagonal:
            own = np.diag(sizes)
            total -= float(own.sum() if self.weights is None else np.diag(self.weights) @ own)
        return total

    def gradient(self, Theta: Any) -> np.ndarray:
        """Evaluate S − Θ⁻¹, the gradient of the smooth part.

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        np.ndarray
            the gradient (p, p).

        Raises
        ------
        ValueError
            if Θ is not positive definite.
        """
        return self.S - inverse(cholesky(self.coefficients(Theta)))

    def certificate(self, Theta: Any) -> Certificate:
        """Evaluate objective, dual value, gap and violations at a positive definite Θ.

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        Certificate
            see :func:`sparsescope.problems.covariance_certificate.certify_covariance`.
        """
        return certify_covariance(self, self.coefficients(Theta))

    def gap(self, Theta: Any) -> float:
        """Evaluate the duality gap F − D ≥ F − F*.

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        float
            the gap.
        """
        return self.certificate(Theta).gap

    def violation(self, Theta: Any) -> float:
        """Evaluate the largest norm of a row of optimality violations.

        Parameters
        ----------
        Theta
            Θ (p, p).

        Returns
        -------
        float
            the violation.
        """
        return self.certificate(Theta).violation
