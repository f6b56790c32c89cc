"""Display of a fitted model in a notebook: λ, rows, gap, and a sparkline of the gap."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

WIDTH, HEIGHT, PAD = 160.0, 28.0, 3.0


def sparkline(values: Sequence[float] | np.ndarray, label: str) -> str:
    """Draw positive numbers on a logarithmic scale as a small inline SVG; empty for fewer than two.

    Parameters
    ----------
    values
        Numbers in order; those that are not positive and finite are left out.
    label
        Text for readers who do not see the picture.
    """
    kept = [(k, math.log10(v)) for k, v in enumerate(map(float, values)) if v > 0.0 and math.isfinite(v)]
    if len(kept) < 2:
        return ""
    low, high = min(v for _, v in kept), max(v for _, v in kept)
    last = kept[-1][0] or 1
    span = (high - low) or 1.0
    points = [(PAD + k / last * (WIDTH - 2 * PAD), PAD + (high - v) / span * (HEIGHT - 2 * PAD)) for k, v in kept]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    return (
        f'<svg width="{WIDTH:g}" height="{HEIGHT:g}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{html.escape(label)}"><title>{html.escape(label)}</title>'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" '
        f'opacity="0.75"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="currentColor"/></svg>'
    )


def summary(facts: Sequence[tuple[str, str]], picture: str = "") -> str:
    """A line of names and values with a picture at its end, to stand below scikit-learn's diagram."""
    cells = "".join(
        f'<span style="white-space:nowrap"><span style="opacity:0.65">{html.escape(name)}</span> '
        f"<b>{html.escape(value)}</b></span>"
        for name, value in facts
    )
    return (
        '<div class="sparsescope-fit" style="display:flex;flex-wrap:wrap;gap:0.3em 1.2em;align-items:center;'
        f'font-family:sans-serif;font-size:0.85em;margin:0.3em 0">{cells}{picture}</div>'
    )
