"""Holds the table of layers: who may import whom, and which third-party packages may appear where.

The imports are read from the source, not observed at run time, so that an import inside a function counts as well.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import importlib
import json
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparsescope import moved
from sparsescope.registry import pages, problems

PACKAGE = Path(__file__).resolve().parents[1] / "toolkit" / "sparsescope"

# room -> rooms of the package it may import (itself is always allowed). A room is a top-level module or sub-package.
MAY_IMPORT: dict[str, set[str]] = {
    "version": set(),
    "moved": set(),
    "collecting": set(),
    "errors": set(),
    "fields": {"errors"},
    "registry": {"collecting", "errors", "fields"},
    "extras": {"collecting", "registry"},
    "progress": {"extras"},
    "jit": {"collecting", "registry"},
    "kernels": {"jit"},
    "losses": {"jit", "kernels", "registry"},
    "pauses": set(),
    "threads": {"pauses"},
    "wording": set(),
    "inputs": {"jit", "kernels", "pauses", "threads"},
    "penalties": {"inputs", "jit", "kernels", "registry"},
    "datasets": {"extras", "inputs", "jit", "progress", "registry"},
    "problems": {"inputs", "jit", "kernels", "losses", "pauses", "penalties", "registry"},
    "solvers": {"inputs", "jit", "kernels", "pauses", "problems", "registry", "threads"},
    "runs": {"extras", "inputs", "jit", "kernels", "pauses", "problems", "registry", "solvers"},
    "estimators": {"inputs", "losses", "problems", "registry", "runs", "solvers", "version"},
    "views": {"extras", "problems", "registry", "runs", "wording"},
    "races": {"extras", "problems", "registry", "runs", "solvers", "views"},
    "sweeps": {"extras", "problems", "races", "registry", "runs", "solvers", "version"},
    "checking": {"losses", "penalties", "problems", "registry", "runs", "solvers", "views"},
    "lessons": {
        "datasets",
        "extras",
        "inputs",
        "losses",
        "penalties",
        "problems",
        "progress",
        "races",
        "registry",
        "runs",
        "solvers",
        "wording",
    },
    "live": {"datasets", "pauses", "problems", "registry", "runs", "solvers", "version", "views"},
    "experiments": {
        "extras",
        "datasets",
        "inputs",
        "losses",
        "penalties",
        "problems",
        "progress",
        "registry",
        "runs",
        "solvers",
        "sweeps",
        "views",
        "wording",
    },
    "app": {
        "datasets",
        "estimators",
        "kernels",
        "lessons",
        "live",
        "pauses",
        "penalties",
        "problems",
        "races",
        "registry",
        "runs",
        "solvers",
        "views",
        "sweeps",
    },
    "classroom": {"registry"},
    "widgets": {"app", "extras", "datasets", "live", "problems", "registry", "runs", "version", "views"},
    "dashboard": {"extras", "app", "classroom", "datasets", "live", "registry", "runs", "version", "views"},
    "watched": {"app", "dashboard", "estimators", "registry", "runs", "widgets"},
}
# Only people call these; nothing imports them, and they may import anything.
TOP = {"cli", "commands", "__main__"}

# third-party package -> the layers that may import it; what is not named here may be imported by no layer.
THIRD_PARTY: dict[str, set[str]] = {
    "numpy": set(MAY_IMPORT),
    "scipy": set(MAY_IMPORT),
    "numba": {"jit"},
    "llvmlite": {"jit"},
    "sklearn": {"checking", "datasets", "estimators", "experiments", "inputs", "runs"},
    "joblib": {"estimators", "experiments", "races", "sweeps"},
    "distributed": {"inputs", "sweeps"},
    "pandas": {"races", "runs", "datasets", "experiments", "sweeps"},
    "plotly": {"races", "views", "experiments"},
    "panel": {"dashboard"},
    "panel_material_ui": {"dashboard"},
    "bokeh": {"dashboard"},
    "param": {"dashboard"},
    "tornado": {"dashboard"},
    "ipywidgets": {"widgets"},
    "anywidget": {"widgets"},
    "traitlets": {"widgets"},
    "IPython": {"widgets"},
    "threadpoolctl": {"dashboard", "runs", "experiments"},
    "tqdm": {"progress"},
    "nbformat": {"lessons"},
    "vowpalwabbit": {"experiments"},
    "segno": {"dashboard"},
}


def sources() -> list[Path]:
    """All Python files of the package."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def layer_of(dotted: str) -> str:
    """`sparsescope.solvers.base` -> `solvers`; the package itself -> ``."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 else ""


def dotted_name(path: Path) -> str:
    """The module name of a source file."""
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# What the tests of this file ask about. Going through all other nodes takes most of the time: it is done once a file.
ASKED = (ast.Import, ast.ImportFrom, ast.Compare, ast.Dict)


@functools.cache
def asked_nodes(source: str) -> tuple[ast.AST, ...]:
    """Nodes of a source text that some test of this file asks about."""
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, ASKED))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, full dotted name) of all that a file imports; `from a import b` gives `a.b`, module or name."""
    module = dotted_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in asked_nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parent = ".".join(parts[: len(parts) - node.level + 1])
                base = f"{parent}.{base}" if base else parent
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def is_allowed(layer: str, target: str) -> bool:
    """Return whether a layer may import the dotted name `target` of this package."""
    return layer_of(target) in {layer, *MAY_IMPORT[layer]}


def faults(path: Path) -> list[str]:
    """Imports of a file that break the table, as sentences."""
    layer = layer_of(dotted_name(path))
    if layer in TOP:
        return []
    found = []
    for line, target in imported(path):
        top = target.split(".")[0]
        where = f"{path.relative_to(PACKAGE.parent)}:{line}"
        if top == "sparsescope":
            if layer and not is_allowed(layer, target):
                found.append(f"{where}: {layer} may not import {target}")
        elif top not in sys.stdlib_module_names and layer not in THIRD_PARTY.get(top, set()):
            found.append(f"{where}: {layer or 'sparsescope/__init__'} may not import {top}")
    return found


def test_every_layer_is_in_the_table() -> None:
    layers = {layer_of(dotted_name(path)) for path in sources()} - {""}
    assert layers <= set(MAY_IMPORT) | TOP, "a new layer: give it a row in MAY_IMPORT"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_table(path: Path) -> None:
    found = faults(path)
    assert not found, "\n".join(found)


def test_the_rooms_stand_on_those_below_them() -> None:
    below: set[str] = set()
    for room, may_import in MAY_IMPORT.items():
        assert may_import <= below, f"{room} stands below {sorted(may_import - below)}"
        below.add(room)


def imports_among(modules: set[str]) -> dict[str, set[str]]:
    """Modules among these that each of them imports anywhere in its file, for types too."""
    found: dict[str, set[str]] = {}
    for path in sources():
        name = dotted_name(path)
        targets = {target if target in modules else target.rpartition(".")[0] for _, target in imported(path)}
        found[name] = targets & modules - {name}
    return found


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, the first one repeated at the end; none: an empty list."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as found:
        return list(found.args[1])
    return []


def test_no_files_import_each_other_in_a_circle_even_for_types() -> None:
    found = circle(imports_among({dotted_name(path) for path in sources()}))
    assert not found, " ← ".join(found)


def test_a_circle_of_types_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "sparsescope"
    package.mkdir()
    (package / "a.py").write_text("from . import b\n")
    (package / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import A\n")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", package)
    found = circle(imports_among({"sparsescope.a", "sparsescope.b"}))
    assert set(found) == {"sparsescope.a", "sparsescope.b"}


def asked_kinds(source: str) -> list[int]:
    """Lines that compare a ``kind`` with the name of a kind of problems, literally or by its class."""
    found = []
    for node in asked_nodes(source):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides)
            named = any(isinstance(side, ast.Constant) and side.value in problems for side in sides) or sum(
                isinstance(side, ast.Attribute)
                and side.attr == "kind"
                and isinstance(side.value, ast.Name)
                and side.value.id.endswith("Problem")
                for side in sides
            )
            if asked and named:
                found.append(node.lineno)
    return found


def check_sources(faults: Callable[[str], list[int]]) -> None:
    """No file of the package has a line at which this finds a fault."""
    found = [
        f"{path.relative_to(PACKAGE)}:{line}" for path in sources() for line in faults(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_no_file_asks_what_kind_a_problem_is() -> None:
    """Hold that facts of a kind stand on its class in problems/ and on its page's class in live/."""
    check_sources(asked_kinds)


def tables_of_kinds(source: str) -> list[int]:
    """Lines of dicts whose keys are kinds of problems, by name or as the attribute of their class."""
    return [
        node.lineno
        for node in asked_nodes(source)
        if isinstance(node, ast.Dict)
        for key in node.keys
        if (isinstance(key, ast.Constant) and key.value in problems)
        or (isinstance(key, ast.Attribute) and key.attr == "kind")
    ]


def test_no_file_has_a_table_of_kinds() -> None:
    check_sources(tables_of_kinds)
    assert tables_of_kinds('A = {Problem.kind: 1}\nB = {"covariance": 2}\nC = {"other": 3}') == [1, 2]


def test_a_kind_is_one_class_and_one_page() -> None:
    assert set(pages) == set(problems)
    for kind in problems:
        made = problems[kind]
        assert made.kind == kind == pages[kind].name and pages[kind].problem is made
        assert made.title and "tiny_sibling" in vars(made)


def test_a_question_for_the_kind_is_seen() -> None:
    assert asked_kinds('if problem.kind == "covariance":\n    pass\nif p.kind != Problem.kind: pass\n') == [1, 3]
    assert not asked_kinds('if field.kind == "choice" or other.kind != self.kind: pass\n')


@pytest.mark.parametrize("old", sorted(moved.MOVED))
def test_old_module_paths_work_and_warn(old: str) -> None:
    new = importlib.import_module(moved.MOVED[old])
    spec = new.__spec__
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=re.escape(moved.MOVED[old])):
        assert importlib.import_module(old) is new
    assert new.__spec__ is spec
    for name, home in moved.ELSEWHERE.get(old, {}).items():
        assert getattr(new, name) is getattr(importlib.import_module(home), name)


def test_no_old_module_path_takes_the_place_of_a_public_name() -> None:
    for old in moved.MOVED:
        package, _, name = old.rpartition(".")
        there = vars(importlib.import_module(package)).get(name)
        assert there is None or isinstance(there, types.ModuleType), f"importing {old} would hide {there!r}"


def test_the_reader_of_imports_sees_relative_and_nested_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "sparsescope"
    (package / "views").mkdir(parents=True)
    source = package / "views" / "bad.py"
    source.write_text("def f():\n    from ..live import Session\n    import panel.io\n    from . import style\n")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", package)
    assert faults(source) == [
        "sparsescope/views/bad.py:2: views may not import sparsescope.live.Session",
        "sparsescope/views/bad.py:3: views may not import panel",
    ]


def test_importing_the_package_brings_in_no_user_interface() -> None:
    code = "import sparsescope, sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    loaded = set(json.loads(result.stdout))
    assert "sparsescope" in loaded
    assert not loaded & {"panel", "bokeh", "plotly", "ipywidgets", "anywidget", "IPython", "matplotlib", "pandas"}
    assert "sklearn" not in loaded, "an estimator loads scikit-learn when it is first touched"
