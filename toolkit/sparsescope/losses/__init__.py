"""The losses. Importing this package registers them; ``sparsescope.registry.losses`` lists their names.

Every file of this folder is imported, and the classes of losses in it are attributes of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..registry import discover
from .base import Loss

__all__ = ["Loss"]

_found = discover(__name__, Loss)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
