"""Stored results and how their figures are written: seconds, names, where something was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
FEW = 8  # rows that are named one by one


def load(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """A stored result, or ``None``."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def rows_of(name: str, folder: Path) -> list[dict[str, Any]]:
    """The rows of a stored result; none if nothing is stored."""
    rows: list[dict[str, Any]] = (load(name, folder) or {"rows": []})["rows"]
    return rows


def number(value: float | None) -> str:
    """Seconds with two or three digits; – for what was not reached."""
    if value is None:
        return "–"
    return f"{value:.3f}".lstrip("0") if value < 0.1 else f"{value:.2f}".lstrip("0") if value < 10 else f"{value:.0f}"


def code(name: str) -> str:
    """A contestant's name with the registry name in it set as code: `bcd-ls`, shrinking."""
    first, comma, rest = name.partition(",")
    return f"`{first}`{comma}{rest}"


def where(result: dict[str, Any]) -> str:
    """Processor and date of a result, first and last if its rows were not measured on one day, and the version; rows of
    other processors by their names."""
    machine = result["machine"]
    version = machine.get("versions", {}).get("sparsescope")
    days = [row["date"] for row in result.get("rows", []) if isinstance(row.get("date"), str)] or [result["date"]]
    date = min(days) if min(days) == max(days) else f"{min(days)} to {max(days)}"
    others: dict[str, list[str]] = {}
    for row in result.get("rows", []):
        if isinstance(row.get("cpu"), str):
            others.setdefault(row["cpu"], []).append(str(row.get("case")))
    elsewhere = "".join(
        f"; on {cpu}: {' · '.join(names) if len(names) <= FEW else f'{len(names)} of the rows'}"
        for cpu, names in others.items()
    )
    return f"{machine['cpu']}, {date}" + (f", version {version}" if version else "") + elsewhere
