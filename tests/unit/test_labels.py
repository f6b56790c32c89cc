"""Label sets at the door: every form in which people have them, and the sentences that refuse others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs.labels import check_labels, holds_sets, read_sets

Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
X = np.arange(8.0).reshape(4, 2)
SETS = [{0, 2}, set(), {1}, {0, 1, 2}]


def problem(y: Any, **given: Any) -> ss.Problem:
    return ss.Problem(X, y, **given)


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.astype(bool),
        Y.astype(float),
        Y.astype(np.float32),
        Y.astype(np.uint8),
        Y.tolist(),
        np.asfortranarray(Y),
        sp.csr_matrix(Y),
        sp.csc_array(Y.astype(float)),
        sp.coo_array(Y.astype(bool)),
        sp.lil_matrix(Y),
        SETS,
        [frozenset(s) for s in SETS],
        [sorted(s) for s in SETS],
        tuple(tuple(s) for s in SETS),
        [np.array(sorted(s), dtype=int) for s in SETS],
        np.array(SETS, dtype=object),
        [{0.0, 2.0}, *SETS[1:]],
        [{0, 2}, [], (1,), {0, 1, 2}],
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_of_label_sets_is_understood(y: Any) -> None:
    made = problem(y)
    assert made.multilabel and made.m == 3 and made.class_names == ["0", "1", "2"]
    assert made.y.dtype == np.uint8 and made.y.flags.c_contiguous and made.y.flags.writeable
    np.testing.assert_array_equal(made.y, Y)
    np.testing.assert_array_equal(made.encode(y), Y)
    np.testing.assert_array_equal(made.class_shares, [0.5, 0.5, 0.5])


def test_what_was_given_is_not_changed_or_kept() -> None:
    given = Y.astype(np.uint8)
    made = problem(given)
    made.y[0] = 0
    np.testing.assert_array_equal(given, Y)


def test_label_sets_of_words_and_of_other_numbers_are_numbered_in_order() -> None:
    words = [["sport", "art"], [], ["politics"], ["art", "politics", "sport"]]
    made = problem(words)
    assert made.class_names == ["art", "politics", "sport"]
    np.testing.assert_array_equal(made.y, [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(made.encode([{"art"}, set()]), [[1, 0, 0], [0, 0, 0]])
    numbers = problem([{7, 3}, set(), {5}, {3, 5, 7}])
    assert numbers.class_names == ["3", "5", "7"]
    np.testing.assert_array_equal(numbers.encode([[5, 7], [3]]), [[0, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(numbers.encode([{"5"}]), [[0, 1, 0]])


def test_names_may_be_given_and_then_be_used() -> None:
    made = problem(SETS, class_names=["a", "b", "c", "d"])
    assert made.m == 4 and made.class_names == ["a", "b", "c", "d"] and not made.y[:, 3].any()
    named = problem([{"c", "a"}, [], ["b"], ["a"]], class_names=["a", "b", "c"])
    np.testing.assert_array_equal(named.y, [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(made.encode([{"d"}, {0}]), [[0, 0, 0, 1], [1, 0, 0, 0]])
    assert problem(Y, class_names="xyz").class_names == ["x", "y", "z"]


def test_columns_of_a_data_frame_name_the_labels() -> None:
    pandas = pytest.importorskip("pandas")
    made = problem(pandas.DataFrame(Y, columns=["red", "green", "blue"]))
    assert made.multilabel and made.class_names == ["red", "green", "blue"]
    made = problem(pandas.Series(SETS))
    np.testing.assert_array_equal(made.y, Y)
    assert not ss.Problem(X, pandas.DataFrame({"y": [0, 1, 0, 1]})).multilabel


def test_one_label_a_sample_stays_a_class() -> None:
    for y in ([0, 1, 0, 1], [[0], [1], [0], [1]], np.array([[0, 1, 0, 1]]), ["a", "b", "a", "b"]):
        assert not problem(y).multilabel
    assert not holds_sets(["ab", "cd"]) and not holds_sets(np.zeros(3)) and not holds_sets(3)
    # one sample only: a row is its label set
    assert holds_sets([[0, 1, 1]], 1) and not holds_sets([[0, 1, 1]], 3)
    assert ss.Problem(X[:1], [[0, 1, 1]]).multilabel


def test_a_problem_with_label_sets_takes_the_loss_for_them_if_none_is_named() -> None:
    assert problem(Y).loss == ss.losses.LabelRankingSquaredHinge()
    assert problem([0, 1, 0, 1]).loss == ss.losses.MulticlassSquaredHinge()
    assert problem(Y, loss="multitask-squared-hinge").loss == ss.losses.MultitaskSquaredHinge()


def test_parts_of_a_data_set_share_their_labels() -> None:
    (train, test), names, values = read_sets([[{"a"}, {"b"}], [{"c"}, set()]])
    assert names == ["a", "b", "c"] and values is not None
    np.testing.assert_array_equal(train, [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(test, [[0, 0, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match="indicator matrix in one part and lists of labels in the other"):
        read_sets([Y, SETS])
    with pytest.raises(ValueError, match="3 columns in one part and 2 in the other"):
        read_sets([Y, Y[:, :2]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (2 * Y, "6 entries other than 0 and 1, the first, 2, at sample 0, label 0"),
        (np.where(Y == 1, 0.5, 0), "0.5, at sample 0, label 0"),
        (np.where(Y == 1, np.nan, 0), "nan, at sample 0"),
        (sp.csr_array(-Y), "the first, -1, at sample 0, label 0"),
        (sp.coo_array((np.ones(2), ([1, 1], [2, 2])), shape=(4, 3)), "the first, 2, at sample 1, label 2"),
        ([[0, 5], [1, 2], [3, 4], [2, 2]], "the first, 5, at sample 0, label 1.*lists of labels: give sets"),
        (Y[:3], "3 label sets, X has 4 samples"),
        (sp.csr_array(np.vstack([Y, Y])), "8 label sets, X has 4"),
        (SETS[:2] + SETS, "6 label sets, X has 4"),
        (sp.csr_array(Y[:, :1]), r"1 label\(s\) only; at least two"),
        ([{0}, set(), {0}, {0}], r"1 label\(s\) only"),
        ([set(), set(), set(), set()], r"0 label\(s\) only"),
        (np.zeros((4, 3)), "empty or full"),
        (np.ones((4, 3)), "empty or full"),
        (np.array([[1, 1], [0, 0], [1, 1], [0, 0]]), "empty or full"),
        ([{0, 2}, None, {1}, set()], "sample 1 has None"),
        ([{0, 2}, 1, {1}, set()], "sample 1 has 1"),
        ([{0, None}, {1}, {2}, {1}], "sample 0 has the label None"),
        ([{0.5}, {1}, {2}, {1}], "label 0.5"),
        ([{float("nan")}, {1}, {2}, {1}], "label nan"),
        ([{(1, 2)}, {1}, {2}, {1}], "sample 0 has the label"),
        ([{"a", 1}, {1}, {2}, {1}], "different kinds"),
        (Y.astype(complex), "complex128 values"),
        (np.zeros((4, 3, 2)), "shape"),
    ],
)
def test_bad_label_sets_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(y)


@pytest.mark.parametrize(
    ("y", "names", "message"),
    [
        (SETS, ["a", "b"], "label 2 of sample 0 is none of the labels; known: a, b, 0, 1"),
        ([{"x"}, {"a"}, set(), {"b"}], ["a", "b"], "label 'x' of sample 0 is none"),
        ([{-1}, {1}, set(), {1}], ["a", "b"], "label -1 of sample 0"),
        (Y, ["a", "b"], "2 class names for the 3 columns"),
        (Y, ["a"], "1 class names"),
        (SETS, ["a"], "label 2 of sample 0 is none"),
        ([{0}, set(), {0}, set()], ["a"], r"1 label\(s\) only"),
    ],
)
def test_labels_outside_the_named_ones_are_refused(y: Any, names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(y, class_names=names)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:, :2], "2 columns, the problem 3 labels"),
        ([{5}], "label 5 of sample 0 is none"),
        ([0, 1, 1], "label sets are needed"),
        (["a", "b"], "label sets are needed"),
        (3, "label sets are needed"),
        (2 * Y, "other than 0 and 1"),
    ],
)
def test_held_out_label_sets_have_to_fit(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(Y).encode(y)


def test_held_out_lists_of_equal_length_are_lists_unless_they_are_as_wide_as_the_problem() -> None:
    made = problem(Y)
    np.testing.assert_array_equal(made.encode([[0], [2]]), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(made.encode([[0, 1], [1, 2]]), [[1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(made.encode([[0, 1, 1]]), [[0, 1, 1]])


def test_losses_and_targets_that_do_not_fit_are_named() -> None:
    for loss in ("multiclass-squared-hinge", "logistic", "crammer-singer"):
        with pytest.raises(ValueError, match=r"one class a sample, and y has label sets; losses that fit: .*label-r"):
            problem(Y, loss=loss)


def test_a_threshold_belongs_to_label_sets() -> None:
    with pytest.raises(ValueError, match="one class a sample"):
        problem([0, 1, 0, 1]).threshold(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="k is 4; allowed: 1 to 3"):
        problem(Y).rank(np.zeros((2, 3)), k=4)


def test_test_data_have_to_fit_too() -> None:
    made = problem(Y).with_lam(0.1)
    with pytest.raises(ValueError, match="test y has 3 label sets, test X has 4"):
        ss.Run(made, test=(X, Y[:3]))


def test_check_labels_says_what_the_labels_were() -> None:
    assert check_labels(SETS, 4)[2] is None
    found, names, values = check_labels([{2}, {4}, set(), {2, 4}], 4)
    assert names == ["2", "4"] and values is not None and values.tolist() == [2, 4] and found.shape == (4, 2)
