"""Lesson: the declaration from which its page, its notebook, its line in the docs and its tests follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .answers import Kind

Message = dict[str, Any]
Show = Callable[[Message], None]  # takes a picture of sparsescope.lessons.pictures while a run is under way


def no_show(_picture: Message) -> None:
    """Show nothing: for runs that nobody watches."""


@dataclass(frozen=True, order=True)
class Case:
    """Data set and seed on which a prediction is run.

    Parameters
    ----------
    data
        name of a data set, or another name that the run of the prediction knows.
    seed
        of the split, of generated data and of solvers that draw.
    """

    data: str
    seed: int = 0

    def __str__(self) -> str:
        name, _, at = self.data.rpartition("@")  # wine@0.5 is wine at another λ; a path may have the sign too
        return (
            f"{name} at {at}, seed {self.seed}" if at.replace(".", "").isdigit() else f"{self.data}, seed {self.seed}"
        )


def cases(data: str, seeds: Sequence[int] = (0, 1, 2)) -> tuple[Case, ...]:
    """Return the cases of several data sets.

    Parameters
    ----------
    data
        names, separated by spaces.
    seeds
        seeds of each.
    """
    return tuple(Case(name, seed) for name in data.split() for seed in seeds)


@dataclass(frozen=True)
class Finding:
    """Measured answer of one run.

    Parameters
    ----------
    answer
        in the form of the prediction's kind: a key, keys, a number, a number for each item, the form of a curve.
    holds
        whether the claim of the prediction holds in this run.
    said
        sentence with the measured numbers.
    picture
        last picture of the run, see :mod:`sparsescope.lessons.pictures`.
    curve
        for sketches: the measured curve as heights from 0 to 1 at equal steps.
    """

    answer: Any
    holds: bool
    said: str
    picture: Message = field(default_factory=dict)
    curve: tuple[float, ...] = ()


@dataclass(frozen=True)
class Prediction:
    """Question, its run, and the verdict on the run.

    Parameters
    ----------
    question
        asked before the run.
    kind
        kind of the answer.
    run
        function of a :class:`Case` and of ``show`` that returns the :class:`Finding`.
    claim
        statement that each finding confirms or refutes.
    condition
        text that says where the claim holds.
    explained
        sentence that explains the answer.
    wrong
        sentence for each mistake of the kind.
    holds
        cases on which the claim holds; the first one is the student's own run.
    fails
        cases on which it does not hold.
    takes_data
        whether it runs on any data set by its name or file: not where the run makes what it needs.
    """

    question: str
    kind: Kind
    run: Callable[[Case, Show], Finding]
    claim: str
    condition: str
    explained: str
    wrong: Mapping[str, str]
    holds: tuple[Case, ...]
    fails: tuple[Case, ...] = ()
    takes_data: bool = True

    @property
    def home(self) -> Case:
        """The case of the student's own run."""
        return self.holds[0]

    @property
    def elsewhere(self) -> tuple[Case, ...]:
        """One case of each other data set, and of those on which the claim fails."""
        found: dict[str, Case] = {}
        for case in (*self.holds[1:], *self.fails):
            if case.data != self.home.data:
                found.setdefault(case.data, case)
        return tuple(found.values()) or self.holds[1:]


@dataclass(frozen=True)
class Mark:
    """Result of a check: whether the answer passed, and why."""

    passed: bool
    said: str


@dataclass(frozen=True)
class Input:
    """Part of an exercise's answer that can be typed on the page.

    Parameters
    ----------
    name, label
        key of the answer, and what people read.
    kind
        ``"number"``, ``"numbers"`` (separated by commas), ``"text"``, ``"texts"`` or ``"choice"``.
    choices
        allowed texts of a choice.
    """

    name: str
    label: str
    kind: str = "number"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exercise:
    """Task whose answer is checked by a run.

    Parameters
    ----------
    task
        function of the student's number that returns the task.
    check
        function of the answer and the student's number that returns a :class:`Mark`.
    right, wrong
        functions of the student's number that return an answer that passes, and one that does not: for the tests.
    inputs
        parts of the answer; none: it is Python, and is checked in the notebook.
    code
        lines with which the notebook begins.
    """

    task: Callable[[int], str]
    check: Callable[[Any, int], Mark]
    right: Callable[[int], Any]
    wrong: Callable[[int], Any]
    inputs: tuple[Input, ...] = ()
    code: str = ""


@dataclass(frozen=True)
class Scene:
    """Text with a run that makes a picture: an opening, a card, or something to break.

    Parameters
    ----------
    title, text
        what people read.
    run
        function of ``show`` that returns the last picture and a sentence with its numbers.
    question
        asked under the picture.
    """

    title: str
    text: str
    run: Callable[[Show], tuple[Message, str]]
    question: str = ""


@dataclass(frozen=True)
class Source:
    """Place where the matter is found: a paper with its section, and files of the package."""

    paper: str
    section: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """Part of a lesson with a separate page: one can stop at its end, and begin the next part on another day.

    Parameters
    ----------
    letter, title
        letter behind the lesson's number in addresses, and what it is about.
    asks
        what it asks, in a sentence or two that answer none of its predictions.
    predictions, breaks, exercises
        what belongs to it: numbers from 1, and letters.
    afterwards
        numbers, from 1, of the lesson's sentences that a student can say at its end.
    opening
        picture and question at its beginning.
    """

    letter: str
    title: str
    asks: str
    predictions: tuple[int, ...]
    breaks: tuple[int, ...]
    exercises: tuple[str, ...]
    afterwards: tuple[int, ...]
    opening: Scene


@dataclass(frozen=True)
class Lesson:
    """Lesson of half an hour.

    Parameters
    ----------
    number, slug, title, minutes
        place in the course, name in addresses and files, title, planned minutes.
    asks
        question of the lesson, for its head and for menus: nothing that is to be predicted is answered there.
    idea
        answer to it, one or two sentences, at the end.
    needs
        names of terms that it uses, see :mod:`sparsescope.lessons.terms`.
    introduces
        names of terms that it explains.
    opening
        picture and question at the beginning.
    predictions
        questions in their order.
    breaks
        ways to break what was learned.
    exercises
        by letter.
    sources
        where it comes from.
    afterwards
        three sentences that a student can say at the end.
    before
        card that stands before the lesson.
    parts
        its pages, where it has several; their predictions, ways to break it and exercises are those of the lesson.
    """

    number: int
    slug: str
    title: str
    minutes: int
    asks: str
    idea: str
    needs: tuple[str, ...]
    introduces: tuple[str, ...]
    opening: Scene
    predictions: tuple[Prediction, ...]
    breaks: tuple[Scene, ...]
    exercises: Mapping[str, Exercise]
    sources: tuple[Source, ...]
    afterwards: tuple[str, str, str]
    before: Scene | None = None
    parts: tuple[Part, ...] = ()

    @property
    def pages(self) -> tuple[Part, ...]:
        """The parts in their order; a lesson without parts is one page with everything on it."""
        counts = map(len, (self.predictions, self.breaks, self.afterwards))
        predictions, breaks, afterwards = (tuple(range(1, count + 1)) for count in counts)
        everything = Part(
            "", self.title, self.asks, predictions, breaks, tuple(self.exercises), afterwards, self.opening
        )
        return self.parts or (everything,)

    @property
    def places(self) -> tuple[str, ...]:
        """The places of its pages, as addresses have them: ``("01",)``, or ``("10a", "10b")`` for two parts."""
        return tuple(self.place + page.letter for page in self.pages)

    @property
    def doc(self) -> str:
        """The question, for menus."""
        return self.asks

    @property
    def menu_order(self) -> float:
        """Place among the lessons."""
        return float(self.number)

    @property
    def place(self) -> str:
        """The number as two digits, as addresses and files have it."""
        return f"{self.number:02d}"

    @property
    def notebook(self) -> str:
        """Name of its notebook."""
        return f"{self.place}_{self.slug.replace('-', '_')}.ipynb"

    @property
    def scenes(self) -> dict[str, Scene]:
        """The card, the opening of each page and the ways to break it, by their names on pages."""
        named = {} if self.before is None else {"card": self.before}
        first, *others = self.pages
        named |= {"opening": first.opening, **{f"opening-{page.letter}": page.opening for page in others}}
        return named | {f"break{k}": scene for k, scene in enumerate(self.breaks, 1)}

    def texts(self) -> list[str]:
        """Return all that a student reads, for the test that nothing is used before it was introduced."""
        found = [self.asks, self.idea, *self.afterwards]
        found += [text for part in self.parts for text in (part.title, part.asks)]
        found += [text for scene in self.scenes.values() for text in (scene.title, scene.text, scene.question)]
        for p in self.predictions:
            found += [p.question, p.claim, p.condition, p.explained, *p.wrong.values(), p.kind.how()]
        return found + [exercise.task(0) for exercise in self.exercises.values()]
