"""Rows with spare room: against a dense array, through growth, tables, blocks that are used again, lacking room."""

from __future__ import annotations

import numpy as np
import pytest

from sparsescope.kernels import sparse_rows as sr


def contents(rows: sr.SparseRows, m: int) -> np.ndarray:
    """All entries as a dense array."""
    out = np.zeros((len(rows.head), m))
    for r, (start, size, _, _) in enumerate(rows.head):
        assert len(set(rows.labels[start : start + size])) == size, "a label stands twice"
        out[r, rows.labels[start : start + size]] = rows.values[start : start + size]
    return out


def check_front(rows: sr.SparseRows, threshold: float) -> None:
    """Check that entries above the threshold stand in front, and no others."""
    for start, size, front, bits in rows.head:
        if bits >= sr.ORDERED:
            assert threshold == 0.0 and size == front == rows.used[sr.WIDTH]
            assert rows.labels[start : start + size].tolist() == list(range(size))
            continue
        above = np.abs(rows.values[start : start + size]) > threshold
        assert above[:front].all() and not above[front:].any()


def fill(rows: sr.SparseRows, moves: tuple[np.ndarray, ...], threshold: float) -> sr.SparseRows:
    """Add entries, making the pool larger whenever it is full."""
    for r, label, value in zip(*moves, strict=True):
        while rows.used[0] + 2 * (rows.head[r, sr.SIZE] + 1) > rows.labels.size:
            rows = sr.grown(rows, rows.labels.size + 2)
        sr.add(rows, r, label, value, threshold)
    return rows


@pytest.mark.parametrize(("m", "threshold", "width"), [(6, 0.0, 0), (40, 0.5, 0), (3000, 0.3, 0), (40, 0.0, 40)])
def test_rows_hold_what_a_dense_array_holds(m: int, threshold: float, width: int) -> None:
    rng = np.random.default_rng(m)
    count, d = 4000, 7
    numbers = np.minimum(rng.geometric(0.4, count) - 1, d - 1)  # one row gets most, the last one little
    labels = rng.integers(0, m, count).astype(np.int32)
    values = rng.standard_normal(count) * (rng.random(count) < 0.9)
    rows, known = sr.empty_rows(d, 8), np.zeros((d, m))
    rows.used[sr.WIDTH] = width
    for part in np.array_split(np.arange(count), 7):
        rows = fill(rows, (numbers[part], labels[part], values[part]), threshold)
        np.add.at(known, (numbers[part], labels[part]), values[part])
        np.testing.assert_allclose(contents(rows, m), known, atol=1e-12)
        check_front(rows, threshold)
    assert (rows.head[:, sr.BITS] >= sr.ORDERED).any() == (width > 0), "long rows stand by label"
    assert rows.used[0] <= 4 * (rows.head[:, sr.SIZE].sum() + 2 * d), "blocks that rows left are not used again"
    twin = sr.copied(rows)
    fill(twin, (numbers[:5], labels[:5], values[:5]), threshold)
    np.testing.assert_allclose(contents(rows, m), known, atol=1e-12, err_msg="a copy shares its arrays")


@pytest.mark.parametrize(("parts", "threshold", "width"), [(3, 0.4, 0), (1, 0.0, 9)])
def test_the_front_is_the_soft_threshold_as_a_sparse_matrix(parts: int, threshold: float, width: int) -> None:
    rng = np.random.default_rng(0)
    d, m = 5, 9
    V = rng.standard_normal((d, m)) * (rng.random((d, m)) < np.linspace(0.2, 1.0, d)[:, None])
    j, k = np.nonzero(V)
    rows = sr.empty_rows(d * parts, 64)
    rows.used[sr.WIDTH] = width
    rows = fill(rows, (j * parts + k % parts, k.astype(np.int32), V[j, k]), threshold)
    by_label = rows.head[:, sr.BITS] >= sr.ORDERED
    assert by_label.any() == (width > 0) and not by_label.all(), "short rows do not stand by label"
    indptr, indices, data = sr.front(rows, parts, threshold)
    assert (data != 0.0).all()
    W = np.zeros((d, m))
    W[np.repeat(np.arange(d), np.diff(indptr)), indices] = data
    np.testing.assert_allclose(W, np.sign(V) * np.maximum(np.abs(V) - threshold, 0), atol=1e-15)


def test_a_pool_that_cannot_be_had_is_refused_in_words() -> None:
    with pytest.raises(MemoryError, match=r"more than 2\^30; choose a smaller C or a larger λ₄"):
        sr.grown(sr.empty_rows(2, 16), 2**31)
