"""Holds the table of layers: who may import whom, and which third-party packages may appear where.

The imports are read from the source, not observed at run time, so that an import inside a function counts as well.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "toolkit" / "sparsescope"

# layer -> layers of the package it may import (itself is always allowed). A layer is a top-level module or sub-package.
MAY_IMPORT: dict[str, set[str]] = {
    "version": set(),
    "jit": {"registry"},
    "registry": set(),
    "design": {"jit"},
    "labels": set(),
    "blocks": set(),
    "datasets": {"registry", "design", "labels"},
    "losses": {"jit", "registry"},
    "penalties": {"blocks", "jit", "registry"},
    "objectives": {"losses", "registry"},
    "kernels": {"jit"},
    "metrics": {"kernels", "labels"},
    "feature_maps": set(),
    "sequence_model": {"feature_maps", "kernels"},
    "problem": {"blocks", "jit", "registry", "design", "feature_maps", "kernels", "labels", "losses", "metrics",
                "penalties", "sequence_model"},
    "transformers": {"feature_maps"},
    "solvers": {"jit", "registry", "design", "feature_maps", "kernels", "labels", "problem", "sequence_model"},
    "spectrum": {"design", "problem", "registry"},
    "event": {"problem", "solvers.base"},
    "stopping": {"event", "registry"},
    "trace": {"event", "kernels", "problem"},
    "run": {"registry", "design", "sequence_model", "kernels", "labels", "metrics", "problem", "solvers.base", "event",
            "stopping", "trace"},
    "paths": {"event", "problem", "registry", "run", "solvers.base", "stopping", "trace"},
    "session": {"registry", "problem", "solvers.base", "stopping", "trace", "run"},
    "views": {"registry", "problem", "trace"},
    "live": {"registry", "datasets", "problem", "sequence_model", "solvers", "spectrum", "stopping", "trace", "run",
             "session", "views", "version"},
    "widgets": {"registry", "datasets", "problem", "session", "views", "live", "version"},
    "dashboard": {"registry", "datasets", "session", "views", "live", "version"},
    "experiments": {"registry", "design", "datasets", "feature_maps", "losses", "objectives", "penalties", "problem",
                    "solvers", "spectrum", "event", "stopping", "trace", "run", "views"},
}
# Files that belong to the layer of another file: `problem` is more than one page can hold.
PART_OF = {"certificate": "problem", "constants": "problem", "covariance": "problem",
           "covariance_certificate": "problem", "covariance_input": "problem", "null_fits": "problem",
           "problem_base": "problem", "regulariser": "problem", "scalings": "problem", "sequences": "problem",
           "changes": "session", "kernel_cache": "jit", "kernel_compiler": "jit", "path_result": "paths",
           "watching": "run"}
# Only people call these; nothing imports them, and they may import anything.
TOP = {"cli", "__main__"}

# third-party package -> the layers that may import it; what is not named here may be imported by no layer.
THIRD_PARTY: dict[str, set[str]] = {
    "numpy": set(MAY_IMPORT),
    "scipy": set(MAY_IMPORT),
    "numba": {"jit"},
    "llvmlite": {"jit"},
    "sklearn": {"datasets", "experiments", "transformers"},
    "pandas": {"trace", "paths", "datasets", "experiments"},
    "plotly": {"views", "experiments"},
    "panel": {"dashboard"},
    "panel_material_ui": {"dashboard"},
    "bokeh": {"dashboard"},
    "param": {"dashboard"},
    "tornado": {"dashboard"},
    "ipywidgets": {"widgets"},
    "anywidget": {"widgets"},
    "traitlets": {"widgets"},
    "IPython": {"widgets"},
    "threadpoolctl": {"dashboard", "session", "experiments"},
    "tqdm": {"experiments"},
    "vowpalwabbit": {"experiments"},
}


def sources() -> list[Path]:
    """All Python files of the package."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def layer_of(dotted: str) -> str:
    """`sparsescope.solvers.base` -> `solvers`; the package itself -> ``."""
    parts = dotted.split(".")
    return PART_OF.get(parts[1], parts[1]) if len(parts) > 1 else ""


def dotted_name(path: Path) -> str:
    """The module name of a source file."""
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, full dotted name) of all that a file imports; `from a import b` gives `a.b`, module or name."""
    module = dotted_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    """Whether a layer may import the dotted name `target` of this package."""
    if layer_of(target) == layer:
        return True
    inner = target.split(".", 1)[1] if "." in target else ""
    # An entry `solvers.base` allows that module and the names in it, not the rest of `solvers`.
    allowed = MAY_IMPORT[layer]
    return layer_of(target) in allowed or any(inner == e or inner.startswith(e + ".") for e in allowed)


def faults(path: Path) -> list[str]:
    """What a file imports against the table, as sentences."""
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


def test_the_reader_of_imports_sees_relative_and_nested_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "sparsescope"
    (package / "views").mkdir(parents=True)
    source = package / "views" / "bad.py"
    source.write_text("def f():\n    from ..session import Session\n    import panel.io\n    from . import style\n")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", package)
    assert faults(source) == [
        "sparsescope/views/bad.py:2: views may not import sparsescope.session.Session",
        "sparsescope/views/bad.py:3: views may not import panel",
    ]


def test_importing_the_package_brings_in_no_user_interface() -> None:
    code = "import sparsescope, sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loaded = set(json.loads(result.stdout))
    assert "sparsescope" in loaded
    assert not loaded & {"panel", "bokeh", "plotly", "ipywidgets", "anywidget", "IPython", "matplotlib", "pandas"}
