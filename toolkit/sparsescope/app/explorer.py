"""Page: the explorer, which watches and changes one run."""

from __future__ import annotations

from .. import live, registry

registry.app_pages.add(
    "explorer",
    live.Explorer,
    title="Explorer",
    doc="One run, live: convergence, active set, weights and accuracy, while loss, penalty, λ and solver change.",
    menu_order=10,
)
