"""The README's Python runs, its commands exist, and it names every part."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparsescope import cli, registry

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "README.md", "exec"), {})
    assert "features used" in capsys.readouterr().out.splitlines()[-1]


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 100


def test_every_part_is_named() -> None:
    for parts in (registry.losses, registry.penalties, registry.solvers, registry.views, registry.datasets):
        for name in parts.names():
            assert f"`{name}`" in README


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_commands_exist() -> None:
    parser = cli.make_parser()
    for line in re.findall(r"`?sparsescope ((?:explore|solve|path|race|paper|doctor)[^`#\n]*)", README):
        parser.parse_args(line.split())
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"make ([a-z-]+)", README)) <= set(targets)
