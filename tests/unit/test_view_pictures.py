"""Pictures of each view: the recorded numbers, at their place, under their names."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from recordings import annotations, images, lines, make_problem, record, sets
from sparsescope import registry, views
from sparsescope.runs.trace import Trace
from sparsescope.views import accuracy, active_set, convergence, drawing, style, weights

CHANGE = 30  # the event before which some traces change λ


@pytest.mark.parametrize("name", ["convergence", "accuracy", "active-set"])
def test_an_unknown_clock_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="x is 'second'; did you mean 'seconds'"):
        views.draw(name, record(5).trace, x="second")


@pytest.mark.parametrize("bad", [
    ({"sort": "size"}, "sort is 'size'; allowed: 'norm', 'name', 'first', 'block'"),
    ({"rows": 0}, "rows is 0; allowed: 1 to 600"),
    ({"snapshot": 99}, r"snapshot is 99; this trace stored \d+ snapshots of W \(allowed: 0 to \d+, or -1 to -\d+"),
    ({"snapshot": -99}, "snapshot is -99"),
    ({"picture": "images"}, "not pixels; allowed here: 'auto' or 'rows'"),
])  # fmt: skip
def test_bad_options_of_the_weights(bad: tuple[dict[str, Any], str]) -> None:
    with pytest.raises(ValueError, match=bad[1]):
        views.draw("weights", record(20).trace, **bad[0])


def test_an_unknown_view_is_refused_with_a_suggestion() -> None:
    with pytest.raises(registry.UnknownName, match="unknown view 'convergance'; did you mean 'convergence'"):
        views.draw("convergance", Trace())


def test_options_can_be_set_on_the_view_and_overridden() -> None:
    view = registry.views.create("convergence", x="seconds")
    assert repr(view) == "Convergence(x='seconds')"
    trace = record(5).trace
    assert view.figure(trace).layout.xaxis.title.text == "solver time [s]"
    assert view.figure(trace, x="passes").layout.xaxis.title.text == "passes over the data"
    with pytest.raises(TypeError, match="has no parameter 'y'"):
        registry.views.create("convergence", y="log")


# ------------------------------------------------------------------------------------------------------ convergence
def test_convergence_draws_the_recorded_numbers() -> None:
    recording = record(20)
    drawn = lines(views.draw("convergence", recording.trace, recording.problem, x="seconds"))
    assert list(drawn) == ["most_excess", "least_excess", "objective", "relative_gap", "violation"]
    assert np.allclose(drawn["objective"].x, 0.01 * np.arange(20))
    assert np.allclose(drawn["objective"].y, recording.objectives)
    # evaluated at every third event only; the line goes on across the others, with a marker where it was measured
    assert np.allclose(drawn["relative_gap"].x, 0.01 * np.arange(0, 20, 3))
    assert np.allclose(drawn["relative_gap"].y, 0.8 ** np.arange(0, 20, 3))
    assert drawn["relative_gap"].mode == "lines+markers"


def test_the_band_lies_between_what_was_seen_and_what_is_proved() -> None:
    recording = record(60, changes=(CHANGE,))
    trace, F = recording.trace, recording.objectives
    low, high = convergence.excess(trace)
    assert np.allclose(low[:CHANGE], (F[:CHANGE] - F[CHANGE - 1]) / F[:CHANGE])
    assert np.allclose(low[CHANGE:], (F[CHANGE:] - F[-1]) / F[CHANGE:])
    assert np.allclose(high[CHANGE:], (F[CHANGE:] - trace.lower(1)) / F[CHANGE:])
    assert (low <= high).all() and (low >= 0).all()
    drawn = [line for line in views.draw("convergence", trace).data if line.meta == "most_excess"]
    assert [len(line.x) for line in drawn] == [CHANGE, 60 - CHANGE], "the band ends where the problem changes"
    assert all(np.allclose(line.y, part) for line, part in zip(drawn, (high[:CHANGE], high[CHANGE:]), strict=True))


def test_a_band_once_drawn_is_never_contradicted() -> None:
    low, high = convergence.excess(record(20).trace)
    for n in (25, 40, 80):
        later_low, later_high = (side[:20] for side in convergence.excess(record(n).trace))
        assert (later_low >= low - 1e-15).all() and (later_high <= high + 1e-15).all()


def test_the_bound_never_lies_under_what_it_bounds() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam=0.01)
    trace = ss.solve(problem, "fista-cst", max_iter=60, tol=0).trace
    optimum = ss.solve(problem, tol=1e-12).objective
    low, high = convergence.excess(trace)
    true = (trace["objective"] - optimum) / np.abs(trace["objective"])
    assert (low <= true + 1e-12).all() and (true <= high + 1e-12).all()
    measured = np.isfinite(trace["relative_gap"])
    assert (trace["relative_gap"][measured] >= true[measured] - 1e-12).all()


def test_a_long_way_without_a_measurement_does_not_look_like_one() -> None:
    """4507 iterations with two gaps must not be drawn as a straight line of convergence."""
    y = np.full(4507, np.nan)
    y[[0, 1, 2, 5, 432, 4506]] = 1.0, 0.9, 0.8, 0.7, 1e-2, 1e-6
    line = drawing.points(np.arange(4507.0), y, np.zeros(4507, dtype=int), log=True)
    assert line.x[np.isfinite(line.x)].tolist() == [0, 1, 2, 5, 432, 4506]
    assert np.isnan(line.x[[4, 6]]).all(), "pieces end where nothing was measured for long"
    assert line.bridge_x[np.isfinite(line.bridge_x)].tolist() == [5, 432, 432, 4506]
    fig = views.draw("convergence", record(20).trace)
    drawing.add_line(fig, views.View.__subclasses__()[0](), "relative_gap", line)
    bridge = fig.data[-1]
    assert bridge.meta == "relative_gap:unmeasured" and bridge.line.dash == "dot" and bridge.line.width == 1
    assert fig.data[-2].mode == "lines+markers"


def test_the_notes_say_what_is_known_and_how_often_the_gap_was_measured() -> None:
    certified, plain = record(20), record(20, gap=False)
    note = " ".join(annotations(views.draw("convergence", certified.trace), "note"))
    assert "Proved: F* lies between" in note and "gap measured at 7 of 20 points" in note.replace("Gap", "gap")
    note = " ".join(annotations(views.draw("convergence", plain.trace), "note"))
    assert "no duality gap certifies it" in note and "Not drawn: no duality gap was evaluated" in note


def test_convergence_can_be_linear_and_lines_can_be_left_out() -> None:
    trace = record(20).trace
    fig = views.draw("convergence", trace, log=False, objective=False, violation=False)
    assert list(lines(fig)) == ["most_excess", "least_excess", "relative_gap"]
    assert fig.layout.yaxis.type != "log"
    assert 0.0 in lines(fig)["least_excess"].y
    off = views.draw("convergence", trace, objective=False, violation=False, excess=False, relative_gap=False)
    assert "Every line is switched off" in annotations(off, "sentence")[0]


def test_values_at_rounding_level_do_not_stretch_the_log_axis() -> None:
    y = np.array([1.0, 1e-12, 0.0, -1e-17, 1e-300, 5e-324])
    kept = drawing.points(np.arange(6.0), y, np.zeros(6, dtype=int), log=True).y
    assert kept.tolist() == [1.0, 1e-12]
    assert drawing.log_axis([y])["dtick"] > 0 and drawing.log_axis([kept])["dtick"] == 2


def test_wrapped_lines_are_of_like_length() -> None:
    text = " ".join(["word"] * 30)
    lines = drawing.wrap(text, 60)
    assert " ".join(lines) == text and max(map(len, lines)) <= 60 and min(map(len, lines)) >= 30
    assert drawing.wrap("short", 60) == ["short"]


def test_marks_are_labelled_lines_at_their_place() -> None:
    recording = record(60, changes=(CHANGE, 45))
    for name in ("convergence", "accuracy", "active-set"):
        fig = views.draw(name, recording.trace, recording.problem, x="passes")
        places = [1.5 * (CHANGE - 1), 1.5 * 44]  # a mark stands at the last event before the change
        assert [s.x0 for s in fig.layout.shapes] == places
        assert [a.x for a in fig.layout.annotations if a.name == "mark"] == places
        assert annotations(fig, "mark")[0] == "λ 1.0e-01 → 5.0e-02"
        assert not views.draw(name, recording.trace, marks=False).layout.shapes


def test_changes_of_lam_in_one_gesture_are_one_mark() -> None:
    trace = ss.Trace()
    for k in range(40):
        trace.mark(f"λ {k} → {k + 1}", "lam")
    assert [mark.text for mark in drawing.gestures(trace.marks)] == ["λ 0 → 40"]
    trace.mark("solver a → b", "solver")
    trace.mark("λ 40 → 41", "lam")
    assert [mark.text for mark in drawing.gestures(trace.marks)] == ["λ 0 → 40", "solver a → b", "λ 40 → 41"]


def test_texts_of_near_marks_never_overlap() -> None:
    places, texts = [float(p) for p in (10, 11, 12, 13, 14, 98)], ["λ 1.0e-02 → 3.0e-03"] * 6
    printed = drawing.mark_rows(places, texts, 0.0, 100.0)
    assert sorted(k for _, group, _, _ in printed for k in group) == list(range(6)), "no mark is lost"
    scale, width = drawing.PLOT_PIXELS / 100.0, 6.5 * len(texts[0])
    spans = [(row, p * scale - width * flush, p * scale + width * (not flush)) for p, _, row, flush in printed]
    for (row, a, b), (other, c, e) in itertools.combinations(spans, 2):
        assert row != other or b <= c or e <= a


def test_long_lines_are_thinned_but_keep_their_extremes() -> None:
    y = np.ones(50_000)
    y[[123, 45_678]] = 9.0, 0.1
    x, thin, _ = drawing.thin(np.arange(50_000.0), y, np.zeros(50_000, dtype=int))
    assert len(x) < 1.1 * drawing.MAX_POINTS and np.all(np.diff(x) > 0)
    assert {123.0, 45_678.0, 0.0, 49_999.0} <= set(x) and thin.max() == 9.0 and thin.min() == 0.1


# --------------------------------------------------------------------------------------------------------- accuracy
def test_accuracy_draws_shares_and_the_percentage_of_rows() -> None:
    recording = record(30)
    fig = views.draw("accuracy", recording.trace, recording.problem)
    drawn = lines(fig)
    assert np.allclose(drawn["train_accuracy"].y, 0.9) and np.allclose(drawn["test_accuracy"].y, 0.8)
    assert np.allclose(drawn["nonzero_percent"].y, [100 * len(s) / 12 for s in recording.supports])
    assert drawn["nonzero_percent"].yaxis == "y2" and drawn["test_accuracy"].yaxis == "y"
    assert fig.layout.yaxis2.title.text == "non-zero rows [%]"


def test_accuracy_is_compared_with_guessing_the_largest_class() -> None:
    recording = record(20)
    fig = views.draw("accuracy", recording.trace, recording.problem)
    level = next(line for line in fig.data if line.meta == "baseline")
    assert list(level.y) == [recording.problem.class_shares.max()] * 2
    assert registry.views.create("accuracy").spec(recording.problem)["levels"][0]["value"] == level.y[0]


def test_accuracy_without_test_data_says_so() -> None:
    fig = views.draw("accuracy", record(30, test=False).trace)
    assert set(lines(fig)) == {"train_accuracy", "nonzero_percent"}
    assert "a run needs test data" in annotations(fig, "note")[0]


def test_label_sets_have_their_measures_in_the_place_of_accuracy() -> None:
    recording = record(30, sets())
    for problem in (recording.problem, None):  # the trace alone tells it too
        fig = views.draw("accuracy", recording.trace, problem)
        drawn = lines(fig)
        assert set(drawn) == {"train_precision_at_1", "test_precision_at_1", "nonzero_percent"}
        assert np.allclose(drawn["train_precision_at_1"].y, 0.7) and np.allclose(drawn["test_precision_at_1"].y, 0.6)
        assert fig.layout.yaxis.title.text == "precision@1 (best label correct)"
    for measure, label in style.SET_MEASURES.items():
        fig = views.draw("accuracy", recording.trace, measure=measure)
        assert {f"train_{measure}", f"test_{measure}"} <= set(lines(fig))
        assert label.split()[0] in fig.layout.yaxis.title.text
    with pytest.raises(ValueError, match="measure is 'recall'"):
        views.draw("accuracy", recording.trace, measure="recall")


def test_the_page_is_offered_all_measures_of_label_sets() -> None:
    spec = accuracy.Accuracy(measure="micro_f1").spec(sets())
    assert [choice["label"] for choice in spec["choices"]][:2] == ["micro-F1", "precision@1"]
    assert len(spec["choices"]) == 6 and spec["y"] == spec["choices"][0]["y"]
    assert [line["column"] for line in spec["y"]] == [
        "train_micro_f1",
        "test_micro_f1",
        "nonzero_percent",
        "working_percent",
    ]
    assert "choices" not in accuracy.Accuracy().spec(make_problem())


# ------------------------------------------------------------------------------------------------------- active set
def test_the_raster_shows_every_state_and_every_change() -> None:
    recording = record(200)
    trace, codes = recording.trace, active_set.raster(recording.trace, recording.trace["iteration"], 12).codes
    assert codes.shape == (12, 200)
    for i, support in enumerate(recording.supports):
        shown = np.isin(codes[:, i], (active_set.NONZERO, active_set.ENTERED))
        assert set(np.flatnonzero(shown)) == support
        assert np.array_equal(np.flatnonzero(codes[:, i] == active_set.ENTERED), trace.entered(i))
        assert np.array_equal(np.flatnonzero(codes[:, i] == active_set.LEFT), trace.left(i))


def test_rows_that_the_solver_works_on_have_a_faint_tone() -> None:
    trace = record(60, working=True).trace
    codes = active_set.raster(trace, trace["iteration"], 12).codes
    for i in range(60):
        work, support = set(trace.working(i).tolist()), set(trace.support(i).tolist())
        assert support <= work
        left = set(trace.left(i).tolist())
        assert set(np.flatnonzero(codes[:, i] == active_set.WORKED)) == work - support - left
    assert (codes == active_set.WORKED).any(), "the recording should have rows that are only worked on"
    fig = views.draw("active-set", trace)
    assert "worked on" in [entry.name for entry in fig.data]
    assert "worked on" not in [entry.name for entry in views.draw("active-set", record(60).trace).data]


def test_with_many_features_rows_that_were_only_worked_on_come_last() -> None:
    recording = record(200, make_problem(d=900), working=True)
    trace = recording.trace
    ever = set().union(*recording.supports)
    tried = {int(j) for i in range(200) for j in trace.working(i)} - ever
    picture = active_set.raster(trace, trace["iteration"], 900)
    order = [int(rows[0]) for rows in picture.rows]
    assert set(order[: len(ever)]) == ever and set(order[len(ever) :]) == tried
    assert (picture.ever, picture.tried) == (len(ever), len(tried))
    note = annotations(views.draw("active-set", trace, recording.problem), "note")[0]
    assert f"{len(ever)} of 900 rows were ever non-zero and {len(tried)} more were worked on" in note


def test_the_size_of_the_working_set_is_a_line_where_there_is_one() -> None:
    trace = record(40, working=True).trace
    drawn = lines(views.draw("accuracy", trace))
    assert np.allclose(drawn["working_percent"].y, 100 * trace["working_set"] / 12)
    assert drawn["working_percent"].yaxis == "y2"
    assert "working set" in views.draw("accuracy", trace).layout.yaxis2.title.text
    without = views.draw("accuracy", record(40).trace)
    assert "working_percent" not in lines(without) and not annotations(without, "note")


@pytest.mark.parametrize("limit", [500, 37])
def test_every_event_lies_within_its_column(limit: int) -> None:
    x = np.cumsum(np.random.default_rng(0).random(200))
    edges, column = active_set.column_edges(x, limit)
    assert len(edges) == min(limit, 200) + 1
    assert np.all(np.diff(column) >= 0) and np.all(edges[column] <= x) and np.all(x <= edges[column + 1])


def test_shared_columns_hide_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_set.column_edges, "__defaults__", (25,))
    recording = record(200)
    picture = active_set.raster(recording.trace, recording.trace["iteration"], 12)
    _, column = active_set.column_edges(recording.trace["iteration"])
    assert picture.codes.shape == (12, 25)
    for i in range(200):
        assert np.all(picture.codes[recording.trace.entered(i), column[i]] == active_set.ENTERED)
        assert np.all(picture.codes[recording.trace.left(i), column[i]] >= active_set.LEFT)
    last = picture.codes[:, -1]
    assert all(last[j] != active_set.ZERO for j in recording.supports[-1])


def test_events_at_one_iteration_share_a_column() -> None:
    edges, column = active_set.column_edges(np.array([0.0, 1.0, 1.0, 3.0]))
    assert edges.tolist() == [-0.5, 0.5, 2.0, 4.0] and column.tolist() == [0, 1, 1, 2]
    assert active_set.column_edges(np.array([4.0]))[0].tolist() == [3.5, 4.5]


def test_with_many_features_only_rows_that_were_ever_active_are_drawn() -> None:
    recording = record(400, make_problem(d=900))
    ever = set().union(*recording.supports)
    fig = views.draw("active-set", recording.trace, recording.problem)
    heat = fig.data[0]
    assert len(heat.y) == len(ever) and heat.y[0] == f"feature {recording.trace.entered(1)[0]}"
    assert f"{len(ever)} of 900 rows were ever non-zero" in annotations(fig, "note")[0]
    by_index = views.draw("active-set", recording.trace, order="index").data[0].y
    assert list(by_index) == [f"feature {j}" for j in sorted(ever)]


def test_too_many_rows_are_binned_by_their_maximum() -> None:
    recording = record(200)
    whole = active_set.raster(recording.trace, recording.trace["iteration"], 12)
    binned = active_set.raster(recording.trace, recording.trace["iteration"], 12, order="index", max_rows=5)
    ever = sorted(set().union(*recording.supports))
    assert binned.codes.shape[0] == 5 and np.concatenate(binned.rows).tolist() == ever
    for line, rows in zip(binned.codes, binned.rows, strict=True):
        assert np.array_equal(line, whole.codes[rows].max(axis=0))


def test_names_in_the_raster_are_distinct_and_escaped() -> None:
    names = ["<b>", "<b>", *[f"w{j}" for j in range(10)]]
    recording = record(60, make_problem(feature_names=names))
    labels = list(views.draw("active-set", recording.trace, recording.problem).data[0].y)
    assert labels[:2] == ["&lt;b&gt;", "&lt;b&gt; [1]"] and len(set(labels)) == 12


def test_a_run_that_stays_at_zero_says_so() -> None:
    trace = record(20, empty=True).trace
    assert "Every row of W is zero up to iteration 19" in annotations(views.draw("active-set", trace), "sentence")[0]
    assert "Every row of W is zero after iteration" in annotations(views.draw("weights", trace), "sentence")[0]


# ---------------------------------------------------------------------------------------------------------- weights
def test_the_weights_are_those_of_the_snapshot() -> None:
    recording = record(50)
    for k in (-1, len(recording.trace.snapshots) // 2):
        W = recording.trace.weights(k)
        heat = views.draw("weights", recording.trace, recording.problem, snapshot=k).data[0]
        rows = np.flatnonzero(W.any(axis=1))
        order = rows[np.argsort(-np.linalg.norm(W[rows], axis=1), kind="stable")]
        assert np.array_equal(heat.z, W[order])
        assert heat.text[0][1] == (f"feature {order[0]} (row {order[0]})<br>class {recording.problem.class_names[1]}"
                                   f"<br>row norm {np.linalg.norm(W[order[0]]):.4g}")  # fmt: skip


def test_rows_are_sorted_as_asked() -> None:
    names = [f"{'zyxwvutsrqpo'[j]}" for j in range(12)]
    recording = record(50, make_problem(feature_names=names))
    by_name = views.draw("weights", recording.trace, recording.problem, sort="name")
    assert list(by_name.layout.yaxis.ticktext) == sorted(by_name.layout.yaxis.ticktext)
    by_first = views.draw("weights", recording.trace, recording.problem, sort="first")
    first = active_set.first_entries(recording.trace)
    entries = [first[names.index(name)] for name in by_first.layout.yaxis.ticktext]
    assert entries == sorted(entries)


def test_blocks_stand_together_between_lines_and_are_named(tmp_path: Path) -> None:
    problem = make_problem(penalty=ss.penalties.BlockL1L2(blocks=["even", "odd"]),
                           feature_names=[f"{'odd' if j % 2 else 'even'}{j}" for j in range(12)])  # fmt: skip
    recording = record(60, problem)
    W = recording.trace.weights(-1)
    rows = np.flatnonzero(W.any(axis=1))
    expected = [*rows[rows % 2 == 0], *rows[rows % 2 == 1]]
    first_odd = int((rows % 2 == 0).sum())
    assert 0 < first_odd < len(rows)
    fig = views.draw("weights", recording.trace, problem, sort="block")
    assert np.array_equal(fig.data[0].z, W[expected])
    assert [(line.y0, line.y1) for line in fig.layout.shapes] == [(first_odd - 0.5, first_odd - 0.5)]
    names = list(fig.layout.yaxis.ticktext)
    assert names[0].startswith("<b>even</b>") and names[first_odd].startswith("<b>odd</b>") and "<b>" not in names[1]
    norm = np.linalg.norm(W[::2, 1])
    assert fig.data[0].text[0][1].endswith(f"<br>even: norm {norm:.4g} in this class")
    assert not views.draw("weights", recording.trace, problem, sort="norm").layout.shapes
    many = views.draw("weights", recording.trace, problem, sort="block", rows=600)
    assert "sorted by block" in many.layout.title.subtitle.text
    recording.trace.save(tmp_path / "run.npz")
    saved = views.draw("weights", Trace.load(tmp_path / "run.npz"), sort="block")
    assert saved.layout.shapes == fig.layout.shapes and saved.data[0].text[0][1].endswith("<br>even")
    plain = views.draw("weights", recording.trace, problem.with_(penalty="l1"), sort="block")
    assert np.array_equal(plain.data[0].z, W[rows]) and not plain.layout.shapes


def test_blocks_of_many_rows_are_named_beside_their_middle() -> None:
    recording = record(900, make_problem(d=300, penalty=ss.penalties.BlockL1L2(size=100)))
    fig = views.draw("weights", recording.trace, recording.problem, sort="block", rows=600)
    assert list(fig.layout.yaxis.ticktext) == ["<b>block 0</b>", "<b>block 1</b>", "<b>block 2</b>"]
    assert len(fig.layout.shapes) == 2
    fine = record(900, make_problem(d=300, penalty=ss.penalties.BlockL1L2(size=1)))
    assert not views.draw("weights", fine.trace, fine.problem, sort="block", rows=600).layout.shapes


def test_long_lists_of_blocks_are_cut_in_the_line_under_the_title() -> None:
    problem = make_problem(d=40, penalty=ss.penalties.BlockL1L2(blocks=[[j] for j in range(40)]))
    text = views.draw("weights", record(5, problem).trace).layout.title.subtitle.text
    assert "BlockL1L2(blocks=((0,), " in text and "…" in text and "(39,)" not in text


def test_only_the_strongest_rows_are_drawn_and_the_title_says_so() -> None:
    recording = record(400, make_problem(d=900))
    W = recording.trace.weights(-1)
    norms = np.linalg.norm(W, axis=1)
    fig = views.draw("weights", recording.trace, recording.problem, rows=7)
    assert np.allclose(np.linalg.norm(fig.data[0].z, axis=1), np.sort(norms)[::-1][:7])
    assert f"the 7 strongest of {np.count_nonzero(norms)} non-zero rows (d = 900)" in fig.layout.title.subtitle.text


def test_image_data_give_one_picture_a_class() -> None:
    recording = record(60, images())
    fig = views.draw("weights", recording.trace, recording.problem)
    W = recording.trace.weights(-1)
    assert len(fig.data) == 3
    for k, heat in enumerate(fig.data):
        assert np.array_equal(heat.z, W[:, k].reshape(3, 4))
        assert heat.text[2][3] == f"pixel 11<br>class {'abc'[k]}"
    assert fig.layout.coloraxis.cmax == -fig.layout.coloraxis.cmin == np.abs(W).max()
    assert views.draw("weights", recording.trace, recording.problem, picture="rows").data[0].z.shape[1] == 3


def test_magnitudes_use_the_sequential_scale() -> None:
    fig = views.draw("weights", record(30).trace, values="magnitude")
    assert fig.data[0].z.min() >= 0.0 and fig.layout.coloraxis.cmin == 0.0
    assert [c for _, c in fig.layout.coloraxis.colorscale] == style.SEQUENTIAL


def test_first_entries_are_the_first() -> None:
    recording = record(80)
    first = active_set.first_entries(recording.trace)
    for row, i in first.items():
        assert row in recording.supports[i] and all(row not in s for s in recording.supports[:i])
    assert weights.ordered(["b", "B", "a"], np.array([3, 4, 5]), np.ones(3), {}, "name").tolist() == [2, 1, 0]


# ------------------------------------------------------------------------------------------------------------ style
def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` as the accessibility guidelines (WCAG 2) define it."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.03928 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", style.THEMES)
def test_lines_and_texts_stand_out_from_the_paper(theme: str) -> None:
    colours = style.theme(theme)
    for quantity in style.QUANTITIES.values():
        assert contrast(colours[quantity.colour], colours["paper"]) >= 3.0, quantity.column
    assert contrast(colours["text"], colours["paper"]) >= 7.0
    assert contrast(colours["muted"], colours["paper"]) >= 4.5


def test_each_quantity_has_a_look_of_its_own_and_each_theme_the_same_names() -> None:
    # the measures of label sets, and errors, replace accuracy, one at a time
    instead = {*style.SET_MEASURES, "error"}
    single = [q for name, q in style.QUANTITIES.items() if name.partition("_")[2] not in instead]
    looks = [(q.colour, q.dash) for q in single]
    assert all(
        (style.QUANTITIES[f"{part}_{m}"].colour, style.QUANTITIES[f"{part}_{m}"].dash)
        == (style.QUANTITIES[f"{part}_accuracy"].colour, style.QUANTITIES[f"{part}_accuracy"].dash)
        for part in ("train", "test")
        for m in instead
    )
    assert len(set(looks)) == len(looks)
    assert set(style.THEMES["light"]) == set(style.THEMES["dark"])
    for name in registry.views:
        spec = registry.views.create(name).spec(make_problem())
        colours = [line["colour"] for line in spec.get("y", [])]
        assert len(set(colours)) == len(colours), "within one chart colours alone must tell lines apart"


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ValueError, match="theme is 'sepia'; allowed: 'light', 'dark'"):
        style.theme("sepia")
