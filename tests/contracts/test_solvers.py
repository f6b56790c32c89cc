"""The contract of solvers: every registered solver on every problem that it says it solves.

Here are those of problems that predict; solvers of another kind of problems have another contract
(test_covariance.py).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import (
    COVER,
    FEW_PAIRS,
    ONE_SCORE,
    PAIRS,
    PREDICTING,
    ROW_PENALTIES,
    SMOOTH,
    Kinked,
    digits,
    fitting,
    forms,
    gradient,
    interpreted,
    iris,
    random_point,
    solve_or_skip,
    text,
    values_of,
)
from sparsescope.kernels.sweeps import LineSearch, keep, make_kept, sweep_constant_step, sweep_line_search
from sparsescope.registry import penalties, solvers
from sparsescope.runs.event import MEASURED_NAMES, reported
from sparsescope.runs.handover import BETTER, FAR
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.shared.entries import EntrySolver

TOL = 1e-9
# Methods whose steps η₀/√t approach the optimum and never settle there: they have another contract instead of a
# certified gap (test_stochastic.py), and share everything else.
STOCHASTIC = tuple(name for name in solvers if not solvers[name].converges)
# Methods for particular losses only (test_splitting.py has their optima); they share everything else, on the first of
# those losses.
ONLY = {name: solvers[name].losses[0] for name in solvers if solvers[name].losses}
# Methods that move single entries of W: they take penalties of entries only, and share everything with one of them.
ENTRYWISE = tuple(name for name in solvers if issubclass(solvers[name], EntrySolver))
# Methods for the ridge penalty only.
RIDGED = tuple(name for name in solvers if solvers[name].only_penalties == ("ridge",))
BUDGETED = tuple(name for name in ONLY if not solvers[name].follows_lam)
# Methods whose weights are sparse matrices. They begin at a dual point, at zero, and not at given weights; they promise
# all else that others do, on a problem with a penalty that they take.
SPARSE = tuple(name for name in solvers if solvers[name].sparse)
SPLITTING = tuple(name for name in ONLY if name not in SPARSE)
# A solver that chooses another one has no steps: that it does what its choice does is pinned in
# test_working_set.py.
METHODS = [name for name in PREDICTING if not solvers[name].delegates]
EXACT = [name for name in METHODS if name not in STOCHASTIC and name not in ONLY]
# Methods whose objective never rises, by construction.
MONOTONE = tuple(name for name in EXACT if solvers[name].monotone)

every_solver = pytest.mark.parametrize("name", METHODS)
exact_solver = pytest.mark.parametrize("name", EXACT)
every_pair = pytest.mark.parametrize(("loss", "penalty"), PAIRS)
few_pairs = pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)
TWO_PAIRS = [("multiclass-squared-hinge", "l1/l2"), ("logistic", "sparse-group")]
two_pairs = pytest.mark.parametrize(("loss", "penalty"), TWO_PAIRS)


@cache
def problem_on(
    data: str,
    loss: str,
    penalty: str,
    *,
    share: float = 0.1,
    intercept: bool = False,
    form: str = "dense",
    dtype: str = "float64",
    two: bool = False,
) -> ss.Problem:
    """A small problem with λ = share·λ_reference (of the problem in double precision); two: the first class against
    the others."""
    matrix, y = {"iris": iris, "digits": digits, "text": text}[data]()
    X, y = dict(forms(matrix))[form], np.minimum(y, 1) if two else fitting(loss, y)
    lam = share * ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept).lam_reference
    return ss.Problem(X.astype(dtype), y, loss=loss, penalty=penalty, intercept=intercept, lam=lam)


def problem_for(name: str, data: str, loss: str, penalty: str, **settings: Any) -> ss.Problem:
    """The same, with loss and penalty that the solver is for if these are particular ones, and an intercept only if it
    takes one."""
    kind = solvers[name]
    if name in ENTRYWISE and penalties.create(penalty).entry_terms() is None:
        penalty = "l1"
    if kind.only_penalties and penalty not in kind.only_penalties:
        penalty = kind.only_penalties[0]
    if not kind.takes_intercept:
        settings = {**settings, "intercept": False}
    return problem_on(data, ONLY.get(name, loss), penalty, two=kind.two_classes, **settings)


def skip_one_score(name: str, problem: ss.Problem) -> None:
    """Skip what a solver of two scores is not for."""
    if solvers[name].two_classes and problem.loss.one_score:
        pytest.skip(f"{name} is for two scores")


def arrays_of(state: Any) -> list[np.ndarray]:
    """The numbers of the weights and of the intercept, as observers see them."""
    W, b = state.weights(), state.intercept()
    return [W.data if state.sparse else W, *([] if b is None else [b])]


@cache
def best(problem: ss.Problem) -> ss.Result:
    """The solution, certified to 1e-11 by block coordinate descent with line search."""
    found = ss.solve(problem, "bcd-ls", tol=1e-11, max_iter=50_000, record=False, certify_every=20)
    assert found.converged, found
    return found


def check_solution(problem: ss.Problem, name: str) -> None:
    found = solve_or_skip(problem, name)
    assert found.converged, found
    known = best(problem)
    assert found.objective == pytest.approx(known.objective, rel=1e-7)
    assert found.objective >= known.dual - 1e-12 * abs(known.objective)
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)
    rounding = 1e-12 * abs(found.objective)
    assert found.gap <= problem.gap(found.W, found.b) + rounding, "the best dual value seen is at least that of W"
    assert found.dual <= known.objective + rounding and found.gap == found.objective - found.dual


# ---------------------------------------------------------------------------------------------------- reaching optima
@every_pair
@exact_solver
def test_reaches_a_certified_optimum_and_agrees_with_the_others(name: str, loss: str, penalty: str) -> None:
    check_solution(problem_on("iris", loss, penalty, two=solvers[name].two_classes), name)


@few_pairs
@exact_solver
def test_handles_an_intercept(name: str, loss: str, penalty: str) -> None:
    problem = problem_on("iris", loss, penalty, intercept=True, two=solvers[name].two_classes)
    check_solution(problem, name)
    _, g_b = gradient(problem.design.matrix, problem.y, problem.loss, best(problem).W, best(problem).b)
    assert np.abs(g_b).max() <= 1e-4, "the intercept is not penalised: its gradient vanishes"


@few_pairs
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@exact_solver
def test_handles_sparse_data_with_an_empty_row_and_column(name: str, loss: str, penalty: str, intercept: bool) -> None:
    problem = problem_on(
        "text", loss, penalty, share=0.2, intercept=intercept, form="csr", two=solvers[name].two_classes
    )
    check_solution(problem, name)
    assert not best(problem).W[7].any()


# The logistic loss has the elastic net here: with a penalty that is not strongly convex it is so flat on these data
# that ISTA stands at a relative gap of 1e-5 after 12 000 iterations.
TEN_CLASSES = [
    ("multiclass-squared-hinge", "l1/l2"),
    pytest.param("squared", "l1/linf", marks=pytest.mark.slow),
    pytest.param("multitask-squared-hinge", "l1", marks=pytest.mark.slow),
    pytest.param("logistic", "elastic-net", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("loss", "penalty"), TEN_CLASSES)
@exact_solver
def test_handles_ten_classes_and_more_features_than_one_needs(name: str, loss: str, penalty: str) -> None:
    check_solution(problem_on("digits", loss, penalty, share=0.5, two=solvers[name].two_classes), name)


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


@few_pairs
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@every_solver
def test_dense_csr_and_csc_take_the_same_way(name: str, loss: str, penalty: str, intercept: bool) -> None:
    ends = []
    for form in ("dense", "csr", "csc"):
        problem = problem_for(name, "text", loss, penalty, intercept=intercept, form=form)
        skip_one_score(name, problem)
        state = solvers.create(name).init(problem)
        for _ in range(5):
            solvers.create(name).step(problem, state)
        ends.append(state.dense(problem))
    assert np.abs(ends[0]).max() > 0
    # Sums are made in another order. Systems of Newton steps magnify that, most where an early iterate is far out
    # (proximal points of 1e4 occur) and its direction is hardly determined: rounding is a share of its largest weights.
    largest = float(np.abs(ends[0]).max())
    atol = 2e-9 * largest
    if hasattr(solvers[name], "newton") or hasattr(solvers[name], "cg_steps"):
        # Conjugate gradients end at a residual, a share of what is left to do: rounding, of another BLAS too, decides
        # about the last of their steps. It has to be small beside the way that is left.
        best = ss.reference(problem)
        optimum = best.W if best.b is None else np.vstack([best.W, best.b])
        atol = max(atol, 1e-6 * largest, 1e-3 * float(np.abs(ends[0] - optimum).max()))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=atol)
    np.testing.assert_array_equal(ends[2], ends[1])  # both are stored by columns: the same numbers in the same order


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
def trajectory(problem: ss.Problem, solver: Any, steps: int, **settings: Any) -> tuple[np.ndarray, list[float]]:
    run = ss.Run(problem, solver, stop=Iterations(steps), **settings)
    values = [event.objective for event in run]
    return run.state.dense(problem), values


def variants(name: str) -> list[Any]:
    """The solver with each of its fields at each of its values, one at a time."""
    made = [pytest.param(name, solvers.create(name), id=name)]
    if solvers[name].contract_settings is not None:
        for chosen in solvers[name].contract_settings:
            label = "-".join([name, *(f"{k}={v}" for k, v in chosen.items())])
            made.append(pytest.param(name, solvers.create(name, **chosen), id=label))
        return made
    for field in solvers.fields(name):
        for value in values_of(field):
            if value != field.default:
                solver = solvers.create(name, **{field.name: value})
                made.append(pytest.param(name, solver, id=f"{name}-{field.name}={value}"))
    return made


VARIANTS = [variant for name in PREDICTING for variant in variants(name)]
every_variant = pytest.mark.parametrize(("name", "solver"), VARIANTS)


@pytest.mark.parametrize(("name", "solver"), [v for v in VARIANTS if v.values[0] in EXACT])
def test_every_setting_solves(name: str, solver: Any) -> None:
    problem = problem_for(name, "text", "multiclass-squared-hinge", "l1/l2", share=0.3)
    found = ss.solve(problem, solver, tol=1e-8, max_iter=8000, record=False, certify_every=10)
    assert found.converged, (solver, found)
    assert found.objective == pytest.approx(best(problem).objective, rel=1e-7)


@every_variant
def test_pausing_and_resuming_changes_nothing(name: str, solver: Any) -> None:
    problem = problem_for(name, "iris", "multiclass-squared-hinge", "l1/l2", intercept=True)
    whole, _ = trajectory(problem, solver, 27)
    first = ss.Run(problem, solver, stop=Iterations(12))
    list(first)
    copied = first.state.copy()
    list(ss.Run(problem, solver, stop=Iterations(20), state=first.state))
    moved = not np.array_equal(first.state.dense(problem), copied.dense(problem))
    assert moved or not first.state.trials > 0 or first.observe().relative_gap < 1e-12
    resumed = ss.Run(problem, solver, stop=Iterations(27), state=copied)
    events = list(resumed)
    assert events[0].iteration == 12 and events[-1].iteration == 27
    np.testing.assert_array_equal(resumed.state.dense(problem), whole)


@every_variant
def test_the_same_settings_give_the_same_run(name: str, solver: Any) -> None:
    problem = problem_for(name, "iris", "multiclass-squared-hinge", "l1/l2")
    a, values = trajectory(problem, solver, 15)
    b, again = trajectory(problem, solver, 15)
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


# ------------------------------------------------------------------------------------------------------- live changes
CHANGES = [{"lam": 0.5}, {"loss": "squared"}, {"penalty": "l1"}, {"loss": "logistic", "penalty": "ridge", "lam": 2.0}]


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
@exact_solver
def test_a_change_of_the_problem_keeps_the_weights_and_finds_the_new_optimum(name: str, change: dict[str, Any]) -> None:
    kept = solvers[name].only_penalties
    if kept and change.get("penalty", kept[0]) not in kept:
        pytest.skip(f"{name} is for these penalties only: {', '.join(kept)}")
    problem = problem_for(name, "iris", "multiclass-squared-hinge", "l1/l2", intercept=True)
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
    run.stop = Gap(1e-8) | Iterations(solvers[name].contract_iterations)
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


# ------------------------------------------------------------------------------------------------- promises of methods
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


# The functions of a sweep are compiled once more here, as the interpreted loop calls them: seconds for each pair.
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [pytest.param(*case.values, id=case.id, marks=pytest.mark.slow if k else ()) for k, case in enumerate(FEW_PAIRS)],
)
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
        for run in (sweep, interpreted(sweep)):
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
        for compiled, plain in zip(*ends, strict=True):
            np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ends[0][1], X @ ends[0][0], atol=1e-12)


def test_parts_are_met_by_the_few_pairs() -> None:
    used = [value for pair in COVER for value in pair]
    assert set(used) == {*SMOOTH, *ROW_PENALTIES, *(value for p in ONE_SCORE for value in p.values)}
