"""The features that a splitting method works on: few of many, when the penalty leaves most of them unused.

The steps are those of the problem on the features in use and the most violated others (its operator has a much smaller
norm, so they are longer, too). Now and then the whole XᵀU shows which features outside violate the condition of
optimality at zero; when none does, a solution on the part is one of the whole. Certificates always see all features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...pauses import pause
from ...problems.prediction import Problem

FEWEST = 200  # features below which all are worked on
MOST = 0.5  # share of the features above which all are worked on
FIRST = 50  # features at first, and at least this many come in at a time
MANY = 50  # choices after which features only come in, so that the choosing ends
INSIDE = 0.8  # zero rows that would stay zero at this share of λ may leave


@dataclass(frozen=True, eq=False)
class Restriction:
    """The problem on some features: their numbers ``rows``, ``problem``, and which of all features those are."""

    rows: np.ndarray
    problem: Problem
    flags: np.ndarray

    def __deepcopy__(self, memo: Any) -> Restriction:
        return self  # nothing in it ever changes

    @property
    def coef_rows(self) -> np.ndarray:
        """The rows of a whole coefficient array that belong to it, with the intercept."""
        whole = self.flags.size
        return np.append(self.rows, whole) if self.problem.intercept else self.rows


def worthwhile(problem: Problem) -> bool:
    """Return whether working on few of the features can pay."""
    return bool(problem.penalty.zeroes_rows) and problem.d >= FEWEST


def choose(
    problem: Problem, U: np.ndarray, coef: np.ndarray, strength: float, now: Restriction | None, rounds: int
) -> Restriction | None:
    """The features to work on next: ``now`` itself if it serves, ``None`` for all of them.

    U : dual rows, whose gradient is XᵀU · strength : what it is held against, with Ω · rounds : choices so far
    """
    regulariser = problem.regulariser
    if now is not None and problem.penalty.is_norm:
        # Before the dual rows are of the right size, what is inside exceeds the strength, too.
        G = now.problem.design.rmatmul(U, np.empty((now.rows.size, problem.m), U.dtype))
        strength = max(strength, now.problem.regulariser.zero_threshold(G))
    W = coef[: problem.d]
    violation, paper = np.empty(problem.d), np.empty(problem.d)
    inside = np.empty(problem.d)
    zero = np.zeros_like(W[:1])
    for start, stop, G in _blocks(problem, U):
        none = np.broadcast_to(zero, G.shape).copy()
        regulariser.violations(G, 1.0, none, strength, violation[start:stop], paper[start:stop])
        regulariser.violations(G, 1.0, none, INSIDE * strength, inside[start:stop], paper[start:stop])
    pause()
    used = regulariser.complete(np.asarray(W.any(axis=1)))
    flags = used if now is None else now.flags.copy()
    if now is not None:
        idle = flags & ~used & ~regulariser.complete(inside > 0.0)
        if rounds < MANY and np.count_nonzero(idle) > 0.3 * np.count_nonzero(flags):
            flags &= ~idle
    outside = violation.copy()
    outside[flags] = 0.0
    worst = np.flatnonzero(outside > 1e-9 * strength)
    if worst.size == 0 and now is not None:
        return now
    most = max(FIRST, int(np.count_nonzero(used)))
    worst = worst[np.argsort(-outside[worst], kind="stable")[:most]]
    new = np.zeros(problem.d, dtype=bool)
    new[worst] = True
    flags = flags | regulariser.complete(new)
    if not flags.any():
        new[int(np.argmax(violation))] = True
        flags = regulariser.complete(new)
    rows = np.flatnonzero(flags)
    if rows.size > MOST * problem.d:
        return None
    pause()
    return Restriction(rows, problem.restricted(rows), flags)


def _blocks(problem: Problem, U: np.ndarray) -> Any:
    whole = problem.regulariser.needs_all_rows
    buffer = np.empty((problem.d if whole else min(problem.d, 4096), problem.m), U.dtype)
    return problem.design.rmatmul_blocks(U, buffer)


# ------------------------------------------------------------------------------------- the steps of a splitting method
def on_few_features(solver: Any, problem: Problem, state: Any) -> None:
    """Advance a splitting method by a step on the features that matter, or on all where restricting does not pay."""
    if not state.whole and solver.restricts(problem):
        choose_features(solver, problem, state)
    part, inner = state.part, state.inner
    if part is None:
        solver.advance(problem, state)
        return
    before = inner.passes
    solver.advance(part.problem, inner)
    state.coef[part.coef_rows] = inner.coef
    state.Z = inner.Z
    for name in state.of_samples:
        setattr(state, name, getattr(inner, name))
    state.weight, state.norm, state.step_size = inner.weight, inner.norm, inner.step_size
    state.working_set = float(part.rows.size + problem.intercept)
    state.iteration += 1
    state.since += 1
    state.passes += (inner.passes - before) * part.problem.design.nnz / problem.design.nnz


def choose_features(solver: Any, problem: Problem, state: Any) -> None:
    """Choose the features to work on, when an epoch has just ended and the last choice has paid for itself."""
    if state.part is not None and (state.inner.epoch > 0 or state.since < max(10, problem.d / state.part.rows.size)):
        return
    part = choose(problem, state.Y, state.coef, solver.strength(problem), state.part, state.choices)
    state.choices, state.since = state.choices + 1, 0
    state.passes += 1.0
    if part is not None and part is state.part:  # None, the first time: the whole problem's step sizes
        return
    state.part = part
    if part is None:
        state.inner, state.working, state.whole = None, None, True
        set_steps(solver, problem, state, state.weight)
        state.settle()
        return
    inner = solver.new_state(part.problem, state.coef[part.coef_rows])
    for name in state.of_samples:
        value = getattr(state, name)
        setattr(inner, name, value.copy() if isinstance(value, np.ndarray) else value)
    set_steps(solver, part.problem, inner, state.weight)
    inner.settle()
    # Rows that left the part are zero; what it brings in starts from what is there.
    state.inner, state.working = inner, part.flags.astype(np.uint8)


def set_steps(solver: Any, problem: Problem, state: Any, weight: float) -> None:
    """Set the step sizes of a state on other features; a √(σ/τ) that has been adapted (not NaN) is kept."""
    solver.set_steps(problem, state)
    if solver.steps == "adaptive" and not np.isnan(weight):
        state.weight = weight
