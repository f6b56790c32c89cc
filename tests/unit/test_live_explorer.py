"""The explorer with real sessions on tiny data, driven by messages as a page would send them."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sparsescope import registry
from sparsescope.live import Explorer, director, python_snippet
from sparsescope.live import settings as st
from sparsescope.problems.prediction import Problem
from sparsescope.runs.run import Run

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 8))
Y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int) + (X[:, 1] > 0.5)


class Page:
    """The other end: keeps what the explorer sends, gives credits back, and checks that all is JSON."""

    def __init__(self, explorer: Explorer, draw: bool = True) -> None:
        self.explorer, self.draw = explorer, draw
        self.messages: list[dict[str, Any]] = []
        self.bytes = 0
        self.number = 0

    def send(self, type: str, /, **fields: Any) -> str:
        self.number += 1
        key = f"id{self.number}"
        self.explorer.on_message({"type": type, "id": key, **fields})
        return key

    def poll(self) -> None:
        for header, buffers in self.explorer.poll():
            json.dumps(header, allow_nan=False)
            assert len(buffers) <= 1
            self.bytes += sum(map(len, buffers))
            self.messages.append(header)
            if header["type"] == "frame" and self.draw:
                self.explorer.on_message({"type": "credit", "n": 1})

    def until(self, condition: Callable[[], Any], what: str, timeout: float = 120.0) -> Any:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self.poll()
            found = condition()
            if found:
                return found
            time.sleep(0.005)
        raise AssertionError(f"waited {timeout} s for {what}; last frame: {self.frames()[-1:]}")

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [m for m in self.messages if m["type"] == kind]

    def frames(self) -> list[dict[str, Any]]:
        return self.of("frame")

    def last(self) -> dict[str, Any]:
        return self.frames()[-1]

    def applied(self, key: str) -> None:
        self.until(lambda: any(key in f["applied"] for f in self.frames()), f"the effect of {key}")

    def marks(self) -> list[dict[str, Any]]:
        return [mark for frame in self.frames() for mark in frame["marks"]]

    def rest(self, mode: str = "") -> dict[str, Any]:
        """Wait until the session rests and the page has seen all of it; the last frame."""
        session = self.explorer.session
        assert session is not None and session.wait_idle(120.0), session

        def seen() -> bool:
            last, at = self.last(), session.status()
            return bool(last["total"] == len(session.trace) and last["mode"] == at.mode and session.wait_idle(120.0))

        self.until(seen, "all of a run at rest")
        assert not mode or self.last()["mode"] == mode, self.last()
        return self.last()

    def start(self) -> Page:
        self.send("ready")
        self.until(lambda: self.frames() and self.last()["total"] > 0, "the starting point")
        return self


@pytest.fixture
def client() -> Iterator[Page]:
    explorer = Explorer((X, Y), {"speed": "max", "lam_ratio": 0.05}, allow_data_choice=False)
    yield Page(explorer)
    explorer.close()


def test_nothing_happens_before_the_page_is_ready() -> None:
    explorer = Explorer((X, Y))
    assert explorer.poll() == []
    assert explorer.session is None
    explorer.close()
    explorer.close()


def test_the_first_screen_says_what_the_problem_is(client: Page) -> None:
    client.start()
    facts = client.of("problem")[-1]
    problem = Problem(X, Y, lam=1.0)
    assert (facts["n"], facts["d"], facts["m"]) == (60, 8, 3)
    assert facts["objective0"] == pytest.approx(problem.objective(None))
    assert facts["lam_max"] == pytest.approx(problem.lam_max)
    assert sum(facts["class_sizes"]) == 60
    assert {view["kind"] for view in facts["views"]} == {
        "threshold",
        "words",
        "lines",
        "raster",
        "matrix",
        "confusion",
        "spectrum",
    }
    assert client.last()["status"]["iteration"] == 0
    assert client.last()["lam"] == pytest.approx(0.05 * problem.lam_max)
    assert client.of("controls")


def test_run_pause_step_reset(client: Page) -> None:
    client.start()
    client.applied(client.send("do", action="step", n=3))
    client.until(lambda: client.last()["status"]["iteration"] == 3, "three steps")
    client.applied(client.send("do", action="step", n=10))
    client.until(lambda: client.last()["status"]["iteration"] == 13, "ten more")
    epoch = client.last()["epoch"]
    client.applied(client.send("do", action="reset"))
    client.until(lambda: client.last()["epoch"] == epoch + 1 and client.last()["total"] == 1, "a new start")
    client.applied(client.send("do", action="run"))
    client.until(lambda: client.last()["mode"] == "finished", "the optimum")
    assert "certified" in client.last()["message"]
    assert client.last()["status"]["relative_gap"] < 1e-11


def test_a_run_that_is_paused_stays_where_it_is(client: Page) -> None:
    client.start()
    client.applied(client.send("set", changes={"speed": 20, "lam_ratio": 0.001}))  # the optimum is far away
    client.applied(client.send("set", changes={"solver": "ista"}))
    client.applied(client.send("do", action="run"))
    client.until(lambda: client.last()["status"]["iteration"] > 2, "some iterations")
    client.applied(client.send("do", action="pause"))
    client.rest("paused")
    assert not client.last()["playing"]
    at = client.last()["total"]
    time.sleep(0.15)
    client.poll()
    assert client.last()["total"] == at == len(client.explorer.session.trace)


def test_tweaks_keep_the_weights_and_leave_marks(client: Page) -> None:
    client.start()
    client.applied(client.send("do", action="step", n=5))
    client.rest("paused")
    session = client.explorer.session
    client.applied(client.send("set", changes={"lam_ratio": 0.5}))
    client.applied(client.send("set", changes={"solver": "fista-ls"}))
    client.applied(client.send("set", changes={"penalty": "elastic-net", "penalty.rho": 0.25}))
    client.applied(client.send("set", changes={"loss": "logistic"}))
    client.applied(client.send("set", changes={"loss.margin": 1.0}))
    client.rest("paused")
    assert client.explorer.session is session
    kinds = [mark["kind"] for mark in client.marks()]
    for kind in ("lam", "solver", "penalty", "loss"):
        assert kind in kinds
    problem = session.problem
    assert problem.penalty.rho == 0.25 and problem.loss.margin == 1.0
    assert client.last()["lam"] == pytest.approx(0.5 * problem.lam_reference)
    assert client.explorer.settings["lam_ratio"] == 0.5
    assert client.last()["status"]["iteration"] == 5


def test_a_change_has_its_effect_when_its_point_is_there(client: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    client.start()
    client.applied(client.send("do", action="step", n=1))
    client.rest("paused")
    marked, gate, observe = threading.Event(), threading.Event(), Run.observe

    def held(self: Run, **how: Any) -> Any:
        marked.set()
        assert gate.wait(120.0)
        return observe(self, **how)

    monkeypatch.setattr(Run, "observe", held)
    key = client.send("set", changes={"lam_ratio": 0.5})
    assert marked.wait(120.0)
    for _ in range(5):
        client.poll()
    assert not any(key in frame["applied"] for frame in client.frames()), "its mark alone is no effect"
    gate.set()
    client.applied(key)
    frame = next(frame for frame in client.frames() if key in frame["applied"])
    assert frame["total"] == len(client.explorer.session.trace) == 3 and frame["mode"] == "paused"


def test_a_finished_run_goes_on_after_a_change(client: Page) -> None:
    client.start()
    client.send("do", action="run")
    client.until(lambda: client.last()["mode"] == "finished", "the optimum")
    before = client.last()["status"]["iteration"]
    client.send("set", changes={"lam_ratio": 0.01})
    client.until(
        lambda: client.last()["mode"] == "finished" and client.last()["status"]["iteration"] > before, "the next one"
    )


def test_the_intercept_makes_a_new_problem(client: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    client.start()
    client.applied(client.send("do", action="step", n=2))
    epoch, session = client.last()["epoch"], client.explorer.session
    gate, prepare = threading.Event(), director.prepare
    monkeypatch.setattr(director, "prepare", lambda *given: gate.wait(60.0) and prepare(*given))
    changed = client.send("set", changes={"intercept": True})
    waiting = client.until(lambda: client.last()["mode"] == "loading" and client.last(), "the word of loading")
    assert "loading" in waiting["message"] and waiting["epoch"] == epoch, "the old problem stands until the new one is"
    gate.set()
    client.applied(changed)
    client.until(lambda: client.last()["epoch"] > epoch and client.last()["total"] == 1, "the new problem")
    assert client.explorer.session is not session
    assert client.explorer.session.problem.intercept


def test_what_is_prepared_is_said_with_what_is_still_shown_and_can_be_called_off(
    client: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.start()
    assert client.last()["preparing"] is None
    gate, prepare = threading.Event(), director.prepare
    monkeypatch.setattr(director, "prepare", lambda *given: gate.wait(60.0) and prepare(*given))
    client.send("set", changes={"penalty": "l1"})
    coming = client.until(lambda: client.last()["preparing"], "the word that a problem is prepared")
    assert "l1" in coming["text"] and coming["cancel"] is True
    assert coming["shown"] == "multiclass-squared-hinge × l1/l2 with bcd-ls"
    key = client.send("do", action="cancel")
    client.applied(key)
    client.until(lambda: client.last()["preparing"] is None, "the end of the preparation")
    assert client.explorer.settings["penalty"] == "l1/l2"
    gate.set()
    client.send("do", action="step", n=1)
    client.until(lambda: client.last()["total"] == 2, "a step")
    assert client.marks() == [], "what was called off never comes"


def test_the_newest_of_many_wishes_wins_at_once(client: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    client.start()
    gate, prepare = threading.Event(), director.prepare

    def slow(settings: dict[str, Any], *given: Any) -> Any:
        if settings["penalty"] != "ridge":
            gate.wait(60.0)
        return prepare(settings, *given)

    monkeypatch.setattr(director, "prepare", slow)
    for name in ("l1", "ridge"):
        client.send("set", changes={"penalty": name})
    client.until(lambda: any("ridge" in mark["text"] for mark in client.marks()), "the newest wish, first")
    gate.set()
    assert not any("→ l1" in mark["text"] for mark in client.marks())


EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize(("stop", "goal"), [("gap", 1e-6), ("precision", 5000 * EPS), ("held-out", None)])
def test_the_goal_of_the_run_is_sent(stop: str, goal: float | None) -> None:
    explorer = Explorer((X, Y), {"stop": stop}, allow_data_choice=False)
    try:
        page = Page(explorer).start()
        assert page.last()["goal"] == goal
        assert page.last()["status"]["measured"] == {"relative_gap": 1}
    finally:
        explorer.close()


def test_ready_sends_everything_again(client: Page) -> None:
    client.start()
    client.applied(client.send("do", action="step", n=4))
    client.applied(client.send("set", changes={"lam_ratio": 0.2}))
    client.until(lambda: any(frame["picture"] for frame in client.frames()), "a picture")
    client.rest("paused")
    total, stream = client.last()["total"], client.last()["stream"]
    client.messages.clear()
    client.send("ready")
    client.until(lambda: client.frames() and client.last()["total"] == total, "the whole trace")
    assert client.of("problem") and client.of("controls")
    assert client.frames()[0]["start"] == 0 and client.frames()[0]["stream"] == stream + 1
    assert sum(f["count"] for f in client.frames()) == total
    assert len(client.marks()) == 1
    client.until(lambda: any(f["picture"] for f in client.frames()), "the picture")


def test_without_credits_frames_stop_and_the_newest_state_follows(
    client: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparsescope.live.credits.SILENCE", 1e9)  # a page counts as hidden after a second: not here
    client.draw = False
    client.send("ready")
    client.until(lambda: len(client.frames()) == 2, "two frames")
    client.send("do", action="run")
    client.until(lambda: len(client.frames()) == 3, "the answer to the command")
    assert client.explorer.session is not None and client.explorer.session.wait_idle(120.0)
    for _ in range(100):
        client.poll()
    assert len(client.frames()) == 3, "and not one more"
    client.draw = True
    client.send("credit", n=2)
    client.until(lambda: client.last()["mode"] == "finished", "the newest state")


def test_pictures_and_exact_values(client: Page) -> None:
    client.start()
    client.send("layout", rows=100, mode="matrix", visible=True, row=0)
    client.applied(client.send("do", action="step", n=5))
    frame = client.until(
        lambda: next(
            (
                f
                for f in client.frames()
                if f["picture"] and f["picture"]["iteration"] == 5 and f["picture"]["row"] == 0
            ),
            None,
        ),
        "a picture after step 5",
    )
    assert frame["picture"]["shape"][1] == 3
    assert len(frame["picture"]["row_values"]) == 3
    key = client.send("ask", kind="value", row=0, cls=1)
    answer = client.until(lambda: next((a for a in client.of("answer") if a["id"] == key), None), "the exact value")
    assert answer["value"] == frame["picture"]["row_values"][1]
    assert answer["name"] == "feature 0"
    key = client.send("ask", kind="names", rows=[2, 5])
    answer = client.until(lambda: next((a for a in client.of("answer") if a["id"] == key), None), "names")
    assert answer["names"] == ["feature 2", "feature 5"]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"type": "shout"}, "unknown message 'shout'"),
        ({"type": "do", "action": "fly"}, "unknown action 'fly'"),
        ({"type": "do", "action": "step", "n": 0}, "allowed: 1 to"),
        ({"type": "do", "action": "step", "n": "many"}, "whole number"),
        ({"type": "set"}, "changes is missing"),
        ({"type": "set", "changes": [1]}, "changes is missing"),
        ({"type": "ask", "kind": "fortune"}, "unknown question"),
        ({"type": "ask", "kind": "value", "row": 99, "cls": 0}, "there is no weight (99, 0)"),
        ({"type": "ask", "kind": "value", "row": "a", "cls": 0}, "row and class numbers"),
        ({"type": "ask", "kind": "names", "rows": [99]}, "from 0 to 7"),
        ({"type": "ask", "kind": "cell", "line": 0, "column": None}, "line and column numbers"),
        ({"type": "layout", "rows": "all"}, "a number of pixels"),
        ({"type": "layout", "zoom": [3, 1, 0, 2]}, "first and stop of rows and classes"),
        ({"type": "layout", "mode": "film"}, "'matrix', 'images'"),
        ({"type": "layout", "row": 1.5}, "a row number or null"),
        ("ready", "a message is a JSON object"),
    ],
)
def test_bad_messages_are_answered_on_the_page(client: Page, message: Any, words: str) -> None:
    client.start()
    client.explorer.on_message(message)
    client.until(lambda: client.of("error"), "the error")
    assert words in client.of("error")[-1]["text"]


def test_bad_settings_are_corrected_on_the_page(client: Page) -> None:
    client.start()
    client.send("set", changes={"lam_ratio": 99, "bogus": 1})
    client.until(lambda: client.of("notices"), "the notices")
    text = " ".join(client.of("notices")[-1]["notices"])
    assert "outside" in text and "bogus" in text
    assert client.explorer.settings["lam_ratio"] == 1.0
    assert client.of("controls")[-1]["settings"]["lam_ratio"] == 1.0


def test_settings_from_an_address_are_cleaned_and_said() -> None:
    explorer = Explorer(settings={"dataset": "iris", "loss": "logstic", "speed": "max"})
    client = Page(explorer)
    client.start()
    assert any("logstic" in text for text in client.of("notices")[0]["notices"])
    assert client.of("problem")[-1]["name"] == "iris"
    heard: list[dict] = []
    explorer.settings_changed = heard.append
    client.applied(client.send("set", changes={"lam_ratio": 0.03}))
    assert heard[-1]["lam_ratio"] == 0.03
    again, notices = Explorer.settings_from_query(Explorer.query_from_settings(heard[-1]))
    assert again == heard[-1] and notices == []
    client.send("set", changes={"dataset": "wine"})
    client.until(lambda: client.of("problem")[-1]["name"] == "wine", "the other data")
    explorer.close()


def test_data_that_cannot_be_used_are_said_and_the_page_lives_on() -> None:
    explorer = Explorer((np.ones((4, 2)), np.array([0, 1, np.nan, 1])))
    client = Page(explorer)
    client.send("ready")
    client.until(lambda: client.of("error"), "the error")
    assert client.of("error")[-1]["text"]
    client.send("do", action="run")
    client.poll()
    explorer.close()


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_labels_that_no_weights_explain_are_said_with_what_to_do(loss: str) -> None:
    """Every sample has each class once: the subgradients at W = 0 cancel, whole numbers and halves without rounding."""
    data = np.repeat(np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 4.0]]), 2, axis=0), np.tile([0, 1], 3)
    assert Problem(*data, loss=loss).lam_max == 0.0
    explorer = Explorer(data, settings={"loss": loss})
    client = Page(explorer)
    client.send("ready")
    client.until(lambda: client.of("error"), "the error")
    said = client.of("error")[-1]["text"]
    assert "all weights are zero at every λ" in said, said
    assert "X is not zero" in said and "order of its rows" in said and "smooth loss" in said, said
    client.send("do", action="run")
    client.poll()
    explorer.close()


def test_an_error_in_the_worker_is_shown_with_its_traceback(client: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    client.start()

    def fail(self: Any, problem: Any, state: Any) -> None:
        raise FloatingPointError("the step went wrong")

    solver = type(client.explorer.session.solver)
    monkeypatch.setattr(solver, "step", fail)
    client.send("do", action="step", n=1)
    client.until(lambda: client.of("error"), "the error")
    error = client.of("error")[-1]
    assert "the step went wrong" in error["text"] and "Traceback" in error["detail"]
    monkeypatch.undo()
    client.send("do", action="reset")
    client.until(lambda: client.last()["mode"] == "paused" and client.last()["total"] == 1, "a new start")


def test_a_choice_of_data_is_needed() -> None:
    with pytest.raises(ValueError, match="choice of data"):
        Explorer(allow_data_choice=False)


@pytest.mark.parametrize(
    "chosen",
    [
        {"dataset": "iris"},
        {"dataset": "wine", "penalty": "sparse-group", "penalty.rho": 0.3, "lam_ratio": 0.02},
        {
            "dataset": "iris",
            "loss": "logistic",
            "loss.margin": 1.0,
            "solver": "fista-ls",
            "intercept": True,
            "lam_ratio": 0.6,
        },
    ],
)
def test_the_snippet_reproduces_the_run(chosen: dict[str, Any]) -> None:
    explorer = Explorer(settings={**chosen, "speed": "max"})
    client = Page(explorer)
    client.start()
    client.send("do", action="run")
    client.until(lambda: client.last()["mode"] == "finished" or client.last()["total"] > 3000, "the optimum")
    key = client.send("ask", kind="snippet")
    answer = client.until(lambda: next((a for a in client.of("answer") if a["id"] == key), None), "the snippet")
    space: dict[str, Any] = {}
    exec(answer["text"], space)
    assert space["result"].objective == pytest.approx(client.last()["status"]["objective"], rel=2e-6)
    assert space["problem"].lam == pytest.approx(client.last()["lam"])
    explorer.close()


def test_the_snippet_for_data_of_ones_own_says_what_to_put_in() -> None:
    chosen, _ = st.clean({}, [st.OWN])
    text = python_snippet(chosen)
    assert "(X, y)" in text and "load(" not in text
    space: dict[str, Any] = {"X": X, "y": Y}
    exec(text, space)
    assert space["result"].W.shape == (8, 3)


# ----------------------------------------------------------------------------------------------------------- label sets
def test_label_sets_get_a_loss_that_takes_them_and_their_measures_are_sent() -> None:
    sets = np.column_stack([Y > 0, X[:, 2] > 0, X[:, 3] > 1])
    explorer = Explorer((X, sets), {"speed": "max", "loss": "logistic"}, allow_data_choice=False)
    try:
        page = Page(explorer).start()
        notices = [text for message in page.of("notices") for text in message["notices"]]
        assert any("needs one class a sample" in text and "Using label-ranking" in text for text in notices)
        assert explorer.settings["loss"] == "label-ranking-squared-hinge" and "loss.margin" not in explorer.settings
        problem = page.of("problem")[-1]
        assert problem["multilabel"] and problem["class_sizes"] == sets.sum(axis=0).tolist()
        page.send("do", action="step", n=3)
        page.until(lambda: (page.last()["status"] or {}).get("iteration") == 3, "three steps")
        columns = {name for frame in page.frames() for name, *_ in frame["columns"]}
        assert {"train_precision_at_1", "test_micro_f1"} <= columns
        assert 0 <= page.last()["status"]["train_precision_at_1"] <= 1
        page.send("set", changes={"loss": "multitask-squared-hinge"})
        page.until(lambda: page.marks(), "the change of the loss")
        page.send("set", changes={"loss": "logistic"})  # disabled on the page, but an address may say it
        page.until(lambda: page.of("error"), "the refusal")
        assert "label sets" in page.of("error")[-1]["text"] and explorer.settings["loss"] == "multitask-squared-hinge"
    finally:
        explorer.close()


def test_a_loss_with_kinks_goes_to_a_method_that_takes_it_or_is_refused_in_words(client: Page) -> None:
    page = client.start()
    page.send("set", changes={"loss": "crammer-singer"})
    able = [
        name
        for name in registry.solvers
        if registry.solvers.create(name).solves(Problem(X, Y, loss="crammer-singer")) is None
    ]
    if able:
        page.until(lambda: page.marks(), "the change of the loss")
        assert client.explorer.settings["solver"] == "auto"
        notices = [text for message in page.of("notices") for text in message["notices"]]
        assert any("needs a smooth loss" in text and "Using auto" in text for text in notices)
        lam = next(c for g in page.of("controls")[-1]["groups"] for c in g["controls"] if c["id"] == "lam_ratio")
        said = page.of("problem")[-1]
        assert said["kinks"] and ("only an upper bound" in lam["doc"]) == said["lam_max_is_bound"]
    else:
        page.until(lambda: page.of("error"), "the refusal")
        assert "no solver takes crammer-singer" in page.of("error")[-1]["text"]
        assert client.explorer.settings["loss"] == "multiclass-squared-hinge"


def test_charts_and_pictures_of_a_frame_are_of_one_iteration() -> None:
    # Some minutes long, so that the frames come in mid-run on any machine.
    explorer = Explorer(settings={"dataset": "iris", "solver": "ista", "speed": 500, "lam_ratio": 0.001})
    page = Page(explorer).start()
    page.applied(page.send("do", action="run"))
    running = len(page.frames())

    def both() -> list[dict[str, Any]]:
        """Frames in mid-run that bring new points and a picture; one that tells of the run itself brings all points."""
        pairs = itertools.pairwise(page.frames()[running:])
        told = ("mode", "message", "late", "playing", "goal", "turbo", "preparing", "settings")
        return [
            frame
            for before, frame in pairs
            if all(frame[key] == before[key] for key in told) and not frame["applied"]
            if frame["mode"] == "running" and frame["count"] and frame["picture"]
        ]

    page.until(lambda: len(both()) >= 10, "ten frames with a picture")
    page.applied(page.send("do", action="pause"))
    for frame in both():
        assert frame["status"]["iteration"] == frame["picture"]["iteration"]
    page.rest("paused")
    explorer.close()


def test_a_strip_that_was_not_due_at_the_last_iteration_comes_when_it_is(client: Page) -> None:
    client.start()
    client.send("layout", rows=100, mode="matrix", strip=400)
    client.until(lambda: any(frame.get("strip") for frame in client.frames()), "a strip")
    stage: Any = client.explorer._director.stage
    stage._strip_due = stage._clock() + 1.0  # as after one that cost the worker much
    client.applied(client.send("do", action="step", n=3))
    client.until(lambda: client.last()["status"]["iteration"] == 3, "three steps")
    client.until(
        lambda: [f["strip"]["iteration"] for f in client.frames() if f.get("strip")][-1] == 3, "the strip of rest"
    )


def test_the_weights_of_a_past_iteration_are_shown_again() -> None:
    explorer = Explorer((X, Y), {"solver": "ista", "lam_ratio": 0.01}, allow_data_choice=False)
    page = Page(explorer).start()
    truth = {}
    for _ in range(6):
        page.applied(page.send("do", action="step", n=1))
        session = explorer.session
        assert session is not None and session.wait_idle(120.0)
        truth[session.status().iteration] = session.run.state.weights().copy()
    page.send("layout", row=1, at=3)

    def looked() -> list[dict[str, Any]]:
        return [f["picture"] for f in page.frames() if f["picture"] and f["picture"]["row"] == 1]

    page.until(lambda: looked() and looked()[-1]["iteration"] == 3, "the picture of event 3")
    np.testing.assert_array_equal(looked()[-1]["row_values"], truth[3][1])
    page.send("layout", row=1)
    page.until(lambda: looked()[-1]["iteration"] == 6, "the newest picture")
    np.testing.assert_array_equal(looked()[-1]["row_values"], truth[6][1])
    page.send("layout", at=-1)
    page.until(lambda: page.of("error"), "a refusal")
    assert "number of an event" in page.of("error")[-1]["text"]
    explorer.close()
