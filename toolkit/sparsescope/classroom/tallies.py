"""Views of a room: tiles with histograms for the teacher, a student's own state, a table."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from typing import Any

from .protocol import PHASES, Answer
from .room import SHOWN, WAITING, Asked, Room

TALK_LOW, TALK_HIGH = 0.3, 0.7  # shares of right answers between which talking with the neighbour pays
MOST_BINS = 8
MOST_WRONG = 2
COLUMNS = ("question", "text", "phase", "student", "answer", "value", "confidence", "seconds", "right")
OTHERS = "others"


def tile(asked: Asked, room: Room) -> dict[str, Any]:
    """Return what the board shows of one question."""
    question = asked.question
    judged = {phase: _judged(asked, phase) for phase in PHASES}
    latest = {**asked.answers["before"], **asked.answers["after"]}
    verdicts = [asked.is_right(key, answer) for key, answer in latest.items()]
    known = [verdict for verdict in verdicts if verdict is not None]
    share = sum(known) / len(known) if known else None
    seconds = [answer.seconds for answer in latest.values() if answer.seconds is not None]
    measured = [question.label(value) for value in asked.measured.values()]
    return {
        "id": question.id,
        "title": question.title,
        "text": question.text,
        "kind": question.kind,
        "choices": list(question.choices),
        "unit": question.unit,
        "page": asked.page,
        "phase": asked.phase,
        "locked": asked.locked,
        "revealed": asked.revealed,
        "in": {phase: len(asked.answers[phase]) for phase in PHASES},
        "students": len(room.students),
        "bins": _bins(asked),
        "confidence": {phase: _mean([answer.confidence for answer, _ in judged[phase]]) for phase in PHASES},
        "seconds": statistics.median(seconds) if seconds else None,
        "measured": [[label, count] for label, count in Counter(measured).most_common(MOST_BINS)],
        "marked": "" in asked.measured,  # by the teacher, and not measured by a run
        "judged": len(known),
        "right": share,
        "talk": share is not None and TALK_LOW <= share <= TALK_HIGH and not asked.answers["after"],
        "wrong": _wrong(asked, latest),
    }


def board(room: Room, connected: int) -> dict[str, Any]:
    """Return what the teacher's board shows.

    Parameters
    ----------
    room : Room
        the class
    connected : int
        students with an open page

    Returns
    -------
    dict
        JSON
    """
    students = room.students
    return {
        "type": "board",
        "students": len(students),
        "connected": connected,
        "running": sorted(students[key].shown for key in room.running if key in students),
        "follow": room.follow,
        "place": room.place,
        "kept": room.keeper.keeps,
        "tiles": [tile(asked, room) for asked in room.asked.values()],
        "box": [
            {"id": slip.id, "text": slip.text, "who": students[slip.student].shown, "state": slip.state}
            for slip in room.slips.values()
            if slip.state in (WAITING, SHOWN)
        ],
        "names": [{"number": s.number, "name": s.name} for s in students.values() if s.name_state == WAITING],
    }


def own(room: Room, key: str) -> dict[str, Any]:
    """Return what one student's page shows."""
    student = room.students[key]
    return {
        "type": "class",
        "number": student.number,
        "name": student.name,
        "name_state": student.name_state,
        "follow": room.follow,
        "place": room.place,
        "questions": [_own_question(asked, key) for asked in room.asked.values() if not asked.page],
        "pages": {
            asked.question.id: {"locked": asked.locked, "revealed": asked.revealed, "phase": asked.phase}
            for asked in room.asked.values()
            if asked.page
        },
        "box": [
            {"text": slip.text, "state": slip.state, "mine": slip.student == key}
            for slip in room.slips.values()
            if slip.state == SHOWN or (slip.student == key and slip.state == WAITING)
        ],
    }


def as_csv(room: Room) -> str:
    """Return all answers as a table, one line an answer; students are numbers or the names that were let through."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for asked in room.asked.values():
        for phase in PHASES:
            for key, answer in asked.answers[phase].items():
                right = asked.is_right(key, answer)
                row = (
                    asked.question.id,
                    asked.question.text,
                    phase,
                    room.students[key].shown,
                    asked.question.label(answer.value),
                    answer.value,
                    answer.confidence,
                    answer.seconds,
                    "" if right is None else "yes" if right else "no",
                )
                writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _own_question(asked: Asked, key: str) -> dict[str, Any]:
    question = asked.question
    mine = {phase: asked.answers[phase].get(key) for phase in PHASES}
    latest = mine["after"] or mine["before"]
    shown: dict[str, Any] = {
        **{name: value for name, value in question.as_message().items() if name not in ("wrong", "within")},
        "phase": asked.phase,
        "locked": asked.locked,
        "revealed": asked.revealed,
        "mine": {
            phase: None if a is None else {"answer": a.value, "confidence": a.confidence} for phase, a in mine.items()
        },
    }
    if asked.revealed:
        measured = asked.measured_for(key)
        shown["measured"] = None if measured is None else {"value": measured, "label": question.label(measured)}
        shown["marked"] = key not in asked.measured
        shown["bins"] = _bins(asked)
        if latest is not None:
            right = asked.is_right(key, latest)
            shown["right"] = right
            shown["sentence"] = "" if right else asked.sentence_for(latest)
    return shown


def _judged(asked: Asked, phase: str) -> list[tuple[Answer, bool | None]]:
    return [(answer, asked.is_right(key, answer)) for key, answer in asked.answers[phase].items()]


def _bins(asked: Asked) -> list[dict[str, Any]]:
    """Counts before and after by confidence: ``before[0]`` are those who guessed."""
    question = asked.question
    fixed = question.prediction.bins(question)
    votes = {
        phase: [(question.label(answer.value), answer.confidence) for answer in asked.answers[phase].values()]
        for phase in PHASES
    }
    labels = fixed or [
        label for label, _ in Counter(label for phase in PHASES for label, _ in votes[phase]).most_common(MOST_BINS)
    ]
    known = set(labels)
    counts: dict[str, dict[str, list[int]]] = {label: {phase: [0, 0, 0] for phase in PHASES} for label in labels}
    for phase in PHASES:
        for label, confidence in votes[phase]:
            place = label if label in known else OTHERS
            counts.setdefault(place, {p: [0, 0, 0] for p in PHASES})[phase][confidence - 1] += 1
    return [{"label": label, **found} for label, found in counts.items()]


def _wrong(asked: Asked, latest: dict[str, Answer]) -> list[dict[str, Any]]:
    """The most common wrong answers with their sentences."""
    wrong = [answer for key, answer in latest.items() if asked.is_right(key, answer) is False]
    said = {asked.question.label(answer.value): asked.sentence_for(answer) for answer in wrong}
    common = Counter(asked.question.label(answer.value) for answer in wrong).most_common(MOST_WRONG)
    return [{"label": label, "count": count, "sentence": said[label]} for label, count in common]


def _mean(values: list[int]) -> float | None:
    return round(sum(values) / len(values), 2) if values else None


def _cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
