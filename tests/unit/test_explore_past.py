"""`ss.explore(result | trace)`: the page has the run's past and goes on where it ended, or says why it does not."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.live import Explorer
from sparsescope.live.recordings import Recording
from sparsescope.live.recordings.making import _solver_settings
from sparsescope.live.recordings.packing import BadRecording, extracted
from sparsescope.live.recordings.resuming import Past, past_of
from sparsescope.widgets.explore import ExplorerWidget, explore
from waiting import told_until

RUN = {"solver": "fista-ls", "max_iter": 6, "tol": 1e-14, "record": True}


@pytest.fixture(scope="module")
def problem() -> ss.Problem:
    return ss.Problem(ss.datasets.load("wine"), loss="logistic", lam_ratio=0.05, intercept=True)


@pytest.fixture(scope="module")
def result(problem: ss.Problem) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ss.solve(problem, **RUN)


def opened(past: Any) -> Explorer:
    explorer = Explorer(past)
    explorer.on_message({"type": "ready", "version": "1"})
    told_until(explorer, lambda _: explorer.session is not None and len(explorer.session.trace) > len(past.trace))
    return explorer


def test_the_page_has_the_past_and_counts_on(problem: ss.Problem, result: Any) -> None:
    past = past_of(result, problem)
    explorer = opened(past)
    session = explorer.session
    assert session is not None
    before = len(result.trace)
    columns = {name: session.trace[name] for name in ("iteration", "objective", "seconds")}
    assert np.array_equal(columns["objective"][:before], result.trace["objective"])
    assert columns["iteration"][before] == 6 and columns["objective"][before] == pytest.approx(result.objective)
    session.step(3)
    assert session.wait_idle(120)
    assert session.trace["iteration"][-1] == 9
    assert session.trace["objective"][-1] < result.objective
    assert (np.diff(session.trace["seconds"]) >= 0).all() and (np.diff(session.trace["iteration"]) >= 0).all()
    assert len(result.trace) == before, "the result keeps its own trace"
    assert explorer.settings["loss"] == "logistic" and explorer.settings["intercept"] is True
    assert explorer.settings["solver"] == "fista-ls", "it goes on with the solver of the run"
    explorer.close()


@pytest.mark.parametrize(("name", "own"), [("fista-ls", {}), ("fista-cst", {"momentum": 0.5}), ("bcd-ls", {"seed": 3})])
def test_the_settings_of_a_solver_are_read_from_its_print(name: str, own: dict[str, Any]) -> None:
    text = repr(ss.registry.solvers.create(name, **own))
    expected = {"solver": name, **{f"solver_{key}": value for key, value in own.items()}}
    assert _solver_settings(text) == expected
    for wrong in ("", "FISTA(", "Unheard(of=1)", "FISTA(growth=-3.0)", text.replace("(", "(colour=1, ")):
        assert _solver_settings(wrong) == {}


def test_a_registered_set_is_read_by_its_name_and_judged_by_the_objective(result: Any) -> None:
    widget = explore(result)
    assert isinstance(widget, ExplorerWidget) and isinstance(widget._data, Past)
    assert widget._data.point.iteration == 6
    widget.close()


class Frames(HTMLParser):
    """The pages in the frames of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.found.append(str(dict(attrs)["srcdoc"]))


@pytest.mark.parametrize("stored", [False, True], ids=["without", "with the widget's state"])
def test_a_saved_notebook_that_becomes_html_plays_the_past(result: Any, stored: bool) -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="it comes with JupyterLab, in the extra notebook")
    import nbformat
    from traitlets.config import Config

    widget = explore(result)
    data = widget._repr_mimebundle_()[0]  # as it is when the cell is run, before any view is ready
    assert f"F {result.trace['objective'][-1]:.6g}" in data["text/html"] and "<polyline" in data["text/html"]
    output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("ss.explore(result)", outputs=[output])])
    if stored:  # nbconvert prefers the live view then, which has no kernel: the documented option drops the state
        state = {"state": {widget.model_id: {"model_name": "AnyModel", "model_module": "anywidget", "state": {}}}}
        notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    exporter = nbconvert.HTMLExporter(config=Config({"ClearMetadataPreprocessor": {"enabled": stored}}))
    (page,) = Frames(exporter.from_notebook_node(notebook)[0]).found
    played = Recording(*extracted(page.encode(), "the frame"))
    assert list(played.columns["objective"]) == list(result.trace["objective"])
    widget.close()
    assert Frames(widget._picture()).found == [page], "also when the widget is closed"


def test_other_data_are_refused_and_absent_ones_leave_the_recording(result: Any) -> None:
    data = ss.datasets.load("wine")
    X = data.X.copy()
    X[0] += 1.0
    other = ss.Problem(X, data.y, loss="logistic", lam_ratio=0.05, intercept=True)
    with pytest.raises(BadRecording, match="not the data of the run"):
        explore(result, other)
    with pytest.raises(BadRecording, match="shape"):
        explore(result, ss.Problem(ss.datasets.load("iris"), intercept=True))
    with pytest.raises(ValueError, match="with its problem"):
        explore(result, data.y)
    own = ss.Problem(X, data.y, lam_ratio=0.1)
    with pytest.warns():
        mine = ss.solve(own, "fista-ls", max_iter=3, tol=1e-14, record=True)
    with pytest.warns(UserWarning, match="does not go on: the data of this run are not here"):
        played = explore(mine)
    assert isinstance(played, Recording) and len(played) == len(mine.trace)
    assert isinstance(explore(mine, own), ExplorerWidget)
    bare = ss.solve(own, "fista-ls", max_iter=1, tol=1e3, record=False)
    with pytest.raises(BadRecording, match="record=True"):
        past_of(bare, own)


def test_a_trace_goes_on_from_its_last_weights_where_there_is_no_intercept(result: Any) -> None:
    with pytest.raises(BadRecording, match="intercept"):
        past_of(result.trace)
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    with pytest.warns():
        trace = ss.solve(problem, "fista-ls", max_iter=4, tol=1e-14, record=True).trace
    past = past_of(trace)
    assert past.point.iteration == 4
    assert problem.objective(past.point.W) == pytest.approx(trace["objective"][-1])


def test_a_network_goes_on() -> None:
    problem = ss.CovarianceProblem.from_data(ss.datasets.load("wine"), correlation=True, lam_ratio=0.3)
    found = ss.solve(problem, tol=1e-2, record=True)
    past = past_of(found, problem)
    explorer = opened(past)
    assert explorer.session is not None and explorer.session.trace["objective"][-1] == pytest.approx(found.objective)
    explorer.close()
    with pytest.raises(BadRecording, match="how S was made"):
        past_of(found)
