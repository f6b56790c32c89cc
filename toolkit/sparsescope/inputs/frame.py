"""The frame in which solvers see the data: features about their means, and on one scale if that is asked for.

    X̃ = (X − 1cᵀ) diag(s),   W = diag(s) W̃,   b = b̃ − cᵀW:   XW + 1bᵀ = X̃W̃ + 1b̃ᵀ

An unpenalised intercept b makes both problems the same one: every objective, dual value and λ_max is equal, and only
the intercept that goes with W has another name. What differs is the road: while features are far from zero, W and b
have to move together, and first-order and coordinate methods take thousands of steps for what are tens in the frame.

**Which features are centred.** With an intercept, those of which nine entries in ten or more are not zero
(:data:`FULL`). That covers every feature whose mean exceeds three standard deviations: if a share p of its entries is
not zero, mean² ≤ p·mean(x²), hence (mean/deviation)² ≤ p/(1 − p), which is 9 at p = 0.9. The zeros of all others cost
nothing today and would, so they stay: a sparse matrix gains at most one entry in nine, and in full columns only.
A feature that is constant becomes zero exactly.

**Scale.** ``standardize`` divides each feature by its standard deviation about its mean (1/n, also without an
intercept), as glmnet does. The penalty is then one on W̃, the weights of the scaled features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from .is_sparse import is_sparse

FULL = 0.9  # share of entries that are not zero from which on a feature is centred
NEGLIGIBLE = 1e-6  # a mean of so few standard deviations couples nothing, and is left
BLOCK_ENTRIES = 1_000_000  # entries of X that are looked at at once, in double precision


@dataclass(frozen=True, eq=False)
class Frame:
    """c and s of the frame, each (d,) float64, or ``None`` where nothing is moved, or scaled."""

    centre: np.ndarray | None
    scale: np.ndarray | None

    def __deepcopy__(self, memo: Any) -> Frame:
        return self  # nothing in it ever changes

    def inward(self, coef: np.ndarray) -> np.ndarray:
        """(W̃, b̃) of the user's coefficients (W, b), (d, m) or (d + 1, m): a new array of the same precision."""
        d = self._size
        made = coef.astype(np.float64)
        if self.centre is not None:
            made[d] += self.centre @ made[:d]
        if self.scale is not None:
            made[:d] /= self.scale[:, None]
        return made.astype(coef.dtype)

    def weights(self, W: Any) -> Any:
        """W of W̃ (d, m), dense or CSR, in its precision."""
        return self._times(W, self.scale)

    def inner_weights(self, W: Any) -> Any:
        """W̃ of W (d, m), dense or CSR, in its precision."""
        return self._times(W, None if self.scale is None else 1.0 / self.scale)

    def intercept(self, coef: np.ndarray) -> np.ndarray:
        """b of (W̃, b̃), (m,) float64."""
        d = self._size
        b = coef[d].astype(np.float64)
        if self.centre is not None:
            used = np.flatnonzero(coef[:d].any(axis=1))
            b -= self.centre[used] @ self.weights(coef[:d])[used].astype(np.float64)
        return b

    def gradient(self, G: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        """Gradient with respect to W of one with respect to W̃ (d, m), and of that of the intercept, (m,)."""
        G = G / self.scale[:, None] if self.scale is not None else G.copy()
        if self.centre is not None and bias is not None:
            G += np.outer(self.centre, bias)
        return G

    @property
    def _size(self) -> int:
        return int((self.centre if self.centre is not None else self.scale).size)  # type: ignore[union-attr]

    @staticmethod
    def _times(W: Any, factor: np.ndarray | None) -> Any:
        if factor is None:
            return W
        if not is_sparse(W):
            return (W * factor[:, None]).astype(W.dtype, copy=False)
        made = scipy.sparse.csr_array(W, copy=True)
        made.data = (made.data * np.repeat(factor, np.diff(made.indptr))).astype(W.dtype, copy=False)
        return made


def find_frame(matrix: Any, centre: bool, standardize: bool, weights: np.ndarray | None = None) -> Frame | None:
    """The frame of a matrix (n, d), dense or CSC; ``None`` if it is that of the matrix itself. weights : of the
    samples, (n,), if they differ: means and deviations are those of repeated samples."""
    means, deviations, full = _column_facts(matrix, standardize, None if weights is None else weights / weights.sum())
    moved = full & (np.abs(means) > NEGLIGIBLE * deviations) & centre
    scaled = standardize and (deviations > 0.0).any()
    if not (moved.any() or scaled):
        return None
    with np.errstate(divide="ignore"):
        scale = np.where(deviations > 0.0, 1.0 / deviations, 1.0) if scaled else None
    return Frame(np.where(moved, means, 0.0) if moved.any() else None, scale)


def _mean(block: np.ndarray, shares: np.ndarray | None) -> np.ndarray:
    """Means of columns, (n, k), with the shares of the samples if they differ."""
    return block.mean(axis=0) if shares is None else shares @ block


def _column_facts(
    matrix: Any, everything: bool, shares: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, standard deviations, and which columns are full, each (d,); of sparse data the first two are zero for
    columns that are not full unless ``everything`` is asked for. A constant column has deviation zero exactly."""
    d = matrix.shape[1]
    means, deviations, full = np.zeros(d), np.zeros(d), np.zeros(d, dtype=bool)
    if everything and is_sparse(matrix):
        means, deviations = _sparse_moments(matrix, shares)
    for at, block in _blocks(matrix):
        full[at] = (
            np.count_nonzero(block, axis=0) >= FULL * block.shape[0]
            if shares is None
            else shares @ (block != 0.0) >= FULL
        )
        low, high = block.min(axis=0), block.max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        size[size == 0.0] = 1.0
        block /= size  # no sum below can overflow
        mean = _mean(block, shares)
        same = low == high
        mean[same] = low[same] / size[same]
        block -= mean
        spread = np.abs(block).max(axis=0)
        spread[same] = 0.0
        block /= np.where(spread > 0.0, spread, 1.0)
        means[at], deviations[at] = mean * size, np.sqrt(_mean(block * block, shares)) * spread * size
    return means, deviations, full


def _sparse_moments(matrix: Any, shares: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of columns that are not nearly full: with zeros in them nothing cancels."""
    n, d = matrix.shape
    column = np.repeat(np.arange(d), np.diff(matrix.indptr))
    values = matrix.data.astype(np.float64)
    size = np.zeros(d)
    np.maximum.at(size, column, np.abs(values))
    size[size == 0.0] = 1.0
    values /= size[column]
    counted = values if shares is None else n * shares[matrix.indices] * values
    mean = np.bincount(column, counted, minlength=d) / n
    variance = np.bincount(column, counted * values, minlength=d) / n - mean * mean
    return mean * size, np.sqrt(np.maximum(variance, 0.0)) * size


def _blocks(matrix: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """(columns, their entries in double precision, a new array) of a matrix, in pieces: all columns of a
    dense one, those of a sparse one that are full."""
    n, d = matrix.shape
    columns = np.arange(d)
    if is_sparse(matrix):
        columns = np.flatnonzero(np.diff(matrix.indptr) >= FULL * n)
    some = max(1, BLOCK_ENTRIES // n)
    for first in range(0, columns.size, some):
        at = columns[first : first + some]
        part = matrix[:, at]
        yield at, np.array(part.toarray() if is_sparse(part) else part, dtype=np.float64)


def framed(matrix: Any, frame: Frame, own: bool) -> Any:
    """X̃ of a matrix (n, d), dense or CSC, in its precision; of a dense one that is our ``own`` no copy is made."""
    if is_sparse(matrix):
        return _framed_sparse(matrix, frame)
    n, d = matrix.shape
    out = matrix if own else np.empty_like(matrix)
    some = max(1, BLOCK_ENTRIES // n)
    for start in range(0, d, some):
        at = slice(start, start + some)
        block = matrix[:, at].astype(np.float64)
        if frame.centre is not None:
            block -= frame.centre[at]
        if frame.scale is not None:
            block *= frame.scale[at]
        out[:, at] = block
    return out


def unframed(matrix: Any, frame: Frame) -> Any:
    """X of X̃, up to rounding: a new array."""
    scale, centre = frame.scale, frame.centre
    inverse = None if scale is None else 1.0 / scale
    if centre is None:
        return framed(matrix, Frame(None, inverse), own=False)
    back = Frame(-centre if scale is None else -centre * scale, inverse)
    made = framed(matrix, back, own=False)
    if is_sparse(made):
        made.eliminate_zeros()
    return made


def _framed_sparse(matrix: Any, frame: Frame) -> Any:
    counts = np.diff(matrix.indptr).astype(np.int64)
    data = matrix.data.astype(np.float64)
    if frame.centre is None:
        assert frame.scale is not None
        data *= np.repeat(frame.scale, counts)
        return scipy.sparse.csc_array((data.astype(matrix.dtype), matrix.indices, matrix.indptr), shape=matrix.shape)
    moved = np.flatnonzero(frame.centre)
    columns = {int(j): _moved_column(matrix, int(j), float(frame.centre[j])) for j in moved}
    sizes = counts.copy()
    sizes[moved] = [columns[int(j)][0].size for j in moved]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    made, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=matrix.indices.dtype)
    kept = np.ones(matrix.shape[1], dtype=bool)
    kept[moved] = False
    made[np.repeat(kept, sizes)] = data[np.repeat(kept, counts)]
    indices[np.repeat(kept, sizes)] = matrix.indices[np.repeat(kept, counts)]
    for j, (rows, values) in columns.items():
        indices[indptr[j] : indptr[j + 1]], made[indptr[j] : indptr[j + 1]] = rows, values
    if frame.scale is not None:
        made *= np.repeat(frame.scale, sizes)
    return scipy.sparse.csc_array((made.astype(matrix.dtype), indices, indptr), shape=matrix.shape)


def _moved_column(matrix: Any, j: int, centre: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values of column j less its centre: all of them, but for a column that becomes zero."""
    here = slice(matrix.indptr[j], matrix.indptr[j + 1])
    column = np.full(matrix.shape[0], -centre)
    column[matrix.indices[here]] += matrix.data[here]
    rows = np.arange(column.size) if column.any() else np.empty(0, dtype=np.int64)
    return rows, column[rows]
