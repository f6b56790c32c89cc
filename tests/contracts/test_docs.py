"""The pages of docs/ say what is there: every part has its line, quotes are the source's, examples run, links lead."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_recipes import INTERPRETED

from sparsescope import datasets, losses, penalties, registry, solvers, views  # noqa: F401  (to register the parts)
from sparsescope.version import __version__
from test_imports import MAY_IMPORT

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import tables  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md"))
KINDS = ("losses", "penalties", "solvers", "views", "datasets")
QUOTE = re.compile(r"<!-- quote: (?P<path>\S+) -->\n```python\n(?P<code>.*?)```", re.DOTALL)
RUN = re.compile(r"<!-- run -->\n```python\n(?P<code>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?:#[^)]*)?\)")


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_tables_of_parts_say_what_the_parts_declare() -> None:
    assert tables.filled(page("parts.md")) == page("parts.md"), "run: make tables"


def test_the_tables_of_lessons_say_what_the_lessons_declare_and_what_was_measured() -> None:
    assert tables.lessons(page("lessons.md")) == page("lessons.md"), "run: make tables"


@pytest.mark.parametrize("kind", ["losses", "penalties", "solvers"])
def test_every_part_says_what_it_computes(kind: str) -> None:
    """By a formula on its class, by the algorithm at the head of its file, or on the page of the mathematics."""
    for name in getattr(registry, kind):
        part = getattr(registry, kind)[name]
        head = (sys.modules[part.__module__].__doc__ or "").strip().splitlines()
        known = getattr(part, "formula", "") or len(head) > 3 or f"`{name}`" in page("mathematics.md")
        assert known and part.source and part.title and part.doc, f"{kind}: {name}"


def test_the_import_table_is_the_one_that_is_tested() -> None:
    table = page("architecture.md").split("<!-- imports: begin -->")[1].split("<!-- imports: end -->")[0]
    expected = ["| layer | may import |", "|---|---|"]
    expected += [f"| {layer} | {', '.join(sorted(allowed)) or '–'} |" for layer, allowed in MAY_IMPORT.items()]
    assert table.strip().splitlines() == expected, "docs/architecture.md: write these lines:\n" + "\n".join(expected)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_quoted_code_is_in_the_source(path: Path) -> None:
    for match in QUOTE.finditer(path.read_text(encoding="utf-8")):
        source = (ROOT / match["path"]).read_text(encoding="utf-8")
        assert match["code"] in source, f"{path.name} quotes what {match['path']} no longer says:\n{match['code']}"


def module_of(path: Path) -> str:
    """Return the name of the module that holds the examples of a page."""
    return "example_" + path.stem.replace("-", "_")


def run_examples(pages: list[Path], folder: Path) -> None:
    """Run the examples of each page, as one module, one after the other in a new process.

    They are imported: kernels of parts in a module are kept on disk, those of parts in a script never are.
    """
    for path in pages:
        code = "\n".join(match["code"] for match in RUN.finditer(path.read_text(encoding="utf-8")))
        (folder / f"{module_of(path)}.py").write_text(code, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "toolkit"), str(folder)))}
    program = f"import {', '.join(module_of(path) for path in pages)}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
                          cwd=folder, env=variables, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr


# What the page of the papers shows is met by the tests of the experiments.
WITH_EXAMPLES = [path for path in PAGES if RUN.search(path.read_text(encoding="utf-8")) and path.stem != "papers"]
REGISTERING = [path for path in WITH_EXAMPLES if path.stem.startswith("adding-") or path.stem == "own-parts"]
USING = [path for path in WITH_EXAMPLES if path not in REGISTERING]
# Parts on these pages have to keep the whole contract of their kind each time, see test_recipes.py.
FOLLOWED = [path for path in REGISTERING if path.stem.removeprefix("adding-a-") in INTERPRETED]


def test_examples_run(tmp_path: Path) -> None:
    """Pages share a process, which takes seconds to begin: last come those whose parts others could meet."""
    assert len(USING) >= 5 and len(REGISTERING) >= 5 and FOLLOWED
    run_examples([*USING, *(path for path in REGISTERING if path not in FOLLOWED)], tmp_path)


@pytest.mark.slow
def test_examples_with_parts_run(tmp_path: Path) -> None:
    run_examples(REGISTERING, tmp_path)


@pytest.mark.slow
def test_the_examples_of_the_papers_run(tmp_path: Path) -> None:
    run_examples([ROOT / "docs" / "papers.md"], tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    for match in LINK.finditer(path.read_text(encoding="utf-8")):
        target = match["target"]
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_files_named_in_the_architecture_exist() -> None:
    nouns = page("architecture.md").split("## Where things live")[0]
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", nouns):
        assert (ROOT / "toolkit" / "sparsescope" / name).exists(), name


def test_the_version_is_one_fact() -> None:
    release = __version__.partition(".dev")[0]
    newest = re.search(
        r"^## (\S+)( \(unreleased\))?$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest is not None
    assert newest[1] == release
    assert (".dev" in __version__) == bool(newest[2]), "a version under development is unreleased"
