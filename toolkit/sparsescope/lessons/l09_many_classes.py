"""Lesson 9: thousands of classes, and the two sparsities that make them affordable."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import registry
from ..runs.run import Run
from ..runs.stopping import Gap, Iterations
from ._many_classes import (
    ASKED_FOR,
    FEW,
    LAM4,
    MEASURED_AT,
    PASSES,
    TIMES,
    WORK,
    active_with,
    entries_read,
    extrapolated,
    fitted,
    growing,
    growth_check,
    hits_of,
    percent,
    scaled,
    seeds_of,
    solved,
    text_of_classes,
)
from ._runs import load
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .growing import Bars, Lines, Table
from .kinds import Choice, Order, Slider
from .pictures import counted

STRENGTHS = {"0": 0.0, "0.01": 0.01, "0.1": 0.1, "1": 1.0}  # λ₄
RARE = 3  # training documents of a class, at most
GRID = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
MEGABYTE = 1e6


# ----------------------------------------------------------------------------------------------------------- the runs
def _active_labels(case: Case, show: Show) -> Finding:
    """Count the classes with a force on a document."""
    problem = scaled(text_of_classes(case.data, case.seed), LAM4)
    active: list[Message] = []

    def shown(picture: Message) -> None:
        active.append(picture)
        show(picture)

    found = solved(problem, case.seed, PASSES, shown)
    said = (
        f"On {case.data} {found.active:.2f} of {problem.m} classes are active in a document, on average: "
        f"{counted(round(found.active * problem.n))} of {counted(problem.n * problem.m)} margins. The gap is "
        f"{100 * found.gap:.2g} %."
    )
    return Finding(found.active, found.active < 8.0, said, active[-1])


def _strengths(case: Case, show: Show) -> Finding:
    """Compare the accuracy for four strengths of ℓ1."""
    data = text_of_classes(case.data, case.seed)
    seen = np.bincount(data.y, minlength=len(data.class_names))[data.y_test]
    head = ["λ₄", "weights a word", "weights", "test accuracy", f"classes seen at most {RARE} times", "other classes"]
    table = Table(show, *head)
    accuracy: dict[str, float] = {}
    for name, lam4 in STRENGTHS.items():
        found = fitted(case.data, case.seed, lam4)
        hits = hits_of(scaled(data, lam4), found.W, data)
        accuracy[name] = percent(hits)
        parts = [f"{percent(hits[part]):.1f} %" if part.any() else "–" for part in (seen <= RARE, seen > RARE)]
        table.add(name, f"{found.word:.3g}", counted(found.W.nnz), f"{accuracy[name]:.1f} %", *parts)
    lost = accuracy["0"] - accuracy["1"]
    said = (
        f"On {case.data} λ₄ = 1 leaves {table.rows[-1][2]} weights of {table.rows[0][2]}, and the accuracy goes from "
        f"{accuracy['0']:.1f} to {accuracy['1']:.1f} %. A class has {data.X.shape[0] / len(data.class_names):.1f} "
        "documents on average."
    )
    return Finding(dict(accuracy), lost > 3.0, said, table.picture)


def _without_l1(case: Case, show: Show) -> Finding:
    """Count active classes and weights without ℓ1."""
    m = fitted(case.data, case.seed, 0.0).W.shape[1]
    values = Bars(show, "share of the classes, %")
    for lam4 in (0.0, LAM4):
        found = fitted(case.data, case.seed, lam4)
        values.values[f"of a document, λ₄ = {lam4:g}"] = 100.0 * found.active / m
        values.add(f"of a word, λ₄ = {lam4:g}", 100.0 * found.word / m)
    document, word = (value / 100.0 for value in list(values.values.values())[:2])
    answer = "few" if document < 0.2 else "half" if document < 0.8 else "all"
    said = (
        f"On {case.data}, without ℓ1, {document * m:.2f} of {m} classes are active in a document, and a word has "
        f"weights for {word * m:.1f} of them."
    )
    return Finding(answer, document < 0.2 and document < word / 4.0, said, values.picture)


def _against_dense(case: Case, show: Show) -> Finding:
    """Let PD-Sparse and a method with all margins do three iterations."""
    data = text_of_classes(case.data, case.seed)
    problem = scaled(data, LAM4)
    lines = Lines(show, "iterations", "gap, relative to F", log=True)
    read: dict[str, float] = {}  # entries, in the last iteration
    for name, label in (("pd-sparse", "PD-Sparse"), ("fbpd", "FBPD")):
        gaps: list[float] = []
        for event in Run(problem, registry.solvers.create(name), stop=Iterations(FEW), certify_every=1):
            gaps.append(event.relative_gap)
            read[label] = entries_read(event) or event.passes * problem.design.nnz * problem.m / max(event.iteration, 1)
            lines.add(label, gaps)
    sparse, dense = (values[-1] for _, values in lines.curves.values())
    answer = "sparse" if sparse < dense / 10.0 else "dense" if sparse > dense else "near"
    said = (
        f"On {case.data} the gaps after {FEW} iterations are {100 * sparse:.1f} % (PD-Sparse) and {100 * dense:.0f} % "
        f"(FBPD). An iteration reads {read['PD-Sparse'] / 1e6:.3g} and {read['FBPD'] / 1e6:.3g} million entries."
    )
    return Finding(answer, answer == "sparse", said, lines.picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _ten_million(show: Show) -> tuple[Message, str]:
    data = load("planted-extreme")
    (n, d), m = data.X.shape, len(data.class_names)
    table = Table(show, "what", "numbers", "memory for the numbers")
    sizes = (("words in documents", data.X.nnz), ("margins", n * m), ("weights, if all are kept", d * m))
    for name, count in sizes:
        table.add(name, counted(count), f"{8 * count / MEGABYTE:.1f} MB")
    said = (
        f"{counted(n)} documents and {counted(m)} classes have {n * m / 1e6:.1f} million margins; the text itself has "
        f"{counted(data.X.nnz)} words."
    )
    return table.picture, said


def _full_of_weights(show: Show) -> tuple[Message, str]:
    table = Table(show, "λ₄", "W is a", "weights", "its memory", "as a full array")
    for lam4 in (LAM4, 0.0):
        W = fitted("600 classes", 0, lam4).W
        kept = (W.data.nbytes + W.indices.nbytes + W.indptr.nbytes) / MEGABYTE
        full = 8 * W.shape[0] * W.shape[1] / MEGABYTE
        table.add(f"{lam4:g}", type(W).__name__, counted(W.nnz), f"{kept:.1f} MB", f"{full:.1f} MB")
    rows = table.rows
    said = f"Without ℓ1 the sparse W holds {rows[1][2]} weights in place of {rows[0][2]}, in {rows[1][3]}."
    return table.picture, said


def _searching_less(show: Show) -> tuple[Message, str]:
    problem = scaled(text_of_classes("600 classes", 0), LAM4)
    table = Table(show, "a search looks at", "iterations", "entries read", "gap")
    for name, options in (("all labels", {"opening": False}), ("a third, some words", {"nu": 3, "sampling": True})):
        solver = registry.solvers.create("pd-sparse", **options)
        total = 0.0
        for event in Run(problem, solver, stop=Gap(0.03) | Iterations(100), certify_every=1):
            total += entries_read(event)
        table.add(name, f"{event.iteration:g}", f"{total / 1e6:.0f} million", f"{100 * event.relative_gap:.1f} %")
    rows = table.rows
    said = f"Entries read until the gap is 3 %: {rows[0][2]} with full searches, {rows[1][2]} with cheap ones."
    return table.picture, said


# ------------------------------------------------------------------------------------------------------- the exercises
@lru_cache(maxsize=48)
def _model(lam4: float, seed: int) -> tuple[float, int]:
    """Return accuracy and weights of a model of 300 classes."""
    data = text_of_classes("300 classes", seed)
    problem = scaled(data, lam4)
    W = solved(problem, seed, PASSES).W
    return percent(hits_of(problem, W, data)), int(W.nnz)


def _smallest(seed: int) -> float:
    """Return the largest λ₄ of the grid whose accuracy is within a point of the best one."""
    best = max(_model(lam4, seed)[0] for lam4 in GRID)
    return max(lam4 for lam4 in GRID if _model(lam4, seed)[0] >= best - 1.0)


def _small_check(value: Any, student: int) -> Mark:
    if not is_number(value, 0, 100):
        return Mark(False, "Give λ₄ as a number from 0 to 100.")
    seed = student % 3
    best = max(_model(lam4, seed)[0] for lam4 in GRID)
    _, par = _model(_smallest(seed), seed)
    accuracy, weights = _model(float(value), seed)
    model = f"Weights: {counted(weights)} ({counted(par)} are par)"
    said = f"{model}, accuracy {accuracy:.1f} %; the best accuracy is {best:.1f} %."
    return Mark(accuracy >= best - 1.0 and weights <= 1.5 * par, said)


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=9,
    slug="thousands-of-classes",
    title="Thousands of classes",
    minutes=25,
    asks="Thousands of classes: of how many margins and weights does a method have to know?",
    idea=(
        "With 2000 classes a document argues with a handful of them and a word votes for some twenty; a method that "
        "touches only these hardly feels the rest."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "penalty", "l1", "ridge", "hinge", "dual point"),
    introduces=("pd-sparse",),
    opening=Scene(
        title="Ten million margins",
        text=(
            "Generated text with 2000 classes. PD-Sparse (Yen and others, 2016) minimises ½‖W‖² + λ₄‖W‖₁ + C × the sum "
            "of the hinges, with C = 1 here: ridge and ℓ1 together, and the hinge of the rival with the largest score. "
            "The dual row of a document holds a force for each class; a class is active in a document where its force "
            "is not zero. k_A is the mean number of active classes a document, k_W the mean number of weights a word."
        ),
        run=_ten_million,
        question="How many of these margins will ever matter?",
    ),
    predictions=(
        Prediction(
            question=(
                "Generated text with 2000 classes, λ₄ = 0.1, five iterations of PD-Sparse: how many classes are active "
                "in a document, on average (k_A)?"
            ),
            kind=Slider(0.1, 2000, "classes", one="class", near=2.0, log=True),
            run=_active_labels,
            claim="On average fewer than 8 classes are active in a document.",
            condition="with 2000 classes as with 12, on all text here.",
            explained="Only classes that come within the margin have a force, and few rivals come that close.",
            wrong={
                "low": "A document that is not clear of its rivals has an active class, and rivals share its force.",
                "high": "Most classes score far below the right one of a document; they have no influence on W.",
            },
            holds=(*cases("planted-extreme"), *seeds_of("600 classes"), *seeds_of("20 classes"), Case("pydocs"),
                   *cases("planted-text")),
        ),
        Prediction(
            question=(
                "600 classes, 2000 documents: order λ₄ = 0, 0.01, 0.1 and 1 by the accuracy on test documents."
            ),
            kind=Order({name: f"λ₄ = {name}" for name in STRENGTHS}, "most accurate", "least accurate",
                       falling=True),
            run=_strengths,
            claim="λ₄ = 1 costs more than 3 points of accuracy against λ₄ = 0.",
            condition=(
                "where few words cannot tell the classes apart: with many rare classes, and on real text (pydocs). It "
                "costs next to nothing where a hundred documents and more show the few planted words of a class."
            ),
            explained=(
                "It depends on how many documents a class has: one word cannot carry a class that was seen twice."
            ),
            wrong={
                "0": "Without ℓ1 the many small weights stay: rare classes need them, frequent ones do not.",
                "0.01": "A little ℓ1 removes weights that hardly matter, except for rare classes.",
                "0.1": "This keeps a small part of the weights; rare classes pay for it before frequent ones do.",
                "1": "Sparser is neither better nor worse by itself: ask how many documents a class has.",
            },
            holds=(*seeds_of("600 classes"), Case("planted-extreme"), Case("pydocs")),
            fails=(*seeds_of("20 classes"), *cases("planted-text")),
        ),
        Prediction(
            question="600 classes, now without any ℓ1 (λ₄ = 0): how many classes are active in a document?",
            kind=Choice({"few": "fewer than a fifth", "half": "a fifth to four fifths", "all": "nearly all"}),
            run=_without_l1,
            claim=(
                "Without ℓ1 fewer than a fifth of the classes are active in a document, and a word has weights for "
                "more than four times that share."
            ),
            condition=(
                "on all text here; not on iris with C = 0.001, where each flower has a force and there are 3 classes."
            ),
            explained=(
                "Dual sparsity comes from the hinge, primal sparsity from the penalty: two different kinks."
            ),
            wrong={
                "few": "With so few classes every rival is near.",
                "half": "A rival needs a score within the margin to be active, and few have one.",
                "all": "The zeros of the forces come from the hinge, which does not ask for ℓ1.",
            },
            holds=(*seeds_of("600 classes"), Case("planted-extreme"), *seeds_of("20 classes"), Case("pydocs"),
                   *cases("planted-text")),
            fails=seeds_of("iris, C = 0.001"),
        ),
        Prediction(
            question=(
                "The same 6000 documents, 125 classes and then 2000: by what factor does the work of three iterations "
                "grow, counted in entries read (λ₄ = 0.1)?"
            ),
            kind=Slider(1, 64, "times", near=1.5, log=True),
            run=growing,
            claim=f"{TIMES} times as many classes cost less than {WORK} times the work.",
            condition=(
                "on all text here; without ℓ1, too, where a word has weights for more classes: each iteration then "
                "costs more, and it grows a little faster."
            ),
            explained="The cost follows the active classes and the weights that are not zero, and not their room.",
            wrong={
                "low": "More classes bring more rivals: k_A and k_W grow too, if slowly.",
                "high": "A class that is never near costs nothing: neither its margins nor its weights are computed.",
            },
            holds=(*seeds_of("6000 documents"), *seeds_of("2400 documents"), *seeds_of("2400 documents, λ₄ = 0"),
                   Case("6000 documents, λ₄ = 0")), takes_data=False,
        ),
        Prediction(
            question=(
                "1000 classes, three iterations each: PD-Sparse, and FBPD, which computes every margin at every "
                "iteration. Whose gap is smaller?"
            ),
            kind=Choice({
                "sparse": "that of PD-Sparse, more than ten times smaller",
                "near": "they differ by less than a factor of ten",
                "dense": "that of FBPD, which computes everything",
            }),
            run=_against_dense,
            claim="After three iterations the gap of PD-Sparse is more than ten times smaller.",
            condition="on all text here.",
            explained=(
                "It gains more, as it solves each document's own small problem, and it reads few entries for that. "
                "What an entry costs is another matter: an iteration that reads little need not be a quick one."
            ),
            wrong={
                "sparse": "Here the steps of both are about as good.",
                "near": "PD-Sparse solves for all forces of a document at once; FBPD takes one small step for all.",
                "dense": "Computing every margin does not help: nearly all are far from the corner of the hinge.",
            },
            holds=(*seeds_of("1000 classes"), *seeds_of("20 classes"), Case("pydocs"), *cases("planted-text")),
        ),
    ),
    breaks=(
        Scene(
            title="No ℓ1, and a sparse matrix full of weights",
            text="600 classes, λ₄ = 0.1 and λ₄ = 0. A sparse matrix also stores where each weight stands.",
            run=_full_of_weights,
            question="From which share of non-zeros on does a full array need less memory?",
        ),
        Scene(
            title="Searches that look at less",
            text=(
                "The paper lets a search look at a third of the classes, and at some words of a document only "
                "(nu=3, sampling=True). 600 classes, until the gap is 3 %."
            ),
            run=_searching_less,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"300 classes, 2000 documents (seed {student % 3}): the λ₄ with the smallest model that is at most one "
                "point less accurate than the best (up to 1.5 times the weights of par)."
            ),
            _small_check, lambda student: _smallest(student % 3), lambda student: 0.0, (Input("value", "λ₄"),),
            code='lesson.check("a", 0.01)',
        ),
        "b": Exercise(
            lambda student: (
                f"3000 documents (seed {student % 3}), λ₄ = 0.1, three iterations: measure k_A for three numbers of "
                f"classes up to {MEASURED_AT[-1]}, and predict it for {ASKED_FOR} (within 25 %)."
            ),
            growth_check, lambda student: extrapolated(student % 3),
            lambda student: active_with(MEASURED_AT[0], student % 3) * ASKED_FOR / MEASURED_AT[0],
            (Input("value", "k_A"),),
            code=(
                "from sparsescope.datasets.extreme import make_extreme\n\n"
                "for m in (500, 1000, 2000):\n"
                "    data = make_extreme(n=3000, d=3000, m=m, seed=lesson.student % 3)\n"
                '    problem = ss.Problem(data, loss="crammer-singer", penalty="elastic-net")\n'
                '    problem = problem.with_scaling("paper-4", C=1.0, lam4=0.1)\n'
                '    run = ss.Run(problem, "pd-sparse", stop=ss.stopping.Iterations(3), certify_every=1)\n'
                "    *_, last = run\n"
                "    print(m, last.dual_entries)\n"
                'lesson.check("b", 10.0)'
            ),
        ),
    },
    sources=(
        Source("Yen, Huang, Zhong, Ravikumar, Dhillon (2016)", "Eq. 2, 14–22, Alg. 1 and 2, Table 3",
               ("solvers/pd_sparse.py", "kernels/sparse_duals.py", "kernels/frank_wolfe.py",
                "kernels/label_search.py")),
        Source("docs/benchmarks.md", "Growth to 100 000 classes"),
    ),
    afterwards=(
        "The hinge makes the dual sparse, ℓ1 the primal.",
        "Cost follows what is active, not the number of classes.",
        "Rare classes cannot be sparse.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
