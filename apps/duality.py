"""The page of primal and dual for `panel serve apps/*.py`; `sparsescope explore` has it beside the explorer."""

from sparsescope.dashboard import page_for_panel_serve

page_for_panel_serve("duality")
