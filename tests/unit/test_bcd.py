"""Block coordinate descent: what a sweep reports about the rows it visits, and the paper's stop rule on top of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import iris
from sparsescope import registry
from sparsescope.kernels.sweeps import LineSearch, both, keep, make_kept, sweep_constant_step, sweep_line_search
from sparsescope.runs.stopping import Iterations, PaperViolation
from sparsescope.solvers.shared.first_trial import widening


def small(penalty: Any = "l1/l2", lam: float = 0.05, **more: Any) -> ss.Problem:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 7))
    y = np.r_[np.arange(4), rng.integers(0, 4, 36)]
    return ss.Problem(X, y, penalty=penalty, lam=lam, **more)


def sweep(problem: ss.Problem, state: Any, order: list[int], constant: bool) -> Any:
    kept = make_kept(problem.n, problem.m, problem.dtype)
    keep(state.Z, problem.y, problem.loss, kept)
    args = (
        problem.design.columns,
        np.array(order),
        state.coef,
        state.Z,
        problem.y,
        problem.loss,
        problem.penalty,
        problem.lam,
        True,
    )
    if constant:
        return sweep_constant_step(*args, problem.block_constants(), kept)
    return sweep_line_search(*args, LineSearch(1.0, 0.01, 0.5, 30, 2.2e-16), kept)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("penalty", ["l1/l2", "l1", "sparse-group"])
def test_a_sweep_reports_the_violation_of_each_row_before_it_moves(penalty: str, constant: bool) -> None:
    problem = small(penalty)
    norm = {
        "l1/l2": lambda g: np.linalg.norm(g),
        "l1": lambda g: np.abs(g).max(),
        "sparse-group": lambda g: problem.penalty.dual_norm(g),
    }[penalty]
    rng = np.random.default_rng(0)
    W = rng.standard_normal((7, 4)) * (np.arange(7) % 2)[:, None]
    state = ss.solvers.BCD().init(problem, W)
    seen, residuals = [], []
    for j in range(7):
        G = problem.gradient(state.coef)[j]
        excess = norm(G) - problem.lam
        seen.append(abs(excess) if state.coef[j].any() else max(excess, 0.0))
        before = state.coef[j].copy()
        report = sweep(problem, state, [j], constant)
        if constant:
            residuals.append(problem.block_constants()[j] * np.linalg.norm(state.coef[j] - before))
            assert report.residual == pytest.approx(residuals[-1], rel=1e-10)
    again = ss.solvers.BCD().init(problem, W)
    report = sweep(problem, again, list(range(7)), constant)
    assert report.seen_sum == pytest.approx(sum(seen), rel=1e-10)
    assert report.seen_max == pytest.approx(max(seen), rel=1e-10)
    if constant:
        assert report.residual == pytest.approx(max(residuals), rel=1e-10)
        assert report.squares == pytest.approx(sum(size**2 for size in residuals), rel=1e-10)
    assert both(report, report).squares == 2.0 * report.squares >= 2.0 * report.residual**2 > 0.0


@pytest.mark.parametrize("solver", ["bcd-ls", "bcd-cst"])
def test_events_carry_what_was_seen(solver: str) -> None:
    recorder = ss.Recorder()
    events = list(ss.Run(small(), ss.solvers.BCD(selection="cyclic"), stop=Iterations(60), callbacks=[recorder]))
    assert np.isnan(events[0].seen_violation) and np.isnan(events[0].seen_violation_sum)
    assert events[1].seen_violation_sum > events[1].seen_violation > 0
    # The rows stand still at the optimum, so what was seen there is what a certificate finds.
    assert events[-1].seen_violation == pytest.approx(events[-1].paper_violation, abs=1e-9)
    np.testing.assert_array_equal(recorder.trace["seen_violation"][1:], [e.seen_violation for e in events[1:]])
    plain = list(ss.Run(small("ridge"), solver, stop=Iterations(2)))
    assert all(np.isnan(e.seen_violation) and np.isnan(e.seen_violation_sum) for e in plain), "ridge is no norm"
    assert all(np.isnan(e.seen_violation) for e in ss.Run(small(), "ista", stop=Iterations(2)))


@pytest.mark.parametrize(
    ("selection", "column"),
    [
        ("cyclic", "seen_violation_sum"),
        ("permuted", "seen_violation_sum"),
        ("random", "seen_violation"),
        ("greedy", "seen_violation"),
    ],
)
def test_the_papers_criterion_stops_at_the_first_iteration_that_meets_it(selection: str, column: str) -> None:
    values = []
    run = ss.Run(small(), ss.solvers.BCD(selection=selection), stop=PaperViolation(1e-3) | Iterations(500))
    for event in run:
        values.append(getattr(event, column))
    assert "Eq. 10" in run.message
    assert values[-1] <= 1e-3 * values[1] and all(v > 1e-3 * values[1] for v in values[1:-1])


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "logistic"])
def test_the_search_along_the_intercept_does_not_see_the_penalty(loss: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, np.minimum(y, 1), loss=loss, intercept=True)
    rule = ss.solvers.BCD(curvature="paper")  # with two classes its full steps are too long
    ends = []
    for times in (1e3, 1e6):  # no feature gets weight, so λ changes nothing
        run = ss.Run(problem.with_lam(times * problem.lam_max), rule, stop=Iterations(3), b=np.array([-3.0, 4.0]))
        events = list(run)
        assert min(e.trials for e in events[1:3]) > 1 and events[1].objective < 0.5 * events[0].objective
        ends.append([e.objective for e in events])
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "logistic", "label-ranking-squared-hinge"])
@pytest.mark.parametrize("solver", ["bcd-ls", "working-set"])
def test_two_classes_need_no_second_trial_and_end_at_the_same_optimum(loss: str, solver: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 600))
    two = (X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(50) > 0).astype(int)
    y = np.eye(2)[two] if loss.startswith("label") else two
    problem = ss.Problem(sp.csc_array(X), y, loss=loss, lam_ratio=0.3)  # on dense X a working set takes gradient steps
    more = {"newton": False} if solver == "working-set" else {}
    trials, ends = {}, {}
    for rule in ("differences", "paper"):
        events = list(ss.Run(problem, registry.solvers.create(solver, curvature=rule, **more), stop=Iterations(25)))
        trials[rule] = np.nanmean([event.trials for event in events])
        ends[rule] = ss.solve(problem, solver, curvature=rule, tol=1e-6).objective
    assert trials["differences"] < 1.1 < trials["paper"]
    assert ends["differences"] == pytest.approx(ends["paper"], rel=2e-6)


def test_the_factor_of_the_first_trial_is_for_losses_of_differences() -> None:
    X, y = iris()
    for loss, m, factor in (("logistic", 3, 1.5), ("squared", 3, 1.0), ("binary-logistic", 1, 1.0)):
        problem = ss.Problem(X, y if m == 3 else np.minimum(y, 1), loss=loss)
        assert problem.m == m and widening(problem, "differences") == factor and widening(problem, "paper") == 1.0


@pytest.mark.parametrize("kind", ["class-aware", "tight", "paper"])
def test_constant_steps_name_their_constants(kind: str) -> None:
    problem = small()
    K = problem.block_constants(kind)
    run = ss.Run(problem, ss.solvers.BCDConstant(constants=kind), stop=Iterations(2))
    last = list(run)[-1]
    assert (last.smallest_constant, last.largest_constant) == (K.min(), K.max())
    assert f"steps 1/K_j, {kind} K_j from {K.min():.3g} to {K.max():.3g}" in last.message == run.message
