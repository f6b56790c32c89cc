"""Quality of a model on the test part, its size, and the time of its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...inputs.design import Design
from ...problems.prediction import Problem
from ..pools import Split
from ..runs import CLOCK
from .samples import indicator

DEPTH = 5  # labels of a sample that are ranked
SPARSE_BELOW = 0.1  # share of non-zero weights below which a model is stored, and predicts, as a sparse matrix
CHUNK = 50_000_000  # scores that are held at once
ENTRY, INDEX = 8, 4  # bytes of a weight, and of its place in a sparse matrix
REPEATS = 3


def stored(W: Any) -> Any:
    """W as it is kept: CSR where few weights are non-zero, else dense."""
    if nonzeros(W) < SPARSE_BELOW * W.shape[0] * W.shape[1]:
        return sp.csr_array(W)
    return W.toarray() if sp.issparse(W) else W


def size(W: Any) -> int:
    """Bytes of the model: 12 for a non-zero weight and 8 for a row of a sparse one, 8 for a weight of a dense one."""
    if sp.issparse(W):
        return int(W.nnz * (ENTRY + INDEX) + (W.shape[0] + 1) * 8)
    return int(W.size * ENTRY)


def nonzeros(W: Any) -> int:
    """Number of non-zero weights."""
    return int(W.nnz) if sp.issparse(W) else int(np.count_nonzero(W))


def ranking(problem: Problem, W: Any, test: Design, k: int) -> np.ndarray:
    """The k best labels of each sample, (n, k); a sparse W is read only where a sample has features."""
    if sp.issparse(W):
        return problem.rank(W, X=test, k=k)
    X = sp.csr_array(test.matrix)
    step = max(1, CHUNK // W.shape[1])
    return np.concatenate([_best(X[at : at + step] @ W, k) for at in range(0, X.shape[0], step)])


def _best(Z: np.ndarray, k: int) -> np.ndarray:
    if k == 1:
        return Z.argmax(axis=1)[:, None]
    some = np.argpartition(-Z, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(Z, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def predict_times(problem: Problem, W: Any, test: Design) -> dict[str, float]:
    """CPU seconds to find the best label of all test samples, median and quartiles of repeated runs, as columns."""
    few = Design(sp.csr_array(test.matrix)[:2])
    ranking(problem, W, few, 1)  # compiled before the clock starts
    ranking(problem, W, test, 1)  # … and the samples in their order in memory

    def once() -> float:
        began = CLOCK()
        ranking(problem, W, test, 1)
        return CLOCK() - began

    found = [once() for _ in range(REPEATS)]
    shares = {"": 0.5, "_low": 0.25, "_high": 0.75}
    return {f"predict_seconds{end}": float(np.quantile(found, share)) for end, share in shares.items()}


def measures(best: np.ndarray, sets: sp.csr_array, Y: sp.csr_array) -> dict[str, float]:
    """Precision at 1, 3 and 5 (NaN beyond what is ranked), and F1 of the predicted sets, for Y (n, m).

    best : (n, k) labels from the best down. sets : predicted sets, an indicator. macro_f1 is the mean over the labels
    that occur in Y or are predicted.
    """
    n, m = Y.shape
    own = np.repeat(np.arange(n), np.diff(Y.indptr)) * m + Y.indices  # the pairs (sample, label) as numbers
    hits = np.isin(np.arange(n)[:, None] * m + best, own)
    found = {f"p_at_{k}": float(hits[:, :k].mean()) if k <= best.shape[1] else float("nan") for k in (1, 3, 5)}
    right = np.asarray(sets.multiply(Y).sum(axis=0, dtype=np.int64)).ravel()
    predicted, there = (np.asarray(part.sum(axis=0, dtype=np.int64)).ravel() for part in (sets, Y))
    both = predicted + there
    each = 2.0 * right[both > 0] / both[both > 0]
    return {
        **found,
        "micro_f1": float(2.0 * right.sum() / max(int(both.sum()), 1)),
        "macro_f1": float(each.mean()) if each.size else 0.0,
    }


def predicted_sets(split: Split, problem: Problem, W: Any, best: np.ndarray, zero: bool) -> sp.csr_array:
    """The sets of labels that are predicted: the best class; of label sets those above a threshold.

    It is 0 for one-against-all methods (``zero``), else that of the best micro-F1 on the training part.
    """
    m = problem.m
    if not problem.multilabel:
        return indicator(best[:, 0].astype(np.int64), m)
    if not zero:
        return sp.csr_array(problem.predict(W, X=split.test))
    Z = sp.csr_array(split.test.matrix) @ (W.toarray() if sp.issparse(W) else W)
    return sp.csr_array((Z > 0).astype(np.uint8))


def judged(split: Split, problem: Problem, W: Any, zero: bool = False) -> dict[str, Any]:
    """All columns that say how good a model with weights W is."""
    kept = stored(W)
    depth = min(DEPTH, problem.m) if problem.multilabel else 1
    best = ranking(problem, kept, split.test, depth)
    sets = predicted_sets(split, problem, kept, best, zero)
    return {
        **measures(best, sets, indicator(split.y_test, problem.m)),
        **predict_times(problem, kept, split.test),
        "bytes": size(kept),
        "nonzeros": nonzeros(kept),
    }
