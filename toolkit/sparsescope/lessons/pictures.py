"""Pictures of lessons as plain JSON: lines, bars, maps of weights, tables; pages draw them, notebooks print them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Message = dict[str, Any]
MOST_POINTS = 400  # of a line: more cannot be told apart
MOST_CELLS = 64 * 20  # of a map


def counted(number: int) -> str:
    """Return a whole number with narrow spaces between thousands, at which no line ends."""
    return f"{number:,}".replace(",", "\u202f")


def number(value: Any, digits: int = 6) -> float | None:
    """Return a number as JSON takes it: rounded, ``None`` for NaN and infinity."""
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def lines(
    curves: Mapping[str, tuple[Any, Any]], x: str, y: str, log: bool = False, marks: Mapping[str, float] | None = None
) -> Message:
    """Return lines over one axis.

    Parameters
    ----------
    curves
        x and y by name.
    x, y
        what the axes mean.
    log
        whether the y axis is logarithmic; values that are not positive are left out.
    marks
        heights of horizontal lines by name.
    """
    drawn = []
    for name, (xs, ys) in curves.items():
        a, b = np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)
        keep = np.isfinite(a) & np.isfinite(b) & ((b > 0) | (not log))
        a, b = a[keep], b[keep]
        if a.size > MOST_POINTS:
            chosen = np.unique(np.linspace(0, a.size - 1, MOST_POINTS).astype(int))
            a, b = a[chosen], b[chosen]
        drawn.append({"name": name, "x": [number(v) for v in a], "y": [number(v) for v in b]})
    shown = [{"name": name, "y": number(v)} for name, v in (marks or {}).items()]
    return {"draw": "lines", "x": x, "y": y, "log": log, "lines": drawn, "marks": shown}


def bars(values: Mapping[str, float], unit: str, texts: Mapping[str, str] | None = None) -> Message:
    """Return bars by name.

    Parameters
    ----------
    values
        heights.
    unit
        what they mean.
    texts
        words at the bars in place of the numbers.
    """
    made = [
        {"name": name, "value": number(v), "text": (texts or {}).get(name, f"{v:.4g}")} for name, v in values.items()
    ]
    return {"draw": "bars", "unit": unit, "bars": made}


def maps(weights: Mapping[str, Any], notes: Mapping[str, str] | None = None, rows: str = "features") -> Message:
    """Return maps of weights: a row for each feature, a column for each class, zero in the colour of the paper.

    Parameters
    ----------
    weights
        matrices by name.
    notes
        words under each.
    rows
        what the rows mean.
    """
    made = []
    for name, given in weights.items():
        W = np.asarray(given.toarray() if hasattr(given, "toarray") else given, dtype=float)
        W = W[: max(1, MOST_CELLS // W.shape[1])]
        top = np.abs(W).max() or 1.0
        cells = [[number(v / top, 3) for v in row] for row in W]
        made.append({"name": name, "cells": cells, "note": (notes or {}).get(name, "")})
    return {"draw": "maps", "rows": rows, "maps": made}


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Message:
    """Return a table; the first column holds the names of the rows.

    Parameters
    ----------
    columns
        heads.
    rows
        texts or numbers.
    """
    shown = [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    return {"draw": "table", "columns": list(columns), "rows": shown}


def as_text(picture: Message) -> str:
    """Return a picture as lines of text, for notebooks and terminals.

    Parameters
    ----------
    picture
        one of the pictures above.
    """
    kind = picture.get("draw")
    if kind == "bars":
        wide = max((len(bar["name"]) for bar in picture["bars"]), default=0)
        top = max((abs(bar["value"] or 0.0) for bar in picture["bars"]), default=0.0) or 1.0
        shown = [
            f"{bar['name']:>{wide}} {'█' * round(24 * abs(bar['value'] or 0.0) / top)} {bar['text']}"
            for bar in picture["bars"]
        ]
        return "\n".join([picture["unit"], *shown])
    if kind == "table":
        rows = [picture["columns"], *picture["rows"]]
        wide_columns = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(f"{cell:>{w}}" for cell, w in zip(row, wide_columns, strict=True)) for row in rows)
    if kind == "lines":
        shown = [f"{line['name']}: {_ends(line)}" for line in picture["lines"]]
        return "\n".join([f"{picture['y']} over {picture['x']}", *shown])
    if kind == "maps":
        return "\n".join(f"{m['name']}: {_filled(m['cells'])}. {m['note']}" for m in picture["maps"])
    return ""


def _ends(line: Message) -> str:
    if not line["x"]:
        return "no points"
    low, high = min(line["y"]), max(line["y"])
    return (
        f"begins at {line['y'][0]:.4g}, ends at {line['y'][-1]:.4g} after {line['x'][-1]:g}; "
        f"between {low:.4g} and {high:.4g}"
    )


def _filled(cells: list[list[float]]) -> str:
    full = sum(any(row) for row in cells)
    inside = sum(value == 0 for row in cells if any(row) for value in row)
    return f"{full} of {len(cells)} rows in use, {inside} zeros inside them"
