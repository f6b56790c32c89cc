"""Arguments of a run: problems, solvers, callbacks and what events hold, checked and made what a run works with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from ..problems.base import BaseProblem
from ..registry import NotAllowed, solvers
from ..solvers.base import Solver
from .event import Event

EVERY = "rows:"  # how a wish for events within a sweep begins


def rows_between(every: Any) -> int:
    """Return the number of rows between two events within a sweep.

    Parameters
    ----------
    every
        such as ``"rows:64"``.

    Returns
    -------
    int
        the number.

    Raises
    ------
    NotAllowed
        for anything else.
    """
    number = every[len(EVERY) :] if isinstance(every, str) and every.startswith(EVERY) else ""
    if not (number.isascii() and number.isdigit() and int(number) >= 1):
        raise NotAllowed(f"every is {every!r}; allowed: 'rows:64' (an event after every 64 rows of a sweep), or None")
    return int(number)


def as_functions(callbacks: Any) -> list[Callable[[Event], Any]]:
    """Return callbacks as a list.

    Parameters
    ----------
    callbacks
        functions of an event, or one of them.

    Returns
    -------
    list[Callable[[Event], Any]]
        the functions.

    Raises
    ------
    TypeError
        for anything that cannot be called.
    """
    listed = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for given in listed:
        if not callable(given):
            raise TypeError(f"callbacks holds {given!r}, which cannot be called; functions of an event are needed")
    return listed


def as_problem(problem: Any) -> Any:
    """Return the problem itself.

    Parameters
    ----------
    problem
        the value to check.

    Returns
    -------
    Any
        the same problem.

    Raises
    ------
    TypeError
        for anything that is not a problem.
    """
    if not isinstance(problem, BaseProblem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; a Problem is needed: sparsescope.Problem(X, y), "
            "a SequenceProblem or a CovarianceProblem"
        )
    return problem


def as_solver(solver: str | Solver | type[Solver] | None, problem: Any = None, **settings: Any) -> Solver:
    """Return a solver from its registry name, its class or itself, with some of its settings replaced.

    Parameters
    ----------
    solver
        registry name, class or Solver; ``None`` takes the default of the kind of problem.
    problem
        the problem that the default depends on.
    **settings
        settings to replace.

    Returns
    -------
    Solver
        the solver.

    Raises
    ------
    TypeError
        for anything else, and for a setting that the solver does not have.
    ValueError
        for a value that is not allowed.
    """
    if solver is None:
        solver = problem.default_solver
    if isinstance(solver, str):
        made: Solver = solvers.create(solver, **settings)
        return made
    if isinstance(solver, type) and issubclass(solver, Solver):
        solver = solver()
    if isinstance(solver, Solver):
        known = [f.name for f in solver.fields]
        for name in settings:
            if name not in known:
                raise TypeError(f"{solver.name} has no setting {name!r} (settings: {', '.join(known) or 'none'})")
        changed: Any = dataclasses.replace(solver, **settings) if settings else solver  # type: ignore[type-var]
        return changed
    raise TypeError(f"{solver!r} is not a solver; give a name ({', '.join(solvers)}) or a Solver")
