"""Lesson 7: smooth losses and the exact hinge, and the forces behind the samples.

Shares are of λ_max itself, the smallest λ at which W = 0 is optimal. The bound that the gradient at W = 0 gives is
larger for the hinge (prediction 3): by a quarter on wine, so 0.1 λ_max is a smaller λ there than a tenth of the bound,
and fewer samples have a loss. Measured on wine, seeds 0, 1 and 2: F rises by 327, 332 and 322 % in prediction 1 (270,
266 and 258 % at a tenth of the bound), and the gap of prediction 2 is 29, 22 and 19 % (17, 19 and 14 %).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..runs.solving import solve
from ..runs.stopping import Iterations
from ..solvers import smallest_hinge
from ..wording import plural
from . import pictures
from ._hinge import (
    CORNER,
    FORCE,
    HINGE,
    MOST,
    delete_check,
    forces_check,
    forces_task,
    minimise,
    no_forces,
    no_losses,
    rise,
    shortfall,
    smooth_forces,
    solved,
    solver_s_forces,
    split,
    weights_of,
)
from ._runs import LOSS, accuracy_on_test, at, change_text, code_of, fit, load, rows_used
from .base import Case, Exercise, Finding, Input, Lesson, Message, Prediction, Scene, Show, Source, cases
from .growing import Bars, Table
from .kinds import Choice, Order, Slider

ALL = "wine iris breast_cancer digits"
RIVALS = {"hinge": HINGE, "squared": LOSS, "logistic": "logistic", "rest": "multitask-squared-hinge"}
NAMES = {"hinge": "hinge", "squared": "squared hinge", "logistic": "logistic", "rest": "one-versus-rest"}


# ----------------------------------------------------------------------------------------------------------- the runs
def _delete(case: Case, show: Show) -> Finding:
    """Leave out the samples without loss, and fit again."""
    table = Table(show, "left out", "of", "F on all data")
    rises: list[float] = []
    on, ratio = split(case)

    def leave_out(name: str, problem: Problem, keep: np.ndarray, best: float) -> None:
        rises.append(rise(problem, on, keep, best))
        table.add(name, f"{int((~keep).sum())} of {problem.n}", change_text(rises[-1]))

    smooth = at(on.data, ratio, on.seed)
    found = fit(smooth, 1e-10)
    leave_out("squared hinge, no loss", smooth, shortfall(smooth, found.W) > 0.0, found.objective)
    hinge, best = at(on.data, ratio, on.seed, HINGE), solved(on.data, on.seed, ratio)
    lacking = shortfall(hinge, best.W)
    leave_out("hinge, no loss", hinge, lacking > CORNER, best.objective)
    leave_out("hinge, no loss and not in the corner", hinge, lacking > -CORNER, best.objective)
    logistic = at(on.data, ratio, on.seed, "logistic")
    found = fit(logistic, 1e-10)
    lead = shortfall(logistic, found.W)
    leave_out("logistic, the best quarter", logistic, lead > np.quantile(lead, 0.25), found.objective)
    same, grown = rises[0] < 1e-4, rises[1] > 0.1
    answer = {(True, True): "hinge", (True, False): "none", (False, True): "both", (False, False): "squared"}
    said = (
        f"On {case.data}, F on all data changes by {change_text(rises[0])} for the squared hinge and by "
        f"{change_text(rises[1])} for the hinge; by {change_text(rises[2])} if those in the corner "
        f"({int((abs(lacking) <= CORNER).sum())}) are kept."
    )
    return Finding(answer[same, grown], same and grown, said, table.picture)


def _only_w(case: Case, show: Show) -> Finding:
    """Judge the optimal W of the hinge by its own gradient, and by the solver's dual point."""
    problem, best = at(case.data, 0.1, case.seed, HINGE), solved(case.data, case.seed)
    alone = float(problem.certificate(best.W).relative_gap)
    table = Table(show, "W", "the gap is made of", "gap, relative to F")
    table.rows.append(["the optimum", "its dual rows", f"{best.gap:.1e}"])
    table.add("the optimum", "the gradient of W", f"{alone:.2g}")
    noisy = solve(problem, registry.solvers.create("fobos", seed=case.seed), stop=Iterations(200), tol=0.0,
                  certify_every=None)  # fmt: skip
    above, theirs = noisy.objective / best.objective - 1.0, float(problem.certificate(noisy.W).relative_gap)
    table.rows.append([f"FOBOS, {100 * above:.2g} % above F*", "the gradient of W", f"{theirs:.2g}"])
    answer = "zero" if alone <= 10 * best.gap else "some" if alone <= 0.01 else "large"
    said = (
        f"On {case.data} the gap that the gradient of W gives is {100 * alone:.2g} % of F; with the dual rows of the "
        f"solver it is {best.gap:.1e} of F."
    )
    return Finding(answer, alone > 1000 * best.gap, said, table.picture)


def _first_row(case: Case, show: Show) -> Finding:
    """Count rows a little below the λ at which the gradient at W = 0 lets the first one in."""
    used = Bars(show, "rows in use at 0.9 of the λ that the gradient gives")
    share = ""
    for name, loss in (("hinge", HINGE), ("squared hinge", LOSS)):
        problem = at(case.data, 0.1, case.seed, loss)
        level = problem.regulariser.zero_threshold(problem.gradient(np.zeros((problem.d, problem.m))))
        lower = problem.with_(lam=0.9 * level)
        W = fit(lower, 1e-8).W if lower.loss.smooth else minimise(lower).W
        used.add(name, rows_used(W).sum())
        if not lower.loss.smooth:
            most = "" if problem.lam_max_slack < 1e-3 else "at most "
            share = f"{most}{problem.lam_max / level:.2f} of that λ"
    hinge, squared = used.values.values()
    said = (
        f"On {case.data}, at 0.9 of the λ of the gradient, rows in use: {hinge:.0f} with the hinge, "
        f"{squared:.0f} with the squared hinge. λ_max of the hinge is {share}."
    )
    return Finding(hinge, hinge == 0 and squared > 0, said, used.picture)


def _four_losses(case: Case, show: Show) -> Finding:
    """Compare losses at the same share of their λ_max."""
    right: dict[str, float] = {}
    table = Table(show, "loss", "test accuracy, %", "rows in use")
    for key, loss in RIVALS.items():
        W = weights_of(case.data, case.seed, loss)
        right[key] = accuracy_on_test(at(case.data, 0.1, case.seed, loss), W, load(case.data, case.seed))
        table.add(NAMES[key], f"{right[key]:.1f}", int(rows_used(W).sum()))
    middle = right["squared"], right["logistic"]
    holds = right["hinge"] > max(middle) and right["rest"] < min(middle)
    shown = ", ".join(f"{name} {value} % ({plural(used, 'row')})" for name, value, used in table.rows)
    said = f"On {case.data}, 0.1 λ_max each: {shown}."
    return Finding(right, holds, said, table.picture)


def _forces(case: Case, show: Show) -> Finding:
    """Count the forces of a sample."""
    problem = at(case.data, 0.1, case.seed, HINGE)
    hinge = float((minimise(problem, show=show).U > FORCE).sum()) / problem.n
    squared = smooth_forces(at(case.data, 0.1, case.seed))
    picture = pictures.bars({"hinge": hinge, "squared hinge": squared}, f"forces a sample, of {problem.m - 1}")
    said = (
        f"On {case.data} a sample has {hinge:.2f} of {problem.m - 1} possible forces with the hinge, and {squared:.2f} "
        "with the squared hinge."
    )
    return Finding(hinge, hinge < 1.0 and squared > 1.5 * hinge, said, picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _few_with_loss(show: Show) -> tuple[Message, str]:
    problem = at("wine", 0.02, 0, HINGE)
    lacking = shortfall(problem, minimise(problem, show=show).W)
    some = int((lacking > CORNER).sum())
    edges = np.linspace(min(lacking.min(), -1.0), max(lacking.max(), 0.5), 13)
    counts, _ = np.histogram(lacking, edges)
    names = [f"{1 - high:.2f} to {1 - low:.2f}".replace("-", "−") for low, high in pairwise(edges)]
    picture = pictures.bars(dict(zip(names[::-1], map(float, counts[::-1]), strict=True)), "samples by their margin")
    show(picture)
    return picture, f"{some} of {problem.n} samples have a loss; the other {problem.n - some} have none."


def _ask_for_gradients(show: Show) -> tuple[Message, str]:
    problem = at("wine", 0.1, 0, HINGE)
    table = Table(show, "method", "with the hinge")
    reasons: list[str] = []
    for name in ("fista-ls", "bcd-ls", "newglmnet", "fobos", "fbpd"):
        reason = registry.solvers.create(name).refuses(problem)
        reasons += [reason] if reason else []
        table.add(name, "refuses" if reason else "goes ahead")
    return table.picture, f"{len(reasons)} of {len(table.rows)} refuse. The first says: {reasons[0]}."


def _no_such_budget(show: Show) -> tuple[Message, str]:
    problem = at("iris", 0.1, 0, HINGE)
    least = smallest_hinge(problem, tol=1e-3).reached
    table = Table(show, "budget η", "answer")
    refusal = ""
    for budget in (2.0 * least, 1.2 * least, 0.5 * least):
        try:
            found = solve(problem, registry.solvers.create("fbpd-constrained", eta=budget), tol=1e-4, max_iter=MOST)
            answer = f"kept, {plural(rows_used(found.W).sum(), 'row')}"
        except ValueError as error:
            answer, refusal = "out of reach", str(error)
        table.add(f"{budget:.3f}", answer)
    return table.picture, f"It says: {refusal}."


def _equal_rows(show: Show) -> tuple[Message, str]:
    wanted = int(rows_used(solved("digits", 0).W).sum())
    table = Table(show, "loss", "λ / λ_max", "rows in use", "test accuracy, %")
    for key, loss in RIVALS.items():
        ratio, W = 0.1, weights_of("digits", 0, loss)
        while rows_used(W).sum() < wanted:
            ratio *= 0.75
            W = weights_of("digits", 0, loss, ratio)
        right = accuracy_on_test(at("digits", ratio, 0, loss), W, load("digits"))
        table.add(NAMES[key], f"{ratio:.3f}", int(rows_used(W).sum()), f"{right:.1f}")
    said = f"With {wanted} rows and a few more: " + ", ".join(f"{row[0]} {row[3]} %" for row in table.rows) + "."
    return table.picture, said


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=7,
    slug="hinge-and-duals",
    title="Smooth or exact hinge",
    minutes=25,
    asks="Behind each sample stands a force, its dual row. Which samples have one, and who can prove it?",
    idea=(
        "Behind each sample stands a force, its dual row; smooth losses push in proportion to the error, the exact "
        "hinge also holds samples that have no error at all."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "certificate", "penalty", "dual norm", "l1/l2",
           "rows in use", "lambda max", "fobos"),
    introduces=("hinge", "dual point"),
    opening=Scene(
        title="Samples without a loss",
        text=(
            "wine, hinge, 0.02 λ_max. The margin of a sample is the lead of its own class over the best other one. The "
            "hinge pays 1 − margin where that is positive and nothing above: it is the largest of linear functions, "
            "with a corner at margin 1. The squared hinge pays the squares, summed over the other classes, and is "
            "smooth. The slope of the loss of a sample is the force with which it pulls W."
        ),
        run=_few_with_loss,
        question="Throw away all samples that have no loss and fit again. What happens?",
    ),
    predictions=(
        Prediction(
            question=(
                "wine, 0.1 λ_max: leave out all samples with zero loss, with λ·n/n′ for the n′ others, and fit again. "
                "For which loss is F on all data larger than before?"
            ),
            kind=Choice({
                "none": "for neither: zero loss, zero influence",
                "hinge": "for the hinge, not for the squared hinge",
                "squared": "for the squared hinge, not for the hinge",
                "both": "for both",
            }),
            run=_delete,
            claim="F grows by more than a tenth for the hinge, and by less than 1e-4 of itself for the squared hinge.",
            condition=(
                "on all data here, and at 0.02 λ_max, the opening, where F on wine becomes several times as large; on "
                "digits every sample has a loss with the squared hinge, and none is left out."
            ),
            explained=(
                "Zero loss is zero slope only for smooth losses. The hinge has a corner at zero loss, and samples "
                "that stand in the corner carry force. With the logistic loss nobody is ever without influence."
            ),
            wrong={
                "none": "True for smooth losses: zero loss, zero slope. The hinge is not smooth.",
                "hinge": "Here no sample stands in the corner.",
                "squared": "The squared hinge is smooth: where its loss is zero its slope is zero too, so these "
                "samples never pulled.",
                "both": "The squared hinge is smooth: where its loss is zero its slope is zero too.",
            },
            holds=(*cases(ALL), *(Case("wine, 0.02 λ_max", seed) for seed in (0, 1, 2))),
        ),
        Prediction(
            question=(
                "wine, 0.1 λ_max: W is optimal for the hinge. You are given W only, and make a dual point of the "
                "gradient of the loss there. How large is its gap?"
            ),
            kind=Choice({
                "zero": "zero, up to the accuracy of the solver",
                "some": "a little: up to 1 % of F",
                "large": "more than 1 % of F",
            }),
            run=_only_w,
            claim="The gap made of the gradient is more than 1000 times the gap that the solver's dual point proves.",
            condition="on all data here; how large it is depends on the slopes that the samples in the corner happen "
            "to get.",
            explained=(
                "A corner has many slopes, and only one choice of them proves anything: that of the dual point."
            ),
            wrong={
                "zero": "So it is for smooth losses. A corner has many slopes, and W does not determine which of them "
                "to take: the dual point does.",
                "some": "Each sample in the corner gets all of a slope or nothing, and there are many of them.",
                "large": "Here only few samples stand in the corner, and their slopes hardly matter.",
            },
            holds=cases(ALL),
        ),
        Prediction(
            question=(
                "As in lesson 2: the gradient at W = 0, of which the hinge takes the average of the slopes there, "
                "gives the λ at which the first row should enter. wine, hinge, 0.9 of that λ: how many of the 13 rows "
                "are in use?"
            ),
            kind=Slider(0, 13, "rows", one="row", near=0.5, whole=True),
            run=_first_row,
            claim="No row is in use with the hinge; with the squared hinge there is at least one.",
            condition=(
                "with three classes and more: wine, iris and digits. With two classes (breast_cancer) no two wrong "
                "classes are equal at W = 0, so there is no corner, and rows enter as for smooth losses."
            ),
            explained=(
                "At W = 0 all wrong classes are equally near, which is a corner. One slope of many gives an upper "
                "bound of λ_max only; λ_max is the smallest over all of them."
            ),
            wrong={
                "low": "Here there is no corner at W = 0, so the gradient is the only slope.",
                "high": "W = 0 is a corner of the hinge: other slopes there have a smaller dual norm than the average.",
            },
            holds=cases("wine iris digits"),
            fails=cases("breast_cancer"),
        ),
        Prediction(
            question="digits, four losses, each at 0.1 of its own λ_max. Order them by test accuracy.",
            kind=Order(NAMES, "most accurate", "least accurate", falling=True),
            run=_four_losses,
            claim="The hinge is the most accurate, and one-versus-rest the least.",
            condition="on digits; on wine, iris and breast_cancer no such order holds.",
            explained=(
                "An equal λ / λ_max is not an equal strength: the more accurate ones use more rows here. Compare at "
                "equal rows."
            ),
            wrong={
                "hinge": "The same share of λ_max leaves the hinge more rows than the others.",
                "squared": "It uses fewer rows than the hinge and the logistic loss at this share of λ_max.",
                "logistic": "Its rows in use lie between those of the hinge and of the squared hinge.",
                "rest": "Its λ_max is of another size: the same share leaves it few rows.",
            },
            holds=cases("digits"),
            fails=cases("wine iris breast_cancer"),
        ),
        Prediction(
            question=(
                "digits, hinge, 0.1 λ_max: the dual row of a sample has an entry for each of the 9 other classes. How "
                "many of them are not zero, on average?"
            ),
            kind=Slider(0.05, 9.0, "forces a sample", one="force a sample", near=1.6, log=True),
            run=_forces,
            claim="Less than one, and the squared hinge has at least 1.5 times as many.",
            condition="on all data here.",
            explained=(
                "Most samples lead by more than the margin and are silent; the others argue with the nearest class or "
                "two. The squared hinge pushes against each class that comes within the margin."
            ),
            wrong={
                "low": "Samples with a loss or in the corner each have at least one force.",
                "high": "Only the class that comes closest counts, and most samples are further from it than 1.",
            },
            holds=(*cases("digits"), *cases("wine iris breast_cancer")),
        ),
    ),
    breaks=(
        Scene(
            title="Ask for gradients",
            text="Solvers that need a smooth loss are given the hinge. What do they say?",
            run=_ask_for_gradients,
        ),
        Scene(
            title="A budget that cannot be kept",
            text="In place of λ: the smallest penalty among all W whose mean hinge is at most η (iris). Make η smaller "
            "than what any W reaches.",
            run=_no_such_budget,
        ),
        Scene(
            title="Equal rows",
            text="The four losses of prediction 4 on digits, with λ lowered until each uses as many rows as the hinge.",
            run=_equal_rows,
            question="Is the order the same?",
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"wine (seed {student % 3}), hinge, ℓ1/ℓ2, 0.1 λ_max: list the numbers of samples that may be deleted, "
                "at least half of them. The others are fitted with λ·n/n′; F on all data may grow by 1e-5 of itself."
            ),
            delete_check, no_forces, no_losses, (Input("samples", "samples to delete", "numbers"),),
            code=(
                code_of("wine", HINGE)
                + 'W = ss.solve(problem, "fbpd", tol=1e-7).W\n'
                "Z = problem.scores(W)  # a row for each sample; its own class is problem.y\n"
                'lesson.check("a", [])'
            ),
        ),
        "b": Exercise(
            forces_task, forces_check, solver_s_forces, lambda student: [0.0] * 6,
            (Input("forces", "six forces", "numbers"),),
            code='lesson.check("b", [0.1, 0.1, 0.1, 0.1, 0.1, 0.1])',
        ),
    },
    sources=(
        Source("Chierchia, Pustelnik, Pesquet and Pesquet-Popescu (2015)", "Eq. 5–8, Alg. 1–2, Sec. 4.1",
               ("solvers/fbpd.py", "solvers/shared/splitting.py", "losses/crammer_singer.py")),
        Source("Yen, Huang, Zhong, Ravikumar and Dhillon (2016)", "Sec. 2"),
        Source("docs/mathematics.md", "Sections 3 and 4"),
    ),
    afterwards=(
        "Samples that hold up the hinge include those exactly on the margin.",
        "A certificate needs a dual point, not a gradient.",
        "Compare losses at equal sparsity.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
