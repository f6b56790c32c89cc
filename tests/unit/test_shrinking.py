"""Shrinking in block coordinate descent: rows are left out, come back, and change nothing about the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import FEW_PAIRS, digits, fitting, text
from sparsescope.runs.stopping import Gap, Iterations, PaperViolation
from sparsescope.solvers import BCD, BCDConstant

both = pytest.mark.parametrize("cls", [BCD, BCDConstant])


def planted(share: float = 0.2, n: int = 200, d: int = 600) -> ss.Problem:
    """Ten of 600 features carry all information."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.3)
    W = np.zeros((d, 3))
    W[:10] = 3.0 * rng.standard_normal((10, 3))
    problem = ss.Problem(sp.csc_array(X), (X @ W).argmax(axis=1))
    return problem.with_lam(share * problem.lam_max)


def run(problem: ss.Problem, solver: Any, tol: float = 1e-8) -> list[Any]:
    return [
        (e.relative_gap, e.passes, e.working_set, None if e.state.working is None else e.state.working.copy())
        for e in ss.Run(problem, solver, stop=Gap(tol) | Iterations(3000))
    ]


@both
def test_it_reaches_the_same_optimum_with_fewer_passes(cls: Any) -> None:
    problem = planted()
    plain, shrunk = (run(problem, cls(selection="permuted", shrinking=on)) for on in (False, True))
    assert plain[-1][0] <= 1e-8 and shrunk[-1][0] <= 1e-8
    assert shrunk[-1][1] < 0.85 * plain[-1][1]
    assert min(size for _, _, size, _ in shrunk[1:]) < 0.2 * problem.d


@pytest.mark.parametrize("selection", ["cyclic", "permuted", "random", "greedy"])
@both
def test_every_order_reaches_the_certificate(cls: Any, selection: str) -> None:
    problem = planted()
    found = ss.solve(problem, cls(selection=selection, shrinking=True), tol=1e-7, max_iter=20_000, record=False)
    assert found.converged, found


@pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)
def test_every_part_reaches_the_same_objective(loss: str, penalty: str) -> None:
    X, y = text()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    found = ss.solve(problem, BCD(shrinking=True), tol=1e-8, max_iter=5000, record=False)
    assert found.converged, found
    assert found.objective == pytest.approx(ss.solve(problem, "bcd-ls", tol=1e-8, record=False).objective, rel=1e-7)


def test_rows_in_use_are_never_left_out_and_all_rows_come_back_in_time() -> None:
    problem = planted()
    rested = 0
    for event in ss.Run(problem, BCD(shrinking=True), stop=Iterations(120)):
        working = event.state.working
        if working is None:
            rested = 0
        else:
            rested += 1
            assert working[event.state.weights().any(axis=1)].all()
            assert rested <= 20, "no row may be left out for more than 20 iterations"


def test_rows_left_out_come_back_when_lam_falls() -> None:
    problem = planted(0.5)
    live = ss.Run(problem, BCD(shrinking=True), stop=Gap(1e-10))
    before = list(live)[-1].nonzero_rows
    live.change(problem=problem.with_lam(0.02 * problem.lam_max))
    assert live.state.working is None
    after = list(live)[-1]
    assert after.nonzero_rows > before and after.relative_gap <= 1e-10


def test_the_papers_criterion_never_stops_a_run_that_looks_at_some_rows_only() -> None:
    problem = planted()
    some_rows = 0
    partly = False  # whether rows were left out of the iteration that an event tells of
    for event in ss.Run(problem, BCD(shrinking=True), stop=PaperViolation(1e-3) | Iterations(500)):
        if partly:
            some_rows += 1
            assert np.isnan(event.seen_violation_sum) and "Eq. 9" not in event.message
        partly = event.state.working is not None
    assert some_rows > 3
    assert event.iteration < 500, "it stops in an iteration over all rows"


def test_with_a_penalty_that_forces_no_zeros_only_empty_columns_are_left_out() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, penalty="ridge", lam=0.1)
    empty = ~X.any(axis=0)
    for _, _, _, working in run(problem, BCD(shrinking=True), 1e-4):
        assert working is None or not (working[~empty] == 0).any()
