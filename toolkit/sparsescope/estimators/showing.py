"""Display of a fitted model in a notebook: λ, rows, gap, and a sparkline of the gap."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

WIDTH, HEIGHT, PAD = 160.0, 28.0, 3.0


def sparkline(values: Sequence[float] | np.ndarray, label: str, logarithmic: bool = True) -> str:
    """Draw numbers as a small inline SVG; empty for fewer than two.

    Parameters
    ----------
    values
        Numbers in order; those that are not finite (and positive, on a logarithmic scale) are left out.
    label
        Text for readers who do not see the picture.
    logarithmic
        Whether the scale is logarithmic.
    """
    kept = [
        (k, math.log10(v) if logarithmic else v)
        for k, v in enumerate(map(float, values))
        if math.isfinite(v) and (v > 0.0 or not logarithmic)
    ]
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


class ShownFit:
    """Mixin that displays the outcome of a fit below scikit-learn's diagram.

    A subclass gives the names and values in ``_fit_facts()`` and a picture in ``_fit_picture()``.
    """

    def _fit_facts(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def _fit_picture(self) -> str:
        raise NotImplementedError

    def _html_repr(self) -> str:
        estimator: Any = self
        assert isinstance(estimator, BaseEstimator)
        shown = str(estimator_html_repr(estimator))
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            return shown
        return shown + summary(self._fit_facts(), self._fit_picture())

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **given: Any) -> dict[str, str]:
        """Return what notebooks show; scikit-learn before 1.7 makes it without asking ``_html_repr``."""
        parent: Any = super()
        bundle: dict[str, str] = parent._repr_mimebundle_(**given)
        if "text/html" in bundle:
            bundle["text/html"] = self._html_repr()
        return bundle
