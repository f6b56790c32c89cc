"""Functions that test_processes.py lets other processes run; standard library only, so that they start at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any


class Cases:
    """Object of a job."""

    def __init__(self, name: str) -> None:
        self.name = name

    def count(self, k: int) -> Iterator[Any]:
        print("what is printed is no answer")
        for number in range(k):
            yield None
            yield self.name, number

    def fail(self, k: int, kind: type[Exception]) -> Iterator[Any]:
        yield "before"
        raise kind(f"no {k}")

    def die(self, k: int) -> Iterator[Any]:
        yield os.getpid()
        os.kill(os.getpid(), 9)

    def go_on_for_ever(self, k: int) -> Iterator[Any]:
        yield os.getpid()
        while True:
            time.sleep(0.01)
