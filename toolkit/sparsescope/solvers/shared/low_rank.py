"""The low-rank model of a Hessian that LHAC keeps (Tang and Scheinberg 2013, Eq. 10–14).

B = γI − QRQᵀ from the last pairs (s_i, t_i) of a move and the change of ∇f: γ = tᵀt/tᵀs, Q = [γS T],
R = [γSᵀS, L; Lᵀ, −D]⁻¹, L_ij = s_iᵀt_j for i > j, D = diag(s_iᵀt_i)
a pair without curvature is damped or skipped
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.coordinates import lowrank_descent, walk
from ...pauses import even_parts, pause, to_the_end
from .in_parts import COPIED, PART, WORK, largest, taken, where

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
        self._rows = np.empty((memory, size)), np.empty((memory, size))  # pages of what is not used yet are not held
        self.S, self.T = self._rows[0][:0], self._rows[1][:0]
        self.R = np.empty((0, 0))

    def learn(self, s: np.ndarray, t: np.ndarray, damp: bool) -> None:
        """Take a move s and the change t of the gradient, both (size,) float64, if there is curvature in the pair."""
        curvature = float(s @ t)
        if damp and self.R.size:
            Qs = np.concatenate([self.gamma * _times(self.S, s), _times(self.T, s)])
            inner = self.R @ Qs
            expected = self.gamma * float(s @ s) - float(Qs @ inner)
            if curvature < DAMPED_BELOW * expected:
                half = len(self.S)
                Bs = self.gamma * (s - inner[:half] @ self.S) - inner[half:] @ self.T
                pause()
                theta = (1.0 - DAMPED_BELOW) * expected / (expected - curvature)
                t = theta * t + (1.0 - theta) * Bs
                curvature = float(s @ t)
        if curvature <= FLAT * math.sqrt(float(s @ s) * float(t @ t)):
            return
        pairs = min(len(self.S) + 1, self.memory)
        self.S, self.T = (
            _with_row(rows, pairs, len(self.S) == self.memory, row)
            for rows, row in zip(self._rows, (s, t), strict=True)
        )
        self.gamma = float(t @ t) / curvature
        ST = _times(self.S, self.T.T)
        L = np.tril(ST, -1)
        middle = np.block([[self.gamma * _times(self.S, self.S.T), L], [L.T, -np.diag(np.diag(ST))]])
        self.R = np.linalg.inv(middle)
        self.R = 0.5 * (self.R + self.R.T)

    def rows(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q and QR on some variables, (s, 2·pairs), and the diagonal of B there, (s,)."""
        pairs = len(self.S)
        Q, Qhat, diagonal = np.empty((at.size, 2 * pairs)), np.empty((at.size, 2 * pairs)), np.empty(at.size)
        for first, last in even_parts(at.size, 2 * pairs + 4, PART // 4):
            some, part = at[first:last], Q[first:last]
            part[:, :pairs] = self.gamma * self.S[:, some].T
            part[:, pairs:] = self.T[:, some].T
            np.matmul(part, self.R, out=Qhat[first:last])
            curved = self.gamma - np.einsum("ar,ar->a", part, Qhat[first:last])
            np.maximum(curved, 1e-12 * self.gamma, out=diagonal[first:last])
            pause()
        return Q, Qhat, diagonal


def _times(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """AB of A (pairs, size), with pauses where the size is large."""
    size = A.shape[1]
    parts = even_parts(size, max(len(A), 1), PART)
    total: np.ndarray | None = None
    for first, last in parts:
        part = A[:, first:last] @ B[first:last]
        total = part if total is None else total + part
        pause()
    assert total is not None
    return total


def _with_row(rows: np.ndarray, count: int, full: bool, row: np.ndarray) -> np.ndarray:
    """The first ``count`` of these rows, the last of them new; where they are full, the first makes room."""
    for first, last in even_parts(row.size, count if full else 1, COPIED):
        here = slice(first, last)
        if full:
            for place in range(count - 1):
                rows[place, here] = rows[place + 1, here]
        rows[count - 1, here] = row[here]
        pause()
    return rows[:count]


def sweep_model(Q: np.ndarray, *model: Any) -> None:
    """Sweeps over the model (kernels/coordinates.py, ``lowrank_descent``), with pauses between coordinates. ``model``:
    its arguments up to the share at which it ends, and its report."""
    arguments = Q, *model[:-1], walk(0, kept=Q.shape[1]), WORK, model[-1]
    to_the_end(lambda: bool(lowrank_descent(*arguments)))


def largest_violations(violation: np.ndarray, greed: float) -> np.ndarray:
    """The places of the largest of the violations (size,) that are not 0: a share ``greed`` of them (Eq. 21)."""
    violated = where(violation, lambda some: some > 0.0)
    # The share is one of all violated entries, those of the support included (the paper's I⁽¹⁾).
    count = max(math.ceil(greed * violated.size), LEAST_NEW)
    if count < violated.size:
        violated = violated[largest(taken(violation, violated, violation.dtype), count)]
    return violated
