"""Dual points scaled sample by sample: where few features are in the way, only their samples pay.

A dual point U is feasible for Ω if every level ‖(XᵀU)_j‖°/n is at most λ. Multiplying all of U by λ/max_j level_j makes
it so, and costs about as much of the dual value as if all features were above λ. But s_i·u_i is in the domain of ℓ* for
any s_i in [0, 1] (which is convex and holds 0), so the samples without such a feature can stay as they are:
    s_i = min(1, λ/level_j over the features j of sample i)
What that leaves above λ, because samples were scaled by different factors, is little, and U is scaled by it as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.rows import gradient_conjugate_sum, largest_shares, repair_dual, repaired_conjugate_sum
from ..pauses import parts_of, pause

# Largest relative gap of the point scaled as a whole: far from the solution many levels are too large.
WORTH_TRYING = 0.05
ENTRIES = 1_000_000  # of X that are looked at between two pauses
LARGEST_SHARE = 0.7  # of what scaling as a whole takes: samples that lose more on average make a second look not pay


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

    def shares(self, problem: Any, rows: np.ndarray | None = None) -> np.ndarray:
        """Return 1 − s_i for every sample.

        Parameters
        ----------
        problem
            the problem.
        rows
            the features that the first levels belong to; ``None``: all d.

        Returns
        -------
        np.ndarray
            what each sample loses, (n,).
        """
        levels = self.levels if rows is None else self.levels[: rows.size]
        high = np.flatnonzero(levels > problem.lam)
        above = high if rows is None else rows[high]
        matrix = problem.design.matrix
        every = matrix.indptr[above + 1] - matrix.indptr[above]
        lost = np.zeros(problem.n)
        for first, last in parts_of(every, ENTRIES):
            here = levels[high[first:last]]
            largest_shares(problem.design.columns, above[first:last], here, problem.lam, lost)
            pause()
        return lost

    def dual(self, problem: Any, Z: np.ndarray, work: Any, top: float, rows: np.ndarray | None = None) -> float:
        """Return the dual value of U scaled sample by sample; −inf where that cannot pay.

        Parameters
        ----------
        problem
            the problem.
        Z
            scores (n, m) whose gradients U was made of.
        work
            the workspace with dual rows U (n, m), whose columns sum to zero where there is an intercept.
        top
            largest level of U.
        rows
            the features that the levels belong to; ``None``: all d.

        Returns
        -------
        float
            a lower bound of F.
        """
        pause()
        lost = self.shares(problem, rows)
        if lost.mean() > LARGEST_SHARE * (1.0 - problem.lam / top):
            return -np.inf
        if self.U is None:
            self.U = np.empty((problem.n, problem.m))
        kept = 1.0 - lost
        U = np.multiply(work.U, kept[:, None], out=self.U)
        if problem.intercept:
            repair_dual(U, *problem.terms)
        left = 0.0
        near = work.screen.rows(problem, U)
        for _, _, G in work.pieces(problem, U, near):
            left = max(left, problem.regulariser.duals(G, 1.0 / problem.n, problem.lam)[0])
        scale = min(1.0, problem.lam / left) if left > 0.0 else 1.0
        if problem.intercept or work.own:
            return -float(repaired_conjugate_sum(Z, U, scale, *problem.terms)) / problem.n
        return -float(gradient_conjugate_sum(Z, work.U, scale, kept, *problem.terms)) / problem.n
