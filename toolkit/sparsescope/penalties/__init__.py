"""The penalties. Importing this package registers them; ``sparsescope.registry.penalties`` lists their names.

Every file of this folder is imported, and the classes of penalties in it are attributes of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..registry import discover
from .base import Penalty

__all__ = ["Penalty"]

_found = discover(__name__, Penalty)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
