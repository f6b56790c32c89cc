"""Page: a lesson, with its questions, runs, verdicts and exercises; one page for all lessons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .. import registry
from ..lessons.answers import AnswerError, checked_sure
from ..lessons.attempt import Attempt
from ..lessons.base import Case, Exercise, Finding, Lesson, Part, Prediction, Scene
from ..lessons.telling import question_text, sentences
from ..lessons.terms import TERMS, used
from ..live.saying import brief
from ..registry import NotAllowed, field
from . import _class_reports as reports
from ._lesson_job import LessonJob
from .base import MOST_TEXT, Message, Page

INDEX = "index"
MOST_PARTS = 400  # of an answer
OF_A_PAGE = ("letter", "title", "asks", "predictions", "breaks", "exercises", "afterwards")


def _lessons() -> list[Lesson]:
    return [registry.lessons[name] for name in registry.lessons]


def _addressed() -> tuple[str, ...]:
    """Return the places of all pages of lessons, as addresses have them: ``01``, or ``10a`` for a part."""
    return tuple(place for lesson in _lessons() for place in lesson.places)


def _settable() -> tuple[str, ...]:
    """Return these, and the numbers of lessons with parts: a cell of a notebook shows a prediction of the whole."""
    return tuple(dict.fromkeys([*_addressed(), *(lesson.place for lesson in _lessons())]))


class LessonPage(Page):
    """Predict, run, compare: the lessons of the course."""

    name = "lesson"
    records = True
    title = "Lessons"
    menu_order = 60
    doc = "Answer first, then run: a lesson has questions, measurements, and verdicts with the data on which they hold."
    recorded_doc = "Answers, runs and verdicts as they were when this was recorded."

    lesson: ClassVar[Any] = field(INDEX, choices=(INDEX, *_settable()), doc="the lesson")
    student: ClassVar[Any] = field(0, 0, 9999, "your number: exercises draw their data with it")
    prediction: ClassVar[Any] = field(0, 0, 9, "the prediction that is shown alone; 0: the whole lesson")

    labels: ClassVar[dict[str, str]] = {"student": "your number"}

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        super().__init__(data, settings)
        self._job: LessonJob | None = None

    @classmethod
    def places(cls) -> dict[str, dict[str, str]]:
        """Return the addresses below this page's own, with the settings they stand for."""
        return {f"/{cls.name}/{place}": {"lesson": place} for place in _addressed()}

    @classmethod
    def moved(cls) -> dict[str, str]:
        """Return addresses that people type and the last part of the place they mean: ``/lesson/1`` for ``01``."""
        typed = {f"/{cls.name}/{name}": n.places[0] for n in _lessons() for name in (n.place, str(n.number))}
        return {address: place for address, place in typed.items() if address not in cls.places()}

    @property
    def _attempt(self) -> Attempt | None:
        """The lesson in the Python of a notebook whose cell this page is."""
        return self.data if isinstance(self.data, Attempt) else None

    @property
    def _lesson(self) -> Lesson | None:
        wanted = self.settings["lesson"]
        return next((lesson for lesson in _lessons() if wanted in (lesson.place, *lesson.places)), None)

    # ------------------------------------------------------------------------------------------------------- pictures
    def picture(self) -> Message:
        """Return the lesson without its answers, or the list of lessons."""
        lesson = self._lesson
        index = [
            {"place": n.place, "title": n.title, "minutes": n.minutes, "asks": n.asks, "pages": _pages_message(n)}
            for n in _lessons()
        ]
        return {"index": index, "lesson": None if lesson is None else self._lesson_message(lesson)}

    def _lesson_message(self, lesson: Lesson) -> Message:
        made = lesson_message(lesson, self.settings["student"])
        if self._attempt is not None:
            for k, question in enumerate(made["predictions"], 1):
                question["given"] = self._attempt.given(k)
        alone = self.settings["prediction"]
        alone = alone if alone <= len(lesson.predictions) else 0
        part = self.settings["lesson"].removeprefix(lesson.place)
        return {**made, "alone": alone, "part": part, "keeps": self._attempt is not None}

    @classmethod
    def handed(cls, X: Any, settings: Message) -> tuple[Any, Message] | None:
        """Take a lesson that was begun in Python: the page goes on with its answers."""
        if not isinstance(X, Attempt):
            return None
        for name in ("lesson", "student"):
            if name in settings:
                raise NotAllowed(f"the lesson was begun in Python and brings its own {name}; leave {name}= out")
        if settings.get("prediction"):
            X.ask(settings["prediction"])  # says so where there is no such prediction
        return X, {"lesson": X.lesson.place, "student": X.student}

    @classmethod
    def as_text(cls, data: Any, settings: Message) -> str:
        """Return the question that is shown alone, for places without widgets."""
        if not isinstance(data, Attempt) or not settings.get("prediction"):
            return ""
        k = settings["prediction"]
        return f"{question_text(data.lesson, k)}\n\nWithout the widget: lesson.predict({k}, answer, sure=2)"

    def changed(self, names: set[str]) -> None:
        """End a run of the lesson that was shown."""
        if names:
            self.end()

    def recordable(self) -> bool:
        """Return whether a lesson is shown; the list of lessons has no runs."""
        return self._lesson is not None

    def told_again(self) -> list[Message]:
        """Return nothing: what was answered and found is kept by the browser, which puts it into the file."""
        return []

    def shown_again(self) -> None:
        """Send that a run is under way: a page that was loaded again waits for its end before it requests another."""
        if self.running:
            self._say({"type": "running", "running": True})

    def summary(self) -> str:
        """Return the lesson's number and title, for the head of a recording."""
        lesson = self._lesson
        return "" if lesson is None else f"Lesson {self.settings['lesson'].lstrip('0')}: {lesson.title}"

    # -------------------------------------------------------------------------------------------------------- running
    def carry_out(self, action: str, message: Message) -> None:
        """Begin ``predict``, ``elsewhere``, ``scene`` or ``check``, whose findings come as messages, or ``stop`` it.

        Raises
        ------
        ValueError
            for an action that there is not, an answer that does not fit, or while another run is under way.
        """
        actions: dict[str, Callable[[Lesson, Message], Callable[[LessonJob], None]]] = {
            "predict": self._predict,
            "elsewhere": self._elsewhere,
            "scene": self._scene,
            "check": self._check,
        }
        lesson = self._lesson
        if lesson is not None and action in ("vote", "kept", "forget"):
            self._keep(lesson, action, message)
            return
        if action == "stop":
            self.end()
            return
        if action not in actions or lesson is None:
            raise ValueError(f"unknown action {brief(action)}; a lesson has {', '.join(actions)}")
        work = actions[action](lesson, message)
        if self._job is not None and self._job.running:
            raise ValueError("a run is under way; wait until it has ended")
        self._job = LessonJob(work, apart=self.crowded)

    def _keep(self, lesson: Lesson, action: str, message: Message) -> None:
        """Tell the board of a vote before talking, or let the lesson in Python follow the browser."""
        k, prediction = _prediction(lesson, message)
        if action == "vote":
            _, answer, sure = _vote(lesson, message)
            self.report(reports.question(lesson, k, prediction))
            self.report({**reports.answer(lesson, k, prediction, answer, sure), "phase": "before"})
        elif self._attempt is None:
            return
        elif action == "forget":
            self._attempt.forget(k)
        elif self._attempt.given(k) is None:
            _, answer, sure = _vote(lesson, message)
            self._attempt.keep(k, answer, sure, bool(message.get("right")))

    def _predict(self, lesson: Lesson, message: Message) -> Callable[[LessonJob], None]:
        k, prediction = _prediction(lesson, message)
        prediction, answer, sure = _vote(lesson, message)
        before = message.get("first")
        first = None if before is None else _vote(lesson, {"k": k, **before} if isinstance(before, dict) else {"k": k})
        name = reports.question_name(lesson, k)
        told = {**reports.answer(lesson, k, prediction, answer, sure), **({} if first is None else {"phase": "after"})}

        def work(job: LessonJob) -> None:
            job.report(reports.question(lesson, k, prediction))
            job.report(told)
            finding = job.run(prediction.run, prediction.home, about={"of": "predict", "k": k})
            judgement = prediction.kind.judge(answer, finding.answer)
            said = sentences(prediction, judgement)
            job.report({"type": "measured", "question": name, "value": reports.value(prediction.kind, finding.answer)})
            verdict = {"right": judgement.right, "sentence": reports.short(" ".join(said), reports.MOST_SENTENCE)}
            job.report({"type": "verdict", "question": name, **verdict})
            job.tell(
                {
                    "type": "reveal", "k": k, "answer": answer, "sure": sure, "right": judgement.right,
                    "distance": judgement.distance, "measured": plain(finding.answer), "said": finding.said,
                    "first": None if first is None else prediction.kind.shown(first[1]),
                    "yours": prediction.kind.shown(answer), "theirs": prediction.kind.shown(finding.answer),
                    "holds": finding.holds, "picture": finding.picture, "curve": list(finding.curve),
                    "sentences": [*said, prediction.explained],
                    "claim": prediction.claim, "condition": prediction.condition, "case": str(prediction.home),
                }
            )  # fmt: skip

        return work

    def _elsewhere(self, lesson: Lesson, message: Message) -> Callable[[LessonJob], None]:
        k, prediction = _prediction(lesson, message)

        def work(job: LessonJob) -> None:
            found: list[Message] = []
            for case in prediction.elsewhere:
                if job.stopped:
                    return
                found.append(_verdict(prediction, case, job.run(prediction.run, case)))
                job.tell({"type": "elsewhere", "k": k, "rows": list(found), "done": case is prediction.elsewhere[-1]})

        return work

    def _scene(self, lesson: Lesson, message: Message) -> Callable[[LessonJob], None]:
        scenes = lesson.scenes
        key = message.get("k")
        if not isinstance(key, str) or key not in scenes:
            raise ValueError(f"there is no picture {brief(key)}; there are {', '.join(scenes)}")

        def work(job: LessonJob) -> None:
            picture, said = job.run(scenes[key].run, about={"of": "scene", "k": key})
            job.tell({"type": "scene", "k": key, "picture": picture, "said": said})

        return work

    def _check(self, lesson: Lesson, message: Message) -> Callable[[LessonJob], None]:
        letter = message.get("k")
        exercise = lesson.exercises.get(letter) if isinstance(letter, str) else None
        if exercise is None or not exercise.inputs:
            raise ValueError(f"there is no exercise {brief(letter)} to check here")
        answer, student = typed(exercise, message.get("answer")), self.settings["student"]

        def work(job: LessonJob) -> None:
            mark = exercise.check(answer, student)
            job.tell({"type": "mark", "k": letter, "student": student, "passed": bool(mark.passed), "said": mark.said})

        return work

    # -------------------------------------------------------------------------------------------------------- looking
    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return the newest picture of the run that is under way, and what has been found."""
        if self._job is None:
            return []
        for message in self._job.reports():
            self.report(message)
        news = self._job.news()
        for message in news:
            if message["type"] == "reveal" and self._attempt is not None:
                self._attempt.keep(message["k"], message["answer"], message["sure"], message["right"])
        return [(message, []) for message in news]

    @property
    def running(self) -> bool:
        """True if a run of the lesson goes on."""
        return self._job is not None and self._job.running

    def end(self) -> None:
        """End the run that is under way at its next picture."""
        if self._job is not None:
            self._job.stop()

    def controls(self) -> list[Message]:
        """Return the control of the student's number; lessons are chosen by links, a prediction alone in Python."""
        return [
            {**group, "controls": [c for c in group["controls"] if c["id"] == "student"]}
            for group in super().controls()
        ]


def lesson_message(lesson: Lesson, student: int) -> Message:
    """Return all that the page needs of a lesson; answers are not in it."""
    terms = {name: TERMS[name] for text in lesson.texts() for name in used(text)}
    return {
        "number": lesson.number, "place": lesson.place, "slug": lesson.slug, "title": lesson.title,
        "minutes": lesson.minutes, "asks": lesson.asks, "idea": lesson.idea, "student": student,
        "notebook": lesson.notebook,
        "scenes": {key: _scene_message(scene) for key, scene in lesson.scenes.items()},
        "predictions": [
            {"question": p.question, "elsewhere": [str(case) for case in p.elsewhere], **p.kind.message()}
            for p in lesson.predictions
        ],
        "pages": _pages_message(lesson),
        "exercises": [
            {"letter": letter, "task": e.task(student), "code": e.code,
             "inputs": [vars(i) | {"choices": list(i.choices)} for i in e.inputs]}
            for letter, e in lesson.exercises.items()
        ],
        "sources": [{"paper": s.paper, "section": s.section, "files": list(s.files)} for s in lesson.sources],
        "afterwards": list(lesson.afterwards),
        "terms": [{"words": term.words, "meaning": term.meaning} for term in terms.values() if not term.known],
    }  # fmt: skip


def plain(answer: Any) -> Any:
    """Return a measured answer as JSON: infinite numbers as ``None``."""
    if isinstance(answer, Mapping):
        return {key: plain(value) for key, value in answer.items()}
    if isinstance(answer, float):
        return answer if math.isfinite(answer) else None
    return answer


def typed(exercise: Exercise, given: Any) -> Any:
    """Return the answer to an exercise from the texts of its inputs; one input alone is the answer itself."""
    if not isinstance(given, dict):
        raise AnswerError("the answer is an object with a text for each input")
    made: dict[str, Any] = {}
    for part in exercise.inputs:
        text = given.get(part.name)
        if not isinstance(text, str) or len(text) > MOST_TEXT or not text.strip():
            raise AnswerError(f"{part.label} is missing")
        made[part.name] = _read(part.kind, part.label, text.strip(), part.choices)
    return made if len(made) > 1 else next(iter(made.values()))


def _read(kind: str, label: str, text: str, choices: tuple[str, ...]) -> Any:
    if kind == "choice" and text not in choices:
        raise AnswerError(f"{label} is {brief(text)}; allowed: {', '.join(choices)}")
    if kind in ("choice", "text"):
        return text
    if kind == "texts":
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        numbers = [float(part) for part in text.replace("−", "-").split(",")]
    except ValueError:
        raise AnswerError(f"{label} is {brief(text)}; a number is needed, such as 0.25") from None
    if not all(map(math.isfinite, numbers)) or (kind == "number" and len(numbers) != 1):
        raise AnswerError(f"{label} is {brief(text)}; one finite number is needed, such as 0.25")
    return numbers[0] if kind == "number" else numbers


def _pages_message(lesson: Lesson) -> list[Message]:
    """Return what is on each page of a lesson."""

    def message(page: Part, place: str) -> Message:
        opening = next(name for name, scene in lesson.scenes.items() if scene is page.opening)
        return {"place": place, "opening": opening, **{key: getattr(page, key) for key in OF_A_PAGE}}

    return [message(page, place) for page, place in zip(lesson.pages, lesson.places, strict=True)]


def _scene_message(scene: Scene) -> Message:
    return {"title": scene.title, "text": scene.text, "question": scene.question}


def _prediction(lesson: Lesson, message: Message) -> tuple[int, Prediction]:
    k = message.get("k")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(lesson.predictions):
        raise ValueError(f"there is no prediction {brief(k)}; there are 1 to {len(lesson.predictions)}")
    return k, lesson.predictions[k - 1]


def _vote(lesson: Lesson, message: Message) -> tuple[Prediction, Any, int]:
    """Return the prediction of a message, the answer to it, and how sure the student is."""
    _, prediction = _prediction(lesson, message)
    answer = message.get("answer")
    if isinstance(answer, str | list) and len(answer) > MOST_PARTS:
        raise AnswerError("the answer is too long")
    return prediction, prediction.kind.clean(answer), checked_sure(message.get("sure"))


def _verdict(prediction: Prediction, case: Case, finding: Finding) -> Message:
    shown = prediction.kind.shown(finding.answer)
    return {"case": str(case), "holds": finding.holds, "said": finding.said, "measured": shown}


registry.app_pages.add(LessonPage.name, LessonPage)
