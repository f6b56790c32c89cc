"""Pages of the app beside each other: importing this package registers every page, by its file being here."""

from __future__ import annotations

from .. import registry
from .base import Page

__all__ = ["Page"]

_found = registry.discover(__name__, Page)
globals().update(_found)
__all__ += sorted({*_found} - {*__all__})
