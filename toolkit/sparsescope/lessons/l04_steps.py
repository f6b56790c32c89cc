"""Lesson 4: step sizes as promises about curvature, and the line search that asks the data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.stopping import Gap, Iterations, Objective
from ._runs import ABOVE, at, code_of, level_text, load, optimum
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .growing import Bars, Lines
from .kinds import Choice, Order, Slider

ALL = "digits wine iris"
PAIRS = "digits:3,8 digits:0,1 digits:4,9"
TEXTS = (Case("pydocs"), Case("planted-text"))
LEVEL = 1e-4  # how far above the smallest F, relative
MOST = 3000
STEPS = 300
AGAIN = 10  # rises among these steps: more are no accident
ROUNDING = 1e-12  # of F: a rise below that is none
FACTORS = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 10.0, 20.0)
RULES = {"paper": "4(m − 1)", "tight": "2m", "class-aware": "class-aware", "search": "line search"}
SIZES = {"below": "below 2", "two": "at 2", "few": "between 2 and 5", "many": "only at 5 or more"}


# ----------------------------------------------------------------------------------------------------------- the runs
def _until(problem: Problem, solver: Any, best: float) -> tuple[int, list[float]]:
    """Return the iterations to :data:`LEVEL`, and how far F was above the smallest."""
    goal = best * (1 + LEVEL)
    above = []
    for event in Run(problem, solver, stop=Objective(goal) | Iterations(MOST)):
        above.append(max(event.objective / best - 1.0, 1e-16))
    return len(above) - 1, above


def _race(case: Case, show: Show, lanes: dict[str, Any], method: str) -> tuple[dict[str, float], Message]:
    """Run solvers of a method, one after the other, to the same level."""
    problem, best = at(case.data, 0.1, case.seed), optimum(case.data, 0.1, case.seed).objective
    lines = Lines(show, "iterations", ABOVE, log=True)
    needed: dict[str, float] = {}
    for key, solver in lanes.items():
        count, above = _until(problem, solver, best)
        needed[key] = float(count)
        lines.add(f"{method}, {RULES.get(key, key)}", above)
    return needed, lines.picture


def _blocks() -> dict[str, Any]:
    """Return BCD with each rule for its steps."""
    make = registry.solvers.create
    made = {rule: make("bcd-cst", constants=rule, selection="cyclic") for rule in ("paper", "tight", "class-aware")}
    return {**made, "search": make("bcd-ls")}


def _four_rules(case: Case, show: Show) -> Finding:
    """Compare four rules for the steps of BCD."""
    needed, picture = _race(case, show, _blocks(), "BCD")
    a, b, c, d = (needed[key] for key in RULES)
    shown = ", ".join(f"{RULES[key]} {needed[key]:.0f}" for key in RULES)
    classes = at(case.data, 0.1, case.seed).m
    said = f"Iterations to {level_text(LEVEL)} on {case.data} ({classes} classes): {shown}."
    return Finding(needed, a > b > c > d, said, picture)


def _two_constants(case: Case, show: Show) -> Finding:
    """Compare 2m with 4(m − 1)."""
    lanes = _blocks()
    needed, picture = _race(case, show, {key: lanes[key] for key in ("paper", "tight")}, "BCD")
    ratio = needed["paper"] / needed["tight"]
    m = at(case.data, 0.1, case.seed).m
    said = (
        f"On {case.data} ({m} classes) {needed['paper']:.0f} iterations with 4(m − 1) and {needed['tight']:.0f} with "
        f"2m: {ratio:.3g} times fewer; 2(1 − 1/m) is {2 * (1 - 1 / m):.3g}."
    )
    return Finding(ratio, ratio == 1.0, said, picture)


def _trials(case: Case, show: Show) -> Finding:
    """Count the trials of the line search as printed, for each row that moves."""
    counts = Bars(show, "trials for a row that moves")
    for curvature, name in (("paper", "as printed"), ("differences", "with m/(m − 1) times the curvature")):
        solver = registry.solvers.create("bcd-ls", curvature=curvature)
        run = Run(at(case.data, 0.1, case.seed), solver, stop=Gap(1e-5) | Iterations(200))
        counts.add(name, float(np.nanmean([event.trials for event in run])))
    printed, other = counts.values.values()
    m = at(case.data, 0.1, case.seed).m
    said = (
        f"On {case.data} ({m} classes) {printed:.3f} trials for a row that moves; {other:.3f} when the first trial "
        "takes m/(m − 1) times the largest diagonal entry."
    )
    return Finding(printed, printed > 1.5, said, counts.picture)


def _steps(problem: Problem, factor: float, name: str = "ista", steps: int = STEPS) -> np.ndarray:
    """Return F along steps of factor/K; after an overflow there is no further one."""
    found: list[float] = []
    try:
        for event in Run(problem, registry.solvers.create(name, step_length=factor), stop=Iterations(steps)):
            found.append(event.objective)
    except FloatingPointError:
        found.append(np.inf)
    return np.array(found)


def _rises(objective: np.ndarray) -> int:
    """Return how often F rises, rounding left out."""
    before, after = objective[:-1], objective[1:]
    return int((after > before * (1 + ROUNDING)).sum())


def _too_long(case: Case, show: Show) -> Finding:
    """Lengthen the steps of ISTA until F rises again and again."""
    problem = at(case.data, 0.1, case.seed)
    counts = Bars(show, f"rises of F in {STEPS} steps of c/K")
    edge = np.inf
    for factor in FACTORS:
        rises = _rises(_steps(problem, factor))
        counts.add(f"c = {factor:g}", rises)
        if rises > AGAIN:
            edge = factor
            break
    answer = "below" if edge < 2 else "two" if edge == 2 else "few" if edge < 5 else "many"
    said = (
        f"On {case.data} F rises more than {AGAIN} times in {STEPS} steps from c = {edge:g} on (tried: "
        f"{', '.join(f'{c:g}' for c in FACTORS)})."
    )
    return Finding(answer, edge > 2, said, counts.picture)


def _search_or_constant(case: Case, show: Show) -> Finding:
    """Compare constants and line search for FISTA."""
    make = registry.solvers.create
    lanes = {
        "paper": make("fista-cst", constants="paper"),
        "search": make("fista-ls"),
        "class-aware": make("fista-cst"),
    }
    needed, picture = _race(case, show, lanes, "FISTA")
    slow, search, aware = needed["paper"], needed["search"], needed["class-aware"]
    share = (aware - search) / (slow - search) if slow > search else 0.0
    answer = "few" if share <= 0.25 else "many" if share >= 0.75 else "between"
    said = (
        f"Iterations of FISTA to {LEVEL:g} on {case.data}: {slow:.0f} with 4(m − 1), {search:.0f} with a line search, "
        f"{aware:.0f} with the class-aware constant and no search."
    )
    return Finding(answer, aware <= 1.5 * search, said, picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _three_constants(show: Show) -> tuple[Message, str]:
    problem = at("digits")
    bars = Bars(show, "K, a bound of the curvature")
    for key in ("paper", "tight", "class-aware"):
        bars.add(RULES[key], problem.full_constant(key))
    said = "K: " + ", ".join(f"{value:.4g} ({name})" for name, value in bars.values.items()) + "."
    return bars.picture, said


def _explode(show: Show) -> tuple[Message, str]:
    problem, best = at("digits"), optimum("digits").objective
    lines = Lines(show, "steps", ABOVE, log=True)
    said = []
    lanes = (("ista", "ISTA", 2.0), ("ista", "ISTA", 6.0), ("fista-cst", "FISTA", 1.0), ("fista-cst", "FISTA", 2.0))
    for name, label, factor in lanes:
        above = _steps(problem, factor, name, 150) / best - 1.0
        above = above[np.isfinite(above)]
        said.append(f"{label} with c = {factor:g}: {above[-1]:.1e} after {above.size - 1} steps")
        lines.add(f"{label}, c = {factor:g}", np.maximum(above, 1e-16))
    return lines.picture, "Above the smallest F, relative: " + "; ".join(said) + "."


# ------------------------------------------------------------------------------------------------------- the exercises
def _sums(student: int) -> tuple[int, np.ndarray, float]:
    """Return n, the sums of squares of a feature by class, and its class-aware constant."""
    seed = student % 10
    problem, data = at("wine", 0.1, seed), load("wine", seed)
    j = student % problem.d
    column = np.asarray(data.X, dtype=float)[:, j]
    sums = np.array([float((column[data.y == c] ** 2).sum()) for c in range(problem.m)])
    return problem.n, sums, float(problem.block_constants("class-aware")[j])


def _constant_task(student: int) -> str:
    n, sums, _ = _sums(student)
    shown = ", ".join(f"{value:.9g}" for value in sums)
    return (
        f"A feature of wine has in its m = {sums.size} classes the sums of squares s_j1, s_j2, … = {shown} over n = "
        f"{n} samples; S_j is their sum. The class-aware constant is K_j = (2/n)·min(m S_j, S_j + m max_c s_jc). "
        "Compute it (six digits)."
    )


def _constant_check(value: Any, student: int) -> Mark:
    if not is_number(value):
        return Mark(False, f"K_j is {value!r}; a number is needed.")
    exact = _sums(student)[2]
    off = abs(value - exact) / exact
    return Mark(off <= 1e-5, f"You are off by {off:.1e} of K_j.")


def _edge(student: int) -> float:
    return _edge_of(student % 3)


@lru_cache(maxsize=3)
def _edge_of(seed: int) -> float:
    """Return the largest factor on a grid below which all tried ones end below where they began."""
    problem = at("digits", 0.1, seed)
    last = 1.0
    for factor in np.geomspace(2.0, 20.0, 34):
        objective = _steps(problem, float(factor))
        if not objective[-1] < objective[0]:
            return last
        last = float(factor)
    return last


def _edge_check(value: Any, student: int) -> Mark:
    if not is_number(value, 0.1, 20):
        return Mark(False, "Give c as a number between 0.1 and 20.")
    edge = _edge(student)
    objective = _steps(at("digits", 0.1, student % 3), float(value))
    passed = abs(value - edge) <= 0.1 * edge
    seen = f"the checker found {edge:.3g}" if passed else f"the largest c is {'larger' if value < edge else 'smaller'}"
    return Mark(passed, f"With c = {value:g} F goes from {objective[0]:.3g} to {objective[-1]:.3g}; {seen}.")


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=4,
    slug="step-sizes",
    title="Step sizes",
    minutes=20,
    asks="How long may a step be, for all data or for those at hand, and what does it cost to know?",
    idea=(
        "A step size rests on a bound of the curvature; constants hold for the worst possible data, a line search "
        "adapts to the data at hand."
    ),
    needs=("weights", "gradient step", "objective", "lambda", "seed", "lambda max", "coordinate descent", "fista",
           "prox"),
    introduces=("step constant", "line search", "ista"),
    opening=Scene(
        title="Three proofs of the constant",
        text=(
            "K bounds the curvature of the loss: a gradient step of length 1/K cannot overshoot. Three proofs give "
            "three constants for the same loss on digits, with m = 10 classes: 4(m − 1) times a sum of squares, 2m "
            "times it, and a class-aware one that uses how the squares are spread over the classes. For one row of W, "
            "feature j, the same constants are called K_j."
        ),
        run=_three_constants,
        question="All three are true. Which one would you like to pay for?",
    ),
    predictions=(
        Prediction(
            question=(
                "digits, 0.1 λ_max: BCD takes its steps by one of the three constants, or by a line search, which "
                "tries a step and shortens it until F falls enough. Who needs the fewest iterations?"
            ),
            kind=Order(RULES, first="fewest iterations to 1e-4", last="most iterations"),
            run=_four_rules,
            claim="The line search needs fewest, then the class-aware constant, then 2m, then 4(m − 1).",
            condition="with three classes or more.",
            explained="A smaller true constant means longer steps; the line search asks how long they may be here.",
            wrong={
                "paper": "4(m − 1) is the largest of the constants, so its steps are the shortest.",
                "tight": "2m is smaller than 4(m − 1), but still promises for the worst data.",
                "class-aware": "It follows how the data are spread over classes; only trials on the data are better.",
                "search": "It pays a trial or two and is free to take the longest step that works here.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
        Prediction(
            question="Two classes (breast_cancer): how many times fewer iterations does 2m need than 4(m − 1)?",
            kind=Slider(0.5, 10.0, "times", near=1.1, log=True),
            run=_two_constants,
            claim="Both need the same number of iterations.",
            condition="with two classes; with more, 2m needs fewer.",
            explained="The gain is 2(1 − 1/m), which is 1 for two classes, and grows to 2 with many of them.",
            wrong={
                "low": "A smaller constant cannot cost iterations here; look at 2m and 4(m − 1) for m of this data.",
                "high": "The gain is 2(1 − 1/m): put m = 2 in.",
            },
            holds=(*cases("breast_cancer"), *cases(PAIRS, (0,))),
            fails=(*cases("digits wine iris"), *TEXTS),
        ),
        Prediction(
            question=(
                "Two classes again: the line search first tries 1 divided by the largest diagonal entry of the "
                "curvature. How many trials does it take for a row that moves?"
            ),
            kind=Slider(1.0, 8.0, "trials", one="trial", near=1.2, log=True),
            run=_trials,
            claim="With the first trial as printed it takes nearly two trials (more than 1.5).",
            condition="with two classes; with three or more the first trial is usually accepted.",
            explained=(
                "The curvature along (1, −1) is twice the diagonal entry, so the first step is exactly twice too long "
                "and half of it is right. bcd-ls therefore begins with m/(m − 1) times the entry."
            ),
            wrong={
                "low": "A row of two classes moves along (1, −1), where the curvature is twice the diagonal entry.",
                "high": "Half of the first step is right, so a second trial is enough.",
            },
            holds=(*cases("breast_cancer"), *cases(PAIRS, (0,))),
            fails=(*cases("digits wine iris"), *TEXTS),
        ),
        Prediction(
            question=(
                "ISTA takes a gradient step of length c/K for all rows and then a prox (digits, class-aware K). From "
                "which c on does F rise again and again?"
            ),
            kind=Choice(SIZES),
            run=_too_long,
            claim="F does not rise again and again at c = 2.",
            condition="on all data here; the edge lies between 2.5 and 20.",
            explained=(
                "2/K is where it may fail: K bounds a curvature that these data do not have, and samples without loss "
                "have none."
            ),
            wrong={
                "below": "Below 2/K every step is safe: that is what K promises.",
                "two": "2/K is where it may fail for the worst data; these are not the worst.",
                "few": "Here K is further from the curvature of the data: it bears even longer steps.",
                "many": "The data have some curvature: here the edge comes sooner.",
            },
            holds=(*cases("digits wine iris breast_cancer"), *TEXTS),
        ),
        Prediction(
            question=(
                "FISTA on digits: with the constant 4(m − 1) it needs many iterations to 1e-4, with a line search "
                "about a third of them. And with the class-aware constant, without any search?"
            ),
            kind=Choice(
                {"few": "about as few as with the search", "between": "between the two",
                 "many": "about as many as with 4(m − 1)"}
            ),
            run=_search_or_constant,
            claim="The class-aware constant needs at most 1.5 times the iterations of the line search.",
            condition="on all data here.",
            explained="The line search saves little that a better constant does not save too.",
            wrong={
                "few": "Here the search finds steps that the constant cannot promise.",
                "between": "The constant was most of the loss: with a good one the search has little to find.",
                "many": "All its steps are longer, by K of 4(m − 1) divided by the class-aware K.",
            },
            holds=(*cases("digits wine iris breast_cancer"), *TEXTS),
        ),
    ),
    breaks=(
        Scene(
            title="Steps that are too long",
            text="digits: ISTA with steps of 2/K and 6/K, FISTA with 1/K and 2/K. Who breaks first, and how far?",
            run=_explode,
        ),
    ),
    exercises={
        "a": Exercise(
            _constant_task, _constant_check, lambda student: _sums(student)[2],
            lambda student: 1.01 * _sums(student)[2], (Input("value", "K_j"),),
            code='lesson.check("a", 1.0)',
        ),
        "b": Exercise(
            lambda student: (
                f"ISTA on digits (seed {student % 3}), 0.1 λ_max, {STEPS} steps of c/K: the largest c for which F ends "
                "below where it began (within 10 %)."
            ),
            _edge_check, _edge, lambda student: 0.5 * _edge(student), (Input("value", "c"),),
            code=(
                code_of("digits")
                + 'solver = ss.registry.solvers.create("ista", step_length=3.0)\n'
                "run = ss.Run(problem, solver, stop=ss.stopping.Iterations(300))\n"
                "F = [event.objective for event in run]\n"
                "print(F[0], F[-1])\n"
                'lesson.check("b", 3.0)'
            ),
        ),
    },
    sources=(
        Source("Blondel, Seki, Uehara (2013)", "Sec. 4.4, App. A, Eq. 6–7",
               ("problems/constants.py", "solvers/bcd.py")),
        Source("docs/mathematics.md", "Section 2", ("solvers/shared/proximal.py",)),
    ),
    afterwards=(
        "A constant is a worst case.",
        "Classes that do not meet in a feature allow steps up to m/2 times longer.",
        "With two classes three of these four rules are the same.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
