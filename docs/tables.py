"""Write the tables of docs/parts.md and docs/lessons.md from what the parts declare: ``python docs/tables.py``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sparsescope import registry

PAGE = Path(__file__).with_name("parts.md")
LESSONS = Path(__file__).with_name("lessons.md")
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
HEADS = {
    "losses": ("name", "ℓ(z, y)", "parameters", "what it asks for", "from"),
    "penalties": ("name", "Ω(W)", "parameters", "what it does", "from"),
    "solvers": ("name", "method", "parameters", "from"),
    "views": ("name", "what it shows"),
    "datasets": ("name", "what it is"),
}


def parameters(kind: str, name: str) -> str:
    """Return the parameters of a part, each with the symbol that its help begins with."""
    found = []
    for declared in getattr(registry, kind).fields(name):
        symbol = re.match(r"(\S{1,3}): ", declared.doc)
        found.append(f"`{declared.name}`" + (f" ({symbol[1]})" if symbol else ""))
    return ", ".join(found) or "–"


def cells(kind: str, name: str) -> list[str]:
    """Return the cells of a part's line."""
    parts = getattr(registry, kind)
    part: Any = parts[name]
    doc, source = parts.doc(name), getattr(part, "source", "")
    formula = [getattr(part, "formula", ""), parameters(kind, name), doc, source]
    about = {
        "losses": formula,
        "penalties": formula,
        "solvers": [" ".join(filter(None, (doc, getattr(part, "remark", "")))), parameters(kind, name), source],
    }
    return [f"`{name}`", *about.get(kind, [doc])]


def table(kind: str) -> str:
    """Return the table of one kind of parts."""
    lines = [list(HEADS[kind]), ["---"] * len(HEADS[kind]), *(cells(kind, name) for name in getattr(registry, kind))]
    return "\n".join(
        "|" + "|".join(f" {cell.replace('|', chr(92) + '|')} " if cell != "---" else cell for cell in line) + "|"
        for line in lines
    )


def filled(text: str) -> str:
    """Return the page with its tables as they have to be, between the comments that mark them."""
    for kind in HEADS:
        begin, end = f"<!-- {kind}: begin -->\n", f"<!-- {kind}: end -->"
        head, _, rest = text.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE.name} has no place for the table of {kind}: {begin.strip()} … {end} is missing")
        text = f"{head}{begin}{table(kind)}\n{end}{tail}"
    return text


def between(text: str, name: str, content: str) -> str:
    """Return a text with other content between the comments of this name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    head, _, rest = text.partition(begin)
    return f"{head}{begin}{content}\n{end}{rest.partition(end)[2]}"


def lines_of(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def lessons(text: str) -> str:
    """Return the page of the lessons with its tables as they have to be."""
    made = [registry.lessons[name] for name in registry.lessons]
    course = [
        [str(n.number), f"[{n.title}](../notebooks/{n.notebook})", f"{n.minutes} min", n.idea,
         ", ".join(f"`/lesson/{place}`" for place in n.places)]
        for n in made
    ]  # fmt: skip
    text = between(text, "lessons", lines_of(["", "lesson", "", "idea", "page"], course))
    text = between(text, "words", words(stored("lesson_words")))
    return between(text, "measured", measured(stored("lessons")))


def stored(name: str) -> dict[str, Any]:
    """Return what a measurement has stored."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def words(found: dict[str, Any]) -> str:
    """Return how much is read in a lesson, as benchmarks/bench_lesson_words.py has counted it."""
    counts, speed = sorted(row["words"] for row in found["rows"]), found["summary"]["a_minute"]
    low, high = (f"{count:,}".replace(",", " ") for count in (counts[0], counts[-1]))
    return (
        f"A finished lesson has {low} to {high} words, its results on all other data and its pictures included: "
        f"{counts[0] / speed:.0f} to {counts[-1] / speed:.0f} minutes of reading at {speed} words a minute "
        "(`python benchmarks/bench_lesson_words.py`)."
    )


def measured(found: dict[str, Any]) -> str:
    """Return what benchmarks/bench_lessons.py has measured: seconds, and where claims do not hold."""
    rows, data = found["rows"], found["summary"]["data"]
    seconds = sorted(row["seconds"] for row in rows)
    longest = max(rows, key=lambda row: float(row["seconds"]))
    of_lessons: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_lessons.setdefault(row["prediction"].partition(".")[0], []).append(row)

    def fails(of_lesson: list[dict[str, Any]], where: str) -> str:
        """Numbers of the predictions whose claim does not hold, those that were not run in brackets."""
        known = [(row["prediction"].partition(".")[2], row[where]) for row in of_lesson]
        return ", ".join(k if holds is False else f"({k})" for k, holds in known if not holds) or "–"

    def seeds(of_lesson: list[dict[str, Any]]) -> str:
        missed = [(row["prediction"].partition(".")[2], row["of"] - row["seeds"]) for row in of_lesson]
        return ", ".join(f"{k} with {count} of {of_lesson[0]['of']}" for k, count in missed if count) or "–"

    table = [
        [number, str(len(of_lesson)), seeds(of_lesson), *(fails(of_lesson, where) for where in data)]
        for number, of_lesson in of_lessons.items()
    ]
    said = (
        f"The run of a prediction takes at most {longest['seconds']:.1f} s of processor time with compiled kernels "
        f"(lesson {longest['prediction'].replace('.', ', prediction ')}); the median is "
        f"{seconds[len(seconds) // 2]:.2f} s."
    )
    return f"{said}\n\n{lines_of(['lesson', 'predictions', 'other seeds', *data], table)}"


if __name__ == "__main__":
    LESSONS.write_text(lessons(LESSONS.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
