"""Predictions of a problem: scores of samples, classes, rankings, thresholds, and labels as numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import scipy

from ..inputs.design import Design
from ..inputs.is_sparse import is_sparse
from ..inputs.labels import LabelSets, fits_dense, match_labels
from . import metrics


def handed_on(method: Callable[..., Any]) -> Any:
    """Return a method of a problem that calls its predictor's method of the same name.

    Parameters
    ----------
    method
        the method of :class:`Predictor`; its documentation is kept.

    Returns
    -------
    Any
        the method of the problem.
    """

    @wraps(method)
    def call(problem: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(problem.predictor, method.__name__)(*args, **kwargs)

    return call


class Predictor:
    """Prediction with the weights of a problem: ``problem.predictor``.

    The methods of the same names of :class:`sparsescope.problems.prediction.Problem` call these.

    Parameters
    ----------
    problem
        the problem.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def scores(self, W: Any, b: Any = None, X: Any = None) -> np.ndarray:
        """Return the scores Z = XW + b.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).
        X
            other samples (k, d); ``None``: those of the problem.

        Returns
        -------
        np.ndarray
            scores (k, m).
        """
        design = self.design_of(X)
        fits_dense(
            "scores", design.n, self.problem.m, design.dtype.itemsize, "ask for the k best labels: rank(W, X=X, k=5)"
        )
        coef = design.inward(self.problem._given(W, b))
        return design.matmul(
            coef.astype(design.dtype, copy=False), np.empty((design.n, self.problem.m), dtype=design.dtype)
        )

    def class_scores(self, Z: np.ndarray) -> np.ndarray:
        """Return scores by classes or labels.

        For a loss with a single score z it is the pair (0, z), whose softmax gives the probabilities of the binary
        logistic loss; for all others Z itself.

        Parameters
        ----------
        Z
            scores (k, m).

        Returns
        -------
        np.ndarray
            scores (k, classes).
        """
        return np.column_stack([np.zeros_like(Z), Z]) if self.problem.loss.one_score else Z

    def design_of(self, X: Any) -> Design:
        """Return the problem's samples, in its frame, or other ones with as many features, as they are.

        Parameters
        ----------
        X
            other samples (k, d), or ``None``.

        Returns
        -------
        Design
            the samples.

        Raises
        ------
        ValueError
            for another number of features.
        """
        design = self.problem.design if X is None else (X.plain() if isinstance(X, Design) else Design(X))
        if design.d != self.problem.d:
            raise ValueError(f"X has {design.d} features, the problem {self.problem.d}")
        return design

    def _stays_sparse(self, W: Any, b: Any, X: Any) -> bool:
        """Return whether only the scores for non-zeros of W are needed."""
        moved = X is None and self.problem.intercept and self.problem.design.frame is not None
        return is_sparse(W) and b is None and not self.problem.loss.one_score and not moved

    def _fitting(self, W: Any, design: Design) -> Any:
        """A sparse W as CSR, in the frame of a design; ``ValueError`` for another shape or entries not finite."""
        if W.shape != (self.problem.d, self.problem.m):
            raise ValueError(f"W has shape {W.shape}; (d, m) = ({self.problem.d}, {self.problem.m}) is needed")
        if not np.isfinite(W.data).all():
            raise ValueError("W has entries that are not finite")
        return scipy.sparse.csr_array(W if design.frame is None else design.frame.inner_weights(W))

    def predict(self, W: Any, b: Any = None, X: Any = None) -> Any:
        """Predict classes or label sets.

        For a sparse W only the non-zeros of the features of a sample are read.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).
        X
            other samples (k, d); ``None``: those of the problem.

        Returns
        -------
        Any
            numbers of the classes with the largest score, (k,); for label sets an indicator (k, m), uint8, of the
            labels that score above :meth:`threshold` (a CSR matrix for a sparse W).
        """
        if self._stays_sparse(W, b, X):
            design = self.design_of(X)
            own = self._fitting(W, design)
            if self.problem.sets is None:
                return metrics.best_of(own, design, 1)[0][:, 0].astype(np.int64)
            return metrics.labels_over(own, design, self.threshold_of(W))
        Z = self.scores(W, b, X)
        if not self.problem.multilabel:
            return np.asarray(self.class_scores(Z).argmax(axis=1))
        cut = self.threshold(Z if X is None else self.scores(W, b))
        return np.greater(Z, Z.dtype.type(cut)).astype(np.uint8)

    def rank(self, W: Any, b: Any = None, X: Any = None, k: int | None = None) -> np.ndarray:
        """Rank the classes or labels of each sample from the largest score down.

        For a sparse W and a ``k`` only the non-zeros of the features of a sample are read.

        Parameters
        ----------
        W
            weights (d, m), dense or sparse.
        b
            intercept (m,).
        X
            other samples (n, d); ``None``: those of the problem.
        k
            number of labels per sample; ``None``: all.

        Returns
        -------
        np.ndarray
            numbers of the labels, (n, k).
        """
        if k is not None and self._stays_sparse(W, b, X):
            design = self.design_of(X)
            return metrics.best_of(self._fitting(W, design), design, k)[0].astype(np.int64)
        return metrics.ranking(self.class_scores(self.scores(W, b, X)), k)

    def threshold(self, Z: np.ndarray) -> float:
        """Return the score above which a label is predicted.

        Losses whose scores have a natural zero define it (``loss.threshold``). For the others (label ranking is
        invariant to a constant added to a sample's scores) it is the threshold of largest micro-F1 on the training
        data, the same for all labels.

        Parameters
        ----------
        Z
            training scores (n, m).

        Returns
        -------
        float
            the threshold.

        Raises
        ------
        ValueError
            for a problem with classes.
        """
        if not self.problem.multilabel:
            raise ValueError("a threshold belongs to label sets; this problem has one class a sample")
        fixed = self.problem.loss.threshold
        return metrics.best_threshold(Z, self.problem.y) if fixed is None else fixed

    def threshold_of(self, W: Any) -> float:
        """Return the :meth:`threshold` for the training scores of a sparse W without an intercept.

        No array of samples by labels is made.

        Parameters
        ----------
        W
            weights (d, m), sparse.

        Returns
        -------
        float
            the threshold.

        Raises
        ------
        ValueError
            for a problem with classes.
        """
        if self.problem.sets is None:
            raise ValueError("a threshold belongs to label sets; this problem has one class a sample")
        fixed = self.problem.loss.threshold
        if fixed is not None:
            return fixed
        if not self._stays_sparse(W, None, None):
            return self.threshold(self.scores(W))
        return metrics.best_sparse_threshold(
            self._fitting(W, self.problem.design), self.problem.design, self.problem.sets
        )

    def encode(self, y: Any) -> np.ndarray:
        """Encode labels of other samples as in :attr:`y`; classes may be missing.

        Parameters
        ----------
        y
            labels in the form that the problem was given.

        Returns
        -------
        np.ndarray
            class numbers (k,), or an indicator (k, m).

        Raises
        ------
        ValueError
            for an unknown label, and for label sets of another width.
        """
        found = self.match(y)
        return found.indicator() if isinstance(found, LabelSets) else found

    def match(self, y: Any) -> np.ndarray | LabelSets:
        """Encode labels like :meth:`encode`, with label sets as lists: no array of samples by labels is made.

        Parameters
        ----------
        y
            labels in the form that the problem was given.

        Returns
        -------
        np.ndarray | LabelSets
            class numbers (k,), or label lists.
        """
        return match_labels(y, self.problem.class_names, self.problem._data.label_values, self.problem.multilabel)
