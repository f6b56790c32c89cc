"""Quotations of user input in messages: at most a line, and no paths for remote users."""

from __future__ import annotations

import re
from typing import Any

LINE = 80  # characters of a value that a message repeats at most

# Two folders or more in a row: "/home/ann/data.csv", "C:\\work\\data.csv", "~/data/x.npz"; not "l1/l2".
_PATH = re.compile(r"(?<![\w./:\\])(?:~|[A-Za-z]:)?(?:[\\/][^\s\\/:;,\"'()<>|]+){2,}[\\/]?")


def brief(value: Any) -> str:
    """The value as Python writes it, on one line of at most ``LINE`` characters."""
    if isinstance(value, int) and abs(value) > 10**LINE:
        return f"a number of about {value.bit_length() * 0.30103:.0f} digits"
    if isinstance(value, int | float | None):
        return repr(value)
    if not isinstance(value, str):
        return f"a value of type {type(value).__name__}"
    text = repr(value[: 2 * LINE])
    return text if len(value) <= 2 * LINE and len(text) <= LINE else text[: LINE - 2] + "…" + text[0]


def without_paths(text: str) -> str:
    """The text with the folders of files taken out; the files' own names stay."""
    return _PATH.sub(lambda found: re.split(r"[\\/]", found[0].rstrip("\\/"))[-1], text)
