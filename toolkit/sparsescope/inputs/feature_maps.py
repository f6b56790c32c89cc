"""Random features: what they are made of, and how they are drawn so that they can be drawn again (paper 2, Sec. 3.1).

    fourier     √(2/p) cos(ωᵀx + β),  ω ~ N(0, (2/s) I), β uniform on [0, 2π): their products approach the kernel
                exp(−‖x − x'‖²/s)                                                          (Rahimi and Recht 2007)
    logits      σ(ωᵀ(x − x̄) + β),  ω ~ N(0, (2γ²/s) I), β ~ N(0, γ²)
    products    (ωᵀ(x − x̄))(ψᵀ(x − x̄)),  ω and ψ ~ N(0, (2/s) I): random polynomials of degree 2

s is the median of ‖x − x'‖² over pairs of samples, so ωᵀ(x − x̄) has a variance near 1. The same seed gives the same
features, on every machine and in every order of drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from .is_sparse import is_sparse

KINDS = ("fourier", "logits", "products")
GAIN = 2.0  # γ: how steep the logits are, in standard deviations of ωᵀx
PAIRS = 4000  # pairs of samples whose distances are looked at for the median


@dataclass(frozen=True)
class DataScale:
    """Statistics of the data for feature maps: ``mean`` x̄ (d,) float64 and ``width`` s > 0."""

    mean: np.ndarray
    width: float


def data_scale(X: Any, seed: int = 0, width: float | None = None) -> DataScale:
    """The mean row of X (n, d), dense or sparse, and the median of ‖x − x'‖² over random pairs, or the width given.

    Raises ``ValueError`` if more than half of the pairs are equal samples: then the median is 0 and no scale.
    """
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if width is None:
        rng = np.random.default_rng([seed, 0])
        count = min(PAIRS, n * max(n - 1, 1))
        first = rng.integers(0, n, count)
        second = (first + rng.integers(1, max(n, 2), count)) % n
        rows = scipy.sparse.csr_array(X) if is_sparse(X) else X
        gaps = rows[first] - rows[second]
        squares = gaps.multiply(gaps).sum(axis=1) if is_sparse(gaps) else np.einsum("ij,ij->i", gaps, gaps)
        width = float(np.median(np.asarray(squares, dtype=np.float64)))
        if not width > 0.0:
            raise ValueError(
                "the median distance between samples is 0 (most samples are equal), so it gives no width; "
                "give the width of the kernel as a number"
            )
    return DataScale(mean, float(width))


@dataclass(frozen=True)
class Drawn:
    """p features that were drawn: ``weights`` (d, p), or (d, 2p) for products, and ``offset`` of as many columns."""

    kind: str
    weights: np.ndarray
    offset: np.ndarray

    @property
    def p(self) -> int:
        """Number of features."""
        return self.offset.size // (2 if self.kind == "products" else 1)

    def features(self, X: Any) -> np.ndarray:
        """The features of samples X (k, d), dense or sparse: (k, p) in C order, in the precision of the weights."""
        out = np.ascontiguousarray(X @ self.weights)
        out += self.offset
        if self.kind == "fourier":
            np.cos(out, out=out)
            out *= out.dtype.type(np.sqrt(2.0 / self.p))
        elif self.kind == "logits":
            np.multiply(out, out.dtype.type(-1.0), out=out)
            np.minimum(out, out.dtype.type(80.0), out=out)  # the exponential stays finite in single precision
            np.exp(out, out=out)
            out += 1.0
            np.reciprocal(out, out=out)
        else:
            out = out[:, : self.p] * out[:, self.p :]
        return out


def draw(kind: str, p: int, scale: DataScale, seed: int, stage: int = 0, dtype: Any = np.float64) -> Drawn:
    """p features of a kind for data of a scale. Seed and stage (which block of features it is) decide all of it.

    ``ValueError`` for a kind that is none of :data:`KINDS`.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown features {kind!r}; allowed: {', '.join(KINDS)}")
    rng = np.random.default_rng([seed, 1 + stage])
    columns = 2 * p if kind == "products" else p
    gain = GAIN if kind == "logits" else 1.0
    weights = rng.standard_normal((scale.mean.size, columns))
    weights *= gain * np.sqrt(2.0 / scale.width)
    if kind == "fourier":
        offset = rng.uniform(0.0, 2.0 * np.pi, columns)
    else:
        offset = -scale.mean @ weights
        if kind == "logits":
            offset += gain * rng.standard_normal(columns)
    return Drawn(kind, weights.astype(dtype, copy=False), offset.astype(dtype, copy=False))
