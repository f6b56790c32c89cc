"""Threads for the parts of one computation: products with X, searches and certificates of a solver on several cores.

A solver says how many threads its computations may use (:func:`using`), and what can be cut into parts asks
(:func:`count`) and runs as many parts at a time (:func:`in_rounds`, :func:`accumulated`). Without anybody saying so it
is one, and every part runs in the caller's own thread, as if this file were not there.

The threads are Python's, running kernels that release the interpreter lock: that is safe with any number of live
sessions, which the threading layers behind ``prange`` are not everywhere, and needs no further compilation. No part
writes what another one reads, and how work is cut depends on its size and the number of threads only, so a result
depends on that number but never on timing.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np

from .pauses import even_parts, pause, takes_turns

# Numbers below which tasks run one after the other: to wake a thread and to hear from it takes .1 to .2 ms. The result
# is the same.
ALONE = 20_000
# Products of numbers below which a computation is not cut for threads at all, for the same reason.
WORTH = 3_000_000

_thread = threading.local()


def cores() -> int:
    """Return the number of processor cores that this process may use.

    Returns
    -------
    int
        the number, at least 1
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _help(tasks: SimpleQueue[Any]) -> None:
    """Run tasks as they come, in a thread beside the callers' own."""
    _thread.helps = True
    while True:
        place, task, done = tasks.get()
        try:
            done.put((place, task(), None))
        except BaseException as error:
            done.put((place, None, error))
        del task, done  # a task holds arrays; they are not kept until the next one comes


@functools.cache
def _helpers() -> SimpleQueue[Any]:
    """The queue of the threads beside the callers' own; they are shared by all solvers of the process."""
    tasks: SimpleQueue[Any] = SimpleQueue()
    for number in range(max(1, cores() - 1)):
        threading.Thread(target=_help, args=(tasks,), name=f"sparsescope-helper-{number}", daemon=True).start()
    return tasks


if hasattr(os, "register_at_fork"):  # a forked process has the queue, but not the threads that read it
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def together(tasks: Sequence[Callable[[], Any]], numbers: float = np.inf) -> list[Any]:
    """Run tasks at the same time.

    The first one runs in the calling thread; all of them do where they look at few numbers, and in a thread that helps
    another.

    Parameters
    ----------
    tasks : sequence of callables
        none writes what another one reads
    numbers : float
        how many numbers they look at

    Returns
    -------
    list
        their results

    Raises
    ------
    BaseException
        that of the first task that failed, when all have ended: none writes any more.
    """
    if len(tasks) == 1 or numbers < ALONE or getattr(_thread, "helps", False):
        return [task() for task in tasks]
    queue, done = _helpers(), SimpleQueue[Any]()
    for place, task in enumerate(tasks[1:], 1):
        queue.put((place, task, done))
    try:
        first = tasks[0]()
    finally:
        ended = sorted((done.get() for _ in tasks[1:]), key=lambda one: int(one[0]))
    for _, _, error in ended:
        if error is not None:
            raise error
    return [first, *(result for _, result, _ in ended)]


def count() -> int:
    """Return how many threads the computations of this thread may use.

    Returns
    -------
    int
        1 outside :func:`using`
    """
    return int(getattr(_thread, "count", 1))


@contextmanager
def using(threads: int) -> Iterator[None]:
    """Let the computations of this thread use several threads.

    Parameters
    ----------
    threads : int
        how many, the calling one included; 0 for one on every core
    """
    before = count()
    _thread.count = threads or cores()
    try:
        yield
    finally:
        _thread.count = before


def size_of_part(total: float, most: float) -> float:
    """Return the cost of a part, for :func:`in_rounds`.

    Parameters
    ----------
    total : float
        cost of all parts, in products of numbers
    most : float
        what a part may cost, so that a pause comes in time

    Returns
    -------
    float
        ``most`` for one thread; for several, what gives all of them parts of one size in every round
    """
    threads = count()
    if threads == 1 or total < WORTH:
        return most
    parts = threads * math.ceil(total / (threads * most))
    return total / parts * (1.0 + 1e-6) + 1.0


def even_rounds(lines: int, each: float, most: float) -> Iterable[tuple[int, int]]:
    """Cut lines of equal cost into parts, for :func:`in_rounds`.

    Parameters
    ----------
    lines : int
        how many there are
    each : float
        cost of one, in products of numbers
    most : float
        what a part may cost, so that a pause comes in time

    Returns
    -------
    iterable of tuple
        first and stop of each part
    """
    threads, total = count(), lines * each
    if threads == 1 or total < WORTH:
        return even_parts(lines, each, most)
    parts = min(lines, threads * math.ceil(total / (threads * most)))
    return itertools.pairwise(part * lines // parts for part in range(parts + 1))


def in_rounds(parts: Iterable[tuple[int, int]], work: Callable[[int, int, int], Any]) -> None:
    """Work on parts, as many at a time as there are threads.

    Thread t of T takes the parts t, t + T, … one after the other. Where somebody waits for a pause, the threads meet
    after each part; else they do not, for meeting takes time. The result is the same.

    Parameters
    ----------
    parts : iterable of tuple
        first and stop of each
    work : callable
        is given the number of the part in its round, its first and its stop
    """
    threads, parts = count(), iter(parts)
    if threads == 1:
        for first, stop in parts:
            work(0, first, stop)
            pause()
        return
    if not takes_turns():
        cut = list(parts)
        together(
            [functools.partial(_in_turn, work, place, cut[place::threads]) for place in range(min(threads, len(cut)))]
        )
        return
    while some := list(itertools.islice(parts, threads)):
        together([functools.partial(work, place, first, stop) for place, (first, stop) in enumerate(some)])
        pause()


def _in_turn(work: Callable[[int, int, int], Any], place: int, parts: Sequence[tuple[int, int]]) -> None:
    """Work on the parts of one thread."""
    for first, stop in parts:
        work(place, first, stop)


def accumulated(
    parts: Iterable[tuple[int, int]], out: np.ndarray, work: Callable[[np.ndarray, int, int], Any]
) -> np.ndarray:
    """Add the parts of a sum to one array, with several threads each to a separate one first.

    Parameters
    ----------
    parts : iterable of tuple
        first and stop of each
    out : np.ndarray
        the array; what it holds is kept, and the parts are added
    work : callable
        is given the array to add to, the first and the stop of a part

    Returns
    -------
    np.ndarray
        ``out``
    """
    own: list[np.ndarray] = [out]
    parts = list(parts)
    own += [np.zeros_like(out) for _ in range(min(count(), len(parts)) - 1)]
    in_rounds(parts, lambda place, first, stop: work(own[place], first, stop))
    for one in own[1:]:
        out += one
    return out
