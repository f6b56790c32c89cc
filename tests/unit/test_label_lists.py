"""Label sets as lists, and everything that is said about sparse weights without an array of samples by labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import tags
from sparsescope.inputs.design import Design
from sparsescope.inputs.labels import LabelSets, fits_dense
from sparsescope.problems import metrics
from sparsescope.runs.stopping import HeldOut


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_array, lambda Y: Y.astype(bool)])
def test_lists_and_indicators_say_the_same(form: Any) -> None:
    Y = tags()[1]
    sets = LabelSets.of(form(Y))
    assert sets.shape == Y.shape and len(sets) == len(Y)
    np.testing.assert_array_equal(sets.indicator(), Y)
    np.testing.assert_array_equal(sets.sparse().toarray(), Y)
    np.testing.assert_array_equal(sets.partial, (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 5))
    np.testing.assert_allclose(sets.shares, Y.mean(axis=0))
    assert [sets.labels[a:b].tolist() for a, b in zip(sets.indptr[:-1], sets.indptr[1:], strict=True)] == [
        np.flatnonzero(row).tolist() for row in Y
    ]


def test_a_sparse_indicator_is_not_changed_and_may_hold_zeros_and_repeat_entries() -> None:
    given = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 2, 3])), shape=(2, 3))
    sets = LabelSets.of(given)
    assert sets.labels.tolist() == [2, 0] and sets.indptr.tolist() == [0, 1, 2]
    assert given.nnz == 3
    twice = sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 2])), shape=(2, 3))
    with pytest.raises(ValueError, match="1 entries other than 0 and 1, the first, 2, at sample 0, label 1"):
        ss.Problem(np.eye(2), twice)


def many(m: int = 100_000, n: int = 50_000) -> ss.Problem:
    """A problem whose dense indicator would take 5 GB."""
    rng = np.random.default_rng(0)
    X = sp.csr_array((np.ones(n), (np.arange(n), rng.integers(0, 50, n))), shape=(n, 50))
    Y = sp.csr_array((np.ones(n, dtype=np.uint8), (np.arange(n), rng.integers(0, m, n))), shape=(n, m))
    return ss.Problem(X, Y, loss="separation-ranking", penalty="elastic-net", lam=1e-3)


def test_more_labels_than_memory_are_kept_as_lists_and_refused_where_they_would_be_dense() -> None:
    problem = many()
    assert problem.multilabel and problem.m == 100_000 and problem.sets is not None
    assert problem.class_shares.sum() == pytest.approx(1.0)
    sparse = sp.csr_array((50, 100_000))
    for ask, what in (
        (lambda: problem.y, "the label sets"),
        (lambda: problem.lam_max, "scores"),
        (lambda: problem.scores(sparse), "scores"),
    ):
        with pytest.raises(ValueError, match=rf"{what} as a full array of 50000 × 100000 numbers would take .* GB"):
            ask()
    fits_dense("it", 10, 10, 8, "")
    assert problem.rank(sparse, k=2).tolist()[7] == [0, 1]
    assert problem.match(sp.csr_array((3, 100_000), dtype=np.uint8)).shape == (3, 100_000)


def weights(m: int, seed: int, sign: float = 0.0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    W = np.round(rng.standard_normal((40, m)) + sign) * (rng.random((40, m)) < 0.3)  # whole numbers: equal scores
    return sp.csr_array(W)


@pytest.mark.parametrize("sign", [0.0, -2.0, 2.0])
def test_measures_of_sparse_weights_are_those_of_all_scores(sign: float) -> None:
    matrix, Y = tags()
    matrix = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)  # exact sums
    design, sets, W = Design(matrix), LabelSets.of(Y), weights(5, 1, sign)
    Z = np.asarray(matrix @ W.toarray())
    cut = metrics.best_sparse_threshold(W, design, sets)
    assert cut == pytest.approx(metrics.best_threshold(Z, Y), abs=1e-9)
    for threshold in (cut, -0.05, 0.0, 0.4):
        found = metrics.sparse_set_measures(W, design, sets, threshold)
        np.testing.assert_allclose(found, metrics.set_measures(Z, Y, threshold), atol=1e-12)
        above = metrics.labels_over(W, design, threshold)
        assert above.dtype == np.uint8 and above.has_sorted_indices
        np.testing.assert_array_equal(above.toarray(), threshold < Z)


def test_predictions_of_label_sets_are_sparse_for_sparse_weights() -> None:
    matrix, Y = tags()
    problem = ss.Problem(matrix, Y, loss="separation-ranking", penalty="ridge")
    W = weights(5, 2)
    for X in (None, matrix[:7]):
        found = problem.predict(W, X=X)
        assert sp.issparse(found)
        np.testing.assert_array_equal(found.toarray(), problem.predict(W.toarray(), X=X))
    with pytest.raises(ValueError, match="one class a sample"):
        ss.Problem(matrix, np.arange(60) % 3).threshold_of(weights(3, 0))


def test_a_session_ends_by_the_rule_that_it_is_given() -> None:
    matrix, Y = tags()
    problem = ss.Problem(matrix, Y, loss="separation-ranking", penalty="ridge", lam=0.1)
    with ss.Session(problem, "fobos", test=(matrix[:20], Y[:20]), certify_every=1) as session:
        session.set_stop(HeldOut())
        session.play()
        assert session.wait_idle(120.0) and session.status().mode == "finished"
        assert "held-out precision at 1 not above" in session.status().message
        ended = len(session.trace)
        with session.fork() as other:
            assert other.run.stop is not session.run.stop and isinstance(other.run.stop, HeldOut)
        session.set_stop(None)
        session.step(3)
        assert session.wait_idle(120.0) and len(session.trace) == ended + 3
        with pytest.raises(TypeError, match="stop is 'gap'; a stop rule"):
            session.set_stop("gap")  # type: ignore[arg-type]
