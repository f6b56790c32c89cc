"""Checks of a recording that is read: sizes that fit each other, and arrays that lie in its block."""

from __future__ import annotations

from typing import Any

import numpy as np

from .packing import BadRecording, array

MOST_EVENTS = 100_000
MOST_PICTURES = 10_000
FACTS = {
    "problem": dict,
    "settings": dict,
    "run": dict,
    "names": dict,
    "pictures": list,
    "left_out": list,
    "lams": list,
}
SIZES = ("n", "d", "m")
ROWS = ("raster", "working")  # changes of a set of rows


def check(header: dict[str, Any], block: bytes) -> None:
    """Raise :class:`BadRecording` unless header and block fit each other.

    Parameters
    ----------
    header
        the header of a file, as :func:`.packing.extracted` returns it.
    block
        its block of numbers.
    """
    if "page" in header:
        raise BadRecording(
            f"this is a recording of the page {str(header['page'])[:40]}, which holds no single run: open the file "
            "in a browser, where it plays, or on that page of `sparsescope explore`, where it has the button Open …"
        )
    for name, kind in FACTS.items():
        if not isinstance(header.get(name), kind):
            raise BadRecording(f"a recording is damaged: its header has no {name}")
    problem, run = header["problem"], header["run"]
    for name in ("title", "said"):
        if not isinstance(header.get(name), str):
            raise BadRecording(f"a recording is damaged: its {name} is no text")
    d, m = (_whole(problem.get(name), name, 2**31) for name in ("d", "m"))
    count = _whole(run.get("count"), "count", MOST_EVENTS)
    _columns(run, block, count)
    for name in ROWS:
        if run.get(name) is not None:
            _changes(run[name], block, count, d, name)
    if not isinstance(run.get("marks"), list) or not isinstance(run.get("bounds"), list):
        raise BadRecording("a recording is damaged: it has no marks or no bounds")
    if len(header["pictures"]) > MOST_PICTURES:
        raise BadRecording(f"a recording has at most {MOST_PICTURES} pictures of its weights")
    for picture in header["pictures"]:
        _picture(picture, block, d, m)
    if header.get("start") is not None:
        start_of(header, block)


def _columns(run: dict[str, Any], block: bytes, count: int) -> None:
    columns = run.get("columns")
    if not isinstance(columns, list) or not all(isinstance(c, list) and c and isinstance(c[0], str) for c in columns):
        raise BadRecording("a recording is damaged: it has no list of columns")
    names = [name for name, *_ in columns]
    lacking = [n for n in ("index", "iteration", "passes", "seconds", "objective", "segment") if n not in names]
    if count and lacking:
        raise BadRecording(f"a recording is damaged: the column {lacking[0]} is missing")
    if len(set(names)) != len(names):
        raise BadRecording("a recording is damaged: a column is there twice")
    for name, *place in columns:
        values = array(block, place, f"the column {name[:40]}", count)
        if name in ("index", "iteration") and (not np.isfinite(values).all() or (np.diff(values) < 0).any()):
            raise BadRecording(f"a recording is damaged: the column {name} does not grow")

    for part, needed in (("measured", "relative_gap"), ("proved", "best"), ("proved", "lower")):
        known = run.get(part)
        if not isinstance(known, dict):
            raise BadRecording(f"a recording is damaged: its run has no {part}")
        array(block, known.get(needed), f"{needed} in {part}", count)


def _changes(part: Any, block: bytes, count: int, d: int, name: str) -> None:
    if not isinstance(part, dict):
        raise BadRecording(f"a recording is damaged: {name} is no object")
    counts = array(block, part.get("counts"), f"counts of {name}", 2 * count).astype(np.int64)
    if (counts < 0).any():
        raise BadRecording(f"a recording is damaged: a count of {name} is negative")
    for k, side in enumerate(("entered", "left")):
        rows = array(block, part.get(side), f"{side} of {name}", int(counts[k::2].sum()))
        if rows.size and not (rows.min() >= 0 and rows.max() < d):
            raise BadRecording(f"a recording is damaged: {name} names rows that the problem does not have")


def _picture(picture: Any, block: bytes, d: int, m: int) -> None:
    if not isinstance(picture, dict) or not isinstance(picture.get("kinds"), dict):
        raise BadRecording("a recording is damaged: a picture of its weights is no object")
    _whole(picture.get("index"), "index of a picture", 2**53)
    for shown in picture["kinds"].values():
        shape = shown.get("shape") if isinstance(shown, dict) else None
        if not (isinstance(shape, list) and len(shape) == 2):
            raise BadRecording("a recording is damaged: a picture of its weights has no shape")
        k, q = (_whole(size, "size of a picture", 2**31) for size in shape)
        lengths = {"cells": k * q, "rows": k, "values": k * q}
        _places(shown, block, lengths, "a picture of its weights", {"rows": d, "classes": m, "edges": d})
    if picture.get("strip") is not None:
        strip = picture["strip"]
        size = array(block, strip.get("features") if isinstance(strip, dict) else None, "a threshold strip").size
        _places(
            strip, block, dict.fromkeys(("levels", "norms", "states"), size), "a strip", {"features": d, "states": 3}
        )
    if picture.get("words") is not None:
        named = picture["words"]
        length = array(block, named.get("words") if isinstance(named, dict) else None, "a list of features").size
        lengths = dict.fromkeys(("word_norms", "word_classes", "word_values"), length)
        _places(named, block, lengths, "a list of features", {"words": d, "word_classes": m})


def _places(part: dict[str, Any], block: bytes, lengths: dict[str, int], what: str, below: dict[str, int]) -> None:
    """Every array of a part lies in the block, has its length, and names only rows and classes that there are."""
    for name, place in part.items():
        if not (isinstance(place, list) and place and isinstance(place[0], str)):
            continue
        values = array(block, place, f"{name[:40]} of {what}", lengths.get(name))
        if name in below and values.size and not (values.min() >= 0 and values.max() < below[name]):
            raise BadRecording(f"a recording is damaged: {what} shows {name} that the problem does not have")
    for name in lengths:
        if not isinstance(part.get(name), list) and name != "values":
            raise BadRecording(f"a recording is damaged: {what} has no {name}")


def start_of(header: dict[str, Any], block: bytes) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the last weights (d, m) and the intercept (m,) of a recording that keeps them.

    Raises
    ------
    BadRecording
        if they do not fit the problem.
    """
    start, d, m = header["start"], int(header["problem"]["d"]), int(header["problem"]["m"])
    if not isinstance(start, dict):
        raise BadRecording("a recording is damaged: its last weights are no object")
    rows = array(block, start.get("rows"), "the rows of the last weights")
    values = array(block, start.get("values"), "the last weights", rows.size * m)
    inside = not rows.size or (rows.min() >= 0 and rows.max() < d)
    if not inside or np.unique(rows).size != rows.size or not np.isfinite(values).all():
        raise BadRecording("a recording is damaged: its last weights are no rows of W")
    if d * m > MOST_WEIGHTS:
        raise BadRecording(f"a recording goes on with at most {MOST_WEIGHTS} weights; here W is {d} × {m}")
    b = None if start.get("b") is None else array(block, start["b"], "the intercept", m).copy()
    if b is not None and not np.isfinite(b).all():
        raise BadRecording("a recording is damaged: its intercept is not finite")
    W = np.zeros((d, m))
    W[rows] = values.reshape(rows.size, m)
    return W, b


MOST_WEIGHTS = 20_000_000


def _whole(value: Any, what: str, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise BadRecording(f"a recording is damaged: its {what} is no whole number up to {most}")
    return value
