"""Differences between two settings of a run, as short texts for marks on a chart."""

from __future__ import annotations

from typing import Any

from ..problems.base import BaseProblem
from ..registry import losses, penalties
from ..solvers.base import Solver


def part_name(part: Any) -> str:
    """The registry name of a loss or penalty, or what it looks like if it is not registered; a word is itself."""
    if isinstance(part, str):
        return part
    return losses.name_of(part) or penalties.name_of(part) or repr(part)


def _shown(part: Any) -> str:
    if isinstance(part, str):
        return part
    blocks = getattr(part, "blocks", None)  # given instead of a size
    values = (
        f"{len(blocks)} blocks"
        if blocks is not None
        else ", ".join(
            f"{f.name} {getattr(part, f.name):g}" for f in part.fields if f.kind != "bool" or getattr(part, f.name)
        )
    )
    return f"{part_name(part)} ({values})" if values else part_name(part)


def marks_between(old: BaseProblem, old_solver: Solver, new: BaseProblem, new_solver: Solver) -> list[tuple[str, str]]:
    """Return the changes as (kind, text)."""
    marks = []
    for name, part in new.parts.items():
        before = old.parts[name]
        if part != before:
            marks.append((name, f"{name} {_shown(before)} → {_shown(part)}"))
    if new.lam != old.lam:
        marks.append(("lam", f"λ {old.lam:.2g} → {new.lam:.2g}"))
    if new_solver.name != old_solver.name:
        marks.append(("solver", f"solver {old_solver.name} → {new_solver.name}"))
    elif new_solver != old_solver:
        changed = [
            f"{f.name} {getattr(old_solver, f.name)} → {getattr(new_solver, f.name)}"
            for f in new_solver.fields
            if getattr(old_solver, f.name) != getattr(new_solver, f.name)
        ]
        marks.append(("solver", f"{new_solver.name}: {', '.join(changed)}"))
    return marks
