"""Notebooks of the lessons, made from their files; nobody edits a notebook by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import extras, registry
from .base import Lesson, Scene


def notebook(lesson: Lesson) -> Any:
    """Return a lesson as a notebook without outputs.

    Parameters
    ----------
    lesson
        the lesson.
    """
    v4 = extras.package("nbformat.v4", "A lesson's notebook")
    cells: list[Any] = []

    def words(text: str) -> None:
        cells.append(v4.new_markdown_cell(text))

    def code(text: str) -> None:
        cells.append(v4.new_code_cell(text))

    words(_head(lesson))
    code(f"import sparsescope as ss\n\nlesson = ss.lesson({lesson.number}, student=0)  # your own number\nlesson")
    if lesson.before is not None:
        words(_scene("Before you begin", lesson.before))
        code("lesson.card()")
    words(_scene("Look", lesson.opening))
    code("lesson.opening()")
    for k, p in enumerate(lesson.predictions, 1):
        words(f"## Prediction {k}\n\n{p.question}")
        code(f'ss.show("lesson", lesson, prediction={k})')
    for k, scene in enumerate(lesson.breaks, 1):
        words(_scene("Break it", scene))
        code(f"lesson.break_it({k})")
    for letter, exercise in lesson.exercises.items():
        words(f"## Exercise {letter}")
        code(f'lesson.task("{letter}")')
        code(exercise.code)
    words("## Say it\n\nIn your own words first.")
    code("lesson.say_it()")
    made = v4.new_notebook(cells=cells)
    for k, cell in enumerate(made.cells):
        cell["id"] = f"cell-{k:02d}"  # the same in every version
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def text_of(lesson: Lesson) -> str:
    """Return the notebook's file as text.

    Parameters
    ----------
    lesson
        the lesson.
    """
    return str(extras.package("nbformat", "A lesson's notebook").writes(notebook(lesson))) + "\n"


def write_all(folder: Path) -> list[Path]:
    """Write the notebooks of all lessons, and return their files.

    Parameters
    ----------
    folder
        where they go.
    """
    written = []
    for name in registry.lessons:
        lesson: Lesson = registry.lessons[name]
        path = folder / lesson.notebook
        path.write_text(text_of(lesson), encoding="utf-8")
        written.append(path)
    return written


def _head(lesson: Lesson) -> str:
    return (
        f"# {lesson.number}. {lesson.title}\n\n{lesson.idea}\n\n{lesson.minutes} minutes. The same lesson is a page of "
        f"`sparsescope explore`, at `/lesson/{lesson.place}`. This notebook is made from the lesson's file by "
        "`make notebooks`.\n\nRun a cell, answer, say how sure you are, and only then let it run. You may lock a first "
        "vote in and talk to your neighbour before the vote that counts. Where cells cannot be shown, everything is "
        "text: `lesson.ask(1)`, then `lesson.vote(1, answer)` or at once `lesson.predict(1, answer, sure=2)`, then "
        "`lesson.elsewhere(1)`; `lesson.check(1, answer)` compares an answer and does not keep it."
    )


def _scene(kind: str, scene: Scene) -> str:
    parts = [f"## {kind}: {scene.title}", scene.text, scene.question]
    return "\n\n".join(part for part in parts if part)
