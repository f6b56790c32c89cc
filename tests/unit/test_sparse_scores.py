"""Scores, best labels and hinges under a sparse W, with a list of labels and with all scores, beside plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs.design import Design
from sparsescope.kernels.label_search import ALL, scratch
from sparsescope.kernels.sparse_scores import best_labels, csr_parts, hinge_sum
from sparsescope.solvers.shared import sparse_state

N, D, M = 40, 30, 200


def given(density: float) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
    """X (N, D), W (D, M) with values that are exact in binary, so that sums in any order are equal and ties occur."""
    rng = np.random.default_rng(0)
    X = sp.random_array((N, D), density=0.2, random_state=rng, format="csr", data_sampler=lambda size: np.ones(size))
    W = sp.random_array((D, M), density=density, random_state=rng, format="csr")
    W.data = np.round(4.0 * W.data) / 4.0 - 0.5
    W.eliminate_zeros()
    return X, W, rng.integers(0, M, N)


@pytest.mark.parametrize("density", [0.002, 0.025, 0.3])
def test_best_labels_and_hinges_are_those_of_all_scores(density: float) -> None:
    X, W, y = given(density)
    Z = np.asarray((X @ W).todense())
    read = np.asarray(abs(X) @ np.diff(W.indptr)).ravel()
    assert (ALL * read > M).any() == (density > 0.002) and (ALL * read <= M).any() == (density < 0.3)
    samples, s, parts = Design(X).sparse_samples, scratch(M, 1, 0), csr_parts(W)
    labels, scores = np.empty((N, 5), np.int32), np.empty((N, 5))
    best_labels(samples, N, *parts, s, labels, scores)
    order = np.argsort(-Z, axis=1, kind="stable")[:, :5]  # of equal scores the lowest number first
    np.testing.assert_array_equal(labels, order)
    np.testing.assert_array_equal(scores, np.take_along_axis(Z, order, axis=1))
    own = Z[np.arange(N), y]
    others = Z.copy()
    others[np.arange(N), y] = -np.inf
    hinges = np.maximum(0.0, 1.0 + others.max(axis=1) - own)
    found = hinge_sum(samples, *parts, np.arange(N + 1), y.astype(np.int32), 1.0, 1e-9, np.ones(1), s, 0, N)
    assert found[0] == pytest.approx(hinges.sum()) and found[1] == (hinges > 1e-9).sum()
    assert found[2] == (order[:, 0] == y).sum()


def test_the_weights_are_prepared_once_for_all_pieces_of_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = given(0.1)
    y = np.random.default_rng(1).integers(0, 7, N)
    problem = ss.Problem(X, y, loss="crammer-singer", penalty="elastic-net", lam=0.01)
    run = ss.Run(problem, "pd-sparse", stop=ss.stopping.Iterations(3))
    for _ in run:
        pass
    whole = run.certificate().objective
    calls: list[Any] = []
    monkeypatch.setattr(sparse_state, "csr_parts", lambda W: calls.append(W) or csr_parts(W))
    monkeypatch.setattr(sparse_state, "SCANNED", 1)  # a piece for every sample
    assert run.state is not None
    run.state.moved()
    assert run.certificate().objective == pytest.approx(whole, rel=1e-12) and len(calls) == 1
