"""ProblemPoint: objective, gradient and certificates of a problem at a point (W, b)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs.is_sparse import is_sparse
from ..inputs.labels import fits_dense
from ..kernels.rows import loss_gradient, loss_sum
from . import natural
from .base import Certificate
from .certificate import Workspace, certify, double_scores
from .problem_constants import ProblemConstants

SPARSE_INSTEAD = "use a solver whose weights are sparse"
MOST_SHIFT = 1e6  # of all intercepts together that is left as it is given
MOST_NUMBERS = 50_000_000  # in the scores of zero weights that are evaluated for F(0)


class ProblemPoint(ProblemConstants):
    """Values of a problem at a point; see :class:`sparsescope.Problem`."""

    def coefficients(self, W: Any = None, b: Any = None) -> np.ndarray:
        """Return W and b as the one array of solvers, in the frame of :attr:`design`; zeros where they are left out.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).

        Returns
        -------
        np.ndarray
            the array (rows, m).

        Raises
        ------
        ValueError
            for other shapes, for entries that are not finite, and for an array of more than 4 GB.
        """
        return self.design.inward(self._given(W, b))

    def _given(self, W: Any, b: Any) -> np.ndarray:
        """W and b in one array, as they are."""
        fits_dense("W", self.rows, self.m, self.dtype.itemsize, SPARSE_INSTEAD)
        coef = np.zeros((self.rows, self.m), dtype=self.dtype)
        if W is not None:
            W = W.toarray() if is_sparse(W) else np.asarray(W)
            if W.shape != (self.d, self.m):
                raise ValueError(f"W has shape {W.shape}; (d, m) = ({self.d}, {self.m}) is needed")
            if not np.isfinite(W).all():
                raise ValueError("W has entries that are not finite")
            coef[: self.d] = W
        if b is not None:
            if not self.intercept:
                raise ValueError("b is given, but the problem has no intercept (intercept=True adds one)")
            if np.shape(b) != (self.m,):
                raise ValueError(f"b has shape {np.shape(b)}; ({self.m},) is needed")
            shift = float(np.mean(b)) if self.loss.of_differences and self.m > 1 else 0.0
            # A number added to all intercepts changes nothing; a huge one would hide the scores by rounding.
            coef[self.d] = np.asarray(b) - shift if abs(shift) > MOST_SHIFT else b
        return coef

    def objective(self, W: Any, b: Any = None) -> float:
        """Evaluate the objective F(W, b).

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).

        Returns
        -------
        float
            F.
        """
        if self.natural is not self:
            return self.natural.objective(W, b)
        coef = self.coefficients(W, b)
        Z = self.design.matmul(coef, np.empty((self.n, self.m), dtype=self.dtype))
        return loss_sum(Z, *self.terms) / self.n + self.lam * self.regulariser.value(coef[: self.d])[0]

    @property
    def null_objective(self) -> float:
        """F of zero weights with the best intercept; NaN where scores or weights would take too much memory."""
        if max(self.n, self.rows) * self.m > MOST_NUMBERS:
            return float("nan")
        return self._data.cached(
            ("null objective", self.loss), lambda: self.objective(None, self.null_intercept if self.intercept else None)
        )

    def gradient(self, W: Any, b: Any = None) -> Any:
        """Evaluate the gradient of the loss part with respect to W.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).

        Returns
        -------
        Any
            the gradient (d, m); with an intercept the pair (G, g_b).
        """
        coef = self.coefficients(W, b)
        Z = self.design.matmul(coef, np.empty((self.n, self.m), dtype=self.dtype))
        U = np.empty_like(Z)
        loss_gradient(Z, *self.terms, U)
        G = self.design.rmatmul(U, np.empty_like(coef)) / self.n
        bias, frame = (G[self.d] if self.intercept else None), self.design.frame
        G = G[: self.d] if frame is None else frame.gradient(G[: self.d], bias)
        return (G, bias) if self.intercept else G

    def certificate(self, W: Any, b: Any = None) -> Certificate:
        """Evaluate objective, dual value, gap and violations at a point.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).

        Returns
        -------
        Certificate
            the certificate, evaluated in double precision.
        """
        if self.natural is not self:
            return natural.as_given(self.natural, self.natural.certificate(W, b), budget=False)
        coef = self.coefficients(W, b)
        work = Workspace(self)
        return certify(self, coef, double_scores(self, coef, work.Z), work)

    def violation(self, W: Any, b: Any = None, *, paper: bool = False) -> float:
        """Evaluate the largest optimality violation of a row (and of the intercept).

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).
        paper
            True takes Eq. 9 of Blondel et al. (2013). It is necessary but not sufficient: it does not see a wrong
            direction of a non-zero row (docs/mathematics.md, section 3). It is NaN for penalties that are not
            norms.

        Returns
        -------
        float
            the violation.
        """
        found = self.certificate(W, b)
        return found.paper_violation if paper else found.violation

    def gap(self, W: Any, b: Any = None) -> float:
        """Evaluate the duality gap F − D ≥ F − F* at a point.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).

        Returns
        -------
        float
            the gap.
        """
        return self.certificate(W, b).gap
