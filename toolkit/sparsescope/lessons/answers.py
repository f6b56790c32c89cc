"""Answers to predictions: what every kind of prediction does with one, and how one is judged or refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..registry import SparsescopeError

MOST_SHOWN = 60  # characters of an answer that a message repeats
SURE = (1, 2, 3)

Message = dict[str, Any]


class AnswerError(SparsescopeError, ValueError):
    """Answer that does not fit its question."""


def is_number(value: Any, least: float = -math.inf, most: float = math.inf) -> bool:
    """Return whether an answer is a finite number, from ``least`` to ``most``."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and least <= value <= most


def checked_sure(sure: Any) -> int:
    """Return a confidence of 1, 2 or 3, and refuse anything else."""
    if isinstance(sure, bool) or sure not in SURE:
        raise AnswerError(f"sure is {sure!r}; say how sure you are: 1 (a guess), 2 or 3 (certain)")
    return int(sure)


@dataclass(frozen=True)
class Judgement:
    """Comparison of an answer with the measured one.

    Attributes
    ----------
    right : whether the answer is right
    keys : names of the mistakes, for which the lesson has sentences
    distance : text that says how far the answer is off; empty where there is no distance
    """

    right: bool
    keys: tuple[str, ...] = ()
    distance: str = ""


class Kind:
    """Base of the kinds of predictions."""

    name: ClassVar[str] = ""

    def clean(self, answer: Any) -> Any:
        """Return the answer in its usual form; raise :class:`AnswerError` for one that does not fit."""
        raise NotImplementedError

    def judge(self, answer: Any, measured: Any) -> Judgement:
        """Compare a clean answer with the measured one."""
        raise NotImplementedError

    def mistakes(self, measured: Any) -> tuple[str, ...]:
        """Return the keys of all mistakes that can be made where this was measured."""
        raise NotImplementedError

    def example(self, key: str, measured: Any) -> Any:
        """Return an answer that makes a mistake."""
        raise NotImplementedError

    def right(self, measured: Any) -> Any:
        """Return a right answer."""
        raise NotImplementedError

    def guess(self) -> Any:
        """Return an answer to begin with, which tells nothing."""
        raise NotImplementedError

    def shown(self, answer: Any) -> str:
        """Return an answer as text."""
        raise NotImplementedError

    def how(self) -> str:
        """Return how to answer in Python."""
        raise NotImplementedError

    def message(self) -> Message:
        """Return what the page needs to ask."""
        raise NotImplementedError


def is_list(answer: Any) -> bool:
    """Return whether an answer has parts; a text and a mapping have none."""
    return isinstance(answer, Iterable) and not isinstance(answer, str | Mapping)


def refused(answer: Any, wanted: str) -> AnswerError:
    """Return the error for an answer that does not fit its question."""
    text = repr(answer)
    text = text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " …"
    return AnswerError(f"the answer {text} does not fit this question; {wanted}")
