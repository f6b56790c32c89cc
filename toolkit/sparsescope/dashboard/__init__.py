"""The explorer in the browser: a Panel shell around :mod:`sparsescope.live`."""

from .. import extras

with extras.needed_by("The explorer"):
    from .page import Site
    from .server import PortInUse, page_for_panel_serve, serve

__all__ = ["PortInUse", "Site", "page_for_panel_serve", "serve"]
