"""Dual points scaled sample by sample: where few features are in the way, only their samples pay.

A dual point U is feasible for Ω if every level ‖(XᵀU)_j‖°/n is at most λ. Multiplying all of U by λ/max_j level_j makes
it so, and costs about as much of the dual value as if all features were above λ. But s_i·u_i is in the domain of ℓ* for
any s_i in [0, 1] (which is convex and holds 0), so the samples without such a feature can stay as they are:
    s_i = min(1, λ/level_j over the features j of sample i)
What that leaves above λ, because samples were scaled by different factors, is little, and U is scaled by it as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..kernels.rows import repair_dual, repaired_conjugate_sum

# Largest relative gap of the point scaled as a whole: far from the solution many levels are too large.
WORTH_TRYING = 0.05
LARGEST_SHARE = 0.7  # of what scaling as a whole takes: samples that lose more on average make a second look not pay


Gradients = Callable[[Any, np.ndarray], Iterator[tuple[int, int, np.ndarray]]]


class LocalScaling:
    """Scale dual rows of sparse data sample by sample; holds the arrays for it.

    Parameters
    ----------
    problem
        data, loss, penalty and λ; the data sparse, in double precision and in one piece.
    """

    def __init__(self, problem: Any) -> None:
        self.levels = np.empty(problem.d)  # of XᵀU/n, written by the certificate
        self.U: np.ndarray | None = None  # made where it is used first

    def shares(self, problem: Any) -> np.ndarray:
        """Return 1 − s_i for every sample.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        np.ndarray
            what each sample loses, (n,).
        """
        above = np.flatnonzero(self.levels > problem.lam)
        matrix = problem.design.matrix
        lengths = matrix.indptr[above + 1] - matrix.indptr[above]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if ends.size else 0) + np.repeat(matrix.indptr[above] - (ends - lengths), lengths)
        lost = np.zeros(problem.n)
        np.maximum.at(lost, matrix.indices[places], np.repeat(1.0 - problem.lam / self.levels[above], lengths))
        return lost

    def dual(self, problem: Any, Z: np.ndarray, U: np.ndarray, top: float, gradients: Gradients) -> float:
        """Return the dual value of U scaled sample by sample; −inf where that cannot pay.

        Parameters
        ----------
        problem
            the problem.
        Z
            scores (n, m) whose gradients U was made of.
        U
            dual rows (n, m), with columns that sum to zero where there is an intercept.
        top
            largest level of U.
        gradients
            function of the problem and dual rows that gives the pieces of XᵀU.

        Returns
        -------
        float
            a lower bound of F.
        """
        lost = self.shares(problem)
        if lost.mean() > LARGEST_SHARE * (1.0 - problem.lam / top):
            return -np.inf
        if self.U is None:
            self.U = np.empty((problem.n, problem.m))
        np.multiply(U, (1.0 - lost)[:, None], out=self.U)
        if problem.intercept:
            repair_dual(self.U, *problem.terms)
        left = 0.0
        for _, _, G in gradients(problem, self.U):
            left = max(left, problem.regulariser.duals(G, 1.0 / problem.n, problem.lam)[0])
        scale = min(1.0, problem.lam / left) if left > 0.0 else 1.0
        return -float(repaired_conjugate_sum(Z, self.U, scale, *problem.terms)) / problem.n
