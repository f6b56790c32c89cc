"""Numbers that may be the same for all samples, or one for each."""

from __future__ import annotations

from ..jit.parts import lean


@lean
def amount_of(amounts, i):  # type: ignore[no-untyped-def]
    """The number of sample i, or the one for all: (n,) or (1,). Both are arrays, so that kernels are compiled once."""
    return amounts[i if amounts.size > 1 else 0]
