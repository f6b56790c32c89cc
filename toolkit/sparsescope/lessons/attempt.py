"""Attempt: a lesson in plain Python, with what a student has answered so far."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..progress import Silent, progress
from .answers import SURE, AnswerError, checked_sure
from .base import Exercise, Lesson, Prediction, no_show
from .elsewhere import places, repeated
from .telling import answer_text, question_text, reveal_text, scene_text, sentences
from .told import Reveal, Told

FORMAT = "sparsescope-lesson-1"


class Attempt:
    """Lesson in plain Python: questions, predictions, verdicts and exercises as text.

    Parameters
    ----------
    lesson
        the lesson.
    student
        number with which exercises draw their data.
    keep
        file that keeps the answers, or ``None``.

    Raises
    ------
    ValueError
        for a file that holds no answers to this lesson.
    """

    def __init__(self, lesson: Lesson, student: int = 0, keep: str | None = None) -> None:
        self.lesson = lesson
        self.student = int(student)
        self.answers: dict[str, dict[str, Any]] = {}  # by the number of a prediction or the letter of an exercise
        self._firsts: dict[int, dict[str, Any]] = {}  # votes before the answer, by the number of a prediction
        self._file = None if keep is None else Path(keep)
        if self._file is not None and self._file.exists():
            self.answers, self._firsts = self._read(self._file)

    def __repr__(self) -> str:
        lesson, done = self.lesson, len(self.answers)
        of = len(lesson.predictions) + len(lesson.exercises)
        return f"Lesson {lesson.number}: {lesson.title} ({lesson.minutes} minutes; {done} of {of} answered)"

    def _repr_markdown_(self) -> str:
        lesson = self.lesson
        return f"**Lesson {lesson.number}: {lesson.title}** ({lesson.minutes} minutes)\n\n{lesson.asks}"

    # ------------------------------------------------------------------------------------------------------ beginning
    def card(self) -> Told:
        """Return the card that stands before the lesson.

        Returns
        -------
        Told
            the card, with the numbers of a run; empty where the lesson has none.
        """
        card = self.lesson.before
        return Told("" if card is None else scene_text(card, no_show))

    def opening(self, part: str = "") -> Told:
        """Return the picture and the question with which the lesson, or a part of it, begins.

        Parameters
        ----------
        part
            letter of the part, for a lesson that has several; the first one is the lesson's beginning.

        Returns
        -------
        Told
            the text, with the numbers of a run.

        Raises
        ------
        ValueError
            for a part that the lesson does not have.
        """
        openings = {page.letter: page.opening for page in self.lesson.pages} | {"": self.lesson.opening}
        if part not in openings:
            raise AnswerError(f"lesson {self.lesson.number} has no part {part!r}")
        return Told(scene_text(openings[part], no_show))

    # ---------------------------------------------------------------------------------------------------- predictions
    def ask(self, k: int) -> Told:
        """Return a question, and how to answer it.

        Parameters
        ----------
        k
            number of the prediction, from 1.

        Returns
        -------
        Told
            the question.

        Raises
        ------
        ValueError
            for a prediction that the lesson does not have.
        """
        self._prediction(k)
        return Told(question_text(self.lesson, k))

    def vote(self, k: int, answer: Any, sure: int = 2) -> Told:
        """Lock a first vote in, without the run: talk to your neighbour, then vote again with :meth:`predict`.

        Parameters
        ----------
        k
            number of the prediction, from 1.
        answer
            your answer, as :meth:`ask` says.
        sure
            confidence: 1, 2 or 3.

        Returns
        -------
        Told
            what comes next.

        Raises
        ------
        ValueError
            as for :meth:`predict`, and for a prediction that was measured already.
        """
        clean, sure = self._prediction(k).kind.clean(answer), checked_sure(sure)
        if str(k) in self.answers:
            raise AnswerError(f"prediction {k} was measured already; vote on the next one")
        self._firsts.setdefault(k, {"answer": clean, "sure": sure})
        self._write()
        return Told(
            f"your first vote is kept; talk to your neighbour for a minute, then vote again: predict({k}, …, sure=…)"
        )

    def predict(self, k: int, answer: Any, sure: int = 2) -> Reveal:
        """Lock an answer in, run, and show the measured answer beside it.

        The first answer is kept; another one to the same question is compared, and not kept. A vote before it
        (:meth:`vote`) is shown beside both.

        Parameters
        ----------
        k
            number of the prediction, from 1.
        answer
            your answer, as :meth:`ask` says.
        sure
            confidence: 1, 2 or 3.

        Returns
        -------
        Reveal
            both answers, and the sentences that explain them.

        Raises
        ------
        ValueError
            for a prediction that the lesson does not have, an answer that does not fit, or another confidence.
        """
        sure, prediction = checked_sure(sure), self._prediction(k)
        clean = prediction.kind.clean(answer)
        reveal = self._reveal(prediction, clean, sure, self._firsts.get(k))
        if str(k) not in self.answers:
            self.keep(k, clean, sure, reveal.right)
        return reveal

    def check(self, k: int | str, answer: Any) -> Reveal:
        """Check an exercise, or compare an answer to a prediction without keeping it.

        Parameters
        ----------
        k
            letter of an exercise, such as ``"a"``, or number of a prediction.
        answer
            the answer.

        Returns
        -------
        Reveal
            what the checker says.

        Raises
        ------
        ValueError
            for an exercise or prediction that the lesson does not have, or an answer that does not fit.
        """
        if not isinstance(k, str):
            prediction = self._prediction(k)
            return self._reveal(prediction, prediction.kind.clean(answer))
        mark = self._exercise(k).check(answer, self.student)
        if mark.passed:
            self.answers[k] = {"right": True}
            self._write()
        return Reveal(("passed: " if mark.passed else "not yet: ") + mark.said, mark.passed)

    def elsewhere(
        self,
        k: int,
        votes: Mapping[str, bool] | None = None,
        told: Callable[[str], None] | None = None,
        data: str | Sequence[str] = (),
    ) -> Told:
        """Run a prediction on the other data sets and say where its claim holds.

        Parameters
        ----------
        k
            number of the prediction, from 1.
        votes
            names of data sets, and whether you expect the claim to hold there: ``{"wine": True}``.
        told
            called with the line of each data set as soon as it is known, such as ``print``; without it a terminal shows
            a progress bar.
        data
            names or files of data sets, such as your own, in place of those of the lesson.

        Returns
        -------
        Told
            a line for each data set.

        Raises
        ------
        ValueError
            for a prediction that the lesson does not have, votes on other data sets, data that there are not, and
            ``data`` for a prediction that makes its data itself.
        """
        p, votes = self._prediction(k), dict(votes or {})
        where = places(p, k, (data,) if isinstance(data, str) else tuple(data), votes)
        lines = []
        with Silent() if told else progress(len(where), "run", desc=f"Prediction {k} elsewhere") as bar:
            for case in where:
                lines.append(repeated(p, case, votes.get(case.data)))
                bar.update()
                if told is not None:
                    told(lines[-1])
        return Told("\n".join([f"Claim: {p.claim}", *lines, f"Where: {p.condition}"]))

    def given(self, k: int) -> dict[str, Any] | None:
        """Return the answer that was kept.

        Parameters
        ----------
        k
            number of the prediction, from 1.

        Returns
        -------
        dict or None
            ``answer``, ``sure``, ``right``; ``None`` before there is one.
        """
        found = self.answers.get(str(k))
        return None if found is None else dict(found)

    def keep(self, k: int, answer: Any, sure: int, right: bool) -> None:
        """Keep an answer that was measured: what the lesson's cells in a notebook do.

        Parameters
        ----------
        k
            number of the prediction, from 1.
        answer, sure, right
            the answer, how sure, and whether it was right.
        """
        self.answers[str(k)] = {"answer": answer, "sure": sure, "right": right}
        self._write()

    def forget(self, k: int) -> None:
        """Forget an answer and the vote before it, to begin the prediction again.

        Parameters
        ----------
        k
            number of the prediction, from 1.
        """
        self.answers.pop(str(k), None)
        self._firsts.pop(k, None)
        self._write()

    # ----------------------------------------------------------------------------------------------- the other parts
    def task(self, letter: str) -> Told:
        """Return the task of an exercise, for your number.

        Parameters
        ----------
        letter
            letter of the exercise.

        Returns
        -------
        Told
            the task.

        Raises
        ------
        ValueError
            for an exercise that the lesson does not have.
        """
        return Told(f"Exercise {letter}: {self._exercise(letter).task(self.student)}")

    def break_it(self, number: int = 1) -> Told:
        """Break what was learned, and see what happens.

        Parameters
        ----------
        number
            which of the ways, from 1.

        Returns
        -------
        Told
            the text, with the numbers of a run.

        Raises
        ------
        ValueError
            for a number that there is not.
        """
        count = len(self.lesson.breaks)
        if isinstance(number, bool) or number not in range(1, count + 1):
            raise AnswerError(f"there is no way {number!r} to break it; there are 1 to {count}")
        return Told(scene_text(self.lesson.breaks[number - 1], no_show))

    def say_it(self) -> Told:
        """Return the sentences to take home, the sources, and how sure you were when you were right.

        Returns
        -------
        Told
            the text.
        """
        lines = ["Say it in your own words:", *(f"  • {text}" for text in self.lesson.afterwards)]
        lines += ["", f"The idea: {self.lesson.idea}", ""]
        for sure in SURE:
            given = [a["right"] for a in self.answers.values() if a.get("sure") == sure]
            if given:
                lines.append(f"sure {sure} of 3: {sum(given)} of {len(given)} right")
        lines += ["", "Where to read on:"]
        for source in self.lesson.sources:
            files = f" ({', '.join(source.files)})" if source.files else ""
            lines.append(f"  • {source.paper}: {source.section}{files}")
        return Told("\n".join(lines))

    # --------------------------------------------------------------------------------------------------------- helpers
    def _reveal(
        self, prediction: Prediction, clean: Any, sure: int | None = None, first: Mapping[str, Any] | None = None
    ) -> Reveal:
        finding = prediction.run(prediction.home, no_show)
        judgement = prediction.kind.judge(clean, finding.answer)
        assert judgement.right or sentences(prediction, judgement)
        before = "" if first is None else f"your first vote: {answer_text(prediction, **first)}\n"
        text = before + reveal_text(prediction, answer_text(prediction, clean, sure), finding, judgement)
        return Reveal(text, judgement.right, finding)

    def _prediction(self, k: int) -> Prediction:
        count = len(self.lesson.predictions)
        if isinstance(k, bool) or k not in range(1, count + 1):
            raise AnswerError(f"lesson {self.lesson.number} has no prediction {k!r}; it has 1 to {count}")
        return self.lesson.predictions[k - 1]

    def _exercise(self, letter: str) -> Exercise:
        known = self.lesson.exercises
        if letter not in known:
            raise AnswerError(f"lesson {self.lesson.number} has no exercise {letter!r}; it has {', '.join(known)}")
        return known[letter]

    def _read(self, path: Path) -> tuple[dict[str, dict[str, Any]], dict[int, dict[str, Any]]]:
        """Answers and votes before them; files of earlier versions have no votes."""
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            fits = kept["format"] == FORMAT and kept["lesson"] == self.lesson.slug and isinstance(kept["answers"], dict)
            firsts = {
                int(k): {
                    "answer": self._prediction(int(k)).kind.clean(vote["answer"]),
                    "sure": checked_sure(vote["sure"]),
                }
                for k, vote in dict(kept.get("firsts", {})).items()
            }
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise AnswerError(f"{path} holds no answers to lesson {self.lesson.number}; name another file")
        return dict(kept["answers"]), firsts

    def _write(self) -> None:
        if self._file is not None:
            kept = {"format": FORMAT, "lesson": self.lesson.slug, "answers": self.answers, "firsts": self._firsts}
            self._file.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
