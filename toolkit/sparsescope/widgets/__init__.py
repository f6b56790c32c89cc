"""The explorer as a notebook widget: an anywidget shell around :mod:`sparsescope.live`."""

from .. import extras

with extras.needed_by("The explorer in a notebook"):
    from .explore import ExplorerWidget, explore

__all__ = ["ExplorerWidget", "explore"]
