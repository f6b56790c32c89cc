"""The package's types as a user of ``mypy --strict`` sees them; `make types` checks the user's program itself."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import sparsescope as ss
import strict_program

ROOT = Path(__file__).resolve().parents[2]


def public_functions() -> list[tuple[str, Any]]:
    """Functions, classes' constructors and methods of the names in ``ss.__all__``, but for the parts' row functions."""
    found: list[tuple[str, Any]] = []
    for name in ss.__all__:
        value = getattr(ss, name)
        if inspect.isfunction(value):
            found.append((name, value))
        elif inspect.isclass(value):
            members = [(key, getattr(member, "__func__", member)) for key, member in vars(value).items()]
            found += [
                (f"{name}.{key}", member)
                for key, member in members
                if inspect.isfunction(member) and (key == "__init__" or not key.startswith("_"))
            ]
    return found


def test_every_public_function_is_annotated() -> None:
    functions = public_functions()
    assert len(functions) > 150
    for name, function in functions:
        signature = inspect.signature(function)
        bare = [
            p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
        ]
        assert not bare and signature.return_annotation is not signature.empty, f"{name}: {bare or 'return'}"


def test_the_package_itself_is_checked_strictly() -> None:
    """`make types` holds the settings; what they leave out is what packages without types answer, and compiled code."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True and settings["packages"] == ["sparsescope"]
    left_out = {name for name, value in settings.items() if value is False}
    assert left_out == {
        "warn_return_any",
        "disallow_subclassing_any",
        "disallow_untyped_decorators",
        "warn_unused_ignores",
        "pretty",
    }
    compiled = {
        "sparsescope.kernels.*",
        "sparsescope.losses.*",
        "sparsescope.penalties.*",
        "sparsescope.inputs.columns",
    }
    for group in settings["overrides"]:
        own = {name for name in group["module"] if name.startswith("sparsescope")}
        assert own <= compiled, f"{own - compiled} is not compiled"


def test_the_program_that_is_checked_also_runs() -> None:
    strict_program.main()


@pytest.mark.slow
def test_mistakes_of_a_user_are_found(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sparsescope as ss\n"
        "data = ss.datasets.load('iris')\n"
        "gap: str = ss.solve(ss.Problem(data)).gap\n"
        "ss.solvee\n"
        "ss.path(ss.Problem(data), n_lam=5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)],
        capture_output=True, text=True, cwd=ROOT, timeout=300, env={**os.environ, "MYPYPATH": str(ROOT / "toolkit")},
    )  # fmt: skip
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if "error" in line and str(program) in line]
    assert lines == ["3", "4", "5"], done.stdout
