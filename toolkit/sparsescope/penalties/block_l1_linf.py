"""Block maximum norm: blocks of features within one class (Chierchia et al. 2015, Sec. 2.2)."""

from __future__ import annotations

from ..registry import penalties
from .block import BlockPenalty
from .l1_linf import L1Linf


class BlockL1Linf(BlockPenalty):
    """Block penalty Σ_k Σ_b ‖W_{B_b,k}‖_∞: like block ℓ1/ℓ2, with tied largest weights (Chierchia et al. 2015).

    Parameters
    ----------
    size, blocks
        as for :class:`BlockPenalty`.
    """

    __slots__ = ()
    row = L1Linf()
    title = "block ℓ1/ℓ∞"
    menu_order = 80
    doc = "Sum of the largest absolute values of blocks of features within a class; large weights of a block tie."
    formula = "Σ_k Σ_b max_{j∈b} |W_jk|"
    source = "Chierchia et al. 2015, Sec. 2.2"


penalties.add("block-l1/linf", BlockL1Linf)
