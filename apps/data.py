"""The page of the data for `panel serve apps/*.py`; `sparsescope explore` has it beside the explorer."""

from sparsescope.dashboard import page_for_panel_serve

page_for_panel_serve("data")
