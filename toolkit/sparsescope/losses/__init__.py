"""The losses. Importing this package registers them; ``sparsescope.registry.losses`` lists their names."""

# ruff: noqa: I001  (the order of these imports is the order of menus)
from .base import Loss
from .multiclass_squared_hinge import MulticlassSquaredHinge
from .multitask_squared_hinge import MultitaskSquaredHinge
from .logistic import Logistic
from .binary_logistic import BinaryLogistic
from .squared import Squared
from .label_ranking_squared_hinge import LabelRankingSquaredHinge
from .crammer_singer import CrammerSinger
from .separation_ranking import SeparationRanking
from .link import LinkLoss

__all__ = [
    "BinaryLogistic",
    "CrammerSinger",
    "LabelRankingSquaredHinge",
    "LinkLoss",
    "Logistic",
    "Loss",
    "MulticlassSquaredHinge",
    "MultitaskSquaredHinge",
    "SeparationRanking",
    "Squared",
]
