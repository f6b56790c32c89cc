"""The page of networks for `panel serve apps/*.py`; `sparsescope explore` has it beside the explorer."""

from sparsescope.dashboard import page_for_panel_serve

page_for_panel_serve("network")
