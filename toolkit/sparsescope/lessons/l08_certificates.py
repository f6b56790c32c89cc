"""Lesson 8: a zero that is not optimal, stopping rules that mislead, and the gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.result import Result
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Gap, Iterations, PaperViolation
from . import pictures
from ._runs import ABOVE, at, code_of, dense, optimum, rows_used
from .base import Case, Exercise, Finding, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .growing import Lines, Table
from .kinds import Choice, Sketch, Slider

ALL = "digits wine iris breast_cancer"
TEXTS = (Case("pydocs"), Case("planted-text"))
MOST, WATCHED = 1500, 150  # iterations
SHIFT = 1000.0
SMALL = 1e-4
EARLY, LATE = 10, 40  # iterations of the two models of the opening
FLOOR = 1e-12
WAITING = 300  # iterations in which the rules that wait have to stop
RULES = ("method", "F changes by less than 1e-4", "three times in a row", "accuracy equal ten times")
HIDDEN = (("wine", 0.1, 0), ("wine", 0.02, 1), ("iris", 0.1, 2), ("breast_cancer", 0.3, 0), ("breast_cancer", 0.1, 1))


# ----------------------------------------------------------------------------------------------------------- the runs
def _shifted(found: Result) -> np.ndarray:
    """Return the optimum with a number added to every weight of its rows."""
    W = dense(found.W).copy()
    W[rows_used(W)] += SHIFT
    return W


def _shift_it(case: Case, show: Show) -> Finding:
    """Add a number to every weight of the rows in use, and look at Eq. 9 and at F."""
    problem, found = at(case.data, 0.1, case.seed), optimum(case.data, 0.1, case.seed)
    W = _shifted(found)
    printed, exact = problem.violation(W, paper=True), problem.violation(W)
    times = problem.objective(W) / found.objective
    gap = problem.gap(W) / problem.objective(W)
    rows = [["Eq. 9", f"{printed:.1e}"], ["exact violation", f"{exact:.2g}"], ["gap, relative to F", f"{gap:.4g}"],
            ["F over the smallest F", f"{times:.4g}"]]  # fmt: skip
    picture = pictures.table(["of the shifted W", "value"], rows)
    show(picture)
    answer = "zero" if printed <= 1e-9 else "some" if printed <= problem.lam else "huge"
    said = (
        f"On {case.data} Eq. 9 gives {printed:.1e} after the shift, F is {times:.0f} times the smallest, and the gap "
        f"is {gap:.3g} of F."
    )
    return Finding(answer, printed <= 1e-9 and times > 100, said, picture)


def _curve(problem: Problem, best: float, name: str, most: int) -> np.ndarray:
    """Return how far F is above the smallest along a run."""
    run = Run(problem, registry.solvers.create(name), stop=Iterations(most), certify_every=None)
    return np.maximum(np.array([event.objective for event in run]) / best - 1.0, FLOOR)


def _little_change(case: Case, show: Show) -> Finding:
    """Stop ISTA when F changes by less than 1e-4 of itself."""
    problem, best = at(case.data, 0.1, case.seed), optimum(case.data, 0.1, case.seed).objective
    lines = Lines(show, "iterations", ABOVE, log=True)
    stops: dict[str, float] = {}
    for name, label in (("bcd-ls", "BCD"), ("fista-cst", "FISTA"), ("ista", "ISTA")):
        above = _curve(problem, best, name, 300)
        objective = 1.0 + above
        small = np.flatnonzero(np.abs(np.diff(objective)) < SMALL * objective[:-1])
        stops[label] = float(above[small[0] + 1])
        lines.add(label, above)
    shown = ", ".join(f"{label} {value:.1e}" for label, value in stops.items())
    said = f"Stopped when F changes by less than 1e-4 of itself on {case.data}, the methods are above it by: {shown}."
    lines.marks["1e-4"] = SMALL
    return Finding(stops["ISTA"], stops["ISTA"] > 1e-3, said, lines.picture)


def _one_tau(case: Case, show: Show) -> Finding:
    """Stop BCD by Eq. 10 with one τ at three λ."""
    reached: dict[str, float] = {}
    for ratio in (0.5, 0.1, 0.01):
        problem, best = at(case.data, ratio, case.seed), optimum(case.data, ratio, case.seed).objective
        objective = np.inf
        for event in Run(problem, "bcd-ls", stop=PaperViolation(1e-3) | Iterations(MOST), certify_every=1):
            objective = event.objective
        reached[f"{ratio} λ_max"] = max(objective / best - 1.0, FLOOR)
        texts = {name: f"{value:.1e}" for name, value in reached.items()}
        heights = {name: np.log10(value) - np.log10(FLOOR) for name, value in reached.items()}
        picture = pictures.bars(heights, "F above the smallest, relative (log)", texts)
        show(picture)
    factor = reached["0.01 λ_max"] / reached["0.5 λ_max"]
    shown = ", ".join(f"{value:.1e} at {name}" for name, value in reached.items())
    said = f"On {case.data} the same rule stops {shown} above the smallest F: a factor of {factor:.2g}."
    return Finding(factor, factor > 20, said, picture)


def _gap_and_truth(case: Case, show: Show) -> Finding:
    """Compare the gap with the distance from the smallest F."""
    problem, best = at(case.data, 0.1, case.seed), optimum(case.data, 0.1, case.seed).objective
    gaps: list[float] = []
    truth: list[float] = []
    picture: Message = {}
    for event in Run(problem, "bcd-ls", stop=Gap(SMALL) | Iterations(MOST), certify_every=1):
        gaps.append(event.relative_gap)
        truth.append(max(event.objective / best - 1.0, FLOOR))
        steps = range(len(gaps))
        curves: dict[str, tuple[Any, Any]] = {"the gap": (steps, gaps), "the truth": (steps, truth)}
        picture = pictures.lines(curves, "iterations", "relative to F", log=True)
        if len(gaps) <= 30 or len(gaps) % 5 == 0:
            show(picture)
    said = f"On {case.data} the gap is {gaps[-1]:.1e}, and F is {truth[-1]:.1e} above the smallest."
    return Finding(truth[-1], truth[-1] < 1e-5, said, picture)


def _bouncing_gap(case: Case, show: Show) -> Finding:
    """Compute the gap of each W of FISTA from that W alone."""
    problem = at(case.data, 0.1, case.seed)
    gaps: list[float] = []
    for event in Run(problem, "fista-cst", stop=Iterations(WATCHED), certify_every=None):
        gaps.append(float(problem.certificate(dense(event.state.coef)).relative_gap))
        if len(gaps) % 5 == 0:
            show(pictures.lines({"gap": (range(len(gaps)), gaps)}, "iterations", "relative gap", log=True))
    values = np.array(gaps)
    rises = int((values[1:] > values[:-1]).sum())
    kept = np.minimum.accumulate(values)
    log = np.log10(values)
    scaled = (log - log.min()) / (np.ptp(log) or 1.0)
    said = (
        f"On {case.data} the gap of W rises in {rises} of {values.size - 1} iterations of FISTA; it ends at "
        f"{values[-1]:.1e}, and the smallest so far at {kept[-1]:.1e}."
    )
    steps = range(values.size)
    curves: dict[str, tuple[Any, Any]] = {"of this W": (steps, values), "the smallest so far": (steps, kept)}
    picture = pictures.lines(curves, "iterations", "relative gap", log=True)
    return Finding("bounces" if rises else "falls", rises > 0.05 * values.size, said, picture,
                   tuple(float(v) for v in scaled))  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- the scenes
def _two_models(show: Show) -> tuple[Message, str]:
    problem, table = at("digits"), Table(show, "model", "rows in use", "training samples right", "F")
    for name, iterations in (("A", EARLY), ("B", LATE)):
        W = dense(solve(problem, "bcd-ls", tol=0.0, max_iter=iterations).W)
        right = int((problem.predict(W) == problem.y).sum())
        table.add(name, str(int(rows_used(W).sum())), str(right), f"{problem.objective(W):.5g}")
    (*_, right_of_a, F_of_a), (*_, right_of_b, F_of_b) = table.rows
    models = f"F is {F_of_a} for A and {F_of_b} for B"
    return table.picture, f"{models}; A has {right_of_a} of {problem.n} samples right, B {right_of_b}."


def _stopped(true: np.ndarray, times: int, above: np.ndarray) -> str:
    """Return how far above the smallest F a run is once something has been true a number of times in a row."""
    places = np.flatnonzero(np.convolve(true, np.ones(times), mode="valid") == times)
    return f"{above[places[0] + times]:.1e}" if places.size else f"not in {WAITING}"


def _patient_rules(show: Show) -> tuple[Message, str]:
    problem, best = at("digits"), optimum("digits").objective
    table = Table(show, *RULES)
    for name, label in (("bcd-ls", "BCD"), ("fista-cst", "FISTA"), ("ista", "ISTA")):
        objective, hits = [], []
        run = Run(problem, registry.solvers.create(name), stop=Iterations(WAITING), certify_every=None)
        for event in run:
            objective.append(event.objective)
            hits.append(int((problem.predict(event.state.weights()) == problem.y).sum()))
        F = np.array(objective)
        small, same = np.abs(np.diff(F)) < SMALL * F[:-1], np.diff(hits) == 0
        above = np.maximum(F / best - 1.0, FLOOR)
        table.add(label, *(_stopped(true, n, above) for true, n in ((small, 1), (small, 3), (same, 10))))
    said = f"Above the smallest F where the three rules stop ISTA: {', '.join(table.rows[2][1:])}."
    return table.picture, said


def _small_lam(show: Show) -> tuple[Message, str]:
    problem, best = at("digits", 0.01), optimum("digits", 0.01).objective
    above: list[float] = []
    gaps: list[float] = []
    curves: dict[str, tuple[Any, Any]] = {}
    for event in Run(problem, "bcd-ls", stop=PaperViolation(1e-3) | Iterations(MOST), certify_every=1):
        above.append(max(event.objective / best - 1.0, FLOOR))
        gaps.append(event.relative_gap)
        curves = {"F above the smallest": (range(len(above)), above), "the gap": (range(len(gaps)), gaps)}
        if len(above) % 10 == 0:
            show(pictures.lines(curves, "iterations", "relative to F", log=True))
    show(pictures.lines(curves, "iterations", "relative to F", log=True))
    said = f"The rule stops after {len(above) - 1} steps, {above[-1]:.1e} above the smallest F; gap {gaps[-1]:.1e}."
    return pictures.lines(curves, "iterations", "relative to F", log=True), said


# ------------------------------------------------------------------------------------------------------- the exercises
def _cheat_check(W: Any, student: int) -> Mark:
    problem, found = at("wine", 0.1, student % 3), optimum("wine", 0.1, student % 3)
    try:
        weights = np.asarray(W, dtype=float)
    except (TypeError, ValueError):
        return Mark(False, "Give W as an array.")
    if weights.shape != (problem.d, problem.m) or not np.isfinite(weights).all():
        return Mark(False, f"W has to be finite and of shape ({problem.d}, {problem.m}).")
    printed, times = problem.violation(weights, paper=True), problem.objective(weights) / found.objective
    return Mark(printed <= 1e-10 and times > 10, f"Eq. 9: {printed:.1e}; F is {times:.4g} times the smallest.")


def _cheat(student: int) -> np.ndarray:
    return _shifted(solve(at("wine", 0.1, student % 3), "working-set", tol=1e-13))


def _stopped_by(rule: Callable[[Any], Any], name: str, ratio: float, seed: int) -> tuple[float, int]:
    """Return how far above the smallest F a rule stops BCD, and after how many iterations."""
    problem, best = at(name, ratio, seed), optimum(name, ratio, seed).objective
    for event in Run(problem, "bcd-ls", stop=Iterations(MOST), certify_every=1):
        if rule(event) or event.iteration == MOST:
            return event.objective / best - 1.0, int(event.iteration)
    raise AssertionError("a run has a last event")


def _by_gap(event: Any) -> bool:
    return bool(event.relative_gap <= 1e-3)


def _rule_check(rule: Any, student: int) -> Mark:
    if not callable(rule):
        return Mark(False, "Give a function of the event that returns True when the run may stop.")
    ends = [_stopped_by(rule, *hidden) for hidden in HIDDEN]
    par = sum(_stopped_by(_by_gap, *hidden)[1] for hidden in HIDDEN)
    worst, total = max(above for above, _ in ends), sum(count for _, count in ends)
    said = f"At worst {worst:.1e} above the smallest F, {total} iterations; a gap of 1e-3 takes {par}."
    return Mark(worst <= 1e-3 and total <= 2 * par, said)


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=8,
    slug="certificates",
    title="Certificates",
    minutes=25,
    asks="When may a solver stop? What proves that hardly a better W is left, and what only looks like it?",
    idea=(
        "That nothing moves proves nothing; a dual point proves how far you can be from the optimum, whoever made W."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "certificate", "penalty", "rows in use", "lambda max",
           "coordinate descent", "ista", "fista"),
    introduces=("dual point",),
    opening=Scene(
        title="Is anything better left?",
        text=(
            "digits, 0.1 λ_max: two models by the same method, which was stopped at different times. Whoever gets them "
            "sees W and the data; nobody has told them the smallest F."
        ),
        run=_two_models,
        question="B has the smaller F. Is it the optimum, or is something better left? What would prove it to you?",
    ),
    predictions=(
        Prediction(
            question=(
                "Eq. 9 of paper 1 (Blondel, Seki and Uehara, 2013) takes a row in use for optimal when its gradient "
                "has the length λ; what differs is its violation. Take the optimum on digits and add 1000 to every "
                "weight of the rows in use. How large is the violation by Eq. 9?"
            ),
            kind=Choice({"zero": "still zero", "some": "something up to λ", "huge": "a huge number"}),
            run=_shift_it,
            claim="Eq. 9 stays at zero (below 1e-9) while F grows by a factor of more than 100.",
            condition="for losses of differences of scores, on all data here; one-versus-rest losses change with it.",
            explained=(
                "Eq. 9 takes the length of the gradient's row, not its direction, and the loss does not "
                "change when a number is added to a whole row. The gap does."
            ),
            wrong={
                "zero": "Here the loss changes with the shift, and so does its gradient.",
                "some": "The gradient is that of the optimum: the loss depends only on differences within a row.",
                "huge": "The penalty explodes, the gradient of the loss does not, and Eq. 9 takes its length only.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
        Prediction(
            question=(
                "digits: ISTA stops as soon as F changes by less than 1e-4 of itself. How far above the smallest F?"
            ),
            kind=Slider(1e-7, 1.0, "of F", near=5.0, log=True),
            run=_little_change,
            claim="ISTA stops more than ten times further off than the rule suggests (above 1e-3).",
            condition="on data where ISTA is slow; on iris it is quick enough.",
            explained="A slow method moves little because it is slow.",
            wrong={
                "low": "Steps of 1e-4 can go on for hundreds of iterations: a slow method moves little.",
                "high": "By then the first, large steps are done.",
            },
            holds=cases("digits wine breast_cancer"),
            fails=cases("iris"),
        ),
        Prediction(
            question=(
                "Paper 1 stops when the sum of violations is at most τ times that of the first iteration (Eq. 10). "
                "With τ = 1e-3 on digits: how many times further from the smallest F does BCD stop at 0.01 λ_max than "
                "at 0.5 λ_max?"
            ),
            kind=Slider(0.1, 1e6, "times", near=10.0, log=True),
            run=_one_tau,
            claim="More than 20 times further.",
            condition="on all data here.",
            explained="The rule is relative to the first iteration, and implies nothing about F.",
            wrong={
                "low": "The same τ is easy at a large λ and means little at a small one, where the way is long.",
                "high": "The two ends are some powers of ten apart, not more.",
            },
            holds=(*cases("digits wine iris breast_cancer"), *TEXTS),
        ),
        Prediction(
            question="digits: the gap is 1e-4. How far is F really above the smallest one?",
            kind=Slider(1e-11, 1e-3, "of F", near=10.0, log=True),
            run=_gap_and_truth,
            claim="F is less than a tenth of the gap above the smallest one (below 1e-5).",
            condition="for BCD on all data here.",
            explained=(
                "A proof is an upper bound; with the scaled gradient as dual point it falls like the root of the truth."
            ),
            wrong={
                "low": "The bound is generous, but not that much.",
                "high": "A proof is an upper bound: it is true, and pessimistic for a good W.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
        Prediction(
            question="Draw the gap of W over the iterations of FISTA, on a log axis (digits, each W judged alone).",
            kind=Sketch("bounces", "iterations", "gap, log", "0", str(WATCHED)),
            run=_bouncing_gap,
            claim="The gap of W rises in more than a twentieth of the iterations.",
            condition="for FISTA on all data here.",
            explained=(
                "The bound is recomputed from where you are; the best one so far stays valid, and a run keeps it."
            ),
            wrong={
                "falls": "F may fall while the dual point of the new W is worse than the one before.",
                "bounces": "Here each dual point is better than the one before.",
                "rises": "Both bounds close in on the smallest F, if not at every step.",
                "flat": "The dual point becomes better as the gradient settles.",
            },
            holds=(*cases(ALL), Case("pydocs")),
        ),
    ),
    breaks=(
        Scene(
            title="A small λ and the rule of Eq. 10",
            text="digits at 0.01 λ_max, τ = 1e-3. How large is the gap when the rule stops?",
            run=_small_lam,
        ),
        Scene(
            title="Rules that wait",
            text=(
                "digits: stop when F changes by less than 1e-4 of itself three times in a row, or when the accuracy "
                "on the training samples has been the same for ten iterations. Which methods are stopped too early?"
            ),
            run=_patient_rules,
            question="Whom does it help to wait?",
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"wine (seed {student % 3}), 0.1 λ_max: make a W whose violation by Eq. 9 is below 1e-10 and whose F "
                "is more than ten times the smallest."
            ),
            _cheat_check, _cheat, lambda student: np.zeros((13, 3)),
            code=(
                code_of("wine")
                + 'W = ss.solve(problem, "working-set", tol=1e-13).W\n'
                'lesson.check("a", W)'
            ),
        ),
        "b": Exercise(
            lambda student: (
                "Write a stopping rule: a function of the event of each iteration that returns True when BCD may stop. "
                "It has to end within 1e-3 of the smallest F on five hidden problems, with at most twice the "
                "iterations that a gap of 1e-3 takes."
            ),
            _rule_check, lambda student: _by_gap, lambda student: lambda event: event.iteration >= 2,
            code=(
                "def rule(event):\n"
                "    return event.iteration >= 10\n\n\n"
                'lesson.check("b", rule)'
            ),
        ),
    },
    sources=(
        Source("Blondel, Seki, Uehara (2013)", "Prop. 1, Eq. 8–10", ("problems/certificate.py", "runs/stopping.py")),
        Source("docs/mathematics.md", "Section 3"),
    ),
    afterwards=(
        "Small change is no small error.",
        "A gradient of length λ is necessary, not sufficient.",
        "A gap is true for any W and pessimistic for good ones.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
