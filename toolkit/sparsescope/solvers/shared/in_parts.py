"""Sweeps over rows that pause: the parts of an order, and what was done in them together."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from ...kernels.sweeps import Swept, both


def swept_in_parts(
    order: np.ndarray, rows: int | None, state: Any, sweep: Callable[[np.ndarray], Swept], note: Callable[[Swept], None]
) -> Generator[tuple[int, int], None, Swept]:
    """Sweep over the rows of an order, pausing after every ``rows`` of them (``None``: never); returns what was done.

    Rows are visited one after the other whether the sweep pauses or not, so the weights are the same bit for bit.

    sweep : does a sweep over a part of the order · note : called before a pause with what was done so far
    """
    size = max(order.size if rows is None else rows, 1)
    done = None
    for stop in range(size, order.size + size, size):
        part = sweep(order[stop - size : stop])
        done = part if done is None else both(done, part)
        if stop < order.size:
            state.row_cursor = float(order[stop - 1])
            note(done)
            yield stop, order.size
    state.row_cursor = float("nan")
    return sweep(order) if done is None else done
