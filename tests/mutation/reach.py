"""A pytest plugin for check.py: which functions of the package each test runs, and a limit of CPU time for a case."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

OUT = os.environ.get("REACH", "")
CASES = int(os.environ.get("REACH_CASES", "0"))
SECONDS = float(os.environ.get("REACH_SECONDS", "0"))
MOST_CASES = 20  # of a parametrized test
PACKAGE = os.sep + "sparsescope" + os.sep
found: dict[str, dict[str, Any]] = {}
places: dict[CodeType, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some cases of each test are enough to see what it runs: the first ones, and those with a value not yet seen."""
    if CASES:
        kept: list[pytest.Item] = []
        count: Counter[str] = Counter()
        seen: dict[str, set[str]] = {}
        for item in items:
            name, _, values = item.nodeid.partition("[")
            new = set(values.rstrip("]").split("-")) - seen.setdefault(name, set())
            if count[name] < CASES or (new and count[name] < MOST_CASES):
                count[name] += 1
                seen[name] |= new
                kept.append(item)
        items[:] = kept


def place(code: CodeType) -> str:
    """ "path::function" of code of the package, or ""."""
    if code not in places:
        _, inside, path = code.co_filename.rpartition(PACKAGE)
        places[code] = f"{Path(path).as_posix()}::{code.co_name}" if inside else ""
    return places[code]


def too_long(*_: object) -> None:
    """The case is for the compiled tests."""
    pytest.skip("takes too long interpreted")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test runs, its fixtures included, and for how long."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    if OUT:
        threading.setprofile(note)  # sessions work in other threads
        sys.setprofile(note)
    began = time.process_time()
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    mine = found.setdefault(item.nodeid.partition("[")[0], {"seconds": 0.0, "runs": [], "failed": False})
    mine["seconds"] += time.process_time() - began
    mine["runs"] = sorted({*mine["runs"], *filter(None, map(place, codes))})


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a case in the middle that takes too long; its fixtures end as always."""
    if SECONDS:
        signal.signal(signal.SIGPROF, too_long)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tests that fail interpreted say nothing about mutants."""
    if report.failed:
        found.setdefault(report.nodeid.partition("[")[0], {"seconds": 0.0, "runs": [], "failed": True})["failed"] = True


def pytest_sessionfinish() -> None:
    """Write what was found."""
    if OUT:
        Path(OUT).write_text(json.dumps(found))
