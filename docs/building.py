"""Hooks of the documentation site (mkdocs.yml): pages that are made when it is built, and links that lead out of docs/.

Made at build time: the changelog, the API pages, the tables of the manual and of the choices, the citation, and the
recordings, which are runs of the package that is being documented.
"""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "toolkit")]

import facts  # noqa: E402

import sparsescope as ss  # noqa: E402

OUTSIDE = re.compile(r"\]\(\.\./(?P<target>[^)\s#]+)(?P<anchor>#[^)]*)?\)")
ROLE = re.compile(r":(?:meth|class|func|attr|mod|data|exc|obj):(<code>)~?(?:sparsescope\.)?")
RECORDING = re.compile(r"<!-- recording: (?P<name>[\w-]+) -->")
# Rooms of the reference: the title of each, and the homes of the names that stand in it.
ROOMS = {
    "problems": "Problems",
    "runs": "Runs, traces and paths",
    "estimators": "Estimators",
    "races": "Races",
    "live": "Recordings",
    "lessons": "Lessons",
    "widgets": "The explorer in a notebook",
    "inputs": "Inputs",
    "registry": "The registry",
    "jit": "New parts",
    "checking": "Checking parts",
}


# ----------------------------------------------------------------------------------------------------------- recordings
def first_run() -> ss.Recording:
    """Record the run of the first pages."""
    data = ss.datasets.load("digits")
    problem = ss.Problem(data, lam_ratio=0.1)
    return ss.record(problem, solver="bcd-ls", tol=1e-4, test=data.test, title="Handwritten digits", limit=600_000)


def words() -> ss.Recording:
    """Record a text problem whose λ falls: words come in."""
    data = ss.datasets.load("pydocs")
    recorder = ss.Recorder(ss.Trace(recent_bytes=2**20))  # keeps the last weights, wherever the run is left
    run = ss.Run(ss.Problem(data, lam_ratio=0.9), "bcd-ls", test=data.test, callbacks=[recorder])
    events = iter(run)
    for ratio in (0.9, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12):
        if ratio < 0.9:
            run.change(lam=ratio * run.problem.lam_reference)
            recorder.trace.mark(f"λ = {ratio:g} λ_max", "lam")
        for _ in range(8):
            next(events)
    return ss.record(recorder.trace, problem=run.problem, title="Words that tell areas apart", limit=600_000)


def accelerated() -> ss.Recording:
    """Record FISTA on the digits: the objective rises now and then."""
    problem = ss.Problem(ss.datasets.load("digits"), lam_ratio=0.1)
    return ss.record(problem, solver="fista-ls", tol=1e-4, title="FISTA with a line search", limit=600_000)


RECORDINGS: dict[str, Callable[[], ss.Recording]] = {"first-run": first_run, "words": words, "fista": accelerated}


def frame(name: str) -> str:
    """Return the element that plays a recording."""
    said = "A recorded run: play, look back, hover, zoom."
    return (
        f'<figure class="recording" markdown="0"><iframe src="recordings/{name}.html" loading="lazy" '
        f'title="{html.escape(said)}"></iframe><figcaption>{said} '
        f'<a href="recordings/{name}.html">Alone in a tab</a></figcaption></figure>'
    )


# ------------------------------------------------------------------------------------------------------------ reference
def public() -> dict[str, list[tuple[str, str]]]:
    """Return for each page of the reference its public names, each with where it is defined."""
    found: dict[str, dict[str, str]] = {}  # page -> place -> shown name: of two names of one thing, the first
    for name in sorted(ss.__all__, key=lambda name: inspect.ismodule(getattr(ss, name))):
        made = getattr(ss, name)
        if not inspect.ismodule(made):
            if where := place(made):
                found.setdefault(where.split(".")[1], {}).setdefault(where, f"ss.{name}")
            continue
        for member in sorted(getattr(made, "__all__", None) or own_members(made)):
            if where := place(getattr(made, member)):
                found.setdefault(name, {}).setdefault(where, f"ss.{name}.{member}")
    return {room: [(shown, where) for where, shown in names.items()] for room, names in found.items() if names}


def own_members(module: Any) -> list[str]:
    """Return the public classes and functions that a module defines."""
    return [name for name, made in vars(module).items() if not name.startswith("_") and defined_in(made, module)]


def defined_in(made: Any, module: Any) -> bool:
    """Return whether something is a class or function of a module."""
    return (inspect.isclass(made) or inspect.isfunction(made)) and made.__module__ == module.__name__


def place(made: Any) -> str:
    """Return where a class or function is defined, as the reference asks for it; empty for anything else."""
    if not (inspect.isclass(made) or inspect.isfunction(made)):
        return ""
    module = importlib.import_module(made.__module__)
    written = getattr(made, "plain_name", "") or made.__qualname__  # compiled parts have a name for their kernels
    return f"{made.__module__}.{written}" if hasattr(module, written) else ""


def room_title(room: str) -> str:
    """Return the title of a page of the reference."""
    return ROOMS.get(room, f"ss.{room}")


def reference_page(room: str, names: list[tuple[str, str]]) -> str:
    """Return a page of the reference."""
    lines = [f"# {room_title(room)}", ""]
    for shown, where in names:
        lines += [f"::: {where}", "    options:", f'      heading: "{shown}"', f'      toc_label: "{shown}"']
        if members := inherited(where):
            lines.append(f"      inherited_members: {json.dumps(members)}")
        lines.append("")
    return "\n".join(lines)


def inherited(where: str) -> list[str]:
    """Return what a class takes from the bases that bear its name (Trace: TraceData, TraceFiles …), for its entry."""
    module, _, name = where.rpartition(".")
    made = getattr(importlib.import_module(module), name, None)
    bases = [base for base in getattr(made, "__mro__", ())[1:] if re.fullmatch(f"{name}.+", base.__name__)]
    return sorted({key for base in bases for key in vars(base) if not key.startswith("_")})


def reference_index(text: str) -> str:
    """Return the first page of the reference with its table."""
    lines = [
        [f"[{room_title(room)}](api/{room}.md)", ", ".join(f"`{shown}`" for shown, _ in names)]
        for room, names in public().items()
    ]
    return facts.filled(text, {"api": facts.table(["page", "names"], lines)})


# ------------------------------------------------------------------------------------------------------------ the rest
def citation(text: str) -> str:
    """Return the page on citing with an entry for BibTeX made of CITATION.cff."""
    fields = dict(re.findall(r'^(title|version|license): "?(.*?)"?$', (ROOT / "CITATION.cff").read_text("utf-8"), re.M))
    entry = (
        f"```bibtex\n@software{{sparsescope,\n  title   = {{{fields['title']}}},\n"
        f"  author  = {{{{The sparsescope developers}}}},\n  version = {{{fields['version']}}},\n"
        f"  license = {{{fields['license']}}}\n}}\n```"
    )
    return facts.filled(text, {"citation": entry})


def changelog() -> str:
    """Return the changelog with its links as they lead from this site."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")


def outside(text: str) -> set[str]:
    """Return the files outside docs/ that a page links to."""
    return {match["target"] for match in OUTSIDE.finditer(text)}


def copied(target: str) -> str:
    """Return where a file outside docs/ stands on the site."""
    if target == "CHANGELOG.md":
        return "changelog.md"
    return "files/" + (target.replace("/", "-") if target.endswith(".md") else target)


FILLED: dict[str, Callable[[str], str]] = {
    "choosing.md": facts.choosing,
    "manual.md": facts.manual,
    "api.md": reference_index,
    "cite.md": citation,
}


# ---------------------------------------------------------------------------------------------------------------- hooks
def on_files(files: Files, config: Any) -> Files:
    """Add what is made when the site is built."""
    for name, record in RECORDINGS.items():
        files.append(File.generated(config, f"recordings/{name}.html", content=record().html()))
    for room, names in public().items():
        files.append(File.generated(config, f"api/{room}.md", content=reference_page(room, names)))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    wanted = {target for page in (ROOT / "docs").glob("*.md") for target in outside(page.read_text(encoding="utf-8"))}
    for target in sorted(wanted - {"CHANGELOG.md"}):
        content: str | bytes = (ROOT / target).read_bytes()
        if target.endswith(".md"):  # a page of the site, one folder deep
            content = (ROOT / target).read_text(encoding="utf-8").replace("](../../docs/", "](../")
        files.append(File.generated(config, copied(target), content=content))
    return files


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Take the roles of Sphinx off names in docstrings."""
    return ROLE.sub(r"\1", html)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fill tables, put recordings in their places, and turn links that lead out of docs/ to their copies."""
    if page.file.src_uri.startswith("files/"):
        return markdown
    fill = FILLED.get(page.file.src_uri)
    text = markdown if fill is None else fill(markdown)
    text = RECORDING.sub(lambda match: frame(match["name"]), text)
    return OUTSIDE.sub(lambda match: f"]({copied(match['target'])}{match['anchor'] or ''})", text)
