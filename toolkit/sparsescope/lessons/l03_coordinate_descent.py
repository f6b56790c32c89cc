"""Lesson 3: the rise and fall of the active set in coordinate descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.run import Run
from ..runs.stopping import Gap, Iterations
from ..runs.trace import Recorder, Trace
from . import pictures
from ._runs import LOSS, at, code_of, fit, load, rows_used
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases, no_show
from .growing import Bars, Lines, Table
from .kinds import Choice, Order, Sketch, Slider

TEXTS = (Case("pydocs"), Case("planted-text"))
MOST = 400  # iterations of a run
EARLY = 12  # iterations within which all methods have their peak
CLEAR = 1.15  # peak over end: less is hardly a peak
SELECTIONS = ("cyclic", "permuted", "random", "greedy")
LANES = {"greedy": "BCD, greedy", "cyclic": "BCD, cyclic", "random": "BCD, random", "fista": "FISTA"}


# ----------------------------------------------------------------------------------------------------------- the runs
def _descend(problem: Problem, show: Show, seed: int = 0, selection: str = "cyclic", most: int = MOST,
             tol: float = 1e-6) -> Trace:  # fmt: skip
    """Run coordinate descent from W = 0, and show the rows in use."""
    return _followed(problem, registry.solvers.create("bcd-ls", selection=selection, seed=seed), show, most, tol)


def _followed(problem: Problem, solver: Any, show: Show, most: int = MOST, tol: float = 1e-6) -> Trace:
    """Run a solver from W = 0, and show the rows in use."""
    recorder = Recorder()
    rows: list[float] = []
    run = Run(problem, solver, stop=Gap(tol) | Iterations(most), callbacks=[recorder], certify_every=1)
    for event in run:
        rows.append(event.nonzero_rows)
        if len(rows) <= 40 or len(rows) % 10 == 0:
            show(pictures.lines({"rows in use": (range(len(rows)), rows)}, "iterations", "rows in use"))
    return recorder.trace


def _rise_and_fall(case: Case, show: Show) -> Finding:
    """Watch the rows in use from W = 0."""
    rows = np.asarray(_descend(at(case.data, 0.1, case.seed), show, case.seed)["nonzero_rows"], dtype=float)
    peak, end = float(rows.max()), float(rows[-1])
    place = int(rows.argmax())
    early = peak >= CLEAR * end and place <= 5
    shown = rows[: max(25, place + 2)]
    curve = np.interp(np.linspace(0, shown.size - 1, 25), np.arange(shown.size), shown / (1.05 * peak))
    said = f"Rows in use on {case.data}: {peak:.0f} after iteration {place}, {end:.0f} in the end."
    picture = pictures.lines({"rows in use": (range(rows.size), rows)}, "iterations", "rows in use")
    return Finding("early" if early else "rises", early, said, picture, tuple(float(v) for v in curve))


def _who_overshoots(case: Case, show: Show) -> Finding:
    """Compare the most rows that four methods use on their way."""
    problem = at(case.data, 0.03, case.seed)
    end = float(rows_used(fit(problem).W).sum())
    lines = Lines(show, "iterations", "rows in use", marks={"the solution": end})
    peaks: dict[str, float] = {}
    for key, name in LANES.items():
        solver = (
            registry.solvers.create("fista-ls")
            if key == "fista"
            else registry.solvers.create("bcd-ls", selection=key, seed=case.seed)
        )
        rows = [event.nonzero_rows for event in Run(problem, solver, stop=Iterations(EARLY))]
        peaks[key] = float(max(rows))
        lines.add(name, rows)
    holds = max(peaks, key=peaks.__getitem__) == "fista" and min(peaks, key=peaks.__getitem__) == "greedy"
    shown = ", ".join(f"{LANES[key]} {peaks[key]:.0f}" for key in sorted(peaks, key=lambda k: -peaks[k]))
    said = f"Most rows in use on the way, on {case.data}: {shown}; the solution has {end:.0f}."
    return Finding(peaks, holds, said, lines.picture)


def _wrong_by_thirds(problem: Problem, seed: int, show: Show) -> tuple[list[float], int]:
    """Count the rows of the first iteration that are not in the solution, by thirds of the sweep."""
    trace = _descend(problem, show, seed, most=1)
    bought = np.asarray(trace.support(-1))
    final = rows_used(fit(problem).W)
    wrong = bought[~final[bought]]
    counts = np.histogram(wrong, bins=np.linspace(0, problem.d, 4))[0]
    return [float(n) for n in counts], bought.size


def _from_the_beginning(case: Case, show: Show) -> Finding:
    """Ask in which part of the first sweep the wrong rows were bought."""
    counts, bought = _wrong_by_thirds(at(case.data, 0.1, case.seed), case.seed, show)
    total = sum(counts)
    thirds = dict(zip(("first third", "second third", "last third"), counts, strict=True))
    first, second, third = counts
    holds = first > max(second, third) and first >= 0.45 * total
    even = total == 0 or max(counts) - min(counts) <= 0.15 * total
    answer = "evenly" if even else "beginning" if first >= max(second, third) else "end"
    said = (
        f"Rows that the first sweep buys on {case.data}: {bought}, {total:.0f} of them wrong: {first:.0f} in its first "
        f"third, {second:.0f} in the second, {third:.0f} in the last."
    )
    return Finding(answer, holds, said, pictures.bars(thirds, "wrong rows of the first sweep"))


def _final_since(trace: Trace) -> int:
    """Return the iteration from which on the rows in use are those of the end."""
    final = set(trace.support(-1).tolist())
    supports = [set(support.tolist()) for support in trace.supports()]
    since = len(supports) - 1
    while since > 0 and supports[since - 1] == final:
        since -= 1
    return since


def _final_support(case: Case, show: Show) -> Finding:
    """Read the gap when the support becomes the final one."""
    trace = _descend(at(case.data, 0.1, case.seed), show, case.seed)
    since = _final_since(trace)
    gaps = np.asarray(trace["relative_gap"], dtype=float)
    gap = float(gaps[since])
    said = (
        f"On {case.data} the rows in use are the final ones from iteration {since} on; the gap is {gap:.1e} of F then, "
        f"and {gaps[-1]:.1e} after {len(gaps) - 1} iterations."
    )
    picture = pictures.lines(
        {"gap": (range(gaps.size), gaps)}, "iterations", "relative gap", log=True, marks={"support final": gap}
    )
    return Finding(gap, gap > 1e-4, said, picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _words_at_once(show: Show) -> tuple[Message, str]:
    problem = at("pydocs", 0.03)
    first = float(_descend(problem, no_show, most=1)["nonzero_rows"][-1])
    picture = pictures.bars({"all words": float(problem.d), "after the first sweep": first}, "words")
    show(picture)  # what comes of them is to be predicted
    return picture, f"After the first sweep {first:.0f} of {problem.d} words are in use."


def _greedy(show: Show) -> tuple[Message, str]:
    problem = at("digits", 0.1)
    table = Table(show, "order", "most rows in use", "in the end", "iterations", "passes over the data")
    for selection in ("cyclic", "greedy"):
        trace = _descend(problem, no_show, selection=selection, tol=1e-4)
        rows = trace["nonzero_rows"]
        table.add(selection, int(max(rows)), int(rows[-1]), len(rows) - 1, f"{trace['passes'][-1]:.0f}")
    found = table.rows
    said = (
        f"The greedy order goes to {found[1][1]} rows in place of {found[0][1]}; it asks for gradients of all rows, "
        f"and takes {found[1][4]} passes over the data where cyclic takes {found[0][4]}."
    )
    return table.picture, said


def _late_support(show: Show) -> tuple[Message, str]:
    problem = at("digits", 0.1)
    lines = Lines(show, "iterations", "rows in use")
    since: dict[str, int] = {}
    for name, label in (("bcd-ls", "BCD"), ("fista-ls", "FISTA")):
        trace = _followed(problem, registry.solvers.create(name), show)
        since[label] = _final_since(trace)
        lines.add(label, [float(n) for n in trace["nonzero_rows"]])
    said = " and ".join(f"{iteration} with {label}" for label, iteration in since.items())
    return lines.picture, f"The rows in use are final from iteration {said}."


def _backwards(show: Show) -> tuple[Message, str]:
    data = load("planted-text", 0)
    peaks = Bars(show, "most rows in use")
    wrong: dict[str, set[int]] = {}
    for name, columns in (("as given", slice(None)), ("reversed", slice(None, None, -1))):
        problem = Problem(data.X[:, columns], data.y, loss=LOSS, penalty="l1/l2", lam_ratio=0.1)
        trace = _descend(problem, no_show, most=EARLY)
        final = rows_used(fit(problem).W)
        bought = [int(j) for j in trace.support(1) if not final[j]]
        wrong[name] = {problem.d - 1 - j if name == "reversed" else j for j in bought}
        peaks.add(name, max(trace["nonzero_rows"]))
    both = len(wrong["as given"] & wrong["reversed"])
    given, backwards = peaks.values.values()
    said = (
        f"{given:.0f} rows at most as given, {backwards:.0f} with the columns reversed; of the "
        f"wrong rows ({len(wrong['as given'])} and {len(wrong['reversed'])}) {both} are the same."
    )
    return peaks.picture, said


# ------------------------------------------------------------------------------------------------------- the exercises
def _gone(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features that the first iteration buys and that are gone, the final ones, and all correlations."""
    problem = at("digits", 0.1, seed)
    bought = _descend(problem, no_show, seed, most=1).support(-1)
    final = np.flatnonzero(rows_used(fit(problem).W))
    X = np.asarray(load("digits", seed).X, dtype=float)
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    centred /= np.where(lengths > 0, lengths, 1.0)
    return np.setdiff1d(bought, final), final, np.abs(centred.T @ centred)


def _rivals_check(answer: Any, student: int) -> Mark:
    if not isinstance(answer, dict) or len(answer) != 3:
        return Mark(False, "Give a dict of three features: {wrong one: most correlated final one}, as column numbers.")
    gone, final, correlations = _gone(student % 3)
    said, passed = [], True
    for j, k in answer.items():
        if j not in gone or k not in final:
            return Mark(False, f"{j!r}: {k!r}: give one of {gone.size} features that are gone, then one that stays.")
        best = float(correlations[j, final].max())
        passed &= bool(correlations[j, k] >= best - 0.02)
        said.append(f"{j} and {k}: {correlations[j, k]:.2f}, the largest is {best:.2f}")
    return Mark(passed, "; ".join(said) + ".")


def _rivals_right(student: int) -> dict[int, int]:
    gone, final, correlations = _gone(student % 3)
    return {int(j): int(final[correlations[j, final].argmax()]) for j in gone[:3]}


def _peak_factor(selection: str, ratio: float, seed: int) -> float:
    problem = at("breast_cancer", ratio, seed)
    rows = _descend(problem, no_show, seed, selection, most=EARLY)["nonzero_rows"]
    return float(max(rows)) / float(rows_used(fit(problem).W).sum())


def _peak_check(answer: Any, student: int) -> Mark:
    try:
        selection, ratio, factor = answer["selection"], float(answer["ratio"]), float(answer["factor"])
    except (TypeError, KeyError, ValueError):
        return Mark(False, 'Give {"selection": order, "ratio": λ/λ_max, "factor": peak ÷ end}.')
    if selection not in SELECTIONS or not 3e-3 <= ratio <= 0.5:
        return Mark(False, f"The orders are {', '.join(SELECTIONS)}, and the ratio lies between 0.003 and 0.5.")
    measured = _peak_factor(selection, ratio, student % 3)
    par = _peak_par(student)[1]
    said = f"Measured: {measured:.3g}; you said {factor:.3g}. A small search found {par:.3g}."
    return Mark(abs(factor - measured) <= 0.05 * measured and measured >= 0.9 * par, said)


def _peak_par(student: int) -> tuple[float, float]:
    """Return the best λ/λ_max of a small search with the cyclic order, and its factor."""
    found = [(_peak_factor("cyclic", ratio, student % 3), ratio) for ratio in (0.3, 0.1, 0.03, 0.01)]
    factor, ratio = max(found)
    return ratio, factor


def _peak_right(student: int) -> dict[str, Any]:
    ratio, factor = _peak_par(student)
    return {"selection": "cyclic", "ratio": ratio, "factor": factor}


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=3,
    slug="rise-and-fall",
    title="The rise and fall of the active set",
    minutes=25,
    asks="Coordinate descent begins with no row in use. Which ones does it take in, and does the order matter?",
    idea=(
        "A first sweep of coordinate descent buys features before their rivals were seen, and later sweeps give them "
        "back; which are bought depends on the order."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "penalty", "rows in use", "lambda max"),
    introduces=("coordinate descent", "active set", "fista"),
    opening=Scene(
        title="Words at once",
        text=(
            "Block coordinate descent (BCD) looks at one row of W at a time and makes F as small as it can with that "
            "row; a sweep over all rows is an iteration. The rows in use are its active set. Here it begins at W = 0 "
            "on pydocs, 0.03 λ_max."
        ),
        run=_words_at_once,
        question="What will the next sweeps do: take more words in, or give some back? And which?",
    ),
    predictions=(
        Prediction(
            question="digits, 0.1 λ_max: draw the number of rows in use over the first iterations of BCD from W = 0.",
            kind=Sketch("peak", "iterations", "rows in use", "0", "25"),
            run=_rise_and_fall,
            claim="The rows in use peak within five iterations, at least 15 % above their final number.",
            condition="on nearly all data here; on wine, where most features stay, it depends on the seed.",
            explained="From zero a row sees the whole error as its own; when its rivals have come, it is given back.",
            wrong={
                "rises": "From zero a row sees the whole error as its own, so the first sweep lets too many in.",
                "late": "The excess is bought in the first sweep and given back in the next few.",
                "falls": "At W = 0 no row is in use, so there is nothing to fall from.",
                "flat": "At W = 0 no row is in use: the first sweep has to let some in.",
                "early": "Here nearly all rows of the first sweep stay: there are few features to choose from.",
            },
            holds=(*cases("digits breast_cancer iris"), *TEXTS, *cases("wine", (0, 2))),
            fails=cases("wine", (1,)),
        ),
        Prediction(
            question=(
                "digits, 0.03 λ_max: four methods start at W = 0. FISTA takes a step for all rows at once with the "
                "gradient; the others are BCD with rows in a cyclic, a random, or a greedy order (the row with the "
                "most to gain first). Who has the most rows in use on the way?"
            ),
            kind=Order(LANES, first="most rows in use", last="fewest rows in use", falling=True),
            run=_who_overshoots,
            claim="FISTA uses the most rows on its way and BCD in the greedy order the fewest.",
            condition="where features are many; with 4 or 13 the methods cannot differ much.",
            explained=(
                "The rise and fall is not a habit of BCD alone: a full gradient step lets in every row whose gradient "
                "is longer than λ, and none of them has seen the others."
            ),
            wrong={
                "fista": "Its first step lets in every row whose gradient is longer than λ, all at once.",
                "cyclic": "Each row sees what the rows before it have explained, so it buys less than FISTA.",
                "random": "It meets some rows twice before others once, and so corrects itself earlier than cyclic.",
                "greedy": "It begins with the rows that explain most, and the rest find little to explain.",
            },
            holds=(*cases("digits"), *TEXTS, *cases("breast_cancer")),
            fails=cases("iris"),
        ),
        Prediction(
            question="The wrong rows of the first sweep (digits): from which part of the sweep do they come?",
            kind=Choice({"beginning": "mostly from its beginning", "evenly": "evenly", "end": "mostly from its end"}),
            run=_from_the_beginning,
            claim="The first third of the sweep buys most of the wrong rows (at least 45 %).",
            condition="where the first sweep buys many wrong rows; on wine it buys two or three.",
            explained="Early rows take credit that better, later rows would have earned.",
            wrong={
                "beginning": "Here the sweep buys hardly any wrong row, and those it buys come later.",
                "evenly": "A late row sees what the earlier ones have explained; an early one sees all the error.",
                "end": "At the end of the sweep little error is left that a wrong row could claim.",
            },
            holds=(*cases("digits breast_cancer"), *TEXTS, *cases("wine", (2,))),
            fails=cases("wine", (0, 1)),
        ),
        Prediction(
            question="digits, 0.1 λ_max: when the rows in use are the final ones, how large is the gap, relative to F?",
            kind=Slider(1e-7, 1.0, "of F", near=10.0, log=True),
            run=_final_support,
            claim="The rows in use are final while the gap is still above 1e-4.",
            condition="on all data here.",
            explained=(
                "Which rows are in use settles long before the digits of F, so a solver may soon leave the others out."
            ),
            wrong={
                "low": "The support does not wait for the last digits: rows settle first, numbers later.",
                "high": "A few rows close to the edge change sides until the weights are roughly right.",
            },
            holds=(*cases("digits wine breast_cancer"), *TEXTS),
        ),
    ),
    breaks=(
        Scene(title="The greedy order", text="Take the best row first. What of the hump?", run=_greedy),
        Scene(
            title="Backwards",
            text="Reverse the columns of planted-text: the same problem with another first feature.",
            run=_backwards,
        ),
        Scene(
            title="All rows at once",
            text="digits, 0.1 λ_max, to a gap of 1e-6: FISTA takes a step for all rows at once. Who knows them first?",
            run=_late_support,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"digits (seed {student % 3}), 0.1 λ_max, bcd-ls: name three features that enter in iteration 1 and "
                "are gone in the end, and for each the final feature that is most correlated with it."
            ),
            _rivals_check, _rivals_right, lambda student: {k: k for k in range(3)},
            code=(
                code_of("digits")
                + 'first = ss.solve(problem, "bcd-ls", max_iter=1, tol=0).support\n'
                'final = ss.solve(problem, "working-set", tol=1e-6).support\n'
                'lesson.check("a", {0: 1, 1: 2, 2: 3})  # {wrong one: most correlated final one}, three of them'
            ),
        ),
        "b": Exercise(
            lambda student: (
                f"breast_cancer (seed {student % 3}): find an order and a λ for which the peak of the rows in use, "
                "divided by their number in the end, is large (nine tenths of a small search at least), and say it."
            ),
            _peak_check, _peak_right, lambda student: {"selection": "greedy", "ratio": 0.3, "factor": 9.0},
            (Input("selection", "order", "choice", SELECTIONS), Input("ratio", "λ/λ_max"),
             Input("factor", "peak ÷ end")),
            code='lesson.check("b", {"selection": "cyclic", "ratio": 0.2, "factor": 1.5})',
        ),
    },
    sources=(
        Source("Blondel, Seki, Uehara (2013)", "Alg. 1–3, Sec. 5.2.1, Fig. 4",
               ("solvers/bcd.py", "kernels/sweeps.py")),
    ),
    afterwards=(
        "From zero every method buys too much.",
        "The order of a sweep decides what is wrong first.",
        "The support settles before F does.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
