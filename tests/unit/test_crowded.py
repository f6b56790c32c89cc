"""Dense X with most weights in use: gradient steps on all of them in place of sweeps, and back."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import BLOCK_PENALTIES
from sparsescope.problems import null_programs
from sparsescope.problems.certificate import Known, Workspace
from sparsescope.registry import penalties
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import NewGLMNET, WorkingSet
from sparsescope.solvers.shared import gradient_steps, opening_steps, rows_or_entries
from sparsescope.solvers.shared.gradient_steps import (
    FEW,
    MANY_USED,
    MANY_USED_OF_FEW,
    MOST,
    GradientSteps,
    opens_on_most,
    products_win,
    takes_all,
)
from sparsescope.solvers.shared.hand_over import THINNED, fitting
from sparsescope.solvers.sparsa import SpaRSAState

CLASSES = 4


@cache
def drawn(n: int = 599, d: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Dense samples whose classes depend on every feature."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, CLASSES)) * (2.0 / np.sqrt(d)) + rng.gumbel(size=(n, CLASSES))
    return X, scores.argmax(axis=1)


def problem(share: float = 0.02, **parts: Any) -> ss.Problem:
    X, y = drawn()
    return ss.Problem(X, y, lam_ratio=share, **({"loss": "multiclass-squared-hinge", "penalty": "l1/l2"} | parts))


def first_step(run: Any) -> None:
    """Advance from the event of the start to that of the first iteration."""
    while run.advance().iteration < 1:
        pass


def test_what_is_said_of_x() -> None:
    made = problem()
    X, y = drawn()
    assert FEW < made.d <= min(MOST, made.n)
    assert products_win(made) and not takes_all(made) and takes_all(problem(penalty="ridge"))
    assert not products_win(ss.Problem(sp.csr_array(X), y)) and not products_win(ss.Problem(X[:100], y[:100]))
    violation = np.ones(made.d)
    assert opens_on_most(made, violation) and not opens_on_most(problem(penalty="ridge"), violation)
    violation[::2] = 0.0
    assert not opens_on_most(made, violation)


def test_gradient_steps_on_all_rows_while_most_are_in_use_and_on_some_after_a_larger_lam() -> None:
    run: Any = ss.Run(problem(), "working-set", stop=Gap(1e-8))
    first_step(run)
    assert run.state.whole and run.state.gradient is not None
    for _ in run:
        pass
    assert run.state.whole and run.observe().relative_gap <= 1e-8
    run.change(lam=0.7 * run.problem.lam_max)
    for _ in run:
        pass
    assert not run.state.whole and run.state.gradient.part is not None
    assert run.observe().relative_gap <= 1e-8
    found = ss.solve(run.problem, "bcd-ls", tol=1e-8, max_iter=10**4)
    assert run.observe().objective == pytest.approx(found.objective, rel=1e-8)


def test_sweeps_until_most_rows_are_in_use() -> None:
    run: Any = ss.Run(problem(0.7), "working-set", stop=Gap(1e-8))
    first_step(run)
    assert not run.state.whole
    run.change(lam=0.02 * run.problem.lam_max)
    seen = []
    for _ in run:
        seen.append(run.state.whole)
    assert seen[-1] and run.observe().relative_gap <= 1e-8


def test_a_change_of_the_rule_in_mid_run_ends_at_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    run: Any = ss.Run(problem(loss="logistic", penalty="l1/linf"), "working-set", stop=Gap(1e-9))
    first_step(run)
    monkeypatch.setattr(gradient_steps, "takes_all", lambda problem: False)
    best = ss.solve(run.problem, "sparsa", tol=1e-9, max_iter=10**5).objective
    for _ in run:
        pass
    assert run.observe().objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
def test_auto_goes_on_with_gradient_steps_and_comes_back(
    loss: str, penalty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_or_entries, "DENSE_WITH_RIDGE", np.inf)  # newglmnet begins
    run: Any = ss.Run(problem(loss=loss, penalty=penalty), "auto", stop=Gap(1e-7))
    first_step(run)
    assert run.state.delegate.name == "newglmnet" and not run.state.opened
    before = np.inf
    for event in run:  # also where the one hands over to the other
        assert np.isfinite([event.trials, event.working_set]).all()
        assert np.isfinite(event.step_size) or event.objective == pytest.approx(before, rel=1e-12)  # a step refused
        before = event.objective
    share = np.count_nonzero(run.state.coef) / run.state.coef.size
    assert share > MANY_USED, "or the case says nothing"
    assert run.state.delegate.name == "working-set" and "many of 150 × 4 weights are in use" in run.state.reason
    assert run.observe().relative_gap <= 1e-7
    assert run.observe().objective == pytest.approx(ss.solve(run.problem, "newglmnet", tol=1e-8).objective, rel=2e-7)
    run.change(lam=0.98 * run.problem.lam)  # near enough that most stay in use
    assert run.state.delegate.name == "working-set"
    run.change(lam=0.7 * run.problem.lam_max)
    for _ in run:
        pass
    assert run.state.delegate.name == "newglmnet" and run.observe().relative_gap <= 1e-7


def test_where_few_weights_are_to_move_nothing_opens() -> None:
    run: Any = ss.Run(problem(0.5, penalty="l1"), "auto", stop=Iterations(2))
    first_step(run)
    assert run.state.opened and run.state.gradient is None
    chosen = (run.state.delegate, "")
    assert fitting(run.problem, chosen, run.state) is chosen


def test_a_fork_and_a_change_in_the_midst_of_the_opening() -> None:
    solver, made = NewGLMNET(), problem(penalty="l1")
    state = solver.init(made)
    solver.step(made, state)
    assert state.gradient is not None
    fork = state.copy()
    for one in (state, fork):
        for _ in range(4):
            solver.step(made, one)
    np.testing.assert_array_equal(state.coef, fork.coef)
    begun: Any = ss.Run(problem(penalty="l1"), "newglmnet", stop=Gap(1e-7))
    first_step(begun)
    begun.change(lam=0.5 * begun.problem.lam)
    for _ in begun:
        pass
    assert begun.observe().relative_gap <= 1e-7


@pytest.mark.parametrize("penalty", [name for name in penalties if name not in BLOCK_PENALTIES])
def test_of_one_score_every_sum_of_norms_is_one_over_entries(penalty: str) -> None:
    X, y = drawn()
    made = ss.Problem(X, (y > 1).astype(int), loss="binary-logistic", penalty=penalty, lam_ratio=0.1)
    weights = made.regulariser.entry_terms()
    assert weights is not None
    w = np.random.default_rng(1).standard_normal((made.d, 1))
    assert made.regulariser.value(w)[0] == pytest.approx(weights[0] * abs(w).sum() + 0.5 * weights[1] * (w * w).sum())
    exact, rows = (ss.solve(made, name, tol=1e-9, max_iter=10**4) for name in ("newglmnet", "working-set"))
    assert exact.converged and exact.objective == pytest.approx(rows.objective, rel=1e-8)
    three = ss.Problem(X, y, loss="logistic", penalty=penalty)
    own = three.penalty.entry_terms()
    assert three.regulariser.entry_terms() == own


def test_of_one_score_weights_of_features_are_kept() -> None:
    X, y = drawn()
    weights = np.random.default_rng(2).uniform(0.5, 2.0, X.shape[1])
    made = ss.Problem(
        X, (y > 1).astype(int), loss="binary-logistic", penalty="l1/l2", lam_ratio=0.1, feature_weights=weights
    )
    exact, rows = (ss.solve(made, name, tol=1e-9, max_iter=10**4) for name in ("newglmnet", "bcd-ls"))
    assert exact.converged and exact.objective == pytest.approx(rows.objective, rel=1e-8)
    kept = ss.penalties.L1L2(nonnegative=True)
    assert ss.Problem(X, (y > 1).astype(int), loss="binary-logistic", penalty=kept).regulariser.entry_terms() is None


@pytest.mark.parametrize("loss", ["binary-logistic", "logistic"])
def test_one_score_opens_as_well(loss: str) -> None:
    X, y = drawn()
    made = ss.Problem(X, (y > 1).astype(int), loss=loss, penalty="l1", lam_ratio=0.01)
    run: Any = ss.Run(made, "auto", stop=Gap(1e-8))
    first_step(run)
    state = run.state if loss == "binary-logistic" else run.state.inner
    assert state.gradient is not None and not state.opened
    for _ in run:
        pass
    assert state.opened and run.observe().relative_gap <= 1e-8
    assert run.state.delegate.name in (("newglmnet", "working-set") if loss == "binary-logistic" else ("one-score",))
    plain = ss.solve(made, "newglmnet", opening=False, tol=1e-8)
    assert run.observe().objective == pytest.approx(plain.objective, rel=2e-8)


@pytest.mark.parametrize(("classes", "opens"), [(1, True), (2, False), (3, True)])
def test_with_few_features_one_score_and_several_open(classes: int, opens: bool) -> None:
    X, y = drawn()
    loss = "binary-squared-hinge" if classes == 1 else "multiclass-squared-hinge"
    made = ss.Problem(X[:, :20], y % max(classes, 2), loss=loss, penalty="l1", lam_ratio=0.1)
    solver = NewGLMNET()
    state: Any = solver.init(made)
    solver.step(made, state)
    assert (state.gradient is not None) is opens
    assert ss.solve(made, solver, tol=1e-8).converged


@pytest.mark.parametrize("loss", ["crammer-singer", "separation-ranking"])
def test_from_sparse_weights_of_another_loss(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of pd-sparse are no array."""
    monkeypatch.setattr(null_programs, "MOST_FLOWS", 0)  # the first bound on λ_max is a unit of λ as good as any
    run: Any = ss.Run(problem(loss=loss, penalty="elastic-net"), "auto", stop=Gap(1e-6))
    first_step(run)
    assert run.state.sparse, "or the case says nothing"
    run.change(loss="logistic", penalty="l1")
    for _ in run:
        pass
    assert run.observe().relative_gap <= 1e-6 and run.state.delegate.name in ("working-set", "newglmnet")


def test_between_the_two_shares_the_solver_stays() -> None:
    made = problem(penalty="l1")
    chosen, rows = ss.solvers.Auto().choose(made), WorkingSet()
    state = rows.init(made, np.where(np.arange(made.d * CLASSES).reshape(made.d, CLASSES) % 20 < 6, 1.0, 0.0))
    assert THINNED * MANY_USED < np.count_nonzero(state.coef) / state.coef.size < MANY_USED
    assert fitting(made, chosen, state) is chosen
    state.delegate = rows
    assert fitting(made, chosen, state)[0] == rows


@pytest.mark.parametrize(("classes", "share"), [(2, MANY_USED_OF_FEW), (CLASSES, MANY_USED)])
def test_few_scores_take_a_larger_share(classes: int, share: float) -> None:
    X, y = drawn()
    made = ss.Problem(X, y % classes, loss="label-ranking-squared-hinge", penalty="l1", lam_ratio=0.02)
    chosen = NewGLMNET(), "given"
    for used, goes_on in ((share + 0.02, True), (share - 0.02, False)):
        coef = np.zeros((made.d, classes))
        coef.ravel()[: round(used * coef.size)] = 1.0
        state = chosen[0].init(made, coef)
        assert (fitting(made, chosen, state)[0].name == "working-set") is goes_on


def test_one_score_stays_on_entries_where_columns_have_few_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = drawn()
    made = ss.Problem(X, y > 1, loss="binary-logistic", penalty="l1", lam_ratio=0.02)
    monkeypatch.setattr(rows_or_entries, "FEW_DIRECTIONS", made.directions() + 1)
    chosen = NewGLMNET(), "given"
    state = chosen[0].init(made, np.ones((made.d, 1)))
    assert fitting(made, chosen, state) is chosen
    monkeypatch.setattr(rows_or_entries, "FEW_DIRECTIONS", 0)
    assert fitting(made, chosen, state)[0].name == "working-set"


@pytest.mark.parametrize(
    ("loss", "share", "first"),
    [
        ("binary-squared-hinge", 0.02, "newglmnet"),
        ("binary-squared-hinge", 0.003, "working-set"),
        ("binary-logistic", 0.02, "working-set"),
    ],
)
def test_hinges_of_one_score_with_many_samples_stay_on_entries(
    loss: str, share: float, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_or_entries, "FEW_DIRECTIONS", 0)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1600, 150))
    y = X @ rng.standard_normal(150) + 5.0 * rng.standard_normal(1600) > 0.0
    made = ss.Problem(X, y, loss=loss, penalty="l1", lam_ratio=share)
    assert ss.solvers.Auto().choose(made)[0].name == first
    exact = NewGLMNET()
    state = exact.init(made, np.ones((made.d, 1)))
    assert fitting(made, (exact, "given"), state)[0].name == first


def test_the_opening_says_whether_gradient_steps_go_on_well() -> None:
    """They do where features are all of one kind, and not where these share a factor: then newglmnet stays."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 300))
    tied = X + 0.7 * rng.standard_normal((3000, 1))
    for data, well in ((X, True), (tied, False)):
        scores = data @ rng.standard_normal((300, CLASSES)) * (2.0 / np.sqrt(300)) + rng.gumbel(size=(3000, CLASSES))
        made = ss.Problem(data, scores.argmax(axis=1), loss="logistic", penalty="l1", lam_ratio=0.005)
        solver = NewGLMNET()
        state: Any = solver.init(made)
        while not state.opened:
            solver.step(made, state)
        assert state.settles is well
        chosen = solver, "given"
        state.coef[:] = 1.0
        assert (fitting(made, chosen, state)[0].name == "working-set") is well
        solver.adapt(made.with_lam(0.5 * made.lam), state)
        assert state.settles is well
        solver.adapt(made.with_(loss="multiclass-squared-hinge"), state)
        assert state.settles, "of another loss it knows nothing"


@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
def test_what_another_state_knows_is_taken_over(loss: str) -> None:
    """Loss and gradient of the point are those that the steps would have taken themselves."""
    made = problem(loss=loss, penalty="elastic-net")
    state: Any = NewGLMNET(opening=False).init(made)
    NewGLMNET(opening=False).step(made, state)
    state.take_gradient(made)
    known = Known(state.loss, state.U, state.G[: made.d], 1.0)
    steps = GradientSteps(made, state, known)
    fresh = SpaRSAState(made, state.coef.copy())
    assert steps.inner.f == pytest.approx(fresh.f, rel=1e-12) and steps.objective == pytest.approx(fresh.values[-1])
    np.testing.assert_allclose(steps.inner.U, fresh.U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(steps.inner.pulled, fresh.pull(made), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("moved", [False, True])
def test_gradient_steps_go_on_at_another_lambda(moved: bool) -> None:
    """The gradient they keep is that of the point, also where somebody has moved it in between."""
    made = problem(loss="logistic")
    solver = WorkingSet()
    state: Any = solver.init(made)
    solver.step(made, state)
    assert state.gradient is not None, "or the case says nothing"
    next_one = made.with_(lam_ratio=0.01)
    steps = state.gradient
    solver.adapt(next_one, state)
    assert state.gradient is steps
    if moved:
        state.coef *= 0.9
        state.Z *= 0.9
        state.moved()
    found = solver.certificate(next_one, state, Workspace(next_one))
    exact = solver.init(next_one, state.coef)
    expected = solver.certificate(next_one, exact, Workspace(next_one))
    assert found.relative_gap == pytest.approx(expected.relative_gap, rel=1e-8)
    solver.step(next_one, state)
    for _ in range(60):
        solver.step(next_one, state)
    assert solver.certificate(next_one, state, Workspace(next_one)).relative_gap <= 1e-6


def test_alpha_goes_along_to_the_next_solver() -> None:
    made = problem(loss="logistic", penalty="elastic-net")
    solver = NewGLMNET()
    state: Any = solver.init(made)
    while not state.opened:
        solver.step(made, state)
    rows: Any = WorkingSet().warm_start_from(made, state)
    assert rows.alpha == state.gradient.alpha and rows.ready is state.ready
    WorkingSet().certificate(made, rows, Workspace(made))
    assert rows.gradient.alpha == state.gradient.alpha and rows.alpha is None


def one_score(d: int = 140, factors: int = 0, **choice: Any) -> ss.Problem:
    """600 samples of two classes, which five of d features tell apart; these share ``factors``."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, d))
    if factors:
        X += 3.0 * rng.standard_normal((600, factors)) @ rng.standard_normal((factors, d))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(600) > 0.0
    choice = {"loss": "binary-logistic", "penalty": "elastic-net", "lam_ratio": 0.1, **choice}
    return ss.Problem(X, y, **choice)


def test_with_one_score_the_opening_may_lead_to_the_gap_in_demand() -> None:
    assert opening_steps.goes_far(one_score())
    assert not opening_steps.goes_far(one_score(d=100)), "few columns"
    assert not opening_steps.goes_far(one_score(factors=2)), "the columns go together"
    X, y = drawn()
    assert not opening_steps.goes_far(ss.Problem(X, y, loss="logistic", penalty="l1", lam_ratio=0.1)), "several scores"

    run = ss.Run(one_score(), NewGLMNET(), stop=Gap(1e-4))
    events = list(run)
    assert run.state.gradient is not None and events[-1].relative_gap <= 1e-4, "no Newton step was taken"
    assert events[-1].objective == pytest.approx(ss.reference(one_score()).objective, rel=1e-4)
    slow = ss.Run(one_score(lam_ratio=0.001, penalty="l1"), NewGLMNET(), stop=Gap(1e-9))
    last = list(slow)[-1]
    assert slow.state.opened and slow.state.gradient is None and last.relative_gap <= 1e-9


def test_an_opening_that_is_late_or_slow_ends() -> None:
    made = one_score()
    state: Any = NewGLMNET().init(made)
    state.aim = 1e-4
    steps = opening_steps.OpeningSteps(made, state, None)
    assert steps.forecast is not None and len(steps.left) == 1 and steps.left[0] > 0.0
    for left, on in (([9.0], False), ([9.0, 6.0], True), ([9.0, 8.0], False), ([9.0, 10.0], False)):
        steps.left = left
        assert steps._ends_soon() is on
    steps.left = [9.0, -1.0]
    assert steps._ends_soon(), "a certificate may not have been of the first dual point that suffices"
    assert not steps._ends_soon()
    assert opening_steps.OpeningSteps(made, NewGLMNET().init(made), None).forecast is None, "no gap is asked for"
