"""Confusion of classes, and the samples concerned: computed on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.prediction import Problem

MOST_CLASSES = 60  # of which a whole matrix is sent; of more, the pairs taken for each other most often
MOST_PAIRS = 200
MOST_SAMPLES = 12  # misread samples of a cell
MOST_REASONS = 6  # features of a sample that speak most for the wrong class

Message = dict[str, Any]


class Confusion:
    """True and predicted classes of the held-out samples, or of the training samples where none are held out.

    Parameters
    ----------
    problem : a prediction problem with classes
    point : W, b and model of a result
    test : (X, y) held out, or None
    iteration : of the point
    """

    def __init__(self, problem: Problem, point: dict[str, Any], test: Any, iteration: int) -> None:
        self.problem, self.iteration = problem, iteration
        self._W, self._b, self._model = point["W"], point["b"], point["model"]
        self.of = "training" if test is None else "held-out"
        self._test = test
        weights = self._model if self._model is not None else self._W
        data = {} if test is None else {"X": test[0]}
        self.found = np.asarray(problem.predict(weights, self._b, **data))
        self.true = np.asarray(problem.y if test is None else problem.encode(test[1]))

    def facts(self) -> Message:
        """The matrix of counts, or with many classes the pairs confused most often."""
        m = len(self.problem.class_names)
        counts = np.bincount(self.true.astype(np.int64) * m + self.found, minlength=m * m).reshape(m, m)
        off = counts - np.diag(np.diag(counts))
        order = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
        pairs = [[int(k // m), int(k % m), int(off.flat[k])] for k in order if off.flat[k] > 0]
        return {
            "iteration": self.iteration,
            "of": self.of,
            "names": [str(c) for c in self.problem.class_names],
            "counts": counts.tolist() if m <= MOST_CLASSES else None,
            "pairs": pairs,
            "right": int(np.trace(counts)),
            "total": int(counts.sum()),
        }

    def misread(self, true: int, found: int) -> Message:
        """Samples of the class ``true`` that were taken for ``found``, and what of them spoke for that."""
        rows = np.flatnonzero((self.true == true) & (self.found == found))
        X = self.problem.design.plain().matrix if self._test is None else self._test[0]
        shape = self.problem.image_shape
        samples = []
        for i in rows[:MOST_SAMPLES].tolist():
            row = X[[i]]
            x = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64).ravel()
            sample: Message = {"sample": i, "reasons": self._reasons(x, true, found)}
            if shape is not None:
                top = float(np.abs(x).max()) or 1.0
                sample["pixels"] = np.rint(255 * np.clip(x / top, 0.0, 1.0)).astype(int).tolist()
            samples.append(sample)
        return {
            "true": true,
            "found": found,
            "number": int(rows.size),
            "samples": samples,
            "shape": None if shape is None else list(shape),
            "of": self.of,
            "iteration": self.iteration,
        }

    def _reasons(self, x: np.ndarray, true: int, found: int) -> list[list[Any]]:
        """[feature, its share of the score that put ``found`` before ``true``], the largest first."""
        if self._model is not None or self._W.shape[1] != len(self.problem.class_names):
            return []
        columns = self._W[:, [found, true]]
        columns = columns.toarray() if sp.issparse(columns) else np.asarray(columns)
        share = x * (columns[:, 0] - columns[:, 1])
        order = np.argsort(-share, kind="stable")[:MOST_REASONS]
        return [[self.problem.feature_name(int(j)), float(share[j])] for j in order if share[j] > 0]


def refusal(problem: Any) -> str:
    """Return why there is no confusion matrix; empty if there is one."""
    if not isinstance(problem, Problem):
        return "nothing is predicted here"
    if problem.multilabel:
        return "a sample has a set of labels here, so no label is taken for another"
    return ""
