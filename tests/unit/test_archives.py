"""Files that ask for too much, or are damaged: sized before they are read, a sentence for each."""

from __future__ import annotations

import bz2
import gzip
import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope.datasets as datasets
from sparsescope.datasets import tables
from sparsescope.inputs.archives import LIMIT_VARIABLE, memory_limit, read_arrays
from sparsescope.runs.trace import Trace

X = np.random.default_rng(0).random((12, 4))
Y = np.arange(12) % 3


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0.25")


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """The head of an array file that announces a shape."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return path


def array(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=True)
    return file.getvalue()


def refused(path: Path, words: str, most: float = 200e6) -> None:
    """The file is refused with these words, and without taking memory."""
    import sklearn.datasets  # noqa: F401  (which readers import: tracing what an import takes would be slow)

    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            datasets.load(path)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_svmlight_indices_are_sized_before_anything_is_built(tmp_path: Path) -> None:
    file = tmp_path / "wide.svm"
    file.write_text("1 1:1 2:1\n2 1:1 1000000000:1\n")
    refused(
        file,
        r"wide\.svm needs 7\.45 GiB of memory: feature 1000000000 in line 2.*"
        r"Raise the limit with SPARSESCOPE_MEMORY_GB=8",
    )
    file.write_text("1 1:1 2:1\n2 1:1 " + "9" * 5000 + ":1\n")
    refused(file, "feature 9{30} in line 2")


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (
            header("(100000000, 100)") + bytes(800),
            r"key 'X' is damaged \(its header announces 80000000000 bytes, the file",
        ),
        (header("(-1, 4)"), "has a negative size"),
        (header("(2,)", "'|O'") + bytes(99), "Python objects, which are never"),
        (header("(1, 2"), "key 'X' is damaged"),
        (b"\x93NUMPY\x09\x00", "key 'X' is damaged"),
        (b"", "key 'X' is damaged"),
        (array(X)[:-8], "its header announces 384 bytes, the file holds 376"),
        (array(X) + b"x", "the file holds 385"),
        (header("(1e9,)"), "key 'X' is damaged"),
        (header("()", "'no type'"), "key 'X' is damaged"),
    ],
)
def test_headers_of_arrays_are_not_believed(member: bytes, words: str, tmp_path: Path) -> None:
    refused(archive(tmp_path / "x.npz", X=member, y=array(Y)), words)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0.025")
    bomb = header("(5000, 1000)") + bytes(40_000_000)
    file = archive(tmp_path / "bomb.npz", X=bomb, y=array(Y))
    del bomb
    assert file.stat().st_size < 100_000
    refused(
        file, r"bomb\.npz needs 0\.0373 GiB of memory: key 'X' alone for 0\.0373 GiB.*SPARSESCOPE_MEMORY_GB=1", 20e6
    )


def test_sparse_parts_with_a_huge_shape(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "wide.npz",
        X_data=np.ones(2),
        X_indices=np.array([0, 1]),
        X_indptr=np.array([0, 1, 2]),
        X_shape=np.array([2, 10**12]),
        y=np.array([0, 1]),
    )
    refused(tmp_path / "wide.npz", "X_shape announces 1000000000000 features")


@pytest.mark.parametrize("opener", [gzip.open, bz2.open])
@pytest.mark.parametrize("suffix", [".csv", ".svm"])
@pytest.mark.parametrize("longest", [2**22, pytest.param(2**26, marks=pytest.mark.slow)])
def test_a_compressed_bomb_is_not_unpacked(
    opener: object, suffix: str, longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tables.MAX_LINE == 2**26
    monkeypatch.setattr(tables, "MAX_LINE", longest)  # a bomb that only just crosses it is made and read sooner
    packed = ".gz" if opener is gzip.open else ".bz2"
    with opener(tmp_path / f"bomb{suffix}{packed}", "wb") as file:  # type: ignore[operator]
        file.write(b"a,label\n" if suffix == ".csv" else b"1 1:1\n")
        for _ in range(longest // 1_000_000 + 4):
            file.write(b" " * 1_000_000)
    refused(tmp_path / f"bomb{suffix}{packed}", f"line 2 has {longest} characters or more", 200e6 * longest / 2**26)


def test_cells_of_a_table_are_counted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0.0001")
    names = ",".join(f"f{k}" for k in range(200))
    (tmp_path / "t.csv").write_text(f"{names},label\n" + "".join("0," * 200 + f"{k % 2}\n" for k in range(200)))
    refused(tmp_path / "t.csv", "201 lines of 201 cells with 8 bytes each")
    (tmp_path / "w.csv").write_text("".join(f"w{k % 49},{k % 2}\n" for k in range(-1, 400)))
    refused(tmp_path / "w.csv", "400 rows of 4[0-9] columns with 8 bytes each")


def test_the_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_limit() == 2**28
    for wrong in ("much", "0", "-1", "inf", "nan"):
        monkeypatch.setenv(LIMIT_VARIABLE, wrong)
        with pytest.raises(ValueError, match="a positive number of gigabytes is needed"):
            memory_limit()
    monkeypatch.setenv(LIMIT_VARIABLE, "")
    assert memory_limit() > 2**26
    np.savez(tmp_path / "ok.npz", X=X, y=Y)
    assert datasets.load(tmp_path / "ok.npz").d == 4


@pytest.mark.parametrize("kind", ["npz", "trace", "csv.gz", "svm.gz", "svm.bz2"])
def test_every_truncation_is_told_in_a_sentence(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"x.{kind.replace('trace', 'npz')}"
    if kind == "npz":
        np.savez_compressed(file, X=X, y=Y)
    elif kind == "trace":
        Trace({"d": 3}).save(file)
    elif kind == "csv.gz":
        file.write_bytes(gzip.compress(("a,b,label\n" + "".join(f"{k},{k % 4},{k % 3}\n" for k in range(60))).encode()))
    else:
        text = "".join(f"{k % 3} 1:{k} 2:{k % 7}\n" for k in range(60)).encode()
        file.write_bytes(gzip.compress(text) if kind.endswith("gz") else bz2.compress(text))
    whole = file.read_bytes()
    read = Trace.load if kind == "trace" else datasets.load
    for size in range(0, len(whole), max(1, len(whole) // 60)):
        file.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="x"):
            read(file)


def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    given = {
        "a": X,
        "b": np.asfortranarray(X),
        "c": np.array("text"),
        "d": np.zeros((0, 3)),
        "e": np.array(["x", "yz"]),
    }
    np.savez(tmp_path / "a.npz", **given)
    found = read_arrays(tmp_path / "a.npz")
    assert list(found) == list(given)
    for name, values in given.items():
        np.testing.assert_array_equal(found[name], values)
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "nothing.npz")


@pytest.mark.parametrize("size", [1e-310, 1e-160, 1e160, 1e308])
@pytest.mark.parametrize("scale", ["standard", "max", "unit-rows"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scaling_does_not_depend_on_units_and_warns_of_nothing(size: float, scale: str) -> None:
    plain = datasets.from_arrays(X, Y, scale=scale).X
    found = datasets.from_arrays(X * size, Y, scale=scale).X
    assert np.isfinite(found).all()
    if size > 1 or (scale == "unit-rows" and size > 1e-300):
        np.testing.assert_allclose(found, plain, rtol=1e-12)
    sparse = datasets.from_arrays(sp.csr_matrix(X * size), Y, scale=scale if scale != "standard" else "max").X
    assert np.isfinite(sparse.data).all()


@pytest.mark.parametrize("order", ["<", ">"])
def test_text_of_numbers_that_are_no_characters_is_refused(tmp_path: Path, order: str) -> None:
    names = np.array(list("abcd"), dtype=f"{order}U1")
    codes = names.view(f"{order}u4").copy()
    good = archive(tmp_path / "good.npz", X=array(X), y=array(Y), feature_names=array(names))
    assert datasets.load(good).feature_names == list("abcd")
    codes[2] = 0x110000
    bad = archive(tmp_path / "bad.npz", X=array(X), y=array(Y), feature_names=array(codes.view(f"{order}U1")))
    refused(bad, "key 'feature_names' is damaged .it holds text with the number 1114112, which is no character")


def test_text_within_records_is_looked_at_too(tmp_path: Path) -> None:
    records = np.zeros(3, dtype=[("a", "U1"), ("b", float)])
    assert read_arrays(archive(tmp_path / "good.npz", x=array(records)))["x"].tolist() == [("", 0.0)] * 3
    bad = array(records).replace(bytes(4), b"\xff\xff\xff\x7f", 1)
    with pytest.raises(ValueError, match=r"key 'x' is damaged .it holds text with the number 2147483647"):
        read_arrays(archive(tmp_path / "bad.npz", x=bad))
