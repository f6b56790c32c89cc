"""The conda recipe says what pyproject.toml says."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import sparsescope as ss

ROOT = Path(__file__).resolve().parents[2]
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def recipe() -> Any:
    return yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))


def specifiers(lines: list[str]) -> dict[str, Any]:
    """Packages of conda's requirements with their versions."""
    found = [Requirement(line) for line in lines]
    return {one.name.lower(): one.specifier for one in found}


def test_it_is_as_it_was_written() -> None:
    made = runpy.run_path(str(ROOT / "recipe/make.py"))
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    assert text == made["recipe"](), "run: python recipe/make.py"
    assert yaml.safe_load(text) == made["facts"]()


def test_it_needs_what_the_distribution_needs(recipe: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    run, beyond = (specifiers(recipe["requirements"][part]) for part in ("run", "run_constraints"))
    python = run.pop("python")
    assert python == Requirement(f"python{project['requires-python']}").specifier
    assert run == specifiers(project["dependencies"])
    extras = project["optional-dependencies"]
    named = Requirement(extras["all"][0]).extras
    assert {"explore", "cluster"} <= named
    for name in named:
        wanted = specifiers([line for line in extras[name] if "[" not in line])
        assert wanted.items() <= (beyond | run).items(), name
    assert not run.keys() & beyond.keys()


def test_it_builds_this_version_with_its_command(recipe: Any) -> None:
    assert recipe["package"] == {"name": "sparsescope", "version": ss.__version__}
    assert recipe["build"]["python"]["entry_points"] == ["sparsescope = sparsescope.__main__:start"]
    assert recipe["build"]["noarch"] == "python"
    assert all((ROOT / name).is_file() for name in recipe["about"]["license_file"])


def test_rattler_build_reads_and_renders_it() -> None:
    """As a build begins: fields, versions and conditions by the tool itself; the packages come from a channel later."""
    rattler = pytest.importorskip("rattler_build")
    text = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    (rendered,) = rattler.Stage0Recipe.from_yaml(text).render()
    found = rendered.recipe() if callable(rendered.recipe) else rendered.recipe
    assert (found.package.name, found.package.version) == ("sparsescope", ss.__version__)
    assert found.build.noarch == "python"
    assert [line.split()[0] for line in found.requirements.run][:3] == ["python", "numpy", "scipy"]
    for right, wrong in (("requirements:", "requirementz:"), ("numpy >=2.0", "numpy >=>2.0")):
        with pytest.raises(rattler.RattlerBuildError):
            rattler.Stage0Recipe.from_yaml(text.replace(right, wrong)).render()
