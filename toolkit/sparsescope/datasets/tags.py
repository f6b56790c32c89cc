"""Text-like problems with label sets: documents about several subjects at once, with planted row-sparse weights.

The words are drawn as in :mod:`sparsescope.datasets.text`, the words of a document in equal parts about each of its
labels. Labels are as unequal as tags usually are (their shares fall like 1/(k + 3)), most documents have a few, and
pairs of labels come together more often than by chance.
"""

from __future__ import annotations

import numbers

import numpy as np

from ..registry import datasets as registry
from .base import Dataset
from .raw import check_options, split_label_sets
from .scaling import apply_scale
from .text import (
    check_sizes,
    checked_length,
    default_informative,
    draw_counts,
    draw_lengths,
    plant,
    word_frequency,
    word_names,
)

PARTNER = 2.0  # how much (in log-odds) a label is favoured beside its partner
EMPTY = 0.02  # share of documents without a label


def make_multilabel_text(
    n: int = 3000,
    d: int = 4000,
    m: int = 20,
    *,
    labels: float = 2.4,
    length: float = 80.0,
    density: float | None = None,
    informative: int | None = None,
    signal: float = 3.0,
    noise: float = 0.02,
    test_size: float = 0.25,
    seed: int = 0,
    scale: str | None = None,
    dtype: str = "float64",
    name: str = "planted-tags",
) -> Dataset:
    """Generate a text-like sparse multilabel problem with planted row-sparse weights.

    X of the data set is a CSR matrix, y an indicator (n, m); ``truth.rows`` and ``truth.values`` are the planted
    weights.

    Parameters
    ----------
    n
        documents in total, of which the share ``test_size`` is set aside.
    d
        words.
    m
        labels.
    labels
        mean number of labels of a document that has any, from 1 to m / 2; one document in fifty has none.
    length, density, informative, signal
        as for :func:`sparsescope.datasets.make_text`.
    noise
        share of documents one of whose labels is replaced.
    test_size, seed, scale, dtype, name
        as for :func:`sparsescope.datasets.make_text`.

    Returns
    -------
    Dataset
        the data set.

    Raises
    ------
    ValueError
        for arguments outside these bounds.

    Examples
    --------
    >>> data = ss.datasets.make_multilabel_text(n=200, d=150, m=5)
    >>> data.d, data.m, data.y.ndim
    (150, 5, 2)
    """
    informative = default_informative(d, m) if informative is None else informative
    check_sizes(n, d, m, length, density, informative, signal, noise)
    if not (isinstance(labels, numbers.Real) and 1.0 <= labels <= m / 2):
        raise ValueError(f"labels is {labels!r}; allowed: 1 to {m / 2:g}, half of the {m} labels")
    check_options(test_size, seed, scale, dtype)
    rng = np.random.default_rng(seed)
    frequency = word_frequency(d)
    truth = plant(rng, d, m, informative, signal)
    length = checked_length(n, length, density, frequency, truth)
    Y = draw_sets(rng, n, m, float(labels))
    lengths = draw_lengths(rng, n, length)
    document, label = np.nonzero(Y)
    words = lengths[document] // Y.sum(axis=1, dtype=np.int64)[document]
    counts = draw_counts(rng, lengths, document, label, words, frequency, truth)
    _replace(rng, Y, noise)
    train, test = split_label_sets(Y, test_size, seed)
    X_test = counts[test] if len(test) else None
    chosen = scale or "log-tfidf"
    X, X_test = apply_scale(chosen, counts[train], X_test, False, np.dtype(dtype))
    return Dataset(
        name=name, title="Generated text with label sets", X=X, y=Y[train], X_test=X_test,
        y_test=Y[test] if len(test) else None, feature_names=word_names(d),
        class_names=[f"tag {k + 1}" for k in range(m)], scaling=chosen, truth=truth,
        description=f"Generated: Zipf word frequencies, {informative} planted words, {Y.sum() / n:.2g} labels each.",
        source=f"sparsescope.datasets.make_multilabel_text, seed {seed}", licence="none needed (generated)",
    )  # fmt: skip


def draw_sets(rng: np.random.Generator, n: int, m: int, labels: float) -> np.ndarray:
    """n label sets, shape (n, m), uint8: sizes 1 + Poisson, labels 2k and 2k + 1 favour each other."""
    sizes = np.minimum(1 + rng.poisson(labels - 1.0, n), m - 1)
    sizes[rng.random(n) < EMPTY] = 0
    weight = np.log(1.0 / (np.arange(m) + 3.0))
    # The largest of log-weights with Gumbel noise are a draw without replacement.
    keys = weight + rng.gumbel(size=(n, m))
    first = keys.argmax(axis=1)
    partner = np.minimum(first ^ 1, m - 1)
    here = np.arange(n)
    keys[here, partner] += PARTNER
    keys[here, first] = np.inf
    order = np.argsort(-keys, axis=1, kind="stable")
    Y = np.zeros((n, m), dtype=np.uint8)
    np.put_along_axis(Y, order, (np.arange(m) < sizes[:, None]).astype(np.uint8), axis=1)
    return Y


def _replace(rng: np.random.Generator, Y: np.ndarray, noise: float) -> None:
    """Replace a label by another one in a share ``noise`` of the rows."""
    for i in np.flatnonzero((rng.random(len(Y)) < noise) & Y.any(axis=1)):
        leaves, comes = rng.choice(np.flatnonzero(Y[i] == 1)), rng.choice(np.flatnonzero(Y[i] == 0))
        Y[i, leaves], Y[i, comes] = 0, 1


def planted_tags(
    *, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64"
) -> Dataset:
    """A generated text set with several labels a document: 3000 documents, 4000 words, 20 labels, 300 planted rows."""
    return make_multilabel_text(test_size=test_size, seed=seed, scale=scale, dtype=dtype)


registry.add("planted-tags", planted_tags, title="Generated text with label sets", menu_order=50)
