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
    """A copy of the sources, tests and pages, and of the measurements that tables of the pages quote.

    What Python and pytest have compiled of the sources and tests comes along.
    """
    ignore = shutil.ignore_patterns("node_modules", ".*_cache", "ui", "*.ipynb")
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


SHOWS = """import sparsescope as ss

def test_it_is_shown_with_a_setting():
    assert ss.show({name!r}, frequency=3.0).settings["frequency"] == 3.0
"""


def put_page(copy: Path) -> str:
    """Put the two files of a page into the copy, and a test that shows it; returns its name."""
    name, files = page_of_the_recipe()
    for place, code in files.items():
        (copy / place).write_text(code, encoding="utf-8")
    (copy / "tests" / "contracts" / f"test_of_a_recipe_{name}.py").write_text(SHOWS.format(name=name), encoding="utf-8")
    return name


OTHERS = ("tables_of_parts", "every_part_says", "attributes_of_their_package")
ALL_FILES = ("follow_the_table", "in_a_circle")  # they go through all files of the package, which takes seconds
FILES = ("contracts/test_docs.py", "unit/test_registry.py", "test_imports.py")
PAGE_FILES = ("contracts/test_app_pages.py", "unit/test_widget_pages.py")
# One process: what it imports takes longer than the tables. The tests read the pages with the tables.
TABLES_AND_TESTS = """
import runpy, sys
runpy.run_path("docs/tables.py", run_name="__main__")
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def follow(copy: Path, *recipes: str, with_page: bool = False, all_files: bool = True) -> None:
    """Hold the contracts of the parts of some pages, each put into the copy as one file, and of a page of the app."""
    names = [put(recipe, copy) for recipe in recipes]
    tests = [file for recipe in recipes for file in sorted((copy / "tests").glob(f"{CONTRACTS[recipe][0]}*.py"))]
    tests += [copy / "tests" / name for name in FILES]
    wanted = [*names, *OTHERS, *(ALL_FILES if all_files else ["(follow_the_table and of_a_recipe)"])]
    if with_page:
        page = put_page(copy)
        tests += [copy / "tests" / name for name in (*PAGE_FILES, f"contracts/test_of_a_recipe_{page}.py")]
        wanted += [f"(({page} or its_two_files or shown_with_a_setting) and not panel_serve)"]
    # -rA names every test that passed: each part has to be among them
    command = ("-q", "-rA", "-p", "no:cacheprovider", "-m", "not slow and not ui", *map(str, tests), "-k")
    done = run(copy, "-c", TABLES_AND_TESTS, *command, " or ".join(wanted),
               interpreted=all(CONTRACTS[recipe][1] for recipe in recipes))  # fmt: skip
    table = (copy / "docs" / "parts.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in table for name in names)
    assert int(re.findall(r"(\d+) passed", done)[-1]) >= (300 if all_files else 200), done[-3000:]

    def passed(file: str, name: str) -> int:
        return len(re.findall(rf"^PASSED \S*{re.escape(file)}\w*\.py::.*{name}", done, re.MULTILINE))

    for name, recipe in zip(names, recipes, strict=True):
        assert passed(CONTRACTS[recipe][0], re.escape(name)) >= 5, (name, done[-3000:])
        assert passed("test_imports", rf"follow_the_table\[.*of_a_recipe_{recipe}\.py\]") == 1
    if with_page:
        assert passed("contracts/test_app_pages", page) >= 8 and passed("contracts/test_app_pages", "its_two_files")
        assert passed("unit/test_widget_pages", page) and passed("contracts/test_of_a_recipe", "shown_with_a_setting")
        assert passed("test_imports", rf"follow_the_table\[app.{page}\.py\]") == 1


INTERPRETED = [recipe for recipe, (_, interpreted) in CONTRACTS.items() if interpreted]


def test_a_loss_a_penalty_and_a_view_are_one_file_each_and_a_page_is_two(copy: Path) -> None:
    """They share a copy and a process: to make them takes longer than most of the tests."""
    follow(copy, *INTERPRETED, with_page=True, all_files=False)


@pytest.mark.slow
@pytest.mark.parametrize("with_page", [False, True])
def test_all_files_of_the_package_follow_their_table_with_a_new_part(copy: Path, with_page: bool) -> None:
    follow(copy, *INTERPRETED, with_page=with_page)


@pytest.mark.slow  # the whole contract of a solver, compiled, takes minutes
def test_a_solver_is_one_file(copy: Path) -> None:
    follow(copy, "solver")
