"""Penalty of a whole W: its value and prox, and the quantities of optimality.

A penalty itself is a set of functions of one vector (see :class:`sparsescope.penalties.base.Penalty`). Here it is
applied to all of W, so that solvers and certificates need not know which vectors of W those are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..inputs.blocks import Blocks
from ..kernels.blocks import block_duals, block_sum, block_violations, critical_block, prox_blocks
from ..kernels.coordinates import single_violations
from ..kernels.proximal import prox_rows
from ..kernels.rows import critical_lam, penalty_sum, row_duals, row_violations
from ..penalties.block import BlockPenalty
from ..penalties.by_feature import FeaturePenalty
from ..penalties.weighted_l1 import WeightedL1
from .penalty_norms import terms_of


class Regulariser:
    """Ω on weights W (d, m), without the intercept. G (d, m) with a number ``scale`` stands for the gradient scale·G.

    ``needs_all_rows`` False: every function but the one of :meth:`value` takes any stretch of rows, as long as it is
    the same one of all arrays, so a gradient can be looked at in pieces. True: they take all d rows at once.
    """

    needs_all_rows: ClassVar[bool] = False
    blocks: Blocks | None = None  # of features, if Ω is a sum over such
    weights: np.ndarray | None = None  # (d, m), of single entries, if Ω has such
    free: np.ndarray | None = None  # (d, m) bool: entries without penalty, if there are any

    def entry_terms(self) -> tuple[Any, float] | None:
        """(a, b) if Ω(W) = Σ a·|w| + b·½w² over all entries, a number or an array (d, m); else ``None``."""
        return None

    def value(self, W: np.ndarray) -> tuple[float, int, int]:
        """Ω(W), and the numbers of non-zero rows and entries."""
        raise NotImplementedError

    def prox(self, V: np.ndarray, tau: float, out: np.ndarray) -> None:
        """out = argmin ½‖W − V‖² + τΩ(W). Both (d, m); ``out`` may be ``V``."""
        raise NotImplementedError

    def duals(self, G: np.ndarray, scale: float, lam: float) -> tuple[float, float]:
        """The dual norm of −scale·G (0 if Ω* is finite everywhere), and Ω*(−scale·G/λ) inside the domain of Ω*."""
        raise NotImplementedError

    def dual_norm(self, G: np.ndarray, scale: float = 1.0) -> float:
        """The dual norm of −scale·G: the largest over the vectors that Ω is a sum over."""
        return self.duals(G, scale, 1.0)[0]

    def violations(
        self, G: np.ndarray, scale: float, W: np.ndarray, lam: float, violation: np.ndarray, paper: np.ndarray
    ) -> None:
        """Write the exact optimality violations (d,), and those of Blondel et al., Eq. 9 (NaN unless Ω is a norm)."""
        raise NotImplementedError

    def zero_threshold(self, G: np.ndarray, scale: float = 1.0) -> float:
        """The smallest λ at which W = 0 is optimal if its gradient is scale·G (+inf: at none)."""
        raise NotImplementedError

    def groups(self, shape: tuple[int, int]) -> np.ndarray:
        """The number of the vector that each entry belongs to, (d, m) of this shape; Ω is a sum over these vectors. A
        sum over single entries counts each of them."""
        entries = np.arange(shape[0] * shape[1]).reshape(shape)
        return entries if self.entry_terms() is not None else np.broadcast_to(entries[:, :1] // shape[1], shape)

    def levels(self, G: np.ndarray, scale: float, out: np.ndarray) -> None:
        """Write for each row the smallest λ at which it is zero if its gradient is scale·G (+inf: at none). Of what
        ties rows, or parts them, the largest counts. out (d,)."""
        raise NotImplementedError

    def spread(self) -> float | np.ndarray:
        """The factor c, or one for each row, with level(v) ≤ c·‖v‖₂ for every gradient v; +inf: there is none."""
        return np.inf

    def same_levels(self, other: Any) -> bool:
        """Decide whether another regulariser has the same levels."""
        return self is other

    def joined(self, norms: np.ndarray) -> np.ndarray:
        """Return the norms of blocks for norms of features (d,): here those of the features themselves."""
        return norms

    def complete(self, flags: np.ndarray) -> np.ndarray:
        """The features that have to stay together with the flagged ones: flags (d,) bool."""
        return flags

    def restricted(self, rows: np.ndarray) -> Regulariser:
        """The same on some of the features only, sorted, complete in the sense of :meth:`complete`."""
        return self


class RowRegulariser(Regulariser):
    """Ω(W) = Σ_j Ω(W_j), a sum over the rows of W."""

    def __init__(self, penalty: Any, m: int) -> None:
        self.penalty, self.m = penalty, m

    def entry_terms(self) -> tuple[Any, float] | None:
        return _entry_terms(self.penalty, self.m)

    def value(self, W: np.ndarray) -> tuple[float, int, int]:
        omega, rows, entries = penalty_sum(W, self.penalty)
        return float(omega), int(rows), int(entries)

    def prox(self, V: np.ndarray, tau: float, out: np.ndarray) -> None:
        prox_rows(V, tau, self.penalty, out)

    def duals(self, G: np.ndarray, scale: float, lam: float) -> tuple[float, float]:
        top, conjugate = row_duals(G, scale, lam, self.penalty)
        return float(top), float(conjugate)

    def violations(
        self, G: np.ndarray, scale: float, W: np.ndarray, lam: float, violation: np.ndarray, paper: np.ndarray
    ) -> None:
        if (terms := self._lone_terms()) is None:
            row_violations(G, scale, W, lam, self.penalty, self.penalty.is_norm, violation, paper)
            return
        a, b = terms
        paper_scale = 1.0 / a if self.penalty.is_norm else 0.0
        single_violations(G.ravel(), scale, W.ravel(), lam * a, lam * b, paper_scale, lam, violation, paper)

    def _lone_terms(self) -> tuple[float, float] | None:
        """(a, b) of Ω = Σ a|w| + b½w² with a > 0, the same for all rows, each of one entry; else ``None``."""
        terms = self.entry_terms() if self.m == 1 else None
        return None if terms is None or np.ndim(terms[0]) or not terms[0] else terms

    def zero_threshold(self, G: np.ndarray, scale: float = 1.0) -> float:
        return float(critical_lam(G, scale, self.penalty))

    def levels(self, G: np.ndarray, scale: float, out: np.ndarray) -> None:
        if (terms := self._lone_terms()) is not None:
            np.multiply(np.abs(G[:, 0]), scale / terms[0], out=out)
            return
        # the criterion of Blondel et al. of a zero row is its level less λ
        row_violations(G, scale, np.zeros_like(G), 0.0, self.penalty, True, np.empty(len(out)), out)

    def spread(self) -> float:
        return float(self.penalty.spread(self.m))

    def same_levels(self, other: Any) -> bool:
        return isinstance(other, RowRegulariser) and self.penalty is other.penalty and self.m == other.m


class FeatureRegulariser(RowRegulariser):
    """Ω(W) = Σ_j c_j Ω(W_j), a sum over the rows of W with a weight c_j ≥ 0 for each."""

    needs_all_rows = True

    def __init__(self, penalty: Any, weights: np.ndarray, m: int) -> None:
        super().__init__(FeaturePenalty(penalty, weights), m)  # type: ignore[call-arg]
        self.free = _free(weights, m)

    def entry_terms(self) -> tuple[Any, float] | None:
        terms = _entry_terms(self.penalty.base, self.m)
        if terms is None or terms[1] != 0.0:  # weights of ½w² are no number
            return None
        return np.repeat(terms[0] * self.penalty.weights[:, None], self.m, axis=1), 0.0

    def restricted(self, rows: np.ndarray) -> FeatureRegulariser:
        return FeatureRegulariser(self.penalty.base, np.ascontiguousarray(self.penalty.weights[rows]), self.m)


def _entry_terms(penalty: Any, m: int) -> tuple[float, float] | None:
    """(a, b) with Ω(w) = Σ a·|w| + b·½w²: every sum of norms and squares is that where a row is one entry."""
    terms: tuple[float, float] | None = penalty.entry_terms()
    if terms is None and m == 1 and (norms := terms_of(penalty)) is not None:
        sums, lengths, heights, squares = norms
        return sums + lengths + heights, squares
    return terms


def _free(weights: np.ndarray, m: int) -> np.ndarray | None:
    """Flag the entries that are not penalised, (d, m) bool, for weights (d,) of their rows; ``None`` if all are
    penalised."""
    return None if weights.all() else np.repeat(weights[:, None] == 0.0, m, axis=1)


class BlockRegulariser(Regulariser):
    """Ω(W) = Σ_k Σ_b Ω(W_{B_b,k}), a sum over blocks of features within each class."""

    needs_all_rows = True
    blocks: Blocks

    def __init__(self, row: Any, blocks: Blocks) -> None:
        self.row, self.blocks = row, blocks
        self.parts = (row, blocks.order, blocks.indptr)  # what kernels are given

    def value(self, W: np.ndarray) -> tuple[float, int, int]:
        omega, rows, entries = block_sum(W, *self.parts)
        return float(omega), int(rows), int(entries)

    def prox(self, V: np.ndarray, tau: float, out: np.ndarray) -> None:
        prox_blocks(V, tau, *self.parts, out)

    def duals(self, G: np.ndarray, scale: float, lam: float) -> tuple[float, float]:
        top, conjugate = block_duals(G, scale, lam, *self.parts)
        return float(top), float(conjugate)

    def violations(
        self, G: np.ndarray, scale: float, W: np.ndarray, lam: float, violation: np.ndarray, paper: np.ndarray
    ) -> None:
        """Write the violations: those of a block to the place of its first feature, and 0 to those of the others."""
        block_violations(G, scale, W, lam, *self.parts, violation, paper)

    def zero_threshold(self, G: np.ndarray, scale: float = 1.0) -> float:
        return float(critical_block(G, scale, *self.parts))

    def groups(self, shape: tuple[int, int]) -> np.ndarray:
        return np.asarray(self.blocks.of_feature)[:, None] * shape[1] + np.arange(shape[1])

    def levels(self, G: np.ndarray, scale: float, out: np.ndarray) -> None:
        block_violations(G, scale, np.zeros_like(G), 0.0, *self.parts, np.empty(len(out)), out)
        out[:] = out[self.blocks.order[self.blocks.indptr[:-1]]][self.blocks.of_feature]

    def spread(self) -> float:
        return float(self.row.spread(int(np.diff(self.blocks.indptr).max())))

    def joined(self, norms: np.ndarray) -> np.ndarray:
        squares = np.bincount(self.blocks.of_feature, weights=norms * norms, minlength=self.blocks.count)
        return np.asarray(np.sqrt(squares)[self.blocks.of_feature])

    def complete(self, flags: np.ndarray) -> np.ndarray:
        touched = np.zeros(self.blocks.count, dtype=bool)
        touched[self.blocks.of_feature[flags]] = True
        return touched[self.blocks.of_feature]

    def restricted(self, rows: np.ndarray) -> BlockRegulariser:
        place = np.full(self.blocks.of_feature.size, -1, dtype=np.intp)
        place[rows] = np.arange(rows.size)
        kept, of_feature = np.unique(self.blocks.of_feature[rows], return_inverse=True)
        sizes = np.diff(self.blocks.indptr)[kept]
        order = place[self.blocks.order]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        made = BlockRegulariser(self.row.of_rows(kept), Blocks(order[order >= 0], indptr, of_feature.astype(np.intp)))
        made.free = None if self.free is None else self.free[rows]
        return made


class WeightedRegulariser(Regulariser):
    """Ω(W) = Σ_jk c_jk |W_jk|; weights c (d, m) ≥ 0, see :class:`sparsescope.penalties.WeightedL1` for the rules."""

    needs_all_rows = True
    weights: np.ndarray

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights
        self.free = weights == 0.0 if not weights.all() else None

    def entry_terms(self) -> tuple[Any, float]:
        return self.weights, 0.0

    def value(self, W: np.ndarray) -> tuple[float, int, int]:
        used = W != 0.0
        omega = float(np.abs(W[used]) @ self.weights[used])
        return omega, int(used.any(axis=1).sum()), int(used.sum())

    def prox(self, V: np.ndarray, tau: float, out: np.ndarray) -> None:
        out[:] = np.sign(V) * np.maximum(np.abs(V) - tau * self.weights, 0.0)

    def _ratios(self, G: np.ndarray, scale: float) -> np.ndarray:
        """|scale·G|/c; 0 where both are 0, +inf where only c is."""
        size = scale * np.abs(G.astype(np.float64))
        return np.divide(size, self.weights, out=np.where(size > 0.0, np.inf, 0.0), where=self.weights > 0.0)

    def duals(self, G: np.ndarray, scale: float, lam: float) -> tuple[float, float]:
        return float(self._ratios(G, scale).max()), 0.0

    def violations(
        self, G: np.ndarray, scale: float, W: np.ndarray, lam: float, violation: np.ndarray, paper: np.ndarray
    ) -> None:
        """Write the violations; the criterion of Blondel et al. is that of the norm of a row, max |g|/c."""
        g = scale * G.astype(np.float64)
        t = lam * self.weights
        off = np.where(W != 0.0, g + t * np.sign(W), np.maximum(np.abs(g) - t, 0.0))
        violation[:] = np.sqrt((off * off).sum(axis=1))
        if self.free is not None:
            paper[:] = np.nan  # no norm
        else:
            excess = self._ratios(G, scale).max(axis=1) - lam
            paper[:] = np.where(W.any(axis=1), np.abs(excess), np.maximum(excess, 0.0))

    def zero_threshold(self, G: np.ndarray, scale: float = 1.0) -> float:
        """The smallest λ at which no penalised entry moves, for a gradient at the fit of the free ones alone."""
        ratios = self._ratios(G, scale)
        return float(ratios[self.weights > 0.0].max())

    def levels(self, G: np.ndarray, scale: float, out: np.ndarray) -> None:
        out[:] = self._ratios(G, scale).max(axis=1)

    def spread(self) -> np.ndarray:
        least = self.weights.min(axis=1)
        return np.divide(1.0, least, out=np.full(least.size, np.inf), where=least > 0.0)

    def restricted(self, rows: np.ndarray) -> WeightedRegulariser:
        return WeightedRegulariser(np.ascontiguousarray(self.weights[rows]))


def regulariser_of(
    penalty: Any,
    shape: tuple[int, int],
    feature_names: Sequence[str] | None,
    cached: Callable[[Any, Callable[[], Any]], Any],
    feature_weights: np.ndarray | None = None,
) -> Regulariser:
    """Return the regulariser of a penalty for weights (d, m), with weights of its rows, (d,), if there are any;
    ``cached(key, make)`` keeps what is made only once.

    Raises ``ValueError`` if the penalty has blocks that do not fit the features, or weights that do not fit W.
    """
    d, m = shape
    if feature_weights is not None:
        found: Regulariser = cached(
            ("regulariser", penalty, m, "weighted"), lambda: _by_feature(penalty, feature_weights, m, feature_names)
        )
        return found
    if isinstance(penalty, WeightedL1):
        weighted: Regulariser = cached(("regulariser", penalty, m), lambda: WeightedRegulariser(penalty.on(d, m)))
        return weighted
    if not isinstance(penalty, BlockPenalty):
        return RowRegulariser(penalty, m)
    made: Regulariser = cached(
        ("regulariser", penalty), lambda: BlockRegulariser(penalty.row, penalty.resolve(d, feature_names))
    )
    return made


def _by_feature(penalty: Any, weights: np.ndarray, m: int, feature_names: Sequence[str] | None) -> Regulariser:
    """The same with a weight for each feature; ``ValueError`` if features of a block differ in it."""
    if isinstance(penalty, WeightedL1):
        raise ValueError(
            "the weighted lasso has a weight for every entry of W already; multiply these by "
            "feature_weights, or choose the penalty l1"
        )
    if not isinstance(penalty, BlockPenalty):
        return FeatureRegulariser(penalty, weights, m)
    blocks = penalty.resolve(weights.size, feature_names)
    of_block = weights[blocks.order[blocks.indptr[:-1]]]
    wrong = np.flatnonzero(weights != of_block[blocks.of_feature])
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"feature_weights differ within a block: feature {j} has {weights[j]:g}, the first of its "
            f"block {of_block[blocks.of_feature[j]]:g}. A block is penalised as a whole; give its "
            "features one weight"
        )
    made = BlockRegulariser(FeaturePenalty(penalty.row, of_block), blocks)  # type: ignore[call-arg]
    made.free = _free(weights, m)
    return made
