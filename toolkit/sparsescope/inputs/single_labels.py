"""One class a sample, as an array: the same checks for every way in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .is_sparse import is_sparse


def label_array(y: Any, what: str = "y") -> np.ndarray:
    """One label a sample, (n,): whole numbers, truth values or words; a single row or column is taken as it is.

    ``ValueError`` for missing labels, fractions, dates, and words besides numbers; the message names what is allowed.
    """
    if is_sparse(y):
        raise ValueError(f"{what} is a sparse matrix beside single labels; one label a row is needed here")
    labels = y if isinstance(y, np.ndarray) else _objects(y, what)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"{what} has shape {labels.shape}; one class label a sample is needed here, shape (n,)")
    if labels.dtype.kind == "O":
        labels = _of_one_kind(labels.tolist(), what)
    if labels.dtype.kind == "f":
        return _whole(labels, what)
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels)
    if labels.dtype.kind == "T":
        labels = labels.astype(str)
    if labels.dtype.kind not in "buiU":
        raise ValueError(f"{what} holds {labels.dtype} values; allowed are whole numbers or text (dates: as text)")
    return labels


def _objects(y: Any, what: str) -> np.ndarray:
    """A sequence as an array; numbers among words stay what they are, where numpy would write them out."""
    try:
        labels = np.asarray(y)
        return np.asarray(y, dtype=object) if labels.dtype.kind in "US" and labels.ndim < 3 else labels
    except ValueError:
        raise ValueError(
            f"{what} has rows of different lengths; one label a sample is needed, or a set of labels for each"
        ) from None


def _of_one_kind(items: list[Any], what: str) -> np.ndarray:
    """Labels of an array of objects, all words or all numbers."""
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    missing = [i for i, item in enumerate(items) if _is_missing(item)]
    if missing:
        raise ValueError(
            f"{what} has {len(missing)} missing label(s), the first at sample {missing[0]}; leave these "
            "samples out, or give them a class"
        )
    words = [isinstance(item, str | bytes) for item in items]
    if all(words):
        return np.array([item.decode() if isinstance(item, bytes) else item for item in items], dtype=str)
    if any(words):
        word, number = items[words.index(True)], items[words.index(False)]
        raise ValueError(
            f"{what} mixes labels of different kinds (words and numbers: {word!r} and {number!r}); one kind is needed"
        )
    strange = next((item for item in items if not isinstance(item, int | float)), None)
    if strange is not None:
        raise ValueError(
            f"{what} holds values of type {type(strange).__name__} ({strange!r}); allowed are whole "
            "numbers or text (dates: as text)"
        )
    return np.array(items)


def _is_missing(label: Any) -> bool:
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float) and label != label


def _whole(labels: np.ndarray, what: str) -> np.ndarray:
    """Numbers as int64; ``ValueError`` for fractions and what is not finite."""
    odd = ~np.isfinite(labels)
    if odd.any():
        raise ValueError(
            f"{what} has {int(odd.sum())} missing or infinite label(s), the first at sample "
            f"{int(np.flatnonzero(odd)[0])}: labels that are not finite; every sample needs a class"
        )
    if np.any(labels != np.round(labels)):
        example = labels[labels != np.round(labels)][0]
        raise ValueError(
            f"{what} holds fractions such as {example:g}: that is a regression target; allowed are class "
            "labels (whole numbers or text; for classes with such names give them as text)"
        )
    if np.abs(labels).max(initial=0.0) >= 2.0**63:
        raise ValueError(f"{what} has labels as large as {np.abs(labels).max():g}; whole numbers below 2^63 are needed")
    return labels.astype(np.int64)
