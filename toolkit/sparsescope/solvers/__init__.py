"""The solvers. Importing this package registers them; ``sparsescope.registry.solvers`` lists their names.

Every file of this folder is imported, and the classes of solvers in it are attributes of this package. What methods
share stands in ``solvers/shared/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..registry import discover
from .base import Solver, State
from .shared.smallest_hinge import SmallestHinge, smallest_hinge
from .shared.step_search import search_eta0

__all__ = ["SmallestHinge", "Solver", "State", "search_eta0", "smallest_hinge"]

_found = discover(__name__, Solver)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
