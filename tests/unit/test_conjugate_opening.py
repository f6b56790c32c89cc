"""Conjugate-gradient steps on F before Newton steps under a ridge: what they leave, where they begin and end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.newton_cg import NewtonCGState
from sparsescope.solvers.shared import conjugate_opening
from sparsescope.solvers.shared.conjugate_opening import ConjugateSteps, newton_cost, opens

LOSSES = ("logistic", "multiclass-squared-hinge", "multitask-squared-hinge", "binary-logistic", "squared")


def made(loss: str = "logistic", form: Any = np.asarray, factors: int = 0, **choice: Any) -> ss.Problem:
    """300 samples of three classes (two for a loss of one score) in 40 features, which share ``factors``."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 40)) * np.exp(rng.standard_normal(40))
    if factors:
        X += 3.0 * rng.standard_normal((300, factors)) @ rng.standard_normal((factors, 40))
    y = (X[:, :3] + rng.gumbel(size=(300, 3))).argmax(axis=1)
    if loss.startswith("binary"):
        y = np.minimum(y, 1)
    X[np.abs(X) < 0.3] = 0.0
    choice = {"penalty": "ridge", "lam_ratio": 0.1, **choice}
    return ss.Problem(form(X), y, loss=loss, **choice)


def begun(problem: ss.Problem, gap: float = 1e-6) -> NewtonCGState:
    """A state at zero weights of a run that will stop at this relative gap."""
    state = solvers.create("newton-cg").init(problem)
    assert isinstance(state, NewtonCGState)
    state.aim = gap
    return state


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
def test_each_step_lowers_the_objective_and_leaves_what_belongs_to_the_point(
    loss: str, form: Any, intercept: bool
) -> None:
    problem = made(loss, form, intercept=intercept)
    state = begun(problem)
    steps = ConjugateSteps(problem, state)
    best = ss.reference(problem).objective
    start = state.objective(problem)
    for _ in range(12):
        before = state.objective(problem)
        assert steps.advance(problem, state)
        assert state.objective(problem) < before
        np.testing.assert_allclose(state.Z, problem.design.matmul(state.coef, np.empty_like(state.Z)), atol=1e-9)
        fresh = NewtonCGState(problem, state.coef.copy())
        np.testing.assert_allclose(state.G, fresh.G, atol=1e-9)
        assert state.loss == pytest.approx(fresh.loss, rel=1e-12)
    assert state.objective(problem) - best <= 0.01 * (start - best)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_run_ends_at_the_same_optimum(loss: str) -> None:
    problem = made(loss)
    solver = solvers.create("newton-cg", direct=False)
    assert opens(problem)
    found = ss.solve(problem, solver, tol=1e-9)
    assert found.converged
    other = ss.solve(made(loss), solvers.create("newton-cg", direct=False, opening=False), tol=1e-9)
    assert found.objective == pytest.approx(other.objective, rel=1e-8)


def test_they_open_from_zero_weights_on_and_only_for_a_gap() -> None:
    solver = solvers.create("newton-cg", direct=False)

    def first(problem: ss.Problem, **given: Any) -> bool:
        run = ss.Run(problem, solver, **given)
        run.advance()
        run.advance()
        return isinstance(run.state.gradient, ConjugateSteps) or run.state.opened is False

    assert first(made(), stop=Gap(1e-4))
    assert not first(made(), stop=Iterations(5))
    assert not first(made(), stop=Gap(1e-4), W=np.full((40, 3), 0.1))
    assert not first(made(factors=2), stop=Gap(1e-4))


def test_columns_that_go_together_keep_them_away() -> None:
    assert opens(made()) and opens(made("squared"))
    together = made(factors=2)
    assert together.directions() < conjugate_opening.COUPLED * together.d
    assert not opens(together)
    assert newton_cost(made()) > conjugate_opening.OF_APART


def test_neighbours_do_so_unless_newton_steps_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 60))
    X[:, 1:] += 0.7 * X[:, :-1]
    y = X[:, :4].argmax(axis=1)

    def problem(loss: str, y: np.ndarray = y) -> ss.Problem:
        return ss.Problem(X, y, loss=loss, penalty="ridge", lam=0.05)

    share = problem("logistic").directions() / 60
    assert conjugate_opening.COUPLED < share < conjugate_opening.APART
    assert not opens(problem("logistic"))  # XᵀX of 60 columns costs little
    monkeypatch.setattr(conjugate_opening, "DEAR", 0.5)
    assert opens(problem("logistic"))
    assert not opens(problem("multitask-squared-hinge"))
    assert not opens(problem("binary-logistic", y % 2))


def test_words_open_with_several_scores_and_no_small_λ() -> None:
    assert opens(made(form=sp.csr_array))
    assert not opens(made("binary-logistic", sp.csr_array))
    assert not opens(made(form=sp.csr_array, lam_ratio=0.005))


def test_slow_steps_give_way_to_newton_steps() -> None:
    problem = made()
    steps = ConjugateSteps(problem, begun(problem, gap=1e-12))
    steps.cost = 5.0
    few, fast, slow = [20.0, 19.0], [20.0, 12.0, 8.0], [20.0, 19.0, 18.0, 17.0]
    for left, on in ((few, True), (fast, True), (slow, False)):
        steps.left = left
        assert steps.goes_on() is on


def test_a_step_that_finds_no_descent_leaves_the_point_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = made()
    state = begun(problem)
    steps = ConjugateSteps(problem, state)
    assert steps.advance(problem, state)
    before = [state.coef.copy(), state.Z.copy(), state.U.copy(), state.G.copy(), np.array(state.loss)]
    real, trials = NewtonCGState.derivatives, []

    def rising(self: NewtonCGState, problem: ss.Problem, Z: np.ndarray) -> float:
        trials.append(Z)
        found = real(self, problem, Z)
        return found if np.array_equal(Z, before[1]) else np.inf

    monkeypatch.setattr(NewtonCGState, "derivatives", rising)
    assert not steps.advance(problem, state)
    assert len(trials) == conjugate_opening.MOST_TRIALS + 1
    for old, new in zip(before, [state.coef, state.Z, state.U, state.G, state.loss], strict=True):
        np.testing.assert_array_equal(old, new)


def test_another_λ_in_the_middle_begins_them_anew() -> None:
    problem = made()
    run = ss.Run(problem, solvers.create("newton-cg", direct=False), stop=Gap(1e-8) | Iterations(200))
    run.advance()
    run.advance()
    first = run.state.gradient
    assert isinstance(first, ConjugateSteps)
    run.change(lam=problem.lam / 4.0)
    assert run.state.gradient is None
    run.advance()
    assert isinstance(run.state.gradient, ConjugateSteps) and run.state.gradient is not first
    last = list(run)[-1]
    assert last.relative_gap is not None and last.relative_gap <= 1e-8
    assert last.objective == pytest.approx(ss.reference(made(lam_ratio=0.025)).objective, rel=1e-7)
