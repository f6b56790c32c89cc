"""The low-rank model of a Hessian that LHAC keeps (Tang and Scheinberg 2013, Eq. 10–14).

B = γI − QRQᵀ from the last pairs (s_i, t_i) of a move and the change of ∇f: γ = tᵀt/tᵀs, Q = [γS T],
R = [γSᵀS, L; Lᵀ, −D]⁻¹, L_ij = s_iᵀt_j for i > j, D = diag(s_iᵀt_i)
a pair without curvature is damped or skipped
"""

from __future__ import annotations

import math

import numpy as np

# A pair is damped if its curvature sᵀt is below this share of the model's sᵀBs. Powell's 0.2 would also touch pairs of
# convex losses whose curvature simply is small.
DAMPED_BELOW = 1e-3
LEAST_NEW = 8  # violated entries that are taken at least
FLAT = 1e-10  # sᵀt below this share of ‖s‖‖t‖ is rounding


class LowRankHessian:
    """The model over ``size`` variables: the last pairs, oldest first, as rows of S and T, and γ and R made of them.

    gamma : the γ of a model without pairs
    """

    def __init__(self, size: int, memory: int, gamma: float) -> None:
        self.memory, self.gamma = memory, gamma
        self.S, self.T = np.empty((0, size)), np.empty((0, size))
        self.R = np.empty((0, 0))

    def learn(self, s: np.ndarray, t: np.ndarray, damp: bool) -> None:
        """Take a move s and the change t of the gradient, both (size,) float64, if there is curvature in the pair."""
        curvature = float(s @ t)
        if damp and self.R.size:
            Qs = np.concatenate([self.gamma * (self.S @ s), self.T @ s])
            inner = self.R @ Qs
            expected = self.gamma * float(s @ s) - float(Qs @ inner)
            if curvature < DAMPED_BELOW * expected:
                half = len(self.S)
                Bs = self.gamma * (s - inner[:half] @ self.S) - inner[half:] @ self.T
                theta = (1.0 - DAMPED_BELOW) * expected / (expected - curvature)
                t = theta * t + (1.0 - theta) * Bs
                curvature = float(s @ t)
        if curvature <= FLAT * math.sqrt(float(s @ s) * float(t @ t)):
            return
        drop = max(len(self.S) - self.memory + 1, 0)
        self.S, self.T = np.vstack([self.S[drop:], s]), np.vstack([self.T[drop:], t])
        self.gamma = float(t @ t) / curvature
        ST = self.S @ self.T.T
        L = np.tril(ST, -1)
        middle = np.block([[self.gamma * (self.S @ self.S.T), L], [L.T, -np.diag(np.diag(ST))]])
        self.R = np.linalg.inv(middle)
        self.R = 0.5 * (self.R + self.R.T)

    def rows(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q and QR on some variables, (s, 2·pairs), and the diagonal of B there, (s,)."""
        S, T = (np.ascontiguousarray(A[:, at].T) for A in (self.S, self.T))
        Q = np.hstack([self.gamma * S, T])
        Qhat = Q @ self.R
        return Q, Qhat, np.maximum(self.gamma - np.einsum("ar,ar->a", Q, Qhat), 1e-12 * self.gamma)


def largest_violations(violation: np.ndarray, greed: float) -> np.ndarray:
    """The places of the largest of the violations (size,) that are not 0: a share ``greed`` of them (Eq. 21)."""
    violated = np.flatnonzero(violation > 0.0)
    # The share is one of all violated entries, those of the support included (the paper's I⁽¹⁾).
    count = max(math.ceil(greed * violated.size), LEAST_NEW)
    if count < violated.size:
        violated = violated[np.argpartition(-violation[violated], count - 1)[:count]]
    return violated
