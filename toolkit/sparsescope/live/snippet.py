"""Python that reproduces what the page shows: the problem, solved, or the run with its changes at their iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import datasets
from ..datasets.uploads import PREFIX
from ..registry import losses, penalties, solvers
from ..runs.session import Session
from . import kinds
from . import settings as st

REGISTRIES = {"losses": losses, "penalties": penalties, "solvers": solvers}


def python_snippet(settings: Mapping[str, Any]) -> str:
    """Python that solves the problem of these settings with their solver. Runs as it is, except for your own data."""
    lines, chosen = _problem_lines(settings)
    return "\n".join([*lines, *kinds.of(chosen).solution(chosen)]) + "\n"


def run_snippet(settings: Mapping[str, Any], session: Session) -> str:
    """Return Python that repeats the run of a session: its changes at their iterations, up to the same iteration.

    Parameters
    ----------
    settings
        The settings of the page.
    session
        The session on the page.

    Returns
    -------
    str
        Python that leaves ``run`` and its newest ``event``; it runs as it is, except for uploaded data.
    """
    (_, problem, solver), *changes = session.history
    status, kind = session.status(), kinds.of_problem(problem)
    lines, _ = _problem_lines(settings)
    began = [f"lam={problem.lam!r}", *_words(kind.parts_of(problem))]
    lines += [f"problem = problem.with_({', '.join(began)})", "", f"run = ss.Run(problem, {_text(solver)})"]
    table = []
    for iteration, new, method in changes:
        before, after = kind.parts_of(problem), kind.parts_of(new)
        parts = [f"lam={new.lam!r}"] if new.lam != problem.lam else []
        parts += _words({name: part for name, part in after.items() if part != before[name]})
        parts += [f"solver={_text(method)}"] if method != solver else []
        table.append(f"    ({iteration}, dict({', '.join(parts)})),")
        problem, solver = new, method
    last = status.iteration
    lines += ["event = run.advance()  # the starting point"]
    if table:
        lines += [
            "changes = [  # (iteration, what was changed then)",
            *table,
            "]",
            "for iteration, change in changes:",
            "    while run.state.iteration < iteration:",
            "        run.advance()",
            "    run.change(**change)",
        ]
    ended = f"  # {status.message}" if status.mode == "finished" and status.message else ""
    lines += [f"while run.state.iteration < {last}:{ended}", "    run.advance()"]
    lines += ["run.conclude()"] if status.mode == "finished" else []
    lines += ["event = run.observe(certify_now=True)", "print(event.iteration, event.objective, event.relative_gap)"]
    return "\n".join(lines) + "\n"


def _words(parts: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_text(part)}" for name, part in parts.items()]


def _text(part: Any) -> str:
    """Python for a part that was made: its name or, with parameters other than the defaults, the call that makes it."""
    for name, registry in REGISTRIES.items():
        known = registry.name_of(part)
        if known is None:
            continue
        given = {f.name: getattr(part, f.name) for f in registry.fields(known)}
        changed = [f"{f.name}={given[f.name]!r}" for f in registry.fields(known) if given[f.name] != f.default]
        return f"ss.registry.{name}.create({known!r}, {', '.join(changed)})" if changed else repr(known)
    return repr(part)


def _problem_lines(settings: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Lines that make ``problem``, and the cleaned settings."""
    known = settings.get("dataset", st.DATASET.wished) in datasets.names()
    chosen, _ = st.clean(settings, None if known else [settings["dataset"]])
    lines = ["import sparsescope as ss", ""]
    if not known:
        lines.append("data = (X, y)  # your own arrays, as handed to ss.explore")
        arguments = "*data"
    else:
        uploaded = chosen["dataset"].removeprefix(PREFIX)
        if uploaded != chosen["dataset"]:
            seed = f", seed={chosen['seed']}" if chosen["seed"] else ""
            lines.append(
                f"data = ss.datasets.load({uploaded!r}{seed})  # the path of the file that was uploaded as this name"
            )
        else:
            lines.append(f"data = ss.datasets.load({chosen['dataset']!r}, seed={chosen['seed']})")
        arguments = "data"
    return [*lines, *kinds.of(chosen).snippet(chosen, arguments)], chosen
