"""The messages of a class: a question with its kind of prediction, and one student's answer to it.

Any page may post predictions: the page says which question it asks (:class:`Question`), what was answered
(:class:`Answer`), what the run measured, and whether it is still running. The room does not know of lessons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .kinds import PredictionKind
from .texts import Refused, as_number, clean

PHASES = ("before", "after")  # talking with the neighbour
MOST_TEXT, MOST_CHOICE, MOST_SENTENCE, MOST_ID = 500, 120, 300, 80
MOST_CHOICES = 12
TOLERANCE = 0.1  # of a slider's range, or of its number where the scale is logarithmic


@dataclass(frozen=True)
class Question:
    """A question that is answered by a prediction.

    Attributes
    ----------
    id, title, text : str
        name in messages, short title of the tile, and the question
    kind : str
        name of a :class:`~sparsescope.classroom.PredictionKind`
    choices : tuple of str
        what is chosen from or put in order
    low, high, log, within, unit
        of a slider; ``within`` is the distance that counts as right, a share where ``log``
    wrong : dict
        sentences for those who give an answer, by the answer's label
    """

    id: str
    text: str
    kind: str = "choice"
    title: str = ""
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    within: float = TOLERANCE
    unit: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_message(cls, given: Any) -> Question:
        """Return the question of a message.

        Raises
        ------
        Refused
            if something in it is missing, too long or of no sense.
        """
        if not isinstance(given, Mapping):
            raise Refused("a question is an object")
        kind = given.get("kind", "choice")
        if not isinstance(kind, str) or kind not in PredictionKind.all:
            raise Refused(f"the kind of a question is one of {', '.join(PredictionKind.all)}")
        choices = given.get("choices", ())
        if not isinstance(choices, list | tuple) or len(choices) > MOST_CHOICES:
            raise Refused(f"the choices of a question are a list of at most {MOST_CHOICES}")
        texts = tuple(clean(text, MOST_CHOICE, "a choice") for text in choices)
        if kind in ("choice", "several", "order") and (len(texts) < 2 or len(set(texts)) < len(texts)):
            raise Refused("a question needs two choices or more, all different")
        low, high = as_number(given.get("low", 0.0), "low"), as_number(given.get("high", 1.0), "high")
        log = given.get("log", False) is True
        if not low < high or (log and low <= 0):
            raise Refused("a slider goes from a lower to a higher number, on a logarithmic scale above 0")
        usual = TOLERANCE if log else TOLERANCE * (high - low)
        title, unit = given.get("title") or "", given.get("unit") or ""
        return cls(
            id=clean(given.get("id"), MOST_ID, "the name of a question"),
            text=clean(given.get("text"), MOST_TEXT, "a question"),
            kind=kind,
            title=clean(title, MOST_CHOICE, "a title") if title else "",
            choices=texts,
            low=low,
            high=high,
            log=log,
            within=as_number(given.get("within", usual), "within"),
            unit=clean(unit, MOST_CHOICE, "a unit") if unit else "",
            wrong=_sentences(given.get("wrong") or {}),
        )

    def as_message(self) -> dict[str, Any]:
        """Return what :meth:`from_message` takes."""
        return {**asdict(self), "choices": list(self.choices), "wrong": dict(self.wrong)}

    @property
    def prediction(self) -> type[PredictionKind]:
        """The kind of prediction."""
        return PredictionKind.all[self.kind]

    def label(self, value: Any) -> str:
        """Return the bin of an answer."""
        return self.prediction.label(self, value)


@dataclass(frozen=True)
class Answer:
    """One student's prediction.

    Attributes
    ----------
    value : object
        in the normal form of the question's kind
    confidence : int
        1 (guessed), 2, 3 (sure)
    seconds : float or None
        from the question to the answer; None where the page does not say when it showed the question
    right : bool or None
        verdict of the page that asked, from the student's own run; None: judged by the room
    sentence : str
        what that page says to this answer
    """

    value: Any
    confidence: int = 2
    seconds: float | None = 0.0
    right: bool | None = None
    sentence: str = ""

    @classmethod
    def from_message(cls, question: Question, given: Mapping[str, Any], seconds: float | None, trusted: bool) -> Answer:
        """Return the answer of a message.

        Parameters
        ----------
        question : Question
            what was asked
        given : mapping
            with ``answer`` and ``confidence``; from pages of this server also ``right`` and ``sentence``
        seconds : float or None
            since the question was asked, if that is known
        trusted : bool
            whether a page of this server, and not a browser, sends it: only then its verdict counts

        Returns
        -------
        Answer

        Raises
        ------
        Refused
            if it is no answer to this question.
        """
        confidence = given.get("confidence", 2)
        if isinstance(confidence, bool) or confidence not in (1, 2, 3):
            raise Refused("how sure is 1, 2 or 3")
        right, sentence = (given.get("right"), given.get("sentence") or "") if trusted else (None, "")
        return cls(
            value=question.prediction.check(question, given.get("answer")),
            confidence=int(confidence),
            seconds=None if seconds is None else round(max(seconds, 0.0), 1),
            right=right if isinstance(right, bool) else None,
            sentence=clean(sentence, MOST_SENTENCE, "a sentence") if sentence else "",
        )


def phase_of(given: Any, usual: str) -> str:
    """Return the phase of a message.

    Raises
    ------
    Refused
        if there is no such phase.
    """
    if given is None:
        return usual
    if given not in PHASES:
        raise Refused(f"the phase is one of {', '.join(PHASES)}")
    return str(given)


def _sentences(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or len(given) > MOST_CHOICES:
        raise Refused(f"the sentences for wrong answers are an object of at most {MOST_CHOICES}")
    return {
        clean(label, MOST_CHOICE * MOST_CHOICES, "an answer"): clean(text, MOST_SENTENCE, "a sentence")
        for label, text in given.items()
    }
