"""Coordinates: the first half of lesson 10, where the same samples have other units, are rotated or whitened."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import datasets, registry
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Iterations, Objective
from . import pictures
from ._runs import ABOVE, count, first, load
from .base import Case, Finding, Mark, Message, Show
from .growing import Lines, Table

FLOOR = 1e-13  # of a gap or a distance: below is rounding
NO_RIDGE = 1e-13  # of the smallest curvature of the data: a ridge that changes nothing
EMPTY = 1e-9  # of the largest curvature: a direction with less has no samples
CHANGED = 1.5  # times the iterations
LIMITS = {"gls": 50, "fista": 6000, "bcd": 200}  # iterations of least squares
ENOUGH = 1000  # iterations after which twice those in the given coordinates are enough to tell
MOST = 1000  # iterations of the other runs
COORDINATES = {"given": "as given", "units": "other units", "rotated": "rotated", "whitened": "whitened"}
METHODS = {"gls": "gls", "fista": "FISTA", "bcd": "BCD"}
NOTICED = {f"{key}-{how}": f"{METHODS[key]}, {COORDINATES[how]}" for key in METHODS for how in ("units", "rotated")}


def solver_of(key: str) -> Any:
    """Return the solver of a key, with the settings of this lesson."""
    made: dict[str, tuple[str, dict[str, Any]]] = {
        "fista": ("fista-cst", {"restart": True}),
        "fista-ls": ("fista-ls", {"restart": True}),
        "bcd": ("bcd-ls", {}),
        "quic": ("quic", {"cg_steps": 30}),  # solves its model almost exactly
        "quic, sweeps": ("quic", {"cg_steps": 0}),
        "lhac-covariance": ("lhac-covariance", {}),
    }
    name, settings = made.get(key, (key, {}))
    return registry.solvers.create(name, **settings)


def distances(problem: Problem, solver: Any, best: float, most: int, level: float) -> np.ndarray:
    """Return F above the smallest along a run, relative, until it is within ``level``."""
    stop = Objective(best * (1 + level)) | Iterations(most)
    found = [event.objective for event in Run(problem, solver, stop=stop, certify_every=None)]
    return np.maximum(np.array(found) / best - 1.0, FLOOR)


def centred(X: Any) -> np.ndarray:
    """Return the columns around their means, without those that never change."""
    columns = np.asarray(X, dtype=float)
    columns = columns - columns.mean(axis=0)
    return columns[:, columns.std(axis=0) > 1e-10]


def turned(X: np.ndarray, how: str, seed: int) -> np.ndarray:
    """Return the samples in other coordinates."""
    rng, d = np.random.default_rng(seed), X.shape[1]
    if how == "units":
        return X * 10.0 ** rng.permutation(np.linspace(0.0, 3.0, d))
    if how == "rotated":
        return X @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    if how == "whitened":
        curvatures, axes = np.linalg.eigh(X.T @ X / len(X))
        kept = curvatures > EMPTY * curvatures.max()
        return X @ (axes[:, kept] / np.sqrt(curvatures[kept]))
    return X


def least_squares(X: np.ndarray, y: Any) -> tuple[Problem, float]:
    """Return least squares with hardly any ridge, and the smallest F."""
    curvatures = np.linalg.eigvalsh(X.T @ X / len(X))
    ridge = NO_RIDGE * curvatures[curvatures > EMPTY * 1e-3 * curvatures.max()].min()
    problem = Problem(X, y, loss="squared", penalty="ridge", lam=ridge)
    return problem, problem.objective(np.linalg.lstsq(X, np.eye(problem.m)[y], rcond=None)[0])


def own_units(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return wine in its own units, centred, and its classes."""
    data = datasets.load("wine", seed=seed, scale="none")
    return centred(data.X), np.asarray(data.y)


def who_notices(case: Case, show: Show) -> Finding:
    """Count the iterations of three methods in four coordinates."""
    data = load(case.data, case.seed)
    X = centred(data.X)
    made = {how: least_squares(turned(X, how, case.seed), data.y) for how in COORDINATES}
    needed: dict[str, dict[str, float]] = {}
    picture: Message = {}
    rows: dict[str, list[str]] = {}
    for key, name in METHODS.items():
        needed[key], rows[key], most = {}, [name], LIMITS[key]
        for how, (problem, best) in made.items():
            needed[key][how] = first(distances(problem, solver_of(key), best, most, 1e-4), 1e-4)
            rows[key].append(count(needed[key][how], most))
            if how == "given" and np.isfinite(needed[key][how]):
                most = min(most, max(ENOUGH, int(2 * needed[key][how])))
        picture = pictures.table(["iterations", *COORDINATES.values()], list(rows.values()))
        show(picture)
    noticed = []
    for pair in NOTICED:
        key, _, how = pair.partition("-")
        before, after = needed[key]["given"], needed[key][how]
        if np.isfinite(before) and max(before, after) > CHANGED * min(before, after):
            noticed.append(pair)
    shown = "; ".join(
        f"{name} " + ", ".join(f"{n} {title}" for n, title in zip(counts, COORDINATES.values(), strict=True))
        for name, *counts in rows.values()
    )
    return Finding(noticed, noticed == ["fista-units", "bcd-rotated"], f"Iterations on {case.data}: {shown}.", picture)


def is_whitening_enough(case: Case, show: Show) -> Finding:
    """Count the iterations of gls on a softmax that becomes sure."""
    problem = Problem(load(case.data, case.seed), loss="logistic", penalty="ridge", lam=1e-4)
    best = solve(problem, "working-set", tol=1e-11).objective
    lines = Lines(show, "iterations", ABOVE, log=True)
    needed: dict[str, float] = {}
    for key in ("gls", "working-set"):
        above = distances(problem, solver_of(key), best, MOST, 1e-6)
        needed[key] = first(above, 1e-6)
        lines.add(key, above)
    gls = needed["gls"]
    answer = "few" if gls <= 10 else "tens" if gls <= 100 else "hundreds"
    said = (
        f"On {case.data} gls takes {count(gls, MOST)} iterations to 1e-6, and working-set, whose steps follow the "
        f"curvature of the softmax too, {count(needed['working-set'], MOST)}."
    )
    holds = answer == "hundreds" and needed["working-set"] < gls / 4
    return Finding(answer, holds, said, lines.picture)


def nothing_changed(show: Show) -> tuple[Message, str]:
    """Describe wine in four coordinates: its columns, and the smallest F."""
    X, y = own_units()
    standard = X / X.std(axis=0)
    made = {"own units": X, "standard units": standard}
    made |= {COORDINATES[how]: turned(standard, how, 0) for how in ("rotated", "whitened")}
    table = Table(show, "coordinates", "deviations", "correlations up to", "smallest F")
    for name, samples in made.items():
        deviations = samples.std(axis=0)
        alike = np.abs(np.corrcoef(samples, rowvar=False) - np.eye(samples.shape[1])).max()
        best = least_squares(samples, y)[1]
        least, most = (f"{v:.3g}" for v in (deviations.min(), deviations.max()))
        table.add(name, least if least == most else f"{least} to {most}", f"{alike:.2f}", f"{best:.6f}")
    smallest = dict.fromkeys(row[-1] for row in table.rows)  # once each
    return table.picture, f"The smallest F in these {len(table.rows)} coordinates: {', '.join(smallest)}."


def fista_and_units(show: Show) -> tuple[Message, str]:
    """Compare FISTA on wine in its own units and in standard ones."""
    X, y = own_units()
    lines = Lines(show, "iterations", ABOVE, log=True)
    said = []
    for name, units in (("own units", np.ones(X.shape[1])), ("standard units", X.std(axis=0))):
        problem, best = least_squares(X / units, y)
        above = distances(problem, solver_of("fista"), best, 3000, 1e-4)
        lines.add(name, above)
        said.append(f"{count(first(above, 1e-4), 3000)} iterations in {name} (smallest F {best:.6f})")
    return lines.picture, f"FISTA takes {' and '.join(said)}."


def rotated_digits(show: Show) -> tuple[Message, str]:
    """Compare BCD on digits as given and rotated."""
    data = load("digits", 0)
    X = centred(data.X)
    lines = Lines(show, "iterations", ABOVE, log=True)
    said = []
    for how in ("given", "rotated"):
        problem, best = least_squares(turned(X, how, 0), data.y)
        above = distances(problem, solver_of("bcd"), best, 300, 1e-4)
        lines.add(COORDINATES[how], above)
        said.append(f"{COORDINATES[how]} {above[-1]:.1e} after {above.size - 1} iterations")
    return lines.picture, f"BCD above the smallest F: {', '.join(said)}."


def _with_units(units: Any, seed: int) -> float:
    """Return the iterations of FISTA on wine with these units."""
    X, y = own_units(seed)
    problem, best = least_squares(X / units, y)
    return first(distances(problem, solver_of("fista"), best, MOST, 1e-4), 1e-4)


def units_check(answer: Any, student: int) -> Mark:
    """Mark units for the columns of wine."""
    X, _ = own_units(student % 3)
    refused = Mark(False, f"Give {X.shape[1]} units, positive numbers between 1e-6 and 1e6, one for each column.")
    try:
        units = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return refused
    if units.shape != (X.shape[1],) or not (np.isfinite(units) & (units >= 1e-6) & (units <= 1e6)).all():
        return refused
    mine, standard = _with_units(units, student % 3), _with_units(X.std(axis=0), student % 3)
    said = f"FISTA takes {count(mine, MOST)} iterations in your units, {standard:.0f} in standard units."
    return Mark(mine <= CHANGED * standard, said)


def units_right(student: int) -> list[float]:
    """Return the deviations of the columns of wine."""
    return [float(f"{v:.2g}") for v in own_units(student % 3)[0].std(axis=0)]
