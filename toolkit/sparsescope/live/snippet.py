"""“Copy as Python”: a few lines that reproduce what the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import datasets
from . import kinds
from . import settings as st


def python_snippet(settings: Mapping[str, Any]) -> str:
    """Python that solves the problem of these settings with their solver. Runs as it is, except for your own data."""
    known = settings.get("dataset", st.DATASET.wished) in datasets.names()
    chosen, _ = st.clean(settings, None if known else [settings["dataset"]])
    lines = ["import sparsescope as ss", ""]
    if not known:
        lines.append("data = (X, y)  # your own arrays, as handed to ss.explore")
        arguments = "*data"
    else:
        lines.append(f"data = ss.datasets.load({chosen['dataset']!r}, seed={chosen['seed']})")
        arguments = "data"
    lines += [*kinds.of(chosen).snippet(chosen, arguments), *kinds.of(chosen).solution(chosen)]
    return "\n".join(lines) + "\n"
