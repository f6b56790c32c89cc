"""Pages of the app as notebook widgets: settings as keywords, data, messages, rest and end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.app import Page
from sparsescope.registry import app_pages
from sparsescope.widgets import ExplorerWidget, PageWidget

NAMES = [name for name in app_pages if isinstance(app_pages[name], type) and issubclass(app_pages[name], Page)]
PATIENCE = 120.0
QUICK = {"dataset": "iris", "unit": "iterations", "budget": 20, "lane3": "none"}


def quick(name: str) -> dict[str, Any]:
    """Settings with little to compute, of those that a page has."""
    fields = {f.name: f for f in app_pages[name].fields}
    known = {key: value for key, value in QUICK.items() if key in fields}
    return {key: value for key, value in known.items() if value != "none" or value in (fields[key].choices or ())}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(PageWidget, "send", lambda _self, header, buffers=None: found.append(header))
    return found


def until(said: list[dict[str, Any]], enough: Callable[[dict[str, Any]], bool]) -> Any:
    async def wait() -> None:
        waited = 0.0
        while not any(enough(message) for message in said):
            await asyncio.sleep(0.02)
            waited += 0.02
            assert waited < PATIENCE, [message["type"] for message in said]

    return wait()


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_a_widget_that_answers_as_the_page_does(name: str, sent: list[dict[str, Any]]) -> None:
    async def cell() -> None:
        widget = ss.show(name, height=480, **quick(name))
        assert isinstance(widget, PageWidget) and widget.height == 480 and widget.page is None
        assert {key: widget.settings[key] for key in quick(name)} == quick(name)
        for message in ({"type": "view", "open": True}, {"type": "ping"}, {"type": "ready"}):
            widget._receive(widget, message, [])
        await until(sent, lambda message: message["type"] == "picture")
        assert [message["type"] for message in sent][:2] == ["pong", "page"]
        json.dumps(sent, allow_nan=False)
        assert widget.page is not None and widget.settings == widget.page.settings
        page = widget.page
        widget.close()
        assert page.poll() == [] and widget.page is None
        await asyncio.sleep(0)

    asyncio.run(cell())
    assert "export default" in ss.show(name)._esm


def test_the_last_picture_of_a_page_stays_in_the_notebook(sent: list[dict[str, Any]]) -> None:
    async def cell() -> None:
        widget = ss.show("prox", tau=0.75)
        before = widget._repr_mimebundle_()[0]["text/html"]
        assert "iframe" not in before, "nothing was shown yet"
        for message in ({"type": "view", "open": True}, {"type": "ready"}):
            widget._receive(widget, message, [])
        widget._receive(widget, {"type": "set", "changes": {"tau": 0.5}}, [])
        shown = widget._repr_mimebundle_()[0]["text/html"]
        assert "iframe" in shown and "&quot;tau&quot;:0.5" in shown and "<b>Prox</b>" in shown
        assert any(message["type"] == "picture" for message in sent)
        widget.close()
        assert widget._picture() and "&quot;tau&quot;:0.5" in widget._picture(), "also when the widget is closed"
        await asyncio.sleep(0)

    asyncio.run(cell())


def test_a_page_rests_while_no_view_is_open(sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[bool] = []
    monkeypatch.setattr(app_pages["race"], "suspend", lambda _page: rests.append(True))

    async def cell() -> None:
        widget = ss.show("race", **quick("race"))
        widget._receive(widget, {"type": "view", "open": True}, [])
        widget._receive(widget, {"type": "ready"}, [])
        widget._poll()
        assert not rests
        widget._receive(widget, {"type": "view", "open": False}, [])
        widget._poll()
        assert len(rests) >= 2, "said again and again, because a page rests for a moment only"
        widget.close()
        await asyncio.sleep(0)

    asyncio.run(cell())


def test_a_race_in_a_cell_runs_on_the_problem_that_was_given(sent: list[dict[str, Any]]) -> None:
    problem = ss.Problem(ss.datasets.load("wine"), loss="logistic", penalty="l1", lam_ratio=0.2)

    async def cell() -> None:
        widget = ss.show("race", problem, unit="iterations", budget=30, lane3="none", lane4="none")
        assert widget.settings["loss"] == "logistic" and widget.settings["penalty"] == "l1"
        assert widget.settings["lam_ratio"] == pytest.approx(0.2)
        widget._receive(widget, {"type": "view", "open": True}, [])
        widget._receive(widget, {"type": "ready"}, [])
        await until(sent, lambda message: message["type"] == "table")
        table = next(message for message in sent if message["type"] == "table")
        assert table["best"] == pytest.approx(ss.reference(problem).objective, rel=1e-6)
        controls = [message for message in sent if message["type"] == "controls"][-1]
        menu = next(c for group in controls["groups"] for c in group["controls"] if c["id"] == "dataset")
        assert menu["disabled"] and menu["choices"][0]["label"] == "wine", (
            "the menu names what is shown, not the default"
        )
        widget.close()
        await asyncio.sleep(0)

    asyncio.run(cell())


def test_a_prediction_in_a_cell_shares_its_answers_with_the_lesson_in_python(sent: list[dict[str, Any]]) -> None:
    lesson = ss.lesson(1)
    lesson.keep(5, "same", 3, True)

    async def cell() -> None:
        widget = ss.show("lesson", lesson, prediction=4)
        text = widget._repr_mimebundle_()[0]["text/plain"]
        assert lesson.ask(4) in text and "lesson.predict(4, answer, sure=2)" in text
        widget._receive(widget, {"type": "view", "open": True}, [])
        widget._receive(widget, {"type": "ready"}, [])
        picture = next(message for message in sent if message["type"] == "picture")["lesson"]
        assert picture["alone"] == 4 and picture["keeps"]
        assert [question["given"] for question in picture["predictions"]][3:] == [None, lesson.given(5)]
        vote = {"answer": "none", "sure": 2, "first": {"answer": "half", "sure": 1}}
        widget._receive(widget, {"type": "do", "action": "predict", "k": 4, **vote}, [])
        await until(sent, lambda message: message["type"] == "reveal")
        reveal = next(message for message in sent if message["type"] == "reveal")
        assert reveal["first"] == lesson.lesson.predictions[3].kind.shown("half")
        assert lesson.given(4) == {"answer": "none", "sure": 2, "right": reveal["right"]}
        for action, kept in (("forget", None), ("kept", {"answer": "half", "sure": 1, "right": False})):
            message = {"type": "do", "action": action, "k": 4, "answer": "half", "sure": 1, "right": False}
            widget._receive(widget, message, [])
            assert lesson.given(4) == kept
        widget.close()
        await asyncio.sleep(0)

    asyncio.run(cell())
    for wrong in ({"prediction": 9}, {"prediction": 1, "lesson": "02"}, {"student": 3}):
        with pytest.raises(ValueError, match=r"has no prediction|leave .*= out"):
            ss.show("lesson", lesson, **wrong)


def test_wrong_pages_settings_and_data_raise_in_words() -> None:
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 3
    assert isinstance(ss.show("explorer", "iris"), ExplorerWidget)
    for page, given, wrong, words in (
        ("rase", (), {}, "race"),
        ("race", (), {"lane5": "fobos"}, "did you mean 'lane[1-4]'"),
        ("race", (), {"lane1": "no such solver"}, "allowed"),
        ("race", (), {"lam_ratio": 7}, "allowed"),
        ("race", (), {"height": 20}, "pixels"),
        ("race", (X,), {}, r"show\('race', X, y\)"),
        ("race", ("iris", y), {}, "brings its own labels"),
        ("prox", (X, y), {}, "shows no data"),
        ("race", (ss.CovarianceProblem.from_data(X),), {}, "needs a Problem with labels"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            ss.show(page, *given, **wrong)


def test_where_no_widget_can_be_shown_there_is_a_sentence() -> None:
    assert repr(ss.show("prox")) == "<sparsescope prox: live in JupyterLab; in a browser: sparsescope explore>"
    assert "12 × 3" in repr(ss.show("race", np.ones((12, 3)), np.arange(12) % 2))
