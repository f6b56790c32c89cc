"""Random live sequences: solver, λ, loss and penalty change every few iterations, and what is announced always holds.

There are 400 features, more than the number from which solvers restrict themselves to some of them, dense and sparse,
with classes and with label sets. The bounds are compared with those of a reference, and the objective with the plain
formulas.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import PREDICTING, objective
from sparsescope.registry import losses, penalties, solvers
from sparsescope.solvers.shared.restriction import FEWEST

FEATURES, SAMPLES, CHANGES = 400, 60, 6
SEQUENCES = 500
FAST = (0, 2, 4, 6, 16, 24)  # the last two switch to a solver that begins at a dual point, and leave it early
SHARES = (0.05, 0.1, 0.3, 0.6)  # of λ's reference value
# A sequence compiles what it meets: those with an even seed meet few parts, the others all.
FEW_LOSSES, FEW_PENALTIES = ("multiclass-squared-hinge", "crammer-singer"), ("l1/l2", "ridge")
FEW_SOLVERS = ("auto", "working-set", "fista-ls", "fobos", "fbpd", "pd-sparse", "ssnal")


@cache
def data(kind: str, form: str) -> tuple[Any, np.ndarray]:
    """Few of the features tell something about the classes or label sets; sparse ones are like counts."""
    rng = np.random.default_rng(len(kind) + len(form))
    k = 2 if kind == "two" else 3
    if kind == "sets":
        Y = (rng.random((SAMPLES, 4)) < (0.5, 0.4, 0.3, 0.2)).astype(np.uint8)
        Y[0], Y[1] = 0, 1
        means = Y @ rng.standard_normal((4, FEATURES))
    else:
        Y = np.arange(SAMPLES) % k
        means = rng.standard_normal((k, FEATURES))[Y]
    X = rng.standard_normal((SAMPLES, FEATURES))
    X[:, ::10] += means[:, ::10]
    if form == "csr":
        return sp.csr_array(np.where(rng.random(X.shape) < 0.15, X, 0.0)), Y
    return X, Y


class Sequence:
    """A live run and its random changes; every event is checked."""

    def __init__(self, seed: int, few: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.few = few
        self.kind = self.pick(("classes", "classes", "sets", "two"))
        self.X, self.y = data(self.kind, self.pick(("dense", "csr")))
        self.intercept = bool(self.rng.random() < 0.4)
        problem = self.another_problem()
        self.log = [f"seed {seed}: {self.kind}, {type(self.X).__name__}, intercept {self.intercept}, {problem!r}"]
        self.run: Any = ss.Run(problem, self.solver_for(problem), certify_every=4)
        self.check(self.run.advance())

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def another_problem(self, like: ss.Problem | None = None) -> ss.Problem:
        """With a random loss, penalty and λ; ``like`` brings the data, and those parts that stay."""
        target = "sets" if self.kind == "sets" else "classes"
        fitting = [
            name
            for name in (FEW_LOSSES if self.few else losses)
            if target in losses[name].target_types and (self.kind == "two" or not losses[name].one_score)
        ] or ["separation-ranking"]
        loss, penalty = self.pick(fitting), self.pick(FEW_PENALTIES if self.few else tuple(penalties))
        if like is None:
            problem = ss.Problem(self.X, self.y, loss=loss, penalty=penalty, intercept=self.intercept)
        else:
            what = self.pick(("lam", "loss", "penalty"))
            # a loss with one score has other weights: problems with different numbers of scores are no siblings
            keep = what != "loss" or losses[loss].one_score != like.loss.one_score
            problem = like.with_(loss=None if keep else loss, penalty=penalty if what == "penalty" else None)
        return problem.with_lam(self.pick(SHARES) * reference_of(problem, self.kind, sp.issparse(self.X)))

    def solver_for(self, problem: ss.Problem) -> str:
        names = [name for name in PREDICTING if not self.few or name in FEW_SOLVERS]
        return str(self.pick([name for name in names if solvers.create(name).solves(problem) is None]))

    def play(self) -> None:
        for _ in range(CHANGES):
            for _ in range(int(self.rng.integers(3, 16))):
                event = self.run.advance()
            self.check(self.run.observe(certify_now=True))
            self.change(event)
        self.run.conclude()
        self.check(self.run.observe(certify_now=True))

    def change(self, event: Any) -> None:
        """Change the solver or the problem, and check the point to go on from."""
        run, before = self.run, self.run.observe(certify_now=True).objective
        ordinary = run.solver.follows_lam
        if ordinary:
            before = min(before, self.value_at(run.problem, run.best.weights(), run.best.intercept()))
        problem = run.problem if self.rng.random() < 0.5 else self.another_problem(run.problem)
        same = problem is run.problem
        solver = run.solver
        if same or solver.solves(problem) is not None:
            solver = solvers.create(self.solver_for(problem))
        self.log.append(f"iteration {event.iteration}: {solver!r}, {problem!r}")
        begins = run.state if solver == run.solver else run.best
        W, b = begins.weights().copy(), begins.intercept()
        run.change(problem=problem, solver=solver)
        after = run.observe(certify_now=True)
        self.check(after)
        if not (ordinary and run.solver.follows_lam):
            return
        if not run.state.sparse:
            expected = self.value_at(problem, W, b)
            assert after.objective <= expected + self.rounding(expected), (self.log, after.objective, expected)
        if same:
            best = self.value_at(problem, run.best.weights(), run.best.intercept())
            assert best <= before + self.rounding(before), (self.log, best, before)

    def value_at(self, problem: Any, W: Any, b: Any) -> float:
        W = W.toarray() if sp.issparse(W) else W
        return objective(self.X, self.y, problem.loss, problem.penalty, problem.lam, W, 0.0 if b is None else b)

    def rounding(self, value: float) -> float:
        return 1e-10 * (abs(value) + abs(self.run.problem.null_objective))

    def check(self, event: Any) -> None:
        """A certified event: numbers, the formulas' objective, and bounds on both sides of the optimum."""
        problem, state, log = event.problem, event.state, self.log
        small = self.rounding(event.objective)
        if not event.solver.follows_lam:  # it has no gap as long as no feasible point is known
            assert np.isfinite([event.objective, event.dual, event.excess]).all(), (log, event)
            assert event.gap >= -small or np.isnan(event.gap), (log, event.gap)
            return
        assert np.isfinite([event.objective, event.gap, event.dual]).all(), (log, event)
        assert event.gap >= -small, (log, event.gap)
        assert event.gap == event.objective - event.dual, log
        value = self.value_at(problem, state.weights(), state.intercept())
        assert abs(value - event.objective) <= small, (log, value, event.objective)
        lower, upper = bounds_of(problem, self.kind, sp.issparse(self.X))
        assert event.dual <= upper + small, (log, event.dual, upper)
        assert lower <= event.objective + small, (log, lower, event.objective)


_references: dict[Any, float] = {}
_bounds: dict[Any, tuple[float, float]] = {}


def reference_of(problem: ss.Problem, *of_data: Any) -> float:
    """λ_reference, once for all seeds: for label sets and a non-smooth loss it takes a second of linear programs."""
    key = (*of_data, problem.intercept, problem.loss, problem.penalty)
    if key not in _references:
        _references[key] = problem.lam_reference
    return _references[key]


def bounds_of(problem: ss.Problem, *of_data: Any) -> tuple[float, float]:
    """A lower and an upper bound of the optimum, of another run."""
    key = (*of_data, problem.intercept, problem.key)
    if key not in _bounds:
        found = ss.solve(problem, "auto", tol=1e-8, max_iter=2000, record=False, certify_every=20, max_seconds=5.0)
        _bounds[key] = found.dual, found.objective
    return _bounds[key]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=() if k in FAST else pytest.mark.slow) for k in range(SEQUENCES)]
)
def test_what_is_announced_holds_whatever_changes(seed: int) -> None:
    assert FEATURES > FEWEST
    Sequence(seed, few=seed % 2 == 0).play()
