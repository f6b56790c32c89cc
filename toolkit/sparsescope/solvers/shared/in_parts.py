"""Sweeps over rows that pause: the parts of an order, and what was done in them together."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from ...kernels.sweeps import Swept, both
from ...pauses import even_parts, parts_of, pause

PART = 500_000  # entries of X times classes that a sweep reads between two places to stop: one to three milliseconds
WORK = 2_000_000  # flops of a descent between two places to stop: about as long
COPIED = 50_000  # weights that are copied between two places to stop
RANKED = 200_000  # values up to which the largest are found at once: two milliseconds
SAMPLE, BESIDE = 1000, 60  # of more values, so many are sorted, and those between two of them on either side looked at


def taken(values: np.ndarray, at: np.ndarray | None = None, dtype: Any = np.float64) -> np.ndarray:
    """Return a copy of an array, or of its rows at some places, with pauses where that is long."""
    size = len(values) if at is None else at.size
    found = np.empty((size, *values.shape[1:]), dtype=dtype)
    for first, last in even_parts(size, values[:1].size, COPIED):
        found[first:last] = values[first:last] if at is None else values[at[first:last]]
        pause()
    return found


def put(target: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    """Write the rows of an array to some places of another, with pauses where that is long."""
    for first, last in even_parts(at.size, target[:1].size, COPIED):
        target[at[first:last]] = values[first:last]
        pause()


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the ``count`` largest values, in any order; of many values, with pauses.

    Where the last of them has equals that are left out, the first of these come; among few values numpy chooses.
    """
    if values.size > RANKED:
        least = _at_rank(values, count)
        found = where(values, lambda some: some >= least)
        if found.size > count:
            last = values[found] == least
            last[np.flatnonzero(last)[: count - found.size]] = False
            found = found[~last]
        if found.size == count:
            return found
    return np.argpartition(-values, count - 1)[:count]


def _at_rank(values: np.ndarray, rank: int) -> Any:
    """The value that ``rank`` − 1 others are above: a sorted sample gives two values around it, or nearly so."""
    while values.size > RANKED:
        sample = np.sort(values[:: values.size // SAMPLE])
        at = sample.size - rank * sample.size // values.size
        low, high = sample[[max(at - BESIDE, 0), min(at + BESIDE, sample.size - 1)]]
        above = where(values, lambda some, high=high: some > high)  # type: ignore[misc]
        here = where(values, lambda some, low=low, high=high: (low <= some) & (some <= high))  # type: ignore[misc]
        if above.size >= rank:
            here = above
        elif above.size + here.size >= rank:
            rank -= above.size
        else:
            rank -= above.size + here.size
            here = where(values, lambda some, low=low: some < low)  # type: ignore[misc]
        if not rank <= here.size < values.size:  # few different values, or some that are no numbers
            break
        values = taken(values, here, values.dtype)
    return -np.partition(-values, rank - 1)[rank - 1]


def where(values: np.ndarray, chosen: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the places of values that a function of some of them chooses, with pauses."""
    found = []
    for first, last in even_parts(values.size, 1.0, COPIED):
        found.append(first + np.flatnonzero(chosen(values[first:last])))
        pause()
    return np.concatenate(found)


def stops_of(design: Any, classes: int, order: np.ndarray) -> list[int]:
    """Return after how many rows of an order a sweep pauses, at the end too: each part reads about as much data."""
    if design.nnz * classes <= PART:
        return [order.size]
    lengths = np.diff(design.matrix.indptr)[order] if design.is_sparse else np.full(order.size, design.n)
    return [stop for _, stop in parts_of(lengths * float(classes), PART)]


def swept_in_parts(
    problem: Any,
    order: np.ndarray,
    rows: int | None,
    state: Any,
    sweep: Callable[[np.ndarray], Swept],
    note: Callable[[Swept], None],
) -> Generator[tuple[int, int], None, Swept]:
    """Sweep over the rows of an order, with events after every ``rows`` of them (``None``: none); returns what it did.

    Rows are visited one after the other whether the sweep pauses or not, so the weights are the same bit for bit.
    Without events there are places to stop in a long sweep, always the same ones.

    sweep : does a sweep over a part of the order · note : called before a pause with what was done so far
    """
    begins, done = 0, None
    size = max(rows or order.size, 1)
    stops = stops_of(problem.design, problem.m, order) if rows is None else range(size, order.size + size, size)
    for stop in stops:
        part = sweep(order[begins:stop])
        begins, done = stop, part if done is None else both(done, part)
        if rows is None:
            pause()
        elif stop < order.size:
            state.row_cursor = float(order[stop - 1])
            note(done)
            yield stop, order.size
    state.row_cursor = float("nan")
    return sweep(order) if done is None else done
