"""The measures of label sets against scikit-learn, and the threshold against all thresholds there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, label_ranking_loss, top_k_accuracy_score

from helpers import interpreted
from sparsescope.kernels import ranks
from sparsescope.problems.metrics import accuracy, best_threshold, ranking, set_measures, watched


def case(seed: int, n: int = 40, m: int = 12, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, m)) < rng.random(m) ** 2).astype(np.uint8)
    Y[0], Y[1], Y[:, 3] = 0, 1, 0
    Z = rng.standard_normal((n, m)) + Y
    return (np.round(Z) if ties else Z), Y


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("threshold", [-10.0, 0.0, 0.7, 10.0])
def test_measures_are_those_of_scikit_learn(ties: bool, threshold: float) -> None:
    Z, Y = case(0, ties=ties)
    found = set_measures(Z, Y, threshold)
    P = (threshold < Z).astype(int)
    assert found.micro_f1 == pytest.approx(f1_score(Y, P, average="micro", zero_division=0))
    assert found.macro_f1 == pytest.approx(f1_score(Y, P, average="macro", zero_division=0))
    assert found.subset_accuracy == pytest.approx(accuracy_score(Y, P))
    assert found.hamming_loss == pytest.approx(hamming_loss(Y, P))
    assert found.ranking_loss == pytest.approx(label_ranking_loss(Y, Z))
    order = np.argsort(-Z, axis=1, kind="stable")
    for k, value in ((1, found.precision_at_1), (3, found.precision_at_3), (5, found.precision_at_5)):
        assert value == pytest.approx(np.take_along_axis(Y, order[:, :k], axis=1).mean())


def test_precision_at_one_of_single_labels_is_accuracy() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 6, 50)
    Z = rng.standard_normal((50, 6)) + 2 * np.eye(6)[y]
    found = set_measures(Z, np.eye(6, dtype=np.uint8)[y], 0.0)
    assert found.precision_at_1 == pytest.approx(accuracy(Z, y)) == pytest.approx(accuracy_score(y, Z.argmax(axis=1)))
    assert 3 * found.precision_at_3 == pytest.approx(top_k_accuracy_score(y, Z, k=3))


def test_measures_that_need_more_labels_than_there_are_are_not_known() -> None:
    Z, Y = case(2, m=4)
    found = set_measures(Z, Y, 0.0)
    assert np.isfinite(found.precision_at_3) and np.isnan(found.precision_at_5)
    for part, y in (("train", Y), ("test", Y)):
        assert set(watched(part, Z, y, 0.0)) == {
            f"{part}_{name}"
            for name in ("precision_at_1", "precision_at_3", "precision_at_5", "micro_f1", "macro_f1", "ranking_loss")
        }
    assert watched("test", Z, np.argmax(Y, axis=1), None) == {"test_accuracy": accuracy(Z, np.argmax(Y, axis=1))}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_threshold_is_nearly_the_best_there_is(dtype: Any) -> None:
    for seed in range(6):
        Z, Y = case(seed)
        Z = Z.astype(dtype)
        found = set_measures(Z, Y, best_threshold(Z, Y)).micro_f1
        every = [set_measures(Z, Y, float(t)).micro_f1 for t in np.append(np.unique(Z), -100.0)]
        assert max(every) - 0.003 <= found <= max(every) + 1e-12


def test_thresholds_of_odd_scores() -> None:
    Y = np.array([[1, 0, 0], [0, 1, 0]], dtype=np.uint8)
    apart = np.where(Y == 1, 3.0, 1.0)
    assert best_threshold(apart, Y) == pytest.approx(2.0), "nothing overlaps: the middle"
    equal = np.zeros((2, 3))
    assert set_measures(equal, Y, best_threshold(equal, Y)).micro_f1 == pytest.approx(0.5), "all are predicted"
    nobody, everybody = np.zeros_like(Y), np.ones_like(Y)
    assert not (best_threshold(apart, nobody) < apart).any() and (best_threshold(apart, everybody) < apart).all()
    huge = 1e300 * (Y - 0.5)
    assert np.isfinite(best_threshold(huge, Y))


def test_rankings_are_stable_and_cut() -> None:
    Z = np.array([[0.0, 2.0, 2.0, -1.0]])
    np.testing.assert_array_equal(ranking(Z), [[1, 2, 0, 3]])
    np.testing.assert_array_equal(ranking(Z, 2), [[1, 2]])
    for k in (0, 5, 1.5):
        with pytest.raises(ValueError, match="allowed: 1 to 4"):
            ranking(Z, k)  # type: ignore[arg-type]


def test_compiled_passes_do_what_the_interpreted_ones_do() -> None:
    Z, Y = case(3, n=9, m=7, ties=True)
    found = []
    for run in (lambda kernel: kernel, interpreted):
        sums, counts = np.empty(ranks.SUMS), np.empty((3, 7), dtype=np.int64)
        run(ranks.rank_sums)(Z, Y, 0.0, sums, counts)
        inside, outside = np.zeros(9, dtype=np.int64), np.zeros(9, dtype=np.int64)
        run(ranks.score_histogram)(Z, Y, -1.0, 0.25, inside, outside)
        found.append((sums, counts, inside, outside, run(ranks.score_range)(Z, Y)))
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(compiled, plain)
