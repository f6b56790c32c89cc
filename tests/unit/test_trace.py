"""Traces: columns, supports, marks, snapshots, files, and a reader beside the writer."""

from __future__ import annotations

import json
import pickle
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, iris, text
from sparsescope.registry import Column
from sparsescope.runs.event import NUMBERS
from sparsescope.runs.run import Run
from sparsescope.runs.trace import Recorder, Trace
from sparsescope.solvers.base import settings
from sparsescope.solvers.ista import ISTA


def recorded(steps: int = 30, **settings: Any) -> tuple[Trace, list[Any], list[np.ndarray]]:
    """A trace of a run on digits with changes of λ, penalty and solver in it; the events; W after each."""
    X, y = digits()
    problem = ss.Problem(X, y, lam=0.3, **settings)
    recorder = Recorder()
    events: list[Any] = []
    weights: list[np.ndarray] = []
    run = Run(
        problem,
        "bcd-ls",
        callbacks=[recorder, events.append, lambda e: weights.append(np.array(e.state.weights()))],
        certify_every=4,
    )
    changes: dict[int, dict[str, Any]] = {
        8: {"problem": problem.with_lam(0.6)},
        14: {"solver": ss.solvers.ISTA()},
        18: {"problem": problem},
        24: {"problem": problem.with_(penalty="l1")},
    }
    for k in range(steps):
        if k in changes:
            run.change(**changes[k])
            recorder.trace.mark(f"change {k}", "lam" if "problem" in changes[k] else "solver")
        run.advance()
    return recorder.trace, events, weights


@pytest.fixture(scope="module")
def run() -> tuple[Trace, list[Any], list[np.ndarray]]:
    return recorded()


def test_columns_hold_the_numbers_of_the_events(run: Any) -> None:
    trace, events, _ = run
    assert len(trace) == len(events) == 30
    reported = {name for event in events for name in event.info}
    assert set(trace.columns) == {*NUMBERS, "segment", *reported} and {"train_accuracy", "seen_violation"} <= reported
    for name in (*NUMBERS, *reported):
        assert trace[name].dtype == np.float64 and trace[name].shape == (30,)
        np.testing.assert_array_equal(trace[name], [getattr(e, name) for e in events])
    assert np.isnan(trace["gap"]).any() and np.isfinite(trace["gap"]).any()
    with pytest.raises(KeyError, match="unknown column 'objectiv'; known: iteration"):
        trace["objectiv"]
    late = trace.since(25)
    assert set(late) == set(trace.columns) and late["objective"].shape == (5,)
    late["objective"][:] = 0.0  # a copy
    assert (trace["objective"] > 0).all()
    assert trace.since(-3)["objective"].size == 30 and trace.since(99)["objective"].size == 0
    assert "30 events to iteration 29, 4 segments" in repr(trace) and repr(Trace()) == "Trace(empty)"


def test_segments_change_with_the_problem_and_not_with_the_solver(run: Any) -> None:
    trace, _, _ = run
    np.testing.assert_array_equal(trace["segment"], np.repeat([0, 1, 2, 3], [8, 10, 6, 6]))
    assert trace.segments == 4


def test_best_and_lower_are_kept_for_each_problem_over_all_its_segments(run: Any) -> None:
    trace, _, _ = run
    F, D, segment = trace["objective"], trace["dual"], trace["segment"]
    for own, same in ((0, (0, 2)), (1, (1,)), (2, (0, 2)), (3, (3,))):
        inside = np.isin(segment, same)
        assert trace.best(own) == F[inside].min()
        assert trace.lower(own) == np.nanmax(D[inside]) <= trace.best(own) * (1 + 1e-12)
    assert trace.best() == trace.best(3)
    assert np.isnan(Trace().best()) and np.isnan(Trace().lower())


def test_supports_are_those_of_the_weights(run: Any) -> None:
    trace, _, weights = run
    before: set[int] = set()
    all_supports = list(trace.supports())
    for i, W in enumerate(weights):
        now = set(np.flatnonzero(W.any(axis=1)).tolist())
        assert trace.support(i).tolist() == sorted(now) == all_supports[i].tolist()
        assert set(trace.entered(i).tolist()) == now - before
        assert set(trace.left(i).tolist()) == before - now
        assert trace["nonzero_rows"][i] == len(now)
        before = now
    assert any(trace.left(i).size for i in range(30)), "the run should lose rows as well, or nothing is tested"
    assert trace.support().tolist() == trace.support(29).tolist() == trace.support(-1).tolist()
    for index in (30, -31):
        with pytest.raises(IndexError, match="trace with 30 events"):
            trace.support(index)


def test_the_working_set_is_followed_as_long_as_there_is_one(tmp_path: Path) -> None:
    problem = ss.Problem(ss.datasets.load("pydocs"))
    recorder, seen = Recorder(), []
    run = Run(problem.with_lam(0.3 * problem.lam_max), "working-set", callbacks=[recorder], certify_every=100)
    for k in range(14):
        if k == 9:
            run.change(solver=ss.solvers.BCD())
        flags = run.advance().state.working
        seen.append(set() if flags is None else set(np.flatnonzero(flags).tolist()))
    trace = recorder.trace
    assert seen[0] == set() != seen[1] and seen[8] and seen[9:] == [set()] * 5
    assert len({frozenset(s) for s in seen[1:9]}) > 1, "the working set should change, or nothing is tested"
    for again in (trace, trace.copy(), Trace.load(trace.save(tmp_path / "t"))):
        for i, rows in enumerate(seen):
            before = seen[i - 1] if i else set()
            assert again.working(i).tolist() == sorted(rows)
            assert set(again.taken(i).tolist()) == rows - before and set(again.dropped(i).tolist()) == before - rows


def test_files_without_working_sets_can_be_read(run: Any, tmp_path: Path) -> None:
    trace, _, _ = run
    assert not any(trace.taken(i).size or trace.dropped(i).size for i in range(30))
    with np.load(trace.save(tmp_path / "new.npz")) as stored:
        old = {name: stored[name] for name in stored.files if not name.startswith(("taken", "dropped"))}
    np.savez(tmp_path / "old.npz", **old)
    loaded = Trace.load(tmp_path / "old.npz")
    same(loaded, trace)
    assert loaded.working(29).size == 0


def test_marks_stand_between_events(run: Any) -> None:
    trace, events, _ = run
    assert [m.index for m in trace.marks] == [8, 14, 18, 24]
    for mark in trace.marks:
        last = events[mark.index - 1]
        assert (mark.iteration, mark.passes, mark.seconds) == (last.iteration, last.passes, last.seconds)
    assert [m.kind for m in trace.marks] == ["lam", "solver", "lam", "lam"]
    first = Trace().mark("before all")
    assert (first.index, first.iteration, first.seconds, first.kind) == (0, 0, 0.0, "note")


def test_snapshots_are_the_weights_and_thin_out(run: Any) -> None:
    trace, _, weights = run
    indices = [s.index for s in trace.snapshots]
    assert indices[:3] == [0, 1, 2] and indices == sorted(set(indices)) and len(indices) < 30
    for k, snapshot in enumerate(trace.snapshots):
        np.testing.assert_array_equal(trace.weights(k), weights[snapshot.index])
        assert snapshot.values.shape == (snapshot.rows.size, 10)
    with pytest.raises(IndexError, match="no snapshots"):
        Trace().weights()


def test_snapshots_stay_within_their_memory() -> None:
    X, y = digits()
    run = Run(ss.Problem(X, y, lam=0.05), "bcd-ls", certify_every=100)
    budgets = (0, 5_000, 20_000, 10**9)
    traces = [Trace(snapshot_bytes=size) for size in budgets]
    run.callbacks = [Recorder(t) for t in traces]
    for _ in range(150):
        run.advance()
        for trace, size in zip(traces, budgets, strict=True):
            assert sum(s.nbytes for s in trace.snapshots) <= max(size, 1)
    counts = [len(t.snapshots) for t in traces]
    assert counts[0] <= 1 < counts[1] < counts[2] < counts[3]
    assert traces[2].snapshots[-1].index > 100, "the newest ones are kept"
    assert all(t["iteration"].size == 150 for t in traces), "columns grow beyond their first 64 places"


def test_info_describes_the_problem(run: Any) -> None:
    info = run[0].info
    assert (info["n"], info["d"], info["m"], info["lam"]) == (120, 64, 10, 0.3)
    assert info["loss"] == "MulticlassSquaredHinge()" and "BCD" in info["solver"]
    assert info["penalty"].startswith("L1L2(")
    assert json.loads(json.dumps(info)) == info
    assert Trace({"dataset": "mine"}).info == {"dataset": "mine"}


def same(a: Trace, b: Trace) -> None:
    assert len(a) == len(b) and a.info == b.info and a.marks == b.marks and a.segments == b.segments
    for name in a.columns:
        np.testing.assert_array_equal(a[name], b[name])
    for i in range(len(a)):
        assert (a.entered(i).tolist(), a.left(i).tolist()) == (b.entered(i).tolist(), b.left(i).tolist())
        assert (a.taken(i).tolist(), a.dropped(i).tolist()) == (b.taken(i).tolist(), b.dropped(i).tolist())
    assert [(s.index, s.iteration) for s in a.snapshots] == [(s.index, s.iteration) for s in b.snapshots]
    for k in range(len(a.snapshots)):
        np.testing.assert_array_equal(a.weights(k), b.weights(k))
    for segment in range(a.segments):
        np.testing.assert_equal((a.best(segment), a.lower(segment)), (b.best(segment), b.lower(segment)))


def test_a_saved_trace_comes_back_whole(run: Any, tmp_path: Path) -> None:
    trace, _, _ = run
    written = trace.save(tmp_path / "run")
    assert written == tmp_path / "run.npz"
    same(Trace.load(written), trace)
    same(Trace.load(str(written)), trace)
    with zipfile.ZipFile(written) as archive:
        for name in archive.namelist():
            with archive.open(name) as file:
                np.lib.format.read_array(file, allow_pickle=False)  # raises if anything is pickled
    empty = Trace({"dataset": "none yet"})
    empty.mark("nothing happened")
    same(Trace.load(empty.save(tmp_path / "empty.npz")), empty)


@pytest.mark.parametrize("again", ["loaded", "copied"])
def test_a_loaded_or_copied_trace_can_go_on(tmp_path: Path, again: str) -> None:
    X, y = text()
    problem = ss.Problem(X, y, lam=0.01)
    recorder = Recorder()
    run = Run(problem, "bcd-ls", callbacks=[recorder], certify_every=100)
    for _ in range(20):
        run.advance()
    kept = recorder.trace
    other = Trace.load(kept.save(tmp_path / "t.npz")) if again == "loaded" else kept.copy()
    run.callbacks = [Recorder(other)]
    run.change(problem=problem.with_lam(0.05))
    for _ in range(100):
        run.advance()
    assert (len(kept), len(other), kept.segments, other.segments) == (20, 120, 1, 2)
    np.testing.assert_array_equal(other["objective"][:20], kept["objective"])
    assert other.support().tolist() == np.flatnonzero(run.state.weights().any(axis=1)).tolist()
    assert kept.support().size > 0 and other.snapshots[-1].index >= 20 > kept.snapshots[-1].index


def other_files(folder: Path) -> dict[str, Path]:
    names = (
        "text.npz",
        "array.npy",
        "arrays.npz",
        "empty.npz",
        "pickle.npz",
        "cut.npz",
        "header.npz",
        "list.npz",
        "folder.npz",
    )
    made = {name: folder / name for name in names}
    made["text.npz"].write_text("not a trace at all")
    np.save(made["array.npy"], np.ones(3))
    np.savez(made["arrays.npz"], X=np.ones(3))
    made["empty.npz"].write_bytes(b"")
    made["pickle.npz"].write_bytes(pickle.dumps({"a": 1}))
    made["cut.npz"].write_bytes(Trace().save(folder / "whole.npz").read_bytes()[:200])
    for name, header in (("header.npz", b'{"kind": "something else"}'), ("list.npz", b"[1, 2]")):
        np.savez(made[name], header=np.frombuffer(header, dtype=np.uint8))
    made["folder.npz"].mkdir()
    return made


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    for name, path in other_files(tmp_path).items():
        with pytest.raises(ValueError, match=f"{name} is not a trace saved by sparsescope"):
            Trace.load(path)
    with pytest.raises(FileNotFoundError):
        Trace.load(tmp_path / "missing.npz")


def test_a_trace_of_a_later_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsescope.runs.trace_files.FORMAT", 99)
    path = Trace().save(tmp_path / "future.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="format 99"):
        Trace.load(path)


def test_a_trace_becomes_a_data_frame(run: Any) -> None:
    pytest.importorskip("pandas")
    trace, _, _ = run
    frame = trace.to_frame()
    assert list(frame.columns) == list(trace.columns) and len(frame) == 30
    assert frame["segment"].dtype == frame["iteration"].dtype == np.int64
    np.testing.assert_array_equal(frame["objective"], trace["objective"])
    assert len(Trace().to_frame()) == 0


def test_a_reader_beside_the_writer_sees_whole_events_only() -> None:
    X, y = text()
    recorder = Recorder()
    run = Run(ss.Problem(X, y, lam=0.01), "bcd-ls", callbacks=[recorder], certify_every=50)
    trace, faults, looked, done = recorder.trace, [], [0], threading.Event()

    def read() -> None:
        while not done.is_set():
            size = len(trace)
            iteration, rows = trace["iteration"][:size], trace["nonzero_rows"][:size]
            if iteration.size != size or not np.array_equal(iteration, np.arange(size)):
                faults.append(iteration.copy())
            if size and trace.support(size - 1).size != rows[size - 1]:
                faults.append(size)
            late = trace.since(max(size - 5, 0))
            if size and (late["iteration"][: min(size, 5)] != np.arange(size)[-5:]).any():
                faults.append(late)
            looked[0] += 1

    reader = threading.Thread(target=read)
    run.warm_up()
    reader.start()
    try:
        for _ in range(400):
            run.advance()
    finally:
        done.set()
        reader.join(30)
    assert not faults and looked[0] > 5 and len(trace) == 400


# ------------------------------------------------------------------------------------------------ what solvers declare
@settings
class Counting(ISTA):
    """ISTA that reports how many of its steps were longer than the one before."""

    columns = (Column("longer_steps", "steps so far that were longer than the one before", of_step=False),)

    def step(self, problem: Any, state: Any) -> None:
        before = state.step_size
        super().step(problem, state)
        state.longer_steps = getattr(state, "longer_steps", 0) + (state.step_size > before)


def test_what_a_solver_declares_is_in_events_traces_and_files(tmp_path: Path) -> None:
    X, y = digits()
    problem, recorder, events = ss.Problem(X, y, lam=0.3), Recorder(), []
    run = Run(problem, "bcd-ls", callbacks=[recorder, events.append])
    run.advance(), run.advance()
    run.change(solver=Counting(line_search=True))
    for _ in range(4):
        run.advance()
    trace = recorder.trace
    assert "longer_steps" not in events[1].info and events[-1].info["longer_steps"] == events[-1].longer_steps >= 1
    np.testing.assert_array_equal(trace["longer_steps"][:2], [np.nan, np.nan])
    assert trace["longer_steps"][-1] == events[-1].longer_steps and np.isnan(trace["seen_violation"][2:]).all()
    assert {"longer_steps": trace["longer_steps"][-1]}.items() <= trace.to_frame().iloc[-1].to_dict().items()
    assert Counting.columns[0] in trace.reported
    read = Trace.load(trace.save(tmp_path / "counted"))
    assert read.reported == trace.reported and read.columns == trace.columns == trace.copy().columns
    np.testing.assert_array_equal(read["longer_steps"], trace["longer_steps"])
    assert np.isnan(trace["search_share"]).all(), "what only other solvers report is NaN"
    assert np.isnan(events[-1].search_share)
    with pytest.raises(AttributeError, match="no number 'longer_step'; it has iteration"):
        events[-1].longer_step  # noqa: B018


@settings
class Undeclared(ISTA):
    """ISTA that declares nothing: its state has numbers that other solvers declare."""

    columns = ()


def test_known_numbers_of_a_state_are_kept_without_a_declaration(tmp_path: Path) -> None:
    X, y = digits()
    recorder = Recorder()
    run = Run(ss.Problem(X, y, lam=0.3), Undeclared(), callbacks=[recorder])
    events = [run.advance() for _ in range(4)]
    trace = recorder.trace
    assert events[-1].step_size == trace["step_size"][-1] > 0 and np.isnan(trace["step_size"][0])
    assert "step_size" in {column.name for column in trace.reported}
    same(Trace.load(trace.save(tmp_path / "undeclared")), trace)


def test_a_file_of_format_1_is_read() -> None:
    """It was written by the version before: fbpd, three iterations, then two at another λ."""
    trace = Trace.load(Path(__file__).parent / "saved" / "trace_format_1.npz")
    assert len(trace) == 6 and trace.segments == 2 and trace.marks[0].kind == "lam"
    np.testing.assert_allclose(trace["active_share"], [1.0, np.nan, 1.0, 1.0, 11 / 12, 11 / 12])
    np.testing.assert_allclose(trace["objective"][[0, -1]], [1.0, 0.9015687851954088], rtol=1e-15)
    assert {column.name for column in trace.reported} == {"active_share", "dual_entries", "working_set", "step_size"}
    assert {"train_accuracy", "violation_sum", "active_share", "lam", "segment"} <= set(trace.columns)
    assert not {"search_share", "features", "test_accuracy"} & set(trace.columns), "they hold no number"
    assert trace.weights().shape == (3, 3)


def test_a_file_that_does_not_list_the_numbers_of_a_step_is_read(run: Any, tmp_path: Path) -> None:
    """Format 2 was written, too, when working set, step size and trials were columns of every trace."""
    trace, _, _ = run
    of_step = ["working_set", "step_size", "trials"]
    assert set(of_step) <= {column.name for column in trace.reported} <= set(trace.columns)
    with np.load(trace.save(tmp_path / "new.npz")) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(bytes(arrays["header"]).decode())
    header["reported"] = [entry for entry in header["reported"] if entry["name"] not in of_step]
    header["columns"].append("momentum")  # of another solver: no event has one
    arrays["table"] = np.vstack([arrays["table"], np.full(len(trace), np.nan)])
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", **arrays)
    loaded = Trace.load(tmp_path / "old.npz")
    same(loaded, trace)
    assert {column.name: column for column in loaded.reported} == {column.name: column for column in trace.reported}
    assert loaded.columns == trace.columns


def test_a_file_of_format_2_is_read(tmp_path: Path) -> None:
    """It was written when these numbers were fields of every event: BCD, then ISTA at another λ."""
    path, of_step = Path(__file__).parent / "saved" / "trace_format_2.npz", {"working_set", "step_size", "trials"}
    with np.load(path) as stored:
        header, table = json.loads(bytes(stored["header"]).decode()), stored["table"]
    assert header["format"] == 2 and not of_step & {entry["name"] for entry in header["reported"]}
    trace = Trace.load(path)
    for name, row in zip(header["columns"], table, strict=True):
        np.testing.assert_array_equal(trace[name], row, err_msg=name)
    assert of_step <= {column.name for column in trace.reported} and of_step <= set(trace.columns)
    assert np.isfinite(trace["trials"]).any() and np.isfinite([trace["dual"], trace["violation"]]).all()
    same(Trace.load(trace.save(tmp_path / "again.npz")), trace)


def test_the_weights_of_the_newest_events_are_kept_within_their_memory() -> None:
    X, y = iris()
    recorder = ss.Recorder(ss.Trace(recent_bytes=4 * 8 * 96))  # four W of 4 × 3 and their rows, eight times over
    truth = []
    run = ss.Run(ss.Problem(X, y, lam_ratio=0.01), "ista", stop=ss.stopping.Iterations(60), callbacks=[recorder])
    for event in run:
        truth.append(event.state.weights().copy())
    trace = recorder.trace
    for index in (59, 58, 57):
        iteration, W = trace.weights_at(index)
        assert iteration == index
        np.testing.assert_array_equal(W, truth[index])
    iteration, W = trace.weights_at(20)
    assert iteration <= 20, "of older events, the snapshots of the whole run"
    np.testing.assert_array_equal(W, truth[iteration])
    assert trace.weights_at(-1) is None
    assert sum(kept.nbytes for kept in trace._recent) <= trace.recent_bytes
    assert not ss.solve(run.problem, "ista", tol=0, max_iter=30).trace._recent, "only live sessions keep them"
