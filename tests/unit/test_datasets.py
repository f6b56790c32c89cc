"""The Dataset itself, the registered sets, scaling, splitting and the generator."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope.datasets as datasets
from sparsescope import registry
from sparsescope.datasets import bundled
from sparsescope.datasets.base import Dataset, encode_labels
from sparsescope.datasets.raw import split_label_sets, stratified_split
from sparsescope.datasets.scaling import SCALES, apply_scale, default_scale
from sparsescope.datasets.text import word_names

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
Y = np.array([0, 1, 0, 1])


def make(**changes):
    given = {"name": "tiny", "title": "Tiny", "X": X, "y": Y, "class_names": ["a", "b"]}
    return Dataset(**(given | changes))


# -- Dataset --------------------------------------------------------------------------------------------------------


def test_a_seed_without_effect_is_said() -> None:
    with pytest.warns(UserWarning, match="pydocs has its own test part, so seed=3 changes nothing"):
        assert datasets.load("pydocs", seed=3).own_split
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not datasets.load("digits", seed=3).own_split
        datasets.load("pydocs", seed=0, test_size=0.0)


def test_a_dataset_unpacks_and_names_its_sizes():
    data = make(X_test=X[:1], y_test=Y[:1], feature_names=["u", "v"])
    features, labels = data
    assert features is data.X and labels is data.y
    assert (data.n, data.d, data.m, data.nnz) == (4, 2, 2, 7)
    assert data.train[0] is data.X and data.test is not None and data.test[1].tolist() == [0]
    assert labels.dtype == np.int64
    assert make().test is None
    with pytest.raises(AttributeError):
        data.X = X  # frozen


def test_repr_and_html_say_the_shape_and_escape_names():
    data = make(class_names=["<b>", "c"])
    assert repr(data) == "Dataset('tiny': n 4 (no test part), d 2, m 2, dense float64, scaling none)"
    assert "&lt;b&gt;" in data._repr_html_() and "<td style='text-align:left'><b>" not in data._repr_html_()
    many = make(class_names=[f"k{i}" for i in range(100)])
    assert "and 70 more" in many._repr_html_()


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_matrix])
def test_sparse_input_becomes_canonical_csr_or_csc(kind):
    data = make(X=kind(X))
    assert data.X.format == ("csc" if kind is sp.csc_matrix else "csr")
    assert np.array_equal(data.X.toarray(), X)


def test_duplicate_entries_are_summed_without_touching_the_callers_matrix():
    twice = sp.csr_matrix((np.ones(3), [1, 1, 0], [0, 2, 3, 3, 3]), shape=(4, 2))
    data = make(X=twice)
    assert data.X[0, 1] == 2.0 and data.X.nnz == 2 and twice.nnz == 3


def test_integers_become_float64_and_float32_stays():
    assert make(X=X.astype(np.uint8)).X.dtype == np.float64
    assert make(X=X.astype(np.float32)).X.dtype == np.float32


def spoilt(value):
    bad = X.copy()
    bad[2, 1] = value
    return bad


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": spoilt(np.nan)}, r"1 value\(s\) that are NaN or infinite, the first in row 2, column 1"),
        ({"X": spoilt(np.inf), "feature_names": ["u", "v"]}, r"row 2, column 1 \(v\)"),
        ({"X": sp.csr_matrix(spoilt(np.nan))}, "row 2, column 1"),
        ({"X": X[:0], "y": Y[:0]}, r"is empty: shape \(0, 2\)"),
        ({"X": X[:, :0]}, r"is empty: shape \(4, 0\)"),
        ({"X": X[0]}, "one row an example"),
        ({"X": X.astype(str)}, "allowed: real numbers"),
        ({"X": X.astype(complex)}, "allowed: real numbers"),
        ({"y": Y[:3]}, "3 labels for 4 rows"),
        ({"y": np.zeros(4, int)}, "one class only"),
        ({"y": np.array([0, 1, 2, 1])}, "allowed with 2 class names: 0 to 1"),
        ({"y": np.array([0, -1, 1, 1])}, "labels from -1 to 1"),
        ({"y": Y[:, None]}, r"shape \(4, 1\); label sets of 4 rows of X with 2 names need \(4, 2\)"),
        ({"y": np.zeros((4, 2), int)}, "all label sets of y are empty or full"),
        ({"y": np.full((4, 2), 2)}, "8 entries other than 0 and 1"),
        ({"y": np.zeros((4, 2, 1))}, "one label a row"),
        ({"y": Y.astype(float)}, "class numbers 0 to m-1"),
        ({"X_test": X}, "X_test and y_test must be given together"),
        ({"X_test": X[:, :1], "y_test": Y}, "X has 2 columns but X_test has 1"),
        ({"feature_names": ["u"]}, "1 feature names for 2 columns"),
        ({"image_shape": (3, 3)}, "needs 9 columns, X has 2"),
    ],
)
def test_bad_parts_are_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        make(**changes)


# -- labels ---------------------------------------------------------------------------------------------------------


def test_labels_of_any_kind_are_numbered_in_order():
    y, y_test, names = encode_labels(["pear", "fig", "pear"], ["apple"])
    assert (y.tolist(), y_test.tolist(), names) == ([2, 1, 2], [0], ["apple", "fig", "pear"])
    y, _, names = encode_labels(np.array([10.0, -1.0, 2.0]))
    assert (y.tolist(), names) == ([2, 0, 1], ["-1", "2", "10"])
    assert encode_labels([True, False])[2] == ["False", "True"]
    assert encode_labels(np.array([b"x", b"y"]))[2] == ["x", "y"]
    assert encode_labels([[1], [0]], class_names=["no", "yes"])[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0.5, 1.0], "regression target"),
        ([1.0, np.nan], "missing or infinite"),
        (["a", None], "1 missing"),
        ([1, 1], "one class only"),
        ([], "empty"),
        (np.zeros((3, 2, 2)), "one class label a sample is needed"),
        (2 * sp.eye(3), "other than 0 and 1"),
        ([{1}, {1}], r"1 label\(s\) only"),
        ([1 + 1j, 2], "whole numbers or text"),
    ],
)
def test_bad_labels_are_refused_in_words(y, words):
    with pytest.raises(ValueError, match=words):
        encode_labels(y)


def test_label_kinds_and_names_must_agree():
    with pytest.raises(ValueError, match="text in one part and numbers in the other"):
        encode_labels(["a", "b"], [0])
    with pytest.raises(ValueError, match="3 class names for 2 different labels"):
        encode_labels(["a", "b"], class_names=["x", "y", "z"])


# -- split and scaling ----------------------------------------------------------------------------------------------


def test_the_split_is_stratified_seeded_and_keeps_every_class_in_training():
    y = np.repeat([0, 1, 2, 3], [40, 20, 3, 1])
    train, test = stratified_split(y, 0.25, 0)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(64)) and len(test) == 16
    assert np.bincount(y[test], minlength=4).tolist() == [10, 5, 1, 0]
    assert np.array_equal(test, stratified_split(y, 0.25, 0)[1])
    assert not np.array_equal(test, stratified_split(y, 0.25, 1)[1])
    assert set(y[stratified_split(y, 0.99, 0)[0]]) == {0, 1, 2, 3}


def test_the_split_of_label_sets_is_stratified_seeded_and_keeps_every_label_in_training():
    rng = np.random.default_rng(0)
    sets = (rng.random((200, 8)) < [0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.0]).astype(np.uint8)
    sets[:, 7] = np.arange(200) == 17
    train, test = split_label_sets(sets, 0.25, 0)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(200)) and abs(len(test) - 50) <= 3
    assert sets[train].any(axis=0).all()
    shares = sets[test].sum(axis=0) / sets.sum(axis=0)
    assert np.abs(shares[:5] - 0.25).max() < 0.06, "frequent labels keep their share"
    assert abs(np.mean(~sets[test].any(axis=1)) - np.mean(~sets.any(axis=1))) < 0.05
    assert np.array_equal(test, split_label_sets(sets, 0.25, 0)[1])
    assert not np.array_equal(test, split_label_sets(sets, 0.25, 1)[1])
    assert not len(split_label_sets(sets, 0.0, 0)[1])
    assert sets[split_label_sets(sets, 0.99, 0)[0]].any(axis=0).all()


def test_a_dataset_of_label_sets_says_so():
    sets = np.array([[1, 0], [0, 0], [1, 1], [0, 1]])
    data = make(y=sets, X_test=X[:2], y_test=sets[:2])
    assert data.multilabel and not make().multilabel and data.m == 2
    assert repr(data) == "Dataset('tiny': n 4 (2 for test), d 2, m 2, 1 labels a row, dense float64, scaling none)"
    assert "<th>label</th>" in data._repr_html_() and ">2</td>" in data._repr_html_()
    own = datasets.from_arrays(X, [{"x"}, set(), {"x", "y"}, {"y"}], test_size=0.25)
    assert own.class_names == ["x", "y"] and own.y.shape == (3, 2) and own.y_test.shape == (1, 2)


@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("scale", SCALES)
def test_scaling_follows_its_formula_and_uses_training_statistics(scale, storage):
    train, test = np.array([[1.0, 0, 4], [3, 0, 2], [2, 0, 0]]), np.array([[2.0, 5, 8]])
    if scale == "standard" and storage is not np.array:
        with pytest.raises(ValueError, match="would fill the sparse matrix"):
            apply_scale(scale, storage(train), None, False, np.float64)
        return
    A, B = apply_scale(scale, storage(train), storage(test), False, np.float64)
    A, B = (part.toarray() if sp.issparse(part) else part for part in (A, B))
    if scale == "none":
        expected = train, test
    elif scale == "standard":
        deviation = np.where(train.std(axis=0) > 0, train.std(axis=0), 1)
        expected = (train - train.mean(axis=0)) / deviation, (test - train.mean(axis=0)) / deviation
    elif scale == "max":
        expected = train / [3, 1, 4], test / [3, 1, 4]
    else:
        idf = np.ones(3) if scale == "unit-rows" else np.log(4 / (1 + np.array([3, 0, 2]))) + 1
        expected = []
        for part in (train, test):
            weight = np.where(part > 0, 1 + np.log(np.maximum(part, 1)), 0) if scale == "log-tfidf" else part
            expected.append(weight * idf / np.linalg.norm(weight * idf, axis=1, keepdims=True))
    np.testing.assert_allclose(A, expected[0], rtol=1e-14)
    np.testing.assert_allclose(B, expected[1], rtol=1e-14)


def test_images_share_one_divisor_and_empty_rows_stay_empty():
    A, _ = apply_scale("max", np.array([[1.0, 10.0], [2.0, 0.0]]), None, True, np.float64)
    assert A.tolist() == [[0.1, 1.0], [0.2, 0.0]]
    A, _ = apply_scale("unit-rows", sp.csr_matrix([[0.0, 0], [3, 4]]), None, False, np.float64)
    np.testing.assert_allclose(A.toarray(), [[0, 0], [0.6, 0.8]])


def test_scalings_that_do_not_suit_the_values_are_refused():
    with pytest.raises(ValueError, match="'tfidf' needs values that are not negative; the smallest value here is -1"):
        apply_scale("tfidf", -np.eye(2), None, False, np.float64)
    with pytest.raises(ValueError, match="at least 1"):
        apply_scale("log-tfidf", sp.csr_matrix(np.eye(2) / 2), None, False, np.float64)
    with pytest.raises(ValueError, match="allowed: None, 'none'"):
        apply_scale("minmax", np.eye(2), None, False, np.float64)


@pytest.mark.parametrize(
    ("values", "image", "expected"),
    [
        (np.array([[0.0, 1.0]]), False, "none"),
        (np.array([[0.0, 255.0]]), True, "max"),
        (np.array([[0.0, 1.5]]), False, "standard"),
        (sp.csr_matrix([[0.0, 3.0]]), False, "log-tfidf"),
        (sp.csr_matrix([[0.0, 3.5]]), False, "max"),
        (sp.csr_matrix([[0.0, -3.0]]), False, "max"),
        (sp.csr_matrix((1, 2)), False, "none"),
    ],
)
def test_the_default_scaling_follows_the_documented_rule(values, image, expected):
    assert default_scale(values, image) == expected


# -- arrays ---------------------------------------------------------------------------------------------------------


def test_from_arrays_takes_lists_tables_and_leaves_the_callers_arrays_alone():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"height": [1.0, 2, 3, 4], "width": [4, 3, 2, 1]})
    data = datasets.from_arrays(table, pd.Series(["a", "b", "a", "b"]), test_size=0.5)
    assert data.feature_names == ["height", "width"] and data.class_names == ["a", "b"] and len(data.y_test) == 2
    before = X.copy()
    data = datasets.from_arrays(X, Y, scale="standard")
    assert np.array_equal(X, before) and abs(data.X.mean()) < 1e-15
    assert datasets.from_arrays(X.tolist(), Y.tolist()).d == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test_size": 1.0}, "test_size is 1.0; allowed: a share from 0"),
        ({"test_size": "a"}, "test_size is 'a'"),
        ({"seed": -1}, "seed is -1; allowed"),
        ({"seed": 1.5}, "seed is 1.5; allowed"),
        ({"scale": "log"}, "scale is 'log'; allowed"),
        ({"dtype": "int8"}, "dtype is 'int8'; allowed: 'float32', 'float64'"),
    ],
)
def test_bad_options_are_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        datasets.load("iris", **changes)
    with pytest.raises(ValueError, match=words):
        datasets.make_text(20, 20, 2, **changes)


def test_from_arrays_refuses_mismatches():
    with pytest.raises(ValueError, match="3 labels for 4 rows"):
        datasets.from_arrays(X, Y[:3])
    with pytest.raises(ValueError, match="must be given together"):
        datasets.from_arrays(X, Y, X_test=X)
    with pytest.raises(ValueError, match="real numbers"):
        datasets.from_arrays([["a", "b"]] * 4, Y)


# -- registered sets ------------------------------------------------------------------------------------------------

SIZES = {
    "digits": (1797, 64, 10), "iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2),
    "planted-text": (4000, 8000, 12), "planted-tags": (3000, 4000, 20),
    "planted-extreme": (6000, 6000, 2000), "planted-extreme-tags": (6000, 6000, 2000),
}  # fmt: skip


@pytest.mark.parametrize("name", registry.datasets.names())
def test_every_registered_set_loads_with_names_and_a_test_part(name):
    data = datasets.load(name)
    assert data.name == name and data.title and data.description and data.source and data.licence
    assert data.test is not None and len(data.feature_names) == data.d and len(data.class_names) == data.m
    assert data.y.shape == ((data.n, data.m) if data.multilabel else (data.n,))
    assert data.y.any(axis=0).all() if data.multilabel else set(np.unique(data.y)) == set(range(data.m))
    assert data.X.dtype == np.float64
    if name in SIZES:
        assert (data.n + len(data.y_test), data.d, data.m) == SIZES[name]
    again = datasets.load(name)
    assert np.array_equal(again.y, data.y) and abs(again.X - data.X).max() == 0
    assert datasets.load(name, dtype="float32").X.dtype == np.float32


def test_digits_are_images_with_pixels_up_to_one():
    data = datasets.load("digits")
    assert data.image_shape == (8, 8) and data.X.max() == 1.0 and data.feature_names[9] == "pixel 1,1"
    assert datasets.load("digits", scale="none").X.max() == 16.0


@pytest.mark.parametrize("found", [True, False], ids=["the table", "the loader"])
def test_digits_are_scikit_learns_wherever_it_keeps_them(found, monkeypatch, tmp_path):
    from sklearn.datasets import load_digits

    known = load_digits()
    if not found:
        elsewhere = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda name: elsewhere)
    X, y = bundled._digits()
    assert np.array_equal(X, known.data) and np.array_equal(y, known.target) and y.dtype.kind == "i"


@pytest.mark.parametrize("found", [True, False], ids=["the table", "the loader"])
@pytest.mark.parametrize("name", list(bundled.TABLES))
def test_tables_are_scikit_learns_wherever_it_keeps_them(name, found, monkeypatch, tmp_path):
    import sklearn.datasets

    known = getattr(sklearn.datasets, f"load_{name}")()
    if not found:
        elsewhere = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda name: elsewhere)
    X, y, classes, features = bundled._measured(name)
    assert np.array_equal(X, known.data) and np.array_equal(y, known.target) and y.dtype.kind == "i"
    assert classes == list(known.target_names) and features == list(known.feature_names)


def test_a_table_of_another_shape_is_left_to_the_loader(monkeypatch, tmp_path):
    (tmp_path / "datasets" / "data").mkdir(parents=True)
    (tmp_path / "datasets" / "data" / "iris.csv").write_text("2,3,a,b\n1,2,3,0\n4,5,6,1\n")
    elsewhere = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(bundled.importlib.util, "find_spec", lambda name: elsewhere)
    assert bundled._measured("iris")[0].shape == (150, 4)


def test_tables_are_standardised_by_training_statistics():
    data = datasets.load("wine")
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1, rtol=1e-12)
    assert abs(data.X_test.mean()) > 1e-6
    assert datasets.load("wine", test_size=0).test is None


def test_importing_the_package_loads_neither_scikit_learn_nor_pandas():
    code = (
        "import sys; from sparsescope.datasets import load; "
        "[load(name) for name in ('digits', 'iris', 'wine', 'breast_cancer')]; "
        "print(*(m for m in ('sklearn', 'pandas', 'plotly') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_names_and_describe_agree(monkeypatch):
    monkeypatch.delenv("SPARSESCOPE_DATA", raising=False)
    assert datasets.names() == registry.datasets.names() == [line.name for line in datasets.describe()]
    assert "pydocs" in repr(datasets.describe()) and "<table>" in datasets.describe()._repr_html_()


# -- generated text -------------------------------------------------------------------------------------------------


def test_generated_text_is_sparse_unit_rows_with_a_planted_truth():
    data = datasets.make_text(400, 1000, 5, informative=40, seed=3)
    assert sp.isspmatrix_csr(data.X) and (data.n, len(data.y_test), data.d, data.m) == (300, 100, 1000, 5)
    np.testing.assert_allclose(sp.linalg.norm(data.X, axis=1), 1, rtol=1e-12)
    W = data.truth.weights(data.d)
    assert W.shape == (1000, 5) and np.array_equal(np.flatnonzero(W.any(axis=1)), data.truth.rows)
    assert len(data.truth.rows) == 40
    same = datasets.make_text(400, 1000, 5, informative=40, seed=3)
    assert abs(same.X - data.X).max() == 0 and np.array_equal(same.truth.values, data.truth.values)
    assert not np.array_equal(datasets.make_text(400, 1000, 5, informative=40, seed=4).truth.rows, data.truth.rows)


def test_the_planted_weights_classify_the_generated_counts():
    data = datasets.make_text(600, 2000, 6, noise=0.0, scale="none", test_size=0)
    scores = data.X @ data.truth.weights(data.d)
    assert np.mean(np.asarray(scores).argmax(axis=1) == data.y) > 0.9
    noisy = datasets.make_text(600, 2000, 6, noise=0.5, scale="none", test_size=0)
    scores = noisy.X @ noisy.truth.weights(noisy.d)
    assert 0.3 < np.mean(np.asarray(scores).argmax(axis=1) == noisy.y) < 0.65


def test_density_is_met_on_average():
    for wanted in (0.01, 0.2):
        data = datasets.make_text(300, 1000, 4, density=wanted, test_size=0)
        assert data.nnz / (data.n * data.d) == pytest.approx(wanted, rel=0.1)


def test_generated_tags_are_label_sets_with_a_planted_truth():
    data = datasets.make_multilabel_text(800, 1000, 7, informative=40, seed=3, labels=2.0)
    assert data.multilabel and data.y.shape == (600, 7) and data.y.dtype == data.y_test.dtype == np.uint8
    assert sp.isspmatrix_csr(data.X) and len(data.truth.rows) == 40 and data.class_names[0] == "tag 1"
    whole = np.vstack([data.y, data.y_test]).astype(int)
    sizes = whole.sum(axis=1)
    assert sizes[sizes > 0].mean() == pytest.approx(2.0, rel=0.1) and 0 < np.mean(sizes == 0) < 0.06
    assert sizes.max() < 7 and (np.diff(whole.sum(axis=0)) < 0).all(), "tags are unequal, the first the most frequent"
    together = np.corrcoef(whole.T)
    assert together[0, 1] > 0.1 > together[0, 2], "0 and 1 favour each other"
    same = datasets.make_multilabel_text(800, 1000, 7, informative=40, seed=3, labels=2.0)
    assert abs(same.X - data.X).max() == 0 and np.array_equal(same.y, data.y)


def test_the_planted_weights_rank_the_generated_tags():
    from sparsescope.problems.metrics import set_measures

    data = datasets.make_multilabel_text(600, 2000, 6, noise=0.0, scale="none", test_size=0)
    scores = np.asarray(data.X @ data.truth.weights(data.d))
    assert set_measures(scores, data.y, 0.0).ranking_loss < 0.12
    assert set_measures(np.random.default_rng(0).permutation(scores), data.y, 0.0).ranking_loss > 0.3


def test_impossible_numbers_of_labels_are_refused_in_words():
    for labels in (0.5, 4.0, "many"):
        with pytest.raises(ValueError, match=r"labels is .*; allowed: 1 to 3\.5, half of the 7 labels"):
            datasets.make_multilabel_text(100, 200, 7, labels=labels)
    with pytest.raises(ValueError, match="noise is 2"):
        datasets.make_multilabel_text(noise=2)


def test_word_names_are_different_and_readable():
    names = word_names(5000)
    assert len(set(names)) == 5000 and all(name.isalpha() and len(name) in (4, 6) for name in names)


def test_a_large_text_problem_never_becomes_a_dense_matrix():
    tracemalloc.start()
    try:
        data = datasets.make_text(5000, 40_000, 20, test_size=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.nnz < 5000 * 100 and peak < 40e6  # a dense matrix would need 1.6 GB


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 3}, "n is 3; allowed: a whole number of at least 8"),
        ({"d": 2.5}, "d is 2.5"),
        ({"m": 1}, "m is 1; allowed: a whole number of at least 2"),
        ({"informative": 30}, "at most half of the 40 words, 20"),
        ({"informative": 0}, "informative is 0"),
        ({"density": 0.9}, "density is 0.9; allowed: above 0 to 0.5"),
        ({"density": 0}, "density is 0; allowed"),
        ({"length": 0.5}, "length is 0.5; allowed: at least 1"),
        ({"noise": 2}, "noise is 2; allowed: 0 to 1"),
        ({"signal": np.nan}, "signal is nan"),
        ({"n": 10**9}, "lower n, length or density"),
    ],
)
def test_bad_arguments_of_the_generator_are_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        datasets.make_text(**({"n": 100, "d": 40, "m": 4} | changes))
