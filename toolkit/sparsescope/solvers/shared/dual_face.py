"""Conjugate gradients on a face of dual points, between the sweeps of dual coordinate descent.

On the entries of u that are above zero the dual objective is a quadratic, and where few features tie many samples,
sweeps follow its flat directions slowly. Conjugate gradients on these entries do not; a point that leaves the simplices
is projected back, at shorter lengths until the objective falls (Moré and Toraldo 1991). Where sweeps are not held up,
this is a waste: it is tried after as much work as ``patience`` such phases, half as much when it gained more for its
work than the sweeps did, and twice as much when it did not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.dual_coordinates import face_moves, face_slopes, face_weights
from ...problems.linear_algebra import inner

STEPS, TOLERANCE = 30, 0.1  # of conjugate gradients
TRIALS, SHORTER = 8, 0.35  # of the projected search
FIRST, LEAST = 8.0, 0.5  # patience


class Face:
    """The entries above zero of the samples that have at least two of them."""

    def __init__(self, shares: np.ndarray, y: np.ndarray, margin: float) -> None:
        above = shares > 0.0
        sizes = np.count_nonzero(above, axis=1)
        self.listed = np.flatnonzero(sizes > 1)
        self.starts = np.concatenate([[0], np.cumsum(sizes[self.listed])])
        self.samples, labels = np.nonzero(above[self.listed])
        self.labels = labels.astype(np.int32)
        self.own = np.where(self.labels != y[self.listed][self.samples], margin, 0.0)


def face_entries(shares: np.ndarray, lengths: np.ndarray) -> float:
    """Return the number of entries of W that a product on the face of a dual point reads.

    Parameters
    ----------
    shares
        dual rows, (n, m).
    lengths
        stored entries of every sample, (n,).

    Returns
    -------
    float
        the number.
    """
    sizes = np.count_nonzero(shares > 0.0, axis=1)
    sizes[sizes == 1] = 0
    return float(sizes @ lengths)


class FaceSteps:
    """Schedule of the phases, by what the last one gained for its work."""

    def __init__(self) -> None:
        self.patience, self.work, self.gain = FIRST, 0.0, 0.0

    def swept(self, work: float, gain: float) -> None:
        """Count what sweeps did since the last phase.

        Parameters
        ----------
        work
            entries of W read and changed.
        gain
            what the dual objective gained.
        """
        self.work += work
        self.gain = gain / work if work > 0.0 else 0.0

    def phase(self, state: Any) -> float:
        """Do a phase if it is due.

        Parameters
        ----------
        state
            the state of dual coordinate descent; its dual rows and V are changed.

        Returns
        -------
        float
            the products made on the face, in readings of the data; 0 if none was due.
        """
        cost = 2.0 * face_entries(state.rows.shares, state.lengths)
        if cost == 0.0 or self.work < self.patience * STEPS * cost:
            return 0.0
        face = Face(state.rows.shares, state.y, state.margin)
        gain, products = descend(face, state)
        worth = gain > self.gain * products * cost
        self.patience = max(self.patience / 2.0, LEAST) if worth else 2.0 * self.patience
        self.work = 0.0
        return 2.0 * products * float(state.lengths[face.listed].sum()) / max(float(state.lengths.sum()), 1.0)


def descend(face: Face, state: Any) -> tuple[float, float]:
    """Move a dual point along a face by conjugate gradients and a projected search.

    Parameters
    ----------
    face
        the face.
    state
        the state of dual coordinate descent; its dual rows and V are changed.

    Returns
    -------
    tuple[float, float]
        what the dual objective gained, and the pairs of products with X and Xᵀ that were made.
    """
    D, V, steps = _direction(face, state)
    moves, length = np.empty_like(D), 1.0
    before = 0.5 * inner(state.V, state.V)
    for trial in range(TRIALS):
        face_moves(face.listed, face.starts, face.labels, state.most, state.rows.shares, D, length, moves)
        face_weights(state.samples, face.listed, face.starts, face.labels, moves, state.layout(V))
        np.subtract(state.V, V, out=V)
        gain = before - 0.5 * inner(V, V) + float(face.own @ moves)
        if gain > 0.0:
            state.V[:] = V
            at = face.listed[face.samples], face.labels
            state.rows.shares[at] = np.maximum(state.rows.shares[at] + moves, 0.0)
            return gain, steps + 1.0 + 0.5 * (trial + 1)
        length *= SHORTER
    return 0.0, steps + 1.0 + 0.5 * TRIALS


def _direction(face: Face, state: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """The direction, room for W, and the number of steps."""
    flat = np.zeros_like(face.own)
    where = (state.samples, face.listed, face.starts, face.labels)
    scale = 1.0 / state.squares[face.listed][face.samples]
    R, S, V = np.empty_like(flat), np.empty_like(flat), np.empty_like(state.V)
    face_slopes(*where, state.layout(state.V), face.own, R)
    D, M = np.zeros_like(R), scale * R
    A, rho = M.copy(), float(R @ M)
    target, steps = TOLERANCE**2 * rho, 0
    while steps < STEPS and rho > target:
        face_weights(*where, A, state.layout(V))
        face_slopes(*where, state.layout(V), flat, S)
        curve = float(A @ S)
        if not curve > 1e-14 * rho:
            break
        D += (rho / curve) * A
        R -= (rho / curve) * S
        M = scale * R
        old, rho = rho, float(R @ M)
        A = M + (rho / old) * A
        steps += 1
    return D, V, steps
