"""The contract of solvers when the same run is made again: paused, watched, with the same settings and another seed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from solving import (
    BUDGETED,
    METHODS,
    every_solver,
    every_variant,
    problem_for,
    problem_on,
    trajectory,
    two_pairs,
)

import sparsescope as ss
from helpers import text
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Iterations

STEPS = 17  # of a run that is paused after seven of them, and done again


@cache
def whole_run(name: str, solver: Any) -> tuple[ss.Problem, np.ndarray, list[float]]:
    """A problem, and the end and the objectives of a run that nothing disturbs."""
    problem = problem_for(name, "iris", "multiclass-squared-hinge", "l1/l2", intercept=True)
    return problem, *trajectory(problem, solver, STEPS)


@every_variant
def test_pausing_and_resuming_changes_nothing(name: str, solver: Any) -> None:
    problem, whole, _ = whole_run(name, solver)
    first = ss.Run(problem, solver, stop=Iterations(7))
    list(first)
    copied = first.state.copy()
    list(ss.Run(problem, solver, stop=Iterations(12), state=first.state))
    moved = not np.array_equal(first.state.dense(problem), copied.dense(problem))
    assert moved or not first.state.trials > 0 or first.observe().relative_gap < 1e-12
    resumed = ss.Run(problem, solver, stop=Iterations(STEPS), state=copied)
    events = list(resumed)
    assert events[0].iteration == 7 and events[-1].iteration == STEPS
    np.testing.assert_array_equal(resumed.state.dense(problem), whole)


@every_variant
def test_the_same_settings_give_the_same_run(name: str, solver: Any) -> None:
    problem, a, values = whole_run(name, solver)
    b, again = trajectory(problem, solver, STEPS)
    np.testing.assert_array_equal(a, b)
    assert values == again


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (name, (f.name, choice))
        for name in METHODS
        for f in solvers.fields(name)
        if f.choices
        for choice in ("permuted", "random")
        if choice in f.choices
    ],
)
def test_another_seed_gives_another_order(name: str, setting: tuple[str, str]) -> None:
    problem = problem_on("iris", "multiclass-squared-hinge", "l1/l2")
    a, _ = trajectory(problem, solvers.create(name, **dict([setting]), seed=1), 3)
    b, _ = trajectory(problem, solvers.create(name, **dict([setting]), seed=2), 3)
    assert not np.array_equal(a, b)


@two_pairs
@every_solver
def test_observers_change_nothing(name: str, loss: str, penalty: str) -> None:
    problem = problem_for(name, "text", loss, penalty, form="csr", intercept=True)
    alone, values = trajectory(problem, name, 10, certify_every=10**6)
    recorder = ss.Recorder()
    seen: list[int] = []
    X, y = text()[0], problem.y
    watched, again = trajectory(
        problem,
        name,
        10,
        certify_every=1,
        test=(X, y),
        callbacks=[recorder, lambda e: seen.append(e.state.weights().sum())],
    )
    if name in BUDGETED:  # the last point is made feasible, by a mixture of those that were certified
        np.testing.assert_allclose(watched, alone, rtol=1e-9, atol=1e-9)
        assert again.pop() == pytest.approx(values.pop(), rel=1e-9)
    else:
        np.testing.assert_array_equal(watched, alone)
    # With the certificate comes the objective from another pass over the scores: equal up to the order of a sum.
    np.testing.assert_allclose(again, values, rtol=1e-13)
    assert len(recorder.trace) == len(seen) == 11
