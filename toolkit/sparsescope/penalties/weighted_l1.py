"""Lasso with a weight for every entry (Tang and Scheinberg 2013 leave it implicit; Yuan et al. 2012, Sec. 1)."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

import numpy as np

from .base import Penalty


class WeightedL1(Penalty):
    """Lasso with a weight for every entry: Ω(W) = Σ_jk ``c_jk |W_jk|``.

    It is given as an object, ``ss.penalties.WeightedL1(weights)``: weights are an array and have no name or slider. It
    is not compiled: weights are matched with entries when a problem is made, because only the problem knows the shape
    of W.

    Where some weights are 0 (free entries), λ_max is the smallest λ at which all *penalised* entries are zero; it is
    computed at the fit of the free entries alone, as with an intercept. The dual norm of V is the maximum of
    ``|V_jk|/c_jk`` over the penalised entries, and +∞ unless V is exactly zero on the free ones. A gradient is that
    only at the optimum, so the dual point of a certificate is scaled to zero, the gap stays as large as F, and a run
    stops by the violation. Without free entries the gap closes as usual.

    Parameters
    ----------
    weights
        c ≥ 0, (d,) (the same for all columns of W) or (d, m). Entries of weight 0 are not penalised.

    Raises
    ------
    ValueError, TypeError
        for weights that are negative, not finite, all 0 or no numbers, and, when a problem is made, for weights
        that do not fit the shape of W.
    """

    __slots__ = ("weights",)
    title: ClassVar[str] = "weighted lasso ℓ1"
    doc: ClassVar[str] = "Weighted sum of absolute values; weight 0: not penalised."
    formula: ClassVar[str] = "Σ c|w|"
    source: ClassVar[str] = "Tang and Scheinberg 2013; Zou 2006"
    weights: np.ndarray

    def __init__(self, weights: Any) -> None:
        try:
            found = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"WeightedL1: weights are {weights!r}; an array of numbers ≥ 0 is needed") from None
        if found.ndim not in (1, 2) or found.size == 0:
            raise ValueError(f"WeightedL1: weights have shape {found.shape}; (d,) or (d, m) is needed")
        wrong = np.argwhere(~np.isfinite(found) | (found < 0.0))
        if wrong.size:
            at = tuple(int(k) for k in wrong[0])
            raise ValueError(
                f"WeightedL1: the weight at {at if len(at) > 1 else at[0]} is {found[at]:g}; weights are "
                "finite numbers ≥ 0 (0: not penalised)"
            )
        if not found.any():
            raise ValueError("WeightedL1: all weights are 0, so nothing is penalised; one at least has to be positive")
        found.flags.writeable = False
        object.__setattr__(self, "weights", found)

    def on(self, d: int, m: int) -> np.ndarray:
        """Return the weights of all entries.

        Parameters
        ----------
        d
            number of features.
        m
            number of columns of W.

        Returns
        -------
        np.ndarray
            weights (d, m), float64.

        Raises
        ------
        ValueError
            if they do not fit.
        """
        if self.weights.shape not in ((d,), (d, m)):
            raise ValueError(
                f"WeightedL1: weights have shape {self.weights.shape}; W is {d} × {m}, so ({d},) or "
                f"({d}, {m}) is needed"
            )
        return np.ascontiguousarray(np.broadcast_to(self.weights.reshape(d, -1), (d, m)))

    def tiny_sibling(self) -> Penalty:
        return WeightedL1(np.ones(3))  # the features of a rehearsal problem

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("WeightedL1 does not change; make another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedL1) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((type(self).__qualname__, self._digest()))

    def _digest(self) -> str:
        return hashlib.sha256(repr(self.weights.shape).encode() + self.weights.tobytes()).hexdigest()[:12]

    def __repr__(self) -> str:
        return f"WeightedL1(weights of shape {self.weights.shape}, {self._digest()})"

    def __reduce__(self) -> Any:
        return WeightedL1, (np.array(self.weights),)
