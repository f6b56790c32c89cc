"""Text-like problems of any size with planted row-sparse weights.

The model: the words of a document of class k are drawn independently with probability proportional to
p_j exp(V[j, k]), where p is a Zipf-Mandelbrot law over the words and V, of shape (d, m), has few non-zero rows. So the
classifier with the fewest errors is linear in the word counts with weights V (and one constant a class): V is what a
row-sparse solver should find, up to the scaling of the columns.
"""

from __future__ import annotations

import math
import numbers

import numpy as np
import scipy.sparse as sp

from ..registry import datasets as registry
from .base import Dataset, Truth
from .raw import check_options, stratified_split
from .scaling import apply_scale

CONSONANTS = "bdfgklmnprstvz"
SYLLABLES = [c + v for c in CONSONANTS for v in "aeiou"]
ZIPF_EXPONENT, ZIPF_SHIFT = 1.05, 2.7  # near the values found for English text
LENGTH_SPREAD = 0.5  # standard deviation of the logarithm of document lengths
MAX_EXPECTED_ENTRIES = 500_000_000  # more would fill the memory of an ordinary computer


def word_names(d: int) -> list[str]:
    """d different pronounceable words; the first (most frequent) ones are the shortest, as in real text."""
    base = len(SYLLABLES)
    words: list[str] = []
    length = 2
    while len(words) < d:
        size = base**length
        # Multiplying by a number prime to the base visits each combination once, far from the one before.
        step = 1_234_577 % size
        for i in range(min(size, d - len(words))):
            code = (i * step + 17) % size
            parts = []
            for _ in range(length):
                code, digit = divmod(code, base)
                parts.append(SYLLABLES[digit])
            words.append("".join(parts))
        length += 1
    return words


def make_text(
    n: int = 4000,
    d: int = 8000,
    m: int = 12,
    *,
    length: float = 60.0,
    density: float | None = None,
    informative: int | None = None,
    signal: float = 3.0,
    noise: float = 0.02,
    test_size: float = 0.25,
    seed: int = 0,
    scale: str | None = None,
    dtype: str = "float64",
    name: str = "planted-text",
) -> Dataset:
    """Generate a text-like sparse problem with planted row-sparse weights.

    Time and memory are proportional to the words drawn. X of the data set is a CSR matrix; ``truth.rows`` are the
    informative words, ``truth.values`` their weights.

    Parameters
    ----------
    n
        documents in total, of which the share ``test_size`` is set aside.
    d
        words.
    m
        classes, equally frequent.
    length
        mean number of words of a document (lengths are log-normal).
    density
        instead of ``length``, the mean share of the d words that a document contains, in (0, 0.5].
    informative
        words with planted weights (default: 15 per class, at most d / 4); each favours one class, some a second
        one.
    signal
        mean planted weight of a word for its class.
    noise
        share of documents whose label is replaced by another one.
    test_size
        share of the documents set aside for test.
    seed
        of all random numbers.
    scale
        as for :func:`load`; the default (log-tfidf) gives tf-idf weights with unit rows.
    dtype
        ``"float64"`` or ``"float32"``.
    name
        name of the data set.

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
    >>> data = ss.datasets.make_text(n=200, d=150, m=4)
    >>> data.d, data.m
    (150, 4)
    """
    informative = default_informative(d, m) if informative is None else informative
    check_sizes(n, d, m, length, density, informative, signal, noise)
    check_options(test_size, seed, scale, dtype)
    rng = np.random.default_rng(seed)
    frequency = word_frequency(d)
    truth = plant(rng, d, m, informative, signal)
    length = checked_length(n, length, density, frequency, truth)
    y = rng.permutation(np.arange(n) % m)
    lengths = draw_lengths(rng, n, length)
    counts = draw_counts(rng, lengths, np.arange(n), y, lengths, frequency, truth)
    wrong = rng.random(n) < noise
    y[wrong] = (y[wrong] + rng.integers(1, m, size=int(wrong.sum()))) % m
    train, test = stratified_split(y, test_size, seed)
    X_test = counts[test] if len(test) else None
    chosen = scale or "log-tfidf"
    X, X_test = apply_scale(chosen, counts[train], X_test, False, np.dtype(dtype))
    return Dataset(
        name=name, title="Generated text with planted words", X=X, y=y[train], X_test=X_test,
        y_test=y[test] if len(test) else None, feature_names=word_names(d),
        class_names=[f"topic {k + 1}" for k in range(m)], scaling=chosen, truth=truth,
        description=f"Generated: Zipf word frequencies, {informative} planted words, label noise {noise:g}.",
        source=f"sparsescope.datasets.make_text, seed {seed}", licence="none needed (generated)",
    )  # fmt: skip


def default_informative(d: int, m: int) -> int:
    """Fifteen planted words a class, and at most a quarter of all."""
    return min(15 * m, max(1, d // 4))


def word_frequency(d: int) -> np.ndarray:
    """The law of d words, the most frequent first, shape (d,)."""
    frequency = 1.0 / (np.arange(1, d + 1) + ZIPF_SHIFT) ** ZIPF_EXPONENT
    return frequency / frequency.sum()


def checked_length(n: int, length: float, density: float | None, frequency: np.ndarray, truth: Truth) -> float:
    """Mean number of words of a document: as given, or for a density. ValueError if n of them are too much."""
    if density is not None:
        length = length_for_density(frequency, truth, density)
    if n * length > MAX_EXPECTED_ENTRIES:
        raise ValueError(f"n = {n} documents of {length:.0f} words would be more than {MAX_EXPECTED_ENTRIES:,} words "
                         "in all; lower n, length or density")  # fmt: skip
    return length


def check_sizes(
    n: int, d: int, m: int, length: float, density: float | None, informative: int, signal: float, noise: float
) -> None:
    """Raise ValueError unless the arguments of :func:`make_text` are within its bounds."""
    whole = {"n": (n, 2 * m if _is_whole(m) else 4), "d": (d, 4), "m": (m, 2), "informative": (informative, 1)}
    for key, (value, low) in whole.items():
        if not _is_whole(value) or value < low:
            why = " (two documents a class)" if key == "n" else ""
            raise ValueError(f"{key} is {value!r}; allowed: a whole number of at least {low}{why}")
    if informative > d // 2:
        raise ValueError(f"informative is {informative}; allowed: at most half of the {d} words, {d // 2}")
    reals = {"length": (length, 1.0, math.inf), "signal": (signal, 0.0, 20.0), "noise": (noise, 0.0, 1.0)}
    if density is not None:
        reals["density"] = (density, 0.0, 0.5)
    for key, (real, least, most) in reals.items():
        ok = isinstance(real, numbers.Real) and least <= real <= most and math.isfinite(real)
        if not ok or (key == "density" and real == 0):
            above = "above 0" if key == "density" else f"{least:g}"
            allowed = f"at least {above}" if most == math.inf else f"{above} to {most:g}"
            raise ValueError(f"{key} is {real!r}; allowed: {allowed}")


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def length_for_density(frequency: np.ndarray, truth: Truth, density: float) -> float:
    """Mean number of words for which documents hold the share `density` of all words: mean of 1 - (1 - q_j)^L.

    q is the law of a class; the mean is over words, classes (exact for the informative words, the others have nearly
    the same law in all classes) and, by Gauss-Hermite quadrature, the log-normal lengths L.
    """
    boosted = frequency[truth.rows, None] * np.exp(truth.values)
    total = 1.0 - frequency[truth.rows].sum() + boosted.sum(axis=0)
    neutral = np.delete(frequency, truth.rows) * np.mean(1.0 / total)
    laws = [(np.log1p(-neutral), 1.0), (np.log1p(-boosted / total).ravel(), 1.0 / len(total))]
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    factors = np.exp(LENGTH_SPREAD * nodes - LENGTH_SPREAD**2 / 2)
    low, high = 0.0, math.log(1e9)
    for _ in range(30):  # bisection on ln L; 30 halvings give 8 digits
        middle = (low + high) / 2
        lengths = factors * math.exp(middle)
        held = [sum(share * -np.expm1(L * missing).sum() for missing, share in laws) for L in lengths]
        found = float(np.dot(weights, held) / weights.sum()) / len(frequency)
        low, high = (middle, high) if found < density else (low, middle)
    return max(1.0, math.exp(high))


def plant(rng: np.random.Generator, d: int, m: int, informative: int, signal: float) -> Truth:
    """Informative words of middle frequency (log-uniform ranks), classes in turn; every fourth favours two classes."""
    # The most frequent words stay neutral, as the function words of a language are; the rarest would never be seen.
    low, high = min(20, d // 8), max(d // 2, informative + d // 8)
    ranks = np.arange(low, min(d, high + 1))
    keys = rng.exponential(size=len(ranks)) * (ranks + 1.0)  # smallest keys: drawn with weight 1 / rank, no repeats
    rows = np.sort(ranks[np.argpartition(keys, informative - 1)[:informative]])
    values = np.zeros((informative, m))
    order = rng.permutation(informative)
    values[order, np.arange(informative) % m] = signal * rng.uniform(0.6, 1.4, informative)
    second = order[::4]
    values[second, rng.integers(0, m, len(second))] = signal * rng.uniform(0.6, 1.4, len(second))
    return Truth(rows.astype(np.int64), values)


def draw_lengths(rng: np.random.Generator, n: int, length: float) -> np.ndarray:
    """Numbers of words of n documents, at least 1 each."""
    drawn = rng.lognormal(math.log(length) - LENGTH_SPREAD**2 / 2, LENGTH_SPREAD, n)
    return np.maximum(1, np.round(drawn)).astype(np.int64)


def draw_counts(
    rng: np.random.Generator,
    lengths: np.ndarray,
    document: np.ndarray,
    label: np.ndarray,
    words: np.ndarray,
    frequency: np.ndarray,
    truth: Truth,
) -> sp.csr_matrix:
    """Word counts, shape (n, d), CSR with int32 counts.

    A document has lengths[i] words; parts of it are about a class: part k is words[k] words of document[k] about
    label[k]. What belongs to no part has no informative words.
    """
    n, d = len(lengths), len(frequency)
    # Only the informative words depend on the class: draw how many of them a document has, then which ones.
    boosted = frequency[truth.rows, None] * np.exp(truth.values)
    mass = boosted.sum(axis=0)
    neutral = frequency.copy()
    neutral[truth.rows] = 0.0
    chance = mass / (mass + neutral.sum())
    special = rng.binomial(words, chance[label])
    background = np.cumsum(neutral)
    plain = lengths - np.bincount(document, weights=special, minlength=n).astype(np.int64)
    columns = [np.searchsorted(background, rng.random(int(plain.sum())) * background[-1], side="right")]
    rows = [np.repeat(np.arange(n), plain)]
    for k in range(boosted.shape[1]):
        parts = np.flatnonzero(label == k)
        law = np.cumsum(boosted[:, k])
        drawn = rng.random(int(special[parts].sum())) * law[-1]
        columns.append(truth.rows[np.minimum(np.searchsorted(law, drawn, side="right"), len(law) - 1)])
        rows.append(np.repeat(document[parts], special[parts]))
    row, column = np.concatenate(rows), np.minimum(np.concatenate(columns), d - 1)
    counts = sp.csr_matrix((np.ones(len(row), dtype=np.int32), (row, column)), shape=(n, d))
    counts.sum_duplicates()
    return counts


def planted_text(
    *, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64"
) -> Dataset:
    """A generated text set with planted informative words: 4000 documents, 8000 words, 12 classes, 180 planted rows."""
    return make_text(test_size=test_size, seed=seed, scale=scale, dtype=dtype)


registry.add("planted-text", planted_text, title="Generated text with planted words", menu_order=20)
