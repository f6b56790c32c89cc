"""CovarianceProblem: which pairs of features are tied to each other when all others are known.

    minimise over Θ ≻ 0   −logdet Θ + tr(SΘ) + λ Σ_ij C_ij|Θ_ij|                (Tang and Scheinberg 2013, Eq. 27)

S is a covariance or correlation matrix (p, p), Θ estimates its inverse; Θ_ij = 0 means that features i and j are
independent given the others. The solution falls apart into the connected components of |S_ij| > λC_ij, i ≠ j (Witten,
Friedman and Simon 2011): an isolated feature has Θ_ii = 1/(S_ii + λC_ii).
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs.html import facts_table
from ..registry import problems
from .base import BaseProblem, Certificate
from .covariance_certificate import certify_covariance
from .covariance_input import Covariance, check_weights, from_samples, given_covariance
from .linear_algebra import cholesky, inner, inverse, logdet

DEFAULT_LAM = 0.5


class CovarianceProblem(BaseProblem):
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

    # ---------------------------------------------------------------------------------------------------------- facts
    @property
    def S(self) -> np.ndarray:
        """The covariance matrix, (p, p) float64, read-only."""
        return self._data.S

    @property
    def d(self) -> int:
        """Number of features p: rows of Θ."""
        return self.S.shape[0]

    @property
    def m(self) -> int:
        """Columns of Θ: p."""
        return self.S.shape[0]

    @property
    def n(self) -> int:
        """Number of samples S is made of; 0 if it was given."""
        return self._data.n

    @property
    def dtype(self) -> np.dtype:
        """float64."""
        return self.S.dtype

    @property
    def name(self) -> str | None:
        """Name of the data set, if it has one."""
        return self._data.name

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the p features, or ``None``."""
        return self._data.names

    @property
    def kept(self) -> np.ndarray | None:
        """Numbers of the samples' features that S is made of, (p,); ``None`` if they were not chosen."""
        return self._data.kept

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the samples' features that were left out because they are constant."""
        return self._data.constant

    @property
    def score_names(self) -> list[str]:
        """Names of the columns of Θ."""
        return [self.feature_name(j) for j in range(self.d)]

    @cached_property
    def parts(self) -> dict[str, Any]:
        """Whether the diagonal is penalised, and with which weights."""
        weights = "equal"
        if self.weights is not None:
            weights = f"given ({hashlib.blake2b(self.weights.tobytes(), digest_size=4).hexdigest()})"
        return {"diagonal": "penalised" if self.diagonal else "free", "weights": weights}

    def tiny_sibling(self) -> CovarianceProblem:
        """Return a problem of three dependent features: all covariance problems need the same kernels.

        Returns
        -------
        Any
            the tiny problem.
        """
        return CovarianceProblem(np.eye(3) + 0.5, lam=0.1)

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the problem among its siblings: diagonal, weights and λ."""
        return (*self.parts.values(), self.lam)

    def describe_sparsity(self, rows: int, entries: int) -> str:
        """Describe the sparsity of Θ by the number of edges of its graph.

        Parameters
        ----------
        rows
            non-zero rows.
        entries
            non-zero entries.

        Returns
        -------
        str
            the description.
        """
        return f"{(entries - self.d) // 2} edges between {rows} of {self.d} features"

    def incompatibility_reason(self, other: Any) -> str | None:
        """Return why a run cannot continue on another problem: a live change keeps S.

        Parameters
        ----------
        other
            the other problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if other.kind != self.kind or other.S is not self.S:
            return "a live change keeps the data (S); start a new run for other data"
        return None

    def __repr__(self) -> str:
        where = f"{self.name}: " if self.name else ""
        samples = f"n={self.n}, " if self.n else ""
        return f"CovarianceProblem({where}{samples}p={self.d}, λ={self.lam:.3g}, diagonal {self.parts['diagonal']})"

    def _repr_html_(self) -> str:
        return facts_table(
            "CovarianceProblem" + (f" on {self.name}" if self.name else ""),
            [
                ("features", self.d),
                ("samples", self.n or None),
                ("λ", self.lam),
                ("λ_max", self.lam_max),
                *self.parts.items(),
            ],
        )

    # ------------------------------------------------------------------------------------------------------ the point
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
        return np.asarray(connected_components(sp.csr_array(tied), directed=False)[1])

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
        W = np.array(W.toarray() if sp.issparse(W) else W, dtype=np.float64)
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

    # -------------------------------------------------------------------------------------------------------------- λ
    @cached_property
    def lam_max(self) -> float:
        """Smallest λ whose Θ is diagonal: the maximum of ``|S_ij|``/C_ij over i ≠ j.

        It is +∞ if a pair without penalty keeps Θ from being diagonal at any λ.
        """
        if self.weights is not None:
            free = (self.weights == 0.0) & (self.S != 0.0)
            np.fill_diagonal(free, False)
            if free.any():
                return float("inf")
        return self._critical()

    @property
    def lam_reference(self) -> float:
        """Unit of λ sliders: the largest ``|S_ij|``/C_ij of penalised pairs.

        ``ValueError`` if it is 0: then S is diagonal, and so is Θ for every λ.
        """
        unit = self._critical()
        if unit <= 0.0:
            raise ValueError("S is diagonal where Θ is penalised: Θ is the same for every λ there, and λ has no scale")
        return unit

    def _critical(self) -> float:
        sizes = np.abs(self.S)
        if self.weights is not None:
            sizes = np.divide(sizes, self.weights, out=np.zeros_like(sizes), where=self.weights > 0.0)
        np.fill_diagonal(sizes, 0.0)
        return float(sizes.max(initial=0.0))


problems.add(CovarianceProblem.kind, CovarianceProblem)
