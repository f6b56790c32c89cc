"""“Copy as Python”: a few lines that reproduce what the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import datasets
from . import settings as st


def python_snippet(settings: Mapping[str, Any]) -> str:
    """Python that solves the problem of these settings with their solver. Runs as it is, except for your own data."""
    known = settings.get("dataset", st.WISHED["dataset"]) in datasets.names()
    chosen, _ = st.clean(settings, None if known else [settings["dataset"]])
    lines = ["import sparsescope as ss", ""]
    if not known:
        lines.append("data = (X, y)  # your own arrays, as handed to ss.explore")
        arguments = "*data"
    else:
        lines.append(f"data = ss.datasets.load({chosen['dataset']!r}, seed={chosen['seed']})")
        arguments = "data"
    lines += [
        "problem = ss.Problem(",
        f"    {arguments},",
        f"    loss={_part(chosen, 'loss', 'losses')},",
        f"    penalty={_part(chosen, 'penalty', 'penalties')},",
        f"    intercept={chosen['intercept']},",
        ")",
        f"problem = problem.with_lam({chosen['lam_ratio']!r} * problem.lam_reference)",
        f"result = ss.solve(problem, solver={_part(chosen, 'solver', 'solvers')}, tol=1e-6)",
        "print(result)",
    ]
    return "\n".join(lines) + "\n"


def _part(settings: Mapping[str, Any], kind: str, registry: str) -> str:
    """The name of a part in quotes or, with parameters that differ from the defaults, the call that makes it."""
    name = settings[kind]
    params = st.part_params(settings, kind)
    changed = {f.name: params[f.name] for f in st.fields_of(kind, name) if params[f.name] != f.default}
    if not changed:
        return repr(name)
    inside = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    return f"ss.registry.{registry}.create({name!r}, {inside})"
