"""The contract of solvers: every registered solver on every problem that it says it solves.

Here are those of problems that predict; solvers of another kind of problems have another contract
(test_covariance.py).
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from solving import (
    BUDGETED,
    ENTRYWISE,
    EXACT,
    MONOTONE,
    ONLY,
    SPARSE,
    TEN_CLASSES,
    TOL,
    TWO_PAIRS,
    VARIANTS,
    arrays_of,
    best,
    both_data,
    check_solution,
    every_pair,
    every_solver,
    every_variant,
    exact_solver,
    few_pairs,
    problem_for,
    problem_on,
    skip_one_score,
    trajectory,
    two_pairs,
)

import sparsescope as ss
from helpers import (
    FEW_PAIRS,
    PREDICTING,
    Kinked,
    gradient,
    iris,
    random_point,
    solve_or_skip,
)
from sparsescope.registry import solvers
from sparsescope.runs.event import MEASURED_NAMES, reported
from sparsescope.runs.stopping import Gap, Iterations

# On sparse data every pair has an intercept; without one the first pair stands for the others, for the same code runs.
sparse_pairs = pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    [
        pytest.param(
            *case.values,
            intercept,
            id=f"{'intercept' if intercept else 'plain'}-{case.id}",
            marks=pytest.mark.slow if k and not intercept else case.marks,
        )
        for k, case in enumerate(FEW_PAIRS)
        for intercept in (False, True)
    ],
)


# ---------------------------------------------------------------------------------------------------- reaching optima
@both_data
@every_pair
@exact_solver
def test_reaches_a_certified_optimum_and_agrees_with_the_others(
    name: str, loss: str, penalty: str, data: str, share: float, within: float
) -> None:
    check_solution(problem_on(data, loss, penalty, share=share, two=solvers[name].two_classes), name, within)


@both_data
@few_pairs
@exact_solver
def test_handles_an_intercept(name: str, loss: str, penalty: str, data: str, share: float, within: float) -> None:
    problem = problem_on(data, loss, penalty, share=share, intercept=True, two=solvers[name].two_classes)
    check_solution(problem, name, within)
    _, g_b = gradient(problem.design.matrix, problem.y, problem.loss, best(problem).W, best(problem).b)
    assert np.abs(g_b).max() <= 1e-4, "the intercept is not penalised: its gradient vanishes"


@sparse_pairs
@exact_solver
def test_handles_sparse_data_with_an_empty_row_and_column(name: str, loss: str, penalty: str, intercept: bool) -> None:
    problem = problem_on(
        "text", loss, penalty, share=0.2, intercept=intercept, form="csr", two=solvers[name].two_classes
    )
    check_solution(problem, name)
    assert not best(problem).W[7].any()


@pytest.mark.parametrize(
    ("loss", "penalty", "share", "within"),
    [
        (*TWO_PAIRS[0], 0.7, 0.5),
        *(
            pytest.param(*getattr(pair, "values", pair), 0.5, 1.0, marks=pytest.mark.slow)  # a smaller λ, more features
            for pair in TEN_CLASSES
        ),
    ],
)
@exact_solver
def test_handles_ten_classes_and_more_features_than_one_needs(
    name: str, loss: str, penalty: str, share: float, within: float
) -> None:
    check_solution(problem_on("digits", loss, penalty, share=share, two=solvers[name].two_classes), name, within)


@pytest.mark.parametrize(
    ("loss", "penalty", "form"),
    [
        (*TWO_PAIRS[0], "csc"),
        (*TWO_PAIRS[0], "dense"),
        pytest.param(*TWO_PAIRS[1], "csc", marks=pytest.mark.slow),
        pytest.param(*TWO_PAIRS[1], "dense", marks=pytest.mark.slow),
    ],
)
@exact_solver
def test_single_precision_reaches_a_gap_of_single_precision(name: str, loss: str, penalty: str, form: str) -> None:
    problem = problem_on("text", loss, penalty, share=0.3, form=form, dtype="float32", two=solvers[name].two_classes)
    found = solve_or_skip(problem, name, tol=2e-5)
    assert found.converged and found.W.dtype == np.float32
    exact = problem_on("text", loss, penalty, share=0.3, form=form, two=solvers[name].two_classes)
    assert exact.objective(found.W) == pytest.approx(best(exact).objective, rel=1e-4)


@sparse_pairs
@every_solver
def test_dense_csr_and_csc_take_the_same_way(name: str, loss: str, penalty: str, intercept: bool) -> None:
    def ends_of(**settings: Any) -> list[np.ndarray]:
        found = []
        for form in ("dense", "csr", "csc"):
            problem = problem_for(name, "text", loss, penalty, intercept=intercept, form=form)
            skip_one_score(name, problem)
            solver = solvers.create(name, **settings)
            state = solver.init(problem)
            for _ in range(5):
                solver.step(problem, state)
            found.append(state.dense(problem))
        return found

    ends = ends_of()
    problem = problem_for(name, "text", loss, penalty, intercept=intercept, form="csc")
    if intercept and solvers[name].eliminates_intercept:
        np.testing.assert_array_equal(ends[2], ends[1])
        forms = [problem_for(name, "text", loss, penalty, intercept=True, form=form) for form in ("dense", "csr")]
        dense, sparse = (ss.solve(form, solver=name, tol=1e-9, max_iter=1000) for form in forms)
        assert dense.converged and sparse.converged
        assert sparse.objective == pytest.approx(dense.objective, rel=2e-9)
        return
    if isinstance(getattr(solvers[name], "newton", None), bool) and not np.allclose(ends[1], ends[0], rtol=1e-4):
        # When a Newton step comes follows from the entries that steps read, which zeros of dense X are and others not.
        np.testing.assert_array_equal(ends[2], ends[1])
        ends = ends_of(newton=False)
    assert np.abs(ends[0]).max() > 0
    # Sums are made in another order. Systems of Newton steps magnify that, most where an early iterate is far out
    # (proximal points of 1e4 occur) and its direction is hardly determined: rounding is a share of its largest weights.
    largest = float(np.abs(ends[0]).max())
    newton = name in ENTRYWISE or hasattr(solvers[name], "newton") or hasattr(solvers[name], "cg_steps")
    if newton and not np.allclose(ends[1], ends[0], rtol=1e-9, atol=2e-9 * largest):
        # Conjugate gradients end at a residual, and descent on entries after so many that were read, zeros of dense X
        # included: another step more or less. F has to be the same beside what is left.
        best = ss.reference(problem)
        values = [problem.objective(end[: problem.d], end[problem.d] if problem.intercept else None) for end in ends]
        assert abs(values[1] - values[0]) <= 1e-3 * (values[0] - best.objective) + 1e-6 * best.objective
    else:
        np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=2e-9 * largest)
    np.testing.assert_array_equal(ends[2], ends[1])  # both are stored by columns: the same numbers in the same order


@pytest.mark.parametrize("name", PREDICTING)
def test_a_solved_problem_is_freed_with_its_last_name(name: str) -> None:
    """Its data, too: what refers to itself would wait for the next garbage collection."""
    given = problem_for(name, "flowers", "multiclass-squared-hinge", "l1/l2")
    problem = given.with_()
    gone = weakref.ref(problem)
    gc.disable()
    try:
        run = ss.Run(problem, name, stop=Iterations(2))
        assert list(run)[-1].iteration <= 2
        del run, problem
        assert gone() is None
    finally:
        gc.enable()


@exact_solver
def test_weights_of_an_empty_column_die_out(name: str) -> None:
    problem = problem_for(name, "text", "multiclass-squared-hinge", "l1/l2", share=0.2, form="csr")
    W = np.zeros((problem.d, problem.m))
    W[7] = 1e-3
    run = ss.Run(problem, name, W=W, stop=Gap(TOL) | Iterations(3000), certify_every=20)
    last = list(run)[-1]
    assert "certified" in last.message
    left = np.abs(run.state.weights()[7]).max()
    # A penalty without a kink at zero makes weights smaller and smaller: a ridge to what the gap leaves, for it makes F
    # λ-strongly convex.
    assert left == 0.0 if run.problem.penalty.zeroes_rows else left <= max(1e-12, np.sqrt(2.0 * last.gap / problem.lam))


# ----------------------------------------------------------------------------------------------------- the run of a run
@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] in EXACT])
def test_every_setting_solves(name: str, solver: Any) -> None:
    problem = problem_for(name, "text", "multiclass-squared-hinge", "l1/l2", share=0.3)
    found = ss.solve(problem, solver, tol=1e-8, max_iter=8000, record=False, certify_every=10)
    assert found.converged, (solver, found)
    assert found.objective == pytest.approx(best(problem).objective, rel=1e-7)


@every_variant
def test_events_are_complete(name: str, solver: Any) -> None:
    problem = problem_for(name, "iris", "logistic", "l1/l2", intercept=True)
    X, y = iris()[0], problem.y
    events = []
    for event in ss.Run(problem, solver, stop=Iterations(6), test=(X[:10], y[:10])):
        events.append((event, event.state.dense(problem)))
    promised = (
        "iteration",
        "passes",
        "seconds",
        "objective",
        "loss",
        "penalty",
        "lam",
        "dual",
        "gap",
        "relative_gap",
        "violation",
        "violation_sum",
        "paper_violation",
        "paper_violation_sum",
        "nonzero_rows",
        "nonzero_entries",
        "train_accuracy",
        "test_accuracy",
    )
    bound = -np.inf
    for k, (event, coef) in enumerate(events):
        assert event.iteration == k and event.problem is problem and event.solver == solver
        finite = [field for field in promised if not (name in BUDGETED and "gap" in field)]  # none is known at first
        if not problem.penalty.is_norm:
            finite = [field for field in finite if not field.startswith("paper_")]
        assert all(np.isfinite(getattr(event, field)) for field in finite)
        W, b = coef[: problem.d], coef[problem.d] if problem.intercept else None
        assert event.objective == pytest.approx(solver.value(problem, event.loss, event.penalty), rel=1e-12)
        assert event.loss + problem.lam * event.penalty == pytest.approx(problem.objective(W, b), rel=1e-12)
        if name in ONLY:  # the gap is that of the state's own dual point
            assert 0.0 <= event.active_share <= 1.0 and 0.0 <= event.dual_entries <= problem.m - 1
        else:
            bound = max(bound, event.objective - problem.gap(W, b))  # the best bound that was proved so far counts
            if solver.splits and event.dual > bound:  # by a dual point that is not the gradient at the weights
                assert event.dual <= ss.reference(problem).objective * (1 + 1e-12)
                bound = event.dual
            assert event.dual == pytest.approx(bound, rel=1e-7, abs=1e-12)
            assert event.gap == pytest.approx(event.objective - bound, rel=1e-7, abs=1e-12)
            assert np.isnan(event.active_share) and np.isnan(event.dual_entries)
        assert event.nonzero_rows == np.count_nonzero(W.any(axis=1))
        assert event.train_accuracy == np.mean(problem.predict(W, b) == y)
        assert event.test_accuracy == np.mean(problem.predict(W, b, X[:10]) == y[:10])
        if k:
            assert event.passes > events[k - 1][0].passes and event.seconds >= events[k - 1][0].seconds
            assert 0 < event.working_set <= problem.rows
            assert np.isnan(event.step_size) if name in SPARSE else event.step_size > 0  # its steps are exact minima
            search = (event.search_share, event.search_seconds, event.update_seconds)
            assert np.isfinite(search).all() == (name in SPARSE)
            assert np.isnan(event.trials) or event.trials >= 1
        declared = {column.name for column in reported(event.solver, event.state)}
        assert {name for name, value in event.info.items() if value == value} <= declared | MEASURED_NAMES
    assert events[-1][0].message.startswith("limit of 6 iterations")
    assert [e.message for e, _ in events[:-1]] == [""] * 6


@every_solver
def test_the_start_is_zero_with_the_best_intercept_or_what_is_given(name: str) -> None:
    problem = problem_for(name, "iris", "logistic", "l1/l2", intercept=True)
    solver = solvers.create(name)
    state = solver.init(problem)
    assert not any(a.any() for a in arrays_of(state)[:1])
    if problem.intercept:
        np.testing.assert_array_equal(state.intercept(), problem.null_intercept)
    W, b = random_point(problem)
    if name in SPARSE:
        with pytest.raises(ValueError, match="cannot begin at given weights"):
            solver.init(problem, W)
        return
    state = solver.init(problem, W, b)
    np.testing.assert_array_equal(state.weights(), W)
    np.testing.assert_array_equal(state.intercept(), b)
    solver.step(problem, state)
    assert not np.array_equal(state.weights(), W), "the given array is copied, the state moves"


@few_pairs
@exact_solver
def test_a_start_at_the_optimum_stops_at_once(name: str, loss: str, penalty: str) -> None:
    problem = problem_for(name, "iris", loss, penalty)
    skip_one_score(name, problem)
    known = best(problem)
    events = list(ss.Run(problem, name, W=known.W, stop=Gap(1e-10)))
    assert len(events) == 1 and "certified" in events[0].message
    state = solvers.create(name).init(problem, known.W)
    for _ in range(3):
        solvers.create(name).step(problem, state)
    assert problem.objective(state.weights()) <= known.objective * (1 + 1e-9), "and steps from there lead nowhere else"


@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] in MONOTONE])
@two_pairs
def test_the_objective_of_monotone_methods_does_not_rise(name: str, solver: Any, loss: str, penalty: str) -> None:
    problem = problem_on("iris", loss, penalty, share=0.02, two=solvers[name].two_classes)
    W, _ = random_point(problem, scale=3.0)
    _, values = trajectory(problem, solver, 40, W=W, certify_every=100)
    assert values[-1] < 0.9 * values[0]
    assert (np.diff(values) <= 1e-12 * np.abs(values[:-1])).all()


@every_solver
def test_states_are_read_only_outside_and_copies_are_independent(name: str) -> None:
    problem = problem_for(name, "iris", "logistic", "l1/l2", intercept=True)
    solver = solvers.create(name)
    state = solver.init(problem)
    solver.step(problem, state)
    for view in arrays_of(state):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0.0
    copied = state.copy()
    before = copied.dense(problem)
    solver.step(problem, state)
    np.testing.assert_array_equal(copied.dense(problem), before)
    assert (copied.iteration, state.iteration) == (1, 2)
    if name not in SPARSE:  # no scores are kept there
        np.testing.assert_allclose(state.Z, problem.scores(state.weights(), state.intercept()), atol=1e-12)


# ------------------------------------------------------------------------------------------------------------ refusals
@every_solver
def test_a_loss_with_kinks_is_refused_with_the_reason(name: str) -> None:
    X, y = iris()
    penalty = (*solvers[name].only_penalties, "l1" if name in ENTRYWISE else "l1/l2")[0]
    y = np.minimum(y, 1) if solvers[name].two_classes else y
    problem = ss.Problem(X, y, loss=Kinked(), penalty=penalty, lam=0.1)
    solver = solvers.create(name)
    reason = solver.solves(problem)
    if reason is None:
        pytest.skip(f"{name} solves problems with kinks")
    assert name in reason and "kinked hinge" in reason
    if name in ONLY:
        assert ONLY[name] in reason
        return
    assert "smooth" in reason
    smooth = problem.with_(loss="logistic")
    assert solver.solves(smooth) is None
    for attempt in (
        lambda: solver.init(problem),
        lambda: ss.Run(problem, name),
        lambda: ss.Session(problem, name),
        lambda: ss.Run(smooth, name).change(problem=problem),
    ):
        with pytest.raises(ValueError, match="not smooth"):
            attempt()
