"""Blocks of rows in files that are mapped into memory: the folder that keeps a data set larger than memory.

A folder holds, with numbers in little-endian order:

``header.json``
    ``format`` (:data:`FORMAT`), ``version``, ``n``, ``d``, ``sparse``, ``dtype`` (``<f8`` or ``<f4``), ``class_names``,
    ``feature_names`` (or null), ``multilabel``, ``source`` (what it was made of), and for each block in ``blocks`` its
    ``n``, ``nnz`` and ``magnitude`` (largest absolute value)
``00000.data.npy``, ``00000.indices.npy``, ``00000.indptr.npy``
    block 0 of sparse data, its rows by columns (CSC): values, row numbers within the block (int32), index pointers
    (d + 1, int64). Dense data have ``00000.dense.npy`` (n, d) by columns instead
``y.npy``
    classes 0…m−1, (n,) int64; of label sets ``y_indptr.npy`` (n + 1) and ``y_labels.npy``

It is written under another name and renamed when it is complete: a folder is whole, or it is not there. Nothing in it
is ever unpickled. Each block is checked when it is first used in a process: compiled code relies on its indices.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .design import Design
from .row_blocks import Block, Facts

FORMAT, VERSION = "sparsescope-partitions", 1
HEADER = "header.json"
UNFINISHED = ".unfinished-"  # and the number of the process that writes it
MOST_HEADER = 2**28  # bytes


class MappedBlock(Block):
    """A block in files. Its pages count as memory of this process while it is in use, and are given back after it.

    Parameters
    ----------
    folder
        folder of the store.
    number
        number of the block.
    facts
        its sizes, as the header has them.
    """

    def __init__(self, folder: Path | str, number: int, facts: Facts) -> None:
        self.folder, self.number, self.facts = Path(folder).resolve(), number, facts
        self._design: Design | None = None
        self._maps: list[mmap.mmap] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_design": None, "_maps": []}

    def design(self) -> Design:
        if self._design is None:
            self._design = self._checked()
        return self._design

    def prefetch(self) -> None:
        for mapped in self._maps:
            _advise(mapped, "MADV_WILLNEED")
        if self._design is None and hasattr(os, "posix_fadvise"):
            for part in ("data", "indices") if self.facts.is_sparse else ("dense",):
                path = self.folder / _file(self.number, part)
                if not path.is_file():
                    return  # design() says so
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    def release(self) -> None:
        for mapped in self._maps:
            _advise(mapped, "MADV_DONTNEED")

    def _checked(self) -> Design:
        fact, dtype = self.facts, np.dtype(self.facts.dtype)
        try:
            if not fact.is_sparse:
                return Design(self._array("dense", dtype, (fact.n, fact.d)))
            data = self._array("data", dtype, (fact.nnz,))
            indices = self._array("indices", np.dtype("<i4"), (fact.nnz,))
            indptr = self._array("indptr", np.dtype("<i8"), (fact.d + 1,)).astype(np.int32)
            matrix = sp.csc_array((data, indices, indptr), shape=(fact.n, fact.d))
            found = Design(matrix)
            if not np.shares_memory(found.matrix.data, data):
                raise ValueError("rows within a column do not ascend, or are there twice")
        except ValueError as error:
            raise ValueError(
                f"block {self.number} of {self.folder} is damaged ({error}); remove the folder and make it again"
            ) from None
        return found

    def _array(self, part: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
        path = self.folder / _file(self.number, part)
        try:
            array: np.ndarray = np.load(path, mmap_mode=None if 0 in shape else "c", allow_pickle=False)
        except (OSError, EOFError, ValueError) as error:
            raise ValueError(f"{path.name} cannot be read: {error}") from None
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{path.name} holds {array.dtype} {array.shape}, the header announces {dtype} {shape}")
        if isinstance(array.base, mmap.mmap):
            self._maps.append(array.base)
        return array.view(np.ndarray)


def _advise(mapped: mmap.mmap, what: str) -> None:
    advice = getattr(mmap, what, None)  # not on every system
    if advice is not None:
        mapped.madvise(advice)


def _file(number: int, part: str) -> str:
    return f"{number:05d}.{part}.npy"


# ------------------------------------------------------------------------------------------------------------- writing
class Writer:
    """Writes a folder block by block; a context, which removes what is unfinished when it is left with an error.

    Parameters
    ----------
    folder
        folder to be made; one that is there is replaced when the new one is complete.
    dtype
        ``float64`` or ``float32``, for the values.
    """

    def __init__(self, folder: Path | str, dtype: Any = np.float64) -> None:
        self.folder, self.dtype = Path(folder), np.dtype(dtype).newbyteorder("<")
        self.blocks: list[Facts] = []
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        remove_unfinished(self.folder)
        self._there = self.folder.with_name(f".{self.folder.name}{UNFINISHED}{os.getpid()}")
        shutil.rmtree(self._there, ignore_errors=True)
        self._there.mkdir()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self._there, ignore_errors=True)

    def add(self, X: Any) -> None:
        """Write the next rows.

        Parameters
        ----------
        X
            rows, dense or sparse; a sparse block may have fewer columns than others.

        Raises
        ------
        ValueError
            for a mixture of dense and sparse blocks, entries that are not finite, and a disk without room.
        """
        design = Design(X)
        sparse = design.is_sparse
        if self.blocks and self.blocks[0].is_sparse != sparse:
            raise ValueError("some blocks are dense and others sparse; all must be of one kind")
        size = design.nnz * (self.dtype.itemsize + 4 * sparse) + 8 * (design.d + 1)
        free = shutil.disk_usage(self._there).free
        if size > free:
            raise ValueError(
                f"the disk of {self.folder} has no room for block {len(self.blocks)}: {size} bytes are needed, {free} "
                "are free; give another folder, or dtype='float32'"
            )
        number = len(self.blocks)
        if sparse:
            matrix = design.matrix
            if matrix.nnz >= 2**31 - 1:
                raise ValueError(f"block {number} has {matrix.nnz} entries, more than 2³¹ − 2; use smaller blocks")
            self._save(number, "data", matrix.data.astype(self.dtype, copy=False))
            self._save(number, "indices", matrix.indices.astype("<i4", copy=False))
            self._save(number, "indptr", matrix.indptr.astype("<i8"))
        else:
            self._save(number, "dense", np.asfortranarray(design.matrix, dtype=self.dtype))
        self.blocks.append(Facts(design.n, design.d, design.nnz, self.dtype.str, sparse, design.magnitude))

    def finish(
        self,
        y: Any,
        class_names: Iterable[str],
        feature_names: Iterable[str] | None = None,
        source: Mapping[str, Any] | None = None,
        drop_first: bool = False,
        d: int = 0,
    ) -> None:
        """Write labels and header, and give the folder its name.

        Parameters
        ----------
        y
            classes (n,), or a pair (indptr, labels) of label sets.
        class_names, feature_names
            names.
        source
            what the folder was made of.
        drop_first
            leave out the first column, which is empty: features are counted from 1.
        d
            number of features, at least.

        Raises
        ------
        ValueError
            if there is no block, or dense blocks have different numbers of columns.
        """
        if not self.blocks:
            raise ValueError("no block of rows was given; at least one is needed")
        d = max(d + drop_first, *(fact.d for fact in self.blocks), 0)
        sparse = self.blocks[0].is_sparse
        for number, fact in enumerate(self.blocks):
            if sparse and (fact.d < d or drop_first):
                path = self._there / _file(number, "indptr")
                indptr = np.load(path, allow_pickle=False)
                self._save(number, "indptr", np.pad(indptr, (0, d - fact.d), mode="edge")[int(drop_first) :])
            elif fact.d != d:
                raise ValueError(f"block {number} has {fact.d} columns, another {d}; dense blocks must agree")
        multilabel = isinstance(y, tuple)
        for name, array in (("y_indptr", y[0]), ("y_labels", y[1])) if multilabel else (("y", y),):
            np.save(self._there / f"{name}.npy", np.ascontiguousarray(array, dtype="<i8"))
        header = {
            "format": FORMAT,
            "version": VERSION,
            "n": sum(fact.n for fact in self.blocks),
            "d": d - drop_first,
            "sparse": sparse,
            "dtype": self.dtype.str,
            "multilabel": multilabel,
            "class_names": [str(name) for name in class_names],
            "feature_names": None if feature_names is None else [str(name) for name in feature_names],
            "source": dict(source or {}),
            "blocks": [{"n": f.n, "nnz": f.nnz, "magnitude": f.magnitude} for f in self.blocks],
        }
        (self._there / HEADER).write_text(json.dumps(header), encoding="utf-8")
        if self.folder.exists():
            shutil.rmtree(self.folder)
        os.replace(self._there, self.folder)

    def _save(self, number: int, part: str, array: np.ndarray) -> None:
        np.save(self._there / _file(number, part), array, allow_pickle=False)


def remove_unfinished(folder: Path) -> None:
    """Remove what writers of this folder left that are gone.

    Parameters
    ----------
    folder
        the folder that they were to make.
    """
    for left in folder.parent.glob(f".{folder.name}{UNFINISHED}*"):
        number = left.name.rpartition("-")[2]
        if number.isdecimal() and int(number) != os.getpid() and not _alive(int(number)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# ------------------------------------------------------------------------------------------------------------- reading
def read_header(folder: Path | str) -> dict[str, Any]:
    """Read and check the header of a folder.

    Parameters
    ----------
    folder
        the folder.

    Returns
    -------
    dict
        the header.

    Raises
    ------
    ValueError
        if the folder is not one of these, or its header is damaged.
    """
    path = Path(folder) / HEADER
    try:
        if path.stat().st_size > MOST_HEADER:
            raise ValueError(f"it has more than {MOST_HEADER} bytes")
        header = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if header.get("version") != VERSION:
            raise ValueError(f"version {header.get('version')!r} is not known here; known: {VERSION}")
        _check_header(header)
    except FileNotFoundError:
        raise ValueError(f"{folder} has no {HEADER}: it is no folder of partitions") from None
    except (OSError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    return header


def _check_header(header: Mapping[str, Any]) -> None:
    sizes = [header.get("n"), header.get("d")]
    blocks, names = header.get("blocks"), header.get("class_names")
    if not all(type(size) is int and 0 < size < 2**62 for size in sizes):
        raise ValueError("n and d are not positive whole numbers")
    if header.get("dtype") not in ("<f8", "<f4") or type(header.get("sparse")) is not bool:
        raise ValueError("dtype is not '<f8' or '<f4', or sparse not true or false")
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise ValueError("class_names are not two texts or more")
    features = header.get("feature_names")
    if features is not None and not (isinstance(features, list) and len(features) == header["d"]):
        raise ValueError("feature_names are not as many as features")
    if not isinstance(blocks, list) or not blocks:
        raise ValueError("it lists no blocks")
    for block in blocks:
        if not isinstance(block, dict) or not all(
            type(block.get(name)) is int and 0 <= block[name] < 2**31 - 1 for name in ("n", "nnz")
        ):
            raise ValueError("a block has no n and nnz below 2³¹ − 1")
        value = block.get("magnitude")
        if not isinstance(value, int | float) or not 0.0 <= value < float("inf"):
            raise ValueError("a block has no finite magnitude")
    if sum(block["n"] for block in blocks) != header["n"]:
        raise ValueError("the blocks' rows do not add up to n")


def read_blocks(folder: Path | str, header: Mapping[str, Any]) -> list[MappedBlock]:
    """Return the blocks of a folder; none of them is read.

    Parameters
    ----------
    folder
        the folder.
    header
        its header.

    Returns
    -------
    list
        the blocks.
    """
    return [
        MappedBlock(
            folder,
            number,
            Facts(
                block["n"], header["d"], block["nnz"] if header["sparse"] else block["n"] * header["d"],
                header["dtype"], header["sparse"], float(block["magnitude"]),
            ),
        )
        for number, block in enumerate(header["blocks"])
    ]  # fmt: skip


def read_labels(folder: Path | str, header: Mapping[str, Any]) -> Any:
    """Read the labels of a folder.

    Parameters
    ----------
    folder
        the folder.
    header
        its header.

    Returns
    -------
    Any
        classes (n,) int64, or the CSR indicator (n, m) of label sets.

    Raises
    ------
    ValueError
        for labels that do not fit the header.
    """
    n, m = header["n"], len(header["class_names"])
    try:
        if not header.get("multilabel"):
            y = np.load(Path(folder) / "y.npy", allow_pickle=False)
            if y.dtype != np.dtype("<i8") or y.shape != (n,) or y.min() < 0 or y.max() >= m:
                raise ValueError(f"y.npy is not one of {m} classes for each of {n} samples")
            return y.astype(np.int64, copy=False)
        indptr, labels = (np.load(Path(folder) / f"y_{part}.npy", allow_pickle=False) for part in ("indptr", "labels"))
        made = sp.csr_array((np.ones(labels.size, np.uint8), labels, indptr), shape=(n, m))
        made.check_format(full_check=True)
        return made
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise ValueError(f"the labels of {folder} cannot be read: {error}") from None
