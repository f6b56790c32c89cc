"""Messages of a lesson to the teacher's board (docs/classroom.md): its questions and answers in the class's form."""

from __future__ import annotations

import functools
from typing import Any

from ..lessons.answers import Kind
from ..lessons.base import Lesson, Prediction
from ..lessons.kinds import Choice, Order, Sketch, Slider
from .base import Message

MOST_TEXT, MOST_CHOICE, MOST_SENTENCE = 500, 120, 300  # characters that the class takes


def question_name(lesson: Lesson, k: int) -> str:
    """Return the name of prediction ``k`` of a lesson on the board."""
    return f"lesson {lesson.place} / {k}"


def question(lesson: Lesson, k: int, prediction: Prediction) -> Message:
    """Return the message that puts a prediction on the board."""
    asked = {
        "id": question_name(lesson, k),
        "title": f"Lesson {lesson.number}, prediction {k}",
        "text": short(prediction.question, MOST_TEXT),
        **form(prediction.kind),
    }
    return {"type": "question", "question": asked}


def answer(lesson: Lesson, k: int, prediction: Prediction, given: Any, sure: int) -> Message:
    """Return the message that puts an answer to a prediction on the board."""
    told = value(prediction.kind, given)
    return {"type": "answer", "question": question_name(lesson, k), "answer": told, "confidence": sure}


def short(text: str, most: int) -> str:
    """Return a text on one line that the class takes."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


@functools.singledispatch
def form(kind: Kind) -> Message:
    """Return how a kind of predictions is asked on the board."""
    raise TypeError(f"the board has no form for predictions of the kind {kind.name}")


@functools.singledispatch
def value(kind: Kind, answer: Any) -> Any:
    """Return an answer, or what was measured, as the board takes it."""
    raise TypeError(f"the board takes no answers of the kind {kind.name}")


def _choices(texts: Any) -> list[str]:
    return [short(text, MOST_CHOICE) for text in texts]


@form.register
def _(kind: Choice) -> Message:
    return {"kind": "several" if kind.several else "choice", "choices": _choices(kind.options.values())}


@value.register
def _(kind: Choice, answer: Any) -> Any:
    keys = list(kind.options)
    return [keys.index(key) for key in answer] if kind.several else keys.index(answer)


@form.register
def _(kind: Order) -> Message:
    return {"kind": "order", "choices": _choices(kind.items.values())}


@value.register
def _(kind: Order, answer: Any) -> Any:
    # What was measured is a number for each item.
    keys = list(kind.items)
    return [keys.index(key) for key in (answer if isinstance(answer, list) else kind.right(answer))]


@form.register
def _(kind: Slider) -> Message:
    within = kind.near - 1 if kind.log else kind.near
    ends = {"low": kind.low, "high": kind.high, "log": kind.log and kind.low > 0}
    return {"kind": "slider", **ends, "within": within, "unit": kind.unit}


@value.register
def _(kind: Slider, answer: Any) -> Any:
    return kind.right(answer)


@form.register
def _(kind: Sketch) -> Message:
    return {"kind": "choice", "choices": _choices(form.text for form in kind.judged.forms.values())}


@value.register
def _(kind: Sketch, answer: Any) -> Any:
    # On the board a curve is its feature; what was measured is one already.
    drawn = answer if isinstance(answer, str) else kind.judged.form(answer)
    return list(kind.judged.forms).index(drawn)
