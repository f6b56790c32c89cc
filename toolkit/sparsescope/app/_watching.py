"""Page: a fit of scikit-learn while it runs; :func:`sparsescope.watch` hands it what a fit leaves.

It is no page of every server: it is registered where something is watched (:mod:`sparsescope.watched`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import registry
from ..estimators.fits import Fits
from .base import Message, Page, number

MOST_FITS = 10_000
MOST_POINTS = 2000  # of one fit that are drawn
MOST_ROWS, MOST_COLUMNS = 40, 60  # of the picture of W
NOTHING = "No fit yet: estimator.set_callbacks(watch).fit(X, y)"


class WatchPage(Page):
    """Objective, certified gap and weights of a fit of scikit-learn, iteration by iteration."""

    name = "watch"
    title = "Watch"
    menu_order = 15
    records = True
    doc = "A fit of scikit-learn while it runs, with the certificate of each of its iterations."

    fit: Any = registry.field(0, 0, MOST_FITS, "number of the fit; 0: the newest")

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        super().__init__(data if isinstance(data, Fits) else Fits(), settings)
        self.shown_again()

    @property
    def _place(self) -> int:
        """The fit that is shown, from 0; −1: none yet."""
        wanted = self.settings["fit"]
        return len(self.data) - 1 if wanted == 0 or wanted > len(self.data) else wanted - 1

    def shown_again(self) -> None:
        """Send everything again."""
        self._sent = (-2, 0, False)  # the fit, its points, whether it ran

    def picture(self) -> Message:
        """Return which fit is shown."""
        return {"nothing": "" if len(self.data) else NOTHING}

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what is new since the last call."""
        place = self._place
        known, start, ran = self._sent
        if place < 0:
            if known == place:
                return []
            self._sent = (place, 0, False)
            return [({"type": "fit", "from": 0, "points": [], "facts": NOTHING, "number": 0, "fits": 0}, [])]
        start = start if known == place else 0
        fit, points = self.data.read(place, start)
        if known == place and not points and ran == fit.running:
            return []
        self._sent = (place, start + len(points), fit.running)
        message = {
            "type": "fit",
            "from": start,
            "points": [[number(value, 12) for value in point] for point in points[-MOST_POINTS:]],
            "facts": fit.facts,
            "running": fit.running,
            "number": place + 1,
            "fits": len(self.data),
            "rows": fit.rows,
            "weights": None if fit.W is None else _pattern(fit.W, *fit.names),
        }
        return [(message, [])]


def _pattern(W: np.ndarray, features: list[str], classes: list[str]) -> Message:
    """The largest rows of W as whole numbers from −127 to 127, in the order of the features."""
    sizes = np.linalg.norm(W, axis=1)
    rows = np.sort(np.argsort(-sizes, kind="stable")[: min(MOST_ROWS, int(np.count_nonzero(sizes)))])
    part = W[rows, :MOST_COLUMNS]
    top = float(np.abs(part).max()) if part.size else 0.0
    cells = np.round(127.0 * part / top).astype(int) if top > 0.0 else np.zeros(part.shape, dtype=int)
    return {
        "rows": [features[j] for j in rows],
        "columns": classes[: part.shape[1]],
        "cells": cells.tolist(),
        "largest": number(top),
        "all": [len(sizes), W.shape[1]],
    }
