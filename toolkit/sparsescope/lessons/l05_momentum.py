"""Lesson 5: momentum, its ripples, and what restarts change."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.stopping import Iterations, Objective
from ..wording import plural
from . import pictures
from ._runs import ABOVE, at, code_of, count, first, level_text, optimum
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .growing import Lines
from .kinds import Choice, Order, Sketch, Slider

ALL = "digits wine iris breast_cancer"
TEXTS = (Case("pydocs"), Case("planted-text"))
RATIO = 0.1
ROUNDING = 1e-12  # of F: a rise below that is none
FLOOR = 1e-9  # of F: the smallest F is not known better
LONG, SHORT = 2000, 400  # iterations
AT_FIRST = 80  # iterations of the opening: what follows is to be predicted
LEVELS = (1e-2, 1e-4, 1e-6)
LANES = {"ista": "ISTA", "fista": "FISTA", "restart": "FISTA with restarts", "sparsa": "SpaRSA"}
HELPS = {
    "all": "fewer iterations to all three",
    "late": "nothing to 1e-2, fewer to 1e-6",
    "nothing": "nothing",
    "worse": "nothing to 1e-2, more to 1e-6",
}
Compared = tuple[dict[str, np.ndarray], Message]  # F along runs, and the picture


# ----------------------------------------------------------------------------------------------------------- the runs
def _ratio(name: str) -> tuple[str, float]:
    """Return data and λ/λ_max of a case: ``iris@0.3`` is iris at 0.3."""
    data, _, ratio = name.partition("@")
    return data, float(ratio or RATIO)


def _problem(case: Case) -> Problem:
    data, ratio = _ratio(case.data)
    return at(data, ratio, case.seed)


def _best(case: Case) -> float:
    data, ratio = _ratio(case.data)
    return float(optimum(data, ratio, case.seed).objective)


def _solver(key: str) -> Any:
    make = registry.solvers.create
    made = {"ista": ("ista", {}), "fista": ("fista-cst", {}), "restart": ("fista-cst", {"restart": True})}
    name, settings = made.get(key, (key, {}))
    return make(name, **settings)


def _objectives(case: Case, key: str, most: int, level: float = 0.0) -> np.ndarray:
    """Return F along a run, until it is within ``level`` of the smallest."""
    stop: Any = Iterations(most)
    if level:
        stop = Objective(_best(case) * (1 + level)) | stop
    return np.array([event.objective for event in Run(_problem(case), _solver(key), stop=stop, certify_every=None)])


def _above(case: Case, objective: np.ndarray) -> np.ndarray:
    return np.maximum(objective / _best(case) - 1.0, FLOOR)


def _rising(objective: np.ndarray) -> np.ndarray:
    """Return the iterations at which F rises, rounding left out."""
    return np.flatnonzero(objective[1:] > objective[:-1] * (1 + ROUNDING)) + 1


def _compared(case: Case, show: Show, keys: tuple[str, ...], most: int, level: float = 0.0) -> Compared:
    """Run methods one after the other, show how far each is above the smallest F, and return F and the picture."""
    found: dict[str, np.ndarray] = {}
    lines = Lines(show, "iterations", ABOVE, log=True)
    for key in keys:
        found[key] = _objectives(case, key, most, level)
        lines.add(LANES[key], _above(case, found[key]))
    return found, lines.picture


def _ripples(case: Case, show: Show) -> Finding:
    """Watch F of FISTA, and count the rises of ISTA without a picture: which of them is behind is to be predicted."""
    found, picture = _compared(case, show, ("fista",), SHORT)
    rises, plain = _rising(found["fista"]), _rising(_objectives(case, "ista", SHORT)).size
    log = np.log10(_above(case, found["fista"]))
    scaled = (log - log.min()) / (np.ptp(log) or 1.0)
    curve = np.interp(np.linspace(0, log.size - 1, 120), np.arange(log.size), scaled)
    began = f"first at iteration {rises[0]}" if rises.size else "never"
    said = (
        f"On {case.data} F of FISTA rises {plural(rises.size, 'time')} in {SHORT} iterations, {began}; F of ISTA rises "
        f"{plural(plain, 'time')}."
    )
    holds = rises.size > 0 and not plain
    form = "bounces" if rises.size else "falls"
    return Finding(form, holds, said, picture, tuple(float(v) for v in curve))


def _worst_bounce(case: Case, show: Show) -> Finding:
    """Measure by which factor the distance from the smallest F grows again."""
    found, picture = _compared(case, show, ("fista",), LONG, FLOOR)
    above = _above(case, found["fista"])
    growth = above / np.minimum.accumulate(above)
    worst = float(growth.max())
    place = int(growth.argmax())
    said = (
        f"On {case.data} the distance is {worst:.3g} times its smallest value so far at iteration {place}, where it is "
        f"{above[place]:.1e} of F."
    )
    return Finding(worst, worst > 1.5, said, picture)


def _behind(case: Case, show: Show) -> Finding:
    """Compare FISTA with ISTA iteration by iteration."""
    found, picture = _compared(case, show, ("fista", "ista"), SHORT)
    later = np.flatnonzero(found["fista"] > found["ista"] * (1 + ROUNDING))
    later = later[_above(case, found["ista"])[later] > FLOOR]  # both are there
    answer = "never" if later.size == 0 else "start" if later.max() <= 20 else "often"
    where = f"at iteration {', '.join(str(k) for k in later[:5])}" if later.size else "at none"
    said = f"FISTA is behind ISTA {where} of {SHORT} ({case.data})."
    return Finding(answer, later.size == 0, said, picture)


def _restarts(case: Case, show: Show) -> Finding:
    """Compare FISTA with and without restarts at three levels."""
    found, picture = _compared(case, show, ("fista", "restart"), LONG, LEVELS[-1])
    plain, again = ([first(_above(case, found[key]), level) for level in LEVELS] for key in ("fista", "restart"))
    early, last = again[0] / plain[0], again[2] / plain[2]
    helps = "all" if early < 0.95 else "late" if last < 0.95 else "worse" if last > 1.05 else "nothing"
    rows = [[level_text(level), f"{a:.0f}", f"{b:.0f}"] for level, a, b in zip(LEVELS, plain, again, strict=True)]
    shown = "; ".join(f"to {level}, {a} without and {b} with restarts" for level, a, b in rows)
    return Finding(helps, helps == "late", f"Iterations on {case.data}: {shown}.", picture)


def _who_is_first(case: Case, show: Show) -> Finding:
    """Let four methods run to 1e-4."""
    found, picture = _compared(case, show, tuple(LANES), LONG, LEVELS[1])
    needed = {key: first(_above(case, f), LEVELS[1]) for key, f in found.items()}
    holds = min(needed, key=needed.__getitem__) == "sparsa" and max(needed, key=needed.__getitem__) == "ista"
    shown = ", ".join(f"{LANES[key]} {count(n, LONG)}" for key, n in needed.items())
    return Finding(needed, holds, f"Iterations to 1e-4 on {case.data}: {shown}.", picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _two_methods(show: Show) -> tuple[Message, str]:
    case = Case("digits")
    names = {"ista": "A", "fista": "B"}
    lines = Lines(show, "iterations", ABOVE, log=True)
    ends = []
    for key, name in names.items():
        above = _above(case, _objectives(case, key, SHORT)[: AT_FIRST + 1])
        lines.add(name, above)
        ends.append(f"{name} {above[-1]:.1e}")
    return lines.picture, f"Above the smallest F after {AT_FIRST} iterations: {', '.join(ends)}."


def _fixed_momentum(show: Show) -> tuple[Message, str]:
    case = Case("digits")
    lines = Lines(show, "iterations", ABOVE, log=True)
    said = []
    for beta in (0.5, 0.9, 0.99):
        solver = registry.solvers.create("fista-cst", momentum=beta)
        run = Run(_problem(case), solver, stop=Iterations(SHORT), certify_every=None)
        objective = np.array([event.objective for event in run])
        rises = plural(_rising(objective).size, "rise")
        said.append(f"β = {beta:g}: {_above(case, objective)[-1]:.1e} after {SHORT}, {rises}")
        lines.add(f"β = {beta:g}", _above(case, objective))
    return lines.picture, "; ".join(said) + "."


def _another_lam(show: Show) -> tuple[Message, str]:
    problem = at("digits", RATIO)
    run = Run(problem, _solver("fista"), stop=Iterations(300), certify_every=None)
    objective: list[float] = []
    for event in run:
        objective.append(event.objective)
        if event.iteration == 120:
            run.change(lam=problem.lam / 2)
        if event.iteration % 10 == 0:
            show(pictures.lines({"F": (range(len(objective)), objective)}, "iterations", "F"))
    rises = _rising(np.array(objective))
    before, after = (plural(int(found.sum()), "time") for found in (rises <= 120, rises > 121))
    said = (
        "λ is halved after iteration 120, and the momentum begins anew. F rises "
        f"{before} before it and {after} after it."
    )
    return pictures.lines({"F": (range(len(objective)), objective)}, "iterations", "F"), said


# ------------------------------------------------------------------------------------------------------- the exercises
def _case(student: int) -> Case:
    return Case("wine", student % 3)


def _first_rise(student: int) -> int:
    return int(_rising(_objectives(_case(student), "fista", SHORT))[0])


def _rise_check(value: Any, student: int) -> Mark:
    if not is_number(value) or value != value // 1:
        return Mark(False, "Give the iteration as a whole number.")
    objective = _objectives(_case(student), "fista", SHORT)
    k = int(value)
    if not 1 <= k < objective.size:
        return Mark(False, f"Give an iteration from 1 to {objective.size - 1}.")
    change = objective[k] - objective[k - 1]
    said = f"F changes by {change:.2e} at iteration {k}."
    return Mark(k == _first_rise(student), said + (" It rose before." if k > _first_rise(student) else ""))


def _one_restart(student: int, at_iteration: int) -> int:
    """Return the iterations to 1e-6 when the momentum is dropped once, after this iteration."""
    case = _case(student)
    stop = Objective(_best(case) * (1 + LEVELS[-1])) | Iterations(LONG)
    run = Run(_problem(case), _solver("fista"), stop=stop, certify_every=None)
    done = 0
    for event in run:
        done = int(event.iteration)
        if done == at_iteration and run.state is not None:
            run.state.t = 1.0  # type: ignore[attr-defined]
    return done


@lru_cache(maxsize=3)
def _good_restart(seed: int) -> int:
    return min(range(4, 60, 4), key=lambda k: _one_restart(seed, k))


def _restart_check(value: Any, student: int) -> Mark:
    if not is_number(value, 1, LONG):
        return Mark(False, f"Give an iteration from 1 to {LONG}.")
    mine, never = _one_restart(student, int(value)), _one_restart(student, -1)
    automatic = int(_objectives(_case(student), "restart", LONG, LEVELS[-1]).size - 1)
    said = f"{mine} iterations to 1e-6; {never} without a restart, {automatic} with automatic ones."
    return Mark(mine <= 1.1 * automatic, said)


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=5,
    slug="momentum",
    title="Momentum",
    minutes=20,
    asks="Momentum goes on in the direction of the last step. What does it win, and what does it risk?",
    idea=(
        "Momentum wins by overshooting; a restart keeps the gain and drops the overshoot, but only once there is "
        "something to overshoot."
    ),
    needs=("weights", "objective", "lambda", "seed", "lambda max", "ista", "fista", "step constant"),
    introduces=("momentum", "restart", "sparsa"),
    opening=Scene(
        title="Two methods",
        text=(
            "digits, 0.1 λ_max, the same constant steps. One takes each step from where it is (ISTA); the other goes "
            "on a little in the direction of its last step before it takes the next: that is momentum (FISTA)."
        ),
        run=_two_methods,
        question="One comes down much faster than the other. Will it go on like this, and what could stop it?",
    ),
    predictions=(
        Prediction(
            question="digits, 0.1 λ_max: draw the distance of F from its smallest value for FISTA, on a log axis.",
            kind=Sketch("bounces", "iterations", "distance from the smallest F, log", "0", str(SHORT)),
            run=_ripples,
            claim=f"F of FISTA rises again within {SHORT} iterations, and F of ISTA never rises.",
            condition="on all data here at 0.1 λ_max; with a smaller λ the first rise comes later.",
            explained="There is no promise that F falls, only that it is below 2K‖W* − W_0‖²/(t + 1)² after t steps.",
            wrong={
                "falls": "There is no promise that F falls: momentum runs past the bottom and up the other side.",
                "bounces": "Here the run is too short for an overshoot.",
                "rises": "The steps are safe: momentum overshoots now and then, and comes back.",
                "flat": "The first steps gain most; momentum makes the next ones longer.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
        Prediction(
            question="The worst bounce of FISTA on iris: by which factor does the distance F − F* grow again?",
            kind=Slider(1.0, 1000.0, "times", near=3.0, log=True),
            run=_worst_bounce,
            claim="At its worst the distance grows by more than a half.",
            condition="on all data here; how large the worst one is depends on the data, and on iris much on the seed.",
            explained="The lower you are, the larger the same bounce looks.",
            wrong={
                "low": "The same small rise of F is a large factor when F is close to the bottom already.",
                "high": "How large a bounce looks depends on how near the bottom it comes: not that near, here.",
            },
            holds=(*cases("iris digits wine breast_cancer"), *TEXTS),
        ),
        Prediction(
            question="wine, 0.1 λ_max: is FISTA ever behind ISTA at the same iteration?",
            kind=Choice({"never": "never", "start": "at the start", "often": "after each bounce"}),
            run=_behind,
            claim="FISTA is never behind ISTA at the same iteration.",
            condition="on all data here at 0.1 λ_max; on iris at 0.3 λ_max it is behind at iteration 2 with two seeds.",
            explained="A bounce loses less than the momentum has won before.",
            wrong={
                "never": "Here the second step overshoots a bottom that ISTA has nearly reached.",
                "start": "The first step is the same, and from then on momentum is ahead.",
                "often": "When it bounces, it is so far ahead that ISTA does not catch up.",
            },
            holds=(*cases("wine digits iris breast_cancer"), *TEXTS, Case("iris@0.3", 0)),
            fails=(Case("iris@0.3", 1), Case("iris@0.3", 2)),
        ),
        Prediction(
            question=(
                "A restart sets the momentum back to nothing whenever it points uphill. What does that change on "
                "digits, to 1e-2, 1e-4 and 1e-6 above the smallest F?"
            ),
            kind=Choice(HELPS),
            run=_restarts,
            claim="Restarts change nothing to 1e-2 and save iterations to 1e-6.",
            condition="not on breast_cancer, which is flat and ill conditioned; on iris it depends on the seed.",
            explained=(
                "Nothing to 1e-2: the first overshoot comes later. And on flat problems a restart throws speed away."
            ),
            wrong={
                "all": "To 1e-2 nothing has overshot yet, so there is nothing to restart.",
                "late": "On flat problems the speed that a restart throws away was needed.",
                "nothing": "Each bounce costs iterations near the bottom; without them 1e-6 comes earlier.",
                "worse": "That happens on flat problems; here the bounces cost more than the speed.",
            },
            holds=(*cases("digits wine"), *TEXTS, Case("iris", 0), Case("iris", 2)),
            fails=(*cases("breast_cancer"), Case("iris", 1)),
        ),
        Prediction(
            question=(
                "ISTA, FISTA, FISTA with restarts, and SpaRSA, which has no momentum but chooses each step by the "
                "last two gradients: who is at 1e-4 first (wine)?"
            ),
            kind=Order(LANES, first="fewest iterations", last="most iterations"),
            run=_who_is_first,
            claim="SpaRSA needs the fewest iterations and ISTA the most.",
            condition="on all data here at 0.1 λ_max.",
            explained="A step rule that follows the curvature can beat momentum with constant steps.",
            wrong={
                "ista": "It takes steps for the worst curvature there is, and nothing carries it on.",
                "fista": "Momentum beats constant steps alone, and its bounces cost a little.",
                "restart": "Restarts make FISTA a little quicker here, but not as quick as better steps.",
                "sparsa": "Its steps follow the curvature along the way, which is far below the bound K.",
            },
            holds=(*cases("wine digits iris breast_cancer"), *TEXTS),
        ),
    ),
    breaks=(
        Scene(
            title="Momentum that never changes",
            text="FISTA lets its momentum grow. Hold it at β = 0.5, 0.9 or 0.99 instead: too little, too much?",
            run=_fixed_momentum,
        ),
        Scene(
            title="Another λ on the way",
            text="Halve λ while FISTA is running at full speed.",
            run=_another_lam,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"wine (seed {student % 3}), 0.1 λ_max, fista-cst: at which iteration does F rise for the first time?"
            ),
            _rise_check, _first_rise, lambda student: 1, (Input("value", "iteration"),),
            code=(
                code_of("wine")
                + 'run = ss.Run(problem, "fista-cst", stop=ss.stopping.Iterations(100))\n'
                "F = [event.objective for event in run]\n"
                'lesson.check("a", 1)'
            ),
        ),
        "b": Exercise(
            lambda student: (
                f"wine (seed {student % 3}), 0.1 λ_max: drop the momentum of FISTA once, after an iteration that you "
                "choose, so that 1e-6 is reached about as early as with automatic restarts (within 10 %)."
            ),
            _restart_check, lambda student: _good_restart(student % 3), lambda student: 1,
            (Input("value", "iteration of the restart"),),
            code='lesson.check("b", 50)',
        ),
    },
    sources=(
        Source("Beck and Teboulle (2009)", "Thm. 4.4", ("solvers/fista.py", "solvers/ista.py")),
        Source("O'Donoghue and Candès (2015)", "Sec. 3"),
        Source("Blondel, Seki, Uehara (2013)", "Sec. 5.2.3", ("solvers/sparsa.py",)),
    ),
    afterwards=(
        "FISTA is no descent method: F may rise.",
        "A restart is worth it for high accuracy.",
        "Step rules can beat momentum.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
