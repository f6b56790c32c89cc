"""Every lesson: its verdicts hold where it says so, its checkers know right from wrong, its texts use known terms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

import sparsescope as ss
from helpers import import_nbformat
from sparsescope.lessons import AnswerError, Case, Lesson, Prediction
from sparsescope.lessons.base import no_show
from sparsescope.lessons.kinds import Order, Slider
from sparsescope.lessons.notebooks import text_of
from sparsescope.lessons.pictures import as_text
from sparsescope.lessons.terms import TERMS, used
from sparsescope.registry import lessons

ROOT = Path(__file__).resolve().parents[2]
ALL: list[Lesson] = [lessons[name] for name in lessons]
PREDICTIONS = [(lesson, k) for lesson in ALL for k in range(1, len(lesson.predictions) + 1)]
TAKING = [(lesson, k) for lesson, k in PREDICTIONS if lesson.predictions[k - 1].takes_data]
EXERCISES = [(lesson, letter) for lesson in ALL for letter in lesson.exercises]
DRAWN = {"lines", "bars", "maps", "table"}
SCENES = [(lesson, name) for lesson in ALL for name in lesson.scenes]
STUDENTS = (0, 1, 12)


def named(value: Any) -> str:
    return value.place if isinstance(value, Lesson) else str(value)


each_lesson = pytest.mark.parametrize("lesson", ALL, ids=named)
each_prediction = pytest.mark.parametrize(("lesson", "k"), PREDICTIONS, ids=named)
each_exercise = pytest.mark.parametrize(("lesson", "letter"), EXERCISES, ids=named)


def one_of_a_kind(found: Iterable[tuple[Lesson, Any]], kind: Callable[[Lesson, Any], Any]) -> list[Any]:
    """Parameters of tests whose runs take seconds: one of each lesson and one of each kind, the others are slow."""
    met: set[Any] = set()
    chosen = []
    for lesson, which in found:
        now = {lesson.number, kind(lesson, which)}
        chosen.append(pytest.param(lesson, which, marks=pytest.mark.slow if now <= met else ()))
        met |= now
    return chosen


def kind_of_answer(lesson: Lesson, k: int) -> type:
    return type(lesson.predictions[k - 1].kind)


def form_of_answer(lesson: Lesson, letter: str) -> tuple[str, ...]:
    return tuple(given.kind for given in lesson.exercises[letter].inputs)


def place_of_scene(lesson: Lesson, name: str) -> str:
    scene = lesson.scenes[name]
    return "before" if scene is lesson.before else "break" if scene in lesson.breaks else "opening"


def judged(p: Prediction, case: Case) -> None:
    """Run a case, and hold what follows from its finding."""
    found = p.run(case, no_show)
    assert bool(found.holds) is (case in p.holds), f"{case}: {found.said}"
    assert found.said.endswith(".") and any(c.isdigit() for c in found.said), "the numbers of the run are said"
    json.dumps(found.picture, allow_nan=False)
    assert found.picture["draw"] in DRAWN and as_text(found.picture)
    missing = [key for key in p.kind.mistakes(found.answer) if not p.wrong.get(key, "").strip()]
    assert not missing, f"{case}: no sentence for {missing}"
    if isinstance(found.answer, dict):
        assert min(found.answer.values()) >= 0, "the numbers of an order stand beside the student's own as measured"
    right = p.kind.judge(p.kind.clean(p.kind.right(found.answer)), found.answer)
    assert right.right and not right.keys
    for key in p.kind.mistakes(found.answer):
        wrong = p.kind.judge(p.kind.clean(p.kind.example(key, found.answer)), found.answer)
        assert not wrong.right and key in wrong.keys


@pytest.mark.parametrize(
    ("kind", "measured", "right", "wrong"),
    [
        (Slider(10, 3034, "rows", near=1.5, log=True, whole=True), 4, (10, 15), (16, 3034)),
        (Slider(-50.0, 100.0, "%", near=15.0), -103.2, (-50.0, -35.0), (-34.0, 100.0)),
    ],
)
def test_the_end_of_a_slider_stands_for_what_lies_beyond_it(
    kind: Slider, measured: float, right: tuple[float, ...], wrong: tuple[float, ...]
) -> None:
    assert all(kind.judge(answer, measured).right for answer in right)
    assert all(kind.judge(answer, measured).keys == ("high",) for answer in wrong)
    assert kind.mistakes(measured) == ("high",)
    assert "as measured" not in kind.judge(kind.low, measured).distance


def test_an_order_may_begin_with_the_largest_number() -> None:
    most = Order({"a": "A", "b": "B", "c": "C"}, "most", "fewest", falling=True)
    measured = {"a": 3.0, "b": 52.0, "c": 3.0}
    assert most.right(measured)[0] == "b" and most.shown(measured) == "B → A = C" and most.message()["falling"]
    assert most.judge(["b", "c", "a"], measured).right and not most.judge(["a", "b", "c"], measured).right


def test_one_of_a_thing_is_not_called_many() -> None:
    rows = Slider(0, 64, "rows", one="row", near=0.5, whole=True)
    assert (rows.shown(1.0), rows.shown(2.0)) == ("1 row", "2 rows")
    share = Slider(0.0, 100.0, "%", near=10.0)
    assert [share.judge(answer, 50.0).distance for answer in (49.0, 38.0)] == ["1 point too low", "12 points too low"]
    for lesson, k in PREDICTIONS:
        kind = lesson.predictions[k - 1].kind
        if isinstance(kind, Slider) and kind.low <= 1 <= kind.high and kind.unit.split()[0].endswith("s"):
            assert kind.unit == "times" or kind.one, f"{lesson.place}: {kind.shown(1)}"


@each_lesson
def test_a_lesson_is_complete(lesson: Lesson) -> None:
    assert lesson.number >= 1 and lesson.slug == lesson.slug.lower() and " " not in lesson.slug
    assert 10 <= lesson.minutes <= 25 and lesson.idea.endswith(".") and lesson.asks.endswith("?")
    assert len(lesson.predictions) >= 3 and lesson.breaks and len(lesson.exercises) >= 2 and lesson.sources
    assert len(lesson.afterwards) == 3 and all(text.strip() for text in lesson.texts()[:4])
    for source in lesson.sources:
        for file in source.files:
            assert (ROOT / "toolkit" / "sparsescope" / file).exists(), f"{file} does not exist"


@each_lesson
def test_the_pages_of_a_lesson_have_all_of_it_once_and_in_its_order(lesson: Lesson) -> None:
    first, *others = lesson.pages
    assert first.opening is lesson.opening and len({page.letter for page in lesson.pages}) == len(lesson.pages)
    assert len({id(scene) for scene in lesson.scenes.values()}) == len(lesson.scenes)
    assert all(page.letter and page.title and page.asks.endswith((".", "?")) for page in (first, *others) if others)
    for name, of_the_lesson in (("predictions", lesson.predictions), ("breaks", lesson.breaks)):
        there = [k for page in lesson.pages for k in getattr(page, name)]
        assert there == list(range(1, len(of_the_lesson) + 1)), f"{name} by number"
    assert [letter for page in lesson.pages for letter in page.exercises] == list(lesson.exercises)
    assert sorted(k for page in lesson.pages for k in page.afterwards) == [1, 2, 3]
    assert all(page.predictions and page.breaks and page.exercises for page in lesson.pages)


def test_each_lesson_has_its_runs_in_the_tests_of_every_time() -> None:
    for found, kind in ((PREDICTIONS, kind_of_answer), (EXERCISES, form_of_answer), (SCENES, place_of_scene)):
        chosen = one_of_a_kind(found, kind)
        assert [param.values for param in chosen] == found
        fast = [param.values for param in chosen if not param.marks]
        assert {lesson.number for lesson, _ in fast} == {lesson.number for lesson in ALL}
        assert {kind(*one) for one in fast} == {kind(*one) for one in found}


def test_numbers_names_and_files_of_lessons_are_their_own() -> None:
    assert ALL, "there are lessons"
    for key in ("number", "slug", "notebook"):
        assert len({getattr(lesson, key) for lesson in ALL}) == len(ALL)
    assert [lesson.number for lesson in ALL] == sorted(lesson.number for lesson in ALL)


@pytest.mark.parametrize(("lesson", "k"), one_of_a_kind(PREDICTIONS, kind_of_answer), ids=named)
def test_the_verdict_holds_on_the_student_s_own_run(lesson: Lesson, k: int) -> None:
    p = lesson.predictions[k - 1]
    judged(p, p.home)


@pytest.mark.slow
@each_prediction
def test_the_verdict_holds_and_fails_where_the_lesson_says_so(lesson: Lesson, k: int) -> None:
    p = lesson.predictions[k - 1]
    for case in (*p.holds[1:], *p.fails):
        judged(p, case)


def drawn(picture: dict[str, Any]) -> tuple[tuple[str, ...], set[str]]:
    """Axes of a picture, and the names of what is drawn there."""
    axes = tuple(str(picture.get(key, "")) for key in ("draw", "x", "y", "unit", "columns"))
    parts = picture.get("lines") or picture.get("bars") or picture.get("maps") or []
    return axes, {part["name"] for part in parts} or {str(row[0]) for row in picture.get("rows", [])}


@pytest.mark.slow
@each_lesson
def test_no_picture_of_a_lesson_shows_what_a_later_one_asks_about_the_same_data(lesson: Lesson) -> None:
    seen: list[tuple[Case, tuple[str, ...], set[str]]] = []
    for p in lesson.predictions:
        axes, names = drawn(p.run(p.home, no_show).picture)
        told = [case for case, there, shown in seen if case == p.home and there == axes and names <= shown]
        assert not told, f"{p.question} An earlier prediction has drawn {sorted(names)}."
        seen.append((p.home, axes, names))


@each_prediction
def test_a_prediction_can_be_repeated_elsewhere_and_says_where_it_holds(lesson: Lesson, k: int) -> None:
    p = lesson.predictions[k - 1]
    assert p.elsewhere and p.home not in p.elsewhere
    assert not set(p.holds) & set(p.fails) and len(set(p.holds)) == len(p.holds)
    assert p.question.strip().endswith(("?", ".", ")")) and p.claim.endswith(".") and p.explained.endswith(".")
    assert set(p.wrong) and all(text.endswith((".", "?")) for text in p.wrong.values())


@each_prediction
def test_answers_that_do_not_fit_are_refused_in_a_sentence(lesson: Lesson, k: int) -> None:
    kind = lesson.predictions[k - 1].kind
    for answer in (None, "no such answer", float("nan"), {}, [1, "two"], True, "x" * 10_000, [[]], -1e300):
        with pytest.raises(AnswerError) as error:
            kind.clean(answer)
        assert len(str(error.value)) < 1500
    assert kind.clean(kind.guess()) is not None and kind.how() and json.dumps(kind.message(), allow_nan=False)


@pytest.mark.parametrize(("lesson", "letter"), one_of_a_kind(EXERCISES, form_of_answer), ids=named)
def test_a_checker_accepts_a_right_answer_and_refuses_a_wrong_one(lesson: Lesson, letter: str) -> None:
    exercise, student = lesson.exercises[letter], STUDENTS[0]
    right, wrong = (exercise.check(make(student), student) for make in (exercise.right, exercise.wrong))
    assert right.passed and right.said, right.said
    assert not wrong.passed and wrong.said, wrong.said
    assert exercise.code and exercise.task(student)


@pytest.mark.slow
@each_exercise
def test_a_checker_knows_every_student_and_refuses_nonsense(lesson: Lesson, letter: str) -> None:
    exercise = lesson.exercises[letter]
    for student in STUDENTS[1:]:
        assert exercise.check(exercise.right(student), student).passed
        assert not exercise.check(exercise.wrong(student), student).passed
    for nonsense in (None, "many", {}, [], float("nan"), {"penalty": 3}):
        mark = exercise.check(nonsense, 0)
        assert not mark.passed and mark.said


@pytest.mark.slow
@each_exercise
def test_no_number_said_of_a_wrong_answer_is_a_right_one(lesson: Lesson, letter: str) -> None:
    exercise, numbers = lesson.exercises[letter], re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
    # The task itself gives some, the sentence their sizes.
    given = {number.lstrip("-") for number in numbers.findall(exercise.task(0))}
    for number in numbers.findall(exercise.check(exercise.wrong(0), 0).said):
        if number.lstrip("-") in given:
            continue
        assert not exercise.check(float(number), 0).passed, f"{number} is the answer"


@pytest.mark.parametrize(("lesson", "name"), one_of_a_kind(SCENES, place_of_scene), ids=named)
def test_every_scene_shows_pictures_and_numbers_of_its_run(lesson: Lesson, name: str) -> None:
    shown: list[Any] = []
    picture, said = lesson.scenes[name].run(shown.append)
    assert picture["draw"] in DRAWN and as_text(picture) and any(c.isdigit() for c in said)
    assert shown and {frame["draw"] for frame in shown} <= DRAWN
    json.dumps([*shown, picture], allow_nan=False)


@each_lesson
def test_nothing_is_used_that_was_not_introduced(lesson: Lesson) -> None:
    before = {name for name, term in TERMS.items() if term.known}
    for other in ALL:
        if other.number < lesson.number:
            before |= set(other.introduces)
    assert set(lesson.needs) <= before, f"introduced nowhere before: {sorted(set(lesson.needs) - before)}"
    allowed = {name for name, term in TERMS.items() if term.known} | set(lesson.needs) | set(lesson.introduces)
    for text in lesson.texts():
        assert used(text) <= allowed, f"{sorted(used(text) - allowed)} in: {text}"
    said = {name for text in lesson.texts() for name in used(text)}
    assert set(lesson.introduces) <= said, f"introduced, but never said: {sorted(set(lesson.introduces) - said)}"


@each_lesson
def test_the_notebook_is_up_to_date(lesson: Lesson) -> None:
    import_nbformat()
    path = ROOT / "notebooks" / lesson.notebook
    assert path.is_file() and path.read_text(encoding="utf-8") == text_of(lesson), "make notebooks"


def test_every_lesson_stands_in_the_docs() -> None:
    page = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")
    for lesson in ALL:
        assert f"| {lesson.number} | [{lesson.title}](../notebooks/{lesson.notebook})" in page, "make tables"


# ------------------------------------------------------------------------------------------------------- plain Python
def test_a_lesson_in_python_asks_compares_checks_and_goes_on(tmp_path: Path) -> None:
    kept = tmp_path / "one.json"
    rows = ss.lesson(1, student=3, keep=str(kept))
    assert "one of:" in rows.ask(4) and repr(rows.ask(4)) == str(rows.ask(4))
    assert rows.ask(4)._repr_html_().startswith('<pre style="white-space: pre-wrap">Lesson 1')
    reveal = rows.predict(4, "half", sure=3)
    assert not reveal.right and "your answer: about half (sure: 3 of 3)" in reveal
    assert ALL[0].predictions[3].wrong["half"] in reveal and reveal.finding is not None
    assert rows.check(4, reveal.finding.answer).right
    rows.predict(4, reveal.finding.answer)
    again = ss.lesson(1, student=3, keep=str(kept))
    assert again.answers["4"] == {"answer": "half", "sure": 3, "right": False}, "the first answer is kept"
    exercise = rows.lesson.exercises["a"]
    assert rows.check("a", exercise.right(3)).right and not rows.check("a", exercise.wrong(3)).right
    assert "sure 3 of 3: 0 of 1 right" in rows.say_it() and "of 7 answered" in repr(rows)
    assert rows.elsewhere(1).count("holds") >= 1 and rows.break_it(2) and rows.task("b")


def test_a_vote_before_talking_and_votes_on_other_data_stand_beside_what_is_measured() -> None:
    rows = ss.lesson(1)
    assert "vote again" in rows.vote(4, "half", sure=1) and rows.given(4) is None
    rows.vote(4, "none")
    reveal = rows.predict(4, "few", sure=3)
    assert "your first vote: about half (sure: 1 of 3)" in reveal, "the first vote is kept"
    places = [case.data for case in rows.lesson.predictions[3].elsewhere]
    told: list[str] = []
    beside = rows.elsewhere(4, {places[0]: True}, told.append)
    assert beside.splitlines()[1:-1] == told, "each line as soon as it is known"
    assert ("as you said" in beside) != ("you said otherwise" in beside)
    with pytest.raises(AnswerError, match="measured already"):
        rows.vote(4, "half")
    with pytest.raises(AnswerError, match="does not run on 'nowhere'"):
        rows.elsewhere(4, {"nowhere": True})
    rows.forget(4)
    assert rows.given(4) is None and "first vote" not in rows.predict(4, "half")


def test_a_vote_before_talking_is_kept_in_the_file_and_read_again(tmp_path: Path) -> None:
    kept = tmp_path / "one.json"
    ss.lesson(1, keep=str(kept)).vote(4, "half", sure=1)
    written = json.loads(kept.read_text(encoding="utf-8"))
    assert written["firsts"] == {"4": {"answer": "half", "sure": 1}} and written["answers"] == {}
    again = ss.lesson(1, keep=str(kept))
    assert "your first vote: about half (sure: 1 of 3)" in again.predict(4, "few", sure=3)
    for firsts in ({"9": {"answer": "half", "sure": 1}}, {"4": {"answer": "half", "sure": 7}}, {"4": "half"}, [4]):
        kept.write_text(json.dumps({**written, "firsts": firsts}), encoding="utf-8")
        with pytest.raises(AnswerError, match="holds no answers"):
            ss.lesson(1, keep=str(kept))
    del written["firsts"]  # a file of an earlier version
    kept.write_text(json.dumps(written), encoding="utf-8")
    assert ss.lesson(1, keep=str(kept)).given(4) is None


def test_a_claim_is_repeated_on_data_that_are_named() -> None:
    rows = ss.lesson(1)
    claim, line, _where = rows.elsewhere(4, {"iris": True}, data="iris").splitlines()
    assert claim.startswith("Claim: ") and line.startswith("iris, seed 0: ") and "you said" in line
    with pytest.raises(AnswerError, match="vote on iris"):
        rows.elsewhere(4, {"wine": True}, data=["iris"])
    with pytest.raises(AnswerError, match="makes what it runs on"):
        rows.elsewhere(1, data="iris")
    with pytest.raises(ValueError, match="no-such-data"):
        rows.elsewhere(4, data="no-such-data")


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "k"), TAKING, ids=named)
def test_a_prediction_runs_on_data_of_one_s_own_and_knows_its_mistakes(lesson: Lesson, k: int, tmp_path: Path) -> None:
    X, y = make_classification(200, 12, n_informative=6, n_redundant=3, n_classes=4, random_state=1)
    mine = str(tmp_path / "mine.npz")
    np.savez(mine, X=X, y=y)
    p = lesson.predictions[k - 1]
    told = ss.lesson(lesson.number).elsewhere(k, data=mine)
    assert told.splitlines()[1].startswith((f"{mine}, seed 0: holds. ", f"{mine}, seed 0: does not hold. ")), told
    found = p.run(Case(mine), no_show)
    missing = [key for key in p.kind.mistakes(found.answer) if not p.wrong.get(key, "").strip()]
    assert not missing, f"no sentence for {missing}: {found.said}"


def test_wrong_use_of_a_lesson_gets_a_sentence(tmp_path: Path) -> None:
    rows = ss.lesson(1)
    bad = tmp_path / "bad.json"
    bad.write_text('{"format": 1}')
    for refused in (
        lambda: ss.lesson(99), lambda: ss.lesson("nothing"), lambda: ss.lesson(True), lambda: rows.ask(0),
        lambda: rows.ask(9), lambda: rows.predict(1, "l1"), lambda: rows.predict(4, "none", sure=7),
        lambda: rows.check("z", 1), lambda: rows.break_it(0), lambda: rows.task("q"),
        lambda: rows.opening("z"),
        lambda: ss.lesson(1, keep=str(bad)),
    ):  # fmt: skip
        with pytest.raises(ss.SparsescopeError):
            refused()
