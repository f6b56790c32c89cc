"""The last picture of an explorer, for saved notebooks: HTML with a drawing in SVG, without script."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from ..views import style

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 200, 56, 34, 10
MOST_POINTS = 400
MOST_ROWS = 10  # of W, those of largest norm


def last_picture(trace: Any, problem: Any, solver: str) -> str:
    """Return what a run has reached: its numbers, F and the gap over the iterations, and the rows that weigh most.

    Parameters
    ----------
    trace
        A trace with at least one event.
    problem
        Its problem.
    solver
        Name of the solver.

    Returns
    -------
    str
        HTML for a cell of a notebook.
    """
    n = len(trace)
    iteration = int(trace["iteration"][n - 1])
    facts = [f"iteration {iteration}", f"F {trace['objective'][n - 1]:.6g}"]
    gap = trace["relative_gap"][:n]
    if np.isfinite(gap).any():
        at = int(np.flatnonzero(np.isfinite(gap))[-1])
        facts.append(f"relative gap {gap[at]:.1e} (iteration {int(trace['iteration'][at])})")
    facts.append(f"{int(trace['nonzero_rows'][n - 1])} of {problem.d} rows")
    parts = " × ".join(str(part) for part in problem.parts.values())
    head = f"{problem.name or 'your data'} · {parts} · λ {problem.lam:.3g} · {solver}"
    lines = (f"<div><b>{html.escape(head)}</b></div>", f"<div>{html.escape(' · '.join(facts))}</div>")
    return f"<div>{''.join(lines)}{_chart(trace, n)}{_rows(trace, problem, n)}</div>"


def _chart(trace: Any, n: int) -> str:
    """Objective and relative gap on a log axis, over the iterations."""
    x = np.asarray(trace["iteration"][:n], dtype=float)
    drawn = {}
    for name in ("objective", "relative_gap"):
        values = np.asarray(trace[name][:n], dtype=float)
        keep = np.flatnonzero(np.isfinite(values) & (values > 1e-17))
        if keep.size > 1:
            keep = keep[np.unique(np.linspace(0, keep.size - 1, min(keep.size, MOST_POINTS)).astype(int))]
            drawn[name] = x[keep], np.log10(values[keep])
    if not drawn:
        return ""
    every = np.concatenate([y for _, y in drawn.values()])
    low, high = np.floor(every.min()), np.ceil(every.max())
    high, last = max(high, low + 1.0), max(x[-1], 1.0)
    wide, tall = WIDTH - LEFT - 120, HEIGHT - TOP - BOTTOM
    step = max(1, int(np.ceil((high - low) / 6)))
    found = []
    for power in np.arange(low, high + 1, step):
        y = TOP + tall * (high - power) / (high - low)
        found.append(f'<line x1="{LEFT}" x2="{LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8886"/>')
        found.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">1e{int(power)}</text>')
    for value in (0.0, last):
        at = LEFT + wide * value / last
        found.append(f'<text x="{at:.1f}" y="{TOP + tall + 16}" text-anchor="middle">{value:.0f}</text>')
    found.append(f'<text x="{LEFT + wide / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">iterations</text>')
    colours = style.theme("light")
    for name, (at, values) in drawn.items():
        quantity = style.QUANTITIES[name]
        points = " ".join(
            f"{LEFT + wide * a / last:.1f},{TOP + tall * (high - v) / (high - low):.1f}"
            for a, v in zip(at, values, strict=True)
        )
        colour = "currentColor" if quantity.colour == "ink" else colours[quantity.colour]
        found.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        y = TOP + tall * (high - values[-1]) / (high - low) + 4
        found.append(f'<text x="{LEFT + wide + 8}" y="{y:.1f}" fill="{colour}">{html.escape(quantity.short)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="F and relative gap over the iterations" font-size="11" fill="currentColor" '
        f'font-family="system-ui, sans-serif">{"".join(found)}</svg>'
    )


def _rows(trace: Any, problem: Any, n: int) -> str:
    """The rows of W of largest norm that the trace keeps."""
    kept = trace.weights_at(n - 1)
    if kept is None:
        return ""
    W = kept[1]
    squares = np.asarray(W.multiply(W).sum(axis=1)).ravel() if hasattr(W, "multiply") else (W * W).sum(axis=1)
    order = [int(j) for j in np.argsort(-squares, kind="stable")[:MOST_ROWS] if squares[j] > 0]
    if not order:
        return ""
    top = float(np.sqrt(squares[order[0]]))
    lines = "".join(
        f"<tr><td style='text-align:left'>{html.escape(str(problem.feature_name(j)))}</td>"
        f"<td style='text-align:left'><svg width='120' height='10' aria-hidden='true'><rect height='10' "
        f"width='{120 * float(np.sqrt(squares[j])) / top:.0f}' fill='#0072b2'/></svg> "
        f"{float(np.sqrt(squares[j])):.3g}</td></tr>"
        for j in order
    )
    return f"<table><tr><th>row</th><th>norm at iteration {kept[0]}</th></tr>{lines}</table>"
