"""The explorer and the other pages as notebook widgets: an anywidget shell around :mod:`sparsescope.live`."""

from .. import extras

with extras.needed_by("The explorer in a notebook"):
    from .base import LiveWidget  # noqa: F401  (first: it names the package that all of them need)
    from .explore import ExplorerWidget, explore
    from .pages import PageWidget, show

__all__ = ["ExplorerWidget", "PageWidget", "explore", "show"]
