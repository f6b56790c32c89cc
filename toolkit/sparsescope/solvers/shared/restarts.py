"""Restarts of a splitting method: Halpern's iteration of the reflected operator (Lu and Yang 2024).

    v ← (k+1)/(k+2)·(2T(v) − v) + 1/(k+2)·v₀,   k = 0, 1, …

pulls less and less towards the anchor v₀. An epoch ends, and v₀ = T(v) begins the next one, when the fixed-point
residual ‖v − T(v)‖_M of M = [1/τ, −Kᵀ; −K, 1/σ] has fallen to 0.2 of what it was at v₀; when it is below 0.8 of it and
rises; or when the epoch is long against all steps so far. Then √(σ/τ) moves towards ‖Y − Q₀‖/‖W − V₀‖, half the way in
the logarithm: the primal and the dual variables should have equally far to go.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...problems.linear_algebra import inner
from ...problems.prediction import Problem
from .leap import framed

SUFFICIENT, NECESSARY, LONG = 0.2, 0.8, 0.36  # when an epoch ends
DAMPING = 0.5  # share of the way, in the logarithm, that the weight of primal and dual moves at a restart
MOST_SHIFT = 100.0  # ... from anything further than this factor away, as if it were there


def restarted(solver: Any, problem: Problem, state: Any) -> None:
    """Iterate a splitting method once towards the point of Halpern's iteration; restart it where the epoch ends."""
    before = state.residual
    state.residual = solver.iterate(problem, state, halpern(state.epoch))
    state.iteration += 1
    state.epoch += 1
    if state.epoch == 1:
        state.first_residual = state.residual
    if ends(state, before):
        solver.restart(state)


def halpern(epoch: int) -> tuple[float, float, float]:
    """(a, b, c) of the next point a·image + b·point + c·anchor, after ``epoch`` steps of the epoch."""
    share = (epoch + 1.0) / (epoch + 2.0)
    return 2.0 * share, -share, 1.0 - share


def ends(state: Any, before: float) -> bool:
    """Return whether the epoch ends with this step; ``before``: the residual of the step before it."""
    now, first = state.residual, state.first_residual
    if state.epoch < 2:
        return False
    return bool(
        now <= SUFFICIENT * first
        or (now <= NECESSARY * first and now > before)
        or state.epoch >= LONG * state.iteration
    )


def rebalance(state: Any) -> None:
    """Move √(σ/τ) towards the ratio of the ways that dual and primal variables went in this epoch."""
    step = state.coef - state.V0
    primal = math.sqrt(max(inner(step, framed(state, step)), 0.0))
    if primal == 0.0:
        return
    dual = float(np.linalg.norm(state.Y - state.Q0))
    # A dual point that stands still (a budget that is kept without it) needs longer primal steps as well.
    wanted = min(max(dual / primal, state.weight / MOST_SHIFT), state.weight * MOST_SHIFT)
    state.weight = wanted**DAMPING * state.weight ** (1.0 - DAMPING)
