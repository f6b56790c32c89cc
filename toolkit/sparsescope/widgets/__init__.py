"""The explorer as a notebook widget: an anywidget shell around :mod:`sparsescope.live`."""

from .explore import ExplorerWidget, explore

__all__ = ["ExplorerWidget", "explore"]
