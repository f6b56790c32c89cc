"""Lessons: questions that are answered by runs. Importing this package registers every lesson: its file is here."""

from __future__ import annotations

from .. import registry
from .answers import AnswerError
from .attempt import Attempt
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Part, Prediction, Scene, Source
from .kinds import Choice, Order, Sketch, Slider
from .told import Reveal, Told

__all__ = [
    "AnswerError",
    "Attempt",
    "Case",
    "Choice",
    "Exercise",
    "Finding",
    "Input",
    "Lesson",
    "Mark",
    "Order",
    "Part",
    "Prediction",
    "Reveal",
    "Scene",
    "Sketch",
    "Slider",
    "Source",
    "Told",
    "lesson",
]

registry.discover(__name__)


def lesson(number: int | str, student: int = 0, keep: str | None = None) -> Attempt:
    """Begin a lesson in Python; in the browser it is at ``/lesson/NN`` (``sparsescope explore``).

    Parameters
    ----------
    number
        number of the lesson, or its name.
    student
        your own number: exercises draw their data with it.
    keep
        file beside the notebook that keeps your answers; a lesson with the same file goes on where it was left.

    Returns
    -------
    Attempt
        the lesson, with what you answered.

    Raises
    ------
    AnswerError
        for a lesson that there is not, or a file that holds no answers to this lesson.

    Examples
    --------
    >>> import sparsescope as ss
    >>> rows = ss.lesson(1)
    >>> rows.lesson.title
    'Why rows vanish'
    """
    numbers = {registry.lessons[name].number: name for name in registry.lessons}
    if isinstance(number, bool) or (not isinstance(number, str) and number not in numbers):
        raise AnswerError(f"there is no lesson {number!r}; there are {', '.join(map(str, numbers))}")
    return Attempt(registry.lessons[number if isinstance(number, str) else numbers[number]], student, keep)
