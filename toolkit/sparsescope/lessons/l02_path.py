"""Lesson 2: λ_max, which one gradient tells, and the path below it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy  # its stats, loaded at its first use: every server has the lessons

from .. import registry
from ..problems.prediction import Problem
from ..runs.grids import lam_grid
from ..runs.path_result import Path
from ..runs.paths import path
from ..runs.solving import solve
from ..wording import plural
from . import pictures
from ._runs import accuracy_on_test, at, dense, fit, load, rows_used
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .features import form_of
from .growing import Bars, Table
from .kinds import Choice, Sketch, Slider

ALL = "digits wine iris breast_cancer"
TEXTS = (Case("pydocs"), Case("planted-text"))
POINT = 0.5  # percent: less is no rise and no fall of an accuracy


# ----------------------------------------------------------------------------------------------------------- the runs
def _first_gradient(problem: Problem) -> np.ndarray:
    """Return the length of the gradient's rows at W = 0, (d,)."""
    return np.linalg.norm(dense(problem.gradient(np.zeros((problem.d, problem.m)))), axis=1)


def _at_the_edge(case: Case, show: Show) -> Finding:
    """Count the rows in use a little below and above λ_max."""
    problem = at(case.data, 1.0, case.seed)
    used = Bars(show, "rows in use")
    for share in (1.1, 1.001, 0.999, 0.9):
        found = fit(problem.with_(lam=share * problem.lam_max), 1e-8)
        used.add(f"{share} λ_max", rows_used(found.W).sum())
    above, below, well_below = list(used.values.values())[1:]
    top = float(_first_gradient(problem).max() / problem.lam_max)
    said = (
        f"On {case.data}: {above:.0f} rows at 1.001 λ_max, {below:.0f} at 0.999 λ_max, {well_below:.0f} at "
        f"0.9 λ_max. The longest row of the gradient at W = 0, divided by λ_max, is {top:.12g}."
    )
    holds = above == 0 and below == 1 and abs(top - 1) < 1e-9
    return Finding(below, holds, said, used.picture)


def _followed(case: Case, show: Show, n_lams: int = 20, ratio: float = 0.02, test: bool = False) -> Path:
    """Follow the path, and show how many rows are in use."""
    data = load(case.data, case.seed)
    shares: list[float] = []
    rows: list[float] = []
    problem = at(case.data, 1.0, case.seed)

    def draw(_done: int, _all: int, event: Any) -> None:
        shares.append(problem.lam_reference / event.lam)
        rows.append(event.nonzero_rows)
        show(pictures.lines({"rows in use": (np.log10(shares), rows)}, "powers of ten below λ_max", "rows in use"))

    held_out = (data.X_test, data.y_test) if test else None
    return path(problem, "working-set", n_lams=n_lams, ratio=ratio, tol=1e-6, test=held_out, progress=draw)


def _among_the_first(case: Case, show: Show) -> Finding:
    """Compare the features in use at 0.02 λ_max with those of the longest first gradients."""
    found = _followed(case, show)
    used = rows_used(found.weights(-1))
    k = int(used.sum())
    longest = np.argsort(-_first_gradient(at(case.data, 1.0, case.seed)), kind="stable")[:k]
    share = 100.0 * float(used[longest].mean())
    rows = [float(n) for n in found.nonzero_rows]
    supports = [set(found.support(step).tolist()) for step in range(len(found))]
    left = sum(len(before - after) for before, after in pairwise(supports))
    picture = pictures.bars({"in use": float(k), "of these among the first": float(used[longest].sum())}, "features")
    said = (
        f"On {case.data} {plural(k, 'feature is', 'features are')} in use at 0.02 λ_max, and {share:.0f} % of them are "
        f"among the {k} largest gradients at W = 0. Along the path the rows grow from {rows[0]:.0f} to {rows[-1]:.0f}; "
        f"features leave again {plural(left, 'time')}."
    )
    return Finding(share, share < 100.0, said, picture)


def _first_or_largest(case: Case, show: Show) -> Finding:
    """Compare the order in which features enter with their size in the end."""
    found = _followed(case, show)
    weights = np.linalg.norm(dense(found.weights(-1)), axis=1)
    entered = np.full(weights.size, len(found))
    for k in range(len(found) - 1, -1, -1):
        entered[found.support(k)] = k
    used = np.flatnonzero(weights)
    first = int(np.argmax(_first_gradient(at(case.data, 1.0, case.seed))))
    last = int(np.argmax(weights))
    rank = float(scipy.stats.spearmanr(-entered[used], weights[used])[0])
    problem = at(case.data, 1.0, case.seed)
    largest = used[np.argsort(-weights[used])[:12]]
    names = {problem.feature_name(int(j)): float(weights[j]) for j in largest}
    texts = {problem.feature_name(int(j)): f"{weights[j]:.3g} ({entered[j]})" for j in largest}
    said = (
        f"First to enter: {problem.feature_name(first)}; largest in the end: {problem.feature_name(last)}. The rank "
        f"correlation of entry and final size is {rank:.2f} over {plural(used.size, 'feature')}."
    )
    picture = pictures.bars(names, "length of the row at 0.02 λ_max (step of its entry)", texts)
    return Finding("yes" if first == last else "no", rank < 0.6, said, picture)


def _accuracy_along(case: Case, show: Show) -> Finding:
    """Follow the test accuracy from λ_max to 0.01 λ_max."""
    found = _followed(case, show, n_lams=30, ratio=0.01, test=True)
    shares = np.log10(found.lams[0] / found.lams)
    accuracy = 100.0 * found.test_accuracy
    fall = float(accuracy.max() - accuracy[-1])
    curve = np.interp(np.linspace(shares[0], shares[-1], 25), shares, accuracy) / 100.0
    best = int(np.argmax(accuracy))
    said = (
        f"On {case.data} the best test accuracy is {accuracy.max():.1f} %, with "
        f"{plural(found.nonzero_rows[best], 'row')}; at 0.01 λ_max it is {accuracy[-1]:.1f} % with "
        f"{found.nonzero_rows[-1]:.0f}."
    )
    picture = pictures.lines({"test accuracy": (shares, accuracy)}, "powers of ten below λ_max", "test accuracy, %")
    form = "hump" if fall > POINT else form_of("direction", shares, accuracy)
    form = "rises" if form == "hump" and fall <= POINT else form
    return Finding(form, fall <= POINT, said, picture, tuple(float(v) for v in curve))


def _saved(case: Case, show: Show) -> Finding:
    """Count the iterations of 30 λ, each from the solution before it and each from zero."""
    problem = at(case.data, 1.0, case.seed)
    lams, _ = lam_grid(problem, n_lams=30, ratio=0.01)
    warm = path(problem, "working-set", n_lams=30, ratio=0.01, tol=1e-5, certify_every=1)
    cold: list[float] = []
    picture: Message = {}
    steps = np.arange(1, lams.size + 1)
    iterations = np.cumsum(warm.iterations)
    for lam in lams:
        cold.append(solve(problem.with_(lam=float(lam)), "working-set", tol=1e-5, certify_every=1).iterations)
        curves: dict[str, tuple[Any, Any]] = {
            "each from zero": (steps[: len(cold)], np.cumsum(cold)),
            "each from those before": (steps[: len(cold)], iterations[: len(cold)]),
        }
        picture = pictures.lines(curves, "λ solved", "iterations together")
        show(picture)
    total = float(sum(cold))
    share = 100.0 * (1.0 - float(iterations[-1]) / total)
    said = (
        f"On {case.data}: {iterations[-1]:.0f} iterations with warm starts and {total:.0f} without, {share:.0f} % "
        f"less; the last λ alone needs {cold[-1]:.0f} from zero."
    )
    return Finding(share, 35.0 <= share <= 75.0, said, picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _first_word(show: Show) -> tuple[Message, str]:
    problem = at("pydocs", 1.0)
    shares = (2.0, 1.7, 1.4, 1.1, 0.7, 0.6, 0.5)  # what happens at λ_max is to be predicted
    rows: list[float] = []
    for share in shares:
        rows.append(float(rows_used(fit(problem.with_(lam=share * problem.lam_max)).W).sum()))
        curves: dict[str, tuple[Any, Any]] = {"rows in use": ([1 / s for s in shares[: len(rows)]], rows)}
        show(pictures.lines(curves, "λ_max/λ", "rows in use"))
    word = problem.feature_name(int(np.argmax(_first_gradient(problem))))
    said = f"Nothing above λ_max; {rows[-1]:.0f} of {problem.d} words at half of it. The first one to come is {word!r}."
    return pictures.lines({"rows in use": ([1 / s for s in shares], rows)}, "λ_max/λ", "rows in use"), said


def _sloppy(show: Show) -> tuple[Message, str]:
    problem = at("digits", 1.0)
    exact = path(problem, "working-set", n_lams=20, ratio=0.02, tol=1e-8)
    table = Table(show, "gap at which a λ is left", "iterations", "most wrong rows")
    for tol, level in ((1e-1, "0.1"), (1e-3, "1e-3"), (1e-5, "1e-5")):
        found = path(problem, "working-set", n_lams=20, ratio=0.02, tol=tol)
        wrong = [np.setxor1d(found.support(k), exact.support(k)).size for k in range(len(found))]
        table.add(level, int(found.iterations.sum()), max(wrong))
    rows = table.rows
    said = (
        f"With a gap of 0.1 the path takes {rows[0][1]} iterations in place of {rows[2][1]}, and up to "
        f"{plural(rows[0][2], 'row is', 'rows are')} wrong; with 1e-3 up to {rows[1][2]}."
    )
    return table.picture, said


# ------------------------------------------------------------------------------------------------------- the exercises
def _edges(student: int) -> dict[str, float]:
    return {name: float(at("wine", 1.0, student % 10, penalty=name).lam_max) for name in ("l1", "l1/linf")}


def _edge_check(answer: Any, student: int) -> Mark:
    try:
        given = {name: float(answer[name]) for name in ("l1", "l1/linf")}
    except (TypeError, KeyError, ValueError):
        return Mark(False, 'Give {"l1": number, "l1/linf": number}.')
    off = {name: abs(given[name] - exact) / exact for name, exact in _edges(student).items()}
    said = ", ".join(f"{name}: off by {value:.1e} of λ_max" for name, value in off.items())
    return Mark(all(value <= 1e-9 for value in off.values()), said + ".")


def _small_par(student: int) -> tuple[float, int, float]:
    """Return the accuracy to reach, the fewest rows that reach it on a grid, and the share of λ_max there."""
    seed = student % 10
    data = load("wine", seed)
    found = path(at("wine", 1.0, seed), "working-set", n_lams=30, ratio=0.01, tol=1e-6,
                 test=(data.X_test, data.y_test))  # fmt: skip
    accuracy = 100.0 * found.test_accuracy
    wanted = float(accuracy.max()) - 1.0
    k = int(np.flatnonzero(accuracy >= wanted - 1e-9)[0])
    return wanted, int(found.nonzero_rows[k]), float(found.lams[k] / found.lams[0])


def _small_check(ratio: Any, student: int) -> Mark:
    if not is_number(ratio, 1e-3, 1):
        return Mark(False, "Give λ/λ_max as a number between 0.001 and 1.")
    seed = student % 10
    problem = at("wine", float(ratio), seed)
    W = fit(problem).W
    reached, used = accuracy_on_test(problem, W, load("wine", seed)), int(rows_used(W).sum())
    wanted, rows, _ = _small_par(student)
    said = (
        f"{plural(used, 'row')}, test accuracy {reached:.1f} %; wanted: {wanted:.1f} % with at most "
        f"{plural(rows, 'row')}."
    )
    return Mark(reached >= wanted - 1e-9 and used <= rows, said)


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=2,
    slug="lambda-max-and-the-path",
    title="λ_max and the path",
    minutes=20,
    asks="At which λ does the first feature enter, which one is it, and what does it say about those that follow?",
    idea=(
        "The gradient at W = 0 determines the λ at which the first feature enters, and which feature it is; what "
        "follows is a path that turns, not a ranking."
    ),
    needs=("weights", "objective", "lambda", "seed", "penalty", "l1", "l1/l2", "l1/linf", "rows in use",
           "lambda max", "gap", "dual norm"),
    introduces=("path", "warm start", "screening", "certificate"),
    opening=Scene(
        title="The first of 3034 words",
        text=(
            "pydocs: texts in which 3034 words are counted, and the part of a manual they come from. λ starts high and "
            "is pulled down; above λ_max W = 0 is best. A path is one problem solved at many λ, from large to small."
        ),
        run=_first_word,
        question="Could one have told λ_max, and which word comes first, without solving anything?",
    ),
    predictions=(
        Prediction(
            question="digits: how many of the 64 rows are in use at 0.999 λ_max?",
            kind=Slider(0, 64, "rows", one="row", near=0.5, whole=True),
            run=_at_the_edge,
            claim="One row at 0.999 λ_max, none at 1.001 λ_max; λ_max is the longest row of the gradient at W = 0.",
            condition="for ℓ1/ℓ2 and smooth losses, on all data here.",
            explained=(
                "A row stays zero while its gradient is not longer than λ. λ_max belongs to data, loss and penalty, "
                "not to a solver, and costs one pass over the data."
            ),
            wrong={
                "low": "At λ_max itself the longest gradient touches λ: a little below it its row has to move.",
                "high": "Rows enter one after the other; near λ_max only the row with the longest gradient is in.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
        Prediction(
            question=(
                "digits: k features are in use at 0.02 λ_max. What share of them is among the k largest gradients at "
                "W = 0?"
            ),
            kind=Slider(0.0, 100.0, "%", near=4.0),
            run=_among_the_first,
            claim="A ranking by the first gradient misses features that are in use at 0.02 λ_max.",
            condition="on most data; on iris, with four features, it depends on the seed.",
            explained=(
                "Once its neighbour is in, a feature has only the rest to explain: screening by the first gradient "
                "alone is a guess."
            ),
            wrong={
                "low": "Most of the long gradients do get in: they point at features that are useful alone.",
                "high": "The first gradient sees each feature alone, not what the others explain already.",
            },
            holds=(*cases("digits wine breast_cancer"), *TEXTS, *cases("iris", (1, 2))),
            fails=cases("iris", (0,)),
        ),
        Prediction(
            question=(
                "breast_cancer has 30 measurements, many of them nearly the same. Is the first feature that enters "
                "also the one with the largest weights at 0.02 λ_max?"
            ),
            kind=Choice({"yes": "yes", "no": "no"}),
            run=_first_or_largest,
            claim="The order of entry says little about the final size (rank correlation below 0.6).",
            condition="where features are strongly correlated; elsewhere the two orders go together.",
            explained="Order of entry is no importance where features are correlated.",
            wrong={
                "yes": "The first one enters alone; then its near copies come in and share or take its part.",
                "no": "Where features are not copies of each other, the first one often stays the largest.",
            },
            holds=cases("breast_cancer"),
            fails=(*cases("digits wine iris"), *TEXTS),
        ),
        Prediction(
            question="digits: draw the test accuracy along the path from λ_max down to 0.01 λ_max.",
            kind=Sketch("direction", "λ, falling", "test accuracy", "λ_max", "0.01 λ_max"),
            run=_accuracy_along,
            claim="The test accuracy is best at the end of the path, within half a point.",
            condition="where samples are many for what is left to fit; not on wine and breast_cancer.",
            explained="A fall at the end comes only where there are few samples for what is left to fit.",
            wrong={
                "rises": "Here the last features fit the noise of few samples, and the accuracy falls a little.",
                "hump": "A hump is no law: it needs few samples for what is left to fit.",
                "falls": "At λ_max W is zero and all classes look alike; features have to come in first.",
                "dip": "Nothing makes the model in the middle worse than the empty one.",
                "flat": "At λ_max W is zero: the accuracy there is that of guessing.",
            },
            holds=(*cases("digits iris"), *TEXTS, Case("wine", 1)),
            fails=(*cases("wine", (0, 2)), *cases("breast_cancer")),
        ),
        Prediction(
            question=(
                "30 values of λ from λ_max to 0.01 λ_max on digits: what share of the iterations of 30 separate solves "
                "do warm starts save?"
            ),
            kind=Slider(0.0, 100.0, "%", near=10.0),
            run=_saved,
            claim="Warm starts save between 35 and 75 % of the iterations.",
            condition="on all data here.",
            explained=(
                "A warm start saves the beginning; here it even begins ahead of the last solution, on the line through "
                "the last two. The last digits have to be paid at every λ."
            ),
            wrong={
                "low": "The solution of the λ before is a good beginning: most rows are right already.",
                "high": "Each λ pays for its own last digits, and no beginning saves these.",
            },
            holds=(*cases(ALL), *TEXTS),
        ),
    ),
    breaks=(
        Scene(
            title="A path in a hurry",
            text="Leave each λ already at a gap of 0.1. The next one starts from a rough solution. What goes wrong?",
            run=_sloppy,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f'Compute λ_max of ℓ1 and of ℓ1/ℓ∞ on wine (seed {student % 10}) from problem.gradient at W = 0 (to '
                'nine digits). Lesson 1 says which norm of a row counts.'
            ),
            _edge_check, _edges, lambda student: {"l1": 1.0, "l1/linf": 1.0},
            code=(
                "import numpy as np\n\n"
                'data = ss.datasets.load("wine", seed=lesson.student % 10)\n'
                'problem = ss.Problem(data, loss="multiclass-squared-hinge", penalty="l1/l2")\n'
                "G = problem.gradient(np.zeros((problem.d, problem.m)))\n"
                'lesson.check("a", {"l1": np.linalg.norm(G, axis=1).max(), "l1/linf": 0.0})  # this is that of ℓ1/ℓ2'
            ),
        ),
        "b": Exercise(
            lambda student: (
                f"wine (seed {student % 10}): the smallest model within one point of the best test accuracy of the "
                "path. Give its λ/λ_max."
            ),
            _small_check, lambda student: _small_par(student)[2], lambda student: 1.0, (Input("ratio", "λ/λ_max"),),
            code='lesson.check("b", 0.1)',
        ),
    },
    sources=(
        Source("Blondel, Seki, Uehara (2013)", "Prop. 1, Sec. 5.3, Fig. 5", ("problems/null_fits.py",)),
        Source("docs/path.md", "the path in Python and on its page", ("runs/paths.py",)),
    ),
    afterwards=(
        "Above λ_max everything is zero, and one gradient tells λ_max.",
        "Features compete: the path is no ranking.",
        "A path is a chain of certificates: each λ is left at a proved gap.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
