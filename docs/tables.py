"""Write the tables of docs/parts.md and docs/lessons.md from what the parts declare: ``python docs/tables.py``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sparsescope import registry

PAGE = Path(__file__).with_name("parts.md")
LESSONS = Path(__file__).with_name("lessons.md")
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


def lessons(text: str) -> str:
    """Return the page of the lessons with its table as it has to be."""
    begin, end = "<!-- lessons: begin -->\n", "<!-- lessons: end -->"
    head, _, rest = text.partition(begin)
    made = [registry.lessons[name] for name in registry.lessons]
    lines = [
        f"| {n.number} | [{n.title}](../notebooks/{n.notebook}) | {n.minutes} min | {n.idea} | `/lesson/{n.place}` |"
        for n in made
    ]
    table = "\n".join(["| | lesson | | idea | page |", "|---|---|---|---|---|", *lines])
    return f"{head}{begin}{table}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    LESSONS.write_text(lessons(LESSONS.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
