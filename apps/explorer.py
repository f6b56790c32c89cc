"""The explorer for `panel serve apps/explorer.py`; `sparsescope explore` does the same with fewer words."""

from sparsescope.dashboard import page_for_panel_serve

page_for_panel_serve()
