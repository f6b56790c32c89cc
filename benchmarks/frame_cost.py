"""Processor time behind the frames of a page: of the server's event loop, and of all processes of the browser (Linux).

Painted frames a second say little on a machine that others use too; milliseconds of processor time a frame hardly
depend on them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

LOOP, BROWSER = "ms a frame, server's loop", "ms a frame, browser"


def _browser() -> list[int]:
    """The processes of the browser that this one started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it ended meanwhile
            if "chrom" in "".join(process.cmdline()[:1]):
                found.append(process.pid)
    return found


def _seconds(task: str) -> float:
    """Processor time of a thread."""
    return int(Path(f"/proc/{task}/schedstat").read_text().split()[0]) / 1e9


def spent(server: int) -> dict[str, float]:
    """Return the processor time in milliseconds that a server's event loop and the browser have used so far.

    Parameters
    ----------
    server : int
        process of the server, whose first thread is the loop; its solver has a thread beside it

    Returns
    -------
    dict
        by :data:`LOOP` and :data:`BROWSER`; empty where the system does not tell
    """
    if not Path("/proc/self/schedstat").exists():
        return {}
    tasks = [f"{pid}/task/{task.name}" for pid in _browser() for task in Path(f"/proc/{pid}/task").iterdir()]
    browser = sum(_seconds(task) for task in tasks if Path(f"/proc/{task}").exists())
    return {LOOP: 1e3 * _seconds(f"{server}/task/{server}"), BROWSER: 1e3 * browser}


def a_frame(before: dict[str, float], after: dict[str, float], frames: float) -> dict[str, float]:
    """Return the milliseconds of processor time of each part for one of ``frames`` frames."""
    return {name: (after[name] - before[name]) / max(frames, 1.0) for name in after}
