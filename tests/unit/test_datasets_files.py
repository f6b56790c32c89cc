"""Data sets in files: npz, CSV, svmlight, and how names are found."""

from __future__ import annotations

import bz2
import gzip
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope.datasets as datasets
from sparsescope.datasets import files
from sparsescope.datasets.samples import read_samples
from sparsescope.registry import UnknownName, app_pages
from waiting import until

RNG = np.random.default_rng(0)
X = RNG.random((12, 4))
Y = np.arange(12) % 3


def csr_parts(matrix, key):
    matrix = sp.csr_matrix(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(matrix.shape)}
    return {f"{key}_{part}": value for part, value in parts.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSESCOPE_DATA", str(tmp_path))
    return tmp_path


# -- npz ------------------------------------------------------------------------------------------------------------


def test_dense_npz_with_test_part_and_names(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X_train=X, y_train=Y.astype(np.uint8), X_test=X[:2], y_test=Y[:2], class_names=["a", "b", "c"],
             feature_names=list("uvwx"), licence="CC0")  # fmt: skip
    data = datasets.load(path)
    assert np.array_equal(data.X, X) and data.y_test.tolist() == [0, 1] and data.class_names == ["a", "b", "c"]
    assert (data.name, data.feature_names, data.licence, data.scaling) == ("mine", list("uvwx"), "CC0", "none")


def test_sparse_npz_of_counts_gets_tf_idf_and_utf8_names(tmp_path):
    counts = np.array([[3, 0, 1], [0, 2, 0], [1, 1, 0], [0, 0, 4]], dtype=np.uint16)
    path = tmp_path / "words.npz"
    np.savez(path, **csr_parts(counts, "X_train"), y_train=[0, 1, 0, 1], **csr_parts(counts, "X_test"),
             y_test=[0, 1, 0, 1], feature_names_utf8=np.frombuffer("né\nto\nma".encode(), np.uint8))  # fmt: skip
    data = datasets.load(path)
    assert data.feature_names == ["né", "to", "ma"] and data.scaling == "log-tfidf" and sp.isspmatrix_csr(data.X)
    np.testing.assert_allclose(sp.linalg.norm(data.X, axis=1), 1)
    assert np.array_equal(datasets.load(path, scale="none").X.toarray(), counts)


def test_npz_with_plain_keys_text_labels_and_split(tmp_path):
    np.savez(tmp_path / "plain.npz", X=X, y=np.array(["low", "mid", "high"])[Y])
    data = datasets.load(str(tmp_path / "plain.npz"), test_size=0.25, seed=1)
    assert data.class_names == ["high", "low", "mid"] and len(data.y_test) == 3 and data.n == 9


def test_image_shape_only_when_stated_or_known(tmp_path):
    images = RNG.integers(0, 255, (12, 784)).astype(np.uint8)
    for name, extra in (("mnist_small", {}), ("other", {}), ("stated", {"image_shape": [14, 56]})):
        np.savez(tmp_path / f"{name}.npz", X_train=images, y_train=Y, **extra)
    known, other, stated = (datasets.load(tmp_path / f"{n}.npz") for n in ("mnist_small", "other", "stated"))
    assert known.image_shape == (28, 28) and known.scaling == "max" and known.X.max() == 1.0
    assert known.feature_names[28] == "pixel 1,0"
    assert other.image_shape is None and other.feature_names is None and other.scaling == "standard"
    assert stated.image_shape == (14, 56)
    np.savez(tmp_path / "wrong.npz", X=images, y=Y, image_shape=[28, 27])
    with pytest.raises(ValueError, match="product is 784"):
        datasets.load(tmp_path / "wrong.npz")


@pytest.mark.parametrize("suffix", ["_train", ""])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_npz_files_with_label_sets(tmp_path, suffix, storage):
    labels = (RNG.random((12, 3)) < 0.4).astype(np.uint8)
    labels[0], labels[1] = 0, 1
    held = (RNG.random((5, 3)) < 0.5).astype(np.uint8)
    arrays = {f"X{suffix}": X, "X_test": X[:5], "class_names": ["a", "b", "c"]}
    for key, Z in ((f"Y{suffix}", labels), ("Y_test", held)):
        arrays |= csr_parts(Z, key) if storage == "csr" else {key: Z.astype(bool)}
    np.savez(tmp_path / "sets.npz", **arrays)
    data = datasets.load(tmp_path / "sets.npz")
    assert data.multilabel and data.class_names == ["a", "b", "c"]
    assert np.array_equal(data.y, labels) and np.array_equal(data.y_test, held) and data.y.dtype == np.uint8


NPZ_FAULTS = [
    ({"X": X, "Y_train_data": Y}, r"has no y; .*Y_train for label sets"),
    ({"X": X, "y": Y, "Y": np.eye(12)}, r"labels \(y\) and label sets \(Y\); give one"),
    ({"X": X, "Y": 2 * np.eye(12)}, "12 entries other than 0 and 1, the first, 2, at sample 0, label 0"),
    ({"X": X, "Y": np.eye(11)}, "11 label sets for 12 rows"),
    ({"X": X, "Y": np.zeros((12, 3))}, "empty or full"),
    ({"X": X, "Y": np.eye(12), "class_names": ["a", "b"]}, "2 class names for the 12 columns"),
    ({"X_train": X, "Y_train": np.eye(12), "X_test": X}, "X_test without Y_test"),
    ({"X_train": X, "Y_train": np.eye(12), "X_test": X, "Y_test": np.eye(12)[:5]}, "5 label sets for 12 rows of X_te"),
    ({"X_train": X, "Y_train": np.eye(12), "X_test": X, "Y_test": np.eye(12)[:, :5]}, "12 columns in one part and 5"),
    ({"X": X, "Y_data": np.ones(3), "y_other": Y}, "CSR parts missing: Y_indices"),
    ({"S": X}, "has no X; keys found: S. Needed: X_train"),
    ({"X_train": X}, "has no y_train"),
    ({"X_train_data": X[0], "y_train": Y}, "CSR parts missing: X_train_indices"),
    (csr_parts(X, "X_train") | {"X_train_shape": [12, 2], "y_train": Y}, "are not a CSR matrix"),
    (csr_parts(X, "X_train") | {"X_train_indptr": np.array([0, 9]), "y_train": Y}, "are not a CSR matrix"),
    ({"X_train": X, "y_train": Y, "X_test": X}, "y_test without X_test|X_test without y_test"),
    ({"X_train": X, "y_train": Y, "X_test": X, "y_test": Y[:5]}, "5 labels for 12 rows of X_test"),
    ({"X_train": X, "y_train": Y, "X_test": X[:, :2], "y_test": Y}, "4 columns but X_test has 2"),
    ({"X": X, "y": Y[:5]}, "5 labels for 12 rows"),
    ({"X": X, "y": Y * 0}, "one class only"),
    ({"X": X, "y": Y, "class_names": ["a", "b"]}, "allowed with 2 class names"),
    ({"X": X, "y": Y, "feature_names": ["a"]}, "1 feature names for 4 columns"),
    ({"X": X * np.nan, "y": Y}, "NaN or infinite"),
    ({"X": X.astype(str), "y": Y}, "real numbers"),
    ({"X": X[:0], "y": Y[:0]}, "empty"),
    ({"X": X[0], "y": Y}, "one row an example"),
    ({"X": np.array([{}]), "y": Y}, "key 'X' holds Python objects, which are never unpickled"),
    ({"X": X, "y": np.zeros((12, 2, 2))}, "one class label a sample"),
    ({"X": X, "y": Y, "feature_names_utf8": np.array([255, 255], np.uint8)}, "not UTF-8"),
]


@pytest.mark.parametrize(("arrays", "words"), NPZ_FAULTS)
def test_faulty_npz_files_are_refused_in_words(tmp_path, arrays, words):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        datasets.load(tmp_path / "bad.npz")


def test_damaged_npz_files_are_refused_in_words(tmp_path):
    path = tmp_path / "bad.npz"
    path.write_bytes(b"not a zip archive")
    with pytest.raises(ValueError, match=r"not a readable \.npz"):
        datasets.load(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"not a readable \.npz"):
        datasets.load(path)
    with path.open("wb") as file:
        np.save(file, X)
    with pytest.raises(ValueError, match="one bare array"):
        datasets.load(path)
    np.savez(path, X=RNG.random((50, 4)), y=np.arange(50) % 2)
    content = bytearray(path.read_bytes())
    content[300:320] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        datasets.load(path)


# -- CSV ------------------------------------------------------------------------------------------------------------

CSV = "height,colour,width,label\n1.5,red,1,yes\n2,blue,2,no\n3,red,3,yes\n4,green,4,no\n"


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_csv_with_a_label_column_and_a_text_column(tmp_path, packed):
    path = tmp_path / f"table.csv{packed}"
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packed]
    path.write_bytes(pack(CSV.encode()))
    data = datasets.load(path, test_size=0, scale="none")
    assert data.feature_names == ["height", "colour=blue", "colour=green", "colour=red", "width"]
    assert (
        data.X[0].tolist() == [1.5, 0, 0, 1, 1]
        and data.class_names == ["no", "yes"]
        and data.y.tolist() == [1, 0, 1, 0]
    )
    assert data.name == "table"


def test_the_label_column_is_named_known_or_last(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Class,a,b\n1,0.5,7\n2,0.25,7\n1,1,8\n2,1,8\n")
    assert datasets.load(path, test_size=0).class_names == ["1", "2"]
    assert datasets.load(path, test_size=0, target="b").class_names == ["7", "8"]
    assert datasets.load(path, test_size=0, target=-1).feature_names == ["Class", "a"]
    path.write_text("a;b\n0.5;x\n1;z\n")
    assert datasets.load(path, test_size=0).class_names == ["x", "z"]
    path.with_suffix(".tsv").write_text("a\tb\n0.5\tx\n1\tz\n")
    assert datasets.load(path.with_suffix(".tsv"), test_size=0).feature_names == ["a"]
    with pytest.raises(ValueError, match="no column 'spezies' for target=; its columns: 'a', 'b'"):
        datasets.load(path, target="spezies")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,label\n1,2,x\n,3,y\n,4,y\n", r"missing values in column 'a' \(2 of 3 rows\)"),
        ("a,label\n1,x\n2,\n", r"missing values in column 'label' \(1 of 2 rows\)"),
        (
            ",".join(f"c{k}" for k in range(400)) + ",label\n" + "," * 400 + "x\n",
            r"'c9' \(1 of 1 rows\) and 390 more; remove",
        ),
        ("1,2,3\n4,5,6\n", "a header line"),
        ("", "is empty"),
        ("a,label\n", r"0 row\(s\)"),
        ("label\nx\ny\n", r"1 column\(s\)"),
        ("a,label\n1,x\n2,x\n", "one class only"),
        ("a,price\n1,0.5\n2,0.7\n", "regression target"),
        ("a,label\n1,x\n2,y,7\n", "not a readable CSV"),
        ("a,label\n1,x,3\n2,y,7\n", "not a readable CSV"),
        ("a;b;label\n2;1,5;x\n3;2;y\n", r"column 'b' holds numbers with a comma, for example '1,5'; write them with"),
        ("a,label\ninf,x\n2,y\n", r"row 0, column 0 \(a\)"),
        ("a,label\n" + "".join(f"word{i},{i % 2}\n" for i in range(60)), r"column 'a' is not numeric .* 60 different"),
    ],
)
def test_faulty_csv_files_are_refused_in_words(tmp_path, text, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        datasets.load(path)


def test_words_with_commas_stay_categories(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;label\n1,5;x\nred, blue;y\n")
    assert datasets.load(path, test_size=0).feature_names == ["a=1,5", "a=red, blue"]


def test_arrays_are_sent_to_the_right_door():
    with pytest.raises(TypeError, match=r"not ndarray; for arrays and data frames: from_arrays\(X, y\)"):
        datasets.load(np.eye(2))


def test_csv_in_another_encoding_or_a_broken_archive_is_refused(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes("größe,label\n1,x\n2,y\n".encode("latin-1"))
    with pytest.raises(ValueError, match="cannot be read as text"):
        datasets.load(path)
    path = tmp_path / "bad.csv.gz"
    path.write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="cannot be read as text"):
        datasets.load(path)


# -- svmlight -------------------------------------------------------------------------------------------------------

SVM = "# a comment\n-1 1:0.5 3:1 # more\n3 2:-1\n10 1:1\n-1 3:0.25\n"


@pytest.mark.parametrize(("name", "packed"), [("a.svm", ""), ("a.libsvm", ".gz"), ("a.svmlight", ".bz2"), ("a1a", "")])
def test_svmlight_labels_are_renumbered_and_kept_as_names(tmp_path, name, packed):
    path = tmp_path / (name + packed)
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packed]
    path.write_bytes(pack(SVM.encode()))
    data = datasets.load(path, test_size=0)
    assert data.class_names == ["-1", "3", "10"] and data.y.tolist() == [0, 1, 2, 0]
    assert data.X.toarray().tolist() == [[0.5, 0, 1], [0, -1, 0], [1, 0, 0], [0, 0, 0.25]]


def test_a_test_file_beside_an_svmlight_file_is_used(tmp_path):
    (tmp_path / "two.scale").write_text("1 1:1\n2 2:1\n")
    (tmp_path / "two.scale.t").write_text("2 4:1\n")
    data = datasets.load(tmp_path / "two.scale")
    assert data.d == 4 and data.X_test.shape == (1, 4) and data.y_test.tolist() == [1]


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_svmlight_files_with_label_sets(tmp_path, packed):
    path = tmp_path / f"tags.svm{packed}"
    pack = {"": bytes, ".gz": gzip.compress}[packed]
    path.write_bytes(pack(b"7 1:0.5\n1,3,7 2:1\n 1:1 3:2\n3 2:0.5 # one\n1,7 1:1\n"))
    data = datasets.load(path, test_size=0)
    assert data.multilabel and data.class_names == ["1", "3", "7"] and "labels a row" in repr(data)
    assert data.y.tolist() == [[0, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0], [1, 0, 1]] and data.y.dtype == np.uint8
    assert data.X.toarray()[2].tolist() == [1.0, 0.0, 1.0]  # columns are divided by their largest values
    (tmp_path / "two.scale").write_text("1 1:1\n2 2:1\n")
    (tmp_path / "two.scale.t").write_text("2,5 4:1\n")
    both = datasets.load(tmp_path / "two.scale")
    assert both.class_names == ["1", "2", "5"] and both.y.tolist() == [[1, 0, 0], [0, 1, 0]]
    assert both.y_test.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,x 1:1\n3 2:1\n", "not a readable svmlight file"),
        ("1,1.5 1:1\n3 2:1\n", "the label 1.5"),
        ("1,2 1:1\n1,2 2:1\n", "empty or full"),
        ("1 1:x\n2 1:1\n", "not a readable svmlight file"),
        ("1 1:1\n1 2:1\n", "one class only"),
        ("", "is empty"),
        ("1 1:nan\n2 1:1\n", "NaN or infinite"),
    ],
)
def test_faulty_svmlight_files_are_refused_in_words(tmp_path, text, words):
    path = tmp_path / "bad.svm"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        datasets.load(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00[Content_Types].xml", b"1 1:2\n2 2:1\n", b""])
@pytest.mark.parametrize("suffix", [".xlsx", ".XLS", ".ods"])
def test_a_spreadsheet_is_called_one_with_the_way_out(tmp_path, suffix, content):
    path = tmp_path / f"sales{suffix}"
    path.write_bytes(content)
    for read in (datasets.load, lambda where: read_samples(where, d=2)):
        with pytest.raises(ValueError, match=r"is a spreadsheet.*as CSV.*Parquet.*to_csv\('sales.csv'"):
            read(path)


def test_an_archive_without_a_known_suffix_is_no_svmlight_text(tmp_path):
    path = tmp_path / "sales.bin"
    path.write_bytes(b"PK\x03\x04\x14\x00[Content_Types].xml")
    with pytest.raises(ValueError, match=r"format that is not known; known: .npz, .csv"):
        datasets.load(path)


# -- finding --------------------------------------------------------------------------------------------------------


def test_files_are_found_by_name_in_the_listed_folders(tmp_path, monkeypatch):
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir(), second.mkdir()
    np.savez(second / "mine.npz", X=X, y=Y)
    (second / "table.csv").write_text(CSV)
    np.savez(second / "covariance.npz", S=X)
    (second / "notes.txt").write_text("nothing")
    monkeypatch.setenv("SPARSESCOPE_DATA", os.pathsep.join([str(first), "", str(second), str(tmp_path / "gone")]))
    assert datasets.load("mine").n == 9 and datasets.load("mine.npz").n == 9
    assert datasets.find("table") == second / "table.csv"
    assert datasets.names()[-2:] == ["mine", "table"] and "covariance" not in datasets.names()
    assert [line.path for line in datasets.describe()][-1] == second / "table.csv"
    with pytest.raises(UnknownName) as error:
        datasets.load("minne")
    message = str(error.value)
    assert "did you mean 'mine'?" in message and "digits" in message and str(first) in message
    assert f"{tmp_path / 'gone'} (no such folder)" in message


def test_a_file_is_opened_once_for_the_menus_of_a_page_and_again_when_it_has_changed(folder, monkeypatch):
    np.savez(folder / "sample.npz", X=np.eye(3), y=np.arange(3))
    opened = []
    archive = zipfile.ZipFile

    class Counting(archive):
        def __init__(self, file, *rest, **named):
            opened.append(str(file))
            super().__init__(file, *rest, **named)

    monkeypatch.setattr(zipfile, "ZipFile", Counting)
    page = app_pages["prox"]()
    try:
        for _ in range(3):
            assert "sample" in str(page.controls())
    finally:
        page.close()
    assert opened.count(str(folder / "sample.npz")) == 1
    np.savez(folder / "sample.npz", A=np.eye(30))  # no data set any more
    until(lambda: "sample" not in datasets.names())


def test_folders_are_looked_through_again_only_when_something_came_or_went_or_after_a_while(folder, monkeypatch):
    looked = []
    look = files._look_for_files
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(folder / "nothing fetched"))
    monkeypatch.setattr(files, "_look_for_files", lambda: looked.append(1) or look())
    np.savez(folder / "sample.npz", X=np.eye(3), y=np.arange(3))
    os.utime(folder, (1e9, 1e9))  # a folder that nobody touched for years
    monkeypatch.setattr(files, "KEPT", 3600.0)
    assert all("sample" in datasets.names() for _ in range(5)) and len(looked) == 1
    np.savez(folder / "other.npz", X=np.eye(3), y=np.arange(3))
    assert "other" in datasets.names()
    (folder / "sample.npz").unlink()
    assert "sample" not in datasets.names()
    monkeypatch.setattr(files, "KEPT", 0.0)
    before = len(looked)
    assert datasets.names() == datasets.names() and len(looked) == before + 2


def test_the_listing_that_is_kept_is_nobodys_to_change(folder):
    np.savez(folder / "sample.npz", X=np.eye(3), y=np.arange(3))
    os.utime(folder, (1e9, 1e9))
    files.files_found().clear()
    assert "sample" in datasets.names()


def test_registered_names_win_over_files(folder):
    np.savez(folder / "iris.npz", X=X, y=Y)
    assert datasets.load("iris").d == 4 and datasets.load("iris").class_names[0] == "setosa"
    assert datasets.names().count("iris") == 1
    assert datasets.load(folder / "iris.npz").class_names == ["0", "1", "2"]


def test_unknown_names_folders_and_formats_are_refused_in_words(folder, monkeypatch):
    with pytest.raises(ValueError, match="did you mean 'digits'"):
        datasets.load("digts")
    with pytest.raises(ValueError, match="is a folder"):
        datasets.load(folder)
    with pytest.raises(UnknownName, match=r"no data set or file '.*nowhere\.npz'"):
        datasets.load(folder / "nowhere.npz")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with pytest.raises(ValueError, match=r"format that is not known; known: \.npz"):
        datasets.load(folder / "picture.png")
    (folder / "a.svm").write_text(SVM)
    with pytest.raises(
        ValueError, match=r"target= names the label column of a CSV or Parquet table; a\.svm is not one"
    ):
        datasets.load("a", target="y")
    with pytest.raises(ValueError, match="'iris' is not one"):
        datasets.load("iris", target="y")
    monkeypatch.delenv("SPARSESCOPE_DATA")
    with pytest.raises(UnknownName, match="SPARSESCOPE_DATA lists no folder"):
        datasets.load("digts")


# -- the benchmark folder, when there is one ------------------------------------------------------------------------

BENCHMARKS = {
    "dna": (2000, 1186, 180, 3), "letter": (15000, 5000, 16, 26), "golub_leukemia": (38, 34, 7129, 3),
    "news20_bydate_counts": (11314, 7532, 130107, 20), "rcv1_ccat_small": (1000, 500, 47152, 2),
    "medical": (333, 645, 1449, 45), "bibtex": (4880, 2515, 1836, 159),
}  # fmt: skip


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_benchmark_files_load(name):
    if name not in datasets.names():
        pytest.skip(f"{name}.npz is in no folder of SPARSESCOPE_DATA")
    data = datasets.load(name)
    assert (data.n, len(data.y_test), data.d, data.m) == BENCHMARKS[name]
