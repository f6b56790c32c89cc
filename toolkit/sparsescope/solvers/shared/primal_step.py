"""The primal half of a splitting method's iteration: W ← prox_{τκΩ}(V − τXᵀQ) of a method that minimises κΩ."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.splitting import descend, mix
from ...problems.prediction import Problem

BLOCK_BYTES = 400_000  # gradient rows that are held at once: they should stay in the cache until they are used


def primal_step(problem: Problem, state: Any, strength: float, mixing: tuple[float, float, float]) -> float:
    """W ← prox_{τκΩ}(V − τXᵀQ), a block of rows at a time, the intercept without prox, and V mixed; returns ‖W − V‖².

    In its frame the intercept is (b + x̄ᵀW)/s, which belongs to the column s·1, and W to X − 1x̄ᵀ: the same scores.

    strength : κ · mixing : (a, b, c) of the next point a·W + b·V + c·V₀
    """
    tau = state.tau
    threshold = strength * tau
    regulariser, moved, means = problem.regulariser, 0.0, state.means
    total = state.Q.sum(axis=0, keepdims=True) if problem.intercept else None
    drift = 0.0
    for start, stop, G in problem.design.rmatmul_blocks(state.Q, _buffer(problem, state)):
        image, point, anchor = state.coef[start:stop], state.V[start:stop], state.V0[start:stop]
        if means is not None:
            G -= means[start:stop, None] * total
        descend(point, G, tau, image)
        regulariser.prox(image, threshold, image)
        if means is not None:
            drift = drift + means[start:stop] @ (image - point)
        moved += mix(image, point, anchor, *mixing)
    if total is not None:
        d = problem.d
        image, point, anchor = state.coef[d:], state.V[d:], state.V0[d:]
        length = tau * state.scale**2
        descend(point, total, length, image)
        moved += tau * length * float((total.astype(np.float64) ** 2).sum())
        image -= drift
        mix(image, point, anchor, *mixing)
    return moved


def _buffer(problem: Problem, state: Any) -> np.ndarray:
    """Room for as many rows of a sparse product as the penalty has to see together."""
    rows = problem.d
    if not problem.regulariser.needs_all_rows:
        rows = max(1, min(rows, BLOCK_BYTES // (problem.m * problem.dtype.itemsize)))
    if problem.design.is_sparse and state.buffer.shape[0] != rows:
        state.buffer = np.empty((rows, problem.m), dtype=problem.dtype)
    room: np.ndarray = state.buffer
    return room
