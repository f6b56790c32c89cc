"""Numbers that may be the same for all samples, or one for each."""

from __future__ import annotations

from ..jit.parts import two_forms


def _same(amount, i):  # type: ignore[no-untyped-def]
    return amount


def _own(amount, i):  # type: ignore[no-untyped-def]
    return amount[i]


# (amount, i): a number, or the one of sample i; the type decides, so no branch is left in the kernel
amount_of = two_forms(_same, _own, makes_arrays=False)
