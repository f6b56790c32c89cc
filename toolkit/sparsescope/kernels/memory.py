"""Working space of kernels, at a distance from all other arrays.

The compiler makes two forms of a loop that reads one array and writes another: one with vector instructions, and a
plain one for the case that the two lie so close together (a few vectors) that they might overlap. The two sum up in
different orders. Where the memory manager puts a small array would therefore decide the last bits of a result, and a
run could not be repeated exactly. Rows of working space get margins on both sides instead.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import helper

AT_ONCE = 1024  # entries of scores that are worked on at a time: they stay in the nearest cache
MARGIN = 32  # entries: four of the longest vectors, twice unrolled


@helper
def lone_row_as(size, dtype):  # type: ignore[no-untyped-def]
    """A row of working space (size,), not initialised."""
    return np.empty(size + 2 * MARGIN, dtype)[MARGIN : MARGIN + size]


@helper
def lone_row(size):  # type: ignore[no-untyped-def]
    """A row of working space (size,) float64, not initialised."""
    return np.empty(size + 2 * MARGIN)[MARGIN : MARGIN + size]


@helper
def lone_rows(count, size):  # type: ignore[no-untyped-def]
    """Rows of working space (count, size) float64, all zero."""
    edge = MARGIN // size + 1  # whole rows, and no np.zeros: a change of shape and zeros take half a second to compile
    rows = np.empty((count + 2 * edge, size))[edge : edge + count]
    for r in range(count):
        for k in range(size):
            rows[r, k] = 0.0
    return rows


@helper
def samples_at_once(m):  # type: ignore[no-untyped-def]
    """Number of samples of m scores that are worked on at a time."""
    return max(1, AT_ONCE // m)
