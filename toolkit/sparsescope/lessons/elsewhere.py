"""Repetition of a prediction on other data: those of its lesson, or data sets and files that somebody names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ._runs import load
from .answers import AnswerError
from .base import Case, Prediction, no_show
from .telling import elsewhere_text


def places(prediction: Prediction, k: int, data: Sequence[str], votes: Collection[str]) -> tuple[Case, ...]:
    """Return where a prediction is repeated.

    Parameters
    ----------
    prediction, k
        the prediction, and its number for messages.
    data
        names or files of data sets; none: those of the lesson.
    votes
        names of data sets on which somebody has voted.

    Raises
    ------
    ValueError
        for data that there are not, or that the prediction does not take, and for votes on other data sets.
    """
    if data and not prediction.takes_data:
        raise AnswerError(f"prediction {k} makes what it runs on; leave data= out")
    for name in data:
        load(name)  # says so where there are no such data
    found = tuple(Case(name) for name in data) or prediction.elsewhere
    known = [case.data for case in found]
    if unknown := [name for name in votes if name not in known]:
        raise AnswerError(f"prediction {k} does not run on {unknown[0]!r}; vote on {', '.join(known)}")
    return found


def repeated(prediction: Prediction, case: Case, vote: bool | None) -> str:
    """Run a prediction on a case, and return a line: whether its claim holds there, beside a vote on that."""
    try:
        return elsewhere_text(case, prediction.run(case, no_show), vote)
    except ValueError as error:
        if case in prediction.elsewhere:
            raise
        return f"{case}: it cannot be run there. {error}"  # the lesson did not choose these data
