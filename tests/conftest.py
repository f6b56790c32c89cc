"""For all tests: browser tests carry their mark and come last."""

from __future__ import annotations

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
