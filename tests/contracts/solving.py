"""For the contracts of solvers: which there are, by what they promise; small problems for them; their settings."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import (
    FEW_PAIRS,
    PAIRS,
    PREDICTING,
    digits,
    fitting,
    forms,
    iris,
    solve_or_skip,
    text,
    values_of,
)
from sparsescope.registry import penalties, solvers
from sparsescope.runs.stopping import Iterations
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
# The logistic loss has the elastic net here: with a penalty that is not strongly convex it is so flat on these data
# that ISTA stands at a relative gap of 1e-5 after 12 000 iterations.
TEN_CLASSES = [
    ("multiclass-squared-hinge", "l1/l2"),
    pytest.param("squared", "l1/linf", marks=pytest.mark.slow),
    pytest.param("multitask-squared-hinge", "l1", marks=pytest.mark.slow),
    pytest.param("logistic", "elastic-net", marks=pytest.mark.slow),
]
# What a live change may change at once; λ as a multiple of the one before.
CHANGES = [{"lam": 0.5}, {"loss": "squared"}, {"penalty": "l1"}, {"loss": "logistic", "penalty": "ridge", "lam": 2.0}]


# Data, λ (a share of λ_reference) and the share of a solver's iterations that it may take, of problems on which every
# exact solver is held to an optimum.
DATA = [("flowers", 0.3, 0.2), pytest.param("iris", 0.1, 1.0, marks=pytest.mark.slow)]
both_data = pytest.mark.parametrize(("data", "share", "within"), DATA)


@cache
def flowers() -> tuple[np.ndarray, np.ndarray]:
    """Iris with half of its correlations taken back: (75, 4), three classes.

    Steps along gradients reach a certified optimum in a tenth of the iterations, and all four features are used.
    """
    X, y = iris()
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    return X @ (vectors * values**-0.25) @ vectors.T, y


@cache
def data_of(data: str, loss: str, two: bool) -> tuple[Any, np.ndarray]:
    """A matrix and the classes for a loss; two: the first class against the others."""
    matrix, y = {"iris": iris, "flowers": flowers, "digits": digits, "text": text}[data]()
    return matrix, np.minimum(y, 1) if two else fitting(loss, y)


@cache
def reference_of(data: str, loss: str, penalty: str, intercept: bool, two: bool) -> float:
    """λ_reference, which no form of the data changes: for a hinge with an intercept it takes linear programs."""
    X, y = data_of(data, loss, two)
    return ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept).lam_reference


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
    matrix, y = data_of(data, loss, two)
    X, lam = dict(forms(matrix))[form], share * reference_of(data, loss, penalty, intercept, two)
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
    if solvers[name].two_classes:
        if problem.loss.one_score:
            pytest.skip(f"{name} is for two scores")
        if (reason := solvers.create(name).solves(problem)) is not None:
            pytest.skip(reason)


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


def check_solution(problem: ss.Problem, name: str, within: float = 1.0) -> None:
    found = solve_or_skip(problem, name, within=within)
    assert found.converged, found
    known = best(problem)
    assert found.objective == pytest.approx(known.objective, rel=1e-7)
    assert found.objective >= known.dual - 1e-12 * abs(known.objective)
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)
    rounding = 1e-12 * abs(found.objective)
    assert found.gap <= problem.gap(found.W, found.b) + rounding, "the best dual value seen is at least that of W"
    assert found.dual <= known.objective + rounding and found.gap == found.objective - found.dual


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
