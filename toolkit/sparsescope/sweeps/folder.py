"""Folder of a sweep: its tasks in ``sweep.json`` and one small JSON file for each result, written in one step.

A result's name is the digest of the problem, the settings and the version, so that the folder can be shared by sweeps
and a result is never taken for another one. A file that is damaged counts as missing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..registry import SparsescopeError
from ..runs.keeping import write
from .tasks import FORMAT
from .work import Outcome

PLAN = "sweep.json"
RESULTS = "results"
MOST_BYTES = 1_000_000  # of a result: a few hundred are usual
MOST_PLAN_BYTES = 1_000_000_000
KEY = re.compile(r"[0-9a-f]{32}")


class NoSweep(SparsescopeError, ValueError):
    """Error for a folder that holds no sweep, or one of another version of the format."""


class Folder:
    """Results of a sweep on disk.

    Parameters
    ----------
    path
        the folder; it is made when a sweep begins.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()

    def begin(self, tasks: Iterable[dict[str, Any]]) -> None:
        """Write down the tasks, each with its ``key`` and the columns that are known before it is done.

        Raises
        ------
        OSError
            for a folder that cannot be written.
        """
        (self.path / RESULTS).mkdir(parents=True, exist_ok=True)
        write(self.path / PLAN, _bytes({"format": FORMAT, "tasks": list(tasks)}))

    def tasks(self) -> list[dict[str, Any]]:
        """Return the tasks.

        Raises
        ------
        NoSweep
            if the folder holds no sweep that this version reads.
        """
        read = _read(self.path / PLAN, MOST_PLAN_BYTES)
        if not isinstance(read, dict) or not isinstance(tasks := read.get("tasks"), list):
            raise NoSweep(f"{self.path} holds no sweep: there is no readable {PLAN}; ss.sweep(…, folder=…) writes one")
        if read.get("format") != FORMAT:
            raise NoSweep(f"{self.path} holds a sweep of format {read.get('format')!r}; this version reads {FORMAT}")
        if not all(_is_flat(task) and KEY.fullmatch(str(task.get("key"))) for task in tasks):
            raise NoSweep(f"{self.path / PLAN} is damaged: a task is not a flat object with a key")
        return [_numbers(task) for task in tasks]

    def kept(self, key: str) -> Outcome | None:
        """Return the result of a key; ``None`` if there is none that can be read."""
        read = _read(self._place(key), MOST_BYTES)
        found = read.get("outcome") if isinstance(read, dict) and read.get("key") == key else None
        if not isinstance(found, dict) or not _is_flat(found):
            return None
        fits = isinstance(found.get("error"), str) and isinstance(found.get("converged"), bool)
        return _numbers(found) if fits else None

    def keep(self, key: str, outcome: Outcome) -> None:
        """Write a result."""
        write(self._place(key), _bytes({"key": key, "outcome": outcome}))

    def _place(self, key: str) -> Path:
        if not KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no key of a result")
        return self.path / RESULTS / f"{key}.json"


def _bytes(value: Any) -> bytes:
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False).encode()


def _plain(value: Any) -> Any:
    """The same with null for numbers that are not finite, which JSON has not."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(flat: dict[str, Any]) -> dict[str, Any]:
    """The same with NaN for null, but for the seed, of which there may be none."""
    return {key: math.nan if value is None and key != "seed" else value for key, value in flat.items()}


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str | int | float | None) for item in value.values())


def _read(path: Path, most: int) -> Any:
    """Return the content of a JSON file; ``None`` if it is not there, too large, or damaged."""
    try:
        if path.stat().st_size > most:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
