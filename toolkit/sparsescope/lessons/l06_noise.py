"""Lesson 6: stochastic steps keep rows alive."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from .. import registry
from ..runs.run import Run
from ..runs.solving import solve
from ..runs.stopping import Gap, Iterations
from ..runs.trace import Recorder, Trace
from ..solvers import search_eta0
from . import pictures
from ._runs import accuracy_on_test, at, dense, fit, load, power_text, rows_used
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases, no_show
from .growing import Lines
from .kinds import Choice, Slider

ALL = "digits wine breast_cancer"
PASSES, TEXT_PASSES = 100, 50
WIDE = 1000  # features: data with more are texts here
LAST = 10  # passes over which changes of the support are counted
SAMPLES = 60  # whose gradients are looked at alone
HUGE = 300.0  # an η₀ a hundred times too large
ETAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


# ----------------------------------------------------------------------------------------------------------- the runs
def _noisy(case: Case, show: Show, eta0: float = 3.0, passes: int = 0) -> tuple[Trace, np.ndarray]:
    """Run FOBOS, show its rows in use, and return the trace and the last W."""
    problem = at(case.data, 0.1, case.seed)
    passes = passes or (TEXT_PASSES if problem.d > WIDE else PASSES)
    recorder = Recorder()
    rows: list[float] = []
    solver = registry.solvers.create("fobos", eta0=eta0, seed=case.seed)
    run = Run(problem, solver, stop=Iterations(passes), callbacks=[recorder], certify_every=None)
    W = np.zeros((problem.d, problem.m))
    try:
        for event in run:
            rows.append(event.nonzero_rows)
            W = dense(event.state.coef).copy() if event.iteration == passes else W
            if len(rows) % 5 == 0:
                show(pictures.lines({"rows in use": (range(len(rows)), rows)}, "passes over the data", "rows in use"))
    except FloatingPointError:
        pass  # F has left the range of numbers: what was recorded stays
    return recorder.trace, W


def _fitted(case: Case) -> np.ndarray:
    return dense(fit(at(case.data, 0.1, case.seed)).W)


def _rows_of_both(case: Case, show: Show) -> Finding:
    """Count the rows of FOBOS and of the optimum."""
    trace, _ = _noisy(case, show)
    rows = np.asarray(trace["nonzero_rows"], dtype=float)
    best = float(rows_used(_fitted(case)).sum())
    d = at(case.data, 0.1, case.seed).d
    said = f"On {case.data} FOBOS uses {rows[-1]:.0f} of {d} rows after {rows.size - 1} passes; the optimum {best:.0f}."
    picture = pictures.lines(
        {"rows in use": (range(rows.size), rows)}, "passes over the data", "rows in use", marks={"the optimum": best}
    )
    return Finding(float(rows[-1]), rows[-1] > 1.2 * best, said, picture)


def _changes(case: Case, show: Show) -> Finding:
    """Count the rows that change sides from one pass to the next."""
    trace, _ = _noisy(case, show)
    supports = [set(support.tolist()) for support in trace.supports()]
    changes = [float(len(a ^ b)) for a, b in pairwise(supports)]
    late = float(np.mean(changes[-LAST:]))
    said = (
        f"Rows of {case.data} that change between zero and non-zero in a pass: {late:.3g} (mean of the last {LAST}); "
        f"in use: {len(supports[-1])}."
    )
    picture = pictures.lines({"rows that change": (range(1, len(supports)), changes)}, "passes over the data", "rows")
    return Finding(late, late > 1.0, said, picture)


def _far_too_large(case: Case, show: Show) -> Finding:
    """Take a first step a hundred times too large, and look at F and at the accuracy."""
    problem, data = at(case.data, 0.1, case.seed), load(case.data, case.seed)
    trace, W = _noisy(case, show, HUGE)
    best = solve(problem, "working-set", tol=1e-8)
    objective = np.asarray(trace["objective"], dtype=float)
    times = objective / best.objective
    mine, theirs = accuracy_on_test(problem, W, data), accuracy_on_test(problem, best.W, data)
    broken, good = bool(times[-1] > 1e3), bool(mine >= theirs - 5.0)
    answer = "loss" if broken and good else "both" if broken else "none"
    said = (
        f"On {case.data} with η₀ = {HUGE:g} F is {power_text(times[-1])} times the smallest, and the test "
        f"accuracy {mine:.1f} %; that of the optimum is {theirs:.1f} %."
    )
    picture = pictures.lines(
        {"F over the smallest F": (range(times.size), times)}, "passes over the data", "F / F*", log=True
    )
    return Finding(answer, broken and good, said, picture)


def _after_one_pass(case: Case, show: Show) -> Finding:
    """Compare FOBOS after one pass with the optimum on test data."""
    problem, data = at(case.data, 0.1, case.seed), load(case.data, case.seed)
    _, W = _noisy(case, show, passes=1)
    mine, theirs = accuracy_on_test(problem, W, data), accuracy_on_test(problem, _fitted(case), data)
    shown = {"FOBOS after one pass": mine, "the optimum": theirs}
    show(pictures.bars(shown, "test accuracy, %"))
    answer = "same" if abs(mine - theirs) <= 0.5 else "fobos" if mine > theirs else "optimum"
    said = f"On {case.data}: {mine:.1f} % after one pass of FOBOS, {theirs:.1f} % at the optimum for 0.1 λ_max."
    return Finding(answer, answer == "fobos", said, pictures.bars(shown, "test accuracy, %"))


def _handed_over(case: Case, show: Show) -> Finding:
    """Let BCD go on where three passes of FOBOS have ended."""
    problem = at(case.data, 0.1, case.seed)
    needed: dict[str, int] = {}
    lines = Lines(show, "iterations", "rows in use")
    for name in ("BCD from zero", "BCD after FOBOS"):
        first = "bcd-ls" if name == "BCD from zero" else registry.solvers.create("fobos", seed=case.seed)
        run = Run(problem, first, stop=Gap(1e-4) | Iterations(1000), certify_every=1)
        rows: list[float] = []
        for event in run:
            rows.append(event.nonzero_rows)
            if event.iteration == 3 and name != "BCD from zero":
                run.change(solver="bcd-ls")
        needed[name] = len(rows) - 1 - (0 if name == "BCD from zero" else 3)
        lines.add(name, rows)
    zero, after = needed.values()
    saved = 100.0 * (1.0 - after / zero)
    said = (
        f"On {case.data} BCD needs {zero} iterations to a gap of 1e-4 from zero and {after} after three passes of "
        f"FOBOS; {saved:.0f} % are saved."
    )
    return Finding(saved, saved <= 25.0, said, lines.picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _same_prox(show: Show) -> tuple[Message, str]:
    case = Case("digits")  # on pydocs it is to be predicted
    problem = at(case.data)
    trace, W = _noisy(case, show)
    best = fit(problem)
    used = {"A": float(rows_used(best.W).sum()), "B": float(rows_used(W).sum())}
    apart = 100.0 * (trace["objective"][-1] / best.objective - 1.0)
    picture = pictures.bars(used, f"pixels in use, of {problem.d}")
    return picture, f"F of B is {apart:.2g} % above that of A; A uses {used['A']:.0f} pixels and B {used['B']:.0f}."


def _alone(show: Show) -> tuple[Message, str]:
    data, problem = load("digits"), at("digits")
    W = dense(fit(problem).W)
    together = np.where(rows_used(W), 0.0, np.linalg.norm(dense(problem.gradient(W)), axis=1))
    j = int(together.argmax())  # of the rows that are zero the one nearest to the edge
    lengths: list[float] = []
    picture: Message = {}
    for i in range(0, problem.n, problem.n // SAMPLES):
        alone = problem.on(data.X[i : i + 1], data.y[i : i + 1])
        lengths.append(float(np.linalg.norm(dense(alone.gradient(W))[j])))
        curves = {"each sample alone": (range(len(lengths)), sorted(lengths))}
        picture = pictures.lines(
            curves, "samples, by length", "length of the row of the gradient", marks={"λ": problem.lam}
        )
        show(picture)
    above = sum(length > problem.lam for length in lengths)
    said = (
        f"Row {problem.feature_name(j)} is zero. Its gradient over all samples has length {together[j]:.3g}, and λ is "
        f"{problem.lam:.3g}; alone {above} of {len(lengths)} samples have a longer one, up to {max(lengths):.3g}."
    )
    return picture, said


def _explode(show: Show) -> tuple[Message, str]:
    lines = Lines(show, "passes over the data", "F / F*", log=True)
    best = fit(at("digits")).objective
    said = []
    for eta0 in (0.03, 3.0, HUGE):
        trace, _ = _noisy(Case("digits"), no_show, eta0)
        times = np.asarray(trace["objective"], dtype=float) / best
        said.append(f"η₀ = {eta0:g}: {times[-1]:.3g}" if times[-1] < 1e4 else f"η₀ = {eta0:g}: {power_text(times[-1])}")
        lines.add(f"η₀ = {eta0:g}", times)
    return lines.picture, "F / F* — " + ", ".join(said) + "."


def _storm_and_river(show: Show) -> tuple[Message, str]:
    run = Run(at("pydocs"), registry.solvers.create("fobos", seed=0), stop=Iterations(30), certify_every=None)
    rows: list[float] = []
    for event in run:
        rows.append(event.nonzero_rows)
        if event.iteration == 15:
            run.change(solver="bcd-ls")
        show(pictures.lines({"rows in use": (range(len(rows)), rows)}, "iterations", "rows in use"))
    picture = pictures.lines({"rows in use": (range(len(rows)), rows)}, "iterations", "rows in use")
    return picture, f"{rows[15]:.0f} rows when FOBOS hands over, {rows[16]:.0f} after one iteration of BCD."


# ------------------------------------------------------------------------------------------------------- the exercises
@lru_cache(maxsize=3)
def _searched(seed: int) -> float:
    data = load("digits", seed)
    found = search_eta0(at("digits", 0.1, seed), (data.X_test, data.y_test), candidates=ETAS, by="loss", seed=seed)
    return float(found.eta0)


def _eta_check(value: Any, student: int) -> Mark:
    if not is_number(value, 1e-4, 1e4):
        return Mark(False, "Give η₀ as a number between 0.0001 and 10 000.")
    best = _searched(student % 3)
    factor = max(value / best, best / value)
    passed = factor <= 3.0 * (1 + 1e-9)
    found = f"The search found {best:g}; you" if passed else "You"
    return Mark(
        passed, f"{found} are off by a factor of {factor:.3g}: η₀ is too {'small' if value < best else 'large'}."
    )


@lru_cache(maxsize=3)
def _norms(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of the rows of FOBOS, and which rows the optimum uses."""
    case = Case("digits", seed)
    _, W = _noisy(case, no_show)
    return np.linalg.norm(W, axis=1), rows_used(_fitted(case))


def _f1(threshold: float, seed: int) -> float:
    norms, wanted = _norms(seed)
    kept = norms > threshold
    return float(2 * (kept & wanted).sum() / max((kept.sum() + wanted.sum()), 1))


def _best_threshold(seed: int) -> float:
    return float(max(np.append(_norms(seed)[0], 0.0), key=lambda t: _f1(float(t), seed)))


def _threshold_check(value: Any, student: int) -> Mark:
    if not is_number(value, 0):
        return Mark(False, "Give the threshold as a number of at least 0.")
    seed = student % 3
    mine, best = _f1(float(value), seed), _f1(_best_threshold(seed), seed)
    return Mark(mine >= best - 0.05, f"F1 of the two supports: {mine:.2f}; without a threshold {_f1(0.0, seed):.2f}.")


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=6,
    slug="noise-keeps-rows-alive",
    title="Noise keeps rows alive",
    minutes=20,
    asks="A stochastic method takes one sample at a time. What becomes of the rows that should be zero?",
    idea=(
        "A row is zero only while its gradient stays inside the ball; a gradient of one sample never does, so "
        "stochastic steps never get sparse."
    ),
    needs=("weights", "gradient step", "objective", "lambda", "seed", "gap", "penalty", "prox", "rows in use",
           "lambda max", "coordinate descent"),
    introduces=("fobos",),
    opening=Scene(
        title="Two models of digits",
        text=(
            "The same data, penalty and λ (0.1 λ_max), and nearly the same F. A is the optimum; B comes from FOBOS, "
            "which takes one sample at a time: a gradient step for it, then the prox with a step η that falls from η₀."
        ),
        run=_same_prox,
        question="The prox sets rows to zero in both. Why does one of them use so many more pixels?",
    ),
    predictions=(
        Prediction(
            question="pydocs has 3034 words, and the optimum uses little more than a hundred. How many rows does FOBOS "
            "use after 50 passes over the data?",
            kind=Slider(10, 3034, "rows", one="row", near=1.5, log=True, whole=True),
            run=_rows_of_both,
            claim="FOBOS uses more rows than the optimum (at least a fifth more).",
            condition="where the optimum leaves rows out, as on all data here; on texts ten times as many and more.",
            explained="Its threshold is λη, small and falling; the noise in the gradient of one sample is not.",
            wrong={
                "low": "The prox is the same, but its threshold λη is small, and each sample pushes rows out again.",
                "high": "Rows that no recent sample has touched are set to zero by the prox.",
            },
            holds=(Case("pydocs"), Case("planted-text"), *cases(ALL), *cases("iris")),
        ),
        Prediction(
            question="pydocs, after 50 passes: how many rows change between zero and non-zero in a pass?",
            kind=Slider(1, 3034, "rows", one="row", near=2.0, log=True, whole=True),
            run=_changes,
            claim="More than one row changes sides in each pass, even at the end.",
            condition="where features are many; not on wine and iris, where nearly all are in use all the time.",
            explained="The support of a stochastic method is a lottery, not a set.",
            wrong={
                "low": "The steps have become small, but so has the threshold: the samples drawn last decide.",
                "high": "Rows of frequent words are large enough to stay.",
            },
            holds=(Case("pydocs"), Case("planted-text"), *cases("digits breast_cancer")),
            fails=cases("wine iris"),
        ),
        Prediction(
            question="digits: η₀ is a hundred times too large. What of F and of the test accuracy after 100 passes?",
            kind=Choice({
                "both": "F explodes and the accuracy is lost",
                "loss": "F explodes, and the accuracy is as good as the optimum's",
                "none": "both recover as the steps fall",
            }),
            run=_far_too_large,
            claim="F is more than a thousand times the smallest, and the accuracy is within 5 points of the optimum's.",
            condition="on digits and wine; on iris the accuracy suffers too with two of three seeds.",
            explained=(
                "Accuracy depends only on which score is largest; it is no stopping rule, and no proof of anything."
            ),
            wrong={
                "both": "The scores are huge, but accuracy depends only on which is largest.",
                "loss": "Here the classes overlap, and huge steps also mix up which score is largest.",
                "none": "The steps fall like 1/√t, far too slowly to make up for such a beginning.",
            },
            holds=(*cases("digits wine"), Case("iris", 1)),
            fails=(Case("iris", 0), Case("iris", 2)),
        ),
        Prediction(
            question=(
                "pydocs: after one pass, who predicts the test part better, FOBOS or the optimum of F for 0.1 λ_max?"
            ),
            kind=Choice({"fobos": "FOBOS", "optimum": "the optimum", "same": "both the same"}),
            run=_after_one_pass,
            claim="After one pass FOBOS predicts better than the optimum.",
            condition="on pydocs, where 0.1 λ_max is too strong; on digits the optimum is better.",
            explained="The optimum of F is not the best model: here λ is too strong, and FOBOS is still far from it.",
            wrong={
                "fobos": "Here λ suits the data, and one pass is not enough.",
                "optimum": "It is the best for F, and F is not the test accuracy: this λ leaves out too many words.",
                "same": "They use quite different words, and the difference shows.",
            },
            holds=cases("pydocs"),
            fails=cases("digits"),
        ),
        Prediction(
            question=(
                "digits: three passes of FOBOS first, then BCD. What share of the iterations of BCD to a gap of 1e-4 "
                "does that save?"
            ),
            kind=Slider(-50.0, 100.0, "%", near=15.0),
            run=_handed_over,
            claim="It saves at most a quarter of the iterations.",
            condition="on all data here but iris with one seed; on small data it may even cost iterations.",
            explained="One iteration of BCD from zero is as good a start.",
            wrong={
                "low": "It is no worse a start than zero: BCD puts the wrong rows right in one iteration.",
                "high": "The first iterations of BCD are its quickest; the last digits have to be paid anyway.",
            },
            holds=(*cases("digits wine breast_cancer"), Case("pydocs"), Case("planted-text"), *cases("iris", (0, 2))),
            fails=cases("iris", (1,)),
        ),
    ),
    breaks=(
        Scene(
            title="One sample alone",
            text=(
                "digits, the optimum at 0.1 λ_max, and a row that is zero: the gradient of all samples together has to "
                "be at most as long as λ there. How long is it for one sample alone?"
            ),
            run=_alone,
        ),
        Scene(title="η₀ a hundred times too large", text="And a hundred times too small.", run=_explode),
        Scene(title="Hand over", text="FOBOS on pydocs hands over to BCD in the middle.", run=_storm_and_river),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"digits (seed {student % 3}), 0.1 λ_max: the η₀ of FOBOS with the smallest loss on held-out data "
                "after three passes (within a factor of 3 of a search)."
            ),
            _eta_check, lambda student: _searched(student % 3), lambda student: 1e4, (Input("value", "η₀"),),
            code='lesson.check("a", 100.0)',
        ),
        "b": Exercise(
            lambda student: (
                f"digits (seed {student % 3}), 100 passes of FOBOS: the rows are many, but most are small. Find a "
                "threshold on their length that gives back the rows of the optimum."
            ),
            _threshold_check, lambda student: _best_threshold(student % 3), lambda student: 1e9,
            (Input("value", "threshold"),),
            code='lesson.check("b", 0.0)',
        ),
    },
    sources=(
        Source("Duchi and Singer (2009)", "FOBOS", ("solvers/fobos.py", "kernels/stochastic.py")),
        Source("Blondel, Seki, Uehara (2013)", "Sec. 5.2.2, Fig. 4"),
    ),
    afterwards=(
        "Noise keeps rows alive.",
        "Good accuracy is not a small objective.",
        "A support needs exact gradients, or a threshold that nobody tells you.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
