"""The recipes of docs/adding-a-*.md, followed to the letter: one new file, put into a copy of the project, is a part.

Each page's complete example becomes a file of the folder that the page names, ``docs/tables.py`` writes the tables, and
the contracts run on the new part. Nothing else is edited: a part that needed another file would fail here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import page_of_the_recipe

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"<!-- run -->\n```python\n(?P<code>.*?)```", re.DOTALL)
ADDED = re.compile(r"^(losses|penalties|solvers|views)\.add\((?:\"(?P<name>[^\"]+)\"|(?P<cls>\w+)\.name)", re.MULTILINE)
SAID = "Put the file into `{folder}/`"
# page -> how the files of the contract of its parts begin, and whether it runs interpreted: a new loss or penalty would
# compile every kernel anew, and its functions of one row are the same either way.
CONTRACTS = {
    "loss": ("contracts/test_losses", True),
    "penalty": ("contracts/test_penalties", True),
    "solver": ("contracts/test_solvers", False),
    "view": ("contracts/test_views", True),
}


def example(page: str) -> tuple[str, str, str]:
    """The folder, the registry name and the code of a page's complete example."""
    text = (ROOT / "docs" / f"adding-a-{page}.md").read_text(encoding="utf-8")
    code = next(match["code"] for match in EXAMPLE.finditer(text) if ADDED.search(match["code"]))
    added = ADDED.search(code)
    assert added is not None
    folder = added[1]
    assert SAID.format(folder=folder) in text, f"the page does not say: {SAID.format(folder=folder)}"
    name = added["name"] or re.findall(r'^    name = "([^"]+)"$', code, re.MULTILINE)[0]
    return folder, name, code


def run(copy: Path, *command: str, interpreted: bool) -> str:
    """The output of a Python command in the copy; its failure is the test's."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "toolkit")}
    if interpreted:
        environment["NUMBA_DISABLE_JIT"] = "1"
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=1200, cwd=copy,
                          env=environment, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources, tests and pages, and of the measurements that tables of the pages quote."""
    ignore = shutil.ignore_patterns("__pycache__", "node_modules", ".*_cache", "ui", "*.ipynb")
    for folder in ("toolkit", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    shutil.copytree(ROOT / "benchmarks" / "results", tmp_path / "benchmarks" / "results")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def put(recipe: str, copy: Path) -> str:
    """Put a page's example into the folder that the page names; returns the name of the part."""
    folder, name, code = example(recipe)
    (copy / "toolkit" / "sparsescope" / folder / f"of_a_recipe_{recipe}.py").write_text(code, encoding="utf-8")
    return name


def follow(copy: Path, *recipes: str) -> None:
    """Hold the contracts of the parts of some pages, each put into the copy as one file."""
    names = [put(recipe, copy) for recipe in recipes]
    run(copy, "docs/tables.py", interpreted=True)
    table = (copy / "docs" / "parts.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in table for name in names)
    files = [file for recipe in recipes for file in sorted((copy / "tests").glob(f"{CONTRACTS[recipe][0]}*.py"))]
    files += [copy / "tests" / name for name in ("contracts/test_docs.py", "unit/test_registry.py", "test_imports.py")]
    others = ("tables_of_parts", "every_part_says", "attributes_of_their_package", "follow_the_table", "in_a_circle")
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not ui", *map(str, files), "-k")
    # -rA names every test that passed: each part has to be among them
    done = run(
        copy, *command, " or ".join((*names, *others)), "-rA", interpreted=all(CONTRACTS[name][1] for name in recipes)
    )
    assert int(re.findall(r"(\d+) passed", done)[-1]) >= 300, done[-3000:]
    for name, recipe in zip(names, recipes, strict=True):
        file = re.escape(CONTRACTS[recipe][0])
        assert len(re.findall(rf"^PASSED \S*{file}\w*\.py::.*{re.escape(name)}", done, re.MULTILINE)) >= 5, (
            name,
            done[-3000:],
        )


def test_a_loss_a_penalty_and_a_view_are_one_file_each(copy: Path) -> None:
    follow(copy, *(recipe for recipe, (_, interpreted) in CONTRACTS.items() if interpreted))


@pytest.mark.slow  # the whole contract of a solver, compiled, takes minutes
def test_a_solver_is_one_file(copy: Path) -> None:
    follow(copy, "solver")


def test_a_page_is_two_files(copy: Path) -> None:
    name, files = page_of_the_recipe()
    for place, code in files.items():
        (copy / place).write_text(code, encoding="utf-8")
    tests = ("tests/contracts/test_app_pages.py", "tests/unit/test_widget_pages.py", "tests/test_imports.py")
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not ui", *tests, "-k")
    wanted = f"(({name} or its_two_files) and not panel_serve) or follow_the_table and {name}"
    done = run(copy, *command, wanted, interpreted=True)
    assert int(re.findall(r"(\d+) passed", done)[-1]) >= 11, done
    found = run(
        copy, "-c", f"import sparsescope as ss; print(ss.show({name!r}, frequency=3.0).settings)", interpreted=True
    )
    assert "'frequency': 3.0" in found
