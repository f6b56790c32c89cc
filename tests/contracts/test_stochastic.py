"""The contract of stochastic solvers, whose steps η₀/√t approach an optimum and never settle there.

Instead of a certified gap they promise: within NEAR of the certified optimum after PASSES iterations, and closer to it
on average in each stretch of iterations than in the one before. All else they share with others (test_solvers.py).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import test_label_sets
from solving import (
    CHANGES,
    STOCHASTIC,
    TEN_CLASSES,
    TWO_PAIRS,
    VARIANTS,
    best,
    few_pairs,
    problem_on,
)

import sparsescope as ss
from sparsescope.runs.stopping import Iterations

NEAR, PASSES, STRETCHES = 0.02, 800, (1, 51, 201, 801)

stochastic_solver = pytest.mark.parametrize("name", STOCHASTIC)


def check_approach(problem: ss.Problem, solver: Any, known: ss.Result, near: float = NEAR) -> None:
    """Close to the optimum after PASSES iterations, closer in each stretch of iterations than in the one before."""
    values = [event.objective for event in ss.Run(problem, solver, stop=Iterations(PASSES), certify_every=10**6)]
    excess = (np.array(values) - known.objective) / abs(known.objective)
    assert -1e-6 <= excess[-1] <= near, excess[-1]
    means = [excess[a:b].mean() for a, b in pairwise(STRETCHES)]
    assert (np.diff(means) < 0.0).all(), means


@few_pairs
@stochastic_solver
def test_a_stochastic_method_approaches_the_certified_optimum(name: str, loss: str, penalty: str) -> None:
    problem = problem_on("iris", loss, penalty)
    check_approach(problem, name, best(problem))


@few_pairs
@pytest.mark.parametrize(
    ("data", "form", "share"), [pytest.param("iris", "dense", 0.1, marks=pytest.mark.slow), ("text", "csr", 0.2)]
)
@stochastic_solver
def test_a_stochastic_method_approaches_it_with_an_intercept(
    name: str, data: str, form: str, share: float, loss: str, penalty: str
) -> None:
    problem = problem_on(data, loss, penalty, share=share, intercept=True, form=form)
    check_approach(problem, name, best(problem))


@pytest.mark.parametrize(("loss", "penalty"), [TWO_PAIRS[0], pytest.param(*TWO_PAIRS[1], marks=pytest.mark.slow)])
@pytest.mark.parametrize(("form", "dtype"), [("dense", "float64"), ("csc", "float64"), ("csr", "float32")])
@stochastic_solver
def test_a_stochastic_method_approaches_it_on_any_form(
    name: str, loss: str, penalty: str, form: str, dtype: str
) -> None:
    problem = problem_on("text", loss, penalty, share=0.2, form=form, dtype=dtype)
    check_approach(problem, name, best(problem_on("text", loss, penalty, share=0.2, form=form)))


@pytest.mark.parametrize(("loss", "penalty"), TEN_CLASSES)
@stochastic_solver
def test_a_stochastic_method_approaches_it_with_ten_classes(name: str, loss: str, penalty: str) -> None:
    problem = problem_on("digits", loss, penalty, share=0.5)
    check_approach(problem, name, best(problem))


@pytest.mark.parametrize(("form", "intercept"), [pytest.param("dense", False, marks=pytest.mark.slow), ("csr", True)])
@pytest.mark.parametrize("loss", test_label_sets.SMOOTH)
@stochastic_solver
def test_a_stochastic_method_approaches_it_with_label_sets(name: str, loss: str, form: str, intercept: bool) -> None:
    problem = test_label_sets.problem_on(loss, form=form, intercept=intercept)
    check_approach(problem, name, test_label_sets.best(problem))


@stochastic_solver
def test_a_stochastic_method_keeps_near_the_optimum_and_rows_of_empty_columns_die(name: str) -> None:
    problem = problem_on("text", "multiclass-squared-hinge", "l1/l2", share=0.2, form="csr")
    known = best(problem)
    W = known.W.copy()
    W[7] = 1e-3
    run = ss.Run(problem, name, W=W, stop=Iterations(PASSES), certify_every=10**6)
    excess = [event.objective / known.objective - 1.0 for event in run]
    assert not run.state.weights()[7].any()
    assert max(excess) < 0.5 and 0.0 <= excess[-1] <= NEAR


@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] in STOCHASTIC])
def test_every_setting_of_a_stochastic_method_approaches_the_optimum(name: str, solver: Any) -> None:
    problem = problem_on("iris", "multiclass-squared-hinge", "l1/l2")
    check_approach(problem, solver, best(problem))


@pytest.mark.parametrize("data", ["flowers", pytest.param("iris", marks=pytest.mark.slow)])
@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
@stochastic_solver
def test_a_stochastic_method_goes_on_after_a_change(name: str, change: dict[str, Any], data: str) -> None:
    problem = problem_on(data, "multiclass-squared-hinge", "l1/l2", intercept=True)
    scaled = {**change, **({"lam": change["lam"] * problem.lam} if "lam" in change else {})}
    other = problem.with_(**scaled)
    run = ss.Run(problem, name, stop=Iterations(7), certify_every=10**6)
    list(run)
    W, taken = run.state.weights().copy(), run.state.t
    run.change(problem=other)
    np.testing.assert_array_equal(run.state.weights(), W)
    assert run.state.t == taken, "the steps go on getting shorter"
    run.stop = Iterations(7 + PASSES)
    last = list(run)[-1]
    assert last.objective <= (1 + NEAR) * best(other).objective
