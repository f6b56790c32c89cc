"""Sequences of models on the explorer's page: a solver such as `cls` or `stagewise` chooses them.

The problem is a SequenceProblem on the same data, split and (where the solver takes it) loss. Penalty and λ/λ_max are
kept in the settings for the way back, but have no effect: λ is the ridge of each stage, a separate setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...problems.prediction import Problem
from ...problems.sequence import SequenceProblem
from ...registry import field, pages
from ...runs.stopping import Settled, Stop
from .. import knobs, steps
from .. import picture as pictures
from .. import settings as st
from ..crossing import sequence_of
from ..kind import Settings
from ..setting import NO_CONTROL, RUN, Setting
from .predictions import CONFUSION, INTERCEPT, SORT, SPECTRUM, Predictions

SETTLED = 1e-6  # the run ends when F falls by less than this part of itself in each of some stages
SNIPPET_STEPS = 100  # random features never end, but a program that somebody copies should
RIDGE = Setting(
    "ridge",
    field(
        1e-4,
        1e-10,
        10.0,
        "The ridge of the least squares problem of each stage. It is no part of F, so the penalty and λ/λ_max "
        "of other methods do not apply here; they come back with such a method. Move it during a run: the next "
        "stage uses it.",
        log=True,
    ),
    label="ridge of a stage",
    formula="V = argmin F(Ŷ + AV) + λ/2 ‖V‖², A the features of the stage",
    effect=RUN,
    place=NO_CONTROL,  # its control is that of λ
    argument="lam",
    fineness=2,
)
NO_GAP = "Of a sequence of models no optimum is known, so there is no gap."


class Sequences(Predictions):
    """SequenceProblem: a smooth loss, and the ridge of each stage."""

    problem: ClassVar[Any] = SequenceProblem
    menu_order: ClassVar[float] = 20
    settings: ClassVar[tuple[Setting, ...]] = (  # no weights of samples: stages give every sample the same
        INTERCEPT.explained(
            "Begin at the best constant predictions, not at zero. Switching it makes a new problem.", "Ŷ_0 = 1bᵀ"
        ),
        RIDGE,
        SORT,
    )
    looks: ClassVar[tuple[dict[str, Any], ...]] = (CONFUSION, SPECTRUM)
    parts: ClassVar[tuple[str, ...]] = ("loss",)
    lam_setting: ClassVar[str] = RIDGE.name
    words: ClassVar[Mapping[str, tuple[str, str]]] = {
        "loss": (
            "The error of a prediction; stages lower its mean. Another loss begins a new sequence.",
            "F = (1/n) Σ_i ℓ(ŷ_i, y_i), ŷ_i the prediction after all stages so far",
        ),
        "solver": (
            "The method that fits the sequence. Another one for sequences goes on from the present predictions; one "
            "that looks for weights W begins a new run.",
            "Ŷ ← Ŷ + A V, stage after stage",
        ),
    }
    stops: ClassVar[Mapping[str, tuple[str, str]]] = {
        "precision": ("when F has settled", "When F falls by less than a millionth of itself in each of three stages."),
    }
    stops_instead: ClassVar[Mapping[str, tuple[str, str]]] = {
        "gap": ("precision", "no gap is known of a sequence of models; the run ends when F has settled")
    }

    def strip(self, problem: Any, state: Any, solver: Any, work: Any, columns: int) -> None:
        """None: no λ decides which columns a stage uses."""
        return None

    # --------------------------------------------------------------------------------------------------- the problem
    def create(self, source: Any, settings: Settings) -> tuple[Any, list[str]]:
        """The problem on new data, with the chosen loss or (then ``settings`` are changed) one that fits."""
        X, y = source if isinstance(source, tuple) else (source, None)
        return sequence_of(Problem(X, y, loss="squared", lam=1.0, intercept=settings[INTERCEPT.name]), settings)

    def cross(self, problem: Any, settings: Settings) -> tuple[Any, list[str]]:
        """The problem in place of one that looks for weights, and notices."""
        made, notices = sequence_of(problem, settings)
        return made, [
            f"{settings['solver']} fits a sequence of models: it begins without the weights found so far. The penalty "
            f"({settings['penalty']}) and λ/λ_max have no effect and come back with another method; every stage has a "
            f"ridge of {settings[RIDGE.name]:.2g}",
            *notices,
        ]

    def sibling(self, problem: Any, settings: Settings) -> Any:
        """The problem with another loss."""
        return problem.with_(loss=st.make_part(settings, "loss"))

    def notices(self, problem: Any, solver: Any, old: Any, before: str) -> list[str]:
        """Return the notice that another loss begins a new sequence."""
        if old is None or old.kind != problem.kind or old.loss == problem.loss:
            return []
        return ["another loss begins a new sequence: the stages so far were fitted to the old one"]

    def bound(self, problem: Any) -> bool:
        """Return False: there is no λ_max."""
        return False

    def lam(self, settings: Mapping[str, Any], reference: float) -> float:
        """The ridge of each stage."""
        return float(settings[RIDGE.name])

    def stop(self, name: str) -> Stop | None:
        """Return the stop rule; without a known gap it is that F has settled."""
        return Settled(SETTLED) if name in ("precision", "gap") else super().stop(name)

    @property
    def flat(self) -> str:
        """Return the message for X = 0."""
        return "X is zero everywhere, so there is nothing to fit"

    # ------------------------------------------------------------------------------------------------------ the page
    def start(self, problem: Any) -> float:
        """F of the predictions before the first stage."""
        return float(problem.null_objective)

    def lam_control(
        self, settings: Mapping[str, Any], reference: float | None, finite: bool, bound: bool
    ) -> dict[str, Any]:
        """The slider of the ridge."""
        made = knobs.setting_control(RIDGE, settings) | {"place": "bar"}
        if reference is not None:
            made["doc"] += (
                f" The diagonal of XᵀX/n is {reference:.2g} on average; of p random Fourier features it is 1/p."
            )
        return made

    def impossible(self, problem: Any, settings: Mapping[str, Any]) -> dict[tuple[str, str], str]:
        """Reasons as for predictions, and for the stop rule that needs a gap."""
        return {**super().impossible(problem, settings), ("stop", "gap"): NO_GAP}

    def title(self, settings: Mapping[str, Any]) -> str:
        """Loss and ridge."""
        return f"a sequence, {settings['loss']} loss,"

    def take(self, problem: Any, state: Any, wish: pictures.Wish) -> pictures.Picture:
        """Coefficients of the last stage, of predictions, or of all stages on the columns of X."""
        return steps.take(problem, state, wish)

    def take_past(self, problem: Any, weights: Any, wish: pictures.Wish) -> None:
        """The models of earlier stages are not kept."""
        return None

    def row_name(self, problem: Any, row: int) -> str | None:
        """Columns of X, and features that are none."""
        return steps.row_name(problem, row)

    def snippet(self, settings: Mapping[str, Any], data: str) -> list[str]:
        """A SequenceProblem."""
        return [
            "problem = ss.SequenceProblem(",
            f"    {data},",
            f"    loss={st.part_text(settings, 'loss', 'losses')},",
            *self.argument_lines(settings),
            ")",
        ]

    def solution(self, settings: Mapping[str, Any]) -> list[str]:
        """Lines that solve the problem, with a limit of the stages: random features never end."""
        return [
            f"solver = {st.part_text(settings, 'solver', 'solvers')}",
            f"result = ss.solve(problem, solver, tol={SETTLED!r}, max_iter={SNIPPET_STEPS})",
            "print(result)  # result.model predicts: problem.predict(result.model, X=...)",
        ]


pages.add(SequenceProblem.kind, Sequences())
