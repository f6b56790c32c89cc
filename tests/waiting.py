"""Waits of tests: for a condition, with one generous limit that only turns an endless wait into a failure; a clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LONG = 240.0  # seconds


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


def finish(page: Any) -> list[dict[str, Any]]:
    """Return all messages of a page until its computation has ended."""
    said: list[dict[str, Any]] = []

    def ended() -> bool:
        said.extend(message for message, _ in page.poll())
        return any(message["type"] == "status" and not message["running"] for message in said)

    until(ended, "for the end of the page's computation")
    return said
