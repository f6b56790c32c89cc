"""The picture of a race: sub-optimality of every lane, with the label at the line."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..views import drawing, style
from ..views.base import X_AXES

COLOURS = ("blue", "vermillion", "green", "purple", "ink", "orange", "sky")
# Pixels, about: of the plot in a usual window, and of a label.
PLOT_WIDTH, PLOT_HEIGHT = 700.0, 270.0
LABEL_WIDTH, LABEL_HEIGHT = 110.0, 16.0
DASHES = ("solid", "dash", "dot", "dashdot")


def race_figure(race: Any, x: str, theme: str = "light") -> go.Figure:
    """Draw (F − F*)/|F*| of a :class:`sparsescope.Race` over a clock, one line for each solver and seed.

    Raises
    ------
    ValueError
        for an unknown clock or theme.
    """
    if x not in X_AXES:
        raise ValueError(f"x is {x!r}; it must be one of {', '.join(X_AXES)}")
    colours = style.theme(theme)
    column, title = X_AXES[x]
    fig = go.Figure()
    drawn: list[np.ndarray] = []
    ends: list[tuple[float, float, str, str]] = []
    for place, name in enumerate(race.names):
        colour = colours[COLOURS[place % len(COLOURS)]]
        line = {"color": colour, "dash": DASHES[place // len(COLOURS) % len(DASHES)], "width": 2}
        end: tuple[float, float] | None = None
        for entry in (e for e in race.entries if e.name == name and len(e.trace)):
            points = drawing.points(
                entry.trace[column], race.suboptimality(entry), np.zeros(len(entry.trace)), log=True
            )
            if not points.drawable:
                continue
            few = np.count_nonzero(np.isfinite(points.y)) <= drawing.SHOW_POINTS
            fig.add_scatter(
                x=points.x, y=points.y, mode="lines+markers" if few else "lines", line=line, legendgroup=name,
                name=style.escape(race.lane(entry)), marker={"size": 4},
                hovertemplate="%{y:.3g}", showlegend=False, cliponaxis=False,
            )  # fmt: skip
            drawn.append(points.y)
            end = max(end or (-np.inf, 0.0), (float(points.x[-1]), float(points.y[-1])))
        if end is not None:
            ends.append((*end, name, colour))
    limits = drawing.log_range(drawn)
    _add_labels(fig, ends, limits)
    width = race.width
    if width == width and width > 10.0 ** limits[0]:  # below this F* is not known
        band = {"line_width": 0, "layer": "below", "fillcolor": style.faint(colours["muted"])}
        fig.add_hrect(y0=10.0 ** limits[0], y1=width, **band)
    known = f"F* = {race.best:.8g}, known to {width:.1e}" if width == width else "F* is not certified"
    fig.update_layout(
        template=style.template(theme),
        height=420,
        margin={"r": 150},
        title={"text": "Race", "subtitle": {"text": style.escape(known)}},
    )
    fig.update_xaxes(title_text=title, rangemode="nonnegative")
    fig.update_yaxes(title_text="(F − F*)/|F*|", **drawing.log_axis(drawn), range=limits)
    return fig


def _add_labels(fig: go.Figure, ends: list[tuple[float, float, str, str]], limits: list[float]) -> None:
    """Write each label at the end of its line, above those that already stand where it would."""
    widest = max((x for x, *_ in ends), default=1.0) or 1.0
    placed: list[tuple[float, float]] = []
    for x, y, name, colour in sorted(ends, reverse=True):
        across, up = x / widest * PLOT_WIDTH, (np.log10(y) - limits[0]) / (limits[1] - limits[0]) * PLOT_HEIGHT
        shift = 0.0
        while any(abs(across - a) < LABEL_WIDTH and abs(up + shift - u) < LABEL_HEIGHT for a, u in placed):
            shift += LABEL_HEIGHT / 2
        placed.append((across, up + shift))
        fig.add_annotation(
            x=x, y=float(np.log10(y)), text=style.escape(name), font={"color": colour, "size": 12}, showarrow=False,
            xanchor="left", yanchor="middle", xshift=6, yshift=shift,
        )  # fmt: skip
