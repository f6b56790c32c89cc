"""CovarianceProblemFacts: sizes, names and weights of a sparse inverse covariance problem, and its λ_max."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np

from ..inputs.html import facts_table
from .base import BaseProblem
from .covariance_input import Covariance


class CovarianceProblemFacts(BaseProblem):
    """Facts about a problem; see :class:`sparsescope.CovarianceProblem`."""

    diagonal: bool
    weights: np.ndarray | None
    _data: Covariance

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
        """Treatment of the diagonal, penalised or free, and the weights of the entries."""
        weights = "equal"
        if self.weights is not None:
            weights = f"given ({hashlib.blake2b(self.weights.tobytes(), digest_size=4).hexdigest()})"
        return {"diagonal": "penalised" if self.diagonal else "free", "weights": weights}

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
