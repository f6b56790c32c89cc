"""Data of the fits: the paper's training subsets, the features of images, and their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ... import datasets
from ...inputs.design import Design
from ...problems.prediction import Problem
from ..pools import Pool, Split, pool
from . import protocol

PIXELS, FILTERS = "pixels", "random filters"
PATCH = 2  # pixels in a row of a patch: 28 × 28 images have 14 × 14 patches, as many as the paper's positions
CHANNELS = 16  # features at each position: the mean of the pixels, and the answers of 15 random filters
CHUNK = 400  # images whose neighbourhoods are held at once
HELD_OUT = 0.25  # of data without a test part
INTENSITIES = 1000.0  # dense values above this, with more features than samples, are taken for intensities


def load(name_or_path: str) -> Pool:
    """A data set as this paper's experiments want it; raises what :func:`sparsescope.datasets.load` raises.

    Microarray intensities are standardised sample by sample (mean 0 and variance 1 over the genes of a chip). All else
    is scaled by the default rule.
    """
    data = datasets.load(name_or_path, test_size=0.0)
    if data.image_shape is None and not sp.issparse(data.X) and data.X.shape[1] > data.X.shape[0]:
        raw = datasets.load(name_or_path, test_size=0.0, scale="none")
        if float(raw.X.max()) > INTENSITIES:
            made = pool(datasets.from_arrays(
                _by_samples(raw.X), raw.y, X_test=None if raw.X_test is None else _by_samples(raw.X_test),
                y_test=raw.y_test, name=raw.name, feature_names=raw.feature_names, class_names=raw.class_names,
            ))  # fmt: skip
            return Pool(**{**vars(made), "scaling": "each sample standardised"})
    return pool(data)


def _by_samples(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=1, keepdims=True)
    return (X - X.mean(axis=1, keepdims=True)) / np.where(spread > 0.0, spread, 1.0)


def kind(data: Pool) -> str:
    """``images``, ``text`` (sparse) or ``table`` (dense)."""
    if data.image_shape is not None:
        return "images"
    return "text" if sp.issparse(data.X) else "table"


def whole(data: Pool) -> Split:
    """All training rows, with an intercept (Table 1)."""
    return _split(data, PIXELS, *data.parts(HELD_OUT))


def draw(data: Pool, features: str, per_class: int, seed: int) -> Split:
    """A random training subset of ``per_class`` samples of each class, tested on the whole test part.

    Classes with fewer samples give all of theirs. The same seed, the same subset; ``ValueError`` without a test part.
    """
    key = ("draw", features, per_class, seed)
    if key not in data.splits:
        train, test = data.parts(HELD_OUT)
        rng = np.random.default_rng(seed)
        shuffled = rng.permutation(train)
        chosen = [shuffled[data.y[shuffled] == k][:per_class] for k in range(len(data.class_names))]
        data.splits[key] = _split(data, features, np.sort(np.concatenate(chosen)), test)
    return data.splits[key]


def _split(data: Pool, features: str, train: np.ndarray, test: np.ndarray) -> Split:
    X = rows_of(data, features, train)
    problem = Problem(X, data.y[train], intercept=True, class_names=data.class_names)
    key = ("test", features)
    if key not in data.cache:
        held = rows_of(data, features, test)
        # The answers of the filters on a large test part are the largest array here; scores need no more digits.
        data.cache[key] = Design(held.astype(np.float32) if features == FILTERS else held)
    return Split(data.name, X, problem, data.cache[key], data.y[test])


def rows_of(data: Pool, features: str, rows: np.ndarray) -> Any:
    """Features of some samples: as they are stored (small image sets dense), or the answers of the random filters."""
    X = data.X[rows]
    if features == FILTERS:
        assert data.image_shape is not None
        return filtered(X.toarray() if sp.issparse(X) else X, data.image_shape)
    if kind(data) == "images" and sp.issparse(X):
        return X.toarray()
    return X


def blocks(data: Pool, features: str) -> dict[str, Any]:
    """The groups of features within a class, as the block penalties take them: five features in a row, a 2 × 2 patch of
    pixels, or all channels of a position."""
    if data.image_shape is None:
        return {"size": protocol.GENES}
    if features == FILTERS:
        return {"size": CHANNELS}
    height, width = data.image_shape
    at = np.arange(height * width).reshape(height, width)
    return {
        "blocks": [
            at[r : r + PATCH, c : c + PATCH].ravel().tolist()
            for r in range(0, height, PATCH)
            for c in range(0, width, PATCH)
        ]
    }


def filtered(X: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Random features of images X (k, height·width): at each 2 × 2 patch the mean of its pixels, and the mean size
    |⟨filter, neighbourhood⟩| of the answers of 15 fixed random filters. Shape (k, positions·16), position by position.

    One layer of a scattering transform with random filters instead of wavelets; the same filters in each call.
    """
    height, width = shape
    side = 5 if min(shape) > 12 else 3
    filters = np.random.default_rng(0).standard_normal((side * side, CHANNELS - 1))
    filters -= filters.mean(axis=0)
    filters /= np.linalg.norm(filters, axis=0)
    found = [_answers(X[k : k + CHUNK].reshape(-1, height, width), filters, side) for k in range(0, len(X), CHUNK)]
    return np.concatenate(found)


def _answers(images: np.ndarray, filters: np.ndarray, side: int) -> np.ndarray:
    half = side // 2
    padded = np.pad(images, ((0, 0), (half, half), (half, half)))
    around = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(1, 2))
    answers = np.abs(around.reshape(*images.shape, side * side) @ filters)
    channels = np.concatenate([images[..., None], answers], axis=-1)
    short = [(-size) % PATCH for size in images.shape[1:]]
    channels = np.pad(channels, ((0, 0), (0, short[0]), (0, short[1]), (0, 0)), mode="edge")
    k, height, width, count = channels.shape
    tiles = channels.reshape(k, height // PATCH, PATCH, width // PATCH, PATCH, count)
    return np.ascontiguousarray(tiles.mean(axis=(2, 4)).reshape(k, -1))
