"""Curvature: the second half of lesson 10, where methods differ in what they know of the second derivative of F."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import registry
from ..problems.covariance import CovarianceProblem
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Gap, Iterations, Objective
from ..wording import plural
from ._coordinates import FLOOR, MOST, centred, distances, solver_of
from ._runs import ABOVE, at, count, dense, first, load
from .answers import is_number
from .base import Case, Finding, Mark, Message, Show
from .features import form_of
from .growing import Bars, Lines

NEAR, CLOSE = 1e-2, 1e-8  # of F above the smallest
OVER = 1.15  # times the final working set
NEARLY = 3  # times a distance, in an answer: work grows by whole iterations
LANES = {"fista": "FISTA", "bcd": "BCD", "newglmnet": "newGLMNET", "lhac": "LHAC"}
RIDGE = 1e-2  # of the opening
BESIDE = 1e-3  # of the way: a step for the second derivative


def two_parabolas(show: Show) -> tuple[Message, str]:
    """Compare F on the way to the solution with two parabolas that touch it at W = 0."""
    problem = Problem(load("wine"), loss="logistic", penalty="ridge", lam=RIDGE)
    way = dense(solve(problem, "working-set", tol=1e-8).W)

    def value(t: float) -> float:
        return float(problem.objective(t * way))

    slope = (value(BESIDE) - value(-BESIDE)) / (2 * BESIDE)
    here = (value(BESIDE) - 2 * value(0.0) + value(-BESIDE)) / BESIDE**2
    most = float((problem.full_constant("tight") + problem.lam) * (way**2).sum())
    t = np.linspace(0.0, 1.2, 121)
    lines = Lines(show, "part of the way to the solution", "F")
    lines.curves["F"] = t, [value(float(v)) for v in t]
    lowest = {"the curvature at W = 0": -slope / here, "the largest curvature": -slope / most}
    for (name, _), curvature in zip(lowest.items(), (here, most), strict=True):
        parabola = value(0.0) + slope * t + 0.5 * curvature * t**2
        lines.add(f"parabola with {name}", np.where(parabola <= 1.1 * value(0.0), parabola, np.nan), t)
    ends = "; ".join(
        f"with {name} at {100 * end:.2g} % of the way, where F is {value(end):.3f}" for name, end in lowest.items()
    )
    said = f"F goes from {value(0.0):.3f} to {value(1.0):.3f} on the way. The lowest points of the parabolas: {ends}."
    return lines.picture, said


def _logistic(name: str, seed: int) -> tuple[Problem, float]:
    """Return ℓ1 logistic regression at 0.1 λ_max, and the smallest F; two classes have one score."""
    loss = "binary-logistic" if load(name, seed).m == 2 else "logistic"
    problem = at(name, 0.1, seed, loss, "l1")
    return problem, float(solve(problem, "newglmnet", tol=1e-11).objective)


def digits_cost(case: Case, show: Show) -> Finding:
    """Let four methods run to 1e-2, and on to 1e-8."""
    problem, best = _logistic(case.data, case.seed)
    lines = Lines(show, "iterations", ABOVE, log=True)
    near: dict[str, float] = {}
    close: dict[str, float] = {}
    for key, name in LANES.items():
        above = distances(problem, solver_of("fista-ls" if key == "fista" else key), best, MOST, CLOSE)
        near[key], close[key] = first(above, NEAR), first(above, CLOSE)
        lines.add(name, above)
    fewest = min(close, key=close.__getitem__)
    holds = fewest == "newglmnet" and close["newglmnet"] <= 5 * near["newglmnet"]
    shown = ", ".join(f"{LANES[key]} {near[key]:.0f} and {count(close[key], MOST)}" for key in LANES)
    said = f"Iterations to 1e-2 and to 1e-8 on {case.data}: {shown}."
    return Finding(close, holds, said, lines.picture)


def _covariance(case: Case) -> tuple[str, CovarianceProblem]:
    """Return the problem of a case, and its name: ``wine@0.5`` is wine at λ = 0.5, without a number it is 0.1."""
    name, _, lam = case.data.partition("@")
    X = centred(load(name, case.seed).X)
    return f"{name}, λ = {lam or 0.1}", CovarianceProblem.from_data(X, correlation=True, lam=float(lam or 0.1))


def _followed(problem: CovarianceProblem, key: str, most: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps and sizes of the working set along a run."""
    run = Run(problem, solver_of(key), stop=Gap(1e-10) | Iterations(most), certify_every=1)
    found = [(max(event.gap, FLOOR), event.working_set) for event in run]
    gaps, sizes = np.array(found).T
    return gaps, sizes[1:]


def doubling(case: Case, show: Show) -> Finding:
    """Follow the gap of QUIC, and that of LHAC beside it."""
    name, problem = _covariance(case)
    lines = Lines(show, "iterations", "gap", log=True)
    found: dict[str, np.ndarray] = {}
    for key, title in (("quic", "QUIC"), ("lhac-covariance", "LHAC")):
        found[title] = _followed(problem, key)[0]
        lines.add(title, found[title])
    quic, lhac = found["QUIC"], found["LHAC"]
    log = np.log10(quic)
    form = form_of("bend", range(log.size), log)
    scaled = np.interp(np.linspace(0, log.size - 1, 25), np.arange(log.size), (log - log.min()) / np.ptp(log))
    shown = ", ".join(f"{gap:.0e}" for gap in quic[-5:])
    said = (
        f"{name}: the last gaps of QUIC are {shown}; it takes {quic.size - 1} iterations, and LHAC {lhac.size - 1} "
        f"to a gap of {lhac[-1]:.0e}."
    )
    holds = form == "faster" and quic.size - 1 < (lhac.size - 1) / 2
    return Finding(form, holds, said, lines.picture, tuple(float(v) for v in scaled))


def from_below(case: Case, show: Show) -> Finding:
    """Follow the working set of LHAC, and that of QUIC beside it."""
    name, problem = _covariance(case)
    lines = Lines(show, "iterations", "entries in the working set")
    sizes: dict[str, np.ndarray] = {}
    for key, title in (("quic", "QUIC"), ("lhac-covariance", "LHAC")):
        sizes[title] = _followed(problem, key)[1]
        lines.add(title, sizes[title], range(1, sizes[title].size + 1))
    final, lhac = float(sizes["QUIC"][-1]), sizes["LHAC"]
    place = int(lhac.argmax())
    answer = "below" if lhac.max() <= OVER * final else "over" if place > 0 else "above"
    said = (
        f"{name}: LHAC begins with {lhac[0]:.0f} entries, has at most {lhac.max():.0f} (iteration {place + 1}), and "
        f"{final:.0f} are in the solution; QUIC begins with {sizes['QUIC'][0]:.0f} and has at most "
        f"{sizes['QUIC'].max():.0f}."
    )
    lines.marks["the solution"] = final
    return Finding(answer, answer == "over", said, lines.picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def short_memory(show: Show) -> tuple[Message, str]:
    """Count the iterations of LHAC with fewer pairs of steps to learn from."""
    problem, best = _logistic("digits", 0)
    needed = Bars(show, "iterations to 1e-8")
    for memory in (1, 3, 10):
        solver = registry.solvers.create("lhac", memory=memory)
        needed.add(plural(memory, "pair"), first(distances(problem, solver, best, MOST, CLOSE), CLOSE))
    shown = ", ".join(f"{iterations:.0f} with {name}" for name, iterations in needed.values.items())
    return needed.picture, f"Iterations of LHAC to 1e-8: {shown}."


def sweeps_alone(show: Show) -> tuple[Message, str]:
    """Follow QUIC with its model solved almost exactly, and after some sweeps only."""
    _, problem = _covariance(Case("digits"))
    lines = Lines(show, "iterations", "gap", log=True)
    said = []
    for key, name in (("quic", "solved almost exactly"), ("quic, sweeps", "after some sweeps")):
        gaps = _followed(problem, key)[0]
        lines.add(name, gaps)
        said.append(f"{gaps.size - 1} iterations with the model {name}")
    return lines.picture, f"QUIC takes {', '.join(said)}."


# ------------------------------------------------------------------------------------------------------- the exercises
def _work(problem: Problem, key: str, best: float) -> tuple[np.ndarray, np.ndarray]:
    """Return F above the smallest along a run, relative, and the work so far in passes over the data.

    Sweeps over a model are counted by their flops: a product with all of X takes 2·n·d·m of them.
    """
    a_pass = 2.0 * problem.design.nnz * problem.m
    stop = Objective(best * (1 + CLOSE)) | Iterations(MOST)
    above, work, inner = [], [], 0.0
    for event in Run(problem, solver_of(key), stop=stop, certify_every=None):
        inner += float(np.nan_to_num(event.coordinate_steps * event.step_flops))  # none of a method without a model
        above.append(event.objective / best - 1.0)
        work.append(event.passes + inner / a_pass)
    return np.array(above), np.array(work)


@lru_cache(maxsize=3)
def overtaken(seed: int) -> float:
    """Return the distance from the smallest F from which on newGLMNET has done less work than FISTA."""
    problem, best = _logistic("digits", seed)
    levels = np.logspace(0, -8, 81)
    spent = {}
    for key in ("fista-ls", "newglmnet"):
        above, work = _work(problem, key, best)
        places = [first(above, level) for level in levels]
        spent[key] = np.array([work[int(place)] if np.isfinite(place) else np.inf for place in places])
    behind = np.flatnonzero(spent["newglmnet"] >= spent["fista-ls"])
    return float(levels[min(behind[-1] + 1, levels.size - 1)]) if behind.size else 1.0


def overtaken_check(value: Any, student: int) -> Mark:
    """Check the distance from which on newGLMNET leads."""
    if not is_number(value, 0, 1) or value == 0:
        return Mark(False, "Give a number between 0 and 1: the distance from the smallest F, as a share of it.")
    measured = overtaken(student % 3)
    passed = max(value / measured, measured / value) <= NEARLY * (1 + 1e-9)
    if passed:
        said = (
            f"From {measured:.1e} on newGLMNET has done less work. In seconds it may be later: an entry at a time is "
        )
        return Mark(True, said + "slow.")
    leads = "leads already further from" if value < measured else "leads only nearer to"
    return Mark(False, f"newGLMNET {leads} the smallest F than at {value:.2g}.")
