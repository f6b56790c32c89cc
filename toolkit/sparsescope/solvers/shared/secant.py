"""Start at the next λ of a path, on the line through the solutions at the last two.

Between two kinks the solutions of a path move smoothly with log λ, so the step that led from one to the next foretells
the one after it. What is foretold is taken only if F falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.rows import loss_sum
from ...problems.prediction import Problem
from .state import Solution

MOST = 2.0  # length of the step foretold, in units of the last one


def lead(problem: Problem, state: Any, earlier: Solution, length: float) -> bool:
    """Move a state, at the solution of the last λ, ``length`` times the step that led there from ``earlier``, if F
    falls; return whether it has moved."""
    now = Solution.of(state.coef)
    there = foretold(earlier, now, length, problem.d)
    if not there.any():
        return False
    Z = problem.design.matmul_rows(now.rows, there, np.empty_like(state.Z))
    state.passes += now.rows.size / problem.rows
    here = _value(problem, state.coef, state.Z)
    state.coef[now.rows] = there
    if not _value(problem, state.coef, Z) < here:
        state.coef[now.rows] = now.values
        return False
    state.Z[:] = Z
    state.moved()
    return True


def foretold(earlier: Solution, now: Solution, length: float, d: int) -> np.ndarray:
    """Extrapolate the rows of ``now``: entries that are zero stay zero, and rows of features that would turn round
    stop at zero."""
    before = np.zeros_like(now.values)
    _, ours, theirs = np.intersect1d(now.rows, earlier.rows, assume_unique=True, return_indices=True)
    before[ours] = earlier.values[theirs]
    there: np.ndarray = now.values + min(length, MOST) * (now.values - before)
    features = np.flatnonzero(now.rows < d)
    there[features] *= now.values[features] != 0.0
    there[features[np.einsum("jk,jk->j", now.values[features], there[features]) <= 0.0]] = 0.0
    return there


def _value(problem: Problem, coef: np.ndarray, Z: np.ndarray) -> float:
    loss = float(loss_sum(Z, *problem.terms)) / problem.n
    return loss + problem.lam * float(problem.regulariser.value(coef[: problem.d])[0])
