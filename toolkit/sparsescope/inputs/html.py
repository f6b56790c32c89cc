"""Tables of facts in HTML, as notebooks show objects."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any


def facts_table(title: str, rows: Iterable[tuple[str, Any]], note: str = "") -> str:
    """Return a table of names and values; texts are escaped.

    Parameters
    ----------
    title
        Heading.
    rows
        Names and values. Numbers are shortened; ``None``, NaN and empty texts are left out.
    note
        Sentence under the table.

    Returns
    -------
    str
        HTML without styles of a page: it takes the colours of the notebook, light or dark.
    """
    lines = "".join(
        f"<tr><th scope='row' style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(_text(value))}</td></tr>"
        for name, value in rows
        if not (value is None or value == "" or value != value)
    )
    said = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<div><b>{html.escape(title)}</b><table>{lines}</table>{said}</div>"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
