"""Draw the chart of the README, docs/benchmarks.svg, from results/paper1.json and from nothing else.

One line a problem; a dot where a method reached a relative sub-optimality of 1e-4, on a logarithmic axis of processor
seconds. What was not reached within the limit has an open dot at the limit.

    python benchmarks/chart.py
"""

from __future__ import annotations

import math
import sys
from html import escape
from pathlib import Path
from typing import Any

from figures import ROOT, load, where

CHART = ROOT / "docs" / "benchmarks.svg"
LEVEL = "1e-04"
# Okabe–Ito colours, readable on light and dark ground.
SERIES = (
    ("lightning", "lightning, best setting", "#999999"),
    ("bcd-ls", "bcd-ls", "#0072B2"),
    ("working-set", "working-set", "#D55E00"),
)
LEFT, RIGHT, TOP, STEP, WIDTH = 170, 30, 46, 26, 760


def svg(result: dict[str, Any]) -> str:
    """Return the chart of a stored result of bench_paper1 as SVG."""
    rows = result["rows"]
    known = [(row, name, _seconds(row, name)) for row in rows for name, _, _ in SERIES if name in row["contestants"]]
    values = [seconds or row["limit"] for row, _, seconds in known]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(seconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(seconds) - low) / (high - low)

    height = TOP + STEP * len(rows) + 44
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#777777">',
        f"<title>Processor seconds to a relative sub-optimality of 1e-4: {escape(_names(rows))}</title>",
    ]
    place = LEFT
    for _, label, colour in SERIES:
        out.append(
            f'<circle cx="{place + 5}" cy="18" r="5" fill="{colour}"/>'
            f'<text x="{place + 16}" y="22">{escape(label)}</text>'
        )
        place += 30 + 8 * len(label)
    for power in range(low, high + 1):
        at = x(10.0**power)
        out.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{height - 40}" stroke="#999999" '
            'stroke-opacity="0.35"/>'
            f'<text x="{at:.1f}" y="{height - 22}" text-anchor="middle">{10.0**power:g} s</text>'
        )
    for k, row in enumerate(rows):
        y = TOP + STEP * k + STEP / 2
        out.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(row["case"])}</text>')
        for name, _, colour in SERIES:
            if name not in row["contestants"]:
                continue
            seconds = _seconds(row, name)
            look = f'fill="{colour}"' if seconds else f'fill="none" stroke="{colour}" stroke-width="2"'
            out.append(f'<circle cx="{x(seconds or row["limit"]):.1f}" cy="{y:.1f}" r="5" {look}/>')
    out.append(
        f'<text x="{LEFT}" y="{height - 4}" font-size="11">{escape(where(result))}; one thread, medians of '
        f"{rows[0]['repeats']}; open: not within {rows[0]['limit']:g} s</text></svg>"
    )
    return "\n".join(out) + "\n"


def _seconds(row: dict[str, Any], name: str) -> float | None:
    level = row["contestants"][name]["levels"].get(LEVEL)
    return None if level is None else float(level["cpu"])


def _names(rows: list[dict[str, Any]]) -> str:
    return ", ".join(row["case"] for row in rows)


def draw(path: Path = CHART) -> bool:
    """Write the chart; ``False`` if nothing was measured."""
    result = load("paper1")
    if result is None or not result["rows"]:
        return False
    path.write_text(svg(result), encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(0 if draw() else 1)
