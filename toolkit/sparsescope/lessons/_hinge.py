"""The hinge in lessons: its solution with the forces of the samples, fits to some of them, and two exercises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.stopping import Gap, Iterations
from ..wording import plural
from . import pictures
from ._runs import at, dense, fit, load
from .base import Case, Mark, Show, no_show

HINGE = "crammer-singer"
MANY = 1000  # samples: a problem with more is solved to fewer digits
MOST = 100_000  # iterations
CORNER = 1e-4  # of the margin: a sample that is nearer to it stands in the corner of the hinge
FORCE = 1e-6  # a smaller entry of a dual row is no force


@dataclass(frozen=True)
class Point:
    """Solution of a problem with the hinge: weights, dual rows, F and the relative gap that they prove."""

    W: np.ndarray
    U: np.ndarray
    objective: float
    gap: float


def minimise(problem: Problem, tol: float = 0.0, show: Show = no_show) -> Point:
    """Solve a problem with the hinge, and show its gap."""
    # Thousands of iterations, whose certificates take as long as they do.
    stop = Gap(tol or (1e-5 if problem.n > MANY else 1e-7)) | Iterations(MOST)
    run = Run(problem, "fbpd", stop=stop, certify_every=20)
    gaps: list[float] = []
    event = None
    for event in run:
        if np.isfinite(event.relative_gap) and event.iteration % 100 == 0:
            gaps.append(float(event.relative_gap))
            if len(gaps) % 5 == 0:
                show(pictures.lines({"gap": (range(len(gaps)), gaps)}, "hundreds of iterations", "relative", log=True))
    assert event is not None and run.state is not None
    U = np.zeros((problem.n, problem.m))
    run.state.dual_rows(U)
    return Point(dense(run.state.weights()), U, float(event.objective), float(event.relative_gap))


def split(case: Case) -> tuple[Case, float]:
    """Return data and seed of a case, and its share of λ_max: ``wine, 0.02 λ_max`` has its own, others have 0.1."""
    name, _, share = case.data.partition(", ")
    return Case(name, case.seed), float(share.split()[0]) if share else 0.1


@lru_cache(maxsize=16)
def solved(name: str, seed: int, ratio: float = 0.1) -> Point:
    """Return the solution with the hinge at a share of λ_max."""
    return minimise(at(name, ratio, seed, HINGE))


@lru_cache(maxsize=32)
def weights_of(name: str, seed: int, loss: str, ratio: float = 0.1) -> np.ndarray:
    """Return the weights of the solution with the hinge or another loss."""
    return solved(name, seed, ratio).W if loss == HINGE else dense(fit(at(name, ratio, seed, loss)).W)


def smooth_forces(problem: Problem) -> float:
    """Return the number of forces a sample with the squared hinge, on average."""
    Z = np.array(problem.scores(fit(problem).W))
    own = Z[np.arange(problem.n), problem.y]
    return float((1.0 - own[:, None] + Z > 0.0).sum()) / problem.n - 1.0  # each sample's own class is one of them


def shortfall(problem: Problem, W: Any) -> np.ndarray:
    """Return how much each sample lacks of the margin 1: negative for samples that lead by more."""
    Z, samples = np.array(problem.scores(W)), np.arange(problem.n)
    own = Z[samples, problem.y].copy()
    Z[samples, problem.y] = -np.inf
    return 1.0 - own + Z.max(axis=1)


def _without(problem: Problem, case: Case, keep: np.ndarray) -> Problem:
    """Return the problem on some of its samples, with λ·n/n′."""
    data = load(case.data, case.seed)
    return problem.on(data.X[keep], data.y[keep]).with_(lam=problem.lam * problem.n / keep.sum())


def rise(problem: Problem, case: Case, keep: np.ndarray, best: float) -> float:
    """Return how much larger F on all data becomes, relative to the smallest, by a fit to some of the samples."""
    rest = _without(problem, case, keep)
    W = fit(rest, 1e-10).W if problem.loss.smooth else minimise(rest).W
    return float(problem.objective(W) / best - 1.0)


# ------------------------------------------------------------------------------------------------------- the exercises
def _numbers_of(given: Any) -> np.ndarray | None:
    """Return a list of finite numbers as an array, and ``None`` for anything else."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 1 and np.isfinite(found).all() else None


def delete_check(samples: Any, student: int) -> Mark:
    """Check which samples of wine were left out: by a fit to the others."""
    case = Case("wine", student % 3)
    problem, best = at(case.data, 0.1, case.seed, HINGE), solved(case.data, case.seed)
    given = _numbers_of(samples)
    if given is None or not np.isin(given, np.arange(problem.n)).all():
        return Mark(False, f"Give numbers of samples, 0 to {problem.n - 1}, as a list.")
    keep = ~np.isin(np.arange(problem.n), given)
    if 2 * keep.sum() > problem.n:
        return Mark(False, f"That leaves {int(keep.sum())} of {problem.n} samples; more than half can go.")
    if not keep.any() or np.unique(problem.y[keep]).size < 2:
        return Mark(False, f"That leaves {plural(keep.sum(), 'sample')}, of fewer than two classes.")
    more = rise(problem, case, keep, best.objective)
    said = f"With the {int(keep.sum())} others F on all data changes by {100 * more:+.4g} %; 0.001 % are allowed."
    return Mark(more <= 1e-5, said)


def no_forces(student: int) -> list[int]:
    """Return the samples without a force."""
    return np.flatnonzero(np.abs(solved("wine", student % 3).U).max(axis=1) <= FORCE).tolist()


def no_losses(student: int) -> list[int]:
    """Return the samples without a loss."""
    problem = at("wine", 0.1, student % 3, HINGE)
    return np.flatnonzero(shortfall(problem, solved("wine", student % 3).W) <= CORNER).tolist()


@lru_cache(maxsize=8)
def _three(student: int) -> Problem:
    """Return the student's problem: three samples of two features, one of each of three classes."""
    draw = np.random.default_rng(700 + student)
    while True:
        X = draw.integers(-3, 4, size=(3, 2)).astype(float)
        problem = Problem(X, [0, 1, 2], loss=HINGE, penalty="l1/l2")
        if problem.lam_max > 0.2:
            return problem.with_(lam=round(0.3 * problem.lam_max, 2))


def forces_task(student: int) -> str:
    """Return the task of a dual point by hand."""
    problem = _three(student)
    shown = "; ".join(f"{name} at ({x[0]:g}, {x[1]:g})" for name, x in zip("ABC", problem.design.matrix, strict=True))
    return (
        f"Three samples, one of each class: {shown}. Hinge, ℓ1/ℓ2, λ = {problem.lam:g}. Give a dual point by hand: six "
        "forces of at least 0, of A on B and C, of B on A and C, of C on A and B. The two of a sample sum to at most "
        "1, and u_i has them at the other classes and minus their sum at its own. For each feature j the length of "
        "Σ_i x_ij u_i / 3 may be at most λ. Then D, the sum of all six divided by 3, lies below the smallest F: come "
        "within a tenth of it."
    )


def forces_check(forces: Any, student: int) -> Mark:
    """Check six forces: whether they are a dual point, and how good a bound they prove."""
    problem, given = _three(student), _numbers_of(forces)
    if given is None or given.size != 6:
        return Mark(False, "Give six numbers.")
    U = _dual_rows(given)
    if given.min() < 0.0 or -U.diagonal().min() > 1.0 + 1e-9:
        return Mark(False, "Forces are at least 0, and the two of a sample sum to at most 1.")
    lengths = np.linalg.norm(np.asarray(problem.design.matrix).T @ U, axis=1) / 3.0
    if lengths.max() > problem.lam * (1.0 + 1e-9):
        factor = problem.lam / lengths.max()
        return Mark(False, f"The longest row has {lengths.max():.4g}, more than λ; {factor:.3g} times all would fit.")
    dual, smallest = given.sum() / 3.0, minimise(problem).objective
    share = 1.0 - dual / smallest
    return Mark(
        bool(share <= 0.1), f"D = {dual:.4g}; the smallest F is {smallest:.4g}: D is {100 * share:.3g} % below it."
    )


def _dual_rows(forces: np.ndarray) -> np.ndarray:
    """Return the dual rows (3, 3) of six forces: each sample on the two other classes."""
    U = np.zeros((3, 3))
    U[~np.eye(3, dtype=bool)] = forces
    return U - np.diag(U.sum(axis=1))


def solver_s_forces(student: int) -> list[float]:
    """Return the six forces of the solver."""
    problem = _three(student)
    U = minimise(problem).U
    longest = np.linalg.norm(np.asarray(problem.design.matrix).T @ U, axis=1).max() / 3.0
    scaled = U * min(1.0, problem.lam / longest) if longest > 0 else U
    return [max(float(u), 0.0) for u in scaled[~np.eye(3, dtype=bool)]]
