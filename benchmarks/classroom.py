"""Tables of a class on one server: its bars, and how long a run holds its turn."""

from __future__ import annotations

from typing import Any

MAKING = "making the problem"  # in the place of a solver


def bars(result: dict[str, Any]) -> list[str]:
    """Each figure that a class has to reach, with its bar; what was not measured long enough has no row."""
    rows = [row for row in result["rows"] if row["met"] is not None]
    missed = [row for row in rows if not row["met"]]
    lines = [
        f"**A class on one server**: {len(rows) - len(missed)} of {len(rows)} bars are met. Server and pages share the "
        "machine; *thirty pages* change λ, solver, penalty, loss or data every 0.5 to 3 seconds, *one core* keeps the "
        "server on one, *bend* has 60 and 120 pages, *in turn* opens 200 pages one after another, *board* drives ten "
        "pages and a teacher's board in a browser.",
        "",
        "| stage | figure | measured | bar |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['stage']} | {row['bar']} | {row['measured']:.3g}{row['unit']}{'' if row['met'] else ' (missed)'} "
        f"| {row['sign']} {row['limit']:g}{row['unit']} |"
        for row in rows
    ]
    bend = result.get("summary", {}).get("stages", {}).get("bend", {})
    speeds = [
        f"{bend[f'frames/s while running, {pages} pages']:.2g} frames a second with {pages} pages, and one change in "
        f"twenty takes more than {bend[f'knob ms, p95, {pages} pages']:.0f} ms"
        for pages in (60, 120)
        if f"frames/s while running, {pages} pages" in bend
    ]
    said = [f"A page whose run goes on gets {'; '.join(speeds)}.", ""] if speeds else []
    return [*lines, "", *said]


def holds(result: dict[str, Any]) -> list[str]:
    """Longest step and longest piece of it of each solver on each data set, with the problem where that was."""
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    steps: dict[tuple[str, str], float] = {}
    for row in result["rows"]:
        if "longest hold ms" not in row:
            continue
        key = (row.get("data", "random variables"), row["solver"])
        steps[key] = max(steps.get(key, 0.0), row["longest step ms"])
        if key not in worst or row["longest hold ms"] > worst[key]["longest hold ms"]:
            worst[key] = row
    if not worst:
        return []
    lines = [
        "**How long a run holds its turn**: processor milliseconds of the longest step, its certificate included, and "
        "of the longest piece between two places where a turn (8 ms) can change hands.",
        "",
        "| data | solver | longest step | longest piece | which is of |",
        "|---|---|---|---|---|",
    ]
    for (data, solver), row in sorted(worst.items()):
        name = solver if solver == MAKING else f"`{solver}`"
        problem = ", ".join(str(row[part]) for part in ("loss", "penalty") if part in row)
        lines.append(
            f"| {data} | {name} | {steps[data, solver]:.1f} | {row['longest hold ms']:.1f} | {problem or '–'} |"
        )
    return [*lines, ""]
