"""Write recipe.yaml, a conda recipe, from what pyproject.toml declares: ``python recipe/make.py``.

The recipe builds this checkout (``rattler-build build -r recipe``); a feedstock has an archive as its source.

Packages of the extras are constraints: whoever installs them gets versions that fit.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(__file__).with_name("recipe.yaml")
HEAD = "# Written by recipe/make.py from pyproject.toml; a test holds it equal.\n"


def for_users(extras: dict[str, list[str]]) -> list[str]:
    """Return the extras that are no tools of developers: those that "all" names."""
    (every,) = extras["all"]
    found = re.fullmatch(r"[\w-]+\[([\w,-]+)\]", every)
    assert found is not None, every
    return found[1].split(",")


def requirement(line: str) -> str:
    """Return a requirement as conda writes it: a name, a blank, and the versions."""
    found = re.fullmatch(r"([A-Za-z0-9._-]+)\s*(.*)", line)
    assert found is not None, line
    return f"{found[1].lower()} {found[2]}".strip()


def facts() -> dict[str, Any]:
    """Return the content of the recipe."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = declared["project"]
    version = re.search(r'__version__ = "(.+)"', (ROOT / "toolkit/sparsescope/version.py").read_text(encoding="utf-8"))
    assert version is not None
    python = f"python {project['requires-python']}"
    core = [requirement(line) for line in project["dependencies"]]
    extras = project["optional-dependencies"]
    beyond = {requirement(line) for name in for_users(extras) for line in extras[name]
              if not line.startswith(project["name"])}  # fmt: skip
    command, door = next(iter(project["scripts"].items()))
    return {
        "schema_version": 1,
        "package": {"name": project["name"], "version": version[1]},
        "source": {"path": ".."},
        "build": {
            "number": 0,
            "noarch": "python",
            "script": "python -m pip install . -vv --no-deps --no-build-isolation",
            "python": {"entry_points": [f"{command} = {door}"]},
        },
        "requirements": {
            "host": [python, "pip", *map(requirement, declared["build-system"]["requires"])],
            "run": [python, *core],
            "run_constraints": sorted(beyond - set(core)),
        },
        "tests": [
            {"python": {"imports": [project["name"], f"{project['name']}.estimators"]}},
            {"script": [f"{command} --version", f"{command} solve iris --tol 1e-4"]},
        ],
        "about": {
            "summary": project["description"],
            "license": project["license"],
            "license_file": project["license-files"],
        },
    }


def written(value: Any, depth: int = 0) -> str:
    """Return plain data as YAML: mappings and lists of texts and numbers, texts in quotes where YAML needs them."""
    pad = "  " * depth
    if isinstance(value, dict):
        lines = []
        for key, item in value.items():
            plain = not isinstance(item, dict | list)
            lines.append(f"{pad}{key}: {scalar(item)}\n" if plain else f"{pad}{key}:\n{written(item, depth + 1)}")
        return "".join(lines)
    lines = []
    for item in value:
        inner = written(item, depth + 1) if isinstance(item, dict) else f"{pad}  {scalar(item)}\n"
        lines.append(f"{pad}- {inner[len(pad) + 2 :]}")
    return "".join(lines)


def scalar(value: Any) -> str:
    """Return a text or a number as YAML."""
    plain = isinstance(value, int) or re.fullmatch(r"[A-Za-z_.][\w./]*", value)
    return str(value) if plain else f'"{value}"'


def recipe() -> str:
    """Return the text of the recipe."""
    return HEAD + written(facts())


if __name__ == "__main__":
    TARGET.write_text(recipe(), encoding="utf-8")
    print(f"written: {TARGET}")
