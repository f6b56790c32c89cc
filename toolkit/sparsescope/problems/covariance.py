"""CovarianceProblem: conditional dependence graph of features (sparse inverse covariance).

    minimise over Θ ≻ 0   −logdet Θ + tr(SΘ) + λ Σ_ij C_ij|Θ_ij|                (Tang and Scheinberg 2013, Eq. 27)

S is a covariance or correlation matrix (p, p), Θ estimates its inverse; Θ_ij = 0 means that features i and j are
independent given the others. The solution falls apart into the connected components of |S_ij| > λC_ij, i ≠ j (Witten,
Friedman and Simon 2011): an isolated feature has Θ_ii = 1/(S_ii + λC_ii).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import problems
from .covariance_input import Covariance, check_weights, from_samples, given_covariance
from .covariance_point import CovarianceProblemPoint
from .linear_algebra import cholesky

DEFAULT_LAM = 0.5


class CovarianceProblem(CovarianceProblemPoint):
    """Sparse inverse covariance (graphical lasso): minimise tr(SΘ) − log det Θ + λ Σ C_ij ``|Θ_ij|``.

    A problem never changes; :meth:`with_` returns a sibling that shares S. The weights of states and results are Θ, so
    ``d`` and ``m`` are both p; there is no intercept.

    Parameters
    ----------
    S
        covariance or correlation matrix (p, p): array, sparse matrix or data frame (whose columns name the
        features); symmetric and positive semidefinite up to rounding. It is kept in double precision.
    lam
        λ > 0; 0.5 if neither it nor ``lam_ratio`` is given.
    lam_ratio
        λ as a multiple of :attr:`lam_reference`, in place of ``lam``.
    weights
        C (p, p), symmetric, entries ≥ 0: the penalty of Θ_ij is λC_ij; ``None``: all ones.
    diagonal
        whether the diagonal of Θ is penalised; False sets C_ii = 0.
    feature_names
        names to show; taken from a data frame if left out.

    Raises
    ------
    ValueError, TypeError
        if S is not symmetric, indefinite or not finite, for negative weights, more features than memory holds, or a
        problem without a minimum.

    Examples
    --------
    >>> problem = ss.CovarianceProblem.from_data(ss.datasets.load("iris").X, lam_ratio=0.3)
    >>> result = ss.solve(problem)
    """

    kind = "covariance"
    title = "sparse inverse covariances (sparsescope.CovarianceProblem)"
    samples = False
    least_scale = 1.0  # F, in nats, may be near zero
    intercept = False
    image_shape = None

    def __init__(
        self,
        S: Any,
        *,
        lam: float | None = None,
        lam_ratio: float | None = None,
        weights: Any = None,
        diagonal: bool = True,
        feature_names: Any = None,
    ) -> None:
        self._data = S if isinstance(S, Covariance) else given_covariance(S, feature_names)
        self._set(lam, weights, diagonal, lam_ratio)

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        correlation: bool = False,
        lam: float | None = None,
        lam_ratio: float | None = None,
        weights: Any = None,
        diagonal: bool = True,
        feature_names: Any = None,
        features: int | None = None,
    ) -> CovarianceProblem:
        """Make the problem of the covariance of samples: S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ.

        Parameters
        ----------
        X
            samples (n, p), n ≥ 2: array, sparse matrix, data frame, or a Dataset of :mod:`sparsescope.datasets`.
        correlation
            scale every feature to unit variance.
        lam, lam_ratio, diagonal, feature_names
            as for the class.
        weights
            as for the class, of the features kept.
        features
            keep only this number of features, those of largest variance (of equal ones the first), in their order;
            constant ones never. ``None``: all.

        Returns
        -------
        CovarianceProblem
            the problem.

        Raises
        ------
        ValueError
            as for the class; with ``correlation`` also for a constant feature, which the message names.
        """
        return cls(
            from_samples(X, correlation, feature_names, features),
            lam=lam,
            lam_ratio=lam_ratio,
            weights=weights,
            diagonal=diagonal,
        )

    def _set(self, lam: Any, weights: Any, diagonal: Any, lam_ratio: Any = None) -> None:
        if not isinstance(diagonal, bool | np.bool_):
            raise ValueError(f"diagonal is {diagonal!r}; True (penalised) or False is needed")
        self.diagonal = bool(diagonal)
        self.weights = None if weights is None else check_weights(weights, self._data)
        self._set_lam(lam, lam_ratio, DEFAULT_LAM)
        self._require_minimum()

    def _require_minimum(self) -> None:
        """``ValueError`` where the objective has no lower bound."""
        variances = np.diag(self.S)
        free = np.full(self.d, not self.diagonal)
        if self.weights is not None:
            free |= np.diag(self.weights) == 0.0
        flat = np.flatnonzero(free & (variances <= 0.0))
        if flat.size:
            raise ValueError(
                f"{self.feature_name(flat[0])} has variance 0 and no penalty on its diagonal entry: the "
                "objective has no lower bound. Leave the feature out, or penalise the diagonal"
            )
        if free.any() and self.weights is not None:
            outside = self.weights == 0.0
            np.fill_diagonal(outside, False)
            if outside.any() and cholesky(self.S) is None:
                raise ValueError(
                    "S is singular, and neither its diagonal nor all other entries are penalised: the "
                    "objective may have no lower bound. Penalise the diagonal, or give weights above 0"
                )

    # ------------------------------------------------------------------------------------------------------- siblings
    def with_(
        self,
        *,
        lam: float | None = None,
        lam_ratio: float | None = None,
        weights: Any = None,
        diagonal: bool | None = None,
        loss: Any = None,
        penalty: Any = None,
    ) -> CovarianceProblem:
        """Return a problem on the same S with another λ, other weights, or another rule for the diagonal.

        Parameters
        ----------
        lam, lam_ratio, weights, diagonal
            as for the class; ``None`` keeps the present one.
        loss, penalty
            not used: a covariance problem has one loss and one penalty.

        Returns
        -------
        CovarianceProblem
            the sibling.

        Raises
        ------
        ValueError
            for values that are not allowed, and for a loss or a penalty.
        """
        if loss is not None or penalty is not None:
            raise ValueError(
                "a covariance problem has no loss and no penalty to choose; its parts are lam, weights and diagonal"
            )
        sibling = object.__new__(CovarianceProblem)
        sibling._data = self._data
        sibling._set(
            self.lam if lam is None and lam_ratio is None else lam,
            self.weights if weights is None else weights,
            self.diagonal if diagonal is None else diagonal,
            lam_ratio,
        )
        return sibling

    def tiny_sibling(self) -> CovarianceProblem:
        """Return a problem of three dependent features: all covariance problems need the same kernels.

        Returns
        -------
        Any
            the tiny problem.
        """
        return CovarianceProblem(np.eye(3) + 0.5, lam=0.1)


problems.add(CovarianceProblem.kind, CovarianceProblem)
