"""Files without loss: traces that are replaced in one step, checkpoints during a run, Ctrl-C between two steps."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from .. import extras
from ..jit.store import replace_file

CHECKPOINT_SECONDS = 5.0
CHECKPOINT_SHARE = 0.05  # of the time that passes, at most, for writing checkpoints
SUFFIX = ".npz"
TABLES = (".csv", ".parquet")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during ``solve``: what was reached until then is in ``result``."""

    def __init__(self, result: Any) -> None:
        super().__init__(f"interrupted after {result.iterations} iterations; what was reached is in .result")
        self.result = result


class Interrupts:
    """While it is open, the first Ctrl-C is noted and the second interrupts at once.

    A step that is broken off in the middle would leave weights and scores that do not belong together. Only the main
    thread receives Ctrl-C, and only Python's own way of handling it is replaced.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is signal.default_int_handler:
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            signal.default_int_handler(number, frame)
        self.seen = True


def file_of(path: str | Path) -> Path:
    """Return the path of a trace of this name: with the suffix ``.npz``, links followed."""
    target = Path(path).expanduser()
    if target.suffix != SUFFIX:
        target = target.with_name(target.name + SUFFIX)
    return target.resolve() if target.is_symlink() else target


def check_writable(path: str | Path) -> Path:
    """Find out now whether a trace can be written later; the file it will be.

    Raises
    ------
    OSError
        with a sentence that names the place
    """
    target = file_of(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; the trace needs the name of a file")
    probe = target.with_name(f".{uuid.uuid4().hex[:16]}.tmp")
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink()
    except OSError as error:
        why = "there is no such folder" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise type(error)(f"{target} cannot be written: {why}") from error
    return target


def write(path: Path, content: bytes) -> None:
    """Put a file in its place in one step; a disk that is full leaves the older file as it was."""
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = 0o666
    try:
        replace_file(path, content, mode)
    except OSError as error:
        raise type(error)(
            f"{path} could not be written ({error.strerror or error}); an older file of this name is as it was"
        ) from error


def write_table(table: Any, path: Path, suffix: str = "") -> Path:
    """Write a data frame as ``.csv`` or ``.parquet``, in one step, and return the file.

    The form is that of the file's name, or of ``suffix`` if it is given.

    Raises
    ------
    ValueError
        for another suffix.
    MissingPackage
        for Parquet without pyarrow.
    """
    suffix = suffix or path.suffix.lower()
    if suffix not in TABLES:
        raise ValueError(f"{path.name} is no table; allowed suffixes: {', '.join(TABLES)}")
    if suffix == ".csv":
        write(path, table.to_csv(index=False).encode())
        return path
    extras.package("pyarrow", "Writing a Parquet file")
    write(path, table.to_parquet(None, engine="pyarrow", index=False))
    return path


class Savable(Protocol):
    """A trace, as far as checkpoints need one."""

    def save(self, path: str | Path) -> Path:
        """Write everything; returns the path written."""


class Checkpoints:
    """A callback that writes the trace to a file every few seconds of a run, so that a killed process loses little.

    Parameters
    ----------
    trace : filled by a recorder, which has to come before this callback
    path : the file
    every : seconds between two checkpoints at least; more where writing takes long
    clock : seconds
    """

    def __init__(
        self,
        trace: Savable,
        path: str | Path,
        every: float = CHECKPOINT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.trace, self.path, self.every, self._clock = trace, check_writable(path), every, clock
        self._due = clock() + every

    def __call__(self, event: Any) -> None:
        began = self._clock()
        if began < self._due:
            return
        self.trace.save(self.path)
        end = self._clock()
        self._due = end + max(self.every, (end - began) / CHECKPOINT_SHARE)
