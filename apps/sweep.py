"""The page of sweeps for `panel serve`; `sparsescope explore` has it beside the explorer."""

from sparsescope.dashboard import page_for_panel_serve

page_for_panel_serve("sweep")
