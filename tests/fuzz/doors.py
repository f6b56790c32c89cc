"""Contracts of each entrance, for any input: an answer that is right, or a sentence."""

from __future__ import annotations

import contextlib
import io
import math
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import scipy.sparse as sp

import sparsescope as ss
from sparsescope import cli, datasets
from sparsescope.dashboard.gate import Gate, host_of
from sparsescope.dashboard.limits import MAX_DEPTH, TooMuch, check_fragment
from sparsescope.live import Explorer
from sparsescope.live import settings as live_settings
from sparsescope.runs.trace import Trace

HANGING_SECONDS = 30.0
MEMORY_BYTES = 2**30  # more than this for a file of a few kilobytes is a fault
LONGEST = 3000  # characters of a sentence; the longest list every part that is known


def is_sentence(error: Exception) -> bool:
    """Return whether an error says something to a person."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return 8 < len(text) < LONGEST and " " in text.strip()


@contextlib.contextmanager
def refusals(*kinds: type[Exception]) -> Iterator[None]:
    """Let errors of these kinds pass that are sentences; hanging, memory and leaking warnings are faults."""
    began, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            yield
        except kinds as error:
            assert is_sentence(error), repr(error)
    assert time.process_time() - began < HANGING_SECONDS
    assert 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) < MEMORY_BYTES


class Readers:
    """Files: a data set that is consistent, or a ValueError with the file's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, case: tuple[str, bytes]) -> None:
        name, content = case
        file = self.folder / name
        file.write_bytes(content)
        with refusals(ValueError):
            data = datasets.load(file)
            X, y = data.X, data.y
            assert X.shape == (data.n, data.d) and len(data.class_names) == data.m
            assert np.isfinite(X.data if sp.issparse(X) else X).all()
            assert (y.shape[0] if hasattr(y, "shape") else len(y)) == data.n
            if not data.multilabel:
                assert y.min() >= 0 and y.max() < data.m


class Traces:
    """Saved traces: one that can be read, or a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "t.npz"

    def __call__(self, content: bytes) -> None:
        self.file.write_bytes(content)
        with refusals(ValueError):
            trace = Trace.load(self.file)
            assert len(trace["iteration"]) == len(trace)


class Recordings:
    """Recordings: one whose columns fit each other and that can be written again, or a ValueError."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "r.html"

    def __call__(self, content: bytes) -> None:
        self.file.write_bytes(content)
        with refusals(ValueError):
            recording = ss.load_recording(self.file)
            assert all(column.size == len(recording) for column in recording.columns.values())
            repr(recording)
            recording.html()
            live_settings.clean(recording.settings)
            with contextlib.suppress(ValueError):
                W, _ = recording.weights()
                assert np.isfinite(W).all()


def clean_settings(given: dict[str, Any]) -> None:
    """Settings: cleaning never fails, is final, and says short things about few of them."""
    with refusals():
        found, notices = live_settings.clean(given)
        again, quiet = live_settings.clean(found)
        assert again == found and not quiet, (again, found, quiet)
        assert all(len(text) < LONGEST and "\n" not in text for text in notices)
        assert all(not isinstance(value, float) or math.isfinite(value) for value in found.values())


def follow_address(text: str) -> None:
    """Addresses: settings that give the same address again."""
    with refusals():
        try:
            query = {key: values[-1] for key, values in parse_qs(text, max_num_fields=1000).items()}
        except ValueError:
            return
        found, _ = live_settings.from_query(query)
        back, notices = live_settings.from_query(live_settings.to_query(found))
        assert not notices and back == found


class Messages:
    """Messages of a page to an explorer that has no problem yet: at most a line comes back, and no traceback."""

    def __init__(self) -> None:
        self.explorer = Explorer(settings={"dataset": "iris"})
        self.explorer._director.prepare = lambda fresh: None  # type: ignore[method-assign]
        self.explorer._link.start()

    def __call__(self, message: Any) -> None:
        with refusals():
            self.explorer.on_message(message)
            for header, _ in self.explorer.poll():
                if header["type"] == "error":
                    assert header["detail"] == "", header["detail"]
                    assert len(header["text"]) < LONGEST
                elif header["type"] == "notices":
                    assert all(len(text) < LONGEST for text in header["notices"])


def read_fragment(text: str) -> None:
    """Fragments on the websocket: refused, or of a depth that can be parsed."""
    with refusals(TooMuch):
        check_fragment(text)
        assert text.count("[") + text.count("{") <= MAX_DEPTH or '"' in text or any(c in text for c in "]}")


def name_host(text: str) -> None:
    """Hosts and origins: only names that are exactly on the list."""
    gate = Gate()
    with refusals():
        if gate.allows_host(text):
            host = host_of(text)
            assert host in gate.names or (host is not None and host.replace(":", "").replace(".", "").isalnum())
        assert not gate.allows_origin(f"http://{text}", "localhost:5006") or text.lower() == "localhost:5006"


def make_problem(arguments: dict[str, Any]) -> None:
    """Arguments of a Problem: one whose sizes are those of the data, or an error with a sentence."""
    with refusals(ValueError, TypeError):
        problem = ss.Problem(**arguments)
        assert problem.n > 0 and problem.d > 0 and problem.m > 1
        assert 0 < problem.lam < math.inf


def read_command(words: list[str]) -> None:
    """Commands: arguments that are read, or help and usage by argparse."""
    out, errors = io.StringIO(), io.StringIO()
    with refusals(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            options = cli.make_parser().parse_args(words)
            assert options.command is None or callable(options.run)
        except SystemExit as end:
            assert end.code in (0, 2)
            assert (out if end.code == 0 else errors).getvalue()


def doors(folder: Path) -> dict[str, tuple[Callable[[Any], None], str]]:
    """All doors: what to call, and the name of the strategy that makes its cases."""
    return {
        "readers": (Readers(folder), "files"),
        "traces": (Traces(folder), "traces"),
        "recordings": (Recordings(folder), "recordings"),
        "settings": (clean_settings, "settings"),
        "addresses": (follow_address, "addresses"),
        "messages": (Messages(), "messages"),
        "fragments": (read_fragment, "fragments"),
        "hosts": (name_host, "hosts"),
        "arguments": (make_problem, "problem_arguments"),
        "commands": (read_command, "commands"),
    }
