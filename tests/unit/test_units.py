"""Results do not depend on the units of X: from 1e-150 to 1e150, by every solver."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import PREDICTING, forms, in_turn, iris
from sparsescope.registry import penalties, solvers

POWERS = (-498, -40, 30, 498)  # of two: 1e-150, 1e-12, 1e9, 1e150


def problem_in(unit: float, name: str, intercept: bool = False, like: Any = np.asarray) -> Any:
    """A problem that the solver takes on iris times a number, with λ in the same place of its range."""
    X, y = iris()
    for loss in ("logistic", "squared", "crammer-singer"):
        for penalty in ("l1/l2", "l1", "ridge"):
            lam = 0.05 * (unit * unit if penalty == "ridge" else unit)
            problem = ss.Problem(like(X * unit), y, loss=loss, penalty=penalty, lam=lam, intercept=intercept)
            if solvers.create(name).solves(problem) is None:
                return problem
    pytest.skip(f"{name} is for other kinds of problems")


@pytest.mark.parametrize("name", PREDICTING)
def test_the_steps_of_a_solver_do_not_depend_on_the_units(name: str) -> None:
    if not solvers[name].losses and name in ("cls", "stagewise"):
        pytest.skip("a sequence has λ in units of the data")
    unit = 2.0 ** POWERS[0]
    runs = [ss.Run(problem_in(2.0**power, name), name) for power in POWERS]
    for _ in range(5):
        events = [run.advance() for run in runs]
        for run, event, power in zip(runs, events, POWERS, strict=True):
            size = 2.0**power
            omega = 1.0 if solvers[name].follows_lam else unit / size
            assert event.objective == pytest.approx(events[0].objective * omega, rel=1e-9)
            assert event.gap == pytest.approx(events[0].gap * omega, rel=1e-7, nan_ok=True)
            assert event.relative_gap == pytest.approx(events[0].relative_gap, rel=1e-7, nan_ok=True)
            assert event.penalty * run.problem.lam == pytest.approx(events[0].penalty * runs[0].problem.lam, rel=1e-9)
    W = [
        np.asarray(run.state.weights().toarray() if sp.issparse(run.state.weights()) else run.state.weights())
        for run in runs
    ]
    for found, power in zip(W, POWERS, strict=True):
        np.testing.assert_allclose(found * 2.0**power, W[0] * unit, rtol=1e-9, atol=1e-12)


@cache
def in_usual_units() -> ss.Result:
    X, y = iris()
    return ss.solve(ss.Problem(X, y, loss="logistic", lam=0.1, intercept=True), "auto", tol=1e-9)


# The units are taken away before a solver sees the data: each has a small and a large one; the others are slow tests.
FACTORS = (1e-150, 1e-10, 1.8e19, 1e150)
FOLLOWED = ("bcd-ls", "bcd-cst", "fista-cst", "fista-ls", "sparsa", "working-set", "auto")


@pytest.mark.parametrize(("name", "factor"), in_turn(FOLLOWED, FACTORS))
def test_solutions_in_any_units_are_certified_and_are_those_of_the_usual_ones(name: str, factor: float) -> None:
    X, y = iris()
    usual = in_usual_units()
    problem = ss.Problem(X * factor, y, loss="logistic", lam=0.1 * factor, intercept=True)
    found = ss.solve(problem, name, tol=1e-7, max_iter=20_000, record=False, certify_every=20)
    assert found.converged and found.objective == pytest.approx(usual.objective, rel=1e-6)
    np.testing.assert_allclose(found.W * factor, usual.W, atol=2e-2)
    again = problem.certificate(found.W, found.b)
    assert again.relative_gap <= 2e-7
    assert again.violation == pytest.approx(found.violation, rel=1e-3, abs=1e-9 * factor)
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.parametrize("name", list(penalties))
def test_a_penalty_says_what_it_is_in_other_units(name: str) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, penalty=name)
    W = np.abs(np.random.default_rng(0).standard_normal((problem.d, problem.m)))
    for unit in (0.25, 8.0, 1e-30):
        other, factor = problem.penalty.rescaled(unit)
        same = factor * problem.with_(penalty=other).regulariser.value(W)[0]
        assert problem.regulariser.value(unit * W)[0] == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "crammer-singer"])
@pytest.mark.parametrize("penalty", ["l1/l2", "l1", "ridge", "elastic-net"])
def test_lam_max_has_the_units_of_the_data(loss: str, penalty: str) -> None:
    X, y = (part[::3] for part in iris())
    for power in (POWERS[0], POWERS[-1]):
        unit = 2.0**power
        usual, found = (ss.Problem(data, y, loss=loss, penalty=penalty, intercept=True) for data in (X, X * unit))
        assert found.lam_reference == pytest.approx(usual.lam_reference * unit, rel=1e-6)


def test_held_out_data_paths_and_forms_are_in_the_given_units() -> None:
    X, y = iris()
    for form, data in forms(X * 1e140):
        problem = ss.Problem(data, y, loss="logistic", intercept=True, standardize=form == "dense", lam_ratio=0.1)
        run = ss.Run(problem, "bcd-ls", test=(data, y))
        event = [run.advance() for _ in range(4)][-1]
        assert event.test_accuracy == event.train_accuracy > 0.6, form
    problem = ss.Problem(X * 1e140, y, loss="logistic", penalty="elastic-net", intercept=True)
    done = ss.path(problem, "auto", n_lams=4, ratio=0.1, tol=1e-6)
    assert done["relative_gap"].max() <= 1e-6
    assert problem.with_lam(float(done["lam"][3])).objective(done.weights(3), done.points[3].b) == pytest.approx(
        done["objective"][3], rel=1e-9
    )


def test_data_of_usual_size_are_not_copied_for_their_units() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    assert problem.natural is problem and problem.natural.natural is problem
    far = ss.Problem(X * 1e30, y, lam=1e29)
    assert far.natural is not far and far.natural.natural is far.natural
    assert far.natural.design is far.with_lam(2e29).natural.design
