"""The penalties. Importing this package registers them; ``sparsescope.registry.penalties`` lists their names."""

# ruff: noqa: I001  (the order of these imports is the order of menus)
from .base import Penalty
from .l1_l2 import L1L2
from .l1_linf import L1Linf
from .sparse_group import SparseGroup
from .l1 import L1
from .elastic_net import ElasticNet
from .ridge import Ridge
from .block_l1_l2 import BlockL1L2
from .block_l1_linf import BlockL1Linf
from .weighted_l1 import WeightedL1

__all__ = ["L1", "L1L2", "BlockL1L2", "BlockL1Linf", "ElasticNet", "L1Linf", "Penalty", "Ridge", "SparseGroup",
           "WeightedL1"]
