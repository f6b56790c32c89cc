"""Notebooks of the lessons, made from their files; nobody edits a notebook by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import extras, registry
from .base import Lesson, Part, Scene


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
    for page in lesson.pages:
        _page(lesson, page, words, code)
    words("## Say it\n\nIn your own words first.")
    code("lesson.say_it()")
    made = v4.new_notebook(cells=cells)
    for k, cell in enumerate(made.cells):
        cell["id"] = f"cell-{k:02d}"  # the same in every version
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def _page(lesson: Lesson, page: Part, words: Callable[[str], None], code: Callable[[str], None]) -> None:
    """Write the cells of a page of the lesson, or of its only one."""
    if page.letter:
        words(f"# Part {page.letter}: {page.title}\n\n{page.asks}")
    words(_scene("Look", page.opening))
    code("lesson.opening()" if page.opening is lesson.opening else f'lesson.opening("{page.letter}")')
    for k in page.predictions:
        words(f"## Prediction {k}\n\n{lesson.predictions[k - 1].question}")
        code(f'ss.show("lesson", lesson, prediction={k})')
    for k in page.breaks:
        words(_scene("Break it", lesson.breaks[k - 1]))
        code(f"lesson.break_it({k})")
    for letter in page.exercises:
        words(f"## Exercise {letter}")
        code(f'lesson.task("{letter}")')
        code(lesson.exercises[letter].code)


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
    stands = "has pages in" if lesson.parts else "is a page of"
    addresses = " and ".join(f"`/lesson/{place}`" for place in lesson.places)
    return (
        f"# {lesson.number}. {lesson.title}\n\n{lesson.asks}\n\n{lesson.minutes} minutes. The same lesson {stands} "
        f"`sparsescope explore`, at {addresses}. This notebook is made from the lesson's file by "
        "`make notebooks`.\n\nRun a cell, answer, say how sure you are, and only then let it run. You may lock a first "
        "vote in and talk to your neighbour before the vote that counts. Where cells cannot be shown, everything is "
        "text: `lesson.ask(1)`, then `lesson.vote(1, answer)` or at once `lesson.predict(1, answer, sure=2)`, then "
        "`lesson.elsewhere(1)`; `lesson.check(1, answer)` compares an answer and does not keep it."
    )


def _scene(kind: str, scene: Scene) -> str:
    parts = [f"## {kind}: {scene.title}", scene.text, scene.question]
    return "\n\n".join(part for part in parts if part)
