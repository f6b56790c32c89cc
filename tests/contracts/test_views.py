"""The contract of every view: it draws any trace there is, says why when there is nothing, and its spec is plain."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from recordings import Recording, annotations, has_ink, images, make_problem, record, sequence, sets
from sparsescope import registry, views
from sparsescope.runs.event import known_columns
from sparsescope.runs.trace import COMMON, Trace
from sparsescope.views import style

VIEWS = list(registry.views)
COLUMNS = (*COMMON, *known_columns())
# Columns the page computes itself.
DERIVED = {
    "known_excess",
    "least_excess",
    "most_excess",
    "nonzero_percent",
    "working_percent",
    "dual_percent",
    "weights_per_feature",
    "train_error",
    "test_error",
    "working_entries",
    "used_entries",
}
TRACES = {
    "empty": lambda: record(0),
    "one point": lambda: record(1),
    "long": lambda: record(300),
    "without a gap": lambda: record(40, gap=False),
    "without test data": lambda: record(40, test=False),
    "without accuracies": lambda: record(40, accuracy=False),
    "all zero": lambda: record(20, empty=True),
    "with marks and segments": lambda: record(60, changes=(30, 31, 45)),
    "many features": lambda: record(400, make_problem(d=900)),
    "image data": lambda: record(60, images()),
    "two classes": lambda: record(30, make_problem(m=2)),
    "a working set": lambda: record(60, working=True),
    "a working set, many features": lambda: record(200, make_problem(d=900), working=True),
    "label sets": lambda: record(30, sets()),
    "a sequence of models": lambda: record(40, sequence(), gap=False),
}


@cache
def recorded(kind: str) -> Recording:
    """One of the traces, made once: views change nothing."""
    return TRACES[kind]()


VALUES = ("without a gap", "without test data", "without accuracies")  # traces with columns that hold none
FEATURES = ("many features", "image data")  # traces of features that are drawn in other ways


def drawings() -> list[Any]:
    """Every view with every trace; slow is what takes the same way through a view as another trace that is not.

    A view of other kinds of problems has nothing to draw in any of their traces. Lines are those of columns of the
    trace, pictures those of features. What is left at the end is met in two traces, one thing in each.
    """
    made = []
    for name in VIEWS:
        same = FEATURES if registry.views.create(name).spec(make_problem())["kind"] == "lines" else VALUES
        for kind, theme in [*((kind, "light") for kind in TRACES), ("long", "dark"), ("empty", "dark")]:
            foreign = ("sequence" if kind == "a sequence of models" else "prediction") not in registry.views[name].kinds
            slow = kind in same or (foreign and kind not in ("long", "empty"))
            slow |= kind == "a working set, many features" or (kind, theme) == ("empty", "dark")
            made.append(pytest.param(name, kind, theme, marks=pytest.mark.slow if slow else ()))
    return made


# ------------------------------------------------------------------------------------------------------- every view
@pytest.mark.parametrize(("name", "kind", "theme"), drawings())
def test_every_view_draws_every_trace(name: str, kind: str, theme: str) -> None:
    recording = recorded(kind)
    for problem in (recording.problem, None):
        fig = views.draw(name, recording.trace, problem, theme=theme)
        assert has_ink(fig) or len(annotations(fig, "sentence")) == 1, "a blank figure must say why"
        assert fig.layout.title.text == registry.views.title(name)
        json.loads(fig.to_json())


@pytest.mark.parametrize("name", VIEWS)
def test_an_empty_trace_gives_titled_axes_and_the_sentence(name: str) -> None:
    view = registry.views.create(name)
    fig = view.figure(Trace(), make_problem())
    assert annotations(fig, "sentence") == [view.empty]
    assert fig.layout.xaxis.title.text and fig.layout.yaxis.title.text
    assert not has_ink(fig)


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_says_what_it_is(name: str) -> None:
    view = registry.views.create(name)
    assert view.name == name
    assert view.doc.endswith(".") and registry.views.doc(name) == view.doc
    assert view.needs and view.empty.endswith(".")
    for declared in view.fields:
        assert declared.doc, f"option {declared.name} has no description"


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(
    "problem", [make_problem(), images(), sets(), sequence()], ids=["plain", "images", "label sets", "sequence"]
)
def test_the_spec_is_plain_and_names_known_columns(name: str, problem: ss.Problem) -> None:
    spec = registry.views.create(name).spec(problem)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert spec["id"] == name and spec["title"] and spec["empty"].endswith(".")
    if spec["kind"] == "stages":
        assert set(spec) == {"id", "title", "kind", "sorts", "images", "parts", "empty"} and problem.stages
    elif spec["kind"] == "lines":
        more = {"choices", "x", "bands", "count", "levels"}
        assert set(spec) - more == {"id", "title", "kind", "y", "left", "right", "empty"}
        for line in spec["y"] + [line for choice in spec.get("choices", ()) for line in choice["y"]]:
            assert set(line) == {"column", "label", "short", "colour", "dash", "axis"}
            assert len(line["short"]) <= 9
            assert line["column"] in DERIVED | set(COLUMNS) | {c.shown for c in known_columns().values()}
            assert all(line["colour"] in colours for colours in style.THEMES.values())
            assert spec[line["axis"]] is not None
        for level in spec.get("levels", ()):
            assert set(level) == {"value", "label", "short", "colour"} and 0 < level["value"] <= 1
        for band in spec.get("bands", ()):
            assert set(band) == {"low", "high", "label", "short", "colour", "dash"}
            assert {band["low"], band["high"]} <= DERIVED and len(band["short"]) <= 9
            assert all(band["colour"] in colours for colours in style.THEMES.values())
        assert spec.get("count") in (None, *COLUMNS)
        assert spec["left"]["title"] and isinstance(spec["left"]["log"], bool)
    elif spec["kind"] == "matrix":
        assert set(spec) == {"id", "title", "kind", "sorts", "images", "empty"}
        assert spec["images"] == (problem.image_shape is not None)
    else:
        assert spec["kind"] in ("raster", "theta", "network")
        assert set(spec) - {"orders"} == {"id", "title", "kind", "empty"}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_changes_neither_trace_nor_itself(name: str) -> None:
    recording = record(40, changes=(20,))
    view, before = registry.views.create(name), recording.trace.since(0)
    view.figure(recording.trace, recording.problem, theme="dark", height=300)
    assert view.theme == "light" and view.height == 0
    assert all(np.array_equal(before[c], recording.trace[c], equal_nan=True) for c in recording.trace.columns)


@pytest.mark.parametrize("name", VIEWS)
def test_figures_show_a_trace_that_was_saved(name: str, tmp_path: Any) -> None:
    recording = record(40, changes=(20,))
    loaded = Trace.load(recording.trace.save(tmp_path / "run.npz"))
    assert views.draw(name, loaded).to_json() == views.draw(name, recording.trace).to_json()


# ---------------------------------------------------------------------------------------------------------- options
@pytest.mark.parametrize("name", VIEWS)
def test_bad_options_are_named_with_what_is_allowed(name: str) -> None:
    trace = record(5).trace
    with pytest.raises(TypeError, match=f"view '{name}' has no option 'thene'; did you mean 'theme'"):
        views.draw(name, trace, thene="dark")
    with pytest.raises(ValueError, match="theme is 'black'; allowed: 'light', 'dark'"):
        views.draw(name, trace, theme="black")
    with pytest.raises(ValueError, match="height is -3; allowed: 0 to 4000"):
        views.draw(name, trace, height=-3)


# ------------------------------------------------------------------------------------------------------ a real run
def test_a_real_session_with_a_tweak_is_drawn() -> None:
    data = ss.datasets.load("iris")
    problem = ss.Problem(data)
    problem = problem.with_lam(0.3 * problem.lam_max)
    with ss.Session(problem, "bcd-ls", test=data.test, certify_every=1) as session:
        session.step(8)
        assert session.wait_idle(120.0)
        session.change(lam=0.1 * problem.lam_max)
        session.step(8)
        assert session.wait_idle(120.0)
        trace = session.trace
    for name in (name for name in VIEWS if problem.kind in registry.views[name].kinds):
        fig = views.draw(name, trace, problem)
        assert has_ink(fig) and not annotations(fig, "sentence")
        assert fig.layout.title.subtitle.text.startswith("iris · multiclass-squared-hinge + l1/l2 · BCD")
    assert len(annotations(views.draw("convergence", trace), "mark")) == 1


def test_a_sequence_is_drawn_by_its_features() -> None:
    data = ss.datasets.load("iris")
    problem = ss.SequenceProblem(data, lam=1e-3)
    recorder = ss.Recorder()
    run = ss.Run(
        problem,
        registry.solvers.create("stagewise", features=2, generator="fourier"),
        test=data.test,
        callbacks=[recorder],
    )
    for _ in range(4):
        run.advance()
    run.change(problem=problem.with_(loss="logistic"))  # begins a new sequence
    for _ in range(3):
        run.advance()
    fig = views.draw("features", recorder.trace, problem, log=False)
    assert [line.name for line in fig.data] == ["train error", "test error"]
    np.testing.assert_array_equal(fig.data[1].x, [2, 4, 6, np.nan, 2, 4, 6])
    np.testing.assert_allclose(fig.data[1].y[-1], 100 * (1 - recorder.trace["test_accuracy"][-1]))
    assert views.draw("features", recorder.trace, log_x=True).layout.xaxis.type == "log"
    spec = registry.views.create("convergence").spec(problem)
    assert [line["column"] for line in spec["y"]] == ["objective", "violation"], "no optimum is known, so no gap"
    assert registry.views.create("accuracy").spec(problem)["right"] is None


@pytest.mark.parametrize("name", VIEWS)
def test_a_network_is_drawn_in_every_view_or_says_why_not(name: str) -> None:
    problem = ss.CovarianceProblem.from_data(ss.datasets.load("wine"), correlation=True)
    problem = problem.with_lam(0.4 * problem.lam_max)
    result = ss.solve(problem, "lhac-covariance", tol=1e-8)
    for known in (problem, None):
        fig = views.draw(name, result.trace, known)
        drawn = has_ink(fig) and not annotations(fig, "sentence")
        assert drawn or problem.kind not in registry.views[name].kinds, annotations(fig, "sentence")
    if problem.kind in registry.views[name].kinds:
        json.dumps(registry.views.create(name).spec(problem), allow_nan=False)


def test_the_pictures_of_a_network_show_theta() -> None:
    problem = ss.CovarianceProblem.from_data(ss.datasets.load("wine"), correlation=True)
    result = ss.solve(problem.with_lam(0.4 * problem.lam_max), "quic", tol=1e-9)
    edges = (np.count_nonzero(result.W) - 13) // 2
    fig = views.draw("theta", result.trace, problem, order="given")
    np.testing.assert_array_equal(np.asarray(fig.data[0].z) + np.diag(np.diag(result.W)), result.W)
    assert f"{edges} edges between" in fig.layout.title.subtitle.text
    fig = views.draw("network", result.trace, problem)
    ends = sum(np.isfinite(np.asarray(line.x, dtype=float)).sum() for line in fig.data[:-1])
    assert ends == 2 * edges and fig.data[-1].hovertext[0].startswith("<b>alcohol</b>")
    fig = views.draw("entries", result.trace, problem)
    assert fig.data[1].y[-1] == edges + 13 and fig.data[0].y[-1] >= edges + 13
