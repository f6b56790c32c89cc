"""Reader for ``.npz`` files: dense arrays or CSR parts, with an optional test part and names. Never unpickles.

Keys (see docs/own-data.md): ``X_train``, ``y_train`` or just ``X``, ``y``; sparse: ``X_train_data``, ``_indices``,
``_indptr``, ``_shape``; label sets: ``Y_train`` (or ``Y``), an indicator, dense or in the same parts; all of them with
``test``; ``class_names``; ``feature_names`` or ``feature_names_utf8`` (uint8 array of newline-joined UTF-8); optional
``image_shape``, ``title``, ``description``, ``source``, ``licence``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib.format import MAGIC_PREFIX

from ..inputs.archives import check_memory, read_arrays
from .raw import Raw

CSR_PARTS = ("data", "indices", "indptr", "shape")
# Files that do not state an image shape, yet are images: start of the file's name and number of columns.
KNOWN_IMAGES = {
    ("mnist", 784): (28, 28),
    ("fashion", 784): (28, 28),
    ("kmnist", 784): (28, 28),
    ("emnist", 784): (28, 28),
    ("usps", 256): (16, 16),
    ("digits", 64): (8, 8),
}


def looks_like_dataset(path: Path) -> bool:
    """Return whether a .npz file has the keys of a data set; reads only its table of contents, and that once.

    Menus ask for the names of data sets at every change of a page.
    """
    try:
        known = path.stat()
    except OSError:
        return False
    return _has_keys(path, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=1024)
def _has_keys(path: Path, changed: int, size: int) -> bool:
    """The answer for a file as it stands: ``changed`` and ``size`` are of its present content."""
    try:
        with zipfile.ZipFile(path) as archive:
            keys = {name.removesuffix(".npy") for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False
    return any(
        {X, f"{X}_data"} & keys and {"y" + X[1:], "Y" + X[1:], f"Y{X[1:]}_data"} & keys for X in ("X_train", "X")
    )


def read_npz(path: Path) -> Raw:
    """Read the arrays of the file.

    Raises ValueError when it is no such file, is damaged, needs more memory than allowed, or its parts do not fit
    together.
    """
    with open(path, "rb") as file:
        if file.read(len(MAGIC_PREFIX)) == MAGIC_PREFIX:
            raise ValueError(f"{path} holds one bare array, not X and y; save both with numpy.savez(path, X=X, y=y)")
    return from_mapping(read_arrays(path), path)


def from_mapping(z: Mapping[str, np.ndarray], path: Path) -> Raw:
    """The parts of a loaded file as :class:`Raw`; `path` is for messages and the image rule."""
    main = "X_train" if any(key.startswith("X_train") for key in z) else "X"
    labels, sets = "y" + main[1:], "Y" + main[1:]
    X = matrix(z, main, path)
    y, Y = z.get(labels), matrix(z, sets, path)
    if X is None or (y is None and Y is None):
        raise ValueError(f"{path} has no {'X' if X is None else labels}; keys found: {', '.join(sorted(z)) or 'none'}. "
                         "Needed: X_train (or its CSR parts X_train_data, _indices, _indptr, _shape) and y_train (or "
                         "Y_train for label sets, dense or as CSR parts), or X and y (or Y)")  # fmt: skip
    if y is not None and Y is not None:
        raise ValueError(f"{path} has labels ({labels}) and label sets ({sets}); give one of them")
    X_test = matrix(z, "X_test", path)
    y_test = z.get("y_test") if Y is None else matrix(z, "Y_test", path)
    if (X_test is None) != (y_test is None):
        both = ["X_test", "y_test" if Y is None else "Y_test"]
        raise ValueError(f"{path}: {both[X_test is None]} without {both[X_test is not None]}; give both or none")
    if X_test is not None and y_test is not None and np.ndim(y_test) == 1 and X_test.shape[0] != len(y_test):
        raise ValueError(f"{path}: y_test has {len(y_test)} labels for {X_test.shape[0]} rows of X_test")
    if Y is not None and y_test is not None and X_test is not None and X_test.shape[0] != y_test.shape[0]:
        raise ValueError(f"{path}: Y_test has {y_test.shape[0]} label sets for {X_test.shape[0]} rows of X_test")
    features = names(z, "feature_names", path)
    shape = image_shape(z, path.name.lower(), X.shape[1] if X.ndim == 2 else 0)
    if shape is not None and features is None:
        features = [f"pixel {r},{c}" for r in range(shape[0]) for c in range(shape[1])]
    return Raw(
        X, y if Y is None else Y, X_test, y_test, features, names(z, "class_names", path), shape,
        title=word(z, "title"), description=word(z, "description"), source=word(z, "source") or f"file {path.name}",
        licence=word(z, "licence"),
    )  # fmt: skip


def matrix(z: Mapping[str, np.ndarray], key: str, path: Path) -> Any:
    """The dense array `key`, the CSR matrix of its parts, or None. ValueError when parts are missing or wrong."""
    if key in z:
        return z[key]
    present = [part for part in CSR_PARTS if f"{key}_{part}" in z]
    if not present:
        return None
    missing = [f"{key}_{part}" for part in CSR_PARTS if part not in present]
    if missing:
        raise ValueError(f"{path}: CSR parts missing: {', '.join(missing)}")
    data, indices, indptr, shape = (z[f"{key}_{part}"] for part in CSR_PARTS)
    try:
        sizes = tuple(int(s) for s in shape)
        if len(sizes) != 2 or min(sizes) < 0:
            raise ValueError(f"the shape is {sizes}")
        check_memory(path, 8 * sizes[1], f"{key}_shape announces {sizes[1]} features, of which each takes 8 bytes")
        X = sp.csr_matrix((data, indices, indptr), shape=sizes)
        X.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        if "of memory" in str(error):
            raise
        raise ValueError(f"{path}: {key}_data, _indices, _indptr and _shape are not a CSR matrix ({error})") from error
    return X


def names(z: Mapping[str, np.ndarray], key: str, path: Path) -> list[str] | None:
    """Names stored as a text array under `key` or as UTF-8 bytes under `key` + "_utf8"; None when absent."""
    if key in z:
        return [str(value) for value in np.atleast_1d(z[key]).tolist()]
    if f"{key}_utf8" not in z:
        return None
    try:
        return z[f"{key}_utf8"].astype(np.uint8).tobytes().decode().split("\n")
    except (UnicodeDecodeError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: {key}_utf8 is not UTF-8 text ({error})") from error


def word(z: Mapping[str, np.ndarray], key: str) -> str:
    """A single text stored under `key`, or the empty string."""
    return str(z[key].item()) if key in z and z[key].size == 1 else ""


def image_shape(z: Mapping[str, np.ndarray], filename: str, d: int) -> tuple[int, int] | None:
    """(height, width) if the file states ``image_shape`` or is one of KNOWN_IMAGES; a square d alone proves nothing."""
    if "image_shape" in z:
        stated = np.ravel(z["image_shape"])
        values = [int(v) for v in stated[:3]] if stated.dtype.kind in "bui" else []
        if len(values) != 2 or min(values) < 1 or values[0] * values[1] != d:
            raise ValueError(
                f"image_shape is {values}; needed: height and width whose product is {d}, the columns of X"
            )
        return values[0], values[1]
    for (start, columns), shape in KNOWN_IMAGES.items():
        if filename.startswith(start) and columns == d:
            return shape
    return None
