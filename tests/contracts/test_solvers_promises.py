"""Promises of single methods beside the contract of all: orders, constants, trials, compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from solving import (
    few_pairs,
    problem_on,
    two_pairs,
)

import sparsescope as ss
from helpers import (
    COVER,
    ONE_SCORE,
    ROW_PENALTIES,
    SMOOTH,
    fitting,
    gradient,
    interpreted,
    iris,
    random_point,
)
from sparsescope.kernels.sweeps import LineSearch, keep, make_kept, sweep_constant_step, sweep_line_search
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Iterations


@pytest.mark.parametrize("name", ["ista", "fista-cst", "fista-ls"])
def test_proximal_methods_show_the_point_after_the_prox(name: str) -> None:
    problem = problem_on("digits", "multiclass-squared-hinge", "l1/l2", share=0.5)
    solver = solvers.create(name)
    state = solver.init(problem)
    extrapolated = 0
    for _ in range(12):
        previous = state.coef.copy()
        solver.step(problem, state)
        G, _ = gradient(problem.design.matrix, problem.y, problem.loss, state.V)
        expected = np.empty_like(state.V)
        for j, row in enumerate(state.V - G / state.K):
            problem.penalty.prox(row, problem.lam / state.K, expected[j])
        np.testing.assert_allclose(state.weights(), expected, atol=1e-11)
        extrapolated += not np.array_equal(state.V, previous)
    assert 0 < np.count_nonzero(state.weights().any(axis=1)) < problem.d
    assert extrapolated == (0 if name == "ista" else 11), "the first step of FISTA has nothing to extrapolate from"


@pytest.mark.parametrize("name", ["bcd-ls", "bcd-cst"])
@two_pairs
def test_greedy_selection_of_one_row_is_the_gauss_southwell_rule(name: str, loss: str, penalty: str) -> None:
    problem = problem_on("digits", loss, penalty, share=0.3)
    solver = solvers.create(name, selection="greedy", greedy_batch=1)
    state = solver.init(problem)
    for _ in range(15):
        before = state.weights().copy()
        G, _ = gradient(problem.design.matrix, problem.y, problem.loss, before)
        violations = [problem.penalty.violation(g, w, problem.lam) for g, w in zip(G, before, strict=True)]
        solver.step(problem, state)
        moved = np.flatnonzero((state.weights() != before).any(axis=1))
        np.testing.assert_array_equal(moved, [int(np.argmax(violations))])
        assert state.working_set == 1


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_orders_visit_the_rows_they_promise(intercept: bool) -> None:
    problem = problem_on("digits", "squared", "ridge", intercept=intercept)
    for selection in ("cyclic", "permuted", "random", "greedy"):
        solver = ss.solvers.BCD(selection=selection, greedy_batch=5)
        state = solver.init(problem)
        orders = [solver._order(problem, state) for _ in range(3)]
        assert all(order.min() >= 0 and order.max() < problem.d for order in orders)
        if selection in ("cyclic", "permuted"):
            assert all(sorted(order) == list(range(problem.d)) for order in orders)
        assert [order.size for order in orders] == [5 if selection == "greedy" else problem.d] * 3
        assert (selection in ("cyclic", "greedy")) == np.array_equal(orders[0], orders[1])


@pytest.mark.parametrize("name", ["fista-cst", "ista", "bcd-cst"])
def test_better_constants_make_longer_steps(name: str) -> None:
    problem = problem_on("digits", "multiclass-squared-hinge", "l1/l2")
    steps = []
    for kind in ("paper", "tight", "class-aware"):
        solver = solvers.create(name, constants=kind)
        state = solver.init(problem)
        solver.step(problem, state)
        constants = problem.block_constants(kind)
        steps.append(1 / constants[constants > 0] if name == "bcd-cst" else np.array([state.step_size]))
    assert (steps[0] < steps[1]).all() and (steps[1] <= steps[2]).all() and steps[1].sum() < steps[2].sum()


def test_line_searches_report_their_trials_and_constant_steps_none() -> None:
    problem = problem_on("iris", "multiclass-squared-hinge", "l1/l2")
    for name in ("bcd-ls", "fista-ls"):
        events = list(ss.Run(problem, name, stop=Iterations(5)))
        assert all(e.trials >= 1 for e in events[1:]) and np.isnan(events[0].trials)
    assert all(np.isnan(e.trials) for e in ss.Run(problem, "bcd-cst", stop=Iterations(5)))


def plain(compiled: Any) -> Callable[..., Any]:
    """The plain Python function of a kernel, with the helpers that it calls in plain Python too.

    Compiled helpers would be compiled once more, as plain Python calls them: seconds for each pair.
    """
    function: Any = interpreted(compiled)
    used = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    helpers = {name: plain(value) for name, value in used.items() if interpreted(value) is not value}
    return FunctionType(function.__code__, {**function.__globals__, **helpers}, function.__name__)


@few_pairs
def test_compiled_sweeps_do_what_the_interpreted_ones_do(loss: str, penalty: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, lam=0.05)
    W, _ = random_point(problem)
    order = np.array([2, 0, 3, 1, 2])
    for sweep, settings in (
        (sweep_line_search, (LineSearch(1.5, 0.01, 0.5, 30, 2.2e-16),)),
        (sweep_constant_step, (problem.block_constants(),)),
    ):
        ends = []
        for run in (sweep, plain(sweep)):
            state = ss.solvers.BCD().init(problem, W)
            kept = make_kept(problem.n, problem.m, problem.dtype)
            keep(state.Z, problem.y, problem.loss, kept)
            done = run(
                problem.design.columns,
                order,
                state.coef,
                state.Z,
                problem.y,
                problem.loss,
                problem.penalty,
                0.05,
                True,
                *settings,
                kept,
            )
            ends.append((state.coef, state.Z, *kept, np.array(done)))
        for found, expected in zip(*ends, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ends[0][1], X @ ends[0][0], atol=1e-12)


def test_parts_are_met_by_the_few_pairs() -> None:
    used = [value for pair in COVER for value in pair]
    assert set(used) == {*SMOOTH, *ROW_PENALTIES, *(value for p in ONE_SCORE for value in p.values)}
