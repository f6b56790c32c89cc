"""Data as the papers' protocols want them: all samples of a set in one pool, from which splits are drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import datasets
from ..datasets import Dataset
from ..datasets.raw import split_label_sets, stratified_split
from ..inputs.design import Design
from ..problems.prediction import Problem

# Dense data with fewer non-zero entries than this are stored by columns: a sweep then visits the non-zero ones only.
SPARSE_BELOW = 0.3


@dataclass(frozen=True, eq=False)
class Split:
    """A training part, as a problem whose siblings are made with ``problem.with_``, and a held-out part.

    ``references`` remembers what was found out about this split and is needed again, such as optima.
    """

    name: str
    X: Any
    problem: Problem
    test: Design
    y_test: Any
    references: dict[Any, Any] = field(default_factory=dict, repr=False)

    def accuracy(self, problem: Problem, W: np.ndarray) -> float:
        """Share of the held-out samples that W (d, m) classifies correctly."""
        return float((problem.predict(W, X=self.test) == self.y_test).mean())

    def inner(self, seed: int, test_size: float) -> Split:
        """The training part split once more: what settings are chosen on."""
        return make_split(
            self.name, self.X, self.problem.y, seed, test_size, self.problem.class_names, self.problem.feature_names
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """All samples of a data set, X (n, d) and class numbers y (n,); label sets, (n, m), where a paper takes them.

    training : number of the first rows that are the set's training part, the others its own test part (0: it has none)
    cache : what experiments found out about these data and need again
    """

    name: str
    title: str
    X: Any
    y: Any
    class_names: list[str]
    feature_names: list[str] | None
    image_shape: tuple[int, int] | None
    scaling: str
    training: int = 0
    splits: dict[Any, Split] = field(default_factory=dict, repr=False)
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def facts(self) -> dict[str, Any]:
        """Numbers for a table of data sets (the paper's Table 1)."""
        n, d = self.X.shape
        nnz = self.X.nnz if sp.issparse(self.X) else np.count_nonzero(self.X)
        return {
            "data": self.name,
            "n": n,
            "d": d,
            "classes": len(self.class_names),
            "nonzero_percent": 100.0 * nnz / (n * d),
            "scaling": self.scaling,
            "storage": "sparse" if sp.issparse(self.X) else "dense",
        }

    def split(self, seed: int = 0, test_size: float = 0.2) -> Split:
        """Stratified: each class gives the share ``test_size`` to the held-out part. The same seed, the same split."""
        key = (seed, test_size)
        if key not in self.splits:
            self.splits[key] = make_split(
                self.name, self.X, self.y, seed, test_size, self.class_names, self.feature_names
            )
        return self.splits[key]

    def parts(self, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on and rows to test on: the data's own parts, or ``share`` of each class or label held out.

        ``ValueError`` if no row would be held out.
        """
        key = ("parts", share, seed)
        if key not in self.cache:
            rows = np.arange(self.X.shape[0])
            own = rows[: self.training], rows[self.training :]
            self.cache[key] = held_out(self.name, self.y, share, seed) if not self.training else own
        found: tuple[np.ndarray, np.ndarray] = self.cache[key]
        return found


def held_out(name: str, y: Any, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test on, divided by class or by label; ``ValueError`` if no row is held out."""
    if y.ndim == 1:
        train, test = stratified_split(y, share, seed)
    else:
        train, test = split_label_sets(y.toarray() if sp.issparse(y) else y, share, seed)
    if not len(test):
        raise ValueError(f"data set {name!r} has too few samples to set a share of {share:g} aside")
    return train, test


def make_split(
    name: str,
    X: Any,
    y: np.ndarray,
    seed: int,
    test_size: float,
    class_names: list[str],
    feature_names: list[str] | None,
) -> Split:
    """Split rows by class; ``ValueError`` if no row would be held out."""
    train, test = held_out(name, y, test_size, seed)
    X_train = X[train]
    problem = Problem(
        sp.csc_array(X_train) if sp.issparse(X) else X_train,
        y[train],
        class_names=class_names,
        feature_names=feature_names,
    )
    return Split(name, X_train, problem, Design(X[test]), y[test])


def load_data(name_or_path: str) -> Pool:
    """A data set by name or file (see :func:`sparsescope.datasets.load`), its parts put together, in one pool.

    Values are scaled by that function's default rule; dense data with few non-zero entries become sparse.
    Raises what ``load`` raises: ``ValueError`` for unknown names and bad files.
    """
    return pool(datasets.load(name_or_path, test_size=0.0))


def pool(data: Dataset, sets: bool = False) -> Pool:
    """The training and test part of a data set as one pool; ``ValueError`` for label sets, unless ``sets`` is true."""
    X, y = data.X, data.y
    training = 0 if data.y_test is None else data.n
    if data.multilabel and not sets:
        raise ValueError(f"data set {data.name!r} has label sets; these experiments need one class for each sample")
    if data.y_test is not None:
        X = sp.vstack([X, data.X_test]) if sp.issparse(X) else np.concatenate([X, data.X_test])
        y = sp.vstack([y, data.y_test], format="csr") if sp.issparse(y) else np.concatenate([y, data.y_test])
    if sp.issparse(X) or np.count_nonzero(X) < SPARSE_BELOW * X.size:
        X = sp.csr_array(X)
    return Pool(
        data.name,
        data.title,
        X,
        y,
        list(data.class_names),
        data.feature_names,
        data.image_shape,
        data.scaling,
        training,
    )
