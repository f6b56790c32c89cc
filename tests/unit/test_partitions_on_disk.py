"""Partitions on disk: streamed from files, the same data as loaded, and refused by name where they are damaged."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs import mapped_blocks
from sparsescope.inputs.mapped_blocks import HEADER, Writer

LABELS = ("7", "-1", "2")


def lines(n: int = 60, d: int = 12, sets: bool = False) -> list[str]:
    rng = np.random.default_rng(1)
    made = []
    for i in range(n):
        chosen = np.sort(rng.choice(d, 4, replace=False)) + 1
        label = "1,2" if sets and i == n - 1 else str(int(i % 3)) if sets else LABELS[i % 3]
        made.append(label + "".join(f" {j}:{rng.random():.3f}" for j in chosen) + "\n")
    return made


def rows_of(design: Any) -> np.ndarray:
    return np.asarray(design.take(np.arange(design.d)).toarray())


@pytest.mark.parametrize("packed", [False, True])
def test_svmlight_text_is_streamed_into_the_data_that_load_reads(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("big.svm.gz" if packed else "big.svm")
    text = "# a comment\n" + "".join(lines())
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    whole = ss.datasets.load(path, test_size=0, scale="none")
    data = ss.datasets.open(path, partitions=5)
    assert data.X.parts >= 4 and (data.n, data.d, data.m) == (whole.n, whole.d, whole.m)
    assert data.class_names == whole.class_names == ["-1", "2", "7"]
    np.testing.assert_array_equal(rows_of(data.X), whole.X.toarray())
    np.testing.assert_array_equal(data.y, whole.y)
    assert not list(tmp_path.glob(".*")), "nothing is left of the writing"
    assert f"sparse with {whole.nnz} entries in {data.X.parts} blocks" in repr(data) and "blocks" in data._repr_html_()
    before = os.stat(tmp_path / f"{path.name}.partitions" / HEADER).st_mtime_ns
    again = ss.datasets.open(path, partitions=5)
    assert again.X.parts == data.X.parts
    assert os.stat(tmp_path / f"{path.name}.partitions" / HEADER).st_mtime_ns == before, "it was not made again"
    near = ss.solve(ss.Problem(whole, lam_ratio=0.3), "sparsa", tol=1e-8)
    far = ss.solve(ss.Problem(data, lam_ratio=0.3), "working-set", tol=1e-8)
    assert far.objective == pytest.approx(near.objective, rel=1e-8)
    path.write_bytes(path.read_bytes()[:0] + gzip.compress(b"1 1:1\n2 2:1\n") if packed else b"1 1:1\n2 2:1\n")
    assert ss.datasets.open(path, partitions=5).n == 2, "another file of this name is read anew"


def test_label_sets_float32_and_rows_of_length_one(tmp_path: Path) -> None:
    path = tmp_path / "tags.svm"
    path.write_text("".join(lines(sets=True)))  # only the last line shows that the labels are sets
    data = ss.datasets.open(path, partitions=4, dtype="float32", scale="unit-rows")
    whole = ss.datasets.load(path, test_size=0, scale="unit-rows", dtype="float32")
    assert data.X.dtype == np.float32 and data.multilabel
    np.testing.assert_allclose(rows_of(data.X), whole.X.toarray(), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(data.y.todense()), np.asarray(whole.y))
    assert ss.Problem(data, lam=0.5).multilabel


@pytest.mark.parametrize("dense", [False, True])
def test_npz_files_are_streamed(tmp_path: Path, dense: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = sp.random_array((50, 9), density=0.4, format="csr", random_state=rng), rng.permutation(np.arange(50) % 3)
    parts = {"X": X.toarray()} if dense else {
        "X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)
    }  # fmt: skip
    np.savez_compressed(tmp_path / "some.npz", y=y, class_names=np.array(["a", "b", "c"]), **parts)
    data = ss.datasets.open(tmp_path / "some.npz", partitions=3, folder=tmp_path / "there")
    assert data.X.parts >= 3 and data.class_names == ["a", "b", "c"]
    found = data.X.take(np.arange(9))
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X.toarray())
    np.testing.assert_array_equal(data.y, y)
    assert ss.datasets.open(tmp_path / "there").n == 50
    truncated = (tmp_path / "some.npz").read_bytes()[:-200]
    (tmp_path / "half.npz").write_bytes(truncated)
    with pytest.raises(ValueError, match=r"half\.npz cannot be streamed"):
        ss.datasets.open(tmp_path / "half.npz")


def test_memory_of_blocks_is_mapped_and_given_back(tmp_path: Path) -> None:
    X = sp.random_array((40, 6), density=0.5, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(40) % 2
    ss.datasets.write_partitions(tmp_path / "p", [(X[:20], y[:20]), (X[20:], y[20:])])
    data = ss.datasets.open(tmp_path / "p")
    block = data.X._engine.blocks[0]  # the memory of a block is not public
    values = block.design().matrix.data
    assert not values.flags.owndata and len(block._maps) >= 2
    before = values.copy()
    block.release()
    np.testing.assert_array_equal(values, before, err_msg="what was given back is read again")


BROKEN: dict[str, tuple[Any, str]] = {
    "no header": (lambda f: (f / HEADER).unlink(), "no folder of partitions"),
    "no json": (lambda f: (f / HEADER).write_text("{"), "cannot be read"),
    "another format": (lambda f: edit(f, format="x"), "format"),
    "a later version": (lambda f: edit(f, version=9), "version 9"),
    "rows that do not add up": (lambda f: edit(f, n=7), "add up"),
    "too many features": (lambda f: edit(f, d=2**50), "GiB|damaged"),
    "one class": (lambda f: edit(f, class_names=["a"]), "class_names"),
    "not a magnitude": (lambda f: edit(f, blocks=[{"n": 40, "nnz": 3, "magnitude": None}]), "magnitude"),
    "truncated values": (lambda f: cut(f / "00000.data.npy"), "block 0 of .* is damaged"),
    "no values": (lambda f: (f / "00001.data.npy").unlink(), "block 1 of .* is damaged"),
    "an index out of range": (lambda f: change(f / "00000.indices.npy", 0, 10**6), "block 0 of .* is damaged"),
    "a negative index": (lambda f: change(f / "00000.indices.npy", 0, -1), "block 0 of .* is damaged"),
    "pointers that fall": (lambda f: change(f / "00000.indptr.npy", 1, 10**9), "block 0 of .* is damaged"),
    "a value that is none": (lambda f: change(f / "00000.data.npy", 0, np.nan), "not finite"),
    "objects": (lambda f: np.save(f / "00000.data.npy", np.array([{}] * 3), allow_pickle=True), "block 0 of"),
    "labels out of range": (lambda f: change(f / "y.npy", 0, 5), "labels of .* cannot be read"),
}


def edit(folder: Path, **changed: Any) -> None:
    header = json.loads((folder / HEADER).read_text())
    (folder / HEADER).write_text(json.dumps({**header, **changed}))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-16])


def change(path: Path, at: int, value: Any) -> None:
    array = np.load(path)
    array[at] = value
    np.save(path, array)


@pytest.mark.parametrize("how", BROKEN)
def test_a_damaged_folder_is_refused_in_words(tmp_path: Path, how: str) -> None:
    X = sp.random_array((40, 6), density=0.5, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(40) % 2
    ss.datasets.write_partitions(tmp_path / "p", [(X[:20], y[:20]), (X[20:], y[20:])])
    spoil, sentence = BROKEN[how]
    spoil(tmp_path / "p")
    with pytest.raises(ValueError, match=sentence):
        ss.Problem(ss.datasets.open(tmp_path / "p"), lam=0.1).design.squared_norms.sum()


def test_what_a_writer_left_unfinished_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.eye(4), np.arange(4) % 2
    left = tmp_path / f".p{mapped_blocks.UNFINISHED}999999999"
    left.mkdir()
    (left / "00000.data.npy").write_text("half")
    with pytest.raises(ValueError, match="labels"):
        ss.datasets.write_partitions(tmp_path / "p", [(X, y[:3])])
    assert list(tmp_path.iterdir()) == [], "neither the half nor this one is left"
    ss.datasets.write_partitions(tmp_path / "p", [(X, y)])
    with pytest.raises(ValueError, match="no block"):
        ss.datasets.write_partitions(tmp_path / "p", [])
    assert ss.datasets.open(tmp_path / "p").n == 4, "the last good one is still there"
    full = monkeypatch.setattr(mapped_blocks.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1}))
    assert full is None
    with Writer(tmp_path / "q") as writer, pytest.raises(ValueError, match="no room"):
        writer.add(X)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", {}, "empty"),
        ("1 1:1\n2 x\n", {}, "not a readable svmlight"),
        ("1 1:1\n2 99999999999:1\n", {}, "GiB|not a readable"),
        ("1 1:1\n1 2:1\n", {}, "one class only"),
        ("1 1:1\n2 2:1\n", {"partitions": 0}, "partitions is 0"),
        ("1 1:1\n2 2:1\n", {"scale": "tfidf"}, "scale is 'tfidf'"),
        ("1 1:1\n2 2:1\n", {"dtype": "int8"}, "dtype is 'int8'"),
    ],
)
def test_text_that_cannot_be_streamed_is_refused(
    tmp_path: Path, text: str, options: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / "some.svm"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        ss.datasets.open(path, **options)
    assert [found.name for found in tmp_path.iterdir()] == ["some.svm"]


def test_files_of_other_formats_and_folders_of_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,label\n1,2\n")
    with pytest.raises(ValueError, match="write_partitions"):
        ss.datasets.open(tmp_path / "table.csv")
    with pytest.raises(ValueError, match="no file or folder"):
        ss.datasets.open(tmp_path / "nothing.svm")
    (tmp_path / "some.svm").write_text("".join(lines()))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("precious")
    with pytest.raises(ValueError, match="holds no partitions"):
        ss.datasets.open(tmp_path / "some.svm", folder=tmp_path / "mine")
    assert (tmp_path / "mine" / "diary.txt").read_text() == "precious"
