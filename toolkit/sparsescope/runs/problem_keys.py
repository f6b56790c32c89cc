"""Digests of problems: what their optimum depends on, by content."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..inputs.labels import LabelSets


def content_key(problem: Any) -> str:
    """Return a digest of all that the optimum depends on: data, targets, weights, intercept, loss, penalty and λ.

    Parameters
    ----------
    problem
        the problem.

    Returns
    -------
    str
        the digest, in hexadecimal digits.
    """
    return _digest(problem, (problem.kind, problem.intercept, *problem.key))


def data_key(problem: Any) -> str:
    """Return a digest of data, targets and weights of samples and features, whatever loss, penalty and λ are.

    Parameters
    ----------
    problem
        the problem.

    Returns
    -------
    str
        the digest, in hexadecimal digits.
    """
    return _digest(problem, (problem.kind,))


def _digest(problem: Any, first: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(repr(first).encode())
    for array in _arrays(problem):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array.T if array.flags.f_contiguous else array).data)
    return digest.hexdigest()


def _arrays(problem: Any) -> list[np.ndarray]:
    if not hasattr(problem, "design"):
        weights = problem.weights
        return [problem.S, *([] if weights is None else [weights])]
    targets = problem.sets if problem.sets is not None else problem.y
    if problem.partitioned:
        data = [problem.design.fingerprint()]
    else:
        matrix = problem.design.matrix
        data = [matrix.data, matrix.indices, matrix.indptr] if problem.design.is_sparse else [matrix]
    labels = [targets.indptr, targets.labels] if isinstance(targets, LabelSets) else [targets]
    # Data that are held about their means look alike wherever they lie; the intercept tells them apart.
    frame = problem.design.frame
    moved = [] if frame is None else [_or_empty(frame.centre), _or_empty(frame.scale)]
    return [*data, *labels, *moved, _or_empty(problem.sample_weight), _or_empty(problem.feature_weights)]


def _or_empty(array: np.ndarray | None) -> np.ndarray:
    return np.empty(0) if array is None else array
