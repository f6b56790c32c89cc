"""A recording that is opened on the page: the run goes on where it ended, and hostile files get a sentence."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.live import Explorer
from sparsescope.live.opening import MOST_BYTES, MOST_PIECE, Opening
from sparsescope.live.recordings.packing import BadRecording
from waiting import told_until

PIECE = 120_000


@pytest.fixture(scope="module")
def recorded() -> ss.Recording:
    problem = ss.Problem(ss.datasets.load("iris"), loss="logistic", penalty="l1/l2", lam_ratio=0.05)
    result = ss.solve(problem, "fista-ls", max_iter=6, tol=1e-14)
    return ss.record(result, problem=problem)


def pieces(content: bytes, name: Any = "run.html") -> list[dict[str, Any]]:
    text = base64.b64encode(content).decode()
    parts = [text[k : k + PIECE] for k in range(0, len(text), PIECE)] or [""]
    last = len(parts) - 1
    return [
        {"type": "open", "id": f"p-{k}", "name": name, "piece": part, "first": k == 0, "last": k == last}
        for k, part in enumerate(parts)
    ]


@pytest.fixture
def explorer() -> Any:
    made = Explorer(None, {"dataset": "wine"})
    made.on_message({"type": "ready", "version": "1"})
    told_until(made, lambda _: made.session is not None)
    yield made
    made.close()


def test_the_run_goes_on_where_the_recording_ended(explorer: Explorer, recorded: ss.Recording) -> None:
    before = explorer.session
    for message in pieces(recorded.html().encode()):
        explorer.on_message(message)
    seen = told_until(explorer, lambda _: explorer.session is not before and len(explorer.session.trace) > 0)  # type: ignore[union-attr]
    assert explorer.settings["dataset"] == "iris" and explorer.settings["loss"] == "logistic"
    session = explorer.session
    assert session is not None
    assert not explorer.running
    told_until(explorer, lambda _: len(session.trace) > len(recorded))
    past = len(recorded)
    for name in ("iteration", "seconds", "objective"):  # what was recorded stays, and the run counts on from it
        assert session.trace[name][:past].tolist() == recorded.columns[name].tolist()
        assert session.trace[name][past] == pytest.approx(recorded.columns[name][-1], rel=1e-9)
    assert session.trace["relative_gap"][0] == pytest.approx(float(recorded.columns["relative_gap"][0]))
    assert [mark.text for mark in session.trace.marks] == ["end of the recording"]
    assert session.trace.segments == 1, "the same problem: bounds of F* hold on"
    iteration, kept = session.trace.weights_at(3)  # type: ignore[misc]
    assert iteration == 3 and np.count_nonzero(kept) > 0
    session.step(2)
    assert session.wait_idle(120)
    assert session.trace["iteration"][-1] == 8
    assert session.trace["objective"][-1] < recorded.columns["objective"][-1]
    told = [sentence for message in seen if message["type"] == "notices" for sentence in message["notices"]]
    assert any("goes on from iteration 6 of the recording" in sentence for sentence in told), told


def test_without_its_data_nothing_changes(explorer: Explorer) -> None:
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((30, 4)), np.arange(30) % 3, lam_ratio=0.1)
    made = ss.record(problem, max_iter=2, tol=0.0, solver="fista-ls")
    before, settings = explorer.session, explorer.settings
    for message in pieces(made.html().encode()):
        explorer.on_message(message)
    errors = [message["text"] for message, _ in explorer.poll() if message["type"] == "error"]
    assert len(errors) == 1 and "are not here" in errors[0]
    assert explorer.session is before and explorer.settings == settings


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<!doctype html><p>hello", "is not a recording of sparsescope"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b"", "is not a recording of sparsescope"),
    ],
)
def test_other_files_get_a_sentence_and_change_nothing(explorer: Explorer, content: bytes, words: str) -> None:
    before, settings = explorer.session, explorer.settings
    for message in pieces(content):
        explorer.on_message(message)
    errors = [message["text"] for message, _ in explorer.poll() if message["type"] == "error"]
    assert len(errors) == 1 and words in errors[0] and errors[0].startswith("run.html")
    assert explorer.session is before and explorer.settings == settings


def test_damaged_numbers_get_a_sentence(recorded: ss.Recording) -> None:
    content = recorded.html().encode()
    rng = np.random.default_rng(0)
    for _ in range(10):
        at = int(rng.integers(len(content) // 2))
        damaged = content[:at] + content[at + 50 :]
        opening = Opening()
        try:
            found = [opening.take(message) for message in pieces(damaged)]
        except BadRecording as error:
            assert "\n" not in str(error)
        else:
            assert found[-1] is not None  # what was cut out is no part of the numbers


def test_pieces_are_bounded_and_an_unfinished_file_is_forgotten(recorded: ss.Recording) -> None:
    opening = Opening()
    for wrong in ({"piece": "a" * (MOST_PIECE + 1)}, {"piece": 3}, {}, {"piece": "=!", "first": True, "last": True}):
        with pytest.raises(BadRecording):
            opening.take(wrong)
    with pytest.raises(BadRecording, match=f"larger than {MOST_BYTES >> 20} MiB"):
        for k in range(MOST_BYTES // MOST_PIECE + MOST_BYTES):
            opening.take({"piece": "a" * MOST_PIECE, "first": k == 0})
    sent = pieces(recorded.html().encode())
    opening.take({**sent[0], "last": False})  # and then another file
    found = [opening.take(message) for message in sent][-1]
    assert found is not None and len(found) == len(recorded)
