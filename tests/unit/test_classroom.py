"""The room of a class: predictions of all kinds, verdicts, tiles, moderation, limits, and a file that outlives it."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from sparsescope.classroom import Keeper, PredictionKind, Refused, Room
from sparsescope.classroom import room as rooms
from sparsescope.classroom.keeping import NotAClass
from sparsescope.classroom.tallies import as_csv, board, own, tile
from sparsescope.classroom.texts import clean

ABC = ["more rows", "fewer rows", "as many"]
# kind: what the question has beside its text, a right answer, wrong ones, and answers that are refused
CASES: dict[str, tuple[dict[str, Any], Any, list[Any], list[Any]]] = {
    "choice": ({"choices": ABC}, 1, [0, 2], [3, -1, "1", None, True, 1.5, [1]]),
    "several": ({"choices": ABC}, [0, 2], [[0], [], [0, 1, 2]], [[3], 1, None, ["a"], [[0]], [0] * 50]),
    "order": ({"choices": ABC}, [2, 0, 1], [[0, 1, 2]], [[0, 1], [0, 0, 1], None, [0, 1, 3]]),
    "slider": ({"low": 1, "high": 100, "log": True}, 10.0, [12, 1, 100], [0, 101, "x", None, float("nan"), True]),
    "sketch": (
        {},
        [[0, 0.1], [0.1, 0.9], [1, 0.2]],
        [[[0, 0.1], [1, 0.9]], [[0, 0.2], [0.9, 0.9], [1, 0.1]], [[0, 0.5], [1, 0.5]]],
        [[], [[0, 0]], [[0, 2], [1, 0]], [[1, 0], [0, 0]], [[0], [1]], "x", [[0, 0]] * 500],
    ),
}


def question(kind: str = "choice", name: str = "q", **more: Any) -> dict[str, Any]:
    return {"id": name, "kind": kind, "text": "What happens?", **CASES[kind][0], **more}


def answered(room: Room, values: list[Any], name: str = "q", confidence: int = 2, **more: Any) -> None:
    for k, value in enumerate(values):
        room.answer(f"key{k}", {"question": name, "answer": value, "confidence": confidence, **more})


# ------------------------------------------------------------------------------------------------------------ questions
def test_every_kind_is_tried_here() -> None:
    assert set(CASES) == set(PredictionKind.all)


@pytest.mark.parametrize("kind", CASES)
def test_answers_of_every_kind_are_checked_counted_and_judged(kind: str) -> None:
    _, right, wrong, refused = CASES[kind]
    room = Room()
    asked = room.ask(question(kind))
    answered(room, [right, *wrong])
    for given in refused:
        with pytest.raises(Refused):
            room.answer("somebody", {"question": "q", "answer": given, "confidence": 2})
    assert "somebody" not in asked.answers["before"]
    room.measure("q", "", right)
    verdicts = [asked.is_right(key, answer) for key, answer in asked.answers["before"].items()]
    assert verdicts == [True] + [False] * len(wrong)
    shown = tile(asked, room)
    assert sum(sum(entry["before"]) for entry in shown["bins"]) == 1 + len(wrong)
    assert shown["measured"][0][0] in [entry["label"] for entry in shown["bins"]]
    json.dumps(shown, allow_nan=False)


def test_a_linear_slider_has_a_tolerance_of_a_tenth_of_its_range() -> None:
    room = Room()
    asked = room.ask({"id": "s", "kind": "slider", "text": "%?", "low": 0, "high": 100})
    room.measure("s", "", 50)
    answered(room, [40.5, 39.5, 59.5, 61], "s")
    assert [asked.is_right(k, a) for k, a in asked.answers["before"].items()] == [True, False, True, False]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "essay"},
        {"kind": ["choice"]},
        {"choices": ["one"]},
        {"choices": ["a", "a"]},
        {"choices": ["a", ""]},
        {"choices": ["x" * 200, "b"]},
        {"choices": "ab"},
        {"choices": [str(k) for k in range(40)]},
        {"text": ""},
        {"text": "x" * 600},
        {"text": None},
        {"id": "x" * 100},
        {"low": 1, "high": 1},
        {"low": float("inf")},
        {"low": 0, "log": True},
        {"wrong": [1]},
        {"wrong": {"a": 1}},
    ],
    ids=str,
)
def test_questions_of_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    room = Room()
    with pytest.raises(Refused):
        room.ask({**question(), **wrong})
    assert not room.asked


# ----------------------------------------------------------------------------------------------------------- the board
@pytest.mark.parametrize(("right", "of", "talk"), [(2, 10, False), (3, 10, True), (7, 10, True), (8, 10, False)])
def test_talking_pays_between_30_and_70_per_cent_right(right: int, of: int, talk: bool) -> None:
    room = Room()
    asked = room.ask(question())
    answered(room, [1] * right + [0] * (of - right))
    assert tile(asked, room)["talk"] is False, "nothing was measured"
    room.measure("q", "", 1)
    assert tile(asked, room)["talk"] is talk
    room.vote("q", "after")
    room.answer("key0", {"question": "q", "answer": 1, "confidence": 3})
    assert tile(asked, room)["talk"] is False, "they have talked"


def test_a_tile_shows_before_and_after_confidence_wrong_answers_and_their_sentences() -> None:
    room = Room(clock=iter(range(100)).__next__)
    asked = room.ask(question(wrong={"more rows": "λ is a price."}))
    room.measure("q", "", 1)
    answered(room, [0, 0, 0, 1], confidence=1)
    room.vote("q", "after")
    answered(room, [1, 1, 0], confidence=3)
    shown = tile(asked, room)
    assert [(entry["before"], entry["after"]) for entry in shown["bins"]] == [
        ([3, 0, 0], [0, 0, 1]),
        ([1, 0, 0], [0, 0, 2]),
        ([0, 0, 0], [0, 0, 0]),
    ]
    assert shown["in"] == {"before": 4, "after": 3} and shown["right"] == 0.75
    assert shown["confidence"] == {"before": 1.0, "after": 3.0}
    assert shown["wrong"] == [{"label": "more rows", "count": 1, "sentence": "λ is a price."}]
    assert shown["seconds"] == pytest.approx(5.5), "the median of answers at 4, 5, 6 and 7 s, each student's last"


def test_a_page_judges_its_own_students_and_a_browser_does_not() -> None:
    room = Room()
    asked = room.ask(question("choice"), page="lesson")
    said = {"question": "q", "answer": 0, "confidence": 1, "right": True, "sentence": "Because.", "seconds": 7}
    room.answer("a", said, trusted=True)
    room.answer("b", said)
    first, second = asked.answers["before"].values()
    assert (first.right, first.sentence, first.seconds) == (True, "Because.", 7.0)
    assert (second.right, second.sentence) == (None, "")
    room.measure("q", "b", 1)
    assert asked.is_right("b", second) is False and tile(asked, room)["marked"] is False
    assert own(room, "a")["questions"] == [], "the page asks it itself"
    assert own(room, "a")["pages"]["q"] == {"locked": False, "revealed": False, "phase": "before"}


def test_locked_and_shown_questions_take_no_predictions_and_students_see_the_answer_only_then() -> None:
    room = Room()
    room.ask(question(wrong={"more rows": "λ is a price."}))
    with pytest.raises(Refused, match="nothing was measured"):
        room.reveal("q", True)
    room.measure("q", "", 1)
    answered(room, [0])
    (mine,) = own(room, "key0")["questions"]
    assert mine["mine"]["before"]["answer"] == 0
    assert not {"measured", "right", "bins", "sentence", "wrong"} & set(mine)
    room.lock("q", True)
    with pytest.raises(Refused, match="no more predictions"):
        answered(room, [1])
    room.lock("q", False)
    room.reveal("q", True)
    with pytest.raises(Refused, match="no more predictions"):
        answered(room, [1])
    (mine,) = own(room, "key0")["questions"]
    assert mine["right"] is False and mine["sentence"] == "λ is a price." and mine["measured"]["label"] == "fewer rows"
    with pytest.raises(Refused, match="before talking"):
        room.answer("key0", {"question": "q", "answer": 1, "phase": "after"})
    room.vote("q", "after")
    answered(room, [1])
    room.remove("q")
    with pytest.raises(Refused, match="no longer"):
        answered(room, [1])


# ---------------------------------------------------------------------------------------------------------- moderation
def test_nothing_that_a_student_types_is_shown_before_the_teacher_has_let_it_through() -> None:
    room = Room()
    room.call("a", "Ada")
    room.drop_in("a", "Why do rows vanish?")
    room.join("b")

    def seen_by_b() -> str:
        return json.dumps(own(room, "b")) + json.dumps([own(room, "b"), as_csv(room)])

    assert "Ada" not in seen_by_b() and "vanish" not in seen_by_b()
    (slip,) = board(room, 2)["box"]
    assert slip == {"id": "s1", "text": "Why do rows vanish?", "who": "student 1", "state": "waiting"}
    room.judge_slip("s1", "shown")
    assert "vanish" in seen_by_b() and "Ada" not in seen_by_b()
    room.judge_name(1, "shown")
    assert board(room, 2)["box"][0]["who"] == "Ada"
    room.call("a", "Eve")  # another name waits again
    assert board(room, 2)["box"][0]["who"] == "student 1" and board(room, 2)["names"] == [{"number": 1, "name": "Eve"}]
    room.judge_slip("s1", "removed")
    assert "vanish" not in seen_by_b() and not board(room, 2)["box"]
    for wrong in ("x", None, 5, ["shown"]):
        with pytest.raises(Refused):
            room.judge_slip("s1", wrong)
    for name in ("s9", None, ["s1"]):
        with pytest.raises(Refused):
            room.judge_slip(name, "shown")
    with pytest.raises(Refused):
        room.judge_name(99, "shown")


def test_typed_texts_are_one_line_without_hidden_characters() -> None:
    assert clean(" a\n b\u202e\u200b\x1b[31m ", 50, "x") == "a b[31m"
    assert clean("e\u0301" + "\u0301" * 50, 20, "x") == "é\u0301\u0301"
    assert clean("λ ≤ ½ <b>&amp;", 50, "x") == "λ ≤ ½ <b>&amp;", "escaping is the page's work"
    for wrong in ("", " \u200b", 5, None, "x" * 51, "x" * 10_000):
        with pytest.raises(Refused):
            clean(wrong, 50, "x")


def test_a_table_of_answers_starts_no_formula() -> None:
    room = Room()
    room.ask(question(choices=["=1+1", "-x", "c"], text="=cmd"))
    room.call("key0", "@SUM(A1)")
    room.judge_name(1, "shown")
    answered(room, [0, 1, 2])
    lines = list(csv.DictReader(io.StringIO(as_csv(room))))
    assert [line["answer"] for line in lines] == ["'=1+1", "'-x", "c"]
    assert lines[0]["student"] == "'@SUM(A1)" and lines[0]["text"] == "'=cmd" and lines[1]["student"] == "student 2"
    assert [line["right"] for line in lines] == ["", "", ""]


# -------------------------------------------------------------------------------------------------------------- limits
def test_students_questions_and_slips_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MOST_STUDENTS", 3)
    monkeypatch.setattr(rooms, "MOST_QUESTIONS", 2)
    monkeypatch.setattr(rooms, "MOST_SLIPS", 4)
    room = Room()
    for k in range(3):
        room.join(f"key{k}")
    with pytest.raises(Refused, match="no more are taken"):
        room.drop_in("key3", "hello")
    room.ask(question(name="a"))
    room.ask(question(name="b"))
    room.ask(question(name="b"))
    with pytest.raises(Refused, match="2 questions were asked"):
        room.ask(question(name="c"))
    with pytest.raises(Refused, match="with the name b"):
        room.ask(question("several", "b"), page="lesson")
    for _ in range(3):
        room.drop_in("key0", "hello")
    with pytest.raises(Refused, match="wait for the teacher"):
        room.drop_in("key0", "hello")
    room.drop_in("key1", "hello")
    with pytest.raises(Refused, match="the question box is full"):
        room.drop_in("key1", "hello")


# ------------------------------------------------------------------------------------------------------------- keeping
def a_lesson(room: Room) -> None:
    room.ask(question(wrong={"more rows": "λ is a price."}))
    room.ask(question("sketch", "gone"))
    answered(room, [0, 1])
    answered(room, CASES["sketch"][2], "gone")
    room.remove("gone")
    room.measure("q", "", 1)
    room.vote("q", "after")
    room.answer("key0", {"question": "q", "answer": 1, "confidence": 3})
    room.lock("q", True)
    room.call("key1", "Ada")
    room.judge_name(2, "shown")
    room.drop_in("key0", "Why?")
    room.lead(True, "/race?dataset=iris")


def test_a_kept_class_is_there_again_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "class.sqlite"
    keeper = Keeper(file)
    room = Room(keeper)
    a_lesson(room)
    before = board(room, 0)
    keeper.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "it holds the answers and the key of the board"
    again = Room(Keeper(file))
    assert board(again, 0) == before and before["kept"] is True and len(before["tiles"]) == 1
    assert again.join("key0").number == 1 and again.join("new").number == 4
    assert as_csv(again) == as_csv(room)
    assert "gone" not in "".join(key for key, _ in again.keeper.all("answer"))


def test_without_a_file_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    room = Room()
    a_lesson(room)
    room.keeper.flush()
    room.keeper.close()
    assert board(room, 0)["kept"] is False and not list(tmp_path.iterdir())


def test_what_is_no_file_of_a_class_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database, and longer than a header of one would be " * 10)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    newer = tmp_path / "newer.sqlite"
    Keeper(newer).close()
    with sqlite3.connect(newer) as base:
        base.execute("PRAGMA user_version = 9")
    base.close()
    for file in (text, other, newer):
        held = file.read_bytes()
        with pytest.raises(NotAClass, match=str(file.name)):
            Keeper(file)
        assert file.read_bytes() == held


def test_a_page_may_give_its_verdict_later_also_on_a_locked_question() -> None:
    room = Room()
    asked = room.ask(question(), page="lesson")
    room.answer("a", {"question": "q", "answer": 0, "confidence": 1}, trusted=True)
    room.lock("q", True)
    room.judge("a", "q", False, "It shrinks.")
    room.judge("nobody", "q", True)
    (answer,) = asked.answers["before"].values()
    assert (answer.right, answer.sentence, answer.seconds) == (False, "It shrinks.", None)
    assert tile(asked, room)["wrong"] == [{"label": "more rows", "count": 1, "sentence": "It shrinks."}]
    assert tile(asked, room)["seconds"] is None and "no" in as_csv(room)
    room.lock("q", False)
    room.vote("q", "after")
    room.answer("a", {"question": "q", "answer": 1, "confidence": 3}, trusted=True)
    room.judge("a", "q", True)
    assert [asked.answers[p]["a"].right for p in ("before", "after")] == [False, True]
