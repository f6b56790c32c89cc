"""Labels of a target: one interface to a class (a number) and a label set (a row of an indicator).

A loss that takes both is written once. Its loops run over ``range(first_label(y), past_label(y))`` and ask
``has_label(y, r)``: for a class that is one step without a test, for a label set all m labels. The choice is made when
a kernel is compiled.
"""

from __future__ import annotations

from ..jit.parts import two_forms


def _is(y, r):  # type: ignore[no-untyped-def]
    return r == y


def _contains(y, r):  # type: ignore[no-untyped-def]
    return y[r] != 0


def _itself(y):  # type: ignore[no-untyped-def]
    return y


def _following(y):  # type: ignore[no-untyped-def]
    return y + 1


def _start(y):  # type: ignore[no-untyped-def]
    return 0


def _size(y):  # type: ignore[no-untyped-def]
    return y.size


has_label = two_forms(_is, _contains)  # (y, r): whether r is the class, or in the label set
first_label = two_forms(_itself, _start)  # (y): labels are not below this number
past_label = two_forms(_following, _size)  # (y): and below this one
