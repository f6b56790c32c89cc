"""Smooth pieces of the penalty at the weights in use: the space in which a Newton step moves.

Ω is a sum over vectors of W, which are rows, or parts of columns (blocks of features within a class). Each vector that
is not zero lies on a piece on which Ω is smooth; the others stay zero. Arrays have the shape of the weights in use:
(s, m) for s rows of W, and one row more for an intercept, which has no penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernels.newton import (
    damped_diagonal,
    make_metric,
    moved_penalty,
    stop_at_zero,
    tangent_gradient,
    tangent_hessian,
    tangent_precondition,
)
from ...kernels.rows import penalty_sum
from ...pauses import even_parts, pause
from ...problems.prediction import Problem

CELLS = 50_000  # weights of the pieces between two pauses


def pieces_of(problem: Problem, W: np.ndarray) -> RowPieces | None:
    """The pieces that W (d, m) lies on; ``None`` where W is zero."""
    used = np.asarray(W.any(axis=1))
    if not used.any():
        return None
    kind = RowPieces if problem.regulariser.blocks is None else BlockPieces
    return kind(problem, W, used)


def row_parts(A: np.ndarray) -> Iterator[tuple[int, int]]:
    """The rows of A (s, m) in parts, always the same ones, with a pause after each."""
    for first, last in even_parts(A.shape[0], A.shape[1], CELLS):
        yield first, last
        pause()


def row_functions(problem: Problem) -> Any:
    """The penalty of one vector, whose functions of one row the pieces are made of."""
    return getattr(problem.regulariser, "row", problem.row_penalty)


def has_derivatives(problem: Problem) -> bool:
    """Return whether the penalty defines second derivatives on its pieces."""
    row = row_functions(problem)
    return hasattr(getattr(row, "base", row), "hessian_vec")  # base: of a penalty with weights of features


class RowPieces:
    """Pieces of a penalty that is a sum over rows. ``rows``: numbers of the rows of W in use."""

    def __init__(self, problem: Problem, W: np.ndarray, used: np.ndarray) -> None:
        self.rows = np.flatnonzero(used)
        self.lam, self.penalty = problem.lam, row_functions(problem).of_rows(self.rows)
        self.differences = problem.m > 1 and problem.loss.of_differences

    def value(self, W: np.ndarray) -> float:
        """Ω(W)."""
        return float(penalty_sum(W[: self.rows.size], self.penalty)[0])

    def gradient(self, W: np.ndarray, G: np.ndarray) -> None:
        """G ← the gradient of F along the pieces; it holds that of the loss."""
        s = self.rows.size
        for first, last in row_parts(W[:s]):
            tangent_gradient(W, G, self.lam, self.penalty, first, last)

    def damp(self, W: np.ndarray, H: np.ndarray, damping: float) -> None:
        """Make the preconditioner M, and H ← damping·diag ∇²F; H holds the diagonal of the loss's Hessian."""
        self.metric = make_metric(H.shape, H.dtype)
        for first, last in row_parts(H):
            damped_diagonal(
                W, H, self.lam, self.penalty, self.rows.size, self.differences, damping, first, last, self.metric
            )

    def hessian(self, W: np.ndarray, V: np.ndarray, damping: np.ndarray, out: np.ndarray) -> None:
        """out ← P(out + λ∇²Ω(W)V + damping∘V), P the projection on the pieces."""
        for first, last in row_parts(W):
            tangent_hessian(W, V, self.lam, self.penalty, self.rows.size, damping, first, last, out)

    def precondition(self, W: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
        """out ← P M⁻¹ R."""
        for first, last in row_parts(R):
            tangent_precondition(W, self.metric, R, self.penalty, self.rows.size, first, last, out)

    def stop_at_zero(self, W: np.ndarray, D: np.ndarray) -> int:
        """Let the vectors that W + D would carry through zero end there; returns their number."""
        return sum(int(stop_at_zero(W, self.metric, *part, D)) for part in row_parts(W[: self.rows.size]))

    def moved(self, W: np.ndarray, D: np.ndarray, step: float, out: np.ndarray) -> float:
        """out = W + step·D; returns Ω of it."""
        return sum(float(moved_penalty(W, D, step, self.penalty, self.rows.size, *part, out)) for part in row_parts(W))


class BlockPieces(RowPieces):
    """Pieces of a penalty over blocks of features within a class: of those blocks and classes that are not zero.

    The vectors W_{B,k} are laid side by side as rows of an array (``places``: the positions of their entries among the
    weights in use) and filled up with zeros to the length of the longest, which changes neither Ω nor its derivatives.
    """

    def __init__(self, problem: Problem, W: np.ndarray, used: np.ndarray) -> None:
        blocks = problem.regulariser.blocks
        assert blocks is not None
        self.differences = problem.m > 1 and problem.loss.of_differences
        self.rows, self.lam = np.flatnonzero(problem.regulariser.complete(used)), problem.lam
        m, widths = problem.m, np.diff(blocks.indptr)
        here = np.logical_or.reduceat((W != 0.0)[blocks.order], blocks.indptr[:-1], axis=0)
        number, k = np.nonzero(here)
        self.penalty = row_functions(problem).of_rows(number)
        self.size = (self.rows.size + problem.intercept) * m
        place = np.zeros(problem.d, dtype=np.intp)
        place[self.rows] = np.arange(self.rows.size)
        inside = np.arange(widths.max()) < widths[number][:, None]
        at = np.minimum(blocks.indptr[number][:, None] + np.arange(widths.max()), problem.d - 1)
        self.places = np.where(inside, place[blocks.order[at]] * m + k[:, None], self.size)

    def _taken(self, A: np.ndarray) -> np.ndarray:
        return np.append(A, A.dtype.type(0.0))[self.places]

    def _put(self, vectors: np.ndarray, out: np.ndarray) -> None:
        flat = np.zeros(self.size + 1, dtype=out.dtype)
        flat[self.places] = vectors
        s = self.rows.size
        out[:s] = flat[: s * out.shape[1]].reshape(s, -1)

    def value(self, W: np.ndarray) -> float:
        return float(penalty_sum(self._taken(W), self.penalty)[0])

    def gradient(self, W: np.ndarray, G: np.ndarray) -> None:
        taken = self._taken(G)
        tangent_gradient(self._taken(W), taken, self.lam, self.penalty, 0, len(taken))
        self._put(taken, G)

    def damp(self, W: np.ndarray, H: np.ndarray, damping: float) -> None:
        taken, s = self._taken(H), self.rows.size
        self.metric, self.own = make_metric(taken.shape, H.dtype), make_metric(H[s:].shape, H.dtype)
        count = len(taken)
        damped_diagonal(self._taken(W), taken, self.lam, self.penalty, count, False, damping, 0, count, self.metric)
        bias = H[s:].copy()
        damped_diagonal(W[s:], bias, self.lam, self.penalty, 0, self.differences, damping, 0, len(bias), self.own)
        self._put(taken, H)
        H[s:] = bias

    def hessian(self, W: np.ndarray, V: np.ndarray, damping: np.ndarray, out: np.ndarray) -> None:
        taken, s = self._taken(out), self.rows.size
        weights, moved, count = self._taken(W), self._taken(V), len(taken)
        tangent_hessian(weights, moved, self.lam, self.penalty, count, self._taken(damping), 0, count, taken)
        self._put(taken, out)
        out[s:] += damping[s:] * V[s:]

    def precondition(self, W: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
        """out ← P M⁻¹ R, and zero for weights that stay zero."""
        taken, vectors, s = self._taken(R), self._taken(W), self.rows.size
        found = np.empty_like(taken)
        tangent_precondition(vectors, self.metric, taken, self.penalty, len(taken), 0, len(taken), found)
        self._put(found, out)
        tangent_precondition(W[s:], self.own, R[s:], self.penalty, 0, 0, len(R) - s, out[s:])

    def stop_at_zero(self, W: np.ndarray, D: np.ndarray) -> int:
        taken = self._taken(D)
        stopped = int(stop_at_zero(self._taken(W), self.metric, 0, len(taken), taken))
        self._put(taken, D)
        return stopped

    def moved(self, W: np.ndarray, D: np.ndarray, step: float, out: np.ndarray) -> float:
        np.add(W, step * D, out=out)
        return self.value(out)
