"""The oldest supported versions are those of pyproject.toml, and other files that repeat a fact agree with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sparsescope.version import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_oldest_versions_are_the_bounds_of_the_requirements() -> None:
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["explore"]]
    # Frames of polars are read through scikit-learn, and its oldest version knows those of then only.
    wanted += [line for line in PROJECT["project"]["optional-dependencies"]["dev"] if line.startswith("polars")]
    bounds = dict(line.split(">=") for line in wanted)
    lines = (ROOT / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert set(oldest) == set(bounds)
    for name, version in oldest.items():
        assert re.fullmatch(re.escape(bounds[name]) + r"(\.0)*", version), f"{name}: {version} is not {bounds[name]}"


def test_the_citation_names_this_version_and_licence() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}\n" in text
    assert f"license: {PROJECT['project']['license']}\n" in text


def test_contributing_names_targets_and_pages_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make ([a-z-]+)", text)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for page in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / page).exists(), page
