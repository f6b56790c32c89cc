"""Waits of tests: for a condition, with one generous limit that only turns an endless wait into a failure; a clock."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

LONG = 240.0  # seconds
Said = list[dict[str, Any]]


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def until(happened: Callable[[], Any], what: str = "") -> None:
    """Wait until something has happened; a failure if it does not."""
    end = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < end, f"waited {LONG:g} s in vain {what}"
        time.sleep(0.005)


def told(page: Any) -> Said:
    """Messages of a page or an explorer now, as a browser gets them: strict JSON."""
    return [json.loads(json.dumps(header, allow_nan=False)) for header, _ in page.poll()]


def told_until(page: Any, enough: Callable[[Said], Any], what: str = "") -> Said:
    """Return all its messages until they are enough."""
    said: Said = []

    def there() -> Any:
        said.extend(told(page))
        return enough(said)

    until(there, what)
    return said


def ended(said: Said) -> bool:
    """Return whether the page has said that its computation has ended."""
    return any(message["type"] == "status" and not message["running"] for message in said)


def finish(page: Any) -> Said:
    """Return all messages of a page until its computation has ended."""
    return told_until(page, ended, "for the end of the page's computation")
