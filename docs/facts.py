"""Tables of docs/choosing.md and docs/manual.md, made when the site is built of what parts and pages declare."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparsescope as ss
from sparsescope import app, registry  # noqa: F401  (registers the pages)
from sparsescope.live import controls
from sparsescope.live import settings as st
from sparsescope.registry import Field
from sparsescope.solvers.auto import choose

MOST_CHOICES = 10
YES = {True: "yes", False: "–"}
TARGETS = {"classes": "one class a sample", "sets": "label sets"}


def filled(text: str, made: dict[str, str]) -> str:
    """Return a page with its tables between the comments that mark them; ``ValueError`` if a place is missing."""
    for name, table in made.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        head, found, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"there is no place for the table {name}: {begin.strip()} … {end} is missing")
        text = f"{head}{begin}{table}\n{end}{tail}"
    return text


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a table in Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |" for row in rows
    )


# ------------------------------------------------------------------------------------------------------------ choosing
def choosing(text: str) -> str:
    """Return the page of the choices with its tables as they have to be."""
    made = {"loss-facts": losses(), "penalty-facts": penalties(), "auto-choices": automatic(), "limits": limits()}
    return filled(text, made)


def losses() -> str:
    """Return what decides between losses."""
    lines = []
    for name in registry.losses:
        loss = registry.losses.create(name)
        targets = ", ".join(TARGETS[kind] for kind in loss.target_types)
        lines.append(
            [
                f"`{name}`",
                "two classes" if loss.one_score else targets,
                YES[bool(loss.smooth)],
                YES[loss.probabilities(np.zeros((1, 2 - loss.one_score))) is not None],
                registry.losses.doc(name),
            ]
        )
    return table(["loss", "labels", "smooth", "probabilities", "what it asks for"], lines)


def penalties() -> str:
    """Return what decides between penalties."""
    lines = []
    for name in registry.penalties:
        made = registry.penalties[name]
        zero = getattr(made, "zeroes_rows", True)
        lines.append([f"`{name}`", YES[bool(zero)], registry.penalties.doc(name), getattr(made, "formula", "")])
    return table(["penalty", "leaves features out", "what it does", "Ω(W)"], lines)


def small_problem(loss: str, penalty: str) -> ss.Problem:
    """Return a problem of three classes, or of two where the loss takes no more."""
    X = np.random.default_rng(0).standard_normal((60, 12))
    classes = 2 if registry.losses.create(loss).one_score else 3
    return ss.Problem(X, np.arange(60) % classes, loss=loss, penalty=penalty, lam=0.1)


def automatic() -> str:
    """Return the solver that ``auto`` takes for each loss with each penalty on small data, after sweeps."""
    names = list(registry.penalties)
    lines = []
    for loss in registry.losses:
        lines.append([f"`{loss}`", *(f"`{choose(small_problem(loss, name), swept=True)[0].name}`" for name in names)])
    return table(["", *(f"`{name}`" for name in names)], lines)


def limits() -> str:
    """Return for each solver of the registry which problems it takes."""
    lines = []
    for name in registry.solvers:
        made = registry.solvers[name]
        only = [f"`{part}`" for part in (*getattr(made, "losses", ()), *getattr(made, "only_penalties", ()))]
        lines.append([f"`{name}`", ", ".join(made.kinds), ", ".join(only) or "all it can", registry.solvers.doc(name)])
    return table(["solver", "kinds of problems", "made for", "what it does"], lines)


# -------------------------------------------------------------------------------------------------------------- manual
def manual(text: str) -> str:
    """Return the page of the controls with its tables as they have to be."""
    return filled(text, {"explorer-controls": explorer(), "page-controls": pages()})


def explorer() -> str:
    """Return every control of the explorer, for each kind of problem, from the declared settings."""
    seen: dict[str, list[str]] = {}
    for kind in st.pages():
        settings = st.clean({"task": kind.task, "solver": kind.default_solver})[0]
        for group in controls.schema(settings, names=None):
            for control in group["controls"]:
                where = f"{group['title']} ({kind.name})"
                seen.setdefault(control["id"], [control["label"], where, control["doc"], values(control)])
    lines = [[f"**{label}**", where, doc, allowed] for label, where, doc, allowed in seen.values()]
    return table(["control", "group (kind of problem)", "what it does", "values"], lines)


def values(control: dict[str, Any]) -> str:
    """Return what a control allows, in a few words."""
    if control["kind"] in ("select", "steps"):
        return some([str(choice["label"]) for choice in control["choices"]])
    if control["kind"] == "check":
        return "on, off"
    return f"{control['low']:g} to {control['high']:g}" + (", on a log scale" if control.get("log") else "")


def some(choices: list[str]) -> str:
    """Return choices in a line; of many, the first ones and their number."""
    if len(choices) <= MOST_CHOICES:
        return ", ".join(choices)
    return f"{', '.join(choices[:3])} … ({len(choices)})"


def pages() -> str:
    """Return every setting of the pages beside the explorer, from their fields."""
    lines = []
    for name in registry.app_pages:
        for declared in getattr(registry.app_pages[name], "fields", ()):
            label = registry.app_pages[name].labels.get(declared.name, declared.name)
            lines.append([registry.app_pages.title(name), f"**{label}**", declared.doc, allowed(declared)])
    return table(["page", "control", "what it does", "values"], lines)


def allowed(declared: Field) -> str:
    """Return the values of a field, in a few words."""
    if declared.kind == "bool":
        return "on, off"
    if declared.kind == "choice":
        return some([str(choice) for choice in declared.choices or ()])
    return declared.bounds()


PAGES = {"choosing.md": choosing, "manual.md": manual}
