"""The losses. Importing this package registers them; ``sparsescope.registry.losses`` lists their names."""

from .base import Loss
from .logistic import Logistic
from .multiclass_squared_hinge import MulticlassSquaredHinge
from .multitask_squared_hinge import MultitaskSquaredHinge
from .squared import Squared

__all__ = ["Logistic", "Loss", "MulticlassSquaredHinge", "MultitaskSquaredHinge", "Squared"]
