"""Predictions of classes or label sets on the explorer's page: data, loss and penalty, and weights W (d, m)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...problems.prediction import Problem
from ...registry import field, losses, pages, solvers
from ...views.style import SET_MEASURES
from .. import knobs, thresholds
from .. import picture as pictures
from .. import settings as st
from ..crossing import sequence_of, weights_of
from ..kind import Kind, Settings
from ..setting import LOOK, NO_CONTROL, Setting

# No view of a trace: what the data alone decide, and what they mean for a run of gls. Computed when somebody looks.
SPECTRUM = {
    "id": "spectrum",
    "title": "Spectrum of the data",
    "kind": "spectrum",
    "empty": "The singular values of X show how ill-conditioned the data are for first-order methods.",
}
ONE_SCORE = (
    "two classes have one score here: every row of W is a single weight, so the row penalties ℓ1/ℓ2 and ℓ1/ℓ∞ "
    "and the sparse group lasso are all the lasso"
)
# No views of a trace either: the gradient of the newest weights, and the rows that weigh most.
THRESHOLD = {
    "id": "threshold",
    "title": "Threshold strip",
    "kind": "threshold",
    "empty": "The gradient at the first weights is being computed.",
}
WORDS = {
    "id": "words",
    "title": "Features that count",
    "kind": "words",
    "start": "The run starts at W = 0. Run it, and the features that enter appear here.",
    "empty": "All rows of W are zero: pull λ down until the first feature reaches the bar.",
}
CONFUSION = {
    "id": "confusion",
    "title": "Confusion",
    "kind": "confusion",
    "empty": "Confusion matrix with the misclassified samples, computed from the newest weights.",
}
# Columns of problems with label sets, instead of accuracies.
OF_SETS = tuple(f"{part}_{measure}" for part in ("train", "test") for measure in SET_MEASURES)

INTERCEPT = Setting(
    "intercept",
    field(False, doc="An offset for each class that is not penalised. Switching it makes a new problem."),
    formula="Z = XW + 1bᵀ",
    argument="intercept",
    tag="intercept-checkbox",
)
BALANCED = Setting(
    "balanced",
    field(
        False,
        doc="Every class counts the same, however few samples it has: a sample weighs the more, the rarer its class "
        "is. What is measured on held-out samples counts each once. Switching it makes a new problem.",
    ),
    label="balanced classes",
    formula="(1/Σw) Σ_i w_i ℓ_i, w_i = 1/(samples of the class y_i)",
    argument="class_weight",
    passed={True: "balanced", False: None},
)
SORT = Setting(
    "sort",
    field("norm", choices=("norm", "name", "first", "block"), doc="Order of the rows of W."),
    effect=LOOK,
    place=NO_CONTROL,
)

SLACK = 2e-3  # share by which λ_max may be too large and still be called so: less than a step of the slider


class Predictions(Kind):
    """Problem: a loss, a penalty, λ, with or without intercept."""

    problem: ClassVar[Any] = Problem
    menu_order: ClassVar[float] = 10
    task: ClassVar[str] = "classes"
    offer: ClassVar[tuple[str, str]] = ("Classify", "Weights W that tell the classes (or labels) of a sample.")
    # One sweep over the features an iteration, which a viewer can follow: `auto`, the default elsewhere, takes working
    # sets with Newton steps here and is done in a few.
    default_solver: ClassVar[str] = "bcd-ls"  # type: ignore[assignment]
    settings: ClassVar[tuple[Setting, ...]] = (INTERCEPT, BALANCED, SORT, st.EVERY)
    looks: ClassVar[tuple[dict[str, Any], ...]] = (THRESHOLD, WORDS, CONFUSION, SPECTRUM)
    takes: ClassVar[tuple[str, ...]] = (Problem.kind, "sequence")
    parts: ClassVar[tuple[str, ...]] = ("loss", "penalty")

    def create(self, source: Any, settings: Settings) -> tuple[Problem, list[str]]:
        """The problem on new data, with the chosen loss or (then ``settings`` are changed) one that takes them."""
        X, y = source if isinstance(source, tuple) else (source, None)
        plain, notices = self.balanced(X, y, settings)
        try:
            return plain.with_(loss=st.make_part(settings, "loss")), notices
        except ValueError as refused:
            name = str(losses.name_of(plain.loss))
            fresh, _ = st.merge(settings, {"loss": name}, [settings["dataset"]])
            settings.clear()
            settings.update(fresh)
            return plain, [*notices, f"{refused}. Using {name}"]

    def balanced(self, X: Any, y: Any, settings: Settings) -> tuple[Problem, list[str]]:
        """The problem with classes of equal weight, if that is chosen and there are classes (else ``settings`` are
        changed)."""

        def make(**changes: Any) -> Problem:
            return Problem(
                X,
                y,
                lam=1.0,
                penalty=st.make_part(settings, "penalty"),
                **{**self.arguments(settings), **changes},
            )

        plain = make(**{BALANCED.argument: None})
        if not settings[BALANCED.name]:
            return plain, []
        if plain.multilabel:
            settings[BALANCED.name] = False
            return plain, ["these data have sets of labels, and a sample no single class: all samples weigh the same"]
        return make(), []

    def sibling(self, problem: Any, settings: Settings) -> Problem:
        """The problem with another loss or penalty."""
        return weights_of(problem, settings)

    def cross(self, problem: Any, settings: Settings) -> tuple[Any, list[str]]:
        """The problem in place of one whose model is a sequence, and a notice."""
        return weights_of(problem, settings), [
            f"{settings['solver']} looks for weights W: the sequence of stages is not carried over. It begins at W = 0 "
            f"with the penalty {settings['penalty']} and λ/λ_max = {settings['lam_ratio']:.2g}"
        ]

    def notices(self, problem: Any, solver: Any, old: Any, before: str) -> list[str]:
        """Return notices about non-smooth losses, and about two classes with one score."""
        single = [ONE_SCORE] if problem.m == 1 and (old is None or old.m != 1) else []
        if problem.loss.smooth:
            return single
        return single + kinks(
            problem, solver, known=old is not None and not old.loss.smooth, before=before, bound=self.bound(problem)
        )

    def test(self, source: Any) -> tuple[Any, Any] | None:
        """The held-out samples of a data set, if it has any."""
        return None if isinstance(source, tuple) else source.test

    def bound(self, problem: Any) -> bool:
        """Return whether λ_max is only a bound: for a non-smooth loss on data too large for its linear programme."""
        return bool(np.isfinite(problem.lam_max) and problem.lam_max_slack > SLACK)

    @property
    def flat(self) -> str:
        """Return the message for data on which no weights do better than zero."""
        return (
            "λ_max is zero: no weights bring the loss below that of W = 0, so all weights are zero at every λ. Check "
            "that X is not zero everywhere and that the labels are in the order of its rows. If they are, the features "
            "do not predict the labels; where the loss is a hinge, a smooth loss such as the logistic one may still "
            "show how little they do"
        )

    # ------------------------------------------------------------------------------------------------------ the page
    def facts(self, problem: Any, source: Any) -> dict[str, Any]:
        """Classes and their sizes."""
        test = self.test(source)
        counts = np.rint(problem.n * problem.class_shares)
        return {
            "test_n": 0 if test is None else int(np.shape(test[1])[0]),
            "density": problem.design.nnz / max(1, problem.n * problem.d),
            "storage": "sparse" if problem.design.is_sparse else "dense",
            "all_classes": [str(c) for c in problem.class_names],
            "class_sizes": [int(c) for c in counts],
            "multilabel": problem.multilabel,
            "kinks": not problem.loss.smooth,
            "objective0": self.start(problem),
        }

    def start(self, problem: Any) -> float:
        """F where every run begins: at W = 0, with the best intercept if there is one."""
        return float(problem.objective(None, problem.null_intercept if problem.intercept else None))

    def controls(self, settings: Mapping[str, Any], reasons: knobs.Reasons) -> list[dict[str, Any]]:
        """Loss and penalty with their parameters."""
        found = []
        for part in self.parts:
            found.append(knobs.part_select(part, settings, reasons))
            found += [
                knobs.field_control(part, f, settings[f"{part}.{f.name}"]) for f in st.fields_of(part, settings[part])
            ]
        return found

    def impossible(self, problem: Any, settings: Mapping[str, Any]) -> dict[tuple[str, str], str]:
        """Reasons for losses, penalties and solvers.

        A loss or a penalty is tried as a sibling of ``problem``: it is possible if any solver takes that; when it is
        chosen and the present one does not, another takes over, with a notice.
        """
        found: dict[tuple[str, str], str] = {}
        solver = st.make_part(settings, "solver")
        others = [solvers.create(name) for name in solvers.names()]
        for part in self.parts:
            for name in st.PARTS[part].names():
                made = st.make_part(settings, part) if name == settings[part] else st.PARTS[part].create(name)
                try:
                    sibling = problem.with_(**{part: made})
                    reason = solver.solves(sibling)
                    if reason is not None and any(other.solves(sibling) is None for other in others):
                        reason = None
                except ValueError as refused:  # the problem refuses this pair, with a reason
                    reason = str(refused)
                if reason is not None:
                    found[part, name] = str(reason)
        return found | super().impossible(problem, settings)

    def refusal(self, solver: Any, name: str, problem: Any, settings: Mapping[str, Any]) -> str | None:
        """A solver of the other kind is tried with the problem that its choice would make."""
        wanted = {**{key: value for key, value in settings.items() if not key.startswith("solver.")}, "solver": name}
        try:
            if st.page_of(wanted).problem is Problem:
                made: Any = weights_of(problem, wanted) if problem.stages else problem
            elif not problem.stages:
                made, _ = sequence_of(problem, wanted)
            else:
                made = problem
        except ValueError as refused:
            return str(refused)
        return super().refusal(solver, name, made, settings)

    def title(self, settings: Mapping[str, Any]) -> str:
        """Loss and penalty."""
        return f"{settings['loss']} × {settings['penalty']}"

    def columns(self, problem: Any) -> tuple[str, ...]:
        """Measures of label sets."""
        return OF_SETS if problem.multilabel else ()

    def take(self, problem: Any, state: Any, wish: pictures.Wish) -> pictures.Picture:
        """Rows of W by classes, or images."""
        return pictures.take(state.weights(), wish, problem.regulariser)

    def take_past(self, problem: Any, weights: Any, wish: pictures.Wish) -> pictures.Picture | None:
        """Rows of W by classes, or images."""
        return pictures.take(weights, wish, problem.regulariser)

    def strip(self, problem: Any, state: Any, solver: Any, work: Any, columns: int) -> thresholds.Strip | None:
        """The level of every feature beside λ."""
        return thresholds.measure(problem, state, solver, work, columns)

    def snippet(self, settings: Mapping[str, Any], data: str) -> list[str]:
        """A Problem with its parts."""
        return [
            "problem = ss.Problem(",
            f"    {data},",
            f"    loss={st.part_text(settings, 'loss', 'losses')},",
            f"    penalty={st.part_text(settings, 'penalty', 'penalties')},",
            *self.argument_lines(settings),
            ")",
        ]


def kinks(problem: Problem, solver: Any, known: bool, before: str, bound: bool) -> list[str]:
    """Return notices about a non-smooth loss (unless that is ``known``), and about solvers that close its gap where the
    present one does not; ``before``: the previous solver, ``bound``: λ_max is only an upper bound."""
    made = []
    if not problem.loss.smooth:  # of the solvers that take such a loss, those that converge keep a dual point
        takes = [name for name in solvers.names() if solvers[name].converges and not solvers[name].delegates]
        made = [name for name in takes if solvers.create(name).solves(problem) is None]
    said = f"the {problem.loss.title} is not smooth" + (": λ_max is only an upper bound" if bound else "")
    if bound and problem.lam_max_slack < 1.0:
        said += f" (the smallest λ without weights is at least {1.0 - problem.lam_max_slack:.0%} of it)"
    if not made or solver.name in made or solver.name == "auto":
        return [said] if bound and not known else []
    if known and solver.name == before:
        return []
    return [
        f"{said}, and the gap closes only with a method that keeps a dual point (here {' or '.join(made)}); with "
        f"{solver.name} it is true but stays open"
    ]


pages.add(Problem.kind, Predictions())
