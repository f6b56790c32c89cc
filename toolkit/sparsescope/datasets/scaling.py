"""Scaling of the values of X: the choices of ``scale=`` and the rule of the default.

Every quantity is taken from the training part and applied to both parts.

``"none"``       values as they are
``"standard"``   each column minus its mean, divided by its standard deviation (constant columns: minus the mean only).
                 Dense data only: subtracting a mean would fill a sparse matrix.
``"max"``        each column divided by its largest absolute value; the pixels of images share one divisor
``"unit-rows"``  each row divided by its Euclidean norm (empty rows stay empty)
``"tfidf"``      count * idf with idf = ln((1 + n) / (1 + df)) + 1, then unit rows; values must not be negative
``"log-tfidf"``  (1 + ln count) * idf, then unit rows; non-zero values must be at least 1

The default (``scale=None``) follows the training part: values within [-1, 1] -> none; images -> max; other dense
data -> standard; sparse whole numbers without a negative one (counts) -> log-tfidf; other sparse data -> max.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SCALES = ("none", "standard", "max", "unit-rows", "tfidf", "log-tfidf")
HUGE = 1e150  # squares of larger numbers overflow, and their sums
TINY = 1e-300  # one over smaller numbers overflows
ROUNDING = 1e-6  # unit rows stored as float32 have entries a little above 1


def default_scale(X: Any, image: bool) -> str:
    """The scaling that ``scale=None`` stands for, by the rule in the module's docstring."""
    values = X.data if sp.issparse(X) else X
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if low >= -1.0 - ROUNDING and high <= 1.0 + ROUNDING:
        return "none"
    if image:
        return "max"
    if not sp.issparse(X):
        return "standard"
    return "log-tfidf" if low >= 0 and bool(np.all(values == np.round(values))) else "max"


def apply_scale(scale: str, X: Any, X_test: Any, image: bool, dtype: Any) -> tuple[Any, Any]:
    """Both parts scaled, as `dtype` (float32 or float64). X_test may be None.

    Dense arrays that have this dtype already are changed in place: large images would not fit in memory three times.

    Raises ValueError for an unknown `scale` or one that does not suit the values.
    """
    if scale not in SCALES:
        raise ValueError(f"scale is {scale!r}; allowed: None, {', '.join(map(repr, SCALES))}")
    X = X.astype(dtype, copy=False)
    parts = [X] if X_test is None else [X, X_test.astype(dtype, copy=False)]
    if scale == "standard":
        parts = standardised(parts)
    elif scale == "max":
        if sp.issparse(X):
            largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
        else:
            largest = np.maximum(X.max(axis=0), -X.min(axis=0))
        if image:
            largest = np.full_like(largest, largest.max())
        parts = [times_columns(part, 1.0 / np.where(largest > TINY, largest, 1)) for part in parts]
    elif scale == "unit-rows":
        parts = [unit_rows(part) for part in parts]
    elif scale != "none":
        parts = tfidf(parts, logarithm=scale == "log-tfidf")
    return parts[0], (parts[1] if X_test is not None else None)


def standardised(parts: list[Any]) -> list[Any]:
    """Mean 0 and standard deviation 1 in the first part; works in place."""
    if sp.issparse(parts[0]):
        raise ValueError("scale 'standard' would fill the sparse matrix (it subtracts column means); use 'max', "
                         "'unit-rows', 'tfidf', 'log-tfidf' or 'none'")  # fmt: skip
    tame_columns(parts)
    mean = parts[0].mean(axis=0, dtype=np.float64)
    deviation = parts[0].std(axis=0, dtype=np.float64)
    # A constant column has a deviation of rounding size: dividing by it would blow rounding up to full size.
    deviation[deviation <= 1e-12 * np.maximum(1.0, np.abs(mean))] = 1.0
    for part in parts:
        part -= mean.astype(part.dtype)
        part /= deviation.astype(part.dtype)
    return parts


def tame_columns(parts: list[Any]) -> None:
    """Divide dense columns whose squares could overflow by a power of two, in place: their units do not matter here."""
    largest = np.max([np.maximum(part.max(axis=0), -part.min(axis=0)) for part in parts], axis=0).astype(np.float64)
    huge = largest > HUGE
    if huge.any():
        for part in parts:
            part[:, huge] = np.ldexp(part[:, huge], -np.frexp(largest[huge])[1]).astype(part.dtype)


def times_columns(X: Any, factor: np.ndarray) -> Any:
    """X with column j multiplied by factor[j], dense in place; keeps type and storage."""
    if not sp.issparse(X):
        X *= factor.astype(X.dtype)
        return X
    return (X @ sp.diags(factor.astype(X.dtype))).asformat(X.format)


def unit_rows(X: Any) -> Any:
    """X with rows of Euclidean norm 1; empty rows stay empty."""
    largest = abs(X).max(axis=1).todense() if sp.issparse(X) else abs(X).max(axis=1)
    largest = np.asarray(largest, dtype=np.float64).ravel()
    high, low = np.sqrt(np.finfo(X.dtype).max) / X.shape[1], 1e10 * np.sqrt(np.finfo(X.dtype).tiny)
    if ((largest > high) | ((largest > 0) & (largest < low))).any():  # squares could overflow, or vanish
        factor = np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1020, 1020))
        X = (
            (sp.diags(factor) @ X).asformat(X.format).astype(X.dtype)
            if sp.issparse(X)
            else (X * factor[:, None]).astype(X.dtype)
        )
    if not sp.issparse(X):
        norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
        return X / np.where(norms > 0, norms, 1.0)[:, None].astype(X.dtype)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel())
    return (sp.diags(1.0 / np.where(norms > 0, norms, 1.0)) @ X).asformat(X.format).astype(X.dtype)


def tfidf(parts: list[Any], *, logarithm: bool) -> list[Any]:
    """Term weights with unit rows; document frequencies come from the first part."""
    X = parts[0]
    name = "log-tfidf" if logarithm else "tfidf"
    for part in parts:
        values = part.data if sp.issparse(part) else part[part != 0]
        if values.size and values.min() < (1.0 if logarithm else 0.0):
            allowed = "non-zero values of at least 1 (counts)" if logarithm else "values that are not negative"
            raise ValueError(f"scale {name!r} needs {allowed}; the smallest value here is {values.min():g}")
    n = X.shape[0]
    df = np.bincount(X.tocsr().indices, minlength=X.shape[1]) if sp.issparse(X) else np.count_nonzero(X, axis=0)
    idf = np.log((1 + n) / (1 + df)) + 1.0
    if logarithm:
        parts = [one_plus_log(part) for part in parts]
    return [unit_rows(times_columns(part, idf)) for part in parts]


def one_plus_log(X: Any) -> Any:
    """1 + ln(x) for the non-zero entries, 0 elsewhere."""
    if sp.issparse(X):
        X = X.copy()
        X.data = 1.0 + np.log(X.data)
        return X
    return np.where(X > 0, 1.0 + np.log(np.where(X > 0, X, 1.0)), 0.0).astype(X.dtype)
