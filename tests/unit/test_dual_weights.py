"""Both layouts of the weights of a dual point: the same scores, the same sums, for full and for sparse samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs.columns import DenseColumns, SparseColumns
from sparsescope.kernels.dual_coordinates import face_slopes, face_weights, weights_of
from sparsescope.kernels.dual_weights import ByClass, ByFeature
from sparsescope.registry import solvers


def data(n: int = 40, d: int = 11, zeros: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < zeros] = 0.0
    return X, rng.integers(0, 7, n)


def both(X: np.ndarray, m: int) -> list[tuple[object, object]]:
    """Samples and weights of both layouts."""
    csr = sp.csr_array(X)
    full = DenseColumns(np.ascontiguousarray(X))  # type: ignore[call-arg]
    sparse = SparseColumns(csr.data, csr.indices, csr.indptr)  # type: ignore[call-arg]
    return [
        (full, ByClass(np.empty((m, X.shape[1])))),  # type: ignore[call-arg]
        (sparse, ByFeature(np.empty((X.shape[1], m)))),  # type: ignore[call-arg]
    ]


@pytest.mark.parametrize("m", [1, 2, 3, 7])
@pytest.mark.parametrize("d", [1, 4, 11])
def test_weights_are_those_of_the_dual_rows(m: int, d: int) -> None:
    X, y = data(d=d)
    y = y % m
    shares = np.random.default_rng(0).dirichlet(np.ones(m), len(y))
    expected = X.T @ (np.eye(m)[y] - shares)
    for samples, weights in both(X, m):
        weights_of(samples, y, np.ones(len(y)), shares, weights)
        V = weights.V.T if isinstance(weights, ByClass) else weights.V  # type: ignore[attr-defined]
        np.testing.assert_allclose(V, expected, atol=1e-12)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7])
def test_products_on_a_face_are_those_of_its_entries(most: int) -> None:
    X, _ = data()
    rng = np.random.default_rng(1)
    m, listed = 7, np.arange(0, len(X), 2)
    sizes = rng.integers(1, most + 1, listed.size)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    labels = np.concatenate([rng.permutation(m)[:size] for size in sizes]).astype(np.int32)
    D, own = rng.standard_normal(labels.size), rng.standard_normal(labels.size)
    at = np.repeat(listed, sizes)
    dense = np.zeros((len(X), m))
    np.add.at(dense, (at, labels), D)
    slopes = (X @ (X.T @ dense))[at, labels] + own
    slopes -= np.repeat(np.add.reduceat(slopes, starts[:-1]) / sizes, sizes)
    for samples, weights in both(X, m):
        face_weights(samples, listed, starts, labels, D, weights)
        S = np.empty(labels.size)
        face_slopes(samples, listed, starts, labels, weights, own, S)
        np.testing.assert_allclose(S, slopes, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("zeros", "layout"), [(0.0, ByClass), (0.5, ByClass), (0.95, ByFeature)])
def test_dense_data_are_held_by_what_they_hold(zeros: float, layout: object, dtype: type) -> None:
    X, y = data(200, 12, zeros)
    X[:, 0] += y
    found = []
    for given in (X.astype(dtype), sp.csr_array(X.astype(dtype))):
        problem = ss.Problem(given, y, loss="crammer-singer", penalty="ridge", lam=0.01)
        state = solvers.create("dual-cd").init(problem)
        assert state.layout is (ByFeature if problem.design.is_sparse else layout)  # type: ignore[attr-defined]
        result = ss.solve(problem, "dual-cd", tol=1e-4 if dtype is np.float32 else 1e-7)
        assert result.converged
        found.append(result.objective)
    assert found[0] == pytest.approx(found[1], rel=3e-4 if dtype is np.float32 else 3e-7)


def test_full_data_count_their_copy_by_rows() -> None:
    X, y = data(200, 12)
    problem = ss.Problem(np.asfortranarray(X), y, loss="crammer-singer", penalty="ridge", lam=0.01)
    before = problem.design.nbytes
    solvers.create("dual-cd").init(problem)
    held = problem.design.double_samples.XT
    assert problem.design.nbytes == before + (0 if np.shares_memory(held, problem.design.matrix) else held.nbytes)
