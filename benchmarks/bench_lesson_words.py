"""Lessons: how many words a student reads in each, when it is done with everything that is on its page.

Counted are the texts, the options, an answer to each prediction with its sentences, what was measured there
and on all other data, the words of the last pictures, a wrong and a right answer to each exercise, and the end.

    python benchmarks/bench_lesson_words.py
    python benchmarks/bench_lesson_words.py --quick      the first lesson only, nothing is stored
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import common  # first: it sets the thread counts before numpy is imported

from sparsescope import registry
from sparsescope.lessons import Exercise, Lesson, Prediction
from sparsescope.lessons.base import no_show
from sparsescope.lessons.telling import elsewhere_text, reveal_text

A_MINUTE = 200  # words that are read


def of_picture(picture: dict[str, Any]) -> Iterator[str]:
    """Words of a picture: its axes and names, and the cells of a table."""
    for key in ("x", "y", "unit", "rows", "columns"):
        found = picture.get(key, "")
        cells = [found] if isinstance(found, str) else [cell for row in found for cell in _cells(row)]
        yield " ".join(cells)
    for key in ("lines", "marks", "bars", "maps"):
        for part in picture.get(key, ()):
            yield " ".join(str(part.get(name, "")) for name in ("name", "text", "note"))


def _cells(row: Any) -> list[str]:
    return [row] if isinstance(row, str) else list(row)


def of_question(p: Prediction) -> Iterator[str]:
    """A question, and what may be answered."""
    yield p.question
    asked = p.kind.message()
    yield " ".join(str(asked.get(key, "")) for key in ("first", "last", "scored", "unit", "x", "y"))
    yield from (one["text"] for key in ("options", "items", "forms") for one in asked.get(key, ()))


def of_prediction(p: Prediction) -> Iterator[str]:
    """Words of a prediction."""
    finding = p.run(p.home, no_show)
    answer = p.kind.clean(p.kind.guess())
    yield from of_question(p)
    judgement = p.kind.judge(answer, finding.answer)
    yield reveal_text(p, p.kind.shown(answer), replace(finding, picture={}), judgement)
    yield from of_picture(finding.picture)
    for case in p.elsewhere:
        yield elsewhere_text(case, p.run(case, no_show))


def of_exercise(exercise: Exercise) -> Iterator[str]:
    """Words of an exercise; one whose answer is Python shows its code."""
    yield exercise.task(0)
    yield "" if exercise.inputs else exercise.code
    for make in (exercise.wrong, exercise.right):
        yield exercise.check(make(0), 0).said


def of_lesson(lesson: Lesson) -> Iterator[str]:
    """Words of a lesson."""
    yield from (lesson.title, lesson.asks, lesson.idea, *lesson.afterwards)
    for page in lesson.parts:
        yield from (page.title, page.asks)
    for scene in lesson.scenes.values():
        picture, said = scene.run(no_show)
        yield from (scene.title, scene.text, said, scene.question, *of_picture(picture))
    for p in lesson.predictions:
        yield from of_prediction(p)
    for exercise in lesson.exercises.values():
        yield from of_exercise(exercise)
    for source in lesson.sources:
        yield f"{source.paper} {source.section} {' '.join(source.files)}"


def main() -> None:
    """Count and store."""
    options = common.parser(__doc__, quick="the first lesson only, nothing is stored").parse_args()
    rows = []
    for name in registry.lessons:
        lesson: Lesson = registry.lessons[name]
        if not options.quick or lesson.number == 1:
            words = sum(len(text.split()) for text in of_lesson(lesson))
            rows.append({"lesson": lesson.number, "words": words, "minutes": round(words / A_MINUTE, 1)})
    common.show(rows)
    if not options.quick:
        common.store("lesson_words", rows, a_minute=A_MINUTE)


if __name__ == "__main__":
    main()
