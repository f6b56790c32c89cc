"""Working space of kernels: results do not depend on where arrays lie."""

from __future__ import annotations

import numpy as np
import pytest

import sparsescope as ss
from helpers import interpreted
from sparsescope.kernels.memory import lone_row, lone_row_as, lone_rows
from sparsescope.kernels.rows import loss_gradient


def test_rows_have_margins() -> None:
    row, row_as, rows = map(interpreted, (lone_row, lone_row_as, lone_rows))
    for made, shape in ((row(5), (5,)), (row_as(5, np.float32), (5,)), (rows(2, 3), (2, 3))):
        base = made.base
        while base.base is not None:
            base = base.base
        before = made.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        assert made.shape == shape and before >= 128 and base.nbytes - made.nbytes - before >= 128
        assert made.flags.c_contiguous
    assert not rows(2, 3).any() and row_as(2, np.float32).dtype == np.float32


@pytest.mark.parametrize("m", [4, 5])
def test_the_last_bits_do_not_depend_on_what_else_is_in_memory(m: int) -> None:
    """Small arrays come and go between calls, so that the working space of a kernel lies elsewhere each time."""
    rng = np.random.default_rng(0)
    loss, y = ss.losses.Logistic(), np.array([1])
    Z, U = np.zeros((20, m)), np.zeros((20, m))  # large enough to keep their own rows apart
    for z in rng.standard_normal((60, m)):
        Z[0] = z
        found, held = set(), []
        for _ in range(300):
            held.append(np.empty(int(rng.integers(1, 40))))
            if len(held) > 30:
                del held[int(rng.integers(30))]
            loss_gradient(Z[:1], y, loss, U[:1])
            found.add(U[0].tobytes())
        assert len(found) == 1
