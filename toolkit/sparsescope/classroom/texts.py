"""Checks of typed texts and numbers: bounded, on one line, without characters that steer a terminal or a page."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from ..registry import SparsescopeError

# Control and format characters (which turn the direction of a line, or are not seen at all), surrogates, private use.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MOST_MARKS = 2  # combining marks on one letter; more of them climb over the lines above


class Refused(SparsescopeError, ValueError):
    """Error for a message that the class does not take; the text names what is allowed."""


def clean(text: Any, most: int, what: str) -> str:
    """Return a typed text on one line, without characters that are not seen.

    Parameters
    ----------
    text : object
        the text of a message
    most : int
        number of characters that are allowed
    what : str
        name for the error's sentence

    Returns
    -------
    str
        the text; it may still hold ``<`` and ``&``, which every page writes as text

    Raises
    ------
    Refused
        if it is no text, empty or too long.
    """
    if not isinstance(text, str) or len(text) > 4 * most:
        raise Refused(f"{what} is a text of at most {most} characters")
    kept, marks = [], 0
    for letter in unicodedata.normalize("NFC", text):
        if unicodedata.category(letter) in _INVISIBLE and not letter.isspace():
            continue
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    line = " ".join("".join(kept).split())
    if not line:
        raise Refused(f"{what} is empty")
    if len(line) > most:
        raise Refused(f"{what} has {len(line)} characters; at most {most} are taken")
    return line


def as_number(given: Any, what: str) -> float:
    """Return a finite number of a message.

    Raises
    ------
    Refused
        if it is something else.
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or (isinstance(given, int) and abs(given) > 2**63):
        raise Refused(f"{what} is a number")
    if not math.isfinite(given):
        raise Refused(f"{what} is {given}; a finite number is needed")
    return float(given)
