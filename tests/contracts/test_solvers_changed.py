"""The contract of solvers when something changes in mid-run: loss, penalty, λ, and the solver itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solving import (
    CHANGES,
    ENTRYWISE,
    METHODS,
    ONLY,
    RIDGED,
    SPARSE,
    STOCHASTIC,
    best,
    both_data,
    exact_solver,
    problem_for,
    problem_on,
)

import sparsescope as ss
from helpers import PREDICTING
from sparsescope.registry import solvers
from sparsescope.runs.handover import BETTER, FAR
from sparsescope.runs.stopping import Gap, Iterations

# ------------------------------------------------------------------------------------------------------- live changes


@both_data
@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
@exact_solver
def test_a_change_of_the_problem_keeps_the_weights_and_finds_the_new_optimum(
    name: str, change: dict[str, Any], data: str, share: float, within: float
) -> None:
    kept = solvers[name].only_penalties
    if kept and change.get("penalty", kept[0]) not in kept:
        pytest.skip(f"{name} is for these penalties only: {', '.join(kept)}")
    problem = problem_for(name, data, "multiclass-squared-hinge", "l1/l2", share=share, intercept=True)
    scaled = {**change, **({"lam": change["lam"] * problem.lam} if "lam" in change else {})}
    other = problem.with_(**scaled)
    if (reason := solvers.create(name).solves(other)) is not None:
        pytest.skip(reason)
    run = ss.Run(problem, name, stop=Iterations(7))
    list(run)
    W = run.state.weights().copy()
    run.change(problem=other)
    np.testing.assert_array_equal(run.state.weights(), W)
    assert run.problem is other and run.observe().objective == pytest.approx(
        other.objective(W, run.state.intercept()), rel=1e-12
    )
    run.stop = Gap(1e-8) | Iterations(int(within * solvers[name].contract_iterations))
    last = list(run)[-1]
    assert "certified" in last.message
    assert last.objective == pytest.approx(best(other).objective, rel=1e-7)


@pytest.mark.parametrize("name", ["ista", "fista-cst", "fista-ls", "sparsa"])
def test_after_a_change_a_proximal_method_goes_on_as_if_it_had_just_begun(name: str) -> None:
    problem = problem_on("digits", "multiclass-squared-hinge", "l1/l2")
    run = ss.Run(problem, name, stop=Iterations(9))
    list(run)
    fresh = ss.Run(problem.with_lam(2 * problem.lam), name, W=run.state.weights().copy(), stop=Iterations(6))
    run.change(problem=fresh.problem)
    run.stop = Iterations(15)
    list(run), list(fresh)
    np.testing.assert_allclose(run.state.weights(), fresh.state.weights(), rtol=1e-9, atol=1e-12)


def worth_compiling(name: str, following: str) -> bool:
    """Return whether the kernels of a switch are met anyway.

    bcd-ls stands for the methods of rows beside those that take few penalties: another penalty would compile them all
    once more.
    """
    both = {name, following}
    return all(not both & {*few} or both <= {*few, "bcd-ls"} for few in (ENTRYWISE, RIDGED))


@pytest.mark.parametrize(
    ("following", "name"),
    [(following, name) for following in PREDICTING for name in METHODS if worth_compiling(name, following)],
)
def test_a_change_of_the_solver_keeps_weights_and_counters(name: str, following: str) -> None:
    both = {name, following}
    penalty = "l1" if both & {*ENTRYWISE} else "l1/l2"
    strict = max((name, following), key=lambda each: (each in SPARSE, each in ONLY, each in RIDGED))
    problem = problem_for(strict, "iris", "multiclass-squared-hinge", penalty, intercept=True)
    for each in (name, following):
        if solvers.create(each).solves(problem) is not None:
            pytest.skip(f"{each} does not take the {problem.loss.title} loss with {problem.penalty.title}")
    run = ss.Run(problem, name, stop=Iterations(5))
    events = list(run)
    before, best = events[-1], min(event.objective for event in events)
    coef = run.state.dense(problem)
    run.change(solver=solvers.create(following))
    ordinary = (
        following != name and following not in SPARSE and solvers[name].follows_lam and solvers[following].follows_lam
    )
    far = ordinary and before.objective > FAR * best  # see tests/unit/test_handover.py
    assert following in SPARSE or far == (" starts from " in run.notice), run.notice
    if far:
        assert run.observe().objective <= best / BETTER
    elif not run.state.sparse:
        np.testing.assert_array_equal(run.state.dense(problem), coef)
    elif name in SPARSE:  # from a dual point, of which the weights are made anew; for other solvers see its own tests
        np.testing.assert_allclose(run.state.dense(problem), coef, atol=1e-13)
    event = run.advance()
    assert event.iteration == 6 and event.passes > before.passes
    rises = following in STOCHASTIC or solvers[following].splits or not problem.loss.smooth
    assert event.objective < before.objective or rises or before.relative_gap <= 1e-10  # nothing is left to do


def test_a_change_to_other_data_is_refused() -> None:
    a, b = (problem_on("iris", "squared", "l1", intercept=flag) for flag in (False, True))
    run = ss.Run(a, "ista", stop=Iterations(2))
    list(run)
    with pytest.raises(ValueError, match="keeps the data"):
        run.change(problem=b)
    with pytest.raises(ValueError, match="keeps the data"):
        run.change(problem=problem_on("iris", "squared", "l1", share=0.2))
