"""ProblemConstants: Lipschitz constants, norms, λ_max and null models of a problem, each evaluated once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..inputs.design_products import SingleProducts
from ..penalties import L1L2
from . import constants, null_fits
from .null_programs import Critical
from .problem_facts import ProblemFacts
from .regulariser import Regulariser, regulariser_of


class ProblemConstants(ProblemFacts):
    """Constants of a problem, which siblings share; see :class:`sparsescope.Problem`."""

    def _regulariser(self, penalty: Any) -> Regulariser:
        return regulariser_of(
            penalty, (self.d, self.m), self.feature_names, self._data.cached, self._data.feature_weights
        )

    def block_constants(self, kind: str = "class-aware") -> np.ndarray:
        """Return the Lipschitz constants K_j of the rows' gradients.

        Parameters
        ----------
        kind
            ``paper`` (as printed), ``tight`` or ``class-aware``.

        Returns
        -------
        np.ndarray
            K (rows,).
        """
        return self._data.cached(
            ("block", kind, self.loss),
            lambda: constants.block_constants(
                self.design, self.y, self.m, self.loss, self.intercept, kind, self.sample_weight
            ),
        )

    def full_constant(self, kind: str = "class-aware") -> float:
        """Return the Lipschitz constant K of the whole gradient.

        Parameters
        ----------
        kind
            ``paper``, ``tight`` or ``class-aware``.

        Returns
        -------
        float
            K.
        """
        return self._data.cached(
            ("full", kind, self.loss),
            lambda: constants.full_constant(
                self.design, self.y, self.m, self.loss, self.intercept, kind, self.sample_weight
            ),
        )

    def operator_norm(self, differences: bool = False) -> float:
        """Return the squared operator norm ‖X‖², with the column of an intercept.

        Parameters
        ----------
        differences
            take ‖T‖² of the map of W to Z − Z[y]·1ᵀ instead (docs/mathematics.md, section 4).

        Returns
        -------
        float
            the squared norm.
        """
        return self._data.cached(
            ("norm", differences),
            lambda: constants.operator_norm(self.design, self.y, self.m, self.intercept, differences),
        )

    def second_moment(self, samples: int | None = None) -> np.ndarray:
        """Return the second moment Σ̂ = XᵀX/n, with the column of ones of an intercept last.

        With sample weights it is XᵀΩX/n.

        Parameters
        ----------
        samples
            number of samples, drawn at random, that it is estimated from; ``None``: all.

        Returns
        -------
        np.ndarray
            Σ̂ (rows, rows), in the precision of the data.
        """
        return self._data.cached(
            ("moment", samples),
            lambda: constants.second_moment(self.design, self.intercept, self.sample_weight, samples),
        )

    def single_products(self) -> SingleProducts:
        """Return products with a dense X in single precision, which directions of a method may be made of.

        Returns
        -------
        SingleProducts
            the products; a copy of X is kept for them.
        """
        return self._data.cached(("single",), lambda: SingleProducts(self.design))

    def spectrum(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and eigenvectors of the second moment Σ̂ of some samples, see :meth:`second_moment`.

        Parameters
        ----------
        samples
            the number of samples, drawn at random where it is not that of all.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            the eigenvalues (rows,), none below 0, and the eigenvectors (rows, rows), in the precision of the data.
        """
        return self._data.cached(("spectrum", samples), lambda: constants.spectrum(self.second_moment(samples)))

    def directions(self) -> float:
        """Return how many directions the columns of a dense X have in effect.

        These are d if the columns are orthogonal, and 1 if they are the same but for their lengths.

        Returns
        -------
        float
            d²/‖C‖²_F with the cosines C of the columns, estimated from 128 samples; columns of zeros do not count.
        """
        return self._data.cached(("directions",), lambda: constants.directions(self.design))

    def even_samples(self) -> float:
        """Return how many samples of dense X there are in effect.

        These are n if all have the same length, and few if a few long ones have most of what the columns hold.

        Returns
        -------
        float
            (Σ r)²/Σ r² of the squared lengths r of the samples, in columns of mean square 1; from at most 512 samples.
        """
        return self._data.cached(("even samples",), lambda: constants.even_samples(self.design))

    def row_space(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the left singular vectors U of X and its singular values, those that are zero but for rounding apart.

        They are the eigenvectors of XXᵀ and the roots of its eigenvalues: O(n²·d + n³) operations, once for the data.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            U (n, r) and the values (r,) in ascending order, in double precision; r ≥ 1.
        """
        return self._data.cached(("row space",), lambda: constants.row_space(self.design))

    def centred_norm(self, differences: bool = False) -> tuple[np.ndarray, float, float]:
        """Return the mean row x̄ of X, a length s, and the squared norm of [X − 1x̄ᵀ, s·1].

        s is the length at which the column of the intercept is scaled like the others.

        Parameters
        ----------
        differences
            as in :meth:`operator_norm`.

        Returns
        -------
        tuple[np.ndarray, float, float]
            x̄ (d,), s and the squared norm.
        """
        means = self._data.cached(
            ("means",),
            lambda: self.design.rmatmul(
                np.full((self.n, 1), 1.0 / self.n, self.dtype), np.empty((self.d, 1), self.dtype)
            )[:, 0],
        )
        norm, scale = self._data.cached(
            ("centred norm", differences),
            lambda: constants.centred_norm(self.design, self.y, self.m, means, differences),
        )
        return means, scale, norm

    @property
    def lam_max(self) -> float:
        """Smallest λ whose solution is W = 0; +∞ if the penalty never forces zeros (ridge).

        For a non-smooth loss (``loss.smooth`` is False) it is a minimum over all subgradients at W = 0, and the value
        is an upper bound of it: at this λ, W = 0 is optimal. :attr:`lam_max_slack` bounds its error.
        """
        return self._critical(self.penalty).lam

    @property
    def lam_max_slack(self) -> float:
        """Bound of the relative error of :attr:`lam_max`, which may be too large by this share of itself.

        It is 0 for smooth losses, about 1e-6 or less where the programme over the subgradients was solved, larger where
        that reached its limit of steps, and 1 where it would be too large and an arbitrary subgradient is taken.
        """
        return self._critical(self.penalty).slack

    @property
    def lam_reference(self) -> float:
        """Unit of λ sliders: ``lam_max`` where it is finite, else that of the group lasso on the same data.

        Raises ``ValueError`` if it is 0: then W = 0 is optimal for every λ, and λ has no scale.
        """
        unit = self.lam_max if np.isfinite(self.lam_max) else self._critical(L1L2()).lam  # both are kept with the data
        if unit <= 0.0:
            raise ValueError(
                "λ_max is 0: no feature separates the classes even slightly (is X zero everywhere?), so "
                "all weights are zero whatever λ is"
            )
        return unit

    def _critical(self, penalty: Any) -> Critical:
        inner = self.natural
        if inner is not self:
            found = inner._critical(penalty)  # −G ∈ λ∂Ω(0): of degree one in G, whatever the penalty is
            return replace(found, lam=found.lam / inner.units[0])
        return self._data.cached(
            ("critical", self.loss, penalty), lambda: null_fits.critical(self, self._regulariser(penalty))
        )

    @property
    def null_duals(self) -> np.ndarray:
        """(Sub)gradients of the losses at the best point without penalised weights, (n, m), in the domain of ℓ*."""
        return null_fits.first_duals(self, self.regulariser)

    @property
    def null_free(self) -> np.ndarray:
        """Best coefficients (rows, m) with all penalised entries at zero (null model).

        These are the free entries of a weighted penalty and the intercept. Where there is no best fit (separable
        classes) they are a point far along its direction.
        """
        return self._data.cached(("free", self.loss, self.penalty), lambda: null_fits.fit_free(self))

    @property
    def null_intercept(self) -> np.ndarray:
        """The best intercept when W = 0 (zeros for a problem without one), shape (m,), float64."""
        if not self.intercept:
            return np.zeros(self.m)
        return self._data.cached(("null", self.loss), lambda: null_fits.fit_intercept(self))

    @property
    def null_of_sets(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Best intercept of label sets at W = 0 with subgradients there, if there is one and the loss defines them."""
        if not (self.multilabel and self.intercept):
            return None
        return self._data.cached(
            ("null of sets", self.loss), lambda: self.loss.null_of_sets(self.y, self.sample_weight)
        )
