"""The notebook shell without a notebook: arguments of `explore`, messages, the end, texts where no widget shows."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page

import sparsescope as ss
from sparsescope import datasets, live
from sparsescope.widgets import ExplorerWidget, explore


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], Any]]:
    """Messages that widgets send in this test."""
    found: list[tuple[dict[str, Any], Any]] = []
    monkeypatch.setattr(ExplorerWidget, "send", lambda _self, header, buffers=None: found.append((header, buffers)))
    return found


def test_a_matrix_needs_labels_and_a_data_set_does_not() -> None:
    data = datasets.load("iris")
    with pytest.raises(ValueError, match=r"explore\(X, y\)"):
        explore(data.X)
    with pytest.raises(ValueError, match="brings its own labels"):
        explore(data, data.y)


def test_a_network_needs_no_labels() -> None:
    X = np.random.default_rng(0).normal(size=(20, 5))
    problem = ss.CovarianceProblem.from_data(X, correlation=True)
    assert repr(explore(problem)).startswith("<sparsescope explorer of CovarianceProblem(n=20, p=5")
    assert explore(X, task="covariance", features=4).settings["features"] == 4
    for wrong in ({"y": np.arange(5)}, {"task": "classes"}):
        with pytest.raises(ValueError, match="a covariance problem has no classes"):
            explore(problem, **wrong)


def test_wrong_settings_raise_in_words() -> None:
    with pytest.raises(ValueError, match="unknown loss 'logstic'"):
        explore("iris", loss="logstic")
    with pytest.raises(ValueError, match="lam_ratoi"):
        explore("iris", lam_ratoi=0.1)
    with pytest.raises(ValueError, match="lam_ratio is 7, outside"):
        explore("iris", lam_ratio=7)
    with pytest.raises(ValueError, match="does not apply"):
        explore("iris", penalty="l1/l2", penalty_rho=0.5)


def test_parameters_of_parts_are_named_with_an_underscore() -> None:
    widget = explore("iris", penalty="elastic-net", penalty_rho=0.25)
    assert widget.settings["penalty.rho"] == 0.25


def test_where_no_widget_can_be_shown_there_is_a_sentence() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    widget = explore(X, y)
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["text/plain"] == repr(widget)
    assert "your data, 4 × 4" in bundle["text/plain"]
    assert "sparsescope explore" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "Iris" in repr(explore("iris")) or "iris" in repr(explore("iris"))


def test_the_module_text_holds_mount_and_the_shell() -> None:
    assert ExplorerWidget._esm.startswith(live.esm_text()[:100])
    assert "export default {render: renderInNotebook}" in ExplorerWidget._esm


async def until(condition: Any, seconds: float = 60.0) -> None:
    """Let the loop run until the condition holds."""
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen in time")


def test_a_session_runs_on_the_loop_that_handles_messages(sent: list[Any]) -> None:
    async def scene() -> None:
        widget = explore("iris", speed="max")
        assert widget.session is None
        widget._handle_custom_msg({"type": "credit", "n": 1}, [])
        assert widget.session is None
        widget._handle_custom_msg({"type": "view", "open": True}, [])
        widget._handle_custom_msg({"type": "ready", "version": 1}, [])
        await until(lambda: any(header["type"] == "problem" for header, _ in sent))
        widget._handle_custom_msg({"type": "do", "id": "a", "action": "step", "n": 3}, [])
        await until(lambda: any(header["type"] == "frame" and header["total"] >= 4 for header, _ in sent))
        frames = [(header, buffers) for header, buffers in sent if header["type"] == "frame" and header["count"]]
        assert all(isinstance(buffer, bytes | memoryview) for _, buffers in frames for buffer in buffers)
        session = widget.session
        widget.close()
        widget.close()
        await until(lambda: session.status().mode == "closed")
        before = len(sent)
        await asyncio.sleep(0.1)
        assert len(sent) == before
        assert widget._task is None

    asyncio.run(scene())


def test_without_a_view_the_solver_rests(sent: list[Any]) -> None:
    async def scene() -> None:
        widget = explore("digits", speed=5)
        widget._handle_custom_msg({"type": "view", "open": True}, [])
        widget._handle_custom_msg({"type": "ready", "version": 1}, [])
        await until(lambda: widget.session is not None)
        widget._handle_custom_msg({"type": "do", "id": "a", "action": "run"}, [])
        await until(lambda: widget.session.status().mode == "running")
        widget._handle_custom_msg({"type": "view", "open": False}, [])
        await until(lambda: widget.session.status().mode == "paused")
        widget.close()

    asyncio.run(scene())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_problem_is_explored_as_it_is(form: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)), np.array(["a", "b", "c"])[np.arange(40) % 3]
    problem = ss.Problem(
        form(X), y, loss="logistic", penalty=ss.penalties.SparseGroup(rho=0.25), lam_ratio=0.05, intercept=True
    )
    made = live.Explorer(problem, allow_data_choice=False)
    page = Page(made).start()
    session = made.session
    assert session is not None and session.problem.key[:2] == problem.key[:2] and session.problem.intercept
    assert session.problem.lam == pytest.approx(problem.lam, rel=1e-9)
    assert [str(c) for c in session.problem.class_names] == ["a", "b", "c"]
    page.applied(page.send("do", action="step", n=2))
    assert session.problem.objective(np.zeros((5, 3))) == pytest.approx(problem.objective(np.zeros((5, 3))))
    made.close()
    assert "Problem(n=40" in repr(explore(problem))


def test_a_sequence_problem_is_explored_and_weights_are_refused_in_words() -> None:
    X, y = np.random.default_rng(2).normal(size=(30, 4)), np.arange(30) % 2
    made = live.Explorer(ss.SequenceProblem(X, y, lam=0.01), allow_data_choice=False)
    Page(made).start()
    assert made.session is not None and made.session.problem.kind == "sequence" and made.session.problem.lam == 0.01
    made.close()
    with pytest.raises(ValueError, match="sample_weight, which the explorer's page has no control for"):
        explore(ss.Problem(X, y, sample_weight=np.arange(1.0, 31.0)))
    result = ss.solve(ss.Problem(X, y), max_iter=3, tol=0)
    for thing in (result, result.trace):
        with pytest.warns(UserWarning, match="the data of this run are not here"):
            assert isinstance(explore(thing), ss.Recording)
    with pytest.raises(ValueError, match="height is 10"):
        explore(X, y, height=10)
    assert explore(X, y, height=480).height == 480


def test_the_last_picture_stays_in_a_saved_notebook() -> None:
    X, y = np.random.default_rng(2).normal(size=(30, 4)), np.arange(30) % 2
    widget = explore(X, y, solver="ista")
    widget._explorer = live.Explorer((X, y), widget.settings, allow_data_choice=False)
    page = Page(widget._explorer).start()
    page.applied(page.send("do", action="step", n=5))
    assert widget.session.wait_idle(120.0)
    text = widget._repr_mimebundle_()[0]["text/html"]
    trace = widget.session.trace
    assert f"F {trace['objective'][-1]:.6g}" in text and "<svg" in text and "<script" not in text
    assert "iteration 5" in text and text.count("<polyline") == 2
    widget.close()
    assert "iteration 5" in widget._picture(), "also when the widget is closed"


def test_a_kernel_that_lives_answers(sent: list[Any]) -> None:
    widget = explore("iris")
    widget._receive(widget, {"type": "ping"}, [])
    assert sent[-1][0] == {"type": "pong"} and widget.session is None
