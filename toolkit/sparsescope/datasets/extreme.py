"""Text-like problems with very many classes or labels, and planted sparse weights: up to 100 000 of each.

The model: a word of a document about label k is, with probability q, one of a few topical words of k, drawn by a law
T_k over them, and else a word of the whole language, drawn by a Zipf-Mandelbrot law p. Its law is thus
(1 − q)·p_j·exp(V[j, k]) with

    V[j, k] = ln(1 + q·T_kj / ((1 − q)·p_j))

which is 0 but for the topical words of k, and the factor is the same for all labels. Up to the frequencies of the
labels, no classifier makes fewer errors than the linear one in the word counts with weights V, and V is sparse (d, m).
Labels have frequencies that fall like a power of their rank, as tags and categories do: most of them are rare.

Nothing of the size samples × labels or words × labels is made; time and memory follow the words drawn.
"""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..registry import datasets as registry
from .base import Dataset, Truth
from .raw import check_options
from .scaling import apply_scale
from .text import MAX_EXPECTED_ENTRIES, draw_lengths, word_frequency, word_names

LABEL_SHIFT = 2.7  # of the law of labels: the most frequent one does not stand alone
RELATED = 0.5  # share of the further labels of a set that are near its first one
NEAR = 3.0  # mean distance, in numbers of labels, of related ones
CHUNK = 20_000  # documents whose words are drawn at once


def make_extreme(
    n: int = 6000,
    d: int = 6000,
    m: int = 2000,
    *,
    multilabel: bool = False,
    labels: float = 2.5,
    length: float = 50.0,
    words: int = 12,
    signal: float = 0.35,
    tail: float = 1.0,
    noise: float = 0.02,
    test_size: float = 0.25,
    seed: int = 0,
    scale: str | None = None,
    dtype: str = "float64",
    name: str = "planted-extreme",
) -> Dataset:
    """Generate a text-like problem with many classes, or many labels, and planted sparse weights.

    X of the data set is a CSR matrix; ``y`` are class numbers (n,), or a sparse indicator (n, m) in CSR form, uint8.
    ``truth.rows`` are the topical words, ``truth.values`` their weights V, a sparse matrix (rows, m).

    Parameters
    ----------
    n
        documents in total, of which the share ``test_size`` is set aside, label by label; every label that is the
        first one of a document is that of a training document.
    d
        words.
    m
        classes or labels, numbered from the most frequent one down; the min(m, n/2) most frequent are each the
        first label of a document at least.
    multilabel
        label sets; else one class per document.
    labels
        mean number of labels drawn for a document, 1 to m/4; they may coincide. Half of the further ones are near
        the first, so that labels occur together.
    length
        mean number of words of a document (lengths are log-normal).
    words
        topical words drawn for a label, of all but the most frequent ranks; labels share words.
    signal
        share of a document's words that are topical, in (0, 1).
    tail
        exponent of the law of labels, 0 (all alike) to 3.
    noise
        share of documents whose words belong to another label than the first of the document.
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
    >>> data = ss.datasets.make_extreme(n=200, d=150, m=40)
    >>> data.d, data.m
    (150, 40)
    """
    _check(n, d, m, multilabel, labels, length, words, signal, tail, noise)
    check_options(test_size, seed, scale, dtype)
    rng = np.random.default_rng(seed)
    frequency = word_frequency(d)
    topics = draw_topics(rng, d, m, words)
    law = label_frequency(m, tail)
    first = draw_first(rng, n, law)
    Y = draw_sets(rng, first, law, labels) if multilabel else _one_each(first, m)
    counts = draw_words(rng, _about(rng, Y, first, law, noise), draw_lengths(rng, n, length), topics, frequency, signal)
    train, test = split_by_label(first, test_size, seed)
    chosen = scale or "log-tfidf"
    X, X_test = apply_scale(chosen, counts[train], counts[test] if len(test) else None, False, np.dtype(dtype))
    y: Any = Y if multilabel else first
    kind = f"label sets, {Y.nnz / n:.2g} labels each" if multilabel else "one class each"
    return Dataset(
        name=name, title=f"Generated text with {m} {'labels' if multilabel else 'classes'}", X=X, y=y[train],
        X_test=X_test, y_test=y[test] if len(test) else None, feature_names=word_names(d),
        class_names=[f"topic {k + 1}" for k in range(m)], scaling=chosen, truth=planted(topics, frequency, signal),
        description=f"Generated: Zipf word frequencies, power law of labels, {words} topical words a label, {kind}.",
        source=f"sparsescope.datasets.make_extreme, seed {seed}", licence="none needed (generated)",
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- the model
def label_frequency(m: int, tail: float) -> np.ndarray:
    """The law of m labels, the most frequent first, shape (m,)."""
    frequency = 1.0 / (np.arange(1, m + 1) + LABEL_SHIFT) ** tail
    return np.asarray(frequency / frequency.sum())


def draw_topics(rng: np.random.Generator, d: int, m: int, words: int) -> sp.csr_array:
    """The laws T of the topical words: (m, d), CSR, rows that sum to 1 and have at most `words` entries.

    Ranks are drawn log-uniformly: the most frequent words stay neutral, as the function words of a language are, and
    of the others the more frequent ones belong to more labels. Shares within a label fall like 1, 1/2, 1/3, …
    """
    low = min(20, d // 8)
    ranks = np.minimum((low * (d / low) ** rng.random((m, words))).astype(np.int64), d - 1)
    shares = 1.0 / np.arange(1, words + 1)
    label = np.repeat(np.arange(m), words)
    made = sp.csr_array((np.tile(shares / shares.sum(), m), (label, ranks.ravel())), shape=(m, d))
    made.sum_duplicates()
    return made


def planted(topics: sp.csr_array, frequency: np.ndarray, signal: float) -> Truth:
    """The weights V of the best linear classifier, see the module."""
    V = sp.csr_array(topics.T)
    rows = np.repeat(np.arange(V.shape[0]), np.diff(V.indptr))
    V.data = np.log1p(signal * V.data / ((1.0 - signal) * frequency[rows]))
    used = np.flatnonzero(np.diff(V.indptr))
    return Truth(used.astype(np.int64), V[used])


# ------------------------------------------------------------------------------------------------------------- drawing
def draw_first(rng: np.random.Generator, n: int, law: np.ndarray) -> np.ndarray:
    """The first label of n documents, (n,) int64: the most frequent min(m, n/2) labels occur, the rest by their law."""
    covered = min(len(law), n // 2)
    drawn = np.searchsorted(np.cumsum(law)[:-1], rng.random(n - covered), side="right")
    return rng.permutation(np.concatenate([np.arange(covered), drawn])).astype(np.int64)


def draw_sets(rng: np.random.Generator, first: np.ndarray, law: np.ndarray, labels: float) -> sp.csr_array:
    """Label sets around the first labels: indicator (n, m), CSR uint8, labels in order."""
    n, m = len(first), len(law)
    further = rng.poisson(labels - 1.0, n)
    document = np.repeat(np.arange(n), further)
    drawn = np.searchsorted(np.cumsum(law)[:-1], rng.random(len(document)), side="right")
    step = rng.geometric(1.0 / NEAR, len(document)) * rng.choice((-1, 1), len(document))
    drawn = np.where(rng.random(len(document)) < RELATED, np.clip(first[document] + step, 0, m - 1), drawn)
    rows, columns = np.concatenate([np.arange(n), document]), np.concatenate([first, drawn])
    Y = sp.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n, m))
    Y.sum_duplicates()  # a label that is drawn twice is there once
    return sp.csr_array((np.ones(Y.nnz, dtype=np.uint8), Y.indices, Y.indptr), shape=(n, m))


def _one_each(first: np.ndarray, m: int) -> sp.csr_array:
    n = len(first)
    return sp.csr_array((np.ones(n, dtype=np.uint8), first, np.arange(n + 1)), shape=(n, m))


def _about(rng: np.random.Generator, Y: sp.csr_array, first: np.ndarray, law: np.ndarray, noise: float) -> sp.csr_array:
    """Topics of the words: the label sets, where in a share `noise` of the documents another label replaces the first.

    The labels stay and the words differ, so that no label loses its only document. Duplicates may stand in a row.
    """
    others = np.searchsorted(np.cumsum(law)[:-1], rng.random(len(first)), side="right")
    others = np.where(others == first, (first + 1) % len(law), others)
    wrong = rng.random(len(first)) < noise
    document = np.repeat(np.arange(len(first)), np.diff(Y.indptr))
    labels = np.where(wrong[document] & (Y.indices == first[document]), others[document], Y.indices)
    return sp.csr_array((Y.data, labels, Y.indptr), shape=Y.shape)


def draw_words(
    rng: np.random.Generator,
    Y: sp.csr_array,
    lengths: np.ndarray,
    topics: sp.csr_array,
    frequency: np.ndarray,
    signal: float,
) -> sp.csr_matrix:
    """Word counts, (n, d), CSR int32: lengths[i] words, in equal parts about each label in row i of Y."""
    parts = [
        _draw_some(rng, Y[at : at + CHUNK], lengths[at : at + CHUNK], topics, frequency, signal)
        for at in range(0, len(lengths), CHUNK)
    ]
    return sp.vstack(parts, format="csr") if len(parts) > 1 else parts[0]


def _draw_some(
    rng: np.random.Generator,
    Y: sp.csr_array,
    lengths: np.ndarray,
    topics: sp.csr_array,
    frequency: np.ndarray,
    signal: float,
) -> sp.csr_matrix:
    n, d = len(lengths), len(frequency)
    sizes = np.diff(Y.indptr)
    document = np.repeat(np.arange(n), sizes)
    topical = rng.binomial(lengths[document] // sizes[document], signal)
    plain = lengths - np.bincount(document, weights=topical, minlength=n).astype(np.int64)
    language = np.searchsorted(np.cumsum(frequency)[:-1], rng.random(int(plain.sum())), side="right")
    # The laws of all labels stand one after the other: a draw is searched in the part of its label.
    ends = np.concatenate([[0.0], np.cumsum(topics.data)])
    label = np.repeat(Y.indices, topical)
    low, high = topics.indptr[label], topics.indptr[label + 1]
    at = ends[low] + rng.random(len(label)) * (ends[high] - ends[low])
    place = np.clip(np.searchsorted(ends, at, side="right") - 1, low, high - 1)
    rows = np.concatenate([np.repeat(np.arange(n), plain), np.repeat(document, topical)])
    columns = np.concatenate([language, topics.indices[place]])
    counts = sp.csr_matrix((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n, d))
    counts.sum_duplicates()
    return counts


def split_by_label(first: np.ndarray, test_size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers (train, test), each ascending: about the share `test_size` of each label; each keeps a training row.

    One sort for all labels: with tens of thousands of them, a pass for each would take minutes.
    """
    n = len(first)
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(n), first))
    new = np.concatenate([[True], np.diff(first[order]) != 0])
    place = np.arange(n) - np.maximum.accumulate(np.where(new, np.arange(n), 0))  # 0, 1, 2, … within each label
    # Each label steps through its rows with a random start: those at which a whole number is passed are for test.
    start = rng.random(int(first.max()) + 1)[first[order]]
    chosen = (np.floor(start + (place + 1) * test_size) > np.floor(start + place * test_size)) & ~new
    in_test = np.zeros(n, dtype=bool)
    in_test[order[chosen]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


# ------------------------------------------------------------------------------------------------------------ bad input
def _check(
    n: int,
    d: int,
    m: int,
    multilabel: bool,
    labels: float,
    length: float,
    words: int,
    signal: float,
    tail: float,
    noise: float,
) -> None:
    """Raise ValueError for arguments outside the bounds of :func:`make_extreme`."""
    if not isinstance(multilabel, bool):
        raise ValueError(f"multilabel is {multilabel!r}; allowed: True (label sets) or False (one class a document)")
    for key, count, low in (("n", n, 8), ("d", d, 20), ("m", m, 4), ("words", words, 1)):
        if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < low:
            raise ValueError(f"{key} is {count!r}; allowed: a whole number of at least {low}")
    if words > d // 4:
        raise ValueError(f"words is {words}; allowed: at most a quarter of the {d} words, {d // 4}")
    reals = {
        "labels": (labels, 1.0, m / 4),
        "length": (length, 1.0, 1e6),
        "tail": (tail, 0.0, 3.0),
        "noise": (noise, 0.0, 1.0),
        "signal": (signal, 0.0, 1.0),
    }
    for key, (real, least, most) in reals.items():
        if not (isinstance(real, numbers.Real) and least <= real <= most) or (key == "signal" and real in (0.0, 1.0)):
            between = "above 0 and below 1" if key == "signal" else f"{least:g} to {most:g}"
            raise ValueError(f"{key} is {real!r}; allowed: {between}")
    for what, size in (
        (f"n = {n} documents of {length:g} words", n * length),
        (f"m = {m} labels of {words} topical words", m * words),
    ):
        if size > MAX_EXPECTED_ENTRIES:
            raise ValueError(f"{what} would be more than {MAX_EXPECTED_ENTRIES:,} entries; lower one of them")


# ---------------------------------------------------------------------------------------------------- registered sets
def planted_extreme(
    *, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64"
) -> Dataset:
    """A generated text set with many classes: 6000 documents, 6000 words, 2000 classes of very unequal size."""
    return make_extreme(test_size=test_size, seed=seed, scale=scale, dtype=dtype)


def planted_extreme_tags(
    *, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64"
) -> Dataset:
    """A generated text set with many labels: 6000 documents, 6000 words, 2000 labels, about 2.5 of them a document."""
    made = make_extreme(
        multilabel=True, test_size=test_size, seed=seed, scale=scale, dtype=dtype, name="planted-extreme-tags"
    )
    tests = None if made.y_test is None else made.y_test.toarray()
    return dataclasses.replace(made, y=made.y.toarray(), y_test=tests)  # of this size a full indicator is small


registry.add("planted-extreme", planted_extreme, title="Generated text with 2000 classes", menu_order=30)
registry.add("planted-extreme-tags", planted_extreme_tags, title="Generated text with 2000 labels", menu_order=30)
