"""The Newton system of a ridge put together and factored, where that costs less than a few conjugate-gradient steps.

With V = TBᵀ, T (rows, k), the columns of B a basis of the scores that the loss sees (all m of them, or the m − 1
differences), the system (∇²f(W) + λI)V = −G is, projected on B,

    Xᵀdiag(B_aᵀ∇²ℓ(z_i)B_b)X T_b/n + λ B_aᵀB_b T_b, summed over b  =  −G B_a,      a = 1…k:

k(k + 1)/2 products XᵀDX, and a Cholesky factorisation of order k·rows. Where differences are all that the loss sees,
a part of V that is the same for all classes is bent by the ridge alone.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ...kernels.newton import hessian_rows
from ...pauses import even_parts, pause
from ...problems.prediction import Problem

CHEAP = 3e6  # multiplications that a system may cost in any case: about a millisecond
STEPS = 4.0  # conjugate-gradient steps that it may cost beyond
PART = 4e7  # multiplications between two pauses: a few milliseconds
GEMM = 2.0  # multiplications of a product XᵀDX in the time of one of a product with few columns


def differences(problem: Problem) -> np.ndarray:
    """B (m, k): e_a − e_m of a loss of differences, whose gradients sum to zero; else the identity."""
    m = problem.m
    if m == 1 or not problem.loss.of_differences:
        return np.eye(m)
    return np.vstack([np.eye(m - 1), np.full((1, m - 1), -1.0)])


def is_cheap(problem: Problem) -> bool:
    """Return whether a system costs less than some conjugate-gradient steps, or hardly anything."""
    n, rows, k = problem.n, problem.rows, differences(problem).shape[1]
    cost = 0.5 * k * (k + 1) * n * rows**2 + (k * rows) ** 3 / 3.0
    return cost <= max(CHEAP, GEMM * STEPS * 2.0 * n * rows * problem.m)


class NewtonSystem:
    """The system of one problem's data; it holds X as a dense array in double precision."""

    def __init__(self, problem: Problem) -> None:
        matrix = problem.design.matrix
        X = np.asarray(matrix.toarray() if problem.design.is_sparse else matrix, dtype=np.float64)
        self.X = np.column_stack([X, np.ones(problem.n)]) if problem.intercept else X

    def direction(self, problem: Problem, Z: np.ndarray, U: np.ndarray, G: np.ndarray) -> np.ndarray | None:
        """D (rows, m) at scores Z, with U = ∇ℓ(Z) and the gradient G of F; ``None`` if rounding leaves no factor."""
        B, rows = differences(problem), problem.rows
        k = B.shape[1]
        system = np.zeros((k, rows, k, rows))
        for part in even_parts(problem.n, k * k * rows**2, PART):
            self._add(problem, np.arange(*part), Z, U, B, system)
            pause()
        system /= problem.n
        penalised = np.arange(problem.d)
        for a, b in np.ndindex(k, k):
            system[a, penalised, b, penalised] += problem.lam * float(B[:, a] @ B[:, b])
        right = -(G.astype(np.float64, copy=False) @ B).T.ravel()
        try:
            factor = scipy.linalg.cho_factor(
                system.reshape(k * rows, k * rows), lower=True, overwrite_a=True, check_finite=False
            )
        except LinAlgError:
            return None
        found = (B @ scipy.linalg.cho_solve(factor, right, check_finite=False).reshape(k, rows)).T
        if k < problem.m:  # along (1, …, 1) there is the ridge alone
            found[: problem.d] -= G[: problem.d].mean(axis=1, keepdims=True, dtype=np.float64) / problem.lam
        return found.astype(problem.dtype) if np.isfinite(found).all() else None

    def _add(
        self, problem: Problem, samples: np.ndarray, Z: np.ndarray, U: np.ndarray, B: np.ndarray, system: np.ndarray
    ) -> None:
        """Add Xᵀdiag(B_aᵀ∇²ℓ(z_i)B_b)X of some samples to the blocks [a, :, b] with b ≤ a, which the factor reads."""
        X = self.X[samples[0] : samples[-1] + 1]
        for b, column in enumerate(B.T):
            bent = np.tile(column.astype(problem.dtype), (len(X), 1))
            hessian_rows(samples, Z, U, *problem.terms, 1.0, bent)
            curvature = bent @ B
            for a in range(b, B.shape[1]):
                system[a, :, b] += X.T @ (curvature[:, a, None] * X)
