"""Steps from the content of a file (:class:`Raw`) to a :class:`Dataset`: labels, split, scaling, in one place."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import Dataset, check_matrix, encode_labels, numeric
from .scaling import SCALES, apply_scale, default_scale


@dataclass
class Raw:
    """Data as found: X may hold integers, y any labels or label sets (see :func:`encode_labels`), the test part may be
    missing."""

    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None
    feature_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    image_shape: tuple[int, int] | None = None
    title: str = ""
    description: str = ""
    source: str = ""
    licence: str = ""


def finish(raw: Raw, name: str, *, test_size: float, seed: int, scale: str | None, dtype: str) -> Dataset:
    """Check, split (unless there is a test part already) and scale `raw`. Raises ValueError."""
    check_options(test_size, seed, scale, dtype)
    what = f"data set {name!r}"
    features = None if raw.feature_names is None else [str(f) for f in raw.feature_names]
    if not hasattr(raw.X, "dtype"):
        raw.X = np.asarray(raw.X)
    numeric(raw.X.dtype, f"{what}: X")
    y, y_test, class_names = encode_labels(raw.y, raw.y_test, raw.class_names, f"{what}: y")
    if raw.X.ndim == 2 and len(y) != raw.X.shape[0]:
        kind = "label sets" if y.ndim == 2 else "labels"
        raise ValueError(f"{what}: y has {len(y)} {kind} for {raw.X.shape[0]} rows of X")
    X = check_matrix(raw.X, f"{what}: X", features)  # also before scaling: a NaN would spread over its column
    X_test = None if raw.X_test is None else check_matrix(raw.X_test, f"{what}: X_test", features)
    if X_test is None and test_size > 0:
        train, test = (split_label_sets if y.ndim == 2 else stratified_split)(y, test_size, seed)
        X, y, X_test, y_test = _rows(X, train), y[train], _rows(X, test), y[test]
        if not len(test):
            X_test = y_test = None
    elif X_test is not None and X_test.shape[1] != X.shape[1]:
        raise ValueError(f"{what}: X has {X.shape[1]} columns but X_test has {X_test.shape[1]}")
    # Scaling works in place on dense parts, and these may still be the caller's own arrays.
    X, X_test = _own(X, raw.X), _own(X_test, raw.X_test)
    image = raw.image_shape is not None
    chosen = default_scale(X, image) if scale is None else scale
    X, X_test = apply_scale(chosen, X, X_test, image, np.dtype(dtype))
    return Dataset(
        name=name, title=raw.title or name, X=X, y=y, X_test=X_test, y_test=y_test, feature_names=features,
        class_names=class_names, image_shape=raw.image_shape, description=raw.description, source=raw.source,
        licence=raw.licence, scaling=chosen,
        own_split=raw.X_test is not None,
    )  # fmt: skip


def check_options(test_size: float, seed: int, scale: str | None, dtype: str) -> None:
    """The options common to all loaders; ValueError names the wrong one and what is allowed."""
    if isinstance(test_size, bool) or not isinstance(test_size, numbers.Real) or not 0 <= test_size < 1:
        raise ValueError(f"test_size is {test_size!r}; allowed: a share from 0 (no test part) to below 1")
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise ValueError(f"seed is {seed!r}; allowed: a whole number of at least 0")
    if scale is not None and scale not in SCALES:
        raise ValueError(f"scale is {scale!r}; allowed: None, {', '.join(map(repr, SCALES))}")
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype is {dtype!r}; allowed: 'float32', 'float64'")


def stratified_split(y: np.ndarray, test_size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers (train, test), each ascending; every class gives about the share `test_size`, and keeps a row.

    y : (n,) class numbers. The share is met in total by rounding the classes with the largest remainders up.
    """
    counts = np.bincount(y)
    exact = counts * float(test_size)
    take = np.floor(exact).astype(np.int64)
    extra = round(float(exact.sum())) - int(take.sum())
    take[np.argsort(take - exact, kind="stable")[:extra]] += 1
    take = np.minimum(take, np.maximum(counts - 1, 0))
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == k))[: take[k]] for k in range(len(counts))]
    in_test = np.zeros(len(y), dtype=bool)
    in_test[np.concatenate(chosen)] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def split_label_sets(Y: np.ndarray, test_size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers (train, test), each ascending; every label gives about the share `test_size`, and keeps a row.

    Y : (n, m) indicator. From the rarest label to the most frequent one, rows are drawn from those with this label
    that are not placed yet; the rows that are left (empty sets) come last (after Sechidis et al. 2011).
    """
    n, counts = len(Y), Y.sum(axis=0, dtype=np.int64)
    rng = np.random.default_rng(seed)
    placed, in_test = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for label in np.argsort(counts, kind="stable"):
        has = Y[:, label] == 1
        free = np.flatnonzero(has & ~placed)
        kept = int(np.count_nonzero(has & placed & ~in_test))
        wanted = round(counts[label] * float(test_size)) - int(np.count_nonzero(has & in_test))
        take = min(max(wanted, 0), free.size - (kept == 0))
        in_test[rng.permutation(free)[: max(take, 0)]] = True
        placed[free] = True
    rest = np.flatnonzero(~placed)
    wanted = round(n * float(test_size)) - int(np.count_nonzero(in_test))
    in_test[rng.permutation(rest)[: min(max(wanted, 0), rest.size)]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X[rows] if getattr(X, "format", "csr") == "csr" else X.tocsr()[rows].tocsc()


def _own(X: Any, original: Any) -> Any:
    shared = isinstance(X, np.ndarray) and original is not None and np.may_share_memory(X, original)
    return X.copy() if shared else X


def from_arrays(
    X: Any,
    y: Any,
    *,
    name: str = "my data",
    X_test: Any = None,
    y_test: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    test_size: float = 0.0,
    seed: int = 0,
    scale: str | None = "none",
    dtype: str = "float64",
) -> Dataset:
    """Make a :class:`Dataset` from arrays, sparse matrices or a pandas table (whose column names become feature names).

    Parameters
    ----------
    X
        numbers (n, d).
    y
        n labels of any kind (text or whole numbers), or n label sets (an indicator, dense or sparse, or a list of
        sets).
    name
        name of the data set.
    X_test, y_test
        a test part, or both ``None``.
    feature_names, class_names
        names to show.
    image_shape
        (height, width) when the features are the pixels of an image.
    test_size
        share set aside for test; 0: none.
    seed
        of the random split.
    scale
        scaling of the values; ``None``: a default that suits them; ``"none"`` leaves them as they are.
    dtype
        ``"float64"`` or ``"float32"``.

    Returns
    -------
    Dataset
        the data set.

    Raises
    ------
    ValueError
        for the inputs that :class:`Dataset` refuses.

    Examples
    --------
    >>> data = ss.datasets.from_arrays([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    >>> data.class_names
    ['a', 'b']
    """
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(c) for c in X.columns]
    X, X_test = (part.to_numpy() if hasattr(part, "to_numpy") else part for part in (X, X_test))
    if (X_test is None) != (y_test is None):
        raise ValueError(f"data set {name!r}: X_test and y_test must be given together")
    raw = Raw(X, y, X_test, y_test, feature_names, class_names, image_shape)
    return finish(raw, name, test_size=test_size, seed=seed, scale=scale, dtype=dtype)
