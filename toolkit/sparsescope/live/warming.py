"""Compiles kernels ahead, so that nobody in a class waits for a compiler."""

from __future__ import annotations

import functools
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from ..registry import losses, penalties, solvers
from ..runs.run import is_warm, warm_up
from . import settings as st
from .preparing import load, prepare

Settings = dict[str, Any]


def first_page() -> list[Settings]:
    """Return the settings with which the explorer begins."""
    return [st.defaults()]


def first_choices(data: str) -> list[Settings]:
    """The default page, and what lies one choice of loss, penalty or solver away from it."""
    start = {**st.defaults(), "dataset": data}
    found = [start]
    for part, names in (("solver", solvers), ("loss", losses), ("penalty", penalties)):
        found += [{**start, part: name} for name in names.names() if name != start[part]]
    return found


def all_choices(data: str) -> list[Settings]:
    """Every loss × penalty × solver."""
    start = {**st.defaults(), "dataset": data}
    return [
        {**start, "loss": loss, "penalty": penalty, "solver": solver}
        for loss in losses.names()
        for penalty in penalties.names()
        for solver in solvers.names()
    ]


@functools.lru_cache(maxsize=2)
def _source(data: str) -> Any:
    return load({**st.defaults(), "dataset": data})


def compile_one(settings: Settings) -> str:
    """Compile what the page needs for these settings, or load it from the cache.

    Returns
    -------
    str
        "compiled", "known" (this process had it already) or "impossible": parts that do not go together
    """
    clean, _ = st.clean(settings, None)
    try:
        prepared = prepare(clean, _source(settings["dataset"]), None)
    except ValueError:
        return "impossible"
    if any(prepared.settings[part] != settings[part] for part in ("loss", "penalty", "solver")):
        return "impossible"
    if is_warm(prepared.problem, prepared.solver):
        return "known"
    warm_up(prepared.problem, prepared.solver)
    return "compiled"


def warm(
    choices: list[Settings], jobs: int | None = None, say: Callable[[str], None] = lambda text: None
) -> dict[str, int]:
    """Compile for all settings in several processes; how many were compiled, known, impossible or failed.

    Parameters
    ----------
    choices : settings of pages, each at least with dataset, loss, penalty and solver
    jobs : processes at a time; ``None``: as many as there are cores
    say : takes a line of progress every second or so
    """
    count = {"compiled": 0, "known": 0, "impossible": 0, "failed": 0}
    began = said = time.monotonic()
    for done, (settings, outcome, error) in enumerate(_compiled(choices, jobs), 1):
        count[outcome] += 1
        if error:
            say(f"{settings['loss']} × {settings['penalty']} with {settings['solver']}: {error}")
        now = time.monotonic()
        if now - said > 1.0 or done == len(choices):
            said = now
            left = (now - began) / done * (len(choices) - done)
            say(f"{done} of {len(choices)} combinations, {count['impossible']} of them impossible; {left:.0f} s to go")
    return count


def _compiled(choices: list[Settings], jobs: int | None) -> Iterator[tuple[Settings, str, str]]:
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(compile_one, settings): settings for settings in choices}
        for future in as_completed(waiting):
            error = future.exception()
            yield waiting[future], "failed" if error else future.result(), str(error or "")
