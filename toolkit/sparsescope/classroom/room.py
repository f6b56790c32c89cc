"""The state of one class: who is there, what was asked and answered, what waits to be read by the teacher.

Students are known by the secret of their browser's cookie, of which only a digest is kept. On boards they are numbers,
or the nicknames that the teacher has let through.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .keeping import Keeper
from .protocol import MOST_SENTENCE, PHASES, Answer, Question, phase_of
from .texts import Refused, as_number, clean

MOST_STUDENTS = 1000
MOST_QUESTIONS = 200
MOST_SLIPS = 500  # of the question box, in all
MOST_WAITING = 3  # of one student, unread
MOST_NAME, MOST_SLIP = 24, 280

WAITING, SHOWN, REMOVED = "waiting", "shown", "removed"
STATES = (WAITING, SHOWN, REMOVED)


@dataclass
class Student:
    """One browser of the class."""

    number: int
    name: str = ""
    name_state: str = REMOVED

    @property
    def shown(self) -> str:
        """The name for everybody's eyes."""
        return self.name if self.name_state == SHOWN else f"student {self.number}"


@dataclass
class Slip:
    """One text in the question box."""

    id: str
    student: str
    text: str
    state: str = WAITING


@dataclass
class Asked:
    """A question and how far it is."""

    question: Question
    began: float
    phase: str = PHASES[0]
    locked: bool = False
    revealed: bool = False
    page: str = ""  # that asks it; empty: the teacher
    measured: dict[str, Any] = field(default_factory=dict)  # by student; the teacher's own under ""
    answers: dict[str, dict[str, Answer]] = field(default_factory=lambda: {phase: {} for phase in PHASES})

    def measured_for(self, student: str) -> Any:
        """Return what the student's own run measured, else the teacher's answer, else None."""
        return self.measured.get(student, self.measured.get(""))

    def is_right(self, student: str, answer: Answer) -> bool | None:
        """Return whether an answer is right; None while nothing was measured."""
        if answer.right is not None:
            return answer.right
        measured = self.measured_for(student)
        return None if measured is None else self.question.prediction.is_right(self.question, answer.value, measured)

    def sentence_for(self, answer: Answer) -> str:
        """Return what is said to an answer that is wrong."""
        return answer.sentence or self.question.wrong.get(self.question.label(answer.value), "")


class Room:
    """A class.

    Parameters
    ----------
    keeper : Keeper, optional
        file that outlives the server; without one everything is forgotten
    clock : callable
        seconds since 1970; replaced in tests

    Attributes
    ----------
    changed : callable
        called after each change; a server sends the new states
    follow : bool
        whether pages follow the teacher's
    place : str
        address on this server to which the teacher has brought everybody
    """

    def __init__(self, keeper: Keeper | None = None, clock: Callable[[], float] = time.time) -> None:
        self.keeper = Keeper() if keeper is None else keeper
        self.changed: Callable[[], None] = lambda: None
        self.students: dict[str, Student] = {}
        self.asked: dict[str, Asked] = {}
        self.slips: dict[str, Slip] = {}
        self.running: set[str] = set()
        self.follow = False
        self.place = ""
        self._clock = clock
        self._restore()

    # ------------------------------------------------------------------------------------------------------ students
    def join(self, key: str) -> Student:
        """Return the student with this key, a new one if it is not known.

        Raises
        ------
        Refused
            if the class is full.
        """
        if key not in self.students:
            if len(self.students) >= MOST_STUDENTS:
                raise Refused(f"the class has {MOST_STUDENTS} students; no more are taken")
            self.students[key] = Student(1 + max((s.number for s in self.students.values()), default=0))
            self._keep("student", key, asdict(self.students[key]))
        return self.students[key]

    def call(self, key: str, name: Any) -> None:
        """Give a student a nickname, which waits for the teacher; an empty one takes it back."""
        student = self.join(key)
        if name == "":
            student.name, student.name_state = "", REMOVED
        else:
            student.name, student.name_state = clean(name, MOST_NAME, "a nickname"), WAITING
        self._keep("student", key, asdict(student))

    def drop_in(self, key: str, text: Any) -> None:
        """Put a student's text into the question box, where it waits for the teacher."""
        self.join(key)
        line = clean(text, MOST_SLIP, "your question")
        mine = [slip for slip in self.slips.values() if slip.student == key and slip.state == WAITING]
        if len(mine) >= MOST_WAITING:
            raise Refused(f"{MOST_WAITING} of your questions wait for the teacher; ask again when one was read")
        if len(self.slips) >= MOST_SLIPS:
            raise Refused("the question box is full")
        slip = Slip(f"s{len(self.slips) + 1}", key, line)
        self.slips[slip.id] = slip
        self._keep("slip", slip.id, asdict(slip))

    def runs(self, key: str, running: bool) -> None:
        """Note whether a student's run is going on."""
        if running != (key in self.running):
            (self.running.add if running else self.running.discard)(key)
            self.changed()

    def answer(self, key: str, message: Mapping[str, Any], trusted: bool = False) -> None:
        """Take a student's prediction; a later one of the same phase replaces it.

        Parameters
        ----------
        key : str
            the student
        message : mapping
            ``question`` (its name), ``answer``, ``confidence``, and ``phase`` if it is not the question's own
        trusted : bool
            whether a page of this server sends it

        Raises
        ------
        Refused
            if the question is not there, is locked or shown, or the answer is none of this kind.
        """
        self.join(key)
        asked = self._asked(message.get("question"))
        phase = phase_of(message.get("phase"), asked.phase)
        if not trusted and phase != asked.phase:
            raise Refused(f"this question takes predictions {asked.phase} talking")
        if asked.locked or (asked.revealed and not trusted):
            raise Refused("this question takes no more predictions")
        seconds: float | None = self._clock() - asked.began
        if asked.page:  # a page knows when it showed the question to this student, if anybody does
            own = message.get("seconds") if trusted else None
            seconds = None if own is None else as_number(own, "the time")
        answer = Answer.from_message(asked.question, message, seconds, trusted)
        asked.answers[phase][key] = answer
        self._keep("answer", f"{asked.question.id}\n{phase}\n{key}", asdict(answer))

    def judge(self, key: str, name: Any, right: bool, sentence: Any = "") -> None:
        """Note the verdict of a page on its student's latest prediction; one that was not taken has none."""
        asked = self._asked(name)
        for phase in reversed(PHASES):
            if key in asked.answers[phase]:
                said = clean(sentence, MOST_SENTENCE, "a sentence") if sentence else ""
                asked.answers[phase][key] = judged = replace(asked.answers[phase][key], right=right, sentence=said)
                self._keep("answer", f"{asked.question.id}\n{phase}\n{key}", asdict(judged))
                return

    # ---------------------------------------------------------------------------------------------------- the teacher
    def ask(self, given: Any, page: str = "") -> Asked:
        """Ask a question; one with the same name and the same text is the one that was asked before."""
        question = given if isinstance(given, Question) else Question.from_message(given)
        known = self.asked.get(question.id)
        if known is not None and known.question == question:
            return known
        if known is not None and known.page != page:
            raise Refused(f"there is a question with the name {question.id}")
        if len(self.asked) >= MOST_QUESTIONS and known is None:
            raise Refused(f"{MOST_QUESTIONS} questions were asked; remove some from the board")
        self.asked[question.id] = Asked(question, self._clock(), page=page)
        self._forget_answers(question.id)
        self._keep_asked(question.id)
        return self.asked[question.id]

    def free_name(self) -> str:
        """Return a name for a question of the teacher's."""
        k = 1
        while f"teacher/{k}" in self.asked:
            k += 1
        return f"teacher/{k}"

    def measure(self, name: Any, key: str, value: Any) -> None:
        """Note the measured answer of a student's run (``key``), or the teacher's (the empty key)."""
        asked = self._asked(name)
        asked.measured[key] = asked.question.prediction.check(asked.question, value)
        self._keep_asked(asked.question.id)

    def lock(self, name: Any, on: bool) -> None:
        """Take no more predictions, or take them again."""
        self._asked(name).locked = on
        self._keep_asked(str(name))

    def reveal(self, name: Any, on: bool) -> None:
        """Show the measured answer to the class, or hide it again."""
        asked = self._asked(name)
        if (
            on
            and not asked.measured
            and not any(a.right is not None for p in PHASES for a in asked.answers[p].values())
        ):
            raise Refused("nothing was measured yet, and no answer is marked as the right one")
        asked.revealed = on
        self._keep_asked(str(name))

    def vote(self, name: Any, phase: Any) -> None:
        """Let the class predict before or after talking."""
        asked = self._asked(name)
        asked.phase, asked.locked, asked.revealed = phase_of(phase, asked.phase), False, False
        self._keep_asked(str(name))

    def remove(self, name: Any) -> None:
        """Take a question with its answers from the board, and from the file."""
        del self.asked[self._asked(name).question.id]
        self._forget_answers(str(name))
        self.keeper.remove("asked", str(name))
        self.changed()

    def judge_slip(self, name: Any, state: Any) -> None:
        """Show a text of the question box to everybody, hide it, or put it back."""
        if not isinstance(name, str) or name not in self.slips:
            raise Refused("there is no such text in the question box")
        self.slips[name].state = _state(state)
        self._keep("slip", name, asdict(self.slips[name]))

    def judge_name(self, number: Any, state: Any) -> None:
        """Show a student's nickname to everybody, or not."""
        found = [key for key, student in self.students.items() if student.number == number]
        if not found:
            raise Refused("there is no such student")
        self.students[found[0]].name_state = _state(state)
        self._keep("student", found[0], asdict(self.students[found[0]]))

    def lead(self, follow: bool | None = None, place: str | None = None) -> None:
        """Let pages follow the teacher's, or not; note the address at which everybody is."""
        self.follow = self.follow if follow is None else follow
        self.place = self.place if place is None else place
        self._keep("fact", "lead", {"follow": self.follow, "place": self.place})

    # -------------------------------------------------------------------------------------------------------- keeping
    def _asked(self, name: Any) -> Asked:
        if not isinstance(name, str) or name not in self.asked:
            raise Refused("this question is no longer on the board")
        return self.asked[name]

    def _keep(self, kind: str, key: str, value: Any) -> None:
        self.keeper.put(kind, key, value)
        self.changed()

    def _keep_asked(self, name: str) -> None:
        asked = self.asked[name]
        kept = {key: getattr(asked, key) for key in ("began", "phase", "locked", "revealed", "page", "measured")}
        self._keep("asked", name, {"question": asked.question.as_message(), **kept})

    def _forget_answers(self, name: str) -> None:
        self.keeper.remove("answer", name + "\n", begins=True)

    def _restore(self) -> None:
        self.students = {key: Student(**value) for key, value in self.keeper.all("student")}
        self.slips = {key: Slip(**value) for key, value in self.keeper.all("slip")}
        for key, value in self.keeper.all("asked"):
            self.asked[key] = Asked(**{**value, "question": Question.from_message(value["question"])})
        for key, value in self.keeper.all("answer"):
            name, phase, student = key.split("\n")
            self.asked[name].answers[phase][student] = Answer(**value)
        for _, value in self.keeper.all("fact"):
            self.follow, self.place = value["follow"], value["place"]


def _state(given: Any) -> str:
    if given not in STATES:
        raise Refused(f"allowed: {', '.join(STATES)}")
    return str(given)
