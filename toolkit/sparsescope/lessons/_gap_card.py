"""Card before the first lesson: what the gap is."""

from __future__ import annotations

from typing import Any

from ..runs import stopping
from ..runs.run import Run
from . import pictures
from ._runs import at
from .base import Message, Scene, Show

DATA, TOL, MOST = "iris", 1e-6, 200


def _close_in(show: Show) -> tuple[Message, str]:
    """Run a solver and show F and the proved bound D closing in on the smallest F."""
    problem = at(DATA)
    upper: list[float] = []
    lower: list[float] = []

    def picture() -> Message:
        steps = list(range(len(upper)))
        curves: dict[str, tuple[Any, Any]] = {"F of this W": (steps, upper), "D, proved": (steps, lower)}
        return pictures.lines(curves, "iterations", "value")

    run = Run(problem, "bcd-ls", stop=stopping.Gap(TOL) | stopping.Iterations(MOST), certify_every=1)
    for event in run:
        upper.append(event.objective)
        lower.append(max([event.dual, *lower[-1:]]))
        show(picture())
    gap = (upper[-1] - lower[-1]) / abs(upper[-1])
    said = (
        f"Here F fell from {upper[0]:.4g} to {upper[-1]:.6g} and the bound rose from {lower[0]:.4g} to {lower[-1]:.6g} "
        f"in {len(upper) - 1} iterations: the gap is {gap:.1e} of F."
    )
    return picture(), said


GAP = Scene(
    title="What the gap is",
    text=(
        "A solver makes F smaller and smaller, but how far down could it still go? Nobody sees the smallest F. Yet "
        "from any W one can compute a number D that is proved to lie below the smallest F. So the truth lies between "
        "the two lines, and their distance, the gap, says how much can be left to gain at most. When the gap is a "
        "millionth of F, no other W is better by more than a millionth."
    ),
    run=_close_in,
    question="Which of the two lines moves when the solver is already at the solution and does not know it?",
)
