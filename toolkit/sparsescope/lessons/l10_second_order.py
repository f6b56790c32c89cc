"""Lesson 10: conditioning and second order: coordinates first, curvature then."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from .. import registry
from ..problems.covariance import CovarianceProblem
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Gap, Iterations, Objective
from . import pictures
from ._coordinates import (
    ABOVE,
    FLOOR,
    MOST,
    NOTICED,
    centred,
    count,
    distances,
    first,
    is_whitening_enough,
    nothing_changed,
    rotated_digits,
    solver_of,
    units_check,
    units_right,
    who_notices,
)
from ._runs import at, load
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .features import form_of
from .kinds import Choice, Order, Sketch

NEAR, CLOSE = 1e-2, 1e-8  # of F above the smallest
OVER = 1.15  # times the final working set
REPEATED = 10  # the distance at which times cross differs by factors of 1.3 to 10 from one measurement to the next
LANES = {"fista": "FISTA", "bcd": "BCD", "newglmnet": "newGLMNET", "lhac": "LHAC"}


# --------------------------------------------------------------------------------------------------------- curvature
def _logistic(name: str, seed: int) -> tuple[Problem, float]:
    """Return ℓ1 logistic regression at 0.1 λ_max, and the smallest F; two classes have one score."""
    loss = "binary-logistic" if load(name, seed).m == 2 else "logistic"
    problem = at(name, 0.1, seed, loss, "l1")
    return problem, float(solve(problem, "newglmnet", tol=1e-11).objective)


def _digits_cost(case: Case, show: Show) -> Finding:
    """Let four methods run to 1e-2, and on to 1e-8."""
    problem, best = _logistic(case.data, case.seed)
    curves: dict[str, tuple[Any, Any]] = {}
    near: dict[str, float] = {}
    close: dict[str, float] = {}
    for key, name in LANES.items():
        above = distances(problem, solver_of("fista-ls" if key == "fista" else key), best, MOST, CLOSE)
        near[key], close[key] = first(above, NEAR), first(above, CLOSE)
        curves[name] = (range(above.size), above)
        show(pictures.lines(curves, "iterations", ABOVE, log=True))
    ordered = sorted(close, key=close.__getitem__)
    holds = ordered[0] == "newglmnet" and ordered[-1] == "fista" and close["newglmnet"] <= 5 * near["newglmnet"]
    shown = ", ".join(f"{LANES[key]} {near[key]:.0f} and {count(close[key], MOST)}" for key in LANES)
    said = f"Iterations to 1e-2 and to 1e-8 on {case.data}: {shown}."
    return Finding(close, holds, said, pictures.lines(curves, "iterations", ABOVE, log=True))


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


def _doubling(case: Case, show: Show) -> Finding:
    """Follow the gap of QUIC, and that of LHAC beside it."""
    name, problem = _covariance(case)
    curves: dict[str, tuple[Any, Any]] = {}
    found: dict[str, np.ndarray] = {}
    for key, title in (("quic", "QUIC"), ("lhac-covariance", "LHAC")):
        found[title] = _followed(problem, key)[0]
        curves[title] = (range(found[title].size), found[title])
        show(pictures.lines(curves, "iterations", "gap", log=True))
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
    picture = pictures.lines(curves, "iterations", "gap", log=True)
    return Finding(form, holds, said, picture, tuple(float(v) for v in scaled))


def _from_below(case: Case, show: Show) -> Finding:
    """Follow the working set of LHAC, and that of QUIC beside it."""
    name, problem = _covariance(case)
    curves: dict[str, tuple[Any, Any]] = {}
    sizes: dict[str, np.ndarray] = {}
    for key, title in (("quic", "QUIC"), ("lhac-covariance", "LHAC")):
        sizes[title] = _followed(problem, key)[1]
        curves[title] = (range(1, sizes[title].size + 1), sizes[title])
        show(pictures.lines(curves, "iterations", "entries in the working set"))
    final, lhac = float(sizes["QUIC"][-1]), sizes["LHAC"]
    place = int(lhac.argmax())
    answer = "below" if lhac.max() <= OVER * final else "over" if place > 0 else "above"
    said = (
        f"{name}: LHAC begins with {lhac[0]:.0f} entries, has at most {lhac.max():.0f} (iteration {place + 1}), and "
        f"{final:.0f} are in the solution; QUIC begins with {sizes['QUIC'][0]:.0f} and has at most "
        f"{sizes['QUIC'].max():.0f}."
    )
    picture = pictures.lines(curves, "iterations", "entries in the working set", marks={"the solution": final})
    return Finding(answer, answer == "over", said, picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _short_memory(show: Show) -> tuple[Message, str]:
    problem, best = _logistic("digits", 0)
    needed: dict[str, float] = {}
    for memory in (1, 3, 10):
        solver = registry.solvers.create("lhac", memory=memory)
        needed[f"{memory} pairs" if memory > 1 else "1 pair"] = first(
            distances(problem, solver, best, MOST, CLOSE), CLOSE
        )
        show(pictures.bars(needed, "iterations to 1e-8"))
    shown = ", ".join(f"{count:.0f} with {name}" for name, count in needed.items())
    return pictures.bars(needed, "iterations to 1e-8"), f"Iterations of LHAC to 1e-8: {shown}."


def _sweeps_alone(show: Show) -> tuple[Message, str]:
    _, problem = _covariance(Case("digits"))
    curves: dict[str, tuple[Any, Any]] = {}
    said = []
    for key, name in (("quic", "solved almost exactly"), ("quic, sweeps", "after some sweeps")):
        gaps = _followed(problem, key)[0]
        curves[name] = (range(gaps.size), gaps)
        show(pictures.lines(curves, "iterations", "gap", log=True))
        said.append(f"{gaps.size - 1} iterations with the model {name}")
    return pictures.lines(curves, "iterations", "gap", log=True), f"QUIC takes {', '.join(said)}."


# ------------------------------------------------------------------------------------------------------- the exercises
@lru_cache(maxsize=3)
def _overtaken(seed: int) -> float:
    """Return the distance from the smallest F from which on newGLMNET has taken less CPU time than FISTA."""
    problem, best = _logistic("digits", seed)
    levels = np.logspace(0, -8, 81)
    least = {key: np.full(levels.size, np.inf) for key in ("fista-ls", "newglmnet")}
    for _ in range(3):  # the least of three, as other programs disturb
        for key, seconds in least.items():
            stop = Objective(best * (1 + CLOSE)) | Iterations(MOST)
            run = Run(problem, solver_of(key), stop=stop, certify_every=None, clock=time.thread_time)
            above, spent = np.array([(event.objective / best - 1.0, event.seconds) for event in run]).T
            reached = [spent[int(k)] if np.isfinite(k := first(above, level)) else np.inf for level in levels]
            np.minimum(seconds, reached, out=seconds)
    behind = np.flatnonzero(least["newglmnet"] >= least["fista-ls"])
    return float(levels[min(behind[-1] + 1, levels.size - 1)]) if behind.size else 1.0


def _overtaken_check(value: Any, student: int) -> Mark:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        return Mark(False, "Give a number between 0 and 1: the distance from the smallest F, as a share of it.")
    measured = _overtaken(student % 3)
    return Mark(max(value / measured, measured / value) <= REPEATED, f"Here newGLMNET leads from {measured:.1e} on.")


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=10,
    slug="second-order",
    title="Conditioning and second order",
    minutes=25,
    idea=(
        "First half, coordinates: each method has its own idea of round. FISTA survives rotations, BCD other units, "
        "methods with the metric of the data both. Second half, curvature: second order buys digits, not the first "
        "per cent."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "penalty", "ridge", "l1", "lambda max",
           "coordinate descent", "fista", "restart"),
    introduces=("second order",),
    opening=Scene(
        title="Nothing about wine has changed",
        text=(
            "Least squares on wine, with hardly any ridge, by FISTA with restarts: once in its own units, where "
            "proline goes to hundreds and hue is around 1, and once with each column divided by its deviation."
        ),
        run=nothing_changed,
        question="The smallest F is the same, and so are the predictions. What has changed?",
    ),
    predictions=(
        Prediction(
            question=(
                "Coordinates. Least squares on digits, to 1e-4 above the smallest F. The columns are given in other "
                "units (×1 to ×1000), or the samples are rotated; the predictions stay the same. gls takes its steps "
                "in the metric of the data, XᵀX/n. Whose iterations change by more than a factor of 1.5?"
            ),
            kind=Choice(NOTICED, several=True),
            run=who_notices,
            claim="FISTA notices other units only, BCD a rotation only, and gls neither.",
            condition=(
                "on digits, and with two seeds on iris, where the rotation helps. On wine it costs BCD little; on "
                "breast_cancer, where columns nearly agree, BCD is within the limit in whitened coordinates only."
            ),
            explained=(
                "FISTA depends on lengths, which rotations keep. BCD takes each column in its own unit, so it sees "
                "no units. Ask which metric a method has."
            ),
            wrong={
                "gls-units": "gls measures its steps with XᵀX/n, which is stretched with the data.",
                "gls-rotated": "gls measures its steps with XᵀX/n, which is turned with the data.",
                "fista-units": "FISTA has one step for all columns, and the longest column dictates it.",
                "fista-rotated": "A rotation keeps all lengths, and lengths are all that FISTA sees.",
                "bcd-units": "BCD takes the best step for each column, whatever its unit.",
                "bcd-rotated": (
                    "BCD goes along the axes: it is quick where these suit the data, and a rotation mixes the columns. "
                    "How much that costs depends on the data."
                ),
            },
            holds=(*cases("digits"), *cases("iris", (0, 2))),
            fails=(*cases("wine breast_cancer"), *cases("iris", (1,))),
        ),
        Prediction(
            question=(
                "With least squares one step of gls is the solution. Now the logistic loss on wine with a ridge of "
                "λ = 1e-4, so small that the softmax becomes sure of its classes. How many iterations does gls take "
                "to 1e-6?"
            ),
            kind=Choice({"few": "ten or fewer", "tens": "tens", "hundreds": "hundreds"}),
            run=is_whitening_enough,
            claim="More than 100, and at least four times as many as working-set, which takes Newton steps.",
            condition="on all tables here with this ridge.",
            explained=(
                "The metric of the data cures the data, not the link: a softmax that is sure has hardly any curvature, "
                "and gls goes on with the largest that it can have."
            ),
            wrong={
                "few": "The data are round for gls, but the softmax is not: where it is sure, it has no curvature.",
                "tens": "The curvature of a sure softmax is far below the bound that gls takes for it.",
                "hundreds": "Here the softmax keeps its curvature, so the metric of the data suffices.",
            },
            holds=(*cases("wine digits iris breast_cancer"),),
        ),
        Prediction(
            question=(
                "Curvature. Logistic loss with ℓ1 at 0.1 λ_max on digits. newGLMNET and LHAC are second order methods: "
                "the first has the exact curvature, the second learns it from its last steps. FISTA has restarts. Who "
                "is at 1e-8 above the smallest F in the fewest iterations?"
            ),
            kind=Order(LANES, first="fewest iterations", last="most iterations"),
            run=_digits_cost,
            claim=(
                "newGLMNET needs the fewest iterations to 1e-8, at most five times those to 1e-2, and FISTA the most."
            ),
            condition="on all tables here; LHAC and BCD change places on breast_cancer. An iteration is not a time.",
            explained="Six more digits cost a Newton method a few iterations, and the others tens or hundreds.",
            wrong={
                "fista": "It knows no curvature but the largest: each further digit costs as many iterations again.",
                "bcd": "It knows the curvature of one row at a time, not that between rows.",
                "newglmnet": "Its iterations are dear, but with the exact curvature a few give all digits.",
                "lhac": "What it learns from ten steps is more than nothing, and less than the exact curvature.",
            },
            holds=(*cases("digits wine breast_cancer"), *cases("iris", (0, 2))),
        ),
        Prediction(
            question=(
                "Sparse inverse covariance of wine (correlations, λ = 0.1): QUIC is a Newton method, and solves its "
                "model almost exactly here. Draw its gap over the iterations, on a log axis."
            ),
            kind=Sketch("bend", "iterations", "gap, log", "0", "the end"),
            run=_doubling,
            claim="The gap of QUIC falls faster and faster, and LHAC takes more than twice as many iterations.",
            condition="on all tables here at λ = 0.1; at λ = 0.5, which is easy, LHAC takes at most twice as many.",
            explained=(
                "Near the solution the number of right digits about doubles at each Newton step; a learnt curvature "
                "gives about the same number of digits each time."
            ),
            wrong={
                "straight": "That is a method with a constant rate; a Newton step squares the error once it is small.",
                "slower": "That is a first order method on a hard problem; a Newton step squares a small error.",
                "faster": "Here the model is not solved well enough for the error to be squared.",
                "flat": "Each Newton step lowers F, and the gap falls with it.",
            },
            holds=cases("wine digits iris breast_cancer"),
            fails=cases("wine@0.5", (0, 2)),
        ),
        Prediction(
            question=(
                "Paper 5 (Tang and Scheinberg, 2013) says that the working set of LHAC, the entries that it moves, "
                "comes to the solution from below. Is that so on digits, correlations, λ = 0.1?"
            ),
            kind=Choice({
                "below": "yes: it grows to its final size, give or take 15 %",
                "over": "no: it grows far beyond its final size, and shrinks then",
                "above": "no: it is largest at first, and shrinks",
            }),
            run=_from_below,
            claim="The working set of LHAC grows more than 15 % beyond its final size before it shrinks.",
            condition="on the tables here with more than ten columns at λ = 0.1; at λ = 0.5 it comes from below.",
            explained="Half of the violated entries join at each step: from below is true only at the start.",
            wrong={
                "below": "Far from the solution many entries are violated that it does not use, and half of them join.",
                "over": "Where λ is large, few entries are violated on the way, and it comes from below.",
                "above": "Only the most violated half joins at each step, so the first working set is not the largest.",
            },
            holds=cases("digits wine breast_cancer"),
            fails=cases("digits@0.5 wine@0.5 breast_cancer@0.5"),
        ),
    ),
    breaks=(
        Scene(
            title="Rotate digits",
            text="The same pixels, rotated at random, and BCD on least squares: what was quick along the axes stalls.",
            run=rotated_digits,
        ),
        Scene(
            title="A short memory",
            text="LHAC learns the curvature from its last ten steps. What if it remembers only three, or one?",
            run=_short_memory,
        ),
        Scene(
            title="A model that is hardly solved",
            text=(
                "QUIC as published makes a few sweeps over its model and goes on (digits, λ = 0.1). Does the number of "
                "digits still double?"
            ),
            run=_sweeps_alone,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"wine in its own units (seed {student % 3}), least squares: choose a unit for each of the 13 columns, "
                "by which it is divided, so that FISTA takes at most 1.5 times the iterations of standard units."
            ),
            units_check, units_right, lambda student: [1.0] * 13,
            (Input("value", "13 units, separated by commas", "numbers"),),
            code=(
                'data = ss.datasets.load("wine", seed=lesson.student % 3, scale="none")\n'
                "print(data.feature_names)\n"
                'lesson.check("a", [1.0] * 13)'
            ),
        ),
        "b": Exercise(
            lambda student: (
                f"digits (seed {student % 3}), logistic loss with ℓ1 at 0.1 λ_max: from which distance above the "
                "smallest F on has newGLMNET taken less CPU time than FISTA with restarts, here? (A share of F, "
                "within a factor of ten.)"
            ),
            _overtaken_check, lambda student: _overtaken(student % 3), lambda student: 1e-8,
            (Input("value", "distance, as a share of F"),),
            code=(
                "import time\n\n"
                'data = ss.datasets.load("digits", seed=lesson.student % 3)\n'
                'problem = ss.Problem(data, loss="logistic", penalty="l1", lam_ratio=0.1)\n'
                'fista = ss.registry.solvers.create("fista-ls", restart=True)\n'
                'for solver in (fista, "newglmnet"):\n'
                "    run = ss.Run(problem, solver, stop=ss.stopping.Gap(1e-4), clock=time.thread_time)\n"
                "    trace = [(event.seconds, event.objective) for event in run]\n"
                "    print(run.solver.title, trace[-1])\n"
                'lesson.check("b", 0.1)'
            ),
        ),
    },
    sources=(
        Source("Agarwal et al. (2013)", "Alg. 1, Thm. 1, Sec. 3.3", ("solvers/gls.py", "solvers/shared/metric.py")),
        Source("Tang and Scheinberg (2013)", "Alg. 2.1, Sec. 3, 4.2, Fig. 2, Table 2",
               ("solvers/lhac.py", "solvers/lhac_covariance.py")),
        Source("Yuan, Ho and Lin (2012)", "newGLMNET", ("solvers/newglmnet.py",)),
        Source("Hsieh, Sustik, Dhillon and Ravikumar (2011)", "QUIC", ("solvers/quic.py",)),
    ),
    afterwards=(
        "Conditioning belongs to a pair: data and method.",
        "Second order pays for digits.",
        "The curvature of the data and that of the link are two things.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
