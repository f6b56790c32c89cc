"""Numbers in sentences: one of a thing is not called many."""

from __future__ import annotations


def plural(number: float, one: str, many: str = "") -> str:
    """Return a whole number with what is counted: ``1 row``, ``2 rows``.

    Parameters
    ----------
    number
        whole number.
    one
        words for one of them.
    many
        words for any other number; as a rule that of one with an s.
    """
    return f"{number:.0f} {one if number == 1 else many or one + 's'}"
