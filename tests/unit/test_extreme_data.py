"""The generator of problems with very many classes or labels: its statistics, its planted weights, bad input."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sparsescope import datasets
from sparsescope.datasets import extreme
from sparsescope.datasets.base import Dataset

SIZES = {"n": 1200, "d": 900, "m": 60, "length": 30.0}


def made(**changes: Any) -> Dataset:
    return datasets.make_extreme(**{**SIZES, "test_size": 0.0, **changes})


def test_classes_are_unequal_by_a_power_law_and_all_of_them_occur() -> None:
    data = made(n=60_000, d=100, m=50, length=2.0, words=2)
    counts = np.bincount(data.y, minlength=50)
    assert counts.min() >= 1 and data.y.shape == (60_000,) and data.y.dtype == np.int64
    np.testing.assert_allclose(counts / 60_000, extreme.label_frequency(50, 1.0), atol=0.004)
    slope = np.polyfit(np.log(np.arange(50) + 1 + extreme.LABEL_SHIFT), np.log(counts), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.06)
    flat = np.bincount(made(n=12_000, tail=0.0).y, minlength=60)
    assert flat.max() < 1.7 * flat.min()
    assert len(np.unique(made(n=100, m=90).y)) >= 50, "with fewer than two documents a class, half as many as documents"


def test_words_follow_zipfs_law_and_the_topics() -> None:
    data = made(n=20_000, scale="none", signal=0.3)
    assert sp.isspmatrix_csr(data.X) and data.X.shape == (20_000, 900)
    assert data.X.sum() / 20_000 == pytest.approx(30.0, rel=0.05), "mean length"
    counts = np.asarray(data.X.sum(axis=0)).ravel()
    top = counts[:15] / counts.sum()  # too frequent to be anybody's topic
    np.testing.assert_allclose(top, 0.7 * extreme.word_frequency(900)[:15], rtol=0.06)
    documents = data.X[data.y == 0]
    V = np.asarray(data.truth.weights(900)[:, [0]].todense()).ravel()
    own = np.asarray(documents.sum(axis=0)).ravel()
    law = 0.7 * extreme.word_frequency(900) * np.exp(V)
    assert law.sum() == pytest.approx(1.0), "the weights are those of the law of the words"
    wrong = 0.02  # of its documents are about something else
    assert own[V > 0].sum() / own.sum() == pytest.approx((1 - wrong) * law[V > 0].sum(), rel=0.1)


def test_the_planted_weights_are_sparse_and_classify() -> None:
    data = made(noise=0.0, scale="none")
    V = data.truth.weights(data.d)
    assert sp.issparse(V) and V.shape == (900, 60) and V.nnz <= 60 * 12 and (V.data > 0).all()
    assert np.array_equal(np.flatnonzero(np.diff(V.indptr)), data.truth.rows)
    assert np.mean(np.asarray((data.X @ V).todense()).argmax(axis=1) == data.y) > 0.85
    noisy = made(noise=0.5, scale="none")
    right = np.mean(np.asarray((noisy.X @ noisy.truth.weights(900)).todense()).argmax(axis=1) == noisy.y)
    assert 0.35 < right < 0.6


def test_label_sets_are_sparse_correlated_and_planted() -> None:
    data = made(multilabel=True, labels=2.5, noise=0.0, scale="none", n=4000)
    Y = data.y
    assert sp.issparse(Y) and Y.format == "csr" and Y.shape == (4000, 60) and Y.dtype == np.uint8
    assert data.multilabel and set(Y.data) == {1} and Y.has_canonical_format
    sizes = np.diff(Y.indptr)
    assert sizes.min() >= 1 and 2.1 < sizes.mean() < 2.5
    dense = Y.toarray().astype(float)
    together = np.corrcoef(dense.T)
    assert np.mean([together[k, k + 1] for k in range(10, 40)]) > 0.05, "neighbours come together"
    assert abs(np.mean([together[k, k + 20] for k in range(10, 39)])) < 0.03
    scores = np.asarray((data.X @ data.truth.weights(900)).todense())
    assert np.mean(dense[np.arange(4000), scores.argmax(axis=1)]) > 0.9
    assert "label sets" in data.description and "labels a row" in repr(data)


def test_the_split_keeps_every_class_in_training() -> None:
    data = made(test_size=0.25, n=800)
    assert set(np.unique(data.y)) == set(range(60)) and len(data.y) + len(data.y_test) == 800
    assert 0.18 < len(data.y_test) / 800 <= 0.26
    first = np.repeat([0, 1, 2], [400, 40, 1])
    train, test = extreme.split_by_label(first, 0.25, 0)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(441)) and 440 in train
    assert np.bincount(first[test]).tolist() == pytest.approx([100, 10], abs=1)
    assert not len(extreme.split_by_label(first, 0.0, 0)[1])
    sets = made(test_size=0.3, multilabel=True)
    assert sets.y.shape[0] + sets.y_test.shape[0] == 1200 and (sets.y.sum(axis=0) > 0).all()
    np.testing.assert_allclose(sp.linalg.norm(sets.X_test, axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_seed_is_a_data_set(multilabel: bool) -> None:
    first, same, other = (made(multilabel=multilabel, seed=s) for s in (3, 3, 4))
    assert abs(first.X - same.X).max() == 0 and abs(first.X - other.X).max() > 0
    assert (abs(first.y - same.y).max() if multilabel else np.abs(first.y - same.y).max()) == 0
    assert made(seed=3, dtype="float32").X.dtype == np.float32


def test_time_and_memory_follow_the_words_and_not_the_labels() -> None:
    """A full indicator would take 160 MB, full weights 640 MB."""
    tracemalloc.start()
    try:
        data = datasets.make_extreme(4000, 2000, 40_000, multilabel=True, length=20.0, words=4)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.y.shape == (data.n, 40_000) and data.m == 40_000 and peak < 60e6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 7}, "n is 7; allowed: a whole number of at least 8"),
        ({"d": 19.5}, "d is 19.5; allowed: a whole number of at least 20"),
        ({"m": 3}, "m is 3; allowed: a whole number of at least 4"),
        ({"m": True}, "m is True; allowed: a whole number"),
        ({"words": 300}, "words is 300; allowed: at most a quarter of the 900 words, 225"),
        ({"labels": 20.0}, "labels is 20.0; allowed: 1 to 15"),
        ({"multilabel": "yes"}, "multilabel is 'yes'; allowed: True"),
        ({"signal": 1.0}, "signal is 1.0; allowed: above 0 and below 1"),
        ({"signal": float("nan")}, "signal is nan"),
        ({"tail": -1.0}, "tail is -1.0; allowed: 0 to 3"),
        ({"noise": 2}, "noise is 2; allowed: 0 to 1"),
        ({"length": 0.5}, "length is 0.5; allowed: 1 to"),
        ({"n": 100_000_000}, "100000000 documents of 30 words would be more than 500,000,000 entries"),
        ({"m": 100_000_000}, "100000000 labels of 12 topical words would be more than"),
        ({"seed": -1}, "seed is -1"),
        ({"scale": "big"}, "scale is 'big'"),
    ],
)
def test_bad_arguments_are_refused_in_words(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(**changes)


def test_a_dataset_keeps_sparse_label_sets_sparse() -> None:
    Y = sp.csr_array(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]]))
    data = Dataset(name="few", title="Few", X=np.eye(3), y=Y, class_names=["a", "b", "c"])
    assert data.multilabel and sp.issparse(data.y) and data.y.dtype == np.uint8
    assert "1 labels a row" in repr(data) and ">1</td>" in data._repr_html_()
    with pytest.raises(ValueError, match="2 entries other than 0 and 1"):
        Dataset(name="few", title="Few", X=np.eye(3), y=2 * Y[:, [0, 1]], class_names=["a", "b"])
    with pytest.raises(ValueError, match=r"has shape \(3, 3\)"):
        Dataset(name="few", title="Few", X=np.eye(3), y=Y, class_names=["a", "b"])
