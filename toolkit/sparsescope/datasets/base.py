"""The :class:`Dataset`: a classification problem with its names, and the checks every data set passes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..inputs.labels import checked_indicator, holds_sets, indicator, partial, read_sets
from ..inputs.single_labels import label_array
from ..inputs.sparse import check_sparse

MAX_CLASSES_SHOWN = 30  # a longer table in a notebook hides the rest of the page


class Truth(NamedTuple):
    """Planted row-sparse weight matrix.

    Parameters
    ----------
    rows
        numbers of its non-zero rows, (k,).
    values
        these rows, (k, m); a sparse matrix for very many classes.

    Examples
    --------
    >>> data = ss.datasets.make_text(n=60, d=80, m=3)
    >>> data.truth.values.shape == (len(data.truth.rows), 3)
    True
    """

    rows: np.ndarray
    values: Any

    def weights(self, d: int) -> Any:
        """Return the whole matrix.

        Parameters
        ----------
        d
            number of rows.

        Returns
        -------
        Any
            weights (d, m): dense, or CSR where the rows are sparse.
        """
        if sp.issparse(self.values):
            counts = np.zeros(d, dtype=np.int64)
            counts[self.rows] = np.diff(self.values.indptr)
            indptr = np.concatenate([[0], np.cumsum(counts)])
            return sp.csr_array((self.values.data, self.values.indices, indptr), shape=(d, self.values.shape[1]))
        W = np.zeros((d, self.values.shape[1]))
        W[self.rows] = self.values
        return W


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Multiclass or multilabel data set: ``X, y = dataset`` or ``Problem(dataset, ...)``.

    Parameters
    ----------
    name
        name, also in traces.
    title
        title in menus.
    X
        array (n, d) of floats, CSR or CSC matrix, one row per sample.
    y
        class numbers 0..m-1, (n,) int64; or for label sets their indicator (n, m), uint8: an array, or a CSR matrix
        where it was given as a sparse one.
    X_test, y_test
        the test part, or both ``None``.
    feature_names
        d names or ``None``.
    class_names
        m names.
    image_shape
        (height, width) when the d features are the pixels of an image, row by row.
    description
        a paragraph about the data.
    source, licence
        origin and terms of use.
    scaling
        scaling of the values (see :mod:`sparsescope.datasets.scaling`).
    truth
        planted weights or ``None``.
    own_split
        whether the test part came with the data, so that no seed decides it.

    Raises
    ------
    ValueError
        when shapes disagree, a value is not finite, a label is out of range, or only one class (or only empty and
        full label sets) occurs.

    Examples
    --------
    >>> data = ss.datasets.load("wine")
    >>> data.n, data.d, data.m, data.scaling
    (134, 13, 3, 'standard')
    >>> X, y = data
    """

    name: str
    title: str
    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None
    feature_names: list[str] | None = None
    class_names: Sequence[str] = ()
    image_shape: tuple[int, int] | None = None
    description: str = ""
    source: str = ""
    licence: str = ""
    scaling: str = "none"
    truth: Truth | None = None
    own_split: bool = False

    def __post_init__(self) -> None:
        where = f"data set {self.name!r}"
        features = None if self.feature_names is None else [str(f) for f in self.feature_names]
        X = check_matrix(self.X, f"{where}: X", features)
        check = check_label_sets if np.ndim(self.y) == 2 else check_class_numbers
        y = check(self.y, len(self.class_names), X.shape[0], f"{where}: y")
        if y.ndim == 2 and not partial(y).any():
            raise ValueError(f"{where}: all label sets of y are empty or full; at least one has to have some labels "
                             "and lack some")  # fmt: skip
        if y.ndim == 1 and np.all(y == y[0]):
            raise ValueError(f"{where}: y has one class only ({self.class_names[int(y[0])]!r}); at least 2 are needed")
        X_test, y_test = self.X_test, self.y_test
        if (X_test is None) != (y_test is None):
            raise ValueError(f"{where}: X_test and y_test must be given together")
        if X_test is not None:
            X_test = check_matrix(X_test, f"{where}: X_test", features)
            if X_test.shape[1] != X.shape[1]:
                raise ValueError(f"{where}: X has {X.shape[1]} columns but X_test has {X_test.shape[1]}")
            y_test = check(y_test, len(self.class_names), X_test.shape[0], f"{where}: y_test")
        if features is not None and len(features) != X.shape[1]:
            raise ValueError(f"{where}: {len(features)} feature names for {X.shape[1]} columns")
        shape = self.image_shape
        if shape is not None:
            shape = (int(shape[0]), int(shape[1]))
            if shape[0] * shape[1] != X.shape[1]:
                needed = shape[0] * shape[1]
                raise ValueError(f"{where}: image_shape {shape} needs {needed} columns, X has {X.shape[1]}")
        clean = {"X": X, "y": y, "X_test": X_test, "y_test": y_test, "feature_names": features, "image_shape": shape}
        for key, value in clean.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "class_names", [str(c) for c in self.class_names])

    @property
    def n(self) -> int:
        """Number of training examples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def m(self) -> int:
        """Number of classes, or of labels."""
        return len(self.class_names)

    @property
    def multilabel(self) -> bool:
        """True if every example has a set of labels; else it has one class."""
        return self.y.ndim == 2

    @property
    def train(self) -> tuple[Any, Any]:
        """The pair (X, y)."""
        return self.X, self.y

    @property
    def test(self) -> tuple[Any, Any] | None:
        """The pair (X_test, y_test), or None when there is no test part."""
        return None if self.y_test is None else (self.X_test, self.y_test)

    @property
    def nnz(self) -> int:
        """Number of non-zero entries of X."""
        return int(self.X.nnz) if sp.issparse(self.X) else int(np.count_nonzero(self.X))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def _shape_in_words(self) -> str:
        storage = f"{self.X.format.upper()} with {self.nnz} entries" if sp.issparse(self.X) else "dense"
        test = "no test part" if self.y_test is None else f"{self.X_test.shape[0]} for test"
        labels = f", {self.y.sum(axis=1).mean():.2g} labels a row" if self.multilabel else ""
        return f"n {self.n} ({test}), d {self.d}, m {self.m}{labels}, {storage} {self.X.dtype}, scaling {self.scaling}"

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {self._shape_in_words()})"

    def _repr_html_(self) -> str:
        def row(*cells: str) -> str:
            return "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells) + "</tr>"

        counts = class_sizes(self.y, self.m)
        tests = None if self.y_test is None else class_sizes(self.y_test, self.m)
        rows = [
            row(name, str(counts[k]), "" if tests is None else str(tests[k]))
            for k, name in enumerate(self.class_names[:MAX_CLASSES_SHOWN])
        ]
        if self.m > MAX_CLASSES_SHOWN:
            rows.append(row(f"… and {self.m - MAX_CLASSES_SHOWN} more", "", ""))
        facts = [self._shape_in_words(), self.description, self.source and f"Source: {self.source}"]
        facts.append(self.licence and f"Licence: {self.licence}")
        text = "".join(f"<div>{html.escape(fact)}</div>" for fact in facts if fact)
        head = f"<tr><th>{'label' if self.multilabel else 'class'}</th><th>train</th><th>test</th></tr>"
        title = f"<b>{html.escape(self.title)}</b> ({html.escape(self.name)})"
        return f"<div>{title}{text}<table>{head}{''.join(rows)}</table></div>"


def check_matrix(X: Any, what: str, feature_names: Sequence[str] | None = None) -> Any:
    """X as a 2-D float32/float64 array or canonical CSR/CSC matrix without NaN and infinity.

    Numbers of other types become float64. Raises ValueError naming `what`, and the first bad entry.
    """
    if sp.issparse(X):
        if X.ndim != 2:
            raise ValueError(f"{what} has {X.ndim} dimension(s); a matrix with one row an example is needed")
        check_sparse(X, what)
        kind = sp.csc_matrix if X.format == "csc" else sp.csr_matrix
        numeric(X.dtype, what)
        X = kind(X, dtype=float_dtype(X.dtype))
        if not X.has_canonical_format:
            X = X.copy()  # summing duplicates works in place, and these may be the caller's arrays
            X.sum_duplicates()
        values = X.data
    else:
        X = np.asarray(X)
        numeric(X.dtype, what)
        if X.ndim != 2:
            raise ValueError(f"{what} has shape {X.shape}; a matrix with one row an example is needed")
        X = X.astype(float_dtype(X.dtype), copy=False)
        values = X
    if 0 in X.shape:
        raise ValueError(f"{what} is empty: shape {X.shape}; at least one row and one column are needed")
    # One pass without a temporary of the size of X: a sum is finite when all terms are (overflow is looked at below).
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError(f"{what} {not_finite(X, feature_names)}")
    return X


def numeric(dtype: np.dtype[Any], what: str) -> None:
    """Raise ValueError unless `dtype` is boolean, integer or real."""
    if dtype.kind not in "buif":
        raise ValueError(f"{what} holds {dtype} values; allowed: real numbers (float, int or bool)")


def float_dtype(dtype: np.dtype[Any]) -> Any:
    """float32 stays float32, everything else becomes float64."""
    return np.float32 if dtype == np.float32 else np.float64


def not_finite(X: Any, feature_names: Sequence[str] | None) -> str:
    """'has 3 values that are NaN or infinite, the first in row 2, column 5 (name)': the end of an error message."""
    if sp.issparse(X):
        coo = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(coo.data))
        count, i, j = len(bad), int(coo.row[bad[0]]), int(coo.col[bad[0]])
    else:
        at = np.argwhere(~np.isfinite(X))
        count, i, j = len(at), int(at[0, 0]), int(at[0, 1])
    name = f" ({feature_names[j]})" if feature_names is not None and j < len(feature_names) else ""
    return (
        f"has {count} value(s) that are NaN or infinite, the first in row {i}, column {j}{name}; "
        "remove these rows or fill the values first"
    )


def check_class_numbers(y: Any, m: int, n: int, what: str) -> np.ndarray:
    """y as int64 of shape (n,) with values 0..m-1; ValueError names `what` otherwise."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"{what} has shape {y.shape}; one label a row is needed, shape ({n},)")
    if len(y) != n:
        raise ValueError(f"{what} has {len(y)} labels for {n} rows of X")
    if y.dtype.kind not in "bui":
        raise ValueError(f"{what} holds {y.dtype} values; class numbers 0 to m-1 are needed")
    if len(y) and (int(y.min()) < 0 or int(y.max()) >= m):
        raise ValueError(f"{what} has labels from {y.min()} to {y.max()}; allowed with {m} class names: 0 to {m - 1}")
    return y.astype(np.int64)


def check_label_sets(y: Any, m: int, n: int, what: str) -> Any:
    """y as a uint8 indicator of shape (n, m), CSR if it is sparse; ValueError names `what` otherwise."""
    Y = sparse_indicator(y, what) if sp.issparse(y) else indicator(y, what)
    if Y.shape != (n, m):
        raise ValueError(f"{what} has shape {Y.shape}; label sets of {n} rows of X with {m} names need ({n}, {m})")
    return Y


def sparse_indicator(y: Any, what: str) -> sp.csr_array:
    """A sparse indicator as CSR, uint8, labels in order; ValueError for entries other than 0 and 1."""
    Y = sp.csr_array(checked_indicator(y, what))
    Y.eliminate_zeros()
    return Y.astype(np.uint8)


def class_sizes(y: Any, m: int) -> np.ndarray:
    """Number of samples of each class or label, (m,)."""
    return np.asarray(y.sum(axis=0, dtype=np.int64)) if y.ndim == 2 else np.bincount(y, minlength=m)


def encode_labels(
    y: Any, y_test: Any = None, class_names: Sequence[str] | None = None, what: str = "y"
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Labels of any kind as class numbers, or label sets as an indicator, with the names.

    With `class_names`, labels are 0-based numbers into it. Without, the classes are the distinct labels of both parts
    in sorted order (numbers by value), named by their text. Returns (y, y_test or None, names). Label sets are read as
    in :func:`sparsescope.inputs.labels.read_sets`.

    Raises ValueError for missing or fractional labels, or fewer than 2 classes in y.
    """
    if holds_sets(y):
        sets, names, _ = read_sets([y] if y_test is None else [y, y_test], class_names, what)
        return sets[0], (sets[1] if y_test is not None else None), names
    parts = [label_array(y, what)] + ([] if y_test is None else [label_array(y_test, f"{what}_test")])
    if parts[0].size == 0:
        raise ValueError(f"{what} is empty; one label a row is needed")
    if class_names is not None and all(part.dtype.kind in "bui" for part in parts):
        names = [str(c) for c in class_names]
        coded = [check_class_numbers(part, len(names), len(part), what) for part in parts]
    else:
        if len({part.dtype.kind in "OU" for part in parts}) > 1:
            raise ValueError(f"{what} holds text in one part and numbers in the other; use one kind of label")
        values, codes = np.unique(np.concatenate(parts), return_inverse=True)
        if class_names is not None and len(class_names) != len(values):
            raise ValueError(f"{len(class_names)} class names for {len(values)} different labels in {what}")
        names = [str(c) for c in (values if class_names is None else class_names)]
        coded = np.split(codes.astype(np.int64), [len(parts[0])])
    if len(np.unique(coded[0])) < 2:
        raise ValueError(f"{what} has one class only ({names[int(coded[0][0])]!r}); at least 2 are needed")
    return coded[0], (coded[1] if y_test is not None else None), names
