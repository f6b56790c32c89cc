"""Block group lasso: blocks of features within one class (Chierchia et al. 2015, Sec. 2.2)."""

from __future__ import annotations

from ..registry import penalties
from .block import BlockPenalty
from .l1_l2 import L1L2


class BlockL1L2(BlockPenalty):
    """Block penalty Σ_k Σ_b ‖W_{B_b,k}‖₂: a class uses all features of a block or none (Chierchia et al. 2015).

    Parameters
    ----------
    size, blocks
        as for :class:`BlockPenalty`.
    """

    __slots__ = ()
    row = L1L2(nonnegative=False)
    title = "block ℓ1/ℓ2"
    menu_order = 70
    doc = "Sum of the Euclidean norms of blocks of features within a class; a class uses a block as a whole or not."
    formula = "Σ_k Σ_b ‖W_{b,k}‖₂"
    source = "Chierchia et al. 2015, Sec. 2.2"


penalties.add("block-l1/l2", BlockL1L2)
