"""F* on the page: found in the background, noted once, dropped when the problem changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from test_live_explorer import Page as Client
from test_live_explorer import X, Y

import sparsescope as ss
from sparsescope.live import Explorer, optimum
from sparsescope.live.packer import Block, Packer
from sparsescope.runs import reference as module
from sparsescope.views.convergence import known_excess


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    module.forget()
    yield
    module.forget()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(optimum, "REST", 0.0)
    explorer = Explorer(
        (X, Y), {"solver": "ista", "speed": "max", "lam_ratio": 0.05}, allow_data_choice=False, references=True
    )
    yield Client(explorer).start()
    explorer.close()


def known(client: Client, segment: int) -> Any:
    """The bounds of F* that the page was told for a segment."""
    told = [bound for frame in client.frames() for bound in frame["bounds"] if bound[0] == segment]
    return next((bound[3:] for bound in reversed(told) if bound[3] is not None), None)


def test_the_page_is_told_the_optimum_which_then_stands(client: Client) -> None:
    client.applied(client.send("do", action="step", n=3))
    low, high = client.until(lambda: known(client, 0), "a reference")
    session = client.explorer.session
    assert session is not None and session.wait_idle(120.0)
    exact = ss.solve(session.problem, "bcd-ls", tol=1e-12, max_iter=10_000)
    assert low <= exact.objective * (1 + 1e-12) and exact.dual <= high * (1 + 1e-12)
    assert 0.0 <= high - low <= 1e-9 * high
    trace = session.trace
    before = known_excess(trace)
    trace.note_optimum(session.problem.key, low - 1.0, high - 0.5)
    assert trace.optimum() == (low, high), "what was noted stands"
    client.applied(client.send("do", action="step", n=3))
    assert session.wait_idle(120.0)
    np.testing.assert_array_equal(known_excess(trace)[: len(before)], before)
    assert (before > 0.0).all() and np.all(np.diff(before) <= 0.0)
    truth = (trace["objective"] - exact.objective) / trace["objective"]
    np.testing.assert_allclose(known_excess(trace), truth, rtol=1e-3)


def test_a_reference_is_dropped_when_the_problem_changes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Slow(module.ReferenceJob):
        """A job that never ends by itself."""

        @classmethod
        def of(cls, problem: Any) -> Slow:
            job = object.__new__(cls)
            job._cancelled, job._done = module.threading.Event(), module.threading.Event()
            job._bounds, job._found, job._error, job._turn = None, None, None, None
            asked.append((problem, job))
            return job

    monkeypatch.setattr(optimum, "reference", lambda problem, **_: Slow.of(problem))
    client.applied(client.send("do", action="step", n=2))
    client.until(lambda: asked, "a job")
    client.applied(client.send("set", changes={"lam_ratio": 0.2}))
    client.until(lambda: asked[0][1].cancelled(), "the end of the first job")
    client.until(lambda: len(asked) > 1, "a job for the new problem")
    session = client.explorer.session
    assert session is not None and asked[1][0].lam == session.problem.lam != asked[0][0].lam
    assert session.trace.optima == 0 and known(client, 0) is None


def test_a_reference_that_was_being_asked_for_is_cancelled_too(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, dropped, made = module.threading.Event(), module.threading.Event(), []

    def slow(problem: Any, **_: Any) -> Any:
        if made:
            raise ValueError("one is enough")
        job = object.__new__(module.ReferenceJob)
        job._cancelled, job._done = module.threading.Event(), module.threading.Event()
        job._bounds, job._found, job._error, job._turn = None, None, None, None
        made.append(job)
        entered.set()
        assert dropped.wait(60.0)  # the problem changes before the page has the job
        return job

    monkeypatch.setattr(optimum, "reference", slow)
    client.applied(client.send("do", action="step", n=2))
    client.until(entered.is_set, "a job")
    client.applied(client.send("set", changes={"lam_ratio": 0.2}))
    dropped.set()
    client.until(made[0].cancelled, "the end of the job")


def test_a_run_that_closed_its_gap_is_its_own_reference(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("nothing has to be computed")

    monkeypatch.setattr(optimum, "REST", 1e9)
    monkeypatch.setattr(optimum, "reference", refused)
    client.applied(client.send("set", changes={"solver": "bcd-ls"}))
    client.send("do", action="run")
    client.until(lambda: client.last()["mode"] == "finished", "the end")
    low, high = client.until(lambda: known(client, 0), "the optimum")
    assert 0.0 <= high - low <= optimum.TOL * high


def test_without_a_page_nothing_is_computed() -> None:
    explorer = Explorer((X, Y), {"solver": "ista"}, allow_data_choice=False)
    client = Client(explorer).start()
    client.applied(client.send("do", action="step", n=3))
    session = explorer.session
    assert session is not None and session.trace.optima == 0
    explorer.close()


def test_traces_keep_their_optima_and_views_draw_them(tmp_path: File) -> None:
    problem = ss.Problem(X, Y, lam_ratio=0.1)
    trace = ss.solve(problem, "ista", tol=1e-3).trace
    assert trace is not None and trace.optimum() is None
    names = [line.meta for line in ss.views.draw("convergence", trace, problem).data]
    assert "known_excess" not in names
    found = ss.reference(problem)
    figure = ss.views.draw("convergence", trace, problem)
    line = next(line for line in figure.data if line.meta == "known_excess")
    assert trace.optimum() is None, "a view changes nothing"
    expected = (trace["objective"] - found.objective) / trace["objective"]
    np.testing.assert_allclose(np.asarray(line.y, dtype=float), expected[expected > 0], rtol=1e-9)
    trace.note_optimum(problem.key, found.dual, found.objective)
    again = ss.Trace.load(trace.save(tmp_path / "trace"))
    assert again.optimum() == trace.copy().optimum() == (found.dual, found.objective)
    with pytest.raises(ValueError, match="F\\* lies between"):
        trace.note_optimum(problem.key, 2.0, 1.0)
    packer = Packer(again, problem.d)
    assert packer.columns(Block())["bounds"][0][3:] == [found.dual, found.objective] and not packer.pending()
