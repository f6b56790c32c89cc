"""For all tests: browser tests carry their mark and come last; what is collected is left out of garbage collections."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

UI = Path(__file__).parent / "ui"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in `tests/ui` and move them to the end.

    Playwright keeps an event loop running in the main thread once its first test has begun; tests that start
    another loop (notebooks do) would fail after that.
    """
    for item in items:
        if UI in item.path.parents:
            item.add_marker(pytest.mark.ui)
    items.sort(key=lambda item: item.get_closest_marker("ui") is not None)


def pytest_collection_finish() -> None:
    """Leave what is imported and collected out of garbage collections: it stays to the end.

    Compiling a kernel makes a million small objects, and Panel collects garbage whenever a page has gone; each
    collection looked at all modules and ten thousand tests.
    """
    gc.collect()
    gc.freeze()
