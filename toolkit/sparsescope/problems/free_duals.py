"""Dual points that are orthogonal to everything without penalty: free entries of W, and the intercept beside them.

A dual point U is feasible if x_jᵀu_k = 0 for every free entry (j, k) of W, and 1ᵀU = 0 with an intercept. The gradients
of the losses are so at the optimum only. But refit the free entries with all other weights held fast: where the loss
is smallest over them, at scores Z + A·C, U = ∇ℓ(Z + A·C) is orthogonal to A, and it lies in the domain of ℓ* as it is.
Few Newton steps by conjugate gradients do that, and near the optimum one or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.newton import hessian_rows, moved_loss
from ..kernels.rows import loss_gradient
from .linear_algebra import inner

NEWTON, PATIENCE, HALVINGS = 60, 8, 30
ARMIJO = 1e-4
CG_STEPS, CG_TOLERANCE = 200, 1e-3
ROUNDING = 1e-12  # what is left of AᵀU counts as rounding below this share of |A|ᵀ|U|


class FreeFit:
    """The free entries of one problem, with their columns of data in double precision."""

    def __init__(self, problem: Any) -> None:
        free = problem.regulariser.free
        self.problem, self.regulariser = problem, problem.regulariser
        self.rows = np.flatnonzero(free.any(axis=1))
        columns = problem.design.take(self.rows) if problem.partitioned else problem.design.matrix[:, self.rows]
        A = columns.astype(np.float64)
        self.A = A.tocsc() if problem.design.is_sparse else A
        self.size = abs(self.A)
        self.mask = free[self.rows]
        if problem.intercept:
            self.mask = np.vstack([self.mask, np.ones((1, problem.m), dtype=bool)])
        self.samples = np.arange(problem.n)
        squares = self.size.multiply(self.size) if problem.design.is_sparse else A * A
        norms = np.append(np.asarray(squares.sum(axis=0)).ravel(), np.full(int(problem.intercept), float(problem.n)))
        self.norms = np.maximum(norms, 1e-300)[:, None]

    def fits(self, problem: Any) -> bool:
        """Return whether it was made for this penalty and these data."""
        return problem.regulariser is self.regulariser and problem.design is self.problem.design

    def _forward(self, C: np.ndarray) -> np.ndarray:
        f = self.rows.size
        E = np.ascontiguousarray(self.A @ C[:f])
        if C.shape[0] > f:
            E += C[f]
        return E

    def _back(self, A: Any, U: np.ndarray) -> np.ndarray:
        G = A.T @ U
        if self.mask.shape[0] > self.rows.size:
            G = np.vstack([G, np.abs(U).sum(axis=0) if A is self.size else U.sum(axis=0)])
        return np.asarray(np.where(self.mask, G, 0.0))

    def solve(self, problem: Any, Z: np.ndarray, U: np.ndarray) -> np.ndarray | None:
        """Scores Z + A·C at which the loss is smallest over C; U (n, m) ← the gradients there. ``None`` if the steps
        did not come to an end, with U = ∇ℓ(Z): a loss without a smallest value (separable classes), or without second
        derivatives."""
        terms: tuple[Any, Any] = problem.terms
        found = self._newton(terms, Z.copy(), U) if hasattr(problem.loss, "hessian_product") else None
        if found is None:
            loss_gradient(Z, *terms, U)
        return found

    def _newton(self, terms: tuple[Any, Any], Z: np.ndarray, U: np.ndarray) -> np.ndarray | None:
        value = float(loss_gradient(Z, *terms, U))
        least, idle = np.inf, 0
        for _ in range(NEWTON):
            G = self._back(self.A, U)
            if not (np.abs(G) > ROUNDING * self._back(self.size, np.abs(U))).any():
                return Z
            left = float(np.abs(G).max())
            idle = 0 if left < 0.5 * least else idle + 1
            if idle > PATIENCE:
                return None
            least = min(left, least)
            D = self._direction(Z, U, terms, G)
            E, slope, size = self._forward(D), inner(G, D), 1.0
            slack = 1e-14 * (abs(value) + float(np.abs(U * E).sum()))
            for _ in range(HALVINGS):
                moved = float(moved_loss(Z, E, size, *terms))
                if moved <= value + ARMIJO * size * slope + slack:
                    break
                size *= 0.5
            else:
                return None
            Z += size * E
            value = float(loss_gradient(Z, *terms, U))
        return None

    def _direction(self, Z: np.ndarray, U: np.ndarray, terms: tuple[Any, Any], G: np.ndarray) -> np.ndarray:
        """−H⁻¹G by conjugate gradients, H = Aᵀ∇²ℓA on the free entries; U = ∇ℓ(Z)."""

        def product(V: np.ndarray) -> np.ndarray:
            E = self._forward(V)
            hessian_rows(self.samples, Z, U, *terms, 1.0, E)
            return self._back(self.A, E)

        D, R = np.zeros_like(G), -G
        M = R / self.norms
        V, rho = M.copy(), inner(R, M)
        target = CG_TOLERANCE**2 * rho
        for _ in range(CG_STEPS):
            if not rho > target:
                break
            Q = product(V)
            curve = inner(V, Q)
            if not curve > 0.0:
                break
            D += (rho / curve) * V
            R -= (rho / curve) * Q
            M = R / self.norms
            old, rho = rho, inner(R, M)
            V = M + (rho / old) * V
        return D if D.any() else M
