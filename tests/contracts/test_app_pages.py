"""Every page of the app: messages that a browser understands, settings that go through an address, refusals.

The pages with settings (`sparsescope.app.Page`) are held here; the explorer has its own tests.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparsescope.app import Page, _working
from sparsescope.app.lesson import LessonPage
from sparsescope.app.race import RacePage
from sparsescope.dashboard.page import address, script
from sparsescope.live.assets import STATIC
from sparsescope.registry import app_pages
from waiting import Said, finish, told, told_until, until

NAMES = [name for name in app_pages if isinstance(app_pages[name], type) and issubclass(app_pages[name], Page)]
LIMIT = 240.0  # seconds that a page's work may take on a busy machine
BAD: dict[str, list[Any]] = {
    "float": ["many", float("nan"), 1e300, -1e300, None, True],
    "int": ["many", 1.5, 10**12, None, True],
    "bool": ["perhaps", 7, None],
    "choice": ["no such thing", 3, None, "x" * 5000],
}


@pytest.fixture(params=NAMES)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    made = app_pages[request.param]()
    yield made
    made.close()


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in messages]


def test_there_are_pages_and_each_has_its_two_files() -> None:
    assert len(NAMES) >= 2
    for name in app_pages:
        assert (STATIC / "js" / script(name)).is_file()
        assert app_pages.title(name) and app_pages.doc(name)
        assert address(name).startswith("/")
    assert len({address(name) for name in app_pages}) == len(app_pages)


def test_each_page_has_a_file_for_panel_serve() -> None:
    folder = Path(__file__).resolve().parents[2] / "apps"
    assert {path.stem for path in folder.glob("*.py")} == set(app_pages)
    for name in NAMES:
        assert f'page_for_panel_serve("{name}")' in (folder / f"{name}.py").read_text(encoding="utf-8")


def test_nothing_is_said_before_the_browser_is_ready_and_then_all_that_it_needs(page: Page) -> None:
    assert page.poll() == []
    page.on_message({"type": "ready"})
    said = told(page)
    assert kinds(said)[:3] == ["page", "controls", "picture"]
    assert said[0]["title"] == page.title and set(said[0]["palette"]["themes"]) == {"light", "dark"}
    page.on_message({"type": "ready"})
    assert kinds(told(page))[:3] == ["page", "controls", "picture"], "a page that is shown again gets all of it again"


def test_every_setting_has_a_control_or_a_place_in_the_picture_and_each_control_is_a_setting(page: Page) -> None:
    page.on_message({"type": "ready"})
    controls = [c for group in page.controls() for c in group["controls"]]
    names = [control["id"] for control in controls]
    assert len(set(names)) == len(names) and set(names) <= set(page.settings)
    for control in controls:
        assert control["label"] and control["doc"] and control["kind"] in ("select", "slider", "number", "check")
        assert control["value"] == page.settings[control["id"]]


def test_settings_go_through_an_address_and_back(page: Page) -> None:
    kind = type(page)
    assert kind.query_from_settings(page.settings) == {}, "what is as at first is left out"
    changed = dict(page.settings)
    for f in kind.fields:
        if f.kind == "bool":
            changed[f.name] = not changed[f.name]
        elif f.kind == "choice":
            changed[f.name] = f.choices[-1]
        else:
            changed[f.name] = type(f.default)(f.high if f.high is not None else f.default + 1)
    back, notices = kind.settings_from_query(kind.query_from_settings(changed))
    assert back == changed and notices == []


def test_what_is_wrong_in_an_address_is_said_and_replaced(page: Page) -> None:
    kind = type(page)
    for f in kind.fields:
        for wrong in BAD[f.kind]:
            clean, notices = kind.settings_from_query({f.name: wrong})
            assert clean[f.name] == f.default and len(notices) == 1 and f.name in notices[0], (f.name, wrong)
            assert len(notices[0]) < 6000
    clean, notices = kind.settings_from_query({"nonsense": "1"})
    assert clean == page.settings and "nonsense" in notices[0]


def test_wrong_messages_get_a_sentence_and_change_nothing(page: Page) -> None:
    page.on_message({"type": "ready"})
    before = page.settings
    name = type(page).fields[0].name
    wrong: list[Any] = [
        None, [], "set", {}, {"type": 3}, {"type": "nonsense"}, {"type": "set"}, {"type": "set", "changes": {}},
        {"type": "set", "changes": [1]}, {"type": "set", "changes": {"nonsense": 1}},
        {"type": "set", "changes": {name: {"a": 1}}}, {"type": "set", "changes": {name: "x" * 10000}},
        {"type": "set", "changes": {str(k): k for k in range(1000)}}, {"type": "do"}, {"type": "do", "action": 7},
        {"type": "do", "action": "nonsense"},
    ]  # fmt: skip
    for message in wrong:
        told(page)
        page.on_message(message)
        errors = [m for m in told(page) if m["type"] == "error"]
        assert len(errors) == 1 and errors[0]["text"] and not errors[0]["detail"], message
        assert len(errors[0]["text"]) < 1000
    assert page.settings == before


def test_a_change_comes_back_as_a_picture_and_is_told_to_the_shell(page: Page) -> None:
    heard: list[dict[str, Any]] = []
    page.settings_changed = heard.append
    page.on_message({"type": "ready"})
    told(page)
    f = next(f for f in type(page).fields if f.kind in ("float", "int"))
    changed = f.low if page.settings[f.name] != f.low else f.high
    page.on_message({"type": "set", "id": "a-1", "changes": {f.name: changed}})
    pictures = [m for m in told(page) if m["type"] == "picture"]
    assert len(pictures) == 1 and pictures[0]["id"] == "a-1"
    assert heard and heard[-1][f.name] == changed == page.settings[f.name]


def test_controls_are_not_sent_again_while_a_value_is_dragged(page: Page) -> None:
    f = next((f for f in type(page).fields if f.kind == "float"), None)
    if f is None:
        pytest.skip("this page has no value that is dragged")
    page.on_message({"type": "ready"})
    told(page)
    alone, end = 0, time.monotonic() + 120
    for value in itertools.cycle((f.low, f.high)):
        page.on_message({"type": "set", "changes": {f.name: value}})
        said = [m for m in told(page) if m["type"] in ("controls", "settings")]
        assert said and all(m["settings"][f.name] == value for m in said)
        # Controls come along once more when the data are there: what solvers take is known then.
        alone += kinds(said) == ["settings"]
        if alone == 2:
            return
        assert time.monotonic() < end, "the controls come with each value"
        time.sleep(0.01)


@pytest.mark.parametrize("name", [name for name in NAMES if issubclass(app_pages[name], _working.WorkingPage)])
def test_what_was_measured_is_told_before_the_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work ends while the page puts its messages together, just before it says whether it still goes on."""
    given = {
        "dataset": "iris", "budget": "0.1", "seconds": "0.1", "n_lams": "5", "folds": "0", "resamples": "2",
        "tol": "0.01",
    }  # fmt: skip
    known = {f.name for f in app_pages[name].fields}
    page = app_pages[name](None, {key: value for key, value in given.items() if key in known})
    original = _working.WorkingPage.told_status

    def late(self: Any, text: str) -> Any:
        if self.work is not None:
            self.work._thread.join(LIMIT)
        return original(self, text)

    monkeypatch.setattr(_working.WorkingPage, "told_status", late)
    page.on_message({"type": "ready"})
    said = told(page)
    assert any(m["type"] == "status" and not m["running"] and not m["error"] for m in said), said[-1]
    # What follows may say the end in other words and switch controls on, but nothing that was measured is new.
    later = [m for m in told(page) if m["type"] not in ("status", "controls", "settings")]
    assert all(m in said for m in later), kinds(later)
    page.close()


def test_a_closed_page_is_silent(page: Page) -> None:
    page.on_message({"type": "ready"})
    page.close()
    page.close()
    page.on_message({"type": "ready"})
    assert page.poll() == []


OF_DATA = [name for name in NAMES if any(f.name == "dataset" for f in app_pages[name].fields)]


@pytest.mark.parametrize("what", ["covariance", "no labels"])
@pytest.mark.parametrize("name", OF_DATA)
def test_data_that_a_page_cannot_take_are_refused_in_words(name: str, what: str) -> None:
    import numpy as np

    import sparsescope as ss

    X = np.random.default_rng(0).normal(size=(30, 4))
    data: Any = ss.CovarianceProblem.from_data(X) if what == "covariance" else (X, None)
    page = app_pages[name](data, {})
    page.on_message({"type": "ready"})
    answer: str | None = None
    limit = time.monotonic() + 240.0
    while answer is None and time.monotonic() < limit:
        for message in told(page):
            assert not message.get("detail"), message
            if message["type"] in ("status", "described"):
                answer = message.get("error") or message.get("none") or answer
            if message["type"] == "points":  # the page takes them
                answer = "points"
        time.sleep(0.005)
    page.close()
    assert answer is not None
    assert answer == "points" if name == "network" else len(answer.split()) > 6 and answer[0].isupper(), answer


# ------------------------------------------------------------------------------------------------------------- the race
def test_a_race_says_every_point_once_and_its_table_agrees_with_python() -> None:
    import sparsescope as ss

    settings = {
        "dataset": "iris", "unit": "iterations", "budget": "300", "lane1": "bcd-ls", "lane2": "fista-ls",
        "lane3": "none", "lane4": "none",
    }  # fmt: skip
    page = app_pages["race"](None, settings)
    page.on_message({"type": "ready"})
    said = finish(page)
    page.close()
    table = [m for m in said if m["type"] == "table"][-1]
    problem = ss.Problem(ss.datasets.load("iris"), loss="multiclass-squared-hinge", penalty="l1/l2", lam_ratio=0.1)
    expected = ss.race(problem, ["bcd-ls", "fista-ls"], unit="iterations", budget=300).times()
    assert [row["name"] for row in table["rows"]] == list(expected.index)
    for row in table["rows"]:
        assert row["times"] == pytest.approx(list(expected.loc[row["name"]]), rel=1e-3)
    parts = [part for m in said if m["type"] == "points" for part in m["lanes"]]
    for lane in (0, 1):
        mine = [part for part in parts if part["lane"] == lane]
        iterations = [x for part in mine for x in part["iterations"]]
        assert iterations == sorted(iterations) and sorted(set(iterations)) == list(range(int(iterations[-1]) + 1))
        assert len(iterations) <= len(set(iterations)) + 1, "only the last point is measured again, with a certificate"


def test_a_race_rests_while_its_page_is_away_and_goes_on_when_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_working, "REST", 3600.0)  # however slow this machine is
    page = app_pages["race"](None, {"dataset": "iris", "unit": "iterations", "budget": "200", "lane3": "none"})
    prepared = RacePage._prepared

    def prepared_while_away(self: Any, work: Any) -> Any:
        run = yield from prepared(self, work)
        work.rest()  # what the page's `suspend` does, before the race can begin
        self.ready = run
        yield
        return run

    monkeypatch.setattr(RacePage, "_prepared", prepared_while_away)
    page.on_message({"type": "ready"})
    work = page.work
    until(lambda: hasattr(page, "ready"))
    time.sleep(0.1)
    assert work.running and not any(len(lane.trace) for lane in page.ready.lanes)
    work._rests_until = 0.0  # as when nobody has said for a while that the page is away
    assert [m for m in finish(page) if m["type"] == "table"]
    page.close()


def test_a_race_that_cannot_be_says_why() -> None:
    page = app_pages["race"](None, {"dataset": "iris", "lane1": "quic-of-no-kind"})
    assert "lane1" in page.notices[0]
    page = app_pages["race"](
        None, {"dataset": "iris", "loss": "crammer-singer"}
    )  # has kinks: bcd-ls needs a smooth one
    page.on_message({"type": "ready"})
    status = [m for m in finish(page) if m["type"] == "status"][-1]
    assert "smooth" in status["error"] and not status["detail"]
    choices = next(c for g in page.controls() for c in g["controls"] if c["id"] == "lane1")["choices"]
    assert any(c["disabled"] and c["reason"] for c in choices) and not all(c["disabled"] for c in choices)
    page.close()


# ------------------------------------------------------------------------------------------------------------- the prox
def test_the_prox_page_draws_what_the_penalties_compute() -> None:
    import numpy as np

    import sparsescope as ss

    page = app_pages["prox"](None, {"v1": "1.7", "v2": "-0.4", "tau": "0.6"})
    panels = {panel["name"]: panel for panel in page.picture()["panels"]}
    assert len(panels) >= 6
    for name, panel in panels.items():
        penalty = ss.registry.penalties.create(name)
        v = np.array([1.7, -0.4])
        p = penalty.prox(v, 0.6)
        assert panel["p"] == pytest.approx(list(p), abs=1e-5)
        for x, y in panel["zero_set"][::20]:
            assert np.allclose(penalty.prox(0.999 * np.array([x, y]), 0.6), 0.0)
            assert np.abs(penalty.prox(1.01 * np.array([x, y]), 0.6)).max() > 0
        for x, y in panel["level"][::20]:
            assert penalty.value(np.array([x, y])) == pytest.approx(penalty.value(p), rel=1e-4)
        assert panel["prox_formula"] and panel["saying"]
    tied = app_pages["prox"](None, {"v1": "2", "v2": "1.9", "tau": "1"}).picture()["panels"]
    assert "tied" in next(p for p in tied if p["name"] == "l1/linf")["saying"].lower()


def test_v_is_a_row_of_the_w_that_python_fits_until_a_hand_takes_it() -> None:
    import numpy as np

    import sparsescope as ss

    page = app_pages["prox"](None, {"source": "wine", "row": "2"})
    page.on_message({"type": "ready"})
    picture = told_until(page, lambda said: any("W: " in m.get("note", "") for m in said))[-1]
    problem = ss.Problem(ss.datasets.load("wine"), lam_ratio=0.1)
    W = ss.solve(problem, tol=1e-8).W
    j = int(np.argsort(-np.linalg.norm(W, axis=1))[1])
    assert picture["v"] == pytest.approx(list(W[j] * 2.0 / np.abs(W[j]).max()), abs=0.05)
    assert problem.feature_name(j) in picture["note"] and "number 2 of" in picture["note"]
    shown = {c["id"] for g in page.controls() for c in g["controls"]}
    assert "row" in shown and not shown & {"v1", "count"}
    page.on_message({"type": "set", "changes": {"source": "by hand", "count": 3, "v1": 1.0}})
    picture = [m for m in told(page) if m["type"] == "picture"][-1]
    assert picture["v"][0] == 1.0 and len(picture["v"]) == 3 and picture["note"] == ""
    page.close()


def test_more_entries_are_bars_and_have_their_controls() -> None:
    page = app_pages["prox"](None, {"count": "5"})
    assert len(page.picture()["v"]) == 5 and all(not panel["zero_set"] for panel in page.picture()["panels"])
    shown = [c["id"] for group in page.controls() for c in group["controls"]]
    assert "v5" in shown and "v6" not in shown


# ---------------------------------------------------------------------------------------------------------- the lessons
def run_has_ended(said: Said) -> bool:
    return any(message["type"] == "running" and not message["running"] for message in said)


def lesson_says(page: Page, kind: str) -> dict[str, Any]:
    """The last message of this kind when the run has ended."""
    said = told_until(page, run_has_ended)
    assert not [message for message in said if message["type"] == "error"]
    return [message for message in said if message["type"] == kind][-1]


def test_a_lesson_page_tells_no_answer_before_it_is_asked_and_agrees_with_python() -> None:
    import sparsescope as ss

    page = app_pages["lesson"](None, {"lesson": "01", "student": "3"})
    page.on_message({"type": "ready"})
    picture = next(m for m in told(page) if m["type"] == "picture")
    shown = picture["lesson"]
    lesson = ss.lesson(1).lesson
    assert shown["title"] == lesson.title and len(shown["predictions"]) == len(lesson.predictions)
    for text in (lesson.predictions[0].explained, lesson.predictions[0].claim, *lesson.predictions[0].wrong.values()):
        assert text not in json.dumps(shown["predictions"], ensure_ascii=False)
    page.on_message({"type": "do", "action": "predict", "k": 4, "answer": "half", "sure": 2})
    reveal = lesson_says(page, "reveal")
    python = ss.lesson(1).check(4, "half")
    assert reveal["measured"] == python.finding.answer and reveal["said"] == python.finding.said
    assert reveal["right"] is False and lesson.predictions[3].wrong["half"] in reveal["sentences"]
    page.on_message({"type": "do", "action": "elsewhere", "k": 1})
    rows = lesson_says(page, "elsewhere")["rows"]
    assert rows and all(row["holds"] for row in rows)
    page.on_message({"type": "do", "action": "check", "k": "a", "answer": {"tau": "0"}})
    assert lesson_says(page, "mark")["passed"] is False
    page.on_message({"type": "do", "action": "scene", "k": "card"})
    assert lesson_says(page, "frame")["picture"]["draw"] == "lines"
    page.on_message({"type": "do", "action": "elsewhere", "k": 2})  # three data sets
    page.on_message({"type": "do", "action": "stop"})
    said = told_until(page, run_has_ended)
    assert not any(message["type"] == "error" or message.get("done") for message in said), "it was stopped"
    page.close()


def test_a_lesson_that_is_loaded_again_during_a_run_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, end = threading.Event(), threading.Event()
    done = {"type": "scene", "k": "card", "picture": {}, "said": "Done."}

    def work(job: Any) -> None:
        begun.set()
        assert end.wait(240.0)
        job.tell(done)

    monkeypatch.setattr(LessonPage, "_scene", lambda *_: work)
    page = app_pages["lesson"](None, {"lesson": "01"})
    page.on_message({"type": "ready"})
    assert "running" not in kinds(told(page)), "nothing is under way"
    ask = {"type": "do", "action": "scene", "k": "card"}
    page.on_message(ask)
    assert begun.wait(240.0) and "running" in kinds(told(page))
    page.on_message({"type": "ready"})  # the browser has loaded the page again
    said = told(page)
    assert {"type": "running", "running": True} in said and kinds(said).index("running") < kinds(said).index("picture")
    page.on_message(ask)
    assert [m["text"] for m in told(page) if m["type"] == "error"] == ["a run is under way; wait until it has ended"]
    end.set()
    assert lesson_says(page, "scene") == done, "what was under way reaches the page that was loaded again"
    page.on_message({"type": "ready"})
    assert "running" not in kinds(told(page))
    page.on_message(ask)
    assert lesson_says(page, "scene") == done
    page.close()


def test_a_lesson_page_refuses_in_sentences() -> None:
    page = app_pages["lesson"](None, {"lesson": "01"})
    page.on_message({"type": "ready"})
    for wrong in (
        {"action": "predict", "k": 99, "answer": "half", "sure": 1}, {"action": "predict", "k": True, "sure": 1},
        {"action": "predict", "k": 4, "answer": "half", "sure": 9}, {"action": "predict", "k": 4, "answer": {}},
        {"action": "predict", "k": 4, "answer": ["x"] * 10**5, "sure": 1}, {"action": "scene", "k": ["card"]},
        {"action": "check", "k": "a", "answer": {"tau": "many"}}, {"action": "check", "k": "a", "answer": 3},
        {"action": "check", "k": "z", "answer": {}}, {"action": "nonsense"},
    ):  # fmt: skip
        told(page)
        page.on_message({"type": "do", **wrong})
        errors = [m for m in told(page) if m["type"] == "error"]
        assert len(errors) == 1 and errors[0]["text"] and not errors[0]["detail"], wrong
    page.close()


def test_each_lesson_has_an_address_below_the_page_of_lessons() -> None:
    from sparsescope.dashboard.page import Site

    assert {"/lesson", "/lesson/01"} <= set(Site().routes())
    assert app_pages["lesson"].places()["/lesson/01"] == {"lesson": "01"}
    assert {"/lesson/10a", "/lesson/10b"} <= set(Site().routes()) and Site().moved()["/lesson/10"] == "10a"


def test_three_entries_are_drawn_in_space_with_the_cuts_of_the_set_that_goes_to_zero() -> None:
    import numpy as np

    import sparsescope as ss

    page = app_pages["prox"](None, {"count": "3", "space": "true", "tau": "0.7"})
    picture = page.picture()
    assert picture["space"]
    cut = {panel["name"]: panel["sections"] for panel in picture["panels"]}
    assert len(cut["l1"]) == len(cut["l1/linf"]) == 3 and cut["ridge"] == []
    for name, sections in cut.items():
        penalty = ss.registry.penalties.create(name)
        for k, section in enumerate(sections):
            for point in section[::15]:
                assert point[(k + 2) % 3] == pytest.approx(0.0, abs=1e-12)
                assert np.allclose(penalty.prox(0.999 * np.array(point), 0.7), 0.0)
                assert np.abs(penalty.prox(1.01 * np.array(point), 0.7)).max() > 0
    assert not app_pages["prox"](None, {"count": "4", "space": "true"}).picture()["space"]
