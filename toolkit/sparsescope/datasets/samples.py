"""Samples without labels, for a model that is there already: its features are looked up by their names."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..inputs.archives import read_arrays
from ..registry import datasets as registry
from .files import TABLE_SUFFIXES, check_no_spreadsheet, find_file, load_file
from .npz import matrix
from .npz import names as names_in
from .tables import (
    TARGET_NAMES,
    check_complete,
    encode_columns,
    labels_of,
    look_through,
    looks_like_svmlight,
    read_table,
    target_column,
)

MOST_NAMED = 5  # features in one sentence


@dataclass(frozen=True)
class Samples:
    """Values X (n, d) of samples as they are, never scaled, and their labels where these are known (else ``None``)."""

    X: Any
    y: Any
    name: str


def read_samples(
    given: str | os.PathLike[str], d: int, features: Sequence[str] | None = None, target: str | int | None = None
) -> Samples:
    """Read samples for a model.

    Parameters
    ----------
    given
        a registered name, or a file as :func:`sparsescope.datasets.load` takes it; the test part is taken where there
        is one. A table needs no label column, and columns that the model does not know are left out.
    d
        number of features of the model.
    features
        their names; ``None``: by their order.
    target
        label column of a table; one that is called label, class, target or y is known as one.

    Raises
    ------
    ValueError
        for data that cannot be read, and for features that are missing or other ones.
    """
    key = os.fspath(given)
    path = None if key in registry else find_file(key)
    if path is None:
        return _labelled(key, d, features)
    name = path.name.lower()
    check_no_spreadsheet(path)
    if name.endswith(TABLE_SUFFIXES):
        return _from_table(path, d, features, target)
    if target is not None:
        raise ValueError(f"a label column is named for tables only; {path.name} is none")
    if name.endswith(".npz"):
        return _from_npz(path, d, features)
    if looks_like_svmlight(path):
        return _from_svmlight(path, d)
    return _labelled(key, d, features)


def _labelled(key: str, d: int, features: Sequence[str] | None) -> Samples:
    from . import find, load

    data = load(key, scale="none", test_size=0.0) if key in registry else load_file(find(key), scale="none")
    X, y = (data.X, data.y) if data.X_test is None else (data.X_test, data.y_test)
    _check(X, d, features, data.feature_names, data.name)
    known = np.ndim(y) == 1
    return Samples(X, np.array(data.class_names)[y] if known else None, data.name)


def _from_npz(path: Path, d: int, features: Sequence[str] | None) -> Samples:
    arrays = read_arrays(path)
    for key in ("X_test", "X_train", "X"):
        X = matrix(arrays, key, path)
        if X is not None:
            break
    else:
        raise ValueError(f"{path} has no X; keys found: {', '.join(sorted(arrays)) or 'none'}")
    if np.ndim(X) != 2:
        raise ValueError(f"{path}: X has the shape {np.shape(X)}; samples × features are needed")
    _check(X, d, features, names_in(arrays, "feature_names", path), path.name)
    y = arrays.get("y" + key[1:])
    classes = names_in(arrays, "class_names", path)
    if y is not None and classes is not None and y.dtype.kind in "iu" and y.min() >= 0 and y.max() < len(classes):
        y = np.array(classes)[y]
    known = y is not None and y.shape == (X.shape[0],)
    return Samples(X, y if known else None, path.name)


def _from_svmlight(path: Path, d: int) -> Samples:
    from sklearn.datasets import load_svmlight_file

    several = look_through(path)
    try:
        X, y = load_svmlight_file(str(path), n_features=d, multilabel=several)
    except (ValueError, OSError, EOFError, OverflowError, IndexError, TypeError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as svmlight text for {d} features ({error})") from error
    return Samples(X, None if several else y, path.name)


def _from_table(path: Path, d: int, features: Sequence[str] | None, target: str | int | None) -> Samples:
    table = read_table(path, labelled=False)
    y = None
    label = target_column(list(table.columns), target, path) if target is not None else _label(table, features)
    if label is not None:
        y = labels_of(table.pop(label))
    if features is not None:
        table = table[_columns(list(table.columns), list(features), path)]
    check_complete(table, path)
    X, found = encode_columns(table, path)
    if features is not None:
        return Samples(_in_order(X, found, list(features), path), y, path.name)
    if len(found) != d:
        raise ValueError(
            f"{path} has {len(found)} features, and the model has {d}, without names. The label column is named by its "
            "name or position; fit the model on a table with names to have columns looked up"
        )
    return Samples(X, y, path.name)


def _label(table: Any, features: Sequence[str] | None) -> str | None:
    """A column that is called as labels are, and is no feature of the model."""
    named = (c for wanted in TARGET_NAMES for c in table.columns if c.lower() == wanted)
    return next((c for c in named if features is None or c not in features), None)


def _columns(columns: list[str], features: list[str], path: Path) -> list[str]:
    """The columns that the features are made of; ``colour=red`` is made of the column ``colour``."""
    known = set(columns)
    missing = [name for name in features if name not in known and name.rpartition("=")[0] not in known]
    if missing:
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        raise ValueError(f"{path} lacks {', '.join(map(repr, missing[:MOST_NAMED]))}{more}, which the model needs")
    needed = {name if name in known else name.rpartition("=")[0] for name in features}
    return [column for column in columns if column in needed]


def _in_order(X: np.ndarray, found: list[str], features: list[str], path: Path) -> np.ndarray:
    """Columns in the order of the model; values of a text column that do not occur here are zeros."""
    strange = next((name for name in found if name not in set(features)), None)
    if strange is not None:
        column, _, value = strange.partition("=")
        raise ValueError(f"{path}: column {column!r} has the value {value!r}, which the model does not know")
    position = {name: k for k, name in enumerate(found)}
    ordered = np.zeros((X.shape[0], len(features)))
    for k, name in enumerate(features):
        if name in position:
            ordered[:, k] = X[:, position[name]]
    return ordered


def _check(X: Any, d: int, features: Sequence[str] | None, found: Sequence[str] | None, name: str) -> None:
    if X.shape[1] != d:
        raise ValueError(f"{name} has {X.shape[1]} features, and the model has {d}")
    if features is not None and found is not None and list(features) != list(found):
        k = next(k for k in range(d) if features[k] != found[k])
        raise ValueError(f"{name}: feature {k} is {found[k]!r}, and the model has {features[k]!r} there")
