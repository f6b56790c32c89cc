"""Messages of a page: what they hold is checked, and questions are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from .saying import brief
from .snippet import python_snippet, run_snippet
from .spectra import KINDS as LOOKS
from .spectra import Looks
from .stage import Stage

MAX_ASKED_NAMES = 1000
MAX_CHANGES = 100  # settings in one message; a page has about forty
MAX_ID = 64
MAX_CARRIED = 1000

Message = dict[str, Any]


def hand_over(msg: Any, handlers: Mapping[str, Callable[[Message], Any]]) -> None:
    """Give a message to the handler of its type. ``ValueError`` for what is no message, or of no known type."""
    if not isinstance(msg, dict):
        raise ValueError(f"a message is a JSON object; this is {type(msg).__name__}")
    kind = msg.get("type")
    if not isinstance(kind, str) or kind not in handlers:
        raise ValueError(f"unknown message {brief(kind)}; known: {', '.join(handlers)}")
    handlers[kind](msg)


def changes_of(msg: Message) -> dict[str, Any]:
    """The settings that a page changes. ``ValueError`` for what is none."""
    changes = msg.get("changes")
    if not isinstance(changes, dict):
        raise ValueError("set: changes is missing; an object of settings is needed")
    if len(changes) > MAX_CHANGES:
        raise ValueError(f"set: {len(changes)} settings at once; at most {MAX_CHANGES} are taken")
    for key, value in changes.items():
        if not isinstance(value, str | float | None) and not (isinstance(value, int) and abs(value) < 2**63):
            raise ValueError(f"set: {brief(key)} is {brief(value)}; a text, a number, true, false or null is needed")
    return changes


def answer(msg: Message, stage: Stage | None, settings: dict[str, Any], looks: Looks) -> Message | None:
    """The answer to a question; ``None`` if it comes later, from ``stage`` or ``looks``."""
    kind, key = msg.get("kind"), _id(msg.get("id", ""))
    if not isinstance(kind, str):
        raise ValueError(f"unknown question {brief(kind)}; its kind is a text")
    said: Message = {"type": "answer", "id": key, "kind": kind}
    if kind == "snippet":
        if msg.get("of") == "run" and stage is not None:
            text = run_snippet(stage.prepared.settings, stage.session)
        else:
            text = python_snippet(settings)
        return {**said, "text": text}
    if kind not in ("value", "cell", "names", *LOOKS):
        raise ValueError(f"unknown question {brief(kind)}; known: value, cell, names, snippet, {', '.join(LOOKS)}")
    if stage is None:
        raise ValueError("there is no problem yet")
    if kind in LOOKS:
        true, found = msg.get("true", 0), msg.get("found", 0)
        if not _is_index(true) or not _is_index(found):
            raise ValueError(f"misread samples are those of two classes, not {brief(true)} and {brief(found)}")
        looks.ask(str(kind), key, stage.session, (true, found), (stage.prepared.source, settings))
    elif kind == "value":
        row, cls = msg.get("row"), msg.get("cls")
        if not _is_index(row) or not _is_index(cls):
            raise ValueError(f"a value is asked for by row and class numbers, not {brief(row)} and {brief(cls)}")
        stage.ask_value(key, row, cls)
    elif kind == "cell":
        line, column = msg.get("line"), msg.get("column")
        if not _is_index(line) or not _is_index(column):
            raise ValueError(f"a cell is asked for by line and column numbers, not {brief(line)} and {brief(column)}")
        stage.ask_cell(key, line, column)
    else:
        problem, rows = stage.prepared.problem, msg.get("rows")
        if not isinstance(rows, list) or not all(_is_index(j) and 0 <= j < problem.d for j in rows):
            raise ValueError(f"names are asked for by row numbers from 0 to {problem.d - 1}")
        rows = rows[:MAX_ASKED_NAMES]
        return {**said, "rows": rows, "names": [problem.feature_name(j) for j in rows]}
    return None


def ids(msg: Message) -> list[str]:
    """The ids of a command, with those of the older ones that it was merged with (see ``inbox``)."""
    carried = msg.get("carried", [])
    listed = carried[-MAX_CARRIED:] if isinstance(carried, list) else []
    return [_id(given) for given in [*listed, msg.get("id")] if given is not None]


def _id(given: Any) -> str:
    """The page's id of a command, sent back to it: short ones only."""
    if not _is_index(given) and not (isinstance(given, str) and len(given) <= MAX_ID):
        raise ValueError(f"an id is {brief(given)}; a text of at most {MAX_ID} characters is needed")
    return str(given)


def _is_index(value: Any) -> TypeGuard[int]:
    """Return whether this is a whole number that an array may be asked for."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def whole(value: Any, what: str, low: int, high: int) -> int:
    """A whole number of a message within its bounds; ``ValueError`` for anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (-(2**63) < value < 2**63) or value != int(value):
        raise ValueError(f"{what} is {brief(value)}; a whole number is needed")
    if not low <= value <= high:
        raise ValueError(f"{what} is {value:g}; allowed: {low} to {high}")
    return int(value)
