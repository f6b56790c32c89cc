"""Data sets larger than memory: files that are streamed once into blocks of rows, which are then mapped into memory."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ..inputs.archives import DAMAGE, check_memory
from ..inputs.labels import LabelSets
from ..inputs.mapped_blocks import HEADER, Writer, read_blocks, read_header, read_labels
from ..inputs.partitioned import PartitionedDesign
from .base import Dataset, encode_labels
from .files import SVMLIGHT_SUFFIXES, TABLE_SUFFIXES, find_file, stem_of
from .npz import CSR_PARTS
from .npz import names as names_of
from .tables import MAX_LINE, looks_like_svmlight

BLOCK_BYTES = 2**27  # of a file for a block, where no number of partitions is given
SCALES = ("none", "unit-rows")
FOLDER = ".partitions"  # what is added to the name of the file


class PartitionedDataset(Dataset):
    """A data set whose X is a :class:`sparsescope.PartitionedDesign`; the folder that it lies in is ``source``."""

    def __post_init__(self) -> None:
        shape = self.image_shape
        if shape is not None and shape[0] * shape[1] != self.X.d:
            raise ValueError(f"data set {self.name!r}: image_shape {shape} does not fit {self.X.d} columns")

    @property
    def nnz(self) -> int:
        """Number of stored entries of X."""
        return int(self.X.nnz)

    def _shape_in_words(self) -> str:
        storage = f"sparse with {self.nnz} entries" if self.X.is_sparse else "dense"
        return (
            f"n {self.n} (no test part), d {self.d}, m {self.m}, {storage} in {self.X.parts} blocks, {self.X.dtype}, "
            f"scaling {self.scaling}"
        )


def open_partitions(
    path: Any,
    *,
    partitions: int | None = None,
    folder: Any = None,
    dtype: str = "float64",
    scale: str = "none",
    client: Any = None,
    threads: int = 1,
) -> PartitionedDataset:
    r"""Open data that are larger than memory: as blocks of rows in files that are mapped into memory.

    A file is read once, block by block, into a folder beside it; the next call finds the folder and reads nothing. No
    more than a block is in memory at a time.

    Parameters
    ----------
    path
        an svmlight/libsvm text file, plain or compressed (.gz, .bz2); a ``.npz`` file with X dense by rows or as CSR
        parts; or a folder that this function or :func:`write_partitions` has made.
    partitions
        number of blocks, about; ``None``: blocks of 128 MB of the file.
    folder
        folder for the blocks; ``None``: the name of the file with ``.partitions`` added.
    dtype
        ``"float64"`` or ``"float32"`` for the values: 12 or 8 bytes an entry of sparse data.
    scale
        ``"none"``, or ``"unit-rows"``: rows of Euclidean norm 1.
    client
        a client of dask.distributed, whose workers open the blocks; they need the same folder under the same name.
    threads
        blocks that are worked on at the same time in this process.

    Returns
    -------
    PartitionedDataset
        the data, for ``ss.Problem(data)``.

    Raises
    ------
    ValueError
        for a file that cannot be read, is damaged or announces too much, and for other formats.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> there = pathlib.Path(tempfile.mkdtemp()) / "small.svm"
    >>> _ = there.write_text("0 1:1 3:0.5\n1 2:1\n0 1:2\n1 2:3 3:1\n")
    >>> data = ss.datasets.open(there, partitions=2)
    >>> data.n, data.d, data.X.parts
    (4, 3, 2)
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype is {dtype!r}; allowed: 'float64', 'float32'")
    if scale not in SCALES:
        raise ValueError(f"scale is {scale!r}; of data in partitions allowed: {', '.join(map(repr, SCALES))}")
    if partitions is not None and (int(partitions) != partitions or partitions < 1):
        raise ValueError(f"partitions is {partitions!r}; a whole number of at least 1 is needed")
    given = Path(path).expanduser()
    if given.is_dir():
        return _opened(given, client, threads)
    found = find_file(str(path))
    if found is None:
        raise ValueError(f"there is no file or folder {str(path)!r}")
    there = found.with_name(found.name + FOLDER) if folder is None else Path(folder).expanduser()
    stat = found.stat()
    source = {
        "name": found.name, "bytes": stat.st_size, "modified_ns": stat.st_mtime_ns, "partitions": partitions,
        "dtype": dtype, "scale": scale,
    }  # fmt: skip
    if (there / HEADER).is_file():
        if read_header(there)["source"] == source:
            return _opened(there, client, threads)
    elif there.exists() and (not there.is_dir() or any(there.iterdir())):
        raise ValueError(f"{there} is there and holds no partitions; remove it, or name another with folder=")
    _reader(found)(found, there, source, partitions)
    return _opened(there, client, threads)


def write_partitions(
    folder: Any,
    blocks: Iterable[tuple[Any, Any]],
    *,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    dtype: str = "float64",
    source: str = "",
) -> None:
    """Write blocks of rows, one after the other, into a folder that :func:`open_partitions` opens.

    Parameters
    ----------
    folder
        folder to be made; one that is there is replaced when the new one is complete.
    blocks
        pairs (X, y) of rows, dense or sparse, and their labels: numbers or text, one for each row.
    class_names
        names of the classes 0…m−1, if y holds these numbers; ``None``: the labels themselves, sorted.
    feature_names
        d names or ``None``.
    dtype
        ``"float64"`` or ``"float32"``.
    source
        where the data come from.

    Raises
    ------
    ValueError
        for blocks or labels that do not fit together.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> there = pathlib.Path(tempfile.mkdtemp()) / "iris"
    >>> X, y = ss.datasets.load("iris")
    >>> ss.datasets.write_partitions(there, [(X[:50], y[:50]), (X[50:], y[50:])])
    >>> ss.datasets.open(there).X.parts
    2
    """
    labels: list[np.ndarray] = []
    with Writer(folder, dtype) as writer:
        for X, y in blocks:
            writer.add(X)
            labels.append(np.asarray(y))
            if len(labels[-1]) != writer.blocks[-1].n:
                raise ValueError(
                    f"block {len(labels) - 1} has {writer.blocks[-1].n} rows and {len(labels[-1])} labels; they must "
                    "be as many"
                )
        if not labels:
            raise ValueError("no block of rows was given; at least one is needed")
        y, _, found = encode_labels(np.concatenate(labels), class_names=class_names)
        writer.finish(y, found, feature_names, {"source": source})


def _opened(folder: Path, client: Any, threads: int) -> PartitionedDataset:
    header = read_header(folder)
    check_memory(folder, 8.0 * header["d"], f"it has {header['d']} features, of which each takes 8 bytes")
    blocks = read_blocks(folder, header)
    y = read_labels(folder, header)
    design = PartitionedDesign(
        blocks, client=client, threads=threads, feature_names=header.get("feature_names"),
        known=[block.facts for block in blocks],
    )  # fmt: skip
    name = str(header["source"].get("name") or folder.name)
    return PartitionedDataset(
        name=stem_of(Path(name)).removesuffix(FOLDER),
        title=name,
        X=design,
        y=y,
        feature_names=design.feature_names,
        class_names=header["class_names"],
        source=f"partitions in {folder}",
        scaling=str(header["source"].get("scale", "none")),
    )


def _reader(path: Path) -> Callable[[Path, Path, dict[str, Any], int | None], None]:
    name = path.name.lower()
    if name.endswith(".npz"):
        return _stream_npz
    if name.endswith(SVMLIGHT_SUFFIXES) or (not name.endswith(TABLE_SUFFIXES) and looks_like_svmlight(path)):
        return _stream_svmlight
    raise ValueError(
        f"{path} cannot be streamed into partitions; known: svmlight/libsvm text (also .gz, .bz2) and .npz. Write the "
        "blocks of other data with ss.datasets.write_partitions(folder, blocks)"
    )


def _scaled(X: Any, scale: str) -> Any:
    if scale == "none":
        return X
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else (X * X).sum(axis=1))
    norms[norms == 0.0] = 1.0
    return sp.diags_array(1.0 / norms) @ X if sp.issparse(X) else X / norms[:, None]


# ------------------------------------------------------------------------------------------------------------ svmlight
def _stream_svmlight(
    path: Path, folder: Path, source: dict[str, Any], partitions: int | None, sets: bool | None = None
) -> None:
    from sklearn.datasets import load_svmlight_file

    size = BLOCK_BYTES if partitions is None else max(1, -(-source["bytes"] // partitions))
    labels: list[Any] = []
    least = None
    with Writer(folder, source["dtype"]) as writer:
        for start, text in _pieces(path, size):
            if not sets and _has_sets(text):
                if labels:  # the lines so far had one label each, and have to be read as sets of one
                    break
                sets = True
            try:
                X, y = load_svmlight_file(io.BytesIO(text), multilabel=bool(sets), zero_based=True, dtype=np.float64)
            except (ValueError, OverflowError, IndexError, TypeError) as error:
                raise ValueError(
                    f"{path} is not a readable svmlight file: in the lines after byte {start}, {error}; each line must "
                    "be: label index:value index:value ... (or label,label,... for label sets)"
                ) from error
            if not X.shape[0]:
                continue
            check_memory(
                path, 8.0 * X.shape[1], f"it has feature {X.shape[1] - 1}; each feature up to it takes 8 bytes"
            )
            if X.nnz:
                least = int(X.indices.min()) if least is None else min(least, int(X.indices.min()))
            labels.append([set(one) for one in y] if sets else y)
            writer.add(_scaled(X, source["scale"]))
        else:
            if not labels:
                raise ValueError(f"{path} is empty: no line of data")
            if sets:
                y, _, names = encode_labels([one for part in labels for one in part])
                of = LabelSets.of(sp.csr_array(y))
                target: Any = (of.indptr, of.labels)
            else:
                target, _, names = encode_labels(np.concatenate(labels))
            writer.finish(target, names, source=source, drop_first=bool(least))
            return
    _stream_svmlight(path, folder, source, partitions, sets=True)


def _has_sets(text: bytes) -> bool:
    """Return whether a line has several labels, or none (it begins with index:value)."""
    heads = (line.split(None, 1)[:1] for line in text.splitlines() if line[:1] != b"#")
    return any(b"," in head[0] or b":" in head[0] for head in heads if head)


def _pieces(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """(first byte, whole lines of about ``size`` bytes) of a text file, unpacked on the way."""
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix.lower(), open)
    start = 0
    try:
        with opener(path, "rb") as file:
            while text := file.read(size):
                rest = file.readline(MAX_LINE)
                if len(rest) == MAX_LINE:
                    raise ValueError(f"{path}: a line has {MAX_LINE} characters or more; lines are shorter")
                yield start, text + rest
                start += len(text) + len(rest)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read ({error}); nothing of it is kept") from error


# ----------------------------------------------------------------------------------------------------------------- npz
def _stream_npz(path: Path, folder: Path, source: dict[str, Any], partitions: int | None) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            keys = {name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")}
            main = "X_train" if any(key.startswith("X_train") for key in keys) else "X"
            label = "y" + main[1:]
            sparse = main not in keys
            missing = [key for key in ([f"{main}_{part}" for part in CSR_PARTS] if sparse else []) + [label]
                       if key not in keys]  # fmt: skip
            if missing:
                raise ValueError(f"keys are missing: {', '.join(missing)} (label sets are not streamed from .npz)")
            small = {key: _Array(archive, key).read() for key in keys & {"class_names", "feature_names",
                     "feature_names_utf8", label, f"{main}_shape", f"{main}_indptr"}}  # fmt: skip
            size = BLOCK_BYTES if partitions is None else 0
            with Writer(folder, source["dtype"]) as writer:
                for X in (_csr_blocks if sparse else _dense_blocks)(archive, main, small, size, partitions or 1):
                    writer.add(_scaled(X, source["scale"]))
                n = sum(fact.n for fact in writer.blocks)
                if len(small[label]) != n:
                    raise ValueError(f"{label} has {len(small[label])} labels for {n} rows")
                y, _, names = encode_labels(small[label], class_names=names_of(small, "class_names", path))
                writer.finish(y, names, names_of(small, "feature_names", path), source,
                              d=int(small[f"{main}_shape"][1]) if sparse else 0)  # fmt: skip
    except DAMAGE as error:
        raise ValueError(f"{path} cannot be streamed into partitions: {error}") from error


class _Array:
    """An array of an archive that is read from its beginning on, a piece at a time."""

    def __init__(self, archive: zipfile.ZipFile, key: str) -> None:
        self.key = key
        self.file: IO[bytes] = archive.open(f"{key}.npy")
        version = np.lib.format.read_magic(self.file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        self.shape, self.fortran, self.dtype = read(self.file)
        if self.dtype.hasobject:
            raise ValueError(f"{key} holds Python objects, which are never unpickled")

    def take(self, count: int) -> np.ndarray:
        """The next numbers."""
        needed = count * self.dtype.itemsize
        text = self.file.read(needed)
        if len(text) != needed:
            raise ValueError(f"{self.key} is shorter than announced")
        return np.frombuffer(text, dtype=self.dtype)

    def read(self) -> np.ndarray:
        """The whole array, which fits into memory."""
        size = int(np.prod(self.shape, dtype=np.float64)) * self.dtype.itemsize
        check_memory(self.key, size, "it is read as a whole")
        return self.take(int(np.prod(self.shape))).reshape(self.shape, order="F" if self.fortran else "C")


def _csr_blocks(
    archive: zipfile.ZipFile, main: str, small: dict[str, np.ndarray], size: int, partitions: int
) -> Iterator[Any]:
    n, d = (int(k) for k in small[f"{main}_shape"])
    indptr = small[f"{main}_indptr"].astype(np.int64)
    if indptr.shape != (n + 1,) or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError(f"{main}_indptr is not that of a CSR matrix of {n} rows")
    check_memory(f"{main}_shape", 8.0 * d, f"it announces {d} features, of which each takes 8 bytes")
    data, indices = _Array(archive, f"{main}_data"), _Array(archive, f"{main}_indices")
    most = size // (data.dtype.itemsize + indices.dtype.itemsize) if size else -(-int(indptr[-1]) // partitions)
    start = 0
    while start < n:
        stop = max(start + 1, int(np.searchsorted(indptr, indptr[start] + max(most, 1), side="right")) - 1)
        count = int(indptr[stop] - indptr[start])
        X = sp.csr_array((data.take(count), indices.take(count), indptr[start : stop + 1] - indptr[start]),
                         shape=(stop - start, d))  # fmt: skip
        yield X
        start = stop


def _dense_blocks(
    archive: zipfile.ZipFile, main: str, small: dict[str, np.ndarray], size: int, partitions: int
) -> Iterator[np.ndarray]:
    X = _Array(archive, main)
    if len(X.shape) != 2 or X.fortran:
        raise ValueError(f"{main} is not a matrix by rows (C order); save it with numpy.ascontiguousarray")
    n, d = X.shape
    rows = max(1, size // max(d * X.dtype.itemsize, 1)) if size else max(1, -(-n // partitions))
    for start in range(0, n, rows):
        count = min(rows, n - start)
        yield X.take(count * d).reshape(count, d)
