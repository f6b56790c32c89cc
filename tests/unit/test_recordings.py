"""Recordings: what was measured goes in and comes out, files stay small, bad ones are refused, runs go on from them."""

from __future__ import annotations

import base64
import copy
import json
import re
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import sparsescope as ss
from recordings import make_problem
from recordings import record as record_trace
from sparsescope.live import Explorer
from sparsescope.live.recordings import LIMIT
from sparsescope.live.recordings import packing as pk
from sparsescope.live.recordings.past import past_of
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.trace import Trace
from waiting import until


@pytest.fixture(scope="module")
def problem() -> ss.Problem:
    return ss.Problem(ss.datasets.load("iris"), lam_ratio=0.05)


@pytest.fixture(scope="module")
def result(problem: ss.Problem) -> ss.Result:
    return ss.solve(problem, "bcd-ls", tol=1e-6, test=ss.datasets.load("iris").test)


@pytest.fixture(scope="module")
def recording(problem: ss.Problem, result: ss.Result) -> ss.Recording:
    return ss.record(result, problem=problem)


def test_what_was_measured_is_what_is_recorded(recording: ss.Recording, result: ss.Result, tmp_path: Path) -> None:
    again = ss.load_recording(recording.save(tmp_path / "run.html"))
    trace = result.trace
    assert trace is not None and len(again) == len(trace) == len(recording)
    for name in ("iteration", "passes", "seconds", "objective"):
        np.testing.assert_array_equal(again.columns[name], trace[name])
    gap = np.asarray(trace["relative_gap"])
    np.testing.assert_array_equal(np.isnan(again.columns["relative_gap"]), np.isnan(gap))  # gaps stay gaps
    np.testing.assert_allclose(again.columns["relative_gap"], gap, rtol=1e-6)
    W, b = again.weights()
    np.testing.assert_array_equal(W, result.W)
    assert b is None


def test_a_recording_says_its_parts_by_the_names_of_the_menus(recording: ss.Recording, result: ss.Result) -> None:
    loss, penalty, solver = losses["multiclass-squared-hinge"], penalties["l1/l2"], solvers["bcd-ls"]
    assert parts_of(recording.html())[0]["said"] == f"n 112, d 4, m 3 · {loss.title} × {penalty.title} · {solver.title}"
    trace = copy.copy(result.trace)
    assert trace is not None
    trace.info = {**trace.info, "penalty": "ElasticNet(rho=0.25, nonnegative=False)", "loss": "Logistic(margin=0.0)"}
    said = parts_of(ss.record(trace).html())[0]["said"]
    assert f"{losses['logistic'].title} × {penalties['elastic-net'].title}, rho 0.25 · " in said
    trace.info["loss"] = "Mine(scale=1e-3)"
    assert "Mine, scale 1e-3 × " in parts_of(ss.record(trace).html())[0]["said"], (
        "a part that is not there goes by its class"
    )


def test_a_recording_of_a_trace_alone_plays_without_its_problem(result: ss.Result, tmp_path: Path) -> None:
    assert result.trace is not None
    file = result.trace.save(tmp_path / "t.npz")
    made = ss.load_recording(Trace.load(file).to_html(tmp_path / "t.html"))
    assert len(made) == len(result.trace)
    with pytest.raises(ValueError, match="does not keep its last weights"):
        made.weights()


@pytest.mark.parametrize("kind", ["intercept", "sets", "covariance", "sequence", "sparse"])
def test_every_kind_of_problem_is_recorded(kind: str, tmp_path: Path) -> None:
    iris = ss.datasets.load("iris")
    made: Any = {
        "intercept": lambda: ss.Problem(iris, lam_ratio=0.1, intercept=True),
        "sets": lambda: ss.Problem(ss.datasets.load("planted-tags"), lam_ratio=0.3),
        "covariance": lambda: ss.CovarianceProblem.from_data(iris.X),
        "sequence": lambda: ss.SequenceProblem(iris),
        "sparse": lambda: ss.Problem(ss.datasets.load("planted-text"), lam_ratio=0.3),
    }[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        recording = ss.record(made, tmp_path / "run.html", max_iter=4, tol=1e-14)
    again = ss.load_recording(tmp_path / "run.html")
    assert len(again) == len(recording) > 1
    assert (tmp_path / "run.html").stat().st_size < LIMIT


def test_a_long_run_is_thinned_to_the_limit_and_its_ends_stay() -> None:
    long = record_trace(1500, make_problem(d=300, m=8))
    whole = ss.record(long.trace, problem=long.problem)
    limit = len(whole.html().encode()) - 8000
    made = ss.record(long.trace, problem=long.problem, limit=limit)
    assert len(made.html().encode()) <= limit
    assert len(made) <= len(whole) < len(long.trace)
    assert made.columns["iteration"][[0, -1]].tolist() == long.trace["iteration"][[0, -1]].tolist()
    with pytest.raises(ValueError, match="limit="):
        ss.record(long.trace, problem=long.problem, limit=1000)


def test_how_often_the_gap_was_measured_counts_events_that_were_thinned_out() -> None:
    long = record_trace(1500)
    header = parts_of(ss.record(long.trace, problem=long.problem).html())[0]
    place = header["run"]["measured"]["relative_gap"]
    counts = pk.array(parts_of(ss.record(long.trace, problem=long.problem).html())[1], place, "counts")
    assert counts[-1] == np.isfinite(long.trace["relative_gap"]).sum() and len(counts) < 1500


def test_no_more_is_proved_at_an_event_than_was_known_then() -> None:
    run = record_trace(40, changes=(20,))
    header, block = parts_of(ss.record(run.trace, problem=run.problem).html())
    lower = pk.array(block, header["run"]["proved"]["lower"], "lower")
    dual, segment = run.trace["dual"], run.trace["segment"]
    for k in range(40):
        known = dual[: k + 1][segment[: k + 1] == segment[k]]
        expected = np.nanmax(known) if np.isfinite(known).any() else np.nan
        np.testing.assert_equal(lower[k], expected)


def test_a_recording_has_no_address_and_forbids_requests(recording: ss.Recording) -> None:
    text = recording.html()
    assert "default-src 'none'" in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_names_cannot_end_their_element() -> None:
    evil = "</script><script>alert(1)</script>"
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((30, 2)), np.arange(30) % 3, lam_ratio=0.1, feature_names=[evil, "<!--"])
    text = ss.record(problem, title=evil, max_iter=2, tol=0).html()
    assert evil not in text
    header, _ = parts_of(text)
    assert header["problem"]["feature_names"] == [evil, "<!--"]


def test_a_run_goes_on_where_the_recording_ended(recording: ss.Recording, problem: ss.Problem, result: Any) -> None:
    session = recording.session(problem, "bcd-ls")
    try:
        session.open()
        until(lambda: len(session.trace) > len(recording))
        assert session.trace["objective"][len(recording)] == pytest.approx(result.objective, rel=1e-12)
        np.testing.assert_array_equal(session.trace["iteration"][: len(recording)], recording.columns["iteration"])
    finally:
        session.close()
    other = ss.Problem(np.random.default_rng(1).standard_normal((problem.n, problem.d)), problem.y, lam=0.1)
    with pytest.raises(ValueError, match="digest"):
        recording.session(other)


def test_the_explorer_goes_on_if_the_data_are_there(recording: ss.Recording, result: Any) -> None:
    messages = first_messages(Explorer(recording))
    told = [text for m in messages if m["type"] == "notices" for text in m["notices"]]
    assert any("goes on from iteration" in text for text in told)
    status = next(m["status"] for m in messages if m["type"] == "frame" and m["status"] and m["status"]["objective"])
    assert status["objective"] == pytest.approx(result.objective, rel=1e-12)
    X = np.random.default_rng(1).standard_normal((60, 4))
    messages = first_messages(Explorer(recording.on(X, np.arange(60) % 3)))
    told = [text for m in messages if m["type"] == "notices" for text in m["notices"]]
    assert any("digest" in text for text in told)


@pytest.mark.parametrize("kind", ["changes", "working", "thinned", "sparse", "covariance"])
def test_the_past_of_a_recording_is_what_was_recorded(kind: str) -> None:
    made = record_trace(
        1500 if kind == "thinned" else 40, changes=(20,) * (kind == "changes"), working=kind == "working"
    )
    trace, problem = made.trace, made.problem
    if kind in ("sparse", "covariance"):
        problem = (
            ss.CovarianceProblem.from_data(ss.datasets.load("iris").X)
            if kind == "covariance"
            else ss.Problem(ss.datasets.load("planted-text"), lam_ratio=0.3)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = ss.solve(problem, max_iter=4, tol=1e-14)
        trace, recording = result.trace, ss.record(result, problem=problem)
    else:
        recording = ss.record(trace, problem=problem)
    W = trace.weights_at(len(trace) - 1)[1]
    W = W.toarray() if hasattr(W, "toarray") else W
    header, block = parts_of(recording.html())
    last = problem.with_lam(trace.lams[-1])
    past, point = past_of(header, block, W, None, last, ss.registry.solvers.create(problem.default_solver))
    kept = recording.columns["index"].astype(int)
    assert len(past) == len(kept) and point.iteration == trace["iteration"][-1]
    np.testing.assert_array_equal(past["objective"], trace["objective"][kept])
    np.testing.assert_array_equal(past["lam"], trace["lam"][kept])
    assert past.lams == trace.lams
    for k in (0, len(kept) // 2, len(kept) - 1):
        np.testing.assert_array_equal(past.support(k), trace.support(int(kept[k])))
        np.testing.assert_array_equal(past.working(k), trace.working(int(kept[k])))
    for s in range(trace.segments):
        assert past.best(s) == trace.best(s)
        np.testing.assert_equal(past.lower(s), trace.lower(s))
    assert [mark.text for mark in past.marks] == [mark.text for mark in trace.marks] + ["end of the recording"]
    for old, new in zip(trace.marks, past.marks, strict=False):  # at the same event, however many were thinned out
        assert kept[new.index] == old.index
    if past.snapshots:
        then = trace.weights_at(int(kept[past.snapshots[-1].index]))[1]
        then = then.toarray() if hasattr(then, "toarray") else then
        kept_weights = past.weights(-1)
        kept_weights = kept_weights.toarray() if hasattr(kept_weights, "toarray") else kept_weights
        np.testing.assert_allclose(kept_weights, then, rtol=1e-6)
    else:
        assert kind == "covariance"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"lams": []}, "segments"),
        ({"run__marks": [{"text": "x"}]}, "of no kind"),
        ({"run__marks": [{"text": "x", "kind": "note", "index": "1"}]}, "stands nowhere"),
        ({"run__bounds": [[7, 1.0, 2.0]]}, "belongs to no segment"),
    ],
)
def test_a_damaged_past_gets_a_sentence(damage: Any, said: str, recording: ss.Recording, problem: ss.Problem) -> None:
    header, block = parts_of(other(**damage)(recording.html()).decode())
    with pytest.raises(ValueError, match=said):
        ss.Recording(header, block).session(problem, "bcd-ls")


def test_strips_confusion_and_spectrum_are_those_of_the_recorded_weights(problem: ss.Problem) -> None:
    test = ss.datasets.load("iris").test
    header, block = parts_of(ss.record(problem, solver="fista-ls", max_iter=8, tol=1e-14, test=test).html())
    trace = ss.solve(problem, "fista-ls", max_iter=8, tol=1e-14).trace
    with_strip = [picture for picture in header["pictures"] if picture.get("strip")]
    assert len(with_strip) == len(header["pictures"]) > 2
    for picture in with_strip:
        iteration, W = trace.weights_at(picture["index"])
        strip = picture["strip"]
        assert iteration == picture["iteration"] and strip["lam"] == problem.lam
        found = pk.array(block, strip["levels"], "levels")
        states = pk.array(block, strip["states"], "states")
        np.testing.assert_array_equal(states == 2, (W != 0).any(axis=1))
        assert found.size == problem.d and np.isfinite(found).all()
        np.testing.assert_allclose(found, np.linalg.norm(problem.gradient(W), axis=1), rtol=1e-5)  # of ℓ1/ℓ2
        gap = trace["relative_gap"][trace["iteration"] == iteration][0]
        assert gap != gap or strip["gap"] == pytest.approx(gap, rel=1e-6)
    confusion = header["looks"]["confusion"]
    last = trace.weights_at(len(trace) - 1)[1]
    right = int((problem.predict(last, X=test[0]) == problem.encode(test[1])).sum())
    assert confusion["of"] == "held-out" and confusion["right"] == right and confusion["total"] == len(test[1])
    assert {(cell["true"], cell["found"]) for cell in header["looks"]["misread"]} == {
        (a, b) for a, b, _ in confusion["pairs"]
    }
    assert header["looks"]["spectrum"]["count"] == 4
    kinds = {spec["kind"] for spec in header["problem"]["views"]}
    assert {"threshold", "confusion", "spectrum"} <= kinds and header["left_out"] == []


def test_strips_are_only_of_the_problem_that_the_run_had() -> None:
    run = record_trace(12)  # F and W of this trace are made up: the problem handed over is not theirs
    header, _ = parts_of(ss.record(run.trace, problem=run.problem).html())
    assert not any(picture.get("strip") for picture in header["pictures"])
    assert "Threshold strip" in header["left_out"]
    iris = ss.datasets.load("iris")
    with_b = ss.Problem(iris, lam_ratio=0.1, intercept=True)
    header, _ = parts_of(ss.record(with_b, solver="fista-ls", max_iter=5, tol=1e-14).html())
    places = [bool(picture.get("strip")) for picture in header["pictures"]]
    assert places[-1] and sum(places) == 1, "an event does not keep b, so only the last gradient is known"


def test_the_explorer_answers_with_the_file(tmp_path: Path) -> None:
    explorer = Explorer(settings={"dataset": "iris"})
    messages = first_messages(explorer, close=False)
    try:
        explorer.on_message({"type": "ask", "kind": "recording", "id": "a"})
        found: list[dict[str, Any]] = []

        def answered() -> bool:
            found.extend(m for m, _ in explorer.poll() if m["type"] == "answer")
            return bool(found)

        until(answered)
    finally:
        explorer.close()
    assert messages and found[0]["error"] == "", found[0]
    (tmp_path / found[0]["name"]).write_text(found[0]["text"], encoding="utf-8")
    assert ss.load_recording(tmp_path / found[0]["name"]).settings["dataset"] == "iris"


def test_what_cannot_be_recorded_is_said(problem: ss.Problem, result: ss.Result) -> None:
    with pytest.raises(TypeError, match="can be recorded"):
        ss.record(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="settings are those"):
        ss.record(result, problem=problem, tol=1e-3)
    with pytest.raises(ValueError, match="no events"):
        ss.record(Trace({"kind": "prediction"}))
    with pytest.raises(ValueError, match="no trace"):
        ss.record(ss.solve(problem, max_iter=1, tol=0, record=False))


# ------------------------------------------------------------------------------------------------------- damaged files
def parts_of(text: str) -> tuple[dict[str, Any], bytes]:
    return pk.extracted(text.encode(), "run.html")


def rewritten(text: str, header: dict[str, Any] | None = None, block: str | None = None) -> bytes:
    """A recording's text with another header or another packed block."""

    def put(text: str, mark: str, content: str) -> str:
        start = text.index(mark) + len(mark)
        return text[:start] + content + text[text.index(pk.END, start) :]

    if header is not None:
        text = put(text, pk.HEADER_MARK, json.dumps(header))
    return (text if block is None else put(text, pk.BLOCK_MARK, block)).encode()


def other(**changes: Any) -> Callable[[str], bytes]:
    """Change fields of the header; a dotted name reaches inside."""

    def change(text: str) -> bytes:
        header, _ = parts_of(text)
        for path, value in changes.items():
            *inside, last = path.split("__")
            at = header
            for name in inside:
                at = at[name]
            at[last] = value
        return rewritten(text, header)

    return change


def bomb(text: str) -> bytes:
    """A block of a gigabyte that was packed to a megabyte."""
    packer = zlib.compressobj(9)
    # After a full flush nothing refers to what came before: the second mebibyte is packed once and written 1023 times.
    first, again = (packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    checksum = (2**30 % 65521) << 16 | 1  # Adler-32 of so many zeros
    packed = first + 1023 * again + packer.flush()[:-4] + checksum.to_bytes(4, "big")
    return rewritten(text, block=base64.b64encode(packed).decode())


NEST = b"[" * 99 + b"]" * 99
DAMAGE: dict[str, tuple[Callable[[str], bytes], str]] = {
    "empty": (lambda _: b"", "no element"),
    "other text": (lambda _: b"<html>hello</html>", "no element"),
    "no text": (lambda _: b"\xff\xfe\x00", "UTF-8"),
    "cut in the header": (lambda t: t[: t.index(pk.HEADER_MARK) + 90].encode(), "does not end"),
    "cut in the numbers": (lambda t: t[: t.index(pk.BLOCK_MARK) + 90].encode(), "does not end"),
    "another kind": (other(kind="x"), "not a recording"),
    "a later format": (other(format=99), "reads up to"),
    "a format that is no number": (other(format="1"), "reads up to"),
    "too many bytes announced": (other(bytes=2**40), "are read"),
    "other bytes announced": (other(bytes=8), "announces"),
    "a bomb": (bomb, "announces"),
    "no base64": (lambda t: rewritten(t, block="%%%"), "unpacked"),
    "no zlib": (lambda t: rewritten(t, block="QUJD"), "unpacked"),
    "NaN": (lambda t: t.replace('"epoch":1', '"epoch":NaN', 1).encode(), "no number"),
    "deep": (lambda t: rewritten(t, None).replace(b'"settings":{', b'"settings":{"a":%b,' % NEST, 1), "deep"),
    "no problem": (other(problem=None), "problem"),
    "no size": (other(problem__d=None), "its d is no whole number"),
    "a huge count": (other(run__count=2**40), "count"),
    "a column elsewhere": (other(run__columns=[["index", "float64", 8 * 10**9, 1]]), "missing|outside"),
    "a column of objects": (other(run__proved={"best": ["object", 0, 1], "lower": None}), "places best"),
    "rows that are not there": (other(problem__d=1), "does not have"),
    "a start elsewhere": (other(start={"rows": ["int32", 0, 2**40], "values": None}), "outside"),
    "a picture of no event": (other(pictures=[{"index": 2**53 + 1, "kinds": {}}]), "index of a picture"),
    "a picture without shape": (other(pictures=[{"index": 0, "kinds": {"matrix": {}}}]), "shape"),
    "a picture too large": (other(pictures=[{"index": 0, "kinds": {"matrix": {"shape": [2**31 + 1, 1]}}}]), "size of"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_and_hostile_files_get_a_sentence(name: str, recording: ss.Recording, tmp_path: Path) -> None:
    spoil, said = DAMAGE[name]
    file = tmp_path / "run.html"
    file.write_bytes(spoil(recording.html()))
    with pytest.raises(ValueError, match=said) as caught:
        ss.load_recording(file)
    assert isinstance(caught.value, ss.SparsescopeError) and len(str(caught.value)) < 400


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    with file.open("wb") as opened:
        opened.truncate(pk.MOST_FILE + 1)
    with pytest.raises(ValueError, match="MiB"):
        ss.load_recording(file)


# -------------------------------------------------------------------------------------------------------------- helpers
def first_messages(explorer: Explorer, close: bool = True) -> list[dict[str, Any]]:
    """Everything up to the first frame with an event."""
    messages: list[dict[str, Any]] = []

    def drawn() -> bool:
        messages.extend(header for header, _ in explorer.poll())
        return any(m["type"] == "frame" and m["status"] and m["status"]["objective"] is not None for m in messages)

    explorer.on_message({"type": "ready", "version": "1"})
    try:
        until(drawn)
    finally:
        if close:
            explorer.close()
    return messages
