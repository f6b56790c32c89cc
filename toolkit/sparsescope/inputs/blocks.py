"""Blocks of features: the forms in which users give them, and the arrays of kernels.

Every feature is in exactly one block. There are four ways to say the blocks:

- a whole number: consecutive blocks of that many features, the last one shorter if d is no multiple of it;
- a list of sizes: consecutive blocks of those sizes, which add up to d;
- a list of lists of feature numbers;
- a list of prefixes of feature names: a feature belongs to the longest prefix that its name begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WAYS = "a whole number, a list of sizes, a list of lists of feature numbers, or a list of prefixes of feature names"
SHOWN = 5  # features that a message names at most

Canonical = int | tuple[int, ...] | tuple[tuple[int, ...], ...] | tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A partition of d features: block b holds the features ``order[indptr[b]:indptr[b + 1]]``.

    order : (d,) intp · indptr : (number of blocks + 1,) intp · of_feature : (d,) intp, the block of each feature ·
    names : of the blocks, if they have names (prefixes), else ``None``
    """

    order: np.ndarray
    indptr: np.ndarray
    of_feature: np.ndarray
    names: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        """Number of blocks."""
        return self.indptr.size - 1

    def features(self, b: int) -> np.ndarray:
        """The features of block b, in the order in which they were given."""
        return self.order[self.indptr[b] : self.indptr[b + 1]]

    def name(self, b: int) -> str:
        """Return the name of block b: its prefix, else its number."""
        return f"block {b}" if self.names is None else self.names[b]


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number (and not a truth value)."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def canonical(blocks: Any, owner: str) -> Canonical:
    """Blocks as a user gives them, in one hashable form: an int, or a tuple of ints, of tuples of ints, or of texts.

    Raises ``TypeError`` or ``ValueError``, beginning with ``owner``, for everything that can be seen to be wrong
    without the data.
    """
    if is_whole(blocks):
        return int(blocks)
    if isinstance(blocks, str):
        raise TypeError(
            f"{owner}: blocks is the text {blocks!r}; prefixes of feature names are given as a list, like [{blocks!r}]"
        )
    try:
        items = list(blocks)
    except TypeError:
        raise TypeError(f"{owner}: blocks is {blocks!r}; allowed: {WAYS}") from None
    if not items:
        raise ValueError(f"{owner}: blocks is empty; allowed: {WAYS}")
    if all(is_whole(item) for item in items):
        wrong = next((item for item in items if item < 1), None)
        if wrong is not None:
            raise ValueError(f"{owner}: a block has the size {wrong}; sizes are at least 1")
        return tuple(int(item) for item in items)
    if all(isinstance(item, str) for item in items):
        twice = next((item for k, item in enumerate(items) if item in items[:k]), None)
        if twice is not None:
            raise ValueError(f"{owner}: duplicate prefix {twice!r}: prefixes must be unique")
        return tuple(str(item) for item in items)
    return tuple(_feature_numbers(item, b, owner) for b, item in enumerate(items))


def _feature_numbers(item: Any, b: int, owner: str) -> tuple[int, ...]:
    if isinstance(item, str) or not hasattr(item, "__iter__"):
        raise TypeError(f"{owner}: entry {b} of blocks is {item!r}, unlike the entries before it; allowed: {WAYS}")
    numbers = list(item)
    if not numbers:
        raise ValueError(f"{owner}: block {b} is empty; every block needs a feature")
    wrong = [number for number in numbers if not is_whole(number)]
    if wrong:
        raise TypeError(f"{owner}: block {b} holds {wrong[0]!r}; feature numbers are whole numbers")
    return tuple(int(number) for number in numbers)


def resolve(blocks: Canonical, d: int, feature_names: Sequence[str] | None, owner: str) -> Blocks:
    """The blocks of d features, from the form that :func:`canonical` gives.

    Raises ``ValueError`` that begins with ``owner`` for blocks that do not fit the features.
    """
    if isinstance(blocks, int):
        return _consecutive(np.minimum(np.arange(0, d + blocks, blocks), d))
    if isinstance(blocks[0], str):
        return _by_prefix([str(item) for item in blocks], feature_names, owner)
    if isinstance(blocks[0], int):
        edges = np.concatenate([[0], np.cumsum(blocks)])
        if edges[-1] != d:
            raise ValueError(
                f"{owner}: the {len(blocks)} sizes of blocks add up to {edges[-1]}, but there are {d} features"
            )
        return _consecutive(edges)
    return _by_number(blocks, d, feature_names, owner)  # type: ignore[arg-type]


def _consecutive(indptr: np.ndarray) -> Blocks:
    indptr = np.unique(indptr).astype(np.intp)
    d = int(indptr[-1])
    return Blocks(np.arange(d, dtype=np.intp), indptr, np.repeat(np.arange(indptr.size - 1), np.diff(indptr)))


def _by_number(blocks: tuple[tuple[int, ...], ...], d: int, names: Sequence[str] | None, owner: str) -> Blocks:
    of_feature = np.full(d, -1, dtype=np.intp)
    for b, numbers in enumerate(blocks):
        for j in numbers:
            if not 0 <= j < d:
                raise ValueError(f"{owner}: block {b} holds feature {j}; with {d} features allowed: 0 to {d - 1}")
            if of_feature[j] >= 0:
                where = f"twice in block {b}" if of_feature[j] == b else f"in blocks {of_feature[j]} and {b}"
                raise ValueError(f"{owner}: {_shown([j], names)} is {where}; every feature is in one block, once")
            of_feature[j] = b
    missing = np.flatnonzero(of_feature < 0)
    if missing.size:
        raise ValueError(
            f"{owner}: {_shown(missing, names)} {_be(missing)} in no block; every feature is in one block "
            "(single features are blocks of one)"
        )
    order = np.fromiter((j for numbers in blocks for j in numbers), dtype=np.intp, count=d)
    return Blocks(order, _edges([len(numbers) for numbers in blocks]), of_feature)


def _by_prefix(prefixes: list[str], names: Sequence[str] | None, owner: str) -> Blocks:
    if names is None:
        raise ValueError(
            f"{owner}: blocks are prefixes of feature names, but the features have no names; give "
            "feature_names to the problem, or blocks as sizes or feature numbers"
        )
    longest_first = sorted(range(len(prefixes)), key=lambda b: -len(prefixes[b]))
    of_feature = np.array(
        [next((b for b in longest_first if str(name).startswith(prefixes[b])), -1) for name in names], dtype=np.intp
    )
    missing = np.flatnonzero(of_feature < 0)
    if missing.size:
        raise ValueError(
            f"{owner}: {_shown(missing, names)} {'begins' if missing.size == 1 else 'begin'} with none of "
            f"the prefixes {', '.join(map(repr, prefixes[:20]))} (the prefix '' takes all others)"
        )
    sizes = np.bincount(of_feature, minlength=len(prefixes))
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        prefix = prefixes[int(empty[0])]
        taken = any(str(name).startswith(prefix) for name in names)
        why = "all of its features go to longer prefixes" if taken else "no feature's name begins with it"
        raise ValueError(
            f"{owner}: the prefix {prefix!r} has no features: {why}; leave it out. Names are like "
            f"{', '.join(repr(str(name)) for name in names[:3])}"
        )
    return Blocks(
        np.argsort(of_feature, kind="stable").astype(np.intp),
        _edges(sizes),
        of_feature,
        tuple(prefix or "(others)" for prefix in prefixes),
    )


def _edges(sizes: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _shown(features: Any, names: Sequence[str] | None) -> str:
    """Describe some features."""
    listed = [f"{int(j)} ({names[int(j)]})" if names is not None else f"{int(j)}" for j in features[:SHOWN]]
    rest = f" and {len(features) - SHOWN} more" if len(features) > SHOWN else ""
    return f"feature{'s' if len(features) > 1 else ''} {', '.join(listed)}{rest}"


def _be(features: np.ndarray) -> str:
    return "is" if features.size == 1 else "are"
