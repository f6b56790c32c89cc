"""Places where tasks are done: processes of this machine, by joblib, or the workers of a dask cluster."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from .tasks import Given, Order
from .work import Outcome, failed, work

ATTEMPTS = 3  # of a task whose process ends abruptly
SHARED_BYTES = "1M"  # larger arrays are written once and mapped by all workers
Done = tuple[str, Outcome | None]


def at_home(
    given: Mapping[str, Given], orders: list[Order], n_jobs: int | None, between: Callable[[], None] | None = None
) -> Generator[Done, None, None]:
    """Do tasks in processes of this machine; with one job in this process.

    joblib rather than ``concurrent.futures``: its workers start without importing the caller's script again, so a
    script needs no ``if __name__ == "__main__"``; it maps large arrays once for all workers; and it comes with
    scikit-learn. Arrays are mapped copy-on-write, because kernels are compiled for writable arrays.

    Yields
    ------
    tuple
        the key of a task and its outcome, as they come.
    """
    waiting = {order.key: order for order in orders}
    attempts: Counter[str] = Counter()
    while waiting:
        under_way: dict[str, None] = {}
        # Whatever was under way when a process ended is a suspect, and a suspect is tried alone.
        suspects = [order for order in waiting.values() if attempts[order.key]]
        try:
            with closing(_started(given, suspects[:1] or list(waiting.values()), n_jobs, under_way, between)) as run:
                for key, outcome in run:
                    under_way.pop(key, None)
                    if waiting.pop(key, None) is not None:
                        yield key, outcome
        except BrokenProcessPool:
            for key in [key for key in under_way if key in waiting]:
                attempts[key] += 1
                if attempts[key] >= ATTEMPTS:
                    del waiting[key]
                    yield key, lost()


def lost() -> Outcome:
    """Return the outcome of a task whose processes ended abruptly, one after the other."""
    return failed(
        "the process that worked on it ended abruptly, and so did those that tried again (killed, or out of memory?); "
        "give it more memory, or start fewer jobs",
        final=False,
    )


def _started(
    given: Mapping[str, Given],
    orders: list[Order],
    n_jobs: int | None,
    under_way: dict[str, None],
    between: Callable[[], None] | None,
) -> Generator[Done, None, None]:
    """The results of joblib's workers; `under_way` holds the keys of the tasks that were handed out."""
    here = effective_n_jobs(n_jobs) == 1

    def handed_out() -> Iterator[Any]:
        for order in orders:
            under_way[order.key] = None
            yield delayed(_done)(given[order.problem], order, between if here else None)

    results = Parallel(
        n_jobs=n_jobs,
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch=effective_n_jobs(n_jobs),
        max_nbytes=SHARED_BYTES,
        mmap_mode="c",
    )(handed_out())
    try:
        yield from results
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)  # that it was ended early
            results.close()


def _done(given: Given, order: Order, between: Callable[[], None] | None) -> Done:
    return order.key, work(given, order, between)
