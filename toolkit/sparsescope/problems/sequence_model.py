"""Models that are sequences: what each step did to the predictions, kept so that it can be done to other samples.

    Ŷ ← start;   for every step in order:   Ŷ ← step.apply(X, Ŷ)                     (Agarwal et al. 2013, Alg. 2 and 3)
Random features are not kept: the seed and the number of the stage draw them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs.feature_maps import DataScale, draw
from ..kernels.projections import project_simplex

CHUNK_BYTES = 64_000_000  # features of so many samples are made at once


def chunks(n: int, width: int, itemsize: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of stretches of n samples, so that ``width`` numbers of each take about :data:`CHUNK_BYTES`."""
    size = max(256, CHUNK_BYTES // max(1, width * itemsize))
    for start in range(0, n, size):
        yield start, min(start + size, n)


@dataclass(frozen=True)
class Columns:
    """A block of columns of X; ``numbers`` (p,)."""

    numbers: np.ndarray

    @property
    def p(self) -> int:
        """Number of features."""
        return self.numbers.size

    def features(self, X: Any) -> Any:
        """The columns of samples X (k, d): (k, p), dense or sparse as X is."""
        return X[:, self.numbers]


@dataclass(frozen=True)
class RandomBlock:
    """A block of p random features of a kind of :mod:`sparsescope.inputs.feature_maps`, known by its seed and stage."""

    kind: str
    p: int
    scale: DataScale
    seed: int
    stage: int
    dtype: Any

    def features(self, X: Any) -> np.ndarray:
        """The features of samples X (k, d), dense or sparse: (k, p). They are drawn anew at each call."""
        return draw(self.kind, self.p, self.scale, self.seed, self.stage, self.dtype).features(X)


@dataclass(frozen=True)
class Stage:
    """Ŷ ← Ŷ + A V, A the features of ``block`` and, if ``own``, Ŷ itself beside them. V (p, m) or (p + m, m)."""

    block: Any
    V: np.ndarray
    own: bool

    @property
    def width(self) -> int:
        """Numbers of a sample that are made at once."""
        return 2 * self.block.p

    def apply(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """The next predictions of samples X (k, d) from the present ones Y (k, m)."""
        p = self.block.p
        moved = Y + self.block.features(X) @ self.V[:p]
        return moved + Y @ self.V[p:] if self.own else moved


@dataclass(frozen=True)
class Calibration:
    """Ŷ ← P(G(Ŷ + XW) C): a least squares step W (d, m), then one on functions G of the predictions (Alg. 2)."""

    W: np.ndarray
    C: np.ndarray
    expand: Callable[[np.ndarray], np.ndarray]
    box: bool

    @property
    def width(self) -> int:
        """Numbers of a sample that are made at once."""
        return self.C.shape[0] + self.W.shape[1]

    def apply(self, X: Any, Y: np.ndarray) -> np.ndarray:
        """As of every step."""
        return self.calibrated(Y + X @ self.W)

    def calibrated(self, Y: np.ndarray) -> np.ndarray:
        """P(G(Ỹ) C) of predictions Ỹ (k, m)."""
        return projected(self.expand(Y) @ self.C, self.box)


def projected(Y: np.ndarray, box: bool) -> np.ndarray:
    """Y (k, m) with each row at its nearest point of the simplex, or of the box [0, 1]^m for label sets."""
    if box:
        return np.clip(Y, 0.0, 1.0)
    Y = np.ascontiguousarray(Y)
    project_simplex(Y, 1.0, Y, 0, Y.shape[0])
    return Y


class SequenceModel:
    """A fitted sequence. ``start`` (m,): the predictions before the first step; ``steps``: what was done to them."""

    def __init__(self, start: np.ndarray, d: int) -> None:
        self.start, self.d = start, d
        self.steps: list[Any] = []

    def __len__(self) -> int:
        return len(self.steps)

    def scores(self, X: Any, steps: int | None = None) -> np.ndarray:
        """Predictions Ŷ of samples X (k, d) after all steps, or the first few: (k, m).

        ``ValueError`` if X has another number of features, or there are not so many steps.
        """
        count = len(self.steps) if steps is None else steps
        if not 0 <= count <= len(self.steps):
            raise ValueError(f"steps is {steps!r}; the model has {len(self.steps)}")
        X = X if sp.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.d:
            raise ValueError(f"X has shape {X.shape}; samples of {self.d} features are needed")
        return self.replay(X, np.tile(self.start, (X.shape[0], 1)), 0, count)

    def replay(self, X: Any, Y: np.ndarray, first: int, last: int) -> np.ndarray:
        """The predictions after step ``last`` from those after step ``first``, Y (k, m), a few samples at a time."""
        X = sp.csr_array(X) if sp.issparse(X) else X
        for step in self.steps[first:last]:
            for start, stop in chunks(Y.shape[0], step.width, Y.itemsize):
                Y[start:stop] = step.apply(X[start:stop], Y[start:stop])
        return Y

    def copy(self) -> SequenceModel:
        """A model that goes on from here; the steps, which never change, are shared."""
        made = SequenceModel(self.start, self.d)
        made.steps = list(self.steps)
        return made

    def __repr__(self) -> str:
        return f"SequenceModel({len(self.steps)} steps, {self.d} features, {self.start.size} classes)"
