"""Lessons on the teacher's board: every prediction of every lesson has a form there, and so has every answer to it."""

from __future__ import annotations

from typing import Any

import pytest

from sparsescope import registry
from sparsescope.app import _class_reports as reports
from sparsescope.app.lesson import LessonPage
from sparsescope.classroom import Question, Room
from sparsescope.classroom.tallies import tile
from sparsescope.lessons.answers import Kind

PREDICTIONS = [
    pytest.param(registry.lessons[name], k, prediction, id=f"{name}-{k}")
    for name in registry.lessons
    for k, prediction in enumerate(registry.lessons[name].predictions, 1)
]


@pytest.mark.parametrize(("lesson", "k", "prediction"), PREDICTIONS)
def test_every_prediction_is_asked_on_the_board_and_every_answer_is_counted(
    lesson: Any, k: int, prediction: Any
) -> None:
    room = Room()
    told = reports.question(lesson, k, prediction)["question"]
    asked = room.ask(told, "lesson")
    assert asked.question == Question.from_message(told)
    kind: Kind = prediction.kind
    answers = [kind.clean(kind.guess())]
    for number, answer in enumerate(answers):
        value = reports.value(kind, answer)
        said = {"question": asked.question.id, "answer": value, "confidence": 2}
        room.answer(f"student{number}", said, trusted=True)
    assert sum(sum(entry["before"]) for entry in tile(asked, room)["bins"]) == len(answers)


def test_a_lesson_reports_its_students_prediction_and_verdict() -> None:
    page = LessonPage(None, {"lesson": registry.lessons[next(iter(registry.lessons))].place})
    lesson = page._lesson
    assert lesson is not None
    k, prediction = next(
        (k, p)
        for k, p in enumerate(lesson.predictions, 1)
        if reports.form(p.kind)["kind"] in ("choice", "slider", "order")
    )
    room, told = Room(), []

    def report(message: Any) -> None:
        told.append(message["type"])
        {
            "question": lambda: room.ask(message["question"], "lesson"),
            "answer": lambda: room.answer("me", message, trusted=True),
            "measured": lambda: room.measure(message["question"], "me", message["value"]),
            "verdict": lambda: room.judge("me", message["question"], message["right"], message["sentence"]),
        }[message["type"]]()

    page.report = report
    page.on_message({"type": "ready"})
    page.poll()
    answer = prediction.kind.clean(prediction.kind.guess())
    first = {"answer": answer, "sure": 1}
    page.carry_out("vote", {"k": k, **first})  # before talking to a neighbour
    assert page._job is None and told == ["question", "answer"]
    page.carry_out("predict", {"k": k, "answer": answer, "sure": 3, "first": first})
    job = page._job
    assert job is not None
    while job.running:
        job._end.wait(0.01)
    errors = [message for message, _ in page.poll() if message["type"] == "error"]
    assert not errors and told == [*2 * ["question", "answer"], "measured", "verdict"] and not page.running
    (asked,) = room.asked.values()
    (before,), (found,) = (asked.answers[phase].values() for phase in ("before", "after"))
    assert before.right is None and before.confidence == 1
    assert found.right is not None and found.confidence == 3 and len(asked.measured) == 1
    assert bool(found.sentence) == (found.right is False)
    page.close()
