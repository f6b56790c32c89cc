"""What differs between two settings of a run, in the few words that a mark on a chart has room for."""

from __future__ import annotations

from typing import Any

from .problem import Problem
from .registry import losses, penalties
from .solvers.base import Solver


def part_name(part: Any) -> str:
    """The registry name of a loss or penalty, or what it looks like if it is not registered."""
    return losses.name_of(part) or penalties.name_of(part) or repr(part)


def _shown(part: Any) -> str:
    blocks = getattr(part, "blocks", None)  # given instead of a size
    values = f"{len(blocks)} blocks" if blocks is not None else ", ".join(
        f"{f.name} {getattr(part, f.name):g}" for f in part.fields)
    return f"{part_name(part)} ({values})" if values else part_name(part)


def marks_between(old: Problem, old_solver: Solver, new: Problem, new_solver: Solver) -> list[tuple[str, str]]:
    """What changed, as (kind, text)."""
    marks = []
    if new.loss != old.loss:
        marks.append(("loss", f"loss {_shown(old.loss)} → {_shown(new.loss)}"))
    if new.penalty != old.penalty:
        marks.append(("penalty", f"penalty {_shown(old.penalty)} → {_shown(new.penalty)}"))
    if new.lam != old.lam:
        marks.append(("lam", f"λ {old.lam:.2g} → {new.lam:.2g}"))
    if new_solver.name != old_solver.name:
        marks.append(("solver", f"solver {old_solver.name} → {new_solver.name}"))
    elif new_solver != old_solver:
        changed = [f"{f.name} {getattr(old_solver, f.name)} → {getattr(new_solver, f.name)}"
                   for f in new_solver.fields if getattr(old_solver, f.name) != getattr(new_solver, f.name)]
        marks.append(("solver", f"{new_solver.name}: {', '.join(changed)}"))
    return marks
