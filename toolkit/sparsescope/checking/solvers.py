"""The promises of solvers, tried on small problems that it accepts."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..problems.covariance import CovarianceProblem
from ..problems.prediction import Problem
from ..problems.sequence import SequenceProblem
from ..registry import losses, penalties
from ..runs.reference import reference
from ..runs.result import Result
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Iterations
from .points import values_of
from .report import Fault, LeftOut, shown

TOL = 1e-7  # relative gap that a solver is asked for
FIRST = ("multiclass-squared-hinge", "l1/l2"), ("logistic", "l1")  # tried before all other pairs


def small(loss: str, penalty: str, seed: int, most: int = 3) -> Problem:
    """A problem with a sparse solution: 60 samples, 8 features, ``most`` classes (2 for losses with one score)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8))
    classes = 2 if losses[loss].one_score else most
    y = (X[:, :classes] + 0.3 * rng.standard_normal((60, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    problem = Problem(X, y, loss=loss, penalty=penalty)
    return problem.with_lam(0.2 * problem.lam_reference)


def candidates(solver: Any) -> Iterator[Any]:
    """Small problems of every kind, those that most solvers take first."""
    rng = np.random.default_rng(5)
    pairs = [*FIRST, *((loss, penalty) for loss in losses for penalty in penalties)]
    for k, (loss, penalty) in enumerate(dict.fromkeys(pairs)):
        if k == len(FIRST):  # those of other kinds take a moment, the rest of the pairs many
            for share in (0.3, 0.6):
                yield CovarianceProblem.from_data(rng.standard_normal((30, 5)), lam_ratio=share)
                yield SequenceProblem(rng.standard_normal((30, 5)), np.arange(30) % 3, lam=0.3 * share)
        if solver.losses and loss not in solver.losses:
            continue
        if solver.only_penalties and penalty not in solver.only_penalties:
            continue
        yield small(loss, penalty, k, 2 if solver.two_classes else 3)


def problems_for(solver: Any) -> list[Any]:
    """Two small problems that a solver accepts."""
    return list(itertools.islice((p for p in candidates(solver) if solver.solves(p) is None), 2))


def named(problem: Any) -> str:
    """The problem, for a sentence."""
    loss, penalty = getattr(problem, "loss", None), getattr(problem, "penalty", None)
    of = [part.title for part in (loss, penalty) if part is not None]
    return f"with {' and '.join(of)}" if of else f"of the kind {problem.kind}"


def solved(problem: Any, solver: Any, **settings: Any) -> Result:
    """The result of ``solve``, without the warning of a run that ends early: the checks say so themselves."""
    from sklearn.exceptions import ConvergenceWarning  # only here: it takes a moment to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(problem, solver, record=False, **settings)


def proving(solver: Any, problems: list[Any]) -> None:
    """Leave a check out where there is no optimum to compare with."""
    if not all(problem.proves for problem in problems):
        raise LeftOut("does not apply: a sequence of models has no optimum")
    if not solver.follows_lam:
        raise LeftOut("does not apply: the problem has a budget instead of λ")


def steps(problem: Any, solver: Any, count: int, state: Any = None) -> Any:
    """The state after that many iterations, from the start or from another state."""
    run = Run(problem, solver, stop=Iterations(count), state=state)
    for _ in run:
        pass
    return run.state


def weights(state: Any) -> list[Any]:
    """W, and b where there is one."""
    b = state.intercept()
    return [state.weights()] if b is None else [state.weights(), b]


def objective(solver: Any, problems: list[Any]) -> str:
    """The objective that events report is that of their weights, between certificates and with them."""
    proving(solver, problems)
    for problem in problems:
        for event in Run(problem, solver, stop=Iterations(8), certify_every=3):
            exact = problem.objective(*weights(event.state))
            if not abs(event.objective - exact) <= 1e-9 * (1 + abs(exact)):
                raise Fault(
                    f"your solver reports the objective {event.objective:.6g} at iteration {event.iteration}, and that "
                    f"of its weights is {exact:.6g} {named(problem)}"
                )
    return "is that of the weights"


def optimum(solver: Any, problems: list[Any]) -> str:
    """Runs end at the certified optimum."""
    proving(solver, problems)
    for problem in problems:
        known = reference(problem, tol=1e-9)
        found = solved(problem, solver, tol=TOL, max_iter=solver.contract_iterations, certify_every=10)
        best, slack = known.objective, 1e-9 * (1 + abs(known.objective))
        if found.objective < known.dual - slack:
            raise Fault(f"your solver reports {found.objective:.6g}, below the optimum {best:.6g} {named(problem)}")
        if found.dual > best + slack:
            raise Fault(
                f"your certificate gives the lower bound {found.dual:.6g}, above the optimum {best:.6g} "
                f"{named(problem)}"
            )
        if not solver.converges:
            continue
        if not found.converged:
            raise Fault(
                f"your solver stands at {found.objective:.6g} (relative gap {shown(found.relative_gap)}) after "
                f"{found.iterations} iterations, and the optimum is {best:.6g} {named(problem)}: {found.message}"
            )
    if not solver.converges:
        return "nothing reported is below it (the class is declared not to converge)"
    return f"reached with a relative gap of at most {TOL:g}, {' and '.join(map(named, problems))}"


def accepted(solver: Any, problems: list[Any]) -> str:
    """Every setting can be given, and a run with it stays finite."""
    problem, count, diverged = problems[0], 0, 0
    for declared in solver.fields:
        for chosen in values_of(declared):
            settings = {f.name: getattr(solver, f.name) for f in solver.fields} | {declared.name: chosen}
            told = f"{declared.name}={chosen!r}"
            try:
                made = type(solver)(**settings)
                if made.solves(problem) is not None:
                    continue
                state = steps(problem, made, 3)
            except FloatingPointError:  # a step that is too long, and the run says so
                diverged += 1
                continue
            except Exception as error:
                raise Fault(f"the setting {told} ends in {type(error).__name__}: {error}") from error
            if not np.isfinite(state.dense(problem)).all():
                raise Fault(f"with {told} the weights are not finite after 3 iterations")
            count += 1
    if not solver.fields:
        raise LeftOut("does not apply: the solver has none")
    if not count:
        raise Fault("runs diverge with every setting")
    return f"{count} settings run" + (f", {diverged} diverge and say so" if diverged else "")


def repeats(solver: Any, problems: list[Any]) -> str:
    """The same run twice gives the same weights, and a copied state goes on as the original."""
    problem = problems[0]
    whole = steps(problem, solver, 8).dense(problem)
    if not np.array_equal(whole, steps(problem, solver, 8).dense(problem)):
        raise Fault("two runs with the same settings give different weights: draw random numbers from a seed")
    first = steps(problem, solver, 4)
    copied = first.copy()
    kept = copied.dense(problem)
    steps(problem, solver, 8, first)
    if not np.array_equal(copied.dense(problem), kept):
        raise Fault("a copy of your state moves with the original: they share an array")
    if not np.array_equal(steps(problem, solver, 8, copied).dense(problem), whole):
        raise Fault(
            "a copy of your state after 4 iterations does not go on as the run itself: something that moves is not in "
            "the state"
        )
    return "a copied state goes on as the run itself"


def warm(solver: Any, problems: list[Any]) -> str:
    """A run that begins at the optimum does not leave it."""
    proving(solver, problems)
    if solver.sparse or not solver.converges:
        raise LeftOut("does not apply: the solver begins elsewhere, or its steps do not settle")
    for problem in problems:
        known = reference(problem, tol=1e-9)
        # Not by `solve`, which hands the starting point back if the run leads to a worse one.
        for event in Run(problem, solver, W=known.W, b=known.b, stop=Iterations(5)):
            worse = event.objective - known.objective
            if not worse <= 1e-7 * (1 + abs(known.objective)):
                raise Fault(
                    f"your solver, begun at the optimum {known.objective:.6g}, stands {shown(worse)} above it at "
                    f"iteration {event.iteration} {named(problem)}"
                )
    return "a run that begins at the optimum stays there"


CHECKS: dict[str, Callable[[Any, list[Any]], str]] = {
    "objective": objective,
    "optimum": optimum,
    "settings": accepted,
    "state": repeats,
    "warm start": warm,
}


def checks(solver: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks of a solver, on two small problems that it accepts."""
    made: list[Any] = []

    def accepts() -> str:
        made.extend(problems_for(solver))
        if not made:
            raise Fault("your solver accepts no problem of any kind, on small data: see solves(problem)")
        return f"accepts problems {' and '.join(map(named, made))}"

    yield "problems", accepts
    for name, one in CHECKS.items():
        if made:
            yield name, functools.partial(one, solver, made)
