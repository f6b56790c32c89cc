"""Models that are sequences: what each step did to the predictions, kept so that it can be done to other samples.

    Ŷ ← start;   for every step in order:   Ŷ ← step.apply(X, Ŷ)                     (Agarwal et al. 2013, Alg. 2 and 3)
Random features are not kept: the seed and the number of the stage draw them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..inputs.feature_maps import DataScale, draw
from ..inputs.is_sparse import is_sparse
from ..kernels.projections import project_simplex

CHUNK_BYTES = 64_000_000  # bytes of the features that are made at once


def chunks(n: int, width: int, itemsize: int) -> Iterator[tuple[int, int]]:
    """Split samples into stretches whose ``width`` numbers each take about :data:`CHUNK_BYTES`.

    Parameters
    ----------
    n
        number of samples.
    width
        numbers per sample.
    itemsize
        bytes per number.

    Yields
    ------
    tuple[int, int]
        start and stop of a stretch.
    """
    size = max(256, CHUNK_BYTES // max(1, width * itemsize))
    for start in range(0, n, size):
        yield start, min(start + size, n)


@dataclass(frozen=True)
class Columns:
    """Block of columns of X.

    Parameters
    ----------
    numbers
        numbers of the columns, (p,).
    """

    numbers: np.ndarray

    @property
    def p(self) -> int:
        """Number of features."""
        return self.numbers.size

    def features(self, X: Any) -> Any:
        """Return the columns of samples.

        Parameters
        ----------
        X
            samples (k, d).

        Returns
        -------
        Any
            the columns (k, p), dense or sparse as X is.
        """
        return X[:, self.numbers]


@dataclass(frozen=True)
class RandomBlock:
    """Block of p random features, determined by its kind, seed and stage.

    Parameters
    ----------
    kind
        a kind of :mod:`sparsescope.inputs.feature_maps`.
    p
        number of features.
    scale
        mean row and median squared distance of the samples.
    seed
        seed of the sequence.
    stage
        number of the step.
    dtype
        type of the features.
    """

    kind: str
    p: int
    scale: DataScale
    seed: int
    stage: int
    dtype: Any

    def features(self, X: Any) -> np.ndarray:
        """Evaluate the features of samples; the random directions are drawn anew at each call.

        Parameters
        ----------
        X
            samples (k, d), dense or sparse.

        Returns
        -------
        np.ndarray
            the features (k, p).
        """
        return draw(self.kind, self.p, self.scale, self.seed, self.stage, self.dtype).features(X)


@dataclass(frozen=True)
class Stage:
    """Step Ŷ ← Ŷ + A V, with A the features of a block.

    Parameters
    ----------
    block
        the block of features.
    V
        coefficients (p, m) or (p + m, m).
    own
        whether Ŷ itself stands beside the features in A.
    """

    block: Any
    V: np.ndarray
    own: bool

    @property
    def width(self) -> int:
        """Numbers of a sample that are made at once."""
        return 2 * self.block.p

    def apply(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """Return the next predictions.

        Parameters
        ----------
        X
            samples (k, d).
        Y
            the present predictions (k, m).

        Returns
        -------
        np.ndarray
            the next predictions (k, m).
        """
        p = self.block.p
        moved = Y + self.block.features(X) @ self.V[:p]
        return moved + Y @ self.V[p:] if self.own else moved


@dataclass(frozen=True)
class Calibration:
    """Step Ŷ ← P(G(Ŷ + XW) C): least squares on X, then on functions of the predictions.

    It is one iteration of Alg. 2 of Agarwal et al. (2013).

    Parameters
    ----------
    W
        coefficients of the first fit, (d, m).
    C
        coefficients of the second fit.
    expand
        the functions G.
    box
        whether P projects on the box (label sets) or the simplex (classes).
    """

    W: np.ndarray
    C: np.ndarray
    expand: Callable[[np.ndarray], np.ndarray]
    box: bool

    @property
    def width(self) -> int:
        """Numbers of a sample that are made at once."""
        return self.C.shape[0] + self.W.shape[1]

    def apply(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """Return the next predictions.

        Parameters
        ----------
        X
            samples (k, d).
        Y
            the present predictions (k, m).

        Returns
        -------
        np.ndarray
            the next predictions (k, m).
        """
        return self.calibrated(Y + X @ self.W)

    def calibrated(self, Y: np.ndarray) -> np.ndarray:
        """Return P(G(Ỹ) C).

        Parameters
        ----------
        Y
            predictions Ỹ (k, m).

        Returns
        -------
        np.ndarray
            the calibrated predictions (k, m).
        """
        return projected(self.expand(Y) @ self.C, self.box)


def projected(Y: np.ndarray, box: bool) -> np.ndarray:
    """Project each row on the simplex, or on the box [0, 1]^m for label sets.

    Parameters
    ----------
    Y
        rows (k, m).
    box
        whether to project on the box.

    Returns
    -------
    np.ndarray
        the projected rows.
    """
    if box:
        return np.clip(Y, 0.0, 1.0)
    Y = np.ascontiguousarray(Y)
    project_simplex(Y, 1.0, Y, 0, Y.shape[0])
    return Y


class SequenceModel:
    """Fitted sequence: constant predictions and the steps that changed them.

    Parameters
    ----------
    start
        predictions before the first step, (m,).
    d
        number of features of a sample.
    """

    def __init__(self, start: np.ndarray, d: int) -> None:
        self.start, self.d = start, d
        self.steps: list[Any] = []

    def __len__(self) -> int:
        return len(self.steps)

    def scores(self, X: Any, steps: int | None = None) -> np.ndarray:
        """Predict samples after all steps, or the first few.

        Parameters
        ----------
        X
            samples (k, d).
        steps
            number of steps; ``None``: all.

        Returns
        -------
        np.ndarray
            predictions Ŷ (k, m).

        Raises
        ------
        ValueError
            if X has another number of features, or there are fewer steps.
        """
        count = len(self.steps) if steps is None else steps
        if not 0 <= count <= len(self.steps):
            raise ValueError(f"steps is {steps!r}; the model has {len(self.steps)}")
        X = X if is_sparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.d:
            raise ValueError(f"X has shape {X.shape}; samples of {self.d} features are needed")
        return self.replay(X, np.tile(self.start, (X.shape[0], 1)), 0, count)

    def replay(self, X: Any, Y: np.ndarray, first: int, last: int) -> np.ndarray:
        """Return the predictions after step ``last`` from those after step ``first``, a few samples at a time.

        Parameters
        ----------
        X
            samples (k, d).
        Y
            predictions after step ``first``, (k, m).
        first
            number of the first step.
        last
            number of the last step.

        Returns
        -------
        np.ndarray
            predictions (k, m).
        """
        X = scipy.sparse.csr_array(X) if is_sparse(X) else X
        for step in self.steps[first:last]:
            for start, stop in chunks(Y.shape[0], step.width, Y.itemsize):
                Y[start:stop] = step.apply(X[start:stop], Y[start:stop])
        return Y

    def copy(self) -> SequenceModel:
        """Return a model that goes on from here; the steps, which never change, are shared.

        Returns
        -------
        SequenceModel
            the copy.
        """
        made = SequenceModel(self.start, self.d)
        made.steps = list(self.steps)
        return made

    def __repr__(self) -> str:
        return f"SequenceModel({len(self.steps)} steps, {self.d} features, {self.start.size} classes)"
