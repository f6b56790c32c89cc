"""The data: training and test part, their first principal components, words that are met often enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ... import datasets
from ..pools import Pool, pool
from . import protocol

SINGLE_FROM = 20_000  # samples from which dense data are kept in single precision


@dataclass(frozen=True, eq=False)
class Parts:
    """X, y to train on and X_test, y_test to test on; ``classes`` in all."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    classes: int

    def error(self, predicted: np.ndarray) -> float:
        """Share of test samples that are classified wrongly, in percent."""
        return 100.0 * float(np.mean(predicted != self.y_test))


def load(name_or_path: str) -> Pool:
    """A data set with one class a sample; raises what :func:`sparsescope.datasets.load` raises."""
    data = datasets.load(name_or_path, test_size=0.0)
    found = pool(data)
    if sp.issparse(found.X) and not sp.issparse(data.X):  # images with many zeros are dense to this paper
        return replace(found, X=found.X.toarray())
    return found


def not_dense(data: Pool) -> str | None:
    """Random features are for dense data."""
    return "random features of sparse data are not in the paper" if sp.issparse(data.X) else None


def not_sparse(data: Pool) -> str | None:
    """Table 2 is for text."""
    return None if sp.issparse(data.X) else "it is for text"


def parts(data: Pool, seed: int) -> Parts:
    """The data's own parts, or a quarter of each class held out; of text only words that are met often enough."""
    key = ("own parts", seed)
    if key not in data.cache:
        X = data.X
        train, test = data.parts(protocol.TEST, seed)
        if sp.issparse(X):
            kept = np.asarray((X[train] != 0).sum(axis=0)).ravel() >= protocol.LEAST
            X = sp.csr_array(X[:, kept])
        elif len(train) >= SINGLE_FROM:
            X = X.astype(np.float32)
        data.cache[key] = Parts(X[train], data.y[train], X[test], data.y[test], len(data.class_names))
    found: Parts = data.cache[key]
    return found


def reduced(data: Pool, seed: int) -> Parts:
    """The same on the first principal components of the training part."""
    key = ("reduced", seed)
    if key not in data.cache:
        from sklearn.decomposition import PCA

        all_of = parts(data, seed)
        count = min(protocol.COMPONENTS, *all_of.X.shape)
        pca = PCA(count, random_state=seed).fit(all_of.X)
        data.cache[key] = Parts(
            pca.transform(all_of.X), all_of.y, pca.transform(all_of.X_test), all_of.y_test, all_of.classes
        )
    found: Parts = data.cache[key]
    return found
