"""Steps beyond the safe length: the setting says so, the objective rises, and divergence ends with the way out."""

from __future__ import annotations

import numpy as np
import pytest

import sparsescope as ss
from helpers import iris
from sparsescope.registry import solvers


@pytest.fixture
def problem() -> ss.Problem:
    # The squared loss has the same curvature everywhere, and the tight constant meets it: beyond 2/K nothing converges.
    return ss.Problem(*iris(), loss="squared", penalty="ridge", lam=1e-3)


@pytest.mark.parametrize("name", ["ista", "fista-cst"])
def test_the_step_is_the_safe_one_times_its_length(name: str, problem: ss.Problem) -> None:
    safe, half = (ss.Run(problem, solvers.create(name, step_length=length)) for length in (1.0, 0.5))
    for run in (safe, half):
        run.advance()
    assert half.advance().step_size == pytest.approx(0.5 * safe.advance().step_size)


def test_a_step_beyond_twice_the_safe_one_diverges_and_says_why(problem: ss.Problem) -> None:
    solver = solvers.create("ista", step_length=4.0, constants="tight")
    values = []
    with pytest.raises(FloatingPointError, match=r"choose a step length of at most 1 \(it is 4, which is not safe\)"):
        for event in ss.Run(problem, solver):
            values.append(event.objective)
    assert values[20] > values[0] and np.all(np.diff(values[5:20]) > 0)


def test_a_safe_step_never_rises(problem: ss.Problem) -> None:
    values = [
        e.objective for e in ss.Run(problem, solvers.create("ista", step_length=1.0), stop=ss.stopping.Iterations(50))
    ]
    assert np.all(np.diff(values) <= 1e-12)


def test_the_page_is_told_that_it_is_not_safe_and_when_it_has_no_effect(problem: ss.Problem) -> None:
    doc = next(f.doc for f in solvers.fields("ista") if f.name == "step_length")
    assert "not safe" in doc
    assert "step_length" in solvers.create("ista", line_search=True).idle(problem)
    assert "step_length" not in solvers.create("ista").idle(problem)
    assert "step_length" in solvers.create("fista-ls").idle(problem)


def test_momentum_and_restarts_are_in_the_events() -> None:
    problem = ss.Problem(*iris(), loss="logistic", penalty="ridge", lam=1e-4)
    events = list(ss.Run(problem, solvers.create("fista-ls", restart=True), stop=ss.stopping.Iterations(200)))
    momentum = np.array([event.momentum for event in events[1:]])
    restarts = np.array([event.restarts for event in events])
    assert momentum[0] == 0.0 and momentum[1] > 0.0 and (momentum < 1.0).all()
    assert restarts[0] == 0 and restarts[-1] > 0 and (np.diff(restarts) >= 0).all()
    # Where the momentum was dropped, the next step has none.
    dropped = np.flatnonzero(np.diff(restarts)) + 1
    assert all(momentum[k] == 0.0 for k in dropped if k < momentum.size)
    recorder = ss.Recorder()
    list(ss.Run(problem, "fista-cst", stop=ss.stopping.Iterations(5), callbacks=[recorder]))
    assert recorder.trace["momentum"][-1] > 0.0
