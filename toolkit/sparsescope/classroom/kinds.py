"""Kinds of predictions: how an answer is checked, into which bin of the histogram it falls, and when it is right."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from .texts import Refused, as_number

SLIDER_BINS = 8
MOST_POINTS = 64
EARLY = 1 / 3  # of the width: a peak before it is early, one behind 1 − EARLY is late
FLAT = 0.1  # of the height: a sketch that moves less is flat; so far must both sides of a peak lie below it


class Form(Protocol):
    """Attributes of a question that a kind of predictions reads."""

    @property
    def choices(self) -> tuple[str, ...]: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def log(self) -> bool: ...
    @property
    def within(self) -> float: ...


class PredictionKind:
    """One kind of predictions; ``name`` is that of the messages.

    ``measures`` says whether the measured answer has the form of an answer, so that both fall into the same bins.
    """

    name: ClassVar[str] = ""
    all: ClassVar[dict[str, type[PredictionKind]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        PredictionKind.all[cls.name] = cls

    @staticmethod
    def check(question: Form, given: Any) -> Any:
        """Return an answer in its normal form; raise :class:`Refused` if it is none."""
        raise TypeError("a kind of predictions defines check")

    @staticmethod
    def label(question: Form, value: Any) -> str:
        """Return the bin of the histogram that an answer falls into."""
        raise TypeError("a kind of predictions defines label")

    @staticmethod
    def bins(question: Form) -> list[str]:
        """Return the bins that are always shown; empty: those that occur, the most common first."""
        return []

    @staticmethod
    def is_right(question: Form, value: Any, measured: Any) -> bool:
        """Return whether an answer agrees with the measured one."""
        return bool(value == measured)


class Choice(PredictionKind):
    """One of several answers: its number, from 0."""

    name = "choice"

    @staticmethod
    def check(question: Form, given: Any) -> int:
        """Return the number."""
        return _index(question, given)

    @staticmethod
    def label(question: Form, value: int) -> str:
        """Return the text of the choice."""
        return question.choices[value]

    @staticmethod
    def bins(question: Form) -> list[str]:
        """Return all choices."""
        return list(question.choices)


class Several(PredictionKind):
    """Any number of the answers: their numbers."""

    name = "several"

    @staticmethod
    def check(question: Form, given: Any) -> list[int]:
        """Return the numbers in rising order, each once."""
        return sorted({_index(question, entry) for entry in _list(given, len(question.choices), "choices")})

    @staticmethod
    def label(question: Form, value: Sequence[int]) -> str:
        """Return the texts, joined."""
        return " + ".join(question.choices[k] for k in value) or "none of them"


class Order(PredictionKind):
    """All answers in an order: their numbers, the first one first."""

    name = "order"

    @staticmethod
    def check(question: Form, given: Any) -> list[int]:
        """Return the numbers."""
        found = [_index(question, entry) for entry in _list(given, len(question.choices), "choices")]
        if sorted(found) != list(range(len(question.choices))):
            raise Refused(f"an order names each of the {len(question.choices)} choices once")
        return found

    @staticmethod
    def label(question: Form, value: Sequence[int]) -> str:
        """Return the texts in their order."""
        return " → ".join(question.choices[k] for k in value)


class Slider(PredictionKind):
    """A number between two bounds."""

    name = "slider"

    @staticmethod
    def check(question: Form, given: Any) -> float:
        """Return the number."""
        value = as_number(given, "the answer")
        if not question.low <= value <= question.high:
            raise Refused(f"the answer is {value:g}; allowed: {question.low:g} to {question.high:g}")
        return value

    @staticmethod
    def label(question: Form, value: float) -> str:
        """Return the interval that holds the number; a measured one beyond the bounds is counted in the last."""
        share = _place(question, min(max(value, question.low), question.high))
        return Slider.bins(question)[min(int(share * SLIDER_BINS), SLIDER_BINS - 1)]

    @staticmethod
    def bins(question: Form) -> list[str]:
        """Return the intervals."""
        edges = [_at(question, k / SLIDER_BINS) for k in range(SLIDER_BINS + 1)]
        texts = [f"{edge:.3g}" for edge in edges]
        return [f"{low} – {high}" for low, high in itertools.pairwise(texts)]

    @staticmethod
    def is_right(question: Form, value: float, measured: Any) -> bool:
        """Return whether the distance, of logarithms where the scale is one, is within the question's tolerance."""
        if question.log:
            return measured > 0 and abs(math.log(value / measured)) <= math.log(1 + question.within)
        return bool(abs(value - measured) <= question.within)


class Sketch(PredictionKind):
    """A curve: points (x, y) between 0 and 1 with x that never falls; judged by its feature."""

    name = "sketch"
    FEATURES = ("peak early", "peak in the middle", "peak late", "rises", "falls", "dips", "flat")

    @staticmethod
    def check(question: Form, given: Any) -> list[list[float]]:
        """Return the points."""
        points: list[list[float]] = []
        for entry in _list(given, MOST_POINTS, "points"):
            x, y = (as_number(number, "a point") for number in _pair(entry))
            if not (0 <= x <= 1 and 0 <= y <= 1) or (points and x < points[-1][0]):
                raise Refused("the points of a sketch lie between 0 and 1, from the left to the right")
            points.append([x, y])
        if len(points) < 2:
            raise Refused("a sketch needs two points or more")
        return points

    @staticmethod
    def label(question: Form, value: Any) -> str:
        """Return the feature."""
        return _feature(value)

    @staticmethod
    def bins(question: Form) -> list[str]:
        """Return all features."""
        return list(Sketch.FEATURES)

    @staticmethod
    def is_right(question: Form, value: Any, measured: Any) -> bool:
        """Return whether both curves have the same feature."""
        return _feature(value) == _feature(measured)


def _feature(points: Sequence[Sequence[float]]) -> str:
    heights = [y for _, y in points]
    first, last, top, bottom = heights[0], heights[-1], max(heights), min(heights)
    if top - bottom < FLAT:
        return "flat"
    if top - max(first, last) >= FLAT:
        x = next(x for x, y in points if y == top)
        return "peak early" if x < EARLY else "peak late" if x > 1 - EARLY else "peak in the middle"
    if min(first, last) - bottom >= FLAT:
        return "dips"
    return "rises" if last > first else "falls"


def _index(question: Form, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given < len(question.choices):
        raise Refused(f"a choice is a number from 0 to {len(question.choices) - 1}")
    return given


def _list(given: Any, most: int, what: str) -> list[Any]:
    if not isinstance(given, list) or len(given) > most:
        raise Refused(f"the answer is a list of at most {most} {what}")
    return given


def _pair(given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) != 2:
        raise Refused("a point is a list of two numbers")
    return given


def _place(question: Form, value: float) -> float:
    along: Callable[[float], float] = math.log if question.log else float
    low, high = along(question.low), along(question.high)
    return (along(value) - low) / (high - low)


def _at(question: Form, share: float) -> float:
    if question.log:
        return float(question.low * (question.high / question.low) ** share)
    return question.low + share * (question.high - question.low)
