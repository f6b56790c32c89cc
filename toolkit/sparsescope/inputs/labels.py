"""Validation of targets: one class per sample, or a set of labels per sample, in the usual formats.

Classes become integers 0…m−1, shape (n,), int64. Label sets become lists (:class:`LabelSets`), and where that is asked
for an indicator matrix, shape (n, m), uint8 in C order, whose rows are what the row functions of a loss see; empty and
full sets are allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from .is_sparse import is_sparse
from .single_labels import label_array
from .sparse import check_sparse

MOST_BYTES = 4_000_000_000  # of one full array of samples or features by labels; methods for more keep them sparse
NESTED = (set, frozenset, list, tuple, np.ndarray)
MOST_SHOWN = 20  # labels listed in a message


def fits_dense(what: str, rows: int, m: int, itemsize: int, instead: str) -> None:
    """``ValueError`` naming the bytes if a full array of rows × m numbers would take more than 4 GB."""
    size = rows * m * itemsize
    if size > MOST_BYTES:
        raise ValueError(
            f"{what} as a full array of {rows} × {m} numbers would take {size / 1e9:.1f} GB, more than "
            f"the {MOST_BYTES / 1e9:g} GB allowed; {instead}"
        )


class LabelSets:
    """The label sets of n samples as lists: sample i has labels[indptr[i]:indptr[i + 1]], in order, each once.

    indptr (n + 1,) int64 · labels int32 · m : number of labels
    """

    def __init__(self, indptr: np.ndarray, labels: np.ndarray, m: int) -> None:
        self.indptr, self.labels, self.m = indptr, labels, m

    @classmethod
    def of(cls, matrix: Any) -> LabelSets:
        """Make label sets from an indicator (n, m): dense, or sparse with the entries 0 and 1."""
        if is_sparse(matrix):
            csr = scipy.sparse.csr_array(matrix)
            if csr is matrix or not csr.data.all() or not csr.has_canonical_format:
                csr = csr.copy()
            csr.sum_duplicates()
            csr.eliminate_zeros()
            return cls(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), int(csr.shape[1]))
        rows, labels = np.nonzero(matrix)
        sizes = np.bincount(rows, minlength=len(matrix))
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), labels.astype(np.int32), matrix.shape[1])

    def __len__(self) -> int:
        return self.indptr.size - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return len(self), self.m

    @property
    def partial(self) -> np.ndarray:
        """Flags of the samples that have some labels, but not all, (n,) bool: the others have no loss."""
        sizes = np.diff(self.indptr)
        return np.asarray((sizes > 0) & (sizes < self.m))

    @property
    def shares(self) -> np.ndarray:
        """Share of the samples that have each label, (m,) float64."""
        return np.bincount(self.labels, minlength=self.m) / len(self)

    def sparse(self) -> scipy.sparse.csr_array:
        """The indicator as a CSR matrix (n, m), uint8."""
        ones = np.ones(self.labels.size, dtype=np.uint8)
        return scipy.sparse.csr_array((ones, self.labels.copy(), self.indptr.copy()), shape=self.shape)

    def indicator(self) -> np.ndarray:
        """The indicator (n, m), uint8 in C order; ``ValueError`` if it would take more than 4 GB."""
        fits_dense("the label sets", len(self), self.m, 1, "choose a solver with sparse weights, such as pd-sparse")
        Y = np.zeros(self.shape, dtype=np.uint8)
        Y[np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.labels] = 1
        return Y


def holds_sets(y: Any, n: int | None = None) -> bool:
    """Return whether ``y`` holds label sets: an indicator matrix (two columns or more) or a list of lists.

    A list of lists of numbers, all of the same length, is a matrix and not a list of label lists; sets of labels are
    always label sets. A single row of n numbers is n class labels, unless there is one sample only.
    """
    if is_sparse(y):
        return True
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        return len(y.columns) > 1
    if _label_lists(y) is not None:
        return True
    shape = np.shape(y)
    if len(shape) != 2 or shape[1] < 2:
        return False
    return shape[0] > 1 or n == 1


def check_labels(
    y: Any, n: int, class_names: list[str] | None = None
) -> tuple[np.ndarray | LabelSets, list[str], np.ndarray | None]:
    """Targets (classes as integers, or label lists), the names of classes or labels, and the labels as they were given.

    Classes: integers 0…m−1 (m from ``class_names`` if given) are taken as they are; any other labels (words, other
    numbers) are numbered in sorted order and keep their text as names. Label sets (see :func:`holds_sets`): columns of
    an indicator, or the labels found in the lists by the same rule. The third value is ``None`` where labels are
    already the numbers 0…m−1.

    Raises ``ValueError`` if the number of samples is not n, a label is missing, there are fewer than two classes or
    labels, a label is outside the named ones, an indicator has entries other than 0 and 1, or all sets are empty or
    full.
    """
    if holds_sets(y, n):
        (Y,), set_names, values = read_lists([y], class_names)
        if len(Y) != n:
            raise ValueError(f"y has {len(Y)} label sets, X has {n} samples; they must be equal")
        if not Y.partial.any():
            raise ValueError(
                "all label sets of y are empty or full, so there is nothing to tell labels apart by; at "
                "least one sample has to have some labels and lack some"
            )
        return Y, set_names, values
    labels = _label_array(y, n)
    found, codes = np.unique(labels, return_inverse=True)
    if found.size < 2:
        raise ValueError(f"y has one class only ({_show(found[0])}); at least two are needed")
    numbered = labels.dtype.kind in "iu" and int(found[0]) >= 0
    if class_names is not None:
        names = [str(c) for c in class_names]
        if not numbered or int(found[-1]) >= len(names):
            raise ValueError(
                f"{len(names)} class names are given, so labels must be whole numbers 0…{len(names) - 1}; "
                f"found {_show(found[0])}…{_show(found[-1])}"
            )
        return np.array(labels, dtype=np.int64), names, None
    names = [str(c) for c in found]
    if numbered and int(found[-1]) == found.size - 1:
        return np.array(labels, dtype=np.int64), names, None
    return np.array(codes, dtype=np.int64), names, found


def match_labels(y: Any, class_names: list[str], values: np.ndarray | None, multilabel: bool) -> np.ndarray | LabelSets:
    """Targets of other samples (held out) in the numbering of :func:`check_labels`: (k,) int64 or label lists.

    Any of the classes or labels may be missing, and their names are understood too. ``ValueError`` for a label that is
    none of them, for an indicator with another number of columns, and for classes in place of label sets.
    """
    if multilabel:
        return _match_sets(y, class_names, values)
    labels = _label_array(y, np.size(y))
    known = _numbers(labels.dtype.kind, class_names, values)
    codes = [known.get(label, -1) for label in labels.tolist()]
    if -1 in codes:
        strange = labels.tolist()[codes.index(-1)]
        raise ValueError(f"label {strange!r} is none of the classes; known: {', '.join(map(str, known))}")
    return np.array(codes, dtype=np.int64)


def _numbers(kind: str, class_names: list[str], values: np.ndarray | None) -> dict[Any, int]:
    """Label -> number, for labels of a numpy kind."""
    if values is None and kind in "iub":
        return {k: k for k in range(len(class_names))}
    if values is None or (kind in "OU") != (values.dtype.kind in "OU"):
        return {name: k for k, name in enumerate(class_names)}
    return {value: k for k, value in enumerate(values.tolist())}


# ----------------------------------------------------------------------------------------------------------- label sets
def partial(Y: np.ndarray) -> np.ndarray:
    """Flag the rows of an indicator (n, m) that have some labels, but not all, (n,) bool: the others have no loss."""
    sizes = Y.sum(axis=1, dtype=np.int64)
    return np.asarray((sizes > 0) & (sizes < Y.shape[1]))


def read_sets(
    parts: Sequence[Any], class_names: Sequence[str] | None = None, what: str = "y"
) -> tuple[list[np.ndarray], list[str], np.ndarray | None]:
    """Read label sets as :func:`read_lists` does, into dense indicators (k, m) uint8 instead of lists."""
    found, names, values = read_lists(parts, class_names, what)
    return [sets.indicator() for sets in found], names, values


def read_lists(
    parts: Sequence[Any], class_names: Sequence[str] | None = None, what: str = "y"
) -> tuple[list[LabelSets], list[str], np.ndarray | None]:
    """Label sets of one or several parts of a data set: their lists, the labels' names and values (or ``None``).

    Each part is an indicator matrix (dense, sparse or a data frame), or a list of lists or sets of labels: whole
    numbers or words. Without ``class_names`` the labels are the columns, or those found in any part, sorted.
    """
    lists = [_label_lists(part, what) for part in parts]
    names = None if class_names is None else [str(c) for c in class_names]
    if any(found is None for found in lists) and any(found is not None for found in lists):
        raise ValueError(f"{what} is an indicator matrix in one part and lists of labels in the other; use one form")
    values: np.ndarray | None = None
    if lists[0] is None:
        if names is None and hasattr(parts[0], "columns"):
            names = [str(c) for c in parts[0].columns]
        coded = [LabelSets.of(checked_indicator(part, what)) for part in parts]
        width = coded[0].m
        for Y in coded[1:]:
            if Y.m != width:
                raise ValueError(
                    f"{what} has {width} columns in one part and {Y.m} in the other; needed: a column for each label"
                )
        names = [str(k) for k in range(width)] if names is None else names
        if len(names) != width:
            raise ValueError(f"{len(names)} class names for the {width} columns of {what}; the numbers must be equal")
    else:
        given = [found for found in lists if found is not None]
        if names is None:
            names, values = _found_labels(given, what)
        coded = [_fill(found, _known(names, values), len(names), what) for found in given]
    if len(names) < 2:
        raise ValueError(f"{what} has {len(names)} label(s) only; at least two are needed")
    return coded, names, values


def indicator(Y: Any, what: str = "y") -> np.ndarray:
    """An indicator matrix as uint8 (n, m) in C order; ``ValueError`` names an entry that is neither 0 nor 1."""
    Y = checked_indicator(Y, what)
    return LabelSets.of(Y).indicator() if is_sparse(Y) else np.array(Y, dtype=np.uint8, order="C")


def checked_indicator(Y: Any, what: str) -> Any:
    """An indicator matrix as an array or sparse matrix; ``ValueError`` names an entry that is neither 0 nor 1."""
    if is_sparse(Y):
        coo = scipy.sparse.coo_array(check_sparse(Y, what))
        coo.sum_duplicates()
        places, entries = np.column_stack(coo.coords), coo.data
    else:
        Y = Y.to_numpy() if hasattr(Y, "to_numpy") else np.asarray(Y)
        places, entries = None, Y
    if Y.ndim != 2:
        raise ValueError(f"{what} has {Y.ndim} dimension(s); an indicator matrix has shape (n samples, m labels)")
    if entries.dtype.kind not in "buif":
        raise ValueError(f"{what} holds {entries.dtype} values; an indicator matrix holds only 0 and 1")
    wrong = np.argwhere((entries != 0) & (entries != 1))
    if len(wrong):
        i, c = wrong[0] if places is None else places[wrong[0, 0]]
        entry = entries[tuple(wrong[0])]
        raise ValueError(
            f"{what} has {len(wrong)} entries other than 0 and 1, the first, {entry:g}, at sample {i}, "
            f"label {c}; an indicator matrix holds only 0 and 1 (lists of labels: give sets, as {{0, 2}})"
        )
    return coo if is_sparse(Y) else Y


def _label_lists(y: Any, what: str = "y", width: int | None = None) -> list[list[Any]] | None:
    """The label lists of ``y``, or ``None`` if it is something else (a matrix, or one label a sample).

    Lists of numbers that all have the same length are a matrix; where the number of its columns is known, only those
    of that ``width`` are.
    """
    if is_sparse(y) or hasattr(y, "columns"):
        return None
    if isinstance(y, np.ndarray):
        if y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "OU":
            return [list(row) for row in y]
        if y.ndim != 1 or y.dtype.kind != "O":
            return None
    elif not isinstance(y, list | tuple) and getattr(getattr(y, "dtype", None), "kind", "") != "O":
        return None  # a pandas series of lists has the dtype object
    items = list(y)
    nested = [isinstance(item, NESTED) for item in items]
    if not any(nested):
        return None
    if not all(nested):
        at = nested.index(False)
        raise ValueError(
            f"{what} mixes label sets and single labels: sample {at} has {items[at]!r}; give each sample "
            "a set, also those with one label"
        )
    if not any(isinstance(item, set | frozenset) for item in items):
        numbers = all(isinstance(v, int | float | np.number | np.bool_) for item in items for v in item)
        lengths = {len(item) for item in items}
        if len(lengths) == 1 and (numbers or lengths == {1}) and width in (None, *lengths):
            return None  # a matrix (or a column) written as nested lists
    return [list(item) for item in items]


def _found_labels(parts: Sequence[list[list[Any]]], what: str) -> tuple[list[str], np.ndarray | None]:
    """Names and values of the labels found; values are ``None`` when they are 0…m−1."""
    found = {_plain_label(label, i, what) for part in parts for i, labels in enumerate(part) for label in labels}
    if len({isinstance(label, str) for label in found}) > 1:
        raise ValueError(f"{what} mixes labels of different kinds (words and numbers); one kind is needed")
    ordered = sorted(found)
    names = [str(label) for label in ordered]
    return names, None if ordered == list(range(len(ordered))) else np.array(ordered)


def _known(names: list[str], values: np.ndarray | None) -> dict[Any, int]:
    """Label -> number: values (or the numbers 0…m−1) and, where they are not taken, names."""
    known: dict[Any, int] = {name: k for k, name in enumerate(names)}
    known.update({k: k for k in range(len(names))} if values is None else {v: k for k, v in enumerate(values.tolist())})
    return known


def _fill(sets: list[list[Any]], known: dict[Any, int], m: int, what: str) -> LabelSets:
    indptr, numbers = np.zeros(len(sets) + 1, dtype=np.int64), []
    for i, labels in enumerate(sets):
        own = set()
        for label in labels:
            k = known.get(_plain_label(label, i, what))
            if k is None:
                shown = ", ".join(map(str, list(known)[:MOST_SHOWN])) + (" …" if len(known) > MOST_SHOWN else "")
                raise ValueError(f"label {_show(label)} of sample {i} is none of the labels; known: {shown}")
            own.add(k)
        numbers += sorted(own)
        indptr[i + 1] = len(numbers)
    return LabelSets(indptr, np.array(numbers, dtype=np.int32), m)


def _plain_label(label: Any, sample: int, what: str) -> Any:
    """A label as int or str; ``ValueError`` for anything else."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bytes):
        label = label.decode()
    if isinstance(label, str):
        return label
    if isinstance(label, int | float) and math.isfinite(label) and label == round(label):
        return int(label)
    raise ValueError(f"{what}: sample {sample} has the label {_show(label)}; allowed are whole numbers and words")


def _match_sets(y: Any, class_names: list[str], values: np.ndarray | None) -> LabelSets:
    m = len(class_names)
    lists = _label_lists(y, width=m)
    if lists is not None:
        return _fill(lists, _known(class_names, values), m, "y")
    if not is_sparse(y) and len(np.shape(y)) != 2:
        raise ValueError(f"y has shape {np.shape(y)}; label sets are needed: an indicator (k, {m}) or a list of sets")
    Y = LabelSets.of(checked_indicator(y, "y"))
    if Y.m != m:
        raise ValueError(f"y has {Y.m} columns, the problem {m} labels; the numbers must be equal")
    return Y


# --------------------------------------------------------------------------------------------------- one class a sample
def _label_array(y: Any, n: int) -> np.ndarray:
    """One label for each of n samples."""
    labels = label_array(y)
    if labels.size != n:
        raise ValueError(f"y has {labels.size} labels, X has {n} samples; they must be equal")
    return labels


def _show(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
