"""Tasks of a sweep: one for each problem, λ, solver and seed, with the key under which its result is kept."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.base import BaseProblem
from ..races.lanes import label, with_seeds
from ..registry import NotAllowed, check_whole, losses, penalties
from ..runs.problem_keys import data_key
from ..runs.run import as_problem, as_solver
from ..solvers.base import Solver
from ..version import __version__

FORMAT = 1  # of keys and of the files in a folder; another one is computed anew
MOST_TASKS = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Limits of a task: the relative gap to reach, and the iterations and solver seconds that it may take."""

    tol: float
    max_iter: int
    max_seconds: float | None


@dataclass(frozen=True)
class Given:
    """Data of all tasks of one problem, sent to a worker once: the problem and held-out samples."""

    problem: Any
    test: Any = None


@dataclass(frozen=True)
class Order:
    """Order to a worker: one task, without the data."""

    key: str
    problem: str
    lam: float
    solver: Solver
    limits: Limits
    version: str = __version__


@dataclass(frozen=True)
class Task:
    """One row of the table: what it is called, and what is computed for it."""

    facts: Mapping[str, Any]
    order: Order


def named(problems: Any) -> dict[str, Any]:
    """Return label → problem of what the user gave: a problem, several, or a mapping.

    Raises
    ------
    TypeError, ValueError
        for something that is no problem, and for none at all.
    """
    if isinstance(problems, Mapping):
        found = {str(name): as_problem(problem) for name, problem in problems.items()}
    else:
        found = {}
        for problem in [problems] if isinstance(problems, BaseProblem) else _several("problems", problems, "Problem"):
            name = _called(as_problem(problem))
            count = sum(other.split(" #")[0] == name for other in found)
            found[f"{name} #{count + 1}" if count else name] = problem
    if not found:
        raise ValueError("no problem is given; a sweep needs one at least")
    return found


def tasks_of(
    problems: Mapping[str, Any],
    tests: Mapping[str, Any],
    *,
    lam: Any,
    lam_ratio: Any,
    solvers: Any,
    seeds: Any,
    limits: Limits,
) -> list[Task]:
    """Return the tasks in the order of the table: problems, λ, solvers, seeds.

    Raises
    ------
    TypeError, ValueError
        for arguments that are not allowed, names that are not known, and two tasks that are the same.
    """
    if lam is not None and lam_ratio is not None:
        raise ValueError("lam and lam_ratio are both given; give one of them")
    found: dict[str, Task] = {}
    for name, problem in problems.items():
        content = content_of(problem, tests.get(name))
        facts = {"problem": name, **_facts(problem)}
        for at, ratio in _lams(problem, lam, lam_ratio):
            sibling = problem.with_lam(at)
            for solver_label, solver in _solvers(solvers, problem):
                for seed, made in _seeded(solver, seeds):
                    key = _key(content, sibling, made, limits)
                    if key in found:
                        raise ValueError(
                            f"{solver_label} at λ = {at:g} on {name} is asked for twice; give each combination once"
                        )
                    row = {**facts, "lam": at, "lam_ratio": ratio, "solver": solver_label, "seed": seed}
                    found[key] = Task(row, Order(key, name, at, made, limits))
                    if len(found) > MOST_TASKS:
                        raise ValueError(f"more than {MOST_TASKS} tasks; divide the sweep into several")
    return list(found.values())


def content_of(problem: Any, test: Any) -> str:
    """Return the digest of all that a task's result depends on beside λ, solver and limits."""
    digest = hashlib.sha256(data_key(problem).encode())
    digest.update(repr((problem.intercept, problem.m, problem.feature_names)).encode())
    for part in () if test is None else test:
        for array in _arrays(part):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(
                np.ascontiguousarray(array).data if array.dtype.kind != "O" else repr(array.tolist()).encode()
            )
    return digest.hexdigest()


def _arrays(part: Any) -> list[np.ndarray]:
    """The arrays that a part of the held-out data is made of."""
    if sp.issparse(part):
        by_rows = sp.csr_array(part)
        return [np.asarray(by_rows.shape), by_rows.data, by_rows.indices, by_rows.indptr]
    if hasattr(part, "matrix"):  # a Design
        return _arrays(part.plain().matrix)
    try:
        return [np.asarray(part)]
    except ValueError:  # label lists of different lengths
        return [np.asarray([repr(sorted(one)) for one in part])]


def _key(content: str, problem: Any, solver: Solver, limits: Limits) -> str:
    """The key of a task. Names of classes hold the digest of a part that was defined outside the package."""
    kinds = [type(part).__name__ for part in problem.parts.values()]
    settings = [(f.name, repr(getattr(solver, f.name))) for f in solver.fields]
    what = type(solver).__module__, type(solver).__qualname__, settings
    told = (FORMAT, __version__, content, problem.key, kinds, what, dataclasses.astuple(limits))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]


def _facts(problem: Any) -> dict[str, Any]:
    """Columns of the table that describe a problem."""
    parts = {"loss": (losses, "loss"), "penalty": (penalties, "penalty")}
    names = {}
    for name, (registry, attribute) in parts.items():
        part = problem.parts.get(attribute)
        names[name] = "" if part is None else registry.name_of(part) or str(part)
    return {"data": problem.name or "", "n": problem.n, "d": problem.d, "m": problem.m, **names}


def _called(problem: Any) -> str:
    facts = _facts(problem)
    return " · ".join(filter(None, (facts["data"] or problem.kind, facts["loss"], facts["penalty"])))


def _several(name: str, given: Any, example: str) -> list[Any]:
    """A list of what is given singly or in a list."""
    if isinstance(given, str | Solver | type | Real):
        return [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"{name} is {given!r}; a {example}, or a list of them, is needed")
    found = list(given)
    if not found:
        raise ValueError(f"{name} is empty; give one {example} at least")
    return found


def _lams(problem: Any, lam: Any, lam_ratio: Any) -> list[tuple[float, float]]:
    """(λ, share of λ_max) of each λ; the share is NaN where λ itself was given."""
    if lam_ratio is not None:
        ratios = [_positive("lam_ratio", value) for value in _several("lam_ratio", lam_ratio, "number")]
        unit = float(problem.lam_reference)
        return [(ratio * unit, ratio) for ratio in ratios]
    if lam is None:
        return [(float(problem.lam), math.nan)]
    return [(_positive("lam", value), math.nan) for value in _several("lam", lam, "number")]


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not (0.0 < float(value) < math.inf):
        raise NotAllowed(f"{name} holds {value!r}; finite numbers above 0 are needed")
    return float(value)


def _solvers(solvers: Any, problem: Any) -> list[tuple[str, Solver]]:
    """(label, solver); without any, the default of the problem's kind."""
    if solvers is None:
        solvers = [None]
    if isinstance(solvers, Mapping):
        return [(str(name), as_solver(given, problem)) for name, given in solvers.items()]
    return [(label(made), made) for made in (as_solver(s, problem) for s in _several("solvers", solvers, "solver"))]


def _seeded(solver: Solver, seeds: Any) -> list[tuple[int | None, Solver]]:
    """(seed, solver) of each seed; a solver that draws nothing runs once, without a seed."""
    if not any(f.name == "seed" for f in solver.fields):
        return [(None, solver)]
    if isinstance(seeds, Integral):
        return with_seeds(solver, check_whole("seeds", seeds, 1))
    made: Any = solver
    chosen = [check_whole("seeds", seed, 0) for seed in _several("seeds", seeds, "whole number")]
    return [(seed, dataclasses.replace(made, seed=seed)) for seed in chosen]
